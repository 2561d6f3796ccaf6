"""`crawl`: pages of sites into a WARC file. A child process (`crawl.process`) fetches; links are chosen here."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final, NamedTuple

from webwinnow.childprocess import child_command
from webwinnow.counted import counted
from webwinnow.crawl import messages
from webwinnow.crawl.follow import CrawledPage, Follow, FollowAll, FollowNone, Next, crawled
from webwinnow.crawl.messages import Message, read_message, write_message
from webwinnow.crawl.scope import start_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.sitemaps import is_list_of_pages, listed_pages
from webwinnow.crawl.store import FILE, RENDERED, CrawlStore, Fate, Link, has_begun
from webwinnow.errors import InputError, MissingExtra, PageRefused, SettingsError
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord
from webwinnow.platforms import locked_file
from webwinnow.progress import Progress, no_progress
from webwinnow.run.inputs import open_pages
from webwinnow.run.outputs import write_lines
from webwinnow.storage.atomic import scratch_folder

WARC_NAMES: Final = (".warc.gz", ".warc")
SECONDS_TO_STOP: Final = 5.0
"""How long a child may take to end by itself after `Stop`."""
SHOWN_REASONS: Final = 8
PIPE_BYTES: Final = 1 << 20
"""Large enough for a page, so that the child need not wait until it is read. Linux only."""


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """The result of a crawl. Every URL in scope is `stored`, `redirected`, `skipped` (no HTML), `refused` (robots.txt,
    the guard, a limit), `failed`, or still `waiting` when the crawl `ended`; they add up to `known`.

    `fresh` pages were stored by this run if it resumed another; `received` are its bytes. `finished` is False if it was
    stopped by a limit of time or bytes, or by hand. `links_over` are links that were too deep or too many. `rendered`
    counts the stored pages that were rendered, and those that could not be, by reason.
    """

    sites: int
    stored: int
    redirected: int
    skipped: int
    refused: int
    failed: int
    waiting: int
    reasons: list[tuple[str, str, int]]
    rendered: list[tuple[str, int]]
    links_over: int
    fresh: int
    received: int
    seconds: float
    ended: str
    finished: bool

    @property
    def known(self) -> int:
        """All URLs that were found in scope."""
        return self.stored + self.redirected + self.skipped + self.refused + self.failed + self.waiting

    def lines(self) -> list[str]:
        speed = self.fresh / self.seconds if self.seconds > 0 else 0.0
        lines = [
            f"{counted(self.fresh, 'page')} of {counted(self.sites, 'site')} in {self.seconds:.1f} s, "
            f"{speed:.1f} pages/s, "
            f"{self.received / 1e6:.1f} MB received",
            f"  known {self.known:,}: stored {self.stored:,}, redirected {self.redirected:,}, "
            f"skipped {self.skipped:,}, refused {self.refused:,}, failed {self.failed:,}, waiting {self.waiting:,}",
            f"  ended: {self.ended}",
        ]
        if self.links_over:
            over = counted(self.links_over, "link was", "links were")
            lines.append(f"  {over} too deep or too many: not counted above")
        lines += [f"  {count:,} stored pages {how}" for how, count in self.rendered[:SHOWN_REASONS]]
        return lines + [f"  {count:,} {fate}: {reason}" for fate, reason, count in self.reasons[:SHOWN_REASONS]]


def crawl(
    starts: Sequence[str],
    out: str | Path,
    settings: CrawlSettings | None = None,
    *,
    follow: Follow | None = None,
    resume: bool = False,
    state: str | Path | None = None,
    log: str | Path | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> CrawlSummary:
    """Crawl from each start page and write requests and responses to the WARC file `out`.

    `follow` chooses the links to follow (default: all). The state of an unfinished crawl is kept in the folder `state`,
    or beside the output, where it is removed when the crawl has finished. A crawl that ended without a page leaves
    nothing behind, so that it can be tried again. With `resume` an unfinished crawl continues,
    and the WARC file then contains each page once; without `settings` it uses those it had, and further start pages may
    be given. `log` gets one line of JSON per URL: its fate and how it was found.
    """
    check_can_crawl(settings)
    began = time.monotonic()
    path = Path(out).absolute()
    folder = state_folder(path, state)
    routes = settings is not None and settings.render != "never"
    urls = list(dict.fromkeys(start_url(start, routes=routes) for start in starts))
    follow = follow or FollowAll()
    _prepare(path, folder, urls, resume=resume)
    with _locked(folder):
        settings = _written(folder, settings, urls, type(follow).__name__)
        run = _Run(path, folder, settings, follow, on_progress or no_progress, on_problem or (lambda _: None))
        try:
            end = run.run()
        except InputError:
            with CrawlStore(folder) as store:
                has_pages = Fate.STORED in store.counts()
            if not has_pages:
                _discard(path, folder)
            raise
        if log is not None:
            with CrawlStore(folder) as store:
                write_lines((json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in store.log()), log)
        summary = CrawlSummary(**end.summary, seconds=time.monotonic() - began)
        if summary.finished and not summary.stored:
            _discard(path, folder)
        elif summary.finished and state is None:
            _remove_state(folder)
    return summary


def crawled_once(
    starts: Sequence[str], out: Path, settings: CrawlSettings, *, resume: bool, **callbacks: Any
) -> CrawlSummary | None:
    """Crawl for another command. With `resume` an interrupted crawl continues; None if a finished one has its pages.

    `InputError` if no page could be fetched.
    """
    unfinished = state_folder(out).is_dir()
    if resume and out.exists() and not unfinished:
        return None
    found = crawl(starts, out, settings, resume=resume and unfinished, **callbacks)
    if not found.stored:
        why = ", ".join(f"{reason} ({count:,})" for _, reason, count in found.reasons) or found.ended
        raise InputError(f"{' '.join(starts)}: no page could be fetched: {why}")
    return found


def _written(folder: Path, settings: CrawlSettings | None, starts: list[str], follow: str) -> CrawlSettings:
    """Write what to crawl to the state of a crawl, which is new as a whole or not at all; return the settings."""
    is_new = not has_begun(folder)
    place = folder / "new" if is_new else folder
    if is_new:
        shutil.rmtree(place, ignore_errors=True)  # of a crawl that was killed here
        place.mkdir()
    with CrawlStore(place) as store:
        settings = settings or _noted_settings(store)
        store.note("settings", settings.to_plain())
        store.note("follow", follow)
        for start in starts:
            site = store.add_site(start)
            if site is not None:
                store.add_page(site, Link(start, 0, None))
    if is_new:
        (place / FILE).rename(folder / FILE)
    return settings


def _noted_settings(store: CrawlStore) -> CrawlSettings:
    plain = store.noted("settings")
    return CrawlSettings() if plain is None else CrawlSettings.from_plain(plain)


def _discard(out: Path, folder: Path) -> None:
    """Remove the files of a crawl that has no page."""
    out.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _remove_state(folder: Path) -> None:
    """Remove the state of a finished crawl.

    It gets another name first: a kill meanwhile must not leave what looks like a crawl that has not begun, for which
    the WARC file would be written anew.
    """
    finished = folder.with_name(f"{folder.name}.finished")
    shutil.rmtree(finished, ignore_errors=True)  # of a process that was killed here
    folder.rename(finished)
    shutil.rmtree(finished, ignore_errors=True)


def fetch_page(url: str, settings: CrawlSettings | None = None) -> PageRecord:
    """Fetch one page, after redirects, with the guard and limits of a crawl; `InputError` if that fails.

    Only the settings of a single request count. robots.txt, which is for crawlers, is not fetched.
    """
    wanted = replace(settings or CrawlSettings(), pages=1, delay=0.0, robots=False, scope="any")
    with scratch_folder() as folder:
        out = folder / "page.warc.gz"
        found = crawl([url], out, wanted, follow=FollowNone())
        if not found.stored:
            why = ", ".join(reason for _, reason, _ in found.reasons) or found.ended
            raise InputError(f"{url} could not be fetched: {why}")
        for how, _ in found.rendered:
            if how != RENDERED:
                raise InputError(f"{url} was {how}")
        return next(page for page in open_pages([out], on_problem=lambda _: None))


class StoredCrawl(NamedTuple):
    """The settings of a crawl that can be resumed, and the name of the class that chose its links."""

    settings: CrawlSettings
    follow: str


def stored_crawl(out: str | Path, state: str | Path | None = None) -> StoredCrawl:
    """Return the settings of a crawl that can be resumed; `InputError` if there is none."""
    path = Path(out).absolute()
    folder = state_folder(path, state)
    _prepare(path, folder, [], resume=True)
    with CrawlStore(folder) as store:
        return StoredCrawl(_noted_settings(store), str(store.noted("follow")))


def is_killed_early(out: str | Path, state: str | Path | None = None) -> bool:
    """Whether there is a crawl that was killed before it began: it has no settings yet, and starts anew."""
    folder = state_folder(out, state)
    return folder.is_dir() and not has_begun(folder)


def check_can_crawl(settings: CrawlSettings | None = None) -> None:
    """Raise `SettingsError` or `MissingExtra` if this machine cannot crawl, or not render as the settings want."""
    if os.name == "nt":
        raise SettingsError("crawling needs Linux or macOS; `webwinnow page FILE` and the library work on Windows")
    if importlib.util.find_spec("scrapy") is None:
        raise MissingExtra("crawling", "crawl")
    if settings is not None and settings.render != "never":
        from webwinnow.crawl.browser.devtools import find_chromium  # noqa: PLC0415 (an optional extra)
        from webwinnow.crawl.browser.settings import RenderSettings  # noqa: PLC0415 (an optional extra)

        find_chromium(RenderSettings.of_pairs(settings.render_set, browsers=settings.browsers).chromium)


def state_folder(out: str | Path, state: str | Path | None = None) -> Path:
    """The working folder of a crawl, which `resume` reads."""
    out = Path(out).absolute()
    if state is None:
        return out.with_name(f".{out.name}.webwinnow-crawl")
    return Path(state).absolute() / f"crawl-{hashlib.sha256(str(out).encode()).hexdigest()[:16]}"


def _prepare(out: Path, folder: Path, starts: list[str], *, resume: bool) -> None:
    """Check that the crawl can begin or continue before any request is made."""
    if not out.name.lower().endswith(WARC_NAMES):
        raise SettingsError(f"{out.name}: a crawl writes WARC; expected a name that ends in .warc.gz or .warc")
    if not out.parent.is_dir():
        raise SettingsError(f"{out}: the folder {out.parent} does not exist; make it first")
    if resume and not folder.is_dir():
        raise InputError(f"{out} has no crawl to resume ({folder} is missing); start one without --resume")
    if has_begun(folder):
        if not resume:
            raise SettingsError(f"{out} has an unfinished crawl: --resume continues it; to start anew remove {folder}")
        return
    if not starts and folder.is_dir():
        raise InputError(f"{out}: the crawl was killed before it began; give its start pages to start it again")
    if not starts:
        raise SettingsError("no start page given; expected URLs such as https://example.org/")
    if out.exists():
        raise SettingsError(f"{out} exists; a crawl does not write over what was fetched: remove it or give a new name")
    folder.mkdir(parents=True, exist_ok=True)


def _locked(folder: Path) -> IO[bytes]:
    """Lock the folder of a crawl. Raises `SettingsError` if another crawl is active in it."""
    lock = locked_file(folder / "lock")
    if lock is None:
        raise SettingsError(f"another crawl is active in {folder}; wait for it, or give another output")
    return lock


@dataclass(slots=True, eq=False)
class _Run:
    """The child process of a crawl, and its messages: `inbox` has those that a thread has read, None at the end."""

    out: Path
    folder: Path
    settings: CrawlSettings
    follow: Follow
    on_progress: Progress
    on_problem: Callable[[str], None]
    starts: dict[int, str] = field(default_factory=dict)
    inbox: SimpleQueue[Message | None] = field(default_factory=SimpleQueue)

    def run(self) -> messages.Ended:
        """Start the child, answer it, and return its last message."""
        with (self.folder / "child.log").open("wb") as errors:
            child = subprocess.Popen(
                child_command("webwinnow.crawl.process"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C reaches only this process, which sends `Stop`
                pipesize=PIPE_BYTES if sys.platform == "linux" else -1,
            )
        assert child.stdin is not None
        assert child.stdout is not None
        listener = Thread(target=self._listen, args=(child.stdout,), daemon=True)
        listener.start()
        try:
            _send(child.stdin, messages.Begin(str(self.out), str(self.folder)))
            end = self._talk(child.stdin)
        except _ChildGone:
            end = None
        except KeyboardInterrupt:
            with suppress(_ChildGone, Empty):  # requests under way may still be settled
                _send(child.stdin, messages.Stop())
                self._talk(child.stdin, SECONDS_TO_STOP)
            raise
        finally:
            _end(child, listener)
        if end is None:
            errors_text = (self.folder / "child.log").read_text(encoding="utf-8", errors="replace")
            why = errors_text.strip().rpartition("\n")[2] or "killed"
            raise InputError(f"the crawl ended unexpectedly ({why}); --resume continues it")
        return end

    def _listen(self, stream: IO[bytes]) -> None:
        """Read the child's messages as they come, so that neither process waits for the other to read."""
        while (message := read_message(stream)) is not None:
            self.inbox.put(message)
        self.inbox.put(None)

    def _talk(self, stream: IO[bytes], seconds: float | None = None) -> messages.Ended | None:
        """Answer until the child has ended; `Empty` if it sends nothing for this many seconds."""
        while (message := self.inbox.get(timeout=seconds)) is not None:
            match message:
                case messages.Ready():
                    self._replay()
                    _send(stream, messages.Go())
                case messages.FetchedPage():
                    found = self._links_to_follow(message)
                    answer = messages.Answer(message.number, list(found.links), list(found.sites), found.leave_site)
                    _send(stream, answer)
                case messages.Done():
                    self.on_progress("crawl", message.stored, message.wanted)
                case messages.Problem():
                    raise InputError(f"the crawl could not go on: {message.text}")
                case messages.Ended():
                    return message
        return None

    def _links_to_follow(self, page: messages.FetchedPage) -> Next:
        if isinstance(self.follow, FollowNone) and not self.settings.sitemaps:
            return Next()  # not parsed: `fetch_page` is called by servers, whose workers parse pages within limits
        record = PageRecord(url=page.url, body=page.body, content_type=page.content_type, fetched_at=page.fetched_at)
        is_list = page.depth == 0 and is_list_of_pages(page.body)
        found = None if is_list else self._crawled(record, page.site, page.depth, page.referrer)
        chosen = Next() if found is None else self.follow.next(found)
        links = list(chosen.links)
        if self.settings.sitemaps and page.depth == 0:
            links += listed_pages(page.url, page.body, self.settings, self.on_problem)
        return replace(chosen, links=[url for url in links if self.settings.follows(url)])

    def _crawled(self, record: PageRecord, site: int, depth: int, referrer: str | None) -> CrawledPage | None:
        """Parse a page and find its links; None if it is over a limit of the parser."""
        try:
            tree = parse(record.body, url=record.url, content_type=record.content_type)
        except PageRefused as refusal:
            self.on_problem(f"{record.url}: its links could not be read: {refusal}")
            return None
        if site not in self.starts:
            with CrawlStore(self.folder) as store:
                self.starts = {known.id: known.start for known in store.sites()}
        routes = self.settings.render != "never"
        return crawled(record, tree, self.starts[site], depth, referrer, routes=routes)

    def _replay(self) -> None:
        """Show the pages of an earlier run to a `Follow` that learns."""
        if not self.follow.learns:
            return
        with CrawlStore(self.folder) as store:
            known = {line["url"]: line for line in store.log() if line["fate"] == Fate.STORED}
            numbers = {site.start: site.id for site in store.sites()}
        if not known:
            return
        for record in open_pages([self.out], on_problem=self.on_problem):
            line = known.get(record.url)
            if line is not None and record.refused is None:
                page = self._crawled(record, numbers[line["site"]], line["depth"], line["referrer"])
                if page is not None:
                    self.follow.next(page)


class _ChildGone(Exception):
    """The child has closed its pipe."""


def _send(stream: IO[bytes], message: Message) -> None:
    try:
        write_message(stream, message)
    except BrokenPipeError:
        raise _ChildGone from None


def _end(child: subprocess.Popen[bytes], listener: Thread) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(BrokenPipeError):
        child.stdin.close()  # the child ends when its standard input is closed
    try:
        child.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    listener.join()
    child.stdout.close()
