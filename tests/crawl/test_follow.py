"""Which links are followed: all, none, or those in the blocks that cleaning keeps."""

from __future__ import annotations

import pytest

from webwinnow.crawl.follow import CrawledPage, FollowAll, FollowKept, FollowNone, crawled
from webwinnow.page.parsing import parse
from webwinnow.page.records import PageRecord

MENU = "".join(f"<li><a href='/menu/{k}'>Section {k}</a></li>" for k in range(8))
FOOTER = "<a href='/imprint'>Imprint</a> <a href='/privacy'>Privacy</a> <a href='/terms'>Terms of use</a>"
TOPICS = "rivers mountains castles bridges gardens harbours museums markets theatres libraries churches towers".split()


def page(number: int, *, routes: bool = False) -> CrawledPage:
    """A page with a menu and a footer that the site repeats, and an article with a unique link."""
    topic = TOPICS[number % len(TOPICS)]
    story = " ".join(
        f"The {topic} of region {number} were described by traveller {k}, who walked {k + 2} miles to see them, and "
        f"wrote at length about what the people there told of their {topic} and how old they were."
        for k in range(6)
    )
    body = f"""<!doctype html><title>{topic} {number}</title><body>
    <nav><ul class=menu>{MENU}</ul></nav>
    <main><article><h1>On the {topic} of region {number}</h1>
    <p>{story}</p><p>More of this in <a href='/story/{number}'>the story of number {number}</a>, which {story}</p>
    </article></main><footer class=foot>{FOOTER}</footer>"""
    record = PageRecord(url=f"http://a.test/{number}", body=body.encode())
    if routes:
        body = body.replace("href='/", "href='#/")
    return crawled(record, parse(body, url=record.url), "http://a.test/", 1, None, routes=routes)


def test_all_links_of_a_page_are_followed() -> None:
    links = FollowAll().next(page(1)).links
    assert len(links) == 8 + 3 + 1
    assert "http://a.test/story/1" in links


def test_no_links_are_followed_where_only_start_pages_are_wanted() -> None:
    assert FollowNone().next(page(1)).links == ()


@pytest.mark.parametrize("said", ["nofollow", "noindex, NOFOLLOW", "none"])
@pytest.mark.parametrize("follow", [FollowAll(), FollowKept(enough=1)])
def test_a_page_that_asks_so_is_not_followed(said: str, follow: FollowAll | FollowKept) -> None:
    body = f"<meta name=robots content='{said}'><p><a href=/x>x</a>"
    record = PageRecord(url="http://a.test/", body=body.encode())
    assert list(follow.next(crawled(record, parse(body, url=record.url), record.url, 0, None)).links) == []


def test_a_refresh_in_the_head_is_a_link() -> None:
    body = "<meta http-equiv=Refresh content='0; URL=/en/'><p>Welcome"
    record = PageRecord(url="http://a.test/", body=body.encode())
    assert FollowAll().next(crawled(record, parse(body, url=record.url), record.url, 0, None)).links == [
        "http://a.test/en/"
    ]


def test_a_page_of_links_without_end_gives_some(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webwinnow.crawl.follow.MOST_LINKS", 5)
    body = "<a href=/1>1</a>" * 50
    record = PageRecord(url="http://a.test/", body=body.encode())
    assert len(crawled(record, parse(body, url=record.url), record.url, 0, None).links) == 5


def test_kept_follows_all_links_until_the_site_is_known_and_then_those_in_kept_blocks() -> None:
    follow = FollowKept(enough=10)
    answers = [list(follow.next(page(number)).links) for number in range(14)]
    assert all(len(links) == 12 for links in answers[:9])
    for number in range(10, 14):
        assert answers[number] == [f"http://a.test/story/{number}"]


def test_routes_of_an_application_are_followed_as_other_links_are() -> None:
    assert FollowAll().next(page(1, routes=True)).links[-1] == "http://a.test/1#/terms"
    follow = FollowKept(enough=10)
    answers = [list(follow.next(page(number, routes=True)).links) for number in range(11)]
    assert answers[10] == ["http://a.test/10#/story/10"]
