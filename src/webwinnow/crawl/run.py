"""`crawl`: pages of sites into a WARC file. A child process (`child`) speaks to the network; here pages are judged."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, Final, NamedTuple

from webwinnow.crawl.follow import CrawledPage, Follow, FollowAll, Next, crawled
from webwinnow.crawl.messages import Message, read_message, write_message
from webwinnow.crawl.scope import start_address
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore, Fate
from webwinnow.errors import InputError, MissingExtra, PageRefused, SettingsError
from webwinnow.io import open_pages
from webwinnow.io.outputs import write_lines
from webwinnow.parsing import parse
from webwinnow.progress import Progress
from webwinnow.records import PageRecord

__all__ = ["CrawlSummary", "StoredCrawl", "crawl", "stored_crawl"]

WARC_NAMES: Final = (".warc.gz", ".warc")
SECONDS_TO_STOP: Final = 5.0
"""How long a child may take to end by itself after it was told to."""
SHOWN_REASONS: Final = 8
PIPE_BYTES: Final = 1 << 20
"""So that a page fits, and the child need not wait until somebody reads it."""


@dataclass(frozen=True, slots=True)
class CrawlSummary:
    """What a crawl did. Every address in scope is `stored`, `redirected`, `skipped` (no HTML), `refused` (robots.txt,
    the guard, a limit), `failed`, or still `waiting` when the crawl `ended`; they add up to `known`.

    `fresh` pages were stored by this run, where it resumed another; `received` are its bytes. `finished` is False
    where it was stopped before its time: by a limit of time or bytes, or by hand. `links_over` are links that got no
    place: deeper than wanted, or too many.
    """

    sites: int
    stored: int
    redirected: int
    skipped: int
    refused: int
    failed: int
    waiting: int
    reasons: tuple[tuple[str, str, int], ...]
    links_over: int
    fresh: int
    received: int
    seconds: float
    ended: str
    finished: bool

    @property
    def known(self) -> int:
        """All addresses that were found in scope."""
        return self.stored + self.redirected + self.skipped + self.refused + self.failed + self.waiting

    def lines(self) -> list[str]:
        """What people want to know."""
        speed = self.fresh / self.seconds if self.seconds > 0 else 0.0
        told = [
            f"{self.fresh:,} pages of {self.sites:,} sites in {self.seconds:.1f} s, {speed:.1f} pages/s, "
            f"{self.received / 1e6:.1f} MB received",
            f"  known {self.known:,}: stored {self.stored:,}, redirected {self.redirected:,}, "
            f"skipped {self.skipped:,}, refused {self.refused:,}, failed {self.failed:,}, waiting {self.waiting:,}",
            f"  ended: {self.ended}",
        ]
        if self.links_over:
            told.append(f"  {self.links_over:,} links were deeper than wanted or too many, and have no place above")
        told += [f"  {count:,} {fate}: {reason}" for fate, reason, count in self.reasons[:SHOWN_REASONS]]
        return told


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

    `follow` says which links are followed (all, if not given). What a killed crawl needs to go on is kept in the folder
    `state`, beside the output if not given; there it is removed when the crawl has finished. With `resume` it goes on:
    the WARC file then holds each page once. Without `settings` it goes on with those it had; other limits may be given,
    and further start pages. `log` gets a line of JSON for each address: what became of it and how it was found.
    """
    if importlib.util.find_spec("scrapy") is None:
        raise MissingExtra("crawling", "crawl")
    began = time.monotonic()
    path = Path(out).absolute()
    folder = _state_folder(path, state)
    addresses = list(dict.fromkeys(map(start_address, starts)))
    follow = follow or FollowAll()
    _prepare(path, folder, addresses, resume=resume)
    if resume and settings is None:
        settings = stored_crawl(path, state).settings
    work = _Work(follow, on_progress or (lambda *_: None), on_problem or (lambda _: None))
    begin = Message(
        "begin",
        {
            "settings": (settings or CrawlSettings()).to_plain(),
            "out": str(path),
            "state": str(folder),
            "create": not resume,
            "starts": addresses,
            "follow": type(follow).__name__,
        },
    )
    end = work.run(begin, path, folder)
    if log is not None:
        with CrawlStore(folder, create=False) as store:
            write_lines((json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in store.log()), log)
    counts = end["counts"]
    summary = CrawlSummary(
        sites=end["sites"],
        **{str(fate): counts.get(fate, 0) for fate in Fate},
        reasons=tuple((fate, reason, count) for fate, reason, count in end["reasons"]),
        links_over=end["links_over"],
        fresh=end["fresh"],
        received=end["received"],
        seconds=time.monotonic() - began,
        ended=end["ended"],
        finished=end["finished"],
    )
    if summary.finished and state is None:
        shutil.rmtree(folder, ignore_errors=True)
    return summary


class StoredCrawl(NamedTuple):
    """How a crawl that can be resumed was told to go: its settings, and the name of the class that followed links."""

    settings: CrawlSettings
    follow: str


def stored_crawl(out: str | Path, state: str | Path | None = None) -> StoredCrawl:
    """Look at a crawl that can be resumed; `InputError` where there is none."""
    path = Path(out).absolute()
    folder = _state_folder(path, state)
    _prepare(path, folder, [], resume=True)
    with CrawlStore(folder, create=False) as store:
        plain, follow = store.noted("settings"), store.noted("follow")
    return StoredCrawl(CrawlSettings() if plain is None else CrawlSettings.from_plain(plain), str(follow))


def _state_folder(out: Path, state: str | Path | None) -> Path:
    if state is None:
        return out.with_name(f".{out.name}.webwinnow-crawl")
    return Path(state).absolute() / f"crawl-{hashlib.sha256(str(out).encode()).hexdigest()[:16]}"


def _prepare(out: Path, folder: Path, starts: list[str], *, resume: bool) -> None:
    """Check that the crawl can begin, or go on, before anything is asked of anybody."""
    if not out.name.lower().endswith(WARC_NAMES):
        raise SettingsError(f"{out.name}: a crawl writes WARC; expected a name that ends in .warc.gz or .warc")
    if not out.parent.is_dir():
        raise SettingsError(f"{out}: the folder {out.parent} does not exist; make it first")
    if resume:
        if not folder.is_dir():
            raise InputError(f"{out} has no crawl to go on with ({folder} is missing); start one without --resume")
        return
    if not starts:
        raise SettingsError("no start page given; expected addresses such as https://example.org/")
    if folder.exists():
        raise SettingsError(f"{out} has an unfinished crawl: --resume goes on with it; to start anew remove {folder}")
    if out.exists():
        raise SettingsError(f"{out} exists; a crawl does not write over what was fetched: remove it or give a new name")
    folder.mkdir(parents=True)


class _Work:
    """The talk with a child process."""

    def __init__(self, follow: Follow, tell: Progress, note: Callable[[str], None]) -> None:
        self.follow = follow
        self.tell = tell
        self.note = note
        self.starts: dict[int, str] = {}

    def run(self, begin: Message, out: Path, folder: Path) -> dict[str, Any]:
        """Start the child, answer it, and give back what it tells at its end."""
        command = [sys.executable, "-m", "webwinnow.crawl.child"]
        with (folder / "child.log").open("wb") as complaints:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=complaints,
                start_new_session=True,  # Ctrl-C is for us; the child is told to stop
                pipesize=PIPE_BYTES,
            )
        assert child.stdin is not None
        assert child.stdout is not None
        messages: SimpleQueue[Message | None] = SimpleQueue()
        listener = Thread(target=_listen, args=(child.stdout, messages), daemon=True)
        listener.start()
        try:
            _say(child.stdin, begin)
            end = self._talk(child.stdin, messages, out, folder)
        except _ChildGone:
            end = None
        except KeyboardInterrupt:
            with suppress(_ChildGone, Empty):  # what is on its way may still be settled
                _say(child.stdin, Message("stop", {}))
                self._talk(child.stdin, messages, out, folder, SECONDS_TO_STOP)
            raise
        finally:
            _end(child, listener)
        if end is None:
            told = (folder / "child.log").read_text(encoding="utf-8", errors="replace").strip().splitlines()
            why = told[-1] if told else "killed"
            raise InputError(f"the crawl ended unexpectedly ({why}); --resume goes on with it")
        return end

    def _talk(
        self,
        stream: IO[bytes],
        messages: SimpleQueue[Message | None],
        out: Path,
        folder: Path,
        seconds: float | None = None,
    ) -> dict[str, Any] | None:
        """Answer until the child has ended; `Empty` where it says nothing for so many seconds."""
        while (message := messages.get(timeout=seconds)) is not None:
            about = message.about
            if message.kind == "ready":
                self._replay(out, folder)
                _say(stream, Message("go", {}))
            elif message.kind == "page":
                found = self._judge(about, message.body, folder)
                answer = {
                    "number": about["number"],
                    "links": list(found.links),
                    "sites": list(found.sites),
                    "leave_site": found.leave_site,
                }
                _say(stream, Message("answer", answer))
            elif message.kind == "progress":
                self.tell("crawl", about["done"], about["total"])
            elif message.kind == "problem":
                raise InputError(f"the crawl could not go on: {about['problem']}")
            elif message.kind == "end":
                return about
        return None

    def _judge(self, about: dict[str, Any], body: bytes, folder: Path) -> Next:
        """Where to go from a page; nowhere from one that is too much to be read."""
        record = PageRecord(
            url=about["url"], body=body, content_type=about["content_type"], fetched_at=about["fetched_at"]
        )
        page = self._crawled(record, about["site"], about["depth"], about["referrer"], folder)
        return Next() if page is None else self.follow.next(page)

    def _crawled(
        self, record: PageRecord, site: int, depth: int, referrer: str | None, folder: Path
    ) -> CrawledPage | None:
        try:
            tree = parse(record.body, url=record.url, content_type=record.content_type)
        except PageRefused as refusal:
            self.note(f"{record.url}: its links could not be read: {refusal}")
            return None
        if site not in self.starts:
            with CrawlStore(folder, create=False) as store:
                self.starts = {known.id: known.start for known in store.sites()}
        return crawled(record, tree, self.starts[site], depth, referrer)

    def _replay(self, out: Path, folder: Path) -> None:
        """Show the pages of an earlier run to one who learns."""
        if not self.follow.learns:
            return
        with CrawlStore(folder, create=False) as store:
            known = {line["url"]: line for line in store.log() if line["fate"] == Fate.STORED}
            numbers = {site.start: site.id for site in store.sites()}
        if not known:
            return
        for record in open_pages([out], on_problem=self.note):
            line = known.get(record.url)
            if line is not None and record.refused is None:
                page = self._crawled(record, numbers[line["site"]], line["depth"], line["referrer"], folder)
                if page is not None:
                    self.follow.next(page)


class _ChildGone(Exception):
    """The child does not listen any more."""


def _say(stream: IO[bytes], message: Message) -> None:
    try:
        write_message(stream, message)
    except BrokenPipeError:
        raise _ChildGone from None


def _listen(stream: IO[bytes], messages: SimpleQueue[Message | None]) -> None:
    """Read all that the child says as it says it, so that neither waits for the other to listen."""
    message: Message | None
    while (message := read_message(stream)) is not None:
        messages.put(message)
    messages.put(None)


def _end(child: subprocess.Popen[bytes], listener: Thread) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    with suppress(BrokenPipeError):
        child.stdin.close()  # the child ends when nobody speaks to it any more
    try:
        child.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    listener.join()
    child.stdout.close()
