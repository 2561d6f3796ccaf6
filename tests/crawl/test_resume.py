"""A killed crawl can be resumed: no page is lost, and none is in the WARC file twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from webserver import Asked, Reply, WebServer

from webwinnow.crawl.crawling import crawl, stored_crawl
from webwinnow.crawl.follow import CrawledPage, Next
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore
from webwinnow.errors import InputError, SettingsError
from webwinnow.platforms import lock_file
from webwinnow.run.inputs import open_pages

PAGES = 60
PATIENCE = 240.0
COMMAND = [sys.executable, "-m", "webwinnow"]


def numbered(asked: Asked) -> Reply:
    """Sixty pages, each with links to the next two and back to the start."""
    name = asked.path.strip("/") or "0"
    if not name.isdigit() or int(name) >= PAGES:
        return Reply(b"", status=404)
    links = [2 * int(name) + 1, 2 * int(name) + 2]
    body = "".join(f"<p>Page {name} <a href=/{link}>{link}</a>" for link in links if link < PAGES)
    return Reply(f"<!doctype html><a href=/>0</a>{body}".encode())


class Gate:
    """Answers a limited number of pages as `numbered` does; later requests wait for `open`, so no crawl ends."""

    def __init__(self, pages: int) -> None:
        self.lock, self.opened = threading.Lock(), threading.Event()
        self.left = pages

    def __call__(self, asked: Asked) -> Reply:
        if asked.path.strip("/").isdigit() or asked.path == "/":
            with self.lock:
                self.left -= 1
                is_held, opened = self.left < 0, self.opened
            if is_held:
                opened.wait(PATIENCE)
        return numbered(asked)

    @property
    def is_holding(self) -> bool:
        return self.left < 0

    def open(self, pages: int) -> None:
        """Answer the waiting requests, and a number of further pages."""
        with self.lock:
            self.left = pages
            held, self.opened = self.opened, threading.Event()
        held.set()


class Watcher:
    """Follows every link, and records the pages it gets."""

    learns = True

    def __init__(self) -> None:
        self.seen: list[str] = []

    def next(self, page: CrawledPage) -> Next:
        self.seen.append(page.record.url)
        return Next(page.links)


def start(server: WebServer, out: Path, *more: str, command: str = "crawl") -> subprocess.Popen[bytes]:
    options = ["-o", str(out), "--delay", "0", "--allow", "127.0.0.1", "--resolve", server.route(), *more]
    heard = signal.signal(signal.SIGINT, signal.default_int_handler)  # a suite in the background ignores it
    process = subprocess.Popen([*COMMAND, command, *options], stderr=subprocess.PIPE, start_new_session=True)
    signal.signal(signal.SIGINT, heard)
    return process


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < until, "waited too long"
        time.sleep(0.01)


def child_of(process: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
    return int(children[0])


def is_alive(number: int) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc which process is the child")
def test_kill_and_resume_loses_no_page_and_stores_none_twice(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], stored_pages: Callable[[Path], Counter[str]]
) -> None:
    out = tmp_path / "site.warc.gz"
    gate = Gate(10)
    with WebServer(answer=gate) as server:
        # 1. The command is killed: its child ends too.
        process = start(server, out, "http://a.test/")
        wait_for(lambda: gate.is_holding)
        child = child_of(process)
        process.kill()
        process.communicate()
        wait_for(lambda: not is_alive(child))  # even while waiting
        gate.open(10)

        # 2. The child is killed, in the middle of a record.
        process = start(server, out, "--resume")
        wait_for(lambda: gate.is_holding)
        os.kill(child_of(process), signal.SIGKILL)
        _, stderr = process.communicate()
        assert process.returncode == 2
        assert b"--resume continues" in stderr
        with out.open("ab") as file:
            file.write(b"\x1f\x8b\x08\0\0\0\0\0\0\xff half a record")
        gate.open(10)

        # 3. Ctrl-C: the file so far can be read.
        process = start(server, out, "--resume")
        wait_for(lambda: gate.is_holding)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        assert process.returncode == 130, stderr
        assert b"--resume continues" in stderr
        stored = stored_pages(out)
        assert 20 < len(stored) < PAGES
        gate.open(2 * PAGES)

        # 4. The crawl runs to the end.
        watcher = Watcher()
        summary = crawl([], out, settings_for(server), resume=True, follow=watcher)

    every = {"http://a.test/", *(f"http://a.test/{number}" for number in range(1, PAGES))}
    assert stored_pages(out) == Counter(every)
    assert summary.stored == PAGES
    assert set(watcher.seen) == every
    assert len(watcher.seen) == PAGES
    assert set(stored) <= set(watcher.seen[: len(stored)])  # earlier pages come first
    asked = Counter(line.asked.url for line in server.log if not line.asked.path.endswith(".txt"))
    assert set(asked) == every
    assert sum(asked.values()) <= PAGES + 3  # only the pages in flight at each kill are requested again


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks /proc which process is the child")
@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))])
def test_a_crawl_killed_at_random_pages_stores_the_records_of_one_that_was_not(seed: int, tmp_path: Path) -> None:
    dice, out = random.Random(seed), tmp_path / "site.warc.gz"
    gate = Gate(dice.randint(0, 20))
    with WebServer(answer=gate) as server:
        for kill in range(2):
            process = start(server, out, *(["--resume"] if kill else ["http://a.test/"]))
            wait_for(lambda: gate.is_holding)
            child = child_of(process)
            os.kill(dice.choice((process.pid, child)), dice.choice((signal.SIGKILL, signal.SIGTERM)))
            process.communicate()
            wait_for(lambda: not is_alive(child))  # noqa: B023 (called here)
            gate.open(dice.randint(1, 20) if kill == 0 else PAGES * 2)
        process = start(server, out, "--resume")
        _, stderr = process.communicate()
        assert process.returncode == 0, stderr
    found = sorted((page.url, page.body) for page in open_pages([out], on_problem=pytest.fail))
    names = [str(number or "") for number in range(PAGES)]
    assert found == sorted(
        (f"http://a.test/{name}", numbered(Asked(f"http://a.test/{name}", {})).body) for name in names
    )


def test_a_finished_crawl_whose_state_was_kept_continues_for_more_pages(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], stored_pages: Callable[[Path], Counter[str]]
) -> None:
    out, state = tmp_path / "site.warc", tmp_path / "state"
    with WebServer(answer=numbered) as server:
        first = crawl(["http://a.test/"], out, settings_for(server, pages=3), state=state)
        more = crawl([], out, settings_for(server, pages=8), state=state, resume=True)
        same = crawl([], out, state=state, resume=True)
    assert (first.stored, more.stored, more.fresh, same.fresh) == (3, 8, 5, 0)
    assert sum(stored_pages(out).values()) == 8
    before = stored_crawl(out, state)
    assert (before.settings.pages, before.follow) == (8, "FollowAll")


def test_a_crawl_is_not_written_over(tmp_path: Path, settings_for: Callable[..., CrawlSettings]) -> None:
    out = tmp_path / "site.warc.gz"
    out.write_bytes(b"precious")
    with pytest.raises(SettingsError, match="does not write over"):
        crawl(["http://a.test/"], out, settings_for())
    assert out.read_bytes() == b"precious"


def test_a_crawl_that_cannot_be_resumed_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no crawl to resume"):
        crawl([], tmp_path / "site.warc.gz", resume=True)


@pytest.mark.parametrize("left", ["nothing", "a lock", "a state that is being written"])
@pytest.mark.parametrize("resume", [False, True])
def test_a_crawl_killed_before_it_began_is_continued_by_the_same_command(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], left: str, resume: bool
) -> None:
    out = tmp_path / "site.warc.gz"
    folder = tmp_path / ".site.warc.gz.webwinnow-crawl"
    folder.mkdir()
    if left == "a lock":
        (folder / "lock").touch()
    if left == "a state that is being written":
        (folder / "new").mkdir()
        CrawlStore(folder / "new").close()
    with pytest.raises(InputError, match="killed before it began; give its start pages"):
        crawl([], out, resume=True)
    with WebServer(answer=numbered) as server:
        found = crawl(["http://a.test/"], out, settings_for(server, pages=5), resume=resume)
    assert (found.stored, folder.exists()) == (5, False)


def test_the_command_with_resume_starts_a_crawl_that_was_killed_before_it_began(tmp_path: Path) -> None:
    out = tmp_path / "site.warc.gz"
    (tmp_path / ".site.warc.gz.webwinnow-crawl").mkdir()
    with WebServer(answer=numbered) as server:
        process = start(server, out, "http://a.test/", "--pages", "3", "--resume")
        _, words = process.communicate()
    assert (process.returncode, out.exists()) == (0, True), words


def test_a_crawl_killed_while_its_state_is_removed_keeps_its_pages(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site.warc.gz"

    class Killed(BaseException):
        pass

    def removed_in_part(folder: Path, **_: object) -> None:
        if folder.is_dir():
            (folder / "crawl.sqlite").unlink()
            raise Killed

    with WebServer(answer=numbered) as server:
        settings = settings_for(server, pages=5)
        with monkeypatch.context() as patched, pytest.raises(Killed):
            patched.setattr("webwinnow.crawl.crawling.shutil.rmtree", removed_in_part)
            crawl(["http://a.test/"], out, settings)
        written = out.read_bytes()
        with pytest.raises(SettingsError, match="does not write over what was fetched"):
            crawl(["http://a.test/"], out, settings)
        assert out.read_bytes() == written
        out.unlink()
        assert crawl(["http://a.test/"], out, settings).stored == 5
    assert list(tmp_path.iterdir()) == [out]


def test_two_crawls_do_not_write_to_one_file(tmp_path: Path, settings_for: Callable[..., CrawlSettings]) -> None:
    folder = tmp_path / ".site.warc.gz.webwinnow-crawl"
    folder.mkdir()
    with (folder / "lock").open("ab") as lock:
        assert lock_file(lock, wait=False)
        with pytest.raises(SettingsError, match="another crawl is active"):
            crawl(["http://a.test/"], tmp_path / "site.warc.gz", settings_for())


@pytest.mark.parametrize(
    ("starts", "name", "expected"),
    [
        (["nonsense"], "a.warc.gz", "no web address"),
        (["ftp://a.test/"], "a.warc.gz", "no web address"),
        (["http://a.test/"], "a.zip", r"\.warc\.gz"),
        (["http://a.test/"], "no/a.warc.gz", "does not exist"),
        ([], "a.warc.gz", "no start page"),
    ],
)
def test_wrong_arguments_are_reported_before_any_file_is_written(
    tmp_path: Path, starts: list[str], name: str, expected: str
) -> None:
    with pytest.raises(SettingsError, match=expected):
        crawl(starts, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_clean_that_is_stopped_while_it_crawls_names_what_is_kept_and_continues(tmp_path: Path) -> None:
    out, gate = tmp_path / "docs.jsonl", Gate(5)
    warc, state = tmp_path / "docs.jsonl.warc.gz", tmp_path / ".docs.jsonl.warc.gz.webwinnow-crawl"
    arguments = ("http://a.test/", "--pages", "12", "--jobs", "1")
    with WebServer(answer=gate) as server:
        process = start(server, out, *arguments, command="clean")
        wait_for(lambda: gate.is_holding)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
        gate.open(PAGES)
        assert process.returncode == 130, stderr
        kept = f"{warc} has what was fetched, {state} the state of the crawl; the same command with --resume continues"
        assert stderr.decode().endswith(f"webwinnow: stopped; {kept}\n")
        assert (warc.exists(), state.is_dir(), out.exists()) == (True, True, False)
        process = start(server, out, *arguments, "--resume", command="clean")
        _, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert len(out.read_text(encoding="utf-8").splitlines()) == 12
    assert not state.exists()
