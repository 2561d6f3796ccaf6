"""One crawl of many sites on loopback, each with a fault of its own that must not affect the others."""

from __future__ import annotations

import gzip
import json
import re
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from changedmodule import changed
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from webserver import Asked, Logged, Reply, WebServer, redirect

from webwinnow.crawl.crawling import CrawlSummary, crawl, fetch_page
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.page.records import PageRecord
from webwinnow.run.inputs import open_pages

PAGES = 12
DELAY = 0.1
TIMEOUT = 3.0
PAGE_SECONDS = 4.5
PATIENCE = 240.0
"""The limits of time for all other pages: however busy the machine is, they are not reached."""
LIMITED = {
    "http://stall.test/never": "timeout",
    "http://hang.test/half": "timeout",
    "http://trickle.test/drops": "page_seconds",
}
"""The only pages with a short limit of time, and which it is."""
PATIENT = f"""
import dataclasses

_run = Fetch.run

def run(self):
    longer = {{"timeout", "page_seconds"}} - {{ {LIMITED!r}.get(self.visit.url) }}
    self.settings = dataclasses.replace(self.settings, **dict.fromkeys(longer, {PATIENCE!r}))
    return _run(self)

Fetch.run = run
"""
MAX_SIZE = 1 << 20
GB = 1 << 30
HTML = ("Content-Type", "text/html; charset=utf-8")
GOOD = """
http://a.test/
http://a.test/chunked
http://a.test/packed
http://a.test/moved/here
http://a.test/caf%C3%A9
http://a.test/no-type
http://a.test/nofollow
http://a.test/late
""".split()


def page(*links: str) -> bytes:
    return b"<!doctype html><title>t</title>" + "".join(f"<p><a href='{link}'>x</a>" for link in links).encode()


def calendar(asked: Asked) -> bytes | Reply:
    """An endless calendar: one page per day."""
    if asked.host != "calendar.test" or asked.path == "/robots.txt":
        return Reply(b"", status=404)
    day = int(asked.path.rpartition("/")[2] or 0)
    return page(f"/day/{day + 1}", f"/day/{day - 1}")


def tries(bad: int, reply: Reply) -> Callable[[Asked], Reply]:
    """Answers a number of requests with `reply`, then with a page."""
    asked_for = []

    def answer(_: Asked) -> Reply:
        asked_for.append(1)
        return reply if len(asked_for) <= bad else Reply(page())

    return answer


def gigabyte() -> Iterable[bytes]:
    piece = b"<p>" + b"x" * (1 << 16)
    for _ in range(GB >> 16):
        yield piece


def endless_header() -> bytes:
    return b"HTTP/1.1 200 OK\r\n" + b"X-Y: z\r\n" * 100_000


def trickle() -> Iterator[bytes]:
    """A page that never ends, sent byte by byte without a long pause."""
    while True:
        time.sleep(0.2)
        yield b"x"


def bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    zeros = bytes(1 << 20)
    return b"".join(packer.compress(zeros) for _ in range(256)) + packer.flush()


SITES: dict[str, Any] = {
    # A well-behaved site
    "http://a.test/": Reply(
        page(
            "chunked",
            "/packed?utm_source=me",
            "#here",
            "/moved",
            "/caf\u00e9",
            "no-type",
            "picture.png",
            "pdf",
            "gone",
            "secret/x",
            "nofollow",
            "late",
            "http://elsewhere.test/",
            "mailto:me@a.test",
            "javascript:void(0)",
        )
    ),
    "http://a.test/robots.txt": Reply(
        b"User-agent: *\nDisallow: /secret/\n", headers=(("Content-Type", "text/plain"),)
    ),
    "http://a.test/chunked": Reply(page() * 50, chunked=100),
    "http://a.test/packed": Reply(gzip.compress(page()), headers=(HTML, ("Content-Encoding", "gzip"))),
    "http://a.test/moved": redirect("/moved/here", 301),
    "http://a.test/moved/here": page("/chunked#again", "../moved"),
    "http://a.test/caf%C3%A9": page(),
    "http://a.test/no-type": Reply(page(), headers=()),
    "http://a.test/picture.png": Reply(b"\x89PNG\r\n", headers=(("Content-Type", "image/png"),)),
    "http://a.test/pdf": Reply(b"%PDF-1.7\n" * 10, headers=(HTML,)),
    "http://a.test/secret/x": page(),
    "http://a.test/nofollow": b"<!doctype html><meta name=robots content=nofollow><a href=/never>x</a>",
    "http://a.test/late": tries(1, Reply(b"", status=503)),
    # Hostile and broken sites
    "http://calendar.test/": calendar,
    "http://stall.test/": page("never", "after"),
    "http://stall.test/never": Reply(page(), wait=3600),
    "http://stall.test/after": page(),
    "http://hang.test/": page("half", "after"),
    "http://hang.test/half": Reply(page(), claims=5000, pieces=lambda: iter(lambda: time.sleep(3600), None)),
    "http://hang.test/after": page(),
    "http://trickle.test/": page("drops", "after"),
    "http://trickle.test/drops": Reply(page(), pieces=trickle),
    "http://trickle.test/after": page(),
    "http://cut.test/": page("short", "chunks", "nothing", "after"),
    "http://cut.test/short": Reply(raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\n<p>"),
    "http://cut.test/chunks": Reply(
        raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n<p>"
    ),
    "http://cut.test/nothing": Reply(raw=b""),
    "http://cut.test/after": page(),
    "http://big.test/": page("declared", "undeclared", "header", "film", "after"),
    "http://big.test/declared": Reply(page(), claims=GB, pieces=gigabyte),
    "http://big.test/undeclared": Reply(page(), pieces=gigabyte),
    "http://big.test/header": Reply(raw=endless_header()),
    "http://big.test/film": Reply(b"", headers=(("Content-Type", "video/mp4"),), pieces=gigabyte),
    "http://big.test/after": page(),
    "http://bomb.test/": page("gzip", "after"),
    "http://bomb.test/gzip": Reply(bomb(), headers=(HTML, ("Content-Encoding", "gzip"))),
    "http://bomb.test/after": page(),
    "http://rubbish.test/": page("rubbish", "loop", "after"),
    "http://rubbish.test/rubbish": Reply(raw=b"\x16\x03\x01 what is this\r\n\r\n" * 20),
    "http://rubbish.test/loop": redirect("/loop"),
    "http://rubbish.test/after": page(),
    "http://closed.test/robots.txt": Reply(b"User-agent: *\nDisallow: /\n"),
    "http://closed.test/": page(),
    "http://broken.test/robots.txt": Reply(b"", status=500),
    "http://broken.test/": page(),
    "http://slow.test/robots.txt": b"User-agent: *\nCrawl-delay: 0.5\n",
    "http://slow.test/": page("1", "2"),
    "http://slow.test/1": page(),
    "http://slow.test/2": page(),
    "http://number.test/": redirect("http://127.0.0.2:{inner}/"),
    "http://name.test/": redirect("http://inner.test/"),
    "http://mapped.test/": redirect("http://[::ffff:127.0.0.2]:{inner}/"),
}
STARTS = sorted({f"http://{urlsplit(url).hostname}/" for url in SITES})


@dataclass(frozen=True)
class Crawled:
    """The crawl that all tests of this module check."""

    summary: CrawlSummary
    out: Path
    fates: dict[str, dict[str, Any]]
    log: list[Logged]
    inner: WebServer
    child_memory: int
    pages: list[PageRecord]

    def reason(self, url: str) -> tuple[str, str | None]:
        return self.fates[url]["fate"], self.fates[url]["reason"]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory, settings_for: Callable[..., CrawlSettings]) -> Iterator[Crawled]:
    folder = tmp_path_factory.mktemp("crawl")
    with WebServer({"/": page()}, address="127.0.0.2") as inner:
        pages = {url: with_port(reply, inner.port) for url, reply in SITES.items()}
        with WebServer(pages, answer=calendar) as server:
            settings = settings_for(
                server,
                routes=(inner.route("inner.test"),),
                pages=PAGES,
                delay=DELAY,
                timeout=TIMEOUT,
                page_seconds=PAGE_SECONDS,
                max_size=MAX_SIZE,
                retries=1,
                hosts=len(STARTS),
                scope="host",
                strategy="breadth",
            )
            with watched_memory() as memory, pytest.MonkeyPatch.context() as patch:
                for name, value in changed(folder, "webwinnow.crawl.downloads", PATIENT).items():
                    patch.setenv(name, value)
                summary = crawl(STARTS, folder / "all.warc.gz", settings, log=folder / "log.jsonl")
        lines = [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]
        fates = {line["url"]: line for line in lines}
        stored = list(open_pages([folder / "all.warc.gz"], on_problem=pytest.fail))
        yield Crawled(summary, folder / "all.warc.gz", fates, server.log, inner, max(memory), stored)


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """Peak memory of the crawling process, sampled; 0 where /proc is missing."""
    seen, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            for children in Path("/proc/self/task").glob("*/children"):
                with suppress(OSError):
                    for number in children.read_text(encoding="ascii").split():
                        command = Path(f"/proc/{number}/cmdline").read_bytes()
                        status = Path(f"/proc/{number}/status").read_text(encoding="ascii")
                        peak = re.search(r"VmHWM:\s+([0-9]+) kB", status)
                        if b"webwinnow.crawl.process" in command and peak:
                            seen.append(int(peak[1]) * 1024)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()


def with_port(reply: Any, port: int) -> Any:
    """A reply with the port filled into its redirect."""
    if not isinstance(reply, Reply):
        return reply
    return replace(reply, headers=tuple((name, value.replace("{inner}", str(port))) for name, value in reply.headers))


def test_every_page_of_a_good_site_is_stored_once(crawled: Crawled) -> None:
    stored = [page.url for page in crawled.pages if page.url.startswith("http://a.test/")]
    assert sorted(stored) == sorted(GOOD)


def test_pages_come_back_as_they_were_served(crawled: Crawled) -> None:
    bodies = {page.url: page.body for page in crawled.pages}
    assert bodies["http://a.test/chunked"] == page() * 50
    assert bodies["http://a.test/packed"] == page()
    assert all(found.refused is None for found in crawled.pages)


def test_every_url_in_scope_has_a_fate_and_they_add_up(crawled: Crawled) -> None:
    summary = crawled.summary
    assert summary.known == len(crawled.fates)
    assert summary.stored == len(crawled.pages)
    assert summary.sites == len(STARTS)
    assert summary.finished
    assert sum(count for _, _, count in summary.reasons) == summary.skipped + summary.refused + summary.failed
    assert all(fate["reason"] for fate in crawled.fates.values() if fate["fate"] in ("skipped", "refused", "failed"))


def test_the_log_shows_how_a_page_was_found(crawled: Crawled) -> None:
    start, here = crawled.fates["http://a.test/"], crawled.fates["http://a.test/moved/here"]
    assert (start["depth"], start["referrer"]) == (0, None)
    assert (here["depth"], here["referrer"], here["site"]) == (1, "http://a.test/", "http://a.test/")
    assert crawled.reason("http://a.test/moved") == ("redirected", "http://a.test/moved/here")


def test_what_is_no_html_is_skipped_and_counted(crawled: Crawled) -> None:
    assert crawled.reason("http://a.test/picture.png") == ("skipped", "not HTML (image/png)")
    assert crawled.reason("http://a.test/pdf") == ("skipped", "not HTML (a PDF document)")
    assert crawled.reason("http://a.test/gone") == ("failed", "status 404")


def test_links_of_a_page_that_asks_so_are_not_followed(crawled: Crawled) -> None:
    assert "http://a.test/never" not in crawled.fates


def test_robots_txt_is_obeyed(crawled: Crawled) -> None:
    assert crawled.reason("http://a.test/secret/x") == ("refused", "robots.txt forbids it")
    assert crawled.reason("http://closed.test/") == ("refused", "robots.txt forbids it")
    asked = {line.asked.url for line in crawled.log}
    assert "http://a.test/robots.txt" in asked
    assert asked.isdisjoint({"http://a.test/secret/x", "http://closed.test/"})


def test_a_site_whose_robots_txt_cannot_be_read_is_left_alone(crawled: Crawled) -> None:
    assert crawled.reason("http://broken.test/") == ("failed", "robots.txt could not be read (status 500)")
    assert {line.asked.path for line in crawled.log if line.asked.host == "broken.test"} == {"/robots.txt"}


def test_a_page_that_fails_once_is_tried_again(crawled: Crawled) -> None:
    assert crawled.fates["http://a.test/late"]["fate"] == "stored"
    assert [line.asked.path for line in crawled.log].count("/late") == 2


def test_an_endless_calendar_ends_at_the_limit_of_pages(crawled: Crawled) -> None:
    days = [page.url for page in crawled.pages if page.url.startswith("http://calendar.test/")]
    assert len(days) == PAGES
    assert sum(line.asked.host == "calendar.test" for line in crawled.log) <= PAGES + 1


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://stall.test/never", "silent for 3 s"),
        ("http://hang.test/half", "silent for 3 s"),
        ("http://trickle.test/drops", "took longer than 4.5 s"),
        ("http://cut.test/short", "cut off"),
        ("http://cut.test/chunks", "cut off"),
        ("http://cut.test/nothing", "cut off"),
    ],
)
def test_a_server_that_stalls_or_cuts_off_costs_that_page(crawled: Crawled, url: str, reason: str) -> None:
    assert crawled.reason(url) == ("failed", reason)


@pytest.mark.parametrize("name", ["declared", "undeclared", "header"])
def test_a_gigabyte_is_not_read(crawled: Crawled, name: str) -> None:
    assert crawled.reason(f"http://big.test/{name}") == ("refused", f"has more than {MAX_SIZE:,} bytes")


def test_a_film_is_left_at_its_first_bytes(crawled: Crawled) -> None:
    assert crawled.reason("http://big.test/film") == ("skipped", "not HTML (video/mp4)")


def test_a_gzip_bomb_is_refused(crawled: Crawled) -> None:
    fate, reason = crawled.reason("http://bomb.test/gzip")
    assert fate == "refused"
    assert "unpacks to more than" in str(reason)


def test_invalid_responses_and_redirects_to_nowhere_are_reported(crawled: Crawled) -> None:
    assert crawled.reason("http://rubbish.test/rubbish")[0] == "failed"
    assert crawled.reason("http://rubbish.test/loop") == ("refused", "redirects to itself")


@pytest.mark.parametrize("host", "stall hang trickle cut big bomb rubbish".split())
def test_the_crawl_continues_behind_each_of_them(crawled: Crawled, host: str) -> None:
    assert crawled.fates[f"http://{host}.test/after"]["fate"] == "stored"


def test_memory_stays_small_whatever_servers_send(crawled: Crawled) -> None:
    assert bool(crawled.child_memory) == Path("/proc/self/task").is_dir()  # it was measured where it can be
    assert crawled.child_memory < 400 << 20
    assert crawled.summary.received < 64 * MAX_SIZE


def test_a_redirect_to_a_private_address_is_refused_before_anybody_is_asked(crawled: Crawled) -> None:
    fates = {url: fate for url, fate in crawled.fates.items() if f":{crawled.inner.port}/" in url or "inner" in url}
    assert sorted(fate["reason"] for fate in fates.values()) == [
        "127.0.0.2 is a loopback address",
        "::ffff:127.0.0.2 is a loopback address",
        "inner.test (127.0.0.2) is a loopback address",
    ]
    assert {fate["fate"] for fate in fates.values()} == {"refused"}
    assert crawled.inner.log == []


def test_there_is_never_more_than_one_request_to_a_host_and_delays_are_kept(crawled: Crawled) -> None:
    by_host = defaultdict(list)
    for line in crawled.log:
        by_host[line.asked.host].append(line)
    assert len(by_host) > 10
    for host, lines in by_host.items():
        delay = 0.5 if host == "slow.test" else DELAY
        for one, two in pairwise(sorted(lines, key=lambda line: line.began)):
            # A page that never ends is under way for at least `TIMEOUT`; the server may have seen it late.
            least = TIMEOUT / 2 if one.asked.url in LIMITED else delay
            assert two.began >= max(one.began + least, one.answered), (host, one, two)
    assert {line.asked.url for line in crawled.log} >= set(LIMITED)


def test_hosts_are_read_side_by_side(crawled: Crawled) -> None:
    spans = [
        (min(line.began for line in lines), max(line.began for line in lines))
        for lines in ([line for line in crawled.log if line.asked.host == host] for host in ("a.test", "stall.test"))
    ]
    assert max(began for began, _ in spans) < min(ended for _, ended in spans)


def test_warcio_reads_requests_and_responses_and_finds_their_digests_right(crawled: Crawled) -> None:
    kinds: dict[str, list[Any]] = defaultdict(list)
    with crawled.out.open("rb") as file:
        for record in WarcioIterator(file, check_digests="raise"):
            record.content_stream().read()
            kinds[record.rec_type].append(record)
    assert len(kinds["warcinfo"]) == 1
    assert len(kinds["response"]) == len(kinds["request"]) == crawled.summary.stored + crawled.summary.redirected
    numbers = {record.rec_headers["WARC-Record-ID"] for record in kinds["response"]}
    assert {record.rec_headers["WARC-Concurrent-To"] for record in kinds["request"]} == numbers
    for record in (*kinds["request"], *kinds["response"]):
        assert record.rec_headers["WARC-IP-Address"] == "127.0.0.1"
    request = kinds["request"][0].http_headers
    assert request.protocol == "GET"
    assert request.get_header("User-Agent").startswith("webwinnow/")
    packed = next(one for one in kinds["response"] if one.rec_headers["WARC-Target-URI"].endswith("/packed"))
    assert packed.http_headers.get_header("Content-Encoding") == "gzip"


def test_the_state_of_a_crawl_that_finished_is_removed(crawled: Crawled) -> None:
    assert [path.name for path in crawled.out.parent.iterdir() if "webwinnow" in path.name] == []


def test_bytes_after_the_length_of_a_body_are_not_of_the_page(
    tmp_path: Path, settings_for: Callable[..., CrawlSettings]
) -> None:
    body = b"<!doctype html><p>The page.</p>"
    smuggled = b"<p>Not of the page.</p>"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body)
    with WebServer(answer=lambda _: Reply(raw=head + body + smuggled)) as server:
        crawl(["http://a.test/"], tmp_path / "a.warc.gz", settings_for(server, robots=False))
    [page] = open_pages([tmp_path / "a.warc.gz"], on_problem=print)
    assert page.body == body


@pytest.mark.parametrize("line", [b"X: " + b"a" * 200_000, b"X: a\r\n" * 33_000], ids=["one line", "many lines"])
def test_a_page_with_a_long_header_is_stored_and_read(
    line: bytes, tmp_path: Path, settings_for: Callable[..., CrawlSettings]
) -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + line.strip() + b"\r\n\r\n<!doctype html><p>The page."
    with WebServer(answer=lambda _: Reply(raw=raw)) as server:
        crawl(["http://a.test/"], tmp_path / "a.warc.gz", settings_for(server, robots=False, retries=0))
    [page] = open_pages([tmp_path / "a.warc.gz"], on_problem=print)
    assert (page.refused, page.body) == (None, b"<!doctype html><p>The page.")


def test_one_page_is_fetched_without_parsing_it(settings_for: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(*_: object, **__: object) -> None:
        raise AssertionError("a server would parse a stranger's page in its own process")

    monkeypatch.setattr("webwinnow.crawl.crawling.parse", parse)
    with WebServer({"http://a.test/": "<p>Hello"}) as server:
        assert fetch_page("http://a.test/", settings_for(server)).body == b"<p>Hello"
