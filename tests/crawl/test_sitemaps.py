"""Sitemaps, feeds, patterns of URLs, and crawls that failed."""

from __future__ import annotations

import gzip
import select
import socket
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from webserver import LOOPBACK, Asked, Reply, WebServer

from webwinnow.crawl.crawling import crawl
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.sitemaps import feeds_in, is_list_of_pages, listed_in, listed_pages
from webwinnow.errors import SettingsError

INDEX = "<sitemapindex><sitemap><loc>http://a.test/maps/one.xml.gz</loc></sitemap></sitemapindex>"
MAP = "<urlset><url><loc>http://a.test/hidden/1</loc></url><url><loc> /hidden/2?a=1&amp;b=2 </loc></url></urlset>"
FEED = "<rss><channel><link>http://a.test/</link><item><link>http://a.test/news/3</link></item></channel></rss>"


def site(asked: Asked) -> str | Reply:
    """A start page that links to two pages and a feed; further pages are listed only."""
    match asked.path:
        case "/robots.txt":
            return Reply(b"User-agent: *\nDisallow:\nSitemap: http://a.test/maps/index.xml\n")
        case "/maps/index.xml":
            return Reply(INDEX.encode(), headers=(("Content-Type", "application/xml"),))
        case "/maps/one.xml.gz":
            return Reply(gzip.compress(MAP.encode()), headers=(("Content-Type", "application/gzip"),))
        case "/feed":
            return Reply(FEED.encode(), headers=(("Content-Type", "application/rss+xml"),))
    links = "<a href=/open/1>one</a> <a href='/open/2?print=1'>two</a>" if asked.path == "/" else ""
    feed = '<link rel="alternate" type="application/rss+xml" href="/feed">'
    return f"<!doctype html><title>{asked.path}</title>{feed}<p>Words of {asked.path} {links}</p>"


def crawled(settings: CrawlSettings, out: Path, stored_pages: Callable[[Path], Any]) -> set[str]:
    summary = crawl(["http://a.test/"], out, settings)
    assert summary.finished
    return {url.removeprefix("http://a.test") for url in stored_pages(out) if "robots.txt" not in url}


def test_pages_of_sitemaps_and_feeds_are_crawled_on_request(tmp_path, settings_for, stored_pages):
    with WebServer(answer=site) as server:
        settings = settings_for(server, sitemaps=True)
        found = crawled(settings, tmp_path / "listed.warc.gz", stored_pages)
        assert found == {"/", "/open/1", "/open/2?print=1", "/hidden/1", "/hidden/2?a=1&b=2", "/news/3"}
        linked = crawled(settings_for(server), tmp_path / "linked.warc.gz", stored_pages)
    assert linked == {"/", "/open/1", "/open/2?print=1"}


def test_patterns_decide_which_links_are_followed(tmp_path, settings_for, stored_pages):
    with WebServer(answer=site) as server:
        settings = settings_for(server, sitemaps=True, allow_urls=("/open/", "/news/"), deny_urls=(r"[?&]print=",))
        found = crawled(settings, tmp_path / "some.warc.gz", stored_pages)
    assert found == {"/", "/open/1", "/news/3"}


def test_settings_of_patterns_are_checked_and_survive_a_resume():
    settings = CrawlSettings(allow_urls=("a",), deny_urls=("b",), sitemaps=True)
    assert CrawlSettings.from_plain(settings.to_plain()) == settings
    with pytest.raises(SettingsError, match="no regular expression"):
        CrawlSettings(deny_urls=("(",))


def test_a_crawl_without_a_page_leaves_nothing_behind_and_can_be_tried_again(tmp_path, settings_for, stored_pages):
    out = tmp_path / "site.warc.gz"
    with WebServer(answer=lambda _: Reply(b"", status=500)) as server:
        assert crawl(["http://a.test/"], out, settings_for(server, retries=0)).stored == 0
    assert list(tmp_path.iterdir()) == []
    with WebServer(answer=site) as server:
        assert "/" in crawled(settings_for(server), out, stored_pages)


def test_urls_in_feeds_and_heads_are_found_as_they_are_written():
    atom = '<feed><link rel="self" href="/me"/><entry><link href="b/1?x=1&amp;y=2"/></entry></feed>'
    assert listed_in(atom, "http://a.test/feed") == ["http://a.test/b/1?x=1&y=2"]
    cdata = "<rss><item><link><![CDATA[http://a.test/c]]></link></item></rss>"
    assert listed_in(cdata, "http://a.test/") == ["http://a.test/c"]
    head = b"<link rel=stylesheet href=x.css><link type='application/atom+xml' rel=alternate href='/atom'>"
    assert feeds_in(head, "http://a.test/x/") == ["http://a.test/atom"]


def test_urls_in_text_sitemaps_and_with_prefixes_are_found():
    text = "http://a.test/1\r\nhttps://a.test/2\n\n# no URL\n"
    assert listed_in(text, "http://a.test/map.txt") == ["http://a.test/1", "https://a.test/2"]
    prefixed = "<s:urlset xmlns:s='x'><s:url><s:loc>http://a.test/3</s:loc></s:url></s:urlset>"
    assert listed_in(prefixed, "http://a.test/map.xml") == ["http://a.test/3"]


def test_sitemaps_and_feeds_are_recognised_by_their_beginning():
    assert is_list_of_pages(b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- by hand -->\n<s:urlset xmlns:s="x">')
    assert is_list_of_pages(gzip.compress(INDEX.encode()))
    assert is_list_of_pages(FEED.encode())
    assert not is_list_of_pages(b"<!doctype html><p>A &lt;urlset> is <urlset>")
    assert not is_list_of_pages(b"\x1f\x8bbroken")


INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n"
ROUNDS = 400
"""Interim responses of 50 ms each: far more than the limit of the test allows, and an end for a client without one."""


def send_slowly(listener: socket.socket) -> None:
    """Answer each request with interim responses until the client has gone; a patient one gets a sitemap at last."""
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            client.recv(1 << 16)
            try:
                for _ in range(ROUNDS):
                    client.sendall(INTERIM)
                    if select.select([client], [], [], 0.05)[0]:
                        break
                else:
                    client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(MAP), MAP.encode()))
            except OSError:
                pass


def test_a_sitemap_that_never_ends_is_given_up(settings_for):
    problems: list[str] = []
    with socket.create_server((LOOPBACK, 0)) as listener:
        Thread(target=send_slowly, args=(listener,), daemon=True).start()
        route = f"a.test={LOOPBACK}:{listener.getsockname()[1]}"
        found = listed_pages("http://a.test/", b"", settings_for(routes=(route,), page_seconds=0.3), problems.append)
        listener.shutdown(socket.SHUT_RDWR)
    assert not found
    assert problems == ["http://a.test/sitemap.xml: cannot be read (took longer than 0.3 s)"]


def test_the_limit_of_time_of_a_crawl_ends_the_reading_of_sitemaps(settings_for):
    asked: list[str] = []

    def endless(request: Asked) -> str:
        asked.append(request.path)
        return f"<sitemapindex><sitemap><loc>/{len(asked)}.xml</loc></sitemap></sitemapindex>"

    with WebServer(answer=endless) as server:
        assert (
            listed_pages("http://a.test/", b"", settings_for(server, seconds=1e-9, page_seconds=60), lambda _: None)
            == []
        )
    assert len(asked) <= 1


def plain_lists(asked: Asked) -> str | Reply:
    """A site with a text sitemap that robots.txt names by its path, one that lists nothing, and one with prefixes."""
    match asked.path:
        case "/robots.txt":
            return Reply(b"User-agent: *\nDisallow:\nSitemap: /map.txt\nSitemap: /empty.txt\n")
        case "/map.txt":
            return Reply(b"http://a.test/listed/1\nhttp://a.test/listed/2\n", headers=(("Content-Type", "text/plain"),))
        case "/empty.txt":
            return Reply(b"nothing here", headers=(("Content-Type", "text/plain"),))
        case "/prefixed.xml":
            body = b"<s:urlset xmlns:s='x'><s:url><s:loc>http://a.test/listed/3</s:loc></s:url></s:urlset>"
            return Reply(body, headers=(("Content-Type", "application/xml"),))
    return f"<!doctype html><title>{asked.path}</title><p>Words of {asked.path}</p>"


def test_sitemaps_named_by_a_path_are_read_and_those_without_pages_reported(tmp_path, settings_for, stored_pages):
    problems: list[str] = []
    with WebServer(answer=plain_lists) as server:
        out = tmp_path / "text.warc.gz"
        crawl(["http://a.test/"], out, settings_for(server, sitemaps=True), on_problem=problems.append)
    assert {url for url in stored_pages(out) if "robots" not in url} == {
        "http://a.test/",
        "http://a.test/listed/1",
        "http://a.test/listed/2",
    }
    (problem,) = problems
    assert problem.startswith("http://a.test/empty.txt: lists no page")


def test_a_sitemap_may_be_the_start_of_a_crawl(tmp_path, settings_for, stored_pages):
    start = "http://a.test/prefixed.xml"
    with WebServer(answer=plain_lists) as server:
        out = tmp_path / "start.warc.gz"
        assert crawl([start], out, settings_for(server, sitemaps=True)).stored == 3
        assert "http://a.test/listed/3" in stored_pages(out)
        without = crawl([start], tmp_path / "without.warc.gz", settings_for(server))
    assert without.stored == 0
    assert "--sitemaps crawls its pages" in str(without.reasons)
