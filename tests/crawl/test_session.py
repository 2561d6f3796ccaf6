"""Handling of responses: limits of a whole crawl, Retry-After, answers of the follower."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from ownloop import driven

from webwinnow.crawl.messages import Answer, FetchedPage
from webwinnow.crawl.session import CrawlSession
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore
from webwinnow.crawl.warcfile import Exchange, FetchFailed, WarcFile

START = "http://a.test/"
Reply = Callable[[str], Exchange | FetchFailed]
Judge = Callable[[FetchedPage], Answer]


def response(status: int = 200, body: bytes = b"<!doctype html><p>Page", **headers: str) -> Exchange:
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    whole = f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + body
    return Exchange(b"GET / HTTP/1.1\r\n\r\n", whole, "192.0.2.1", "2026-01-02T03:04:05Z")


def more(page: FetchedPage) -> Answer:
    """Every page links to ten more."""
    return Answer(page.number, [f"{page.url}{k}" for k in range(10)], [], False)


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Callable[..., CrawlSession]]:
    opened: list[CrawlSession] = []

    def make(judge: Judge = more, *, starts: tuple[str, ...] = (START,), **settings: Any) -> CrawlSession:
        async def ask(page: FetchedPage) -> Answer:
            return judge(page)

        given = {"delay": 0.0, "robots": False, "strategy": "breadth"} | settings
        store, warc = CrawlStore(tmp_path), WarcFile(tmp_path / "a.warc")
        found = CrawlSession(CrawlSettings(**given), store, warc, ask, lambda *_: None)
        for start in starts:
            found.frontier.add_site(start)
        opened.append(found)
        return found

    yield make
    for one in opened:
        one.warc.close()
        one.store.close()


def run(session: CrawlSession, reply: Reply) -> list[str]:
    """Fetch until nothing is left."""
    asked = []
    while (visit := session.next()) is not None:
        asked.append(visit.url)
        driven(session.finish(visit, reply(visit.url)))
    assert not session.has_work()
    return asked


def test_a_crawl_ends_when_so_many_bytes_were_received(session: Callable[..., CrawlSession]) -> None:
    crawl = session(max_bytes=5000)
    run(crawl, lambda _: response(body=b"<html>" + b"x" * 1000))
    assert crawl.store.counts()["stored"] == 5
    assert crawl.frontier.why_ended == "the limit of bytes is reached"


def test_a_crawl_ends_when_its_time_is_over(
    session: Callable[..., CrawlSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = session(seconds=60)
    clock = count()  # each reading of the clock advances it by a second
    monkeypatch.setattr("webwinnow.crawl.session.time.monotonic", lambda: crawl.started + next(clock))
    assert 1 < len(run(crawl, lambda _: response())) <= 60
    assert crawl.frontier.why_ended == "the limit of time is reached"


def test_a_visit_that_would_come_too_late_is_not_made(session: Callable[..., CrawlSession]) -> None:
    crawl = session(seconds=60, delay=100.0)
    assert run(crawl, lambda _: response()) == [START]
    assert crawl.frontier.why_ended == "the limit of time is reached"
    assert crawl.store.counts() == {"stored": 1, "waiting": 10}


def test_a_server_that_asks_for_patience_gets_it(session: Callable[..., CrawlSession]) -> None:
    crawl = session(retries=1, backoff=0.0)
    visit = crawl.next()
    assert visit is not None
    before = crawl.frontier.clock()
    driven(crawl.finish(visit, response(503, Retry_After="7")))
    again = crawl.next()
    assert again is not None
    assert before + 7 <= again.ready_at <= crawl.frontier.clock() + 7


def test_the_follower_may_add_sites_and_leave_one(session: Callable[..., CrawlSession]) -> None:
    def judge(page: FetchedPage) -> Answer:
        if page.url == START:
            return Answer(page.number, [f"{START}1", f"{START}2"], ["http://b.test/x", "nonsense"], False)
        return Answer(page.number, [f"{START}3"], [], page.url == f"{START}1")

    asked = run(session(judge), lambda _: response())
    assert asked == [START, f"{START}1", "http://b.test/x"]


@pytest.mark.parametrize("written", ["/caf%C3%A9", "/caf\u00e9", "caf\u00e9"])
def test_a_redirect_may_be_written_in_utf8(session: Callable[..., CrawlSession], written: str) -> None:
    moved = response(301, Location=written)
    asked = run(session(pages=1), lambda url: moved if url == START else response())
    assert asked == [START, f"{START}caf%C3%A9"]


def test_the_follower_gets_pages_with_their_position(session: Callable[..., CrawlSession]) -> None:
    seen = []

    def judge(page: FetchedPage) -> Answer:
        seen.append(page)
        return Answer(page.number, [f"{START}b"], [], False)

    run(session(judge), lambda _: response(Content_Type="text/html; charset=utf-8"))
    assert [page.depth for page in seen] == [0, 1]
    assert [page.referrer for page in seen] == [None, START]
    assert seen[0].body == b"<!doctype html><p>Page"
    assert seen[0].content_type == "text/html; charset=utf-8"


@pytest.mark.parametrize("name", ["webwinnow", "WebWinnow", "*"])
def test_robots_txt_may_speak_to_us_by_name(session: Callable[..., CrawlSession], name: str) -> None:
    crawl = session(robots=True, pages=30)
    rules = f"User-agent: other\nDisallow:\n\nUser-agent: {name}\nDisallow: /1\n".encode()
    asked = run(
        crawl, lambda url: response(body=rules) if url.endswith("robots.txt") else response(Content_Type="text/html")
    )
    counts = Counter(url.removeprefix(START)[:1] for url in asked)
    assert counts["1"] == 0
    assert counts["2"] > 0


def test_a_redirected_robots_txt_is_followed_and_one_that_never_ends_allows_all(
    session: Callable[..., CrawlSession],
) -> None:
    crawl = session(robots=True, pages=1)
    asked = run(crawl, lambda url: response(301, Location=url + "x") if "robots" in url else response())
    assert asked == [f"{START}robots.txt{'x' * k}" for k in range(6)] + [START]


def test_a_robots_txt_on_a_busy_host_is_waited_for(session: Callable[..., CrawlSession]) -> None:
    crawl = session(robots=True, starts=(START, "http://b.test/"), pages=2)
    one, two = crawl.next(), crawl.next()
    assert one is not None and two is not None
    driven(crawl.finish(one, response(301, Location="http://b.test/robots.txt")))
    assert crawl.next() is None  # b.test gets a request
    driven(crawl.finish(two, response(404)))
    third = crawl.next()
    assert third is not None
    assert (third.url, third.host) in {("http://b.test/robots.txt", "b.test"), ("http://b.test/", "b.test")}
