"""The choice of the next page: strategies, scope, limits, politeness. No network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from webwinnow.crawl.frontier import GIVE_UP_AFTER, LEAST_REQUESTS, REQUESTS_PER_PAGE, Frontier, Rules, Visit
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.store import CrawlStore, Fate

START = "http://a.test/docs/"


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[Callable[..., Frontier]]:
    """Makes frontiers over one store; a second one belongs to a resumed crawl."""
    made: list[Frontier] = []

    def make(*starts: str, clock: Clock | None = None, **settings: Any) -> Frontier:
        settings = {"robots": False, "delay": 0.0} | settings
        found = Frontier(CrawlSettings(**settings), CrawlStore(tmp_path), clock or Clock())
        for start in starts:
            found.add_site(start)
        found.store.commit()
        made.append(found)
        return found

    yield make
    for one in made:
        one.store.close()


def store(frontier: Frontier, visit: Visit, links: list[str]) -> None:
    """Read a page, with these links."""
    assert visit.page is not None
    frontier.settle(visit, Fate.STORED)
    frontier.add_links(visit.page, links)
    frontier.leave(visit)
    frontier.store.commit()


def read_all(frontier: Frontier, links: dict[str, list[str]]) -> list[str]:
    """Read pages until nothing is left; return their URLs in order."""
    read = []
    while (visit := frontier.next()) is not None:
        read.append(visit.url)
        store(frontier, visit, links.get(visit.url, []))
    assert not frontier.has_work()
    return read


def tree(fan: int, levels: int) -> dict[str, list[str]]:
    """Pages that link to `fan` pages each, below the start page."""
    links: dict[str, list[str]] = {}
    level = [START]
    for _ in range(levels):
        below = [f"{page}{k}/" for page in level for k in range(fan)]
        for page in level:
            links[page] = [one for one in below if one.startswith(page)]
        level = below
    return links


def test_breadth_reads_by_the_distance_from_the_start_page(frontier: Callable[..., Frontier]) -> None:
    read = read_all(frontier(START, strategy="breadth"), tree(3, 3))
    depths = [url.count("/") for url in read]
    assert len(read) == 1 + 3 + 9 + 27
    assert depths == sorted(depths)


def test_random_reads_the_same_pages_in_another_order_that_the_seed_determines(tmp_path: Path) -> None:
    orders = []
    for k, seed in enumerate([1, 1, 2]):
        folder = tmp_path / str(k)
        folder.mkdir()
        settings = CrawlSettings(robots=False, delay=0, seed=seed)
        found = Frontier(settings, CrawlStore(folder), Clock())
        found.add_site(START)
        orders.append(read_all(found, tree(3, 3)))
        found.store.close()
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2])
    depths = [url.count("/") for url in orders[0]]
    assert depths != sorted(depths)


def test_each_waiting_page_is_sampled_with_equal_probability(frontier: Callable[..., Frontier]) -> None:
    starts = [f"http://h{k}.test/" for k in range(400)]
    read = read_all(frontier(*starts, pages=2), {start: [f"{start}{k}" for k in range(4)] for start in starts})
    counts = [sum(url.endswith(f"/{k}") for url in read) for k in range(4)]
    assert sum(counts) == 400
    assert min(counts) > 60  # 100 each; 60 would be more than four standard deviations below


def test_a_page_is_read_once_however_it_is_spelled(frontier: Callable[..., Frontier]) -> None:
    links = {START: [f"{START}x", f"{START}x#top", f"{START}./x", f"{START}x?utm_source=y", "HTTP://A.TEST:80/docs/x"]}
    assert read_all(frontier(START), links) == [START, f"{START}x"]


@pytest.mark.parametrize(
    ("scope", "read"),
    [
        ("below", {"http://www.a.org/docs/x"}),
        ("host", {"http://www.a.org/docs/x", "http://www.a.org/"}),
        ("domain", {"http://www.a.org/docs/x", "http://www.a.org/", "http://b.a.org/"}),
        ("any", {"http://www.a.org/docs/x", "http://www.a.org/", "http://b.a.org/", "http://c.org/"}),
    ],
)
def test_the_scope_says_which_links_belong_to_the_site(
    frontier: Callable[..., Frontier], scope: str, read: set[str]
) -> None:
    start = "http://www.a.org/docs/index.html"
    links = ["http://www.a.org/docs/x", "http://www.a.org/", "http://b.a.org/", "http://c.org/"]
    odd = ["mailto:x@a.org", "javascript:0", "ftp://www.a.org/docs/y", "http://u:p@www.a.org/docs/z", "http://[/"]
    assert set(read_all(frontier(start, scope=scope), {start: links + odd})) == read | {start}


def test_urls_longer_than_servers_take_are_passed_over(frontier: Callable[..., Frontier]) -> None:
    assert read_all(frontier(START), {START: [START + "x" * 3000]}) == [START]


def test_no_more_pages_of_a_site_than_wanted(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, pages=5)
    assert len(read_all(crawl, tree(3, 3))) == 5
    assert crawl.why_ended == "the limit of pages is reached"


def test_each_start_page_is_a_site_with_its_own_limit(frontier: Callable[..., Frontier]) -> None:
    other = "http://b.test/"
    links = {START: [f"{START}{k}" for k in range(9)], other: [f"{other}{k}" for k in range(9)]}
    read = read_all(frontier(START, other, pages=3), links)
    assert sum(url.startswith(START) for url in read) == sum(url.startswith(other) for url in read) == 3


def test_links_deeper_than_wanted_are_counted_and_left(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, depth=1)
    assert len(read_all(crawl, tree(3, 3))) == 4
    assert crawl.links_over == 9


def test_a_site_with_endless_urls_but_no_pages_ends(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, pages=2)
    visits = 0
    while (visit := crawl.next()) is not None:
        visits += 1
        assert visit.page is not None
        crawl.settle(visit, Fate.REDIRECTED) if visits > 1 else crawl.settle(visit, Fate.STORED)
        crawl.add_links(visit.page, [f"{START}{visits}-{k}" for k in range(5)])
        crawl.leave(visit)
    assert visits == REQUESTS_PER_PAGE * 2 + LEAST_REQUESTS
    assert crawl.why_ended == "the limit of requests is reached"


def test_a_redirected_start_page_moves_the_site(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier("http://a.test/")
    visit = crawl.next()
    assert visit is not None and visit.page is not None
    assert crawl.redirect(visit.page, "https://www.a.test/en/") is None
    crawl.settle(visit, Fate.REDIRECTED)
    crawl.leave(visit)
    links = {"https://www.a.test/en/": ["https://www.a.test/en/x", "https://www.a.test/de/", "http://a.test/y"]}
    assert read_all(crawl, links) == ["https://www.a.test/en/", "https://www.a.test/en/x"]


def test_a_redirect_out_of_scope_to_itself_or_without_end_is_refused(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START)
    visit = crawl.next()
    assert visit is not None
    store(crawl, visit, [f"{START}x"])
    visit = crawl.next()
    assert visit is not None and visit.page is not None
    assert crawl.redirect(visit.page, "http://b.test/") == "redirects out of scope"
    assert crawl.redirect(visit.page, f"{START}x#y") == "redirects to itself"
    assert crawl.redirect(visit.page, "mailto:x") == "redirects to what is no web address"
    assert "more than" in str(crawl.redirect(visit.page._replace(redirects=10), f"{START}z"))


def test_a_host_has_one_visit_at_a_time_and_others_continue(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier("http://a.test/", "http://b.test/", "http://a.test/other/")
    one, two = crawl.next(), crawl.next()
    assert one is not None and two is not None
    assert {one.host, two.host} == {"a.test", "b.test"}
    assert crawl.next() is None
    assert crawl.has_work()
    store(crawl, one, [])
    assert crawl.next() is not None


def test_a_host_is_left_alone_for_the_delay_after_a_response(frontier: Callable[..., Frontier]) -> None:
    clock = Clock()
    crawl = frontier(START, delay=2.0, clock=clock)
    visit = crawl.next()
    assert visit is not None and visit.ready_at <= clock.now
    clock.now += 7
    store(crawl, visit, [f"{START}x"])
    visit = crawl.next()
    assert visit is not None and visit.ready_at == clock.now + 2.0


def test_a_page_that_does_not_come_is_tried_again_later_and_then_failed(frontier: Callable[..., Frontier]) -> None:
    clock = Clock()
    crawl = frontier(START, retries=2, backoff=1.0, clock=clock)
    waits = []
    for _ in range(3):
        visit = crawl.next()
        assert visit is not None
        waits.append(visit.ready_at - clock.now)
        if not crawl.retry(visit):
            crawl.settle(visit, Fate.FAILED, "cut off")
        crawl.leave(visit, failed=True)
    assert waits == [-100.0, 1.0, 2.0]
    assert crawl.next() is None
    assert crawl.store.reasons() == [("failed", "cut off", 1)]


def test_a_dead_host_is_given_up_and_its_pages_have_failed(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, retries=0)
    visit = crawl.next()
    assert visit is not None
    store(crawl, visit, [f"{START}{k}" for k in range(30)])
    for _ in range(GIVE_UP_AFTER):
        visit = crawl.next()
        assert visit is not None
        crawl.settle(visit, Fate.FAILED, "silent")
        crawl.leave(visit, failed=True, silent=True)
    assert crawl.next() is None
    assert crawl.store.counts() == {"stored": 1, "failed": 30}


def test_a_host_that_answers_with_errors_is_alive(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, retries=0, pages=100)
    visit = crawl.next()
    assert visit is not None
    store(crawl, visit, [f"{START}{k}" for k in range(2 * GIVE_UP_AFTER)])
    visits = 0
    while (visit := crawl.next()) is not None:
        visits += 1
        crawl.settle(visit, Fate.FAILED, "status 500")
        crawl.leave(visit, failed=True)
    assert visits == 2 * GIVE_UP_AFTER


def test_robots_txt_is_asked_first_and_obeyed_for_each_origin(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START, robots=True, delay=0.0)
    visit = crawl.next()
    assert visit is not None and visit.page is None
    assert visit.url == "http://a.test/robots.txt"
    body = b"User-agent: *\nDisallow: /docs/secret\nCrawl-delay: 3\n"
    crawl.set_rules(visit, Rules.of(200, body))
    crawl.leave(visit)
    links = {START: [f"{START}open", f"{START}secret/x"]}
    assert read_all(crawl, links) == [START, f"{START}open"]
    assert crawl.store.reasons() == [("refused", "robots.txt forbids it", 1)]


def test_robots_txt_may_ask_for_a_longer_delay(frontier: Callable[..., Frontier]) -> None:
    clock = Clock()
    crawl = frontier(START, robots=True, delay=1.0, clock=clock)
    visit = crawl.next()
    assert visit is not None
    crawl.set_rules(visit, Rules.of(200, b"User-agent: *\nCrawl-delay: 3\n"))
    crawl.leave(visit)
    visit = crawl.next()
    assert visit is not None and visit.ready_at == clock.now + 3.0


@pytest.mark.parametrize(("status", "reads"), [(404, True), (403, True), (500, False), (503, False), (429, False)])
def test_without_robots_txt_all_is_allowed_and_with_a_failing_server_nothing(status: int, reads: bool) -> None:
    assert (Rules.of(status, b"Disallow: /").why_not(START, "webwinnow") is None) == reads


def test_a_resumed_crawl_continues_where_it_was(frontier: Callable[..., Frontier]) -> None:
    links = tree(3, 2)
    crawl = frontier(START)
    read = []
    for _ in range(4):
        visit = crawl.next()
        assert visit is not None
        read.append(visit.url)
        store(crawl, visit, links.get(visit.url, []))
    assert crawl.next() is not None  # in flight when the crawl is killed
    read += read_all(frontier(), links)
    assert sorted(read) == sorted({START, *(url for row in links.values() for url in row)})


def test_a_resumed_crawl_draws_as_one_that_was_not_cut_off(frontier: Callable[..., Frontier], tmp_path: Path) -> None:
    links = tree(3, 2)
    crawl = frontier(START, seed=7)
    read = []
    for _ in range(5):
        visit = crawl.next()
        assert visit is not None
        read.append(visit.url)
        store(crawl, visit, links.get(visit.url, []))
    read += read_all(frontier(seed=7), links)
    folder = tmp_path / "whole"
    folder.mkdir()
    whole = Frontier(CrawlSettings(robots=False, delay=0, seed=7), CrawlStore(folder), Clock())
    whole.add_site(START)
    assert read == read_all(whole, links)
    whole.store.close()


def test_a_site_can_be_left_and_sites_added_during_a_crawl(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START)
    visit = crawl.next()
    assert visit is not None and visit.page is not None
    store(crawl, visit, [f"{START}{k}" for k in range(3)])
    crawl.close_site(visit.page.site, "left")
    assert crawl.add_site("http://b.test/")
    assert not crawl.add_site("http://b.test/")
    assert read_all(crawl, {}) == ["http://b.test/"]
    assert read_all(frontier(), {}) == []


def test_a_stopped_crawl_hands_out_nothing_more(frontier: Callable[..., Frontier]) -> None:
    crawl = frontier(START)
    crawl.stop("the limit of time is reached")
    assert crawl.next() is None
    assert not crawl.has_work()
    assert crawl.why_ended == "the limit of time is reached"


def test_a_robots_txt_that_would_multiply_its_rules_is_refused() -> None:
    named = "".join(f"User-agent: bot{number}\n" for number in range(1_000))
    huge, usual = (f"{named[:length]}\nDisallow: /a\n" + "Disallow: /b\n" * 1_500 for length in (len(named), 2_000))
    assert "more than" in str(Rules.of(200, huge.encode()).why_not(START, "webwinnow"))
    assert Rules.of(200, usual.encode()).why_not(START, "webwinnow") is None
