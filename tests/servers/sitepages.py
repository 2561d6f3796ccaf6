"""Pages of a Parquet file (`url`, `html`, `site`, perhaps `depth`), or of another crawl, as `WebServer` serves them."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from webwinnow import open_pages
from webwinnow.page.urls import canonical

_LINK = re.compile(rb"""href\s*=\s*(["']?)https?://([^/"'\s>]+)[^"'\s>]*\1""", re.IGNORECASE)


class SitePages(NamedTuple):
    """The pages by URL, and the URL of the start page of each site: the first page at the lowest depth."""

    pages: dict[str, bytes]
    starts: list[str]


def linked(sites: SitePages, links: int = 3, seed: int = 0) -> SitePages:
    """The same sites, each start page with links to other sites: the next one of a random order, and random ones.

    These links have no text and do not depend on topics. Links to hosts that are not served are removed.
    """
    draw = random.Random(seed)
    order = draw.sample(sites.starts, len(sites.starts))
    hosts = {urlsplit(start).netloc.encode() for start in sites.starts}
    pages = {
        url: _LINK.sub(lambda found: found[0] if found[2] in hosts else b"", page) for url, page in sites.pages.items()
    }
    for number, start in enumerate(order):
        others = [one for one in order if one != start]
        targets = dict.fromkeys([order[(number + 1) % len(order)], *draw.sample(others, min(links, len(others)))])
        pages[start] += "".join(f"<a href='{target}'></a>" for target in targets).encode()
    return SitePages(pages, sites.starts)


def pages_of(path: Path) -> SitePages:
    """Read all pages of a file; one that is not Parquet has a site for each host."""
    if path.suffix not in (".parquet", ".pq"):
        crawled = {canonical(page.url): page.body for page in open_pages([path], on_problem=print) if page.url}
        hosts = {urlsplit(url).netloc: url for url in reversed(crawled)}
        return SitePages(crawled, list(reversed(hosts.values())))
    import pyarrow.parquet as pq  # an optional extra, which other crawls do not need

    table = pq.read_table(path)
    urls = [canonical(url) for url in table["url"].to_pylist()]
    pages = dict(zip(urls, table["html"].to_pylist(), strict=True))
    depths = table["depth"].to_pylist() if "depth" in table.column_names else [0] * len(urls)
    first: dict[str, tuple[int, int]] = {}
    for place, (site, depth) in enumerate(zip(table["site"].to_pylist(), depths, strict=True)):
        first[site] = min(first.get(site, (depth, place)), (depth, place))
    return SitePages(pages, [urls[place] for _, place in first.values()])
