"""Pages of a Parquet file (`url`, `html`, `site`, perhaps `depth`) as `WebServer` serves them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from webwinnow.urls import canonical


class SitePages(NamedTuple):
    """The pages by URL, and the URL of the start page of each site: the first page at the lowest depth."""

    pages: dict[str, bytes]
    starts: list[str]


def pages_of(path: Path) -> SitePages:
    """Read all pages of a file."""
    table = pq.read_table(path)
    urls = [canonical(url) for url in table["url"].to_pylist()]
    pages = dict(zip(urls, table["html"].to_pylist(), strict=True))
    depths = table["depth"].to_pylist() if "depth" in table.column_names else [0] * len(urls)
    first: dict[str, tuple[int, int]] = {}
    for place, (site, depth) in enumerate(zip(table["site"].to_pylist(), depths, strict=True)):
        first[site] = min(first.get(site, (depth, place)), (depth, place))
    return SitePages(pages, [urls[place] for _, place in first.values()])
