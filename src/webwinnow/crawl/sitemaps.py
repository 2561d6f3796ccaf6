"""Pages that a site lists itself: in sitemaps (sitemaps.org; XML or text, with indexes and .gz), RSS and Atom feeds.

They are fetched by the process that called `crawl`, one after the other, through the guard of the crawl.
"""

from __future__ import annotations

import html
import math
import re
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final
from urllib.parse import urljoin

from webwinnow.crawl.follow import MOST_LINKS
from webwinnow.crawl.scope import page_url
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.crawl.smallfiles import FileMissing, fetch
from webwinnow.errors import InputError

MOST_FILES: Final = 50
"""Sitemaps and feeds of a site that are read."""
MOST_REDIRECTS: Final = 3
GZIP: Final = b"\x1f\x8b"
HEAD: Final = 2000
"""Bytes in which the root element of a sitemap or feed begins."""
_IS_LIST: Final = re.compile(
    r"(?>\s+|<!--.*?-->|<\?[^>]*>)*+<(?:[\w.-]+:)?(?:urlset|sitemapindex|rss|feed|rdf)\b", re.IGNORECASE | re.DOTALL
)  # atomic: what precedes the root element can be read in one way only, so nothing is tried twice
_SITEMAP_LINE: Final = re.compile(rb"^[^\S\n]*sitemap[^\S\n]*:[^\S\n]*(\S+)", re.IGNORECASE | re.MULTILINE)
_IS_INDEX: Final = re.compile(r"<(?:[\w.-]+:)?sitemapindex\b", re.IGNORECASE)
_IS_SITEMAP: Final = re.compile(r"<(?:[\w.-]+:)?urlset\b", re.IGNORECASE)
_IS_XML: Final = re.compile(r"\s*<")
_URL_LINE: Final = re.compile(r"^[^\S\n]*(https?://\S+)[^\S\n]*$", re.IGNORECASE | re.MULTILINE)
"""A line of a text sitemap, which has absolute URLs only (sitemaps.org, "Other Sitemap formats")."""
_LOCATION: Final = re.compile(r"<(?:[\w.-]+:)?loc>\s*(?:<!\[CDATA\[)?\s*([^<\]]+)", re.IGNORECASE)
_FEED_LINK: Final = re.compile(r"<link>\s*(?:<!\[CDATA\[)?\s*([^<\]]+)|<link\b([^<>]*)>", re.IGNORECASE)
_HREF: Final = re.compile(r"\bhref\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_FEED_TYPE: Final = re.compile(r"application/(?:rss|atom)\+xml", re.IGNORECASE)
_LINK_TAG: Final = re.compile(rb"<link\b[^<>]*>", re.IGNORECASE)


LIST_TYPES: Final = frozenset(
    "application/xml text/xml application/rss+xml application/atom+xml application/rdf+xml application/gzip "
    "application/x-gzip".split()
)
"""Media types of sitemaps and feeds."""


def listed_pages(start: str, body: bytes, settings: CrawlSettings, note: Callable[[str], None]) -> list[str]:
    """Return the URLs in the sitemaps and feeds of the site with this start page, at most `MOST_LINKS`.

    Sitemaps are those that robots.txt names, else /sitemap.xml; feeds those that the start page names. A start page may
    be a sitemap or a feed itself. A file that cannot be read or lists no page is reported to `note`.
    """
    robots = _fetched(urljoin(start, "/robots.txt"), settings, lambda _: None)
    named = [match[1].decode("utf-8", "replace") for match in _SITEMAP_LINE.finditer(robots or b"")]
    given = [start] if is_list_of_pages(body) else []
    sitemaps = _urls(named, start) if named else [*given] or [urljoin(start, "/sitemap.xml")]
    waiting = deque(dict.fromkeys([*given, *sitemaps, *feeds_in(body, start)]))
    seen: set[str] = set()
    found: dict[str, None] = {}
    until = time.monotonic() + (settings.seconds or math.inf)
    while waiting and len(seen) < MOST_FILES and len(found) < MOST_LINKS and time.monotonic() < until:
        file = page_url(waiting.popleft())
        if file is None or file in seen:
            continue
        seen.add(file)
        time.sleep(settings.delay)
        content = _fetched(file, settings, note)
        if content is None:
            continue
        text = content.decode("utf-8-sig", "replace")
        listed = listed_in(text, file)
        if not listed:
            note(f"{file}: lists no page; expected a sitemap (XML, or text with one URL per line) or a feed")
        elif _IS_INDEX.search(text):
            waiting.extend(listed)
        else:
            found |= dict.fromkeys(listed)
    return list(found)[:MOST_LINKS]


def is_list_of_pages(body: bytes) -> bool:
    """Whether a body begins as a sitemap, an index of sitemaps, or a feed does; it may be packed."""
    try:
        head = (zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, HEAD) if body[:2] == GZIP else body)[:HEAD]
    except zlib.error:
        return False
    return _IS_LIST.match(head.decode("utf-8-sig", "replace")) is not None


def listed_in(text: str, base: str) -> list[str]:
    """Return the URLs that a sitemap, an index of sitemaps or a feed lists."""
    if _IS_SITEMAP.search(text) or _IS_INDEX.search(text):
        return list(_urls(_LOCATION.findall(text), base))
    if not _IS_XML.match(text):
        return list(_urls(_URL_LINE.findall(text), base))
    links = []
    for written, attributes in _FEED_LINK.findall(text):
        href = _HREF.search(attributes)
        if written or (href and 'rel="self"' not in attributes and "rel='self'" not in attributes):
            links.append(written or (href[1] if href else ""))
    return list(_urls(links, base))


def feeds_in(body: bytes, base: str) -> list[str]:
    """Return the feeds that the head of a page names."""
    tags = [tag.decode("utf-8", "replace") for tag in _LINK_TAG.findall(body)]
    hrefs = [_HREF.search(tag) for tag in tags if _FEED_TYPE.search(tag)]
    return list(_urls([href[1] for href in hrefs if href], base))


def _urls(written: list[str], base: str) -> Iterator[str]:
    for one in written:
        try:
            yield urljoin(base, html.unescape(one.strip()))
        except ValueError:
            continue


def _fetched(url: str, settings: CrawlSettings, note: Callable[[str], None]) -> bytes | None:
    most, seconds = settings.max_size, min(settings.page_seconds, settings.seconds or math.inf)
    limits: Any = {"most": most, "redirects": MOST_REDIRECTS, "timeout": settings.timeout, "seconds": seconds}
    try:
        status, body = fetch(url, settings.guard, user_agent=settings.user_agent, **limits)
        if status != 200:
            raise FileMissing(f"status {status}")
        unpacked = body
        if body.startswith(GZIP) and len(body) <= most:
            unpacked = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(body, most + 1)
        if len(unpacked) > most:
            raise FileMissing(f"more than {most:,} bytes{'' if unpacked is body else ' unpacked'}")
        return unpacked
    except (OSError, ValueError, zlib.error, InputError) as error:
        note(f"{url}: cannot be read ({error})")
        return None
