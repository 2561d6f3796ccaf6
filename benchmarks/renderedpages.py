"""Pages with truth, rendered from their stored HTML without network, and kept in a file.

Stored pages have no style sheets of their own files. These have at least 20 KB of rules in `<style>`, so that their
layout is mostly the one that people see; their pictures are missing. `pages-more`: the pages with a whole text that are
for measuring only, which no model of ours has seen. `pages-wcxb`: the shipped page model was trained on them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

from webwinnow.crawl.browser.capture import RENDERED_TYPE, PageToRender, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings

LEAST_STYLES = 20_000
SEEN_PAGES = 100
"""Pages of pages-wcxb."""
NO_NETWORK = RenderSettings(max_requests=0, quiet_seconds=0.2, load_seconds=10.0)
_STYLE = re.compile(rb"<style[^>]*>(.*?)</style>", re.DOTALL | re.IGNORECASE)
FILE = Path(__file__).parents[1] / "build" / "rendering" / "pages.parquet"
_SCHEMA = pa.schema(
    {"page_id": pa.string(), "url": pa.string(), "set": pa.string(), "text": pa.string()}
    | {"html": pa.binary(), "rendered": pa.binary(), "layout": pa.binary(), "failed": pa.string()}
)


class RenderedTruth(NamedTuple):
    """A page with its truth, as stored and as rendered."""

    page_id: str
    url: str
    set: str
    text: str
    html: bytes
    rendered: bytes | None
    layout: bytes | None
    failed: str | None

    content_type = RENDERED_TYPE


def rendered_pages(data: Path, file: Path = FILE) -> list[RenderedTruth]:
    """The rendered pages; they are rendered if the file is not there."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        pages = chosen(data)
        with Renderer(NO_NETWORK) as renderer:
            rows = [_rendered(page, renderer) for page in pages]
        pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), file, compression="zstd")
    return [RenderedTruth(**row) for row in pq.read_table(file).to_pylist()]


def chosen(data: Path) -> list[dict[str, Any]]:
    """Pages with truth and enough rules, those of pages-wcxb by the hash of their names."""
    columns = ["page_id", "url", "html", "text"]
    more = pq.read_table(data / "pages-more.parquet", columns=[*columns, "use", "set"]).to_pylist()
    found = [page for page in more if page["use"] == "measure" and page["text"] and _is_styled(page["html"])]
    seen = pq.read_table(data / "pages-wcxb.parquet", columns=columns).to_pylist()
    seen = sorted(
        filter(lambda page: _is_styled(page["html"]), seen),
        key=lambda p: xxhash.xxh3_64_hexdigest(p["page_id"].encode()),
    )
    return found + [page | {"set": "wcxb"} for page in seen[:SEEN_PAGES]]


def _is_styled(html: bytes) -> bool:
    return sum(map(len, _STYLE.findall(html))) >= LEAST_STYLES


def _rendered(page: dict[str, Any], renderer: Renderer) -> dict[str, Any]:
    row = {name: page[name] for name in ("page_id", "url", "set", "text", "html")}
    try:
        found = renderer.render(PageToRender(url=page["url"] or "http://page.invalid/", body=page["html"]))
    except RenderFailed as failure:
        return row | {"rendered": None, "layout": None, "failed": str(failure)}
    print(page["page_id"], len(found.layout), file=sys.stderr)
    return row | {"rendered": found.html, "layout": found.layout.to_bytes(), "failed": None}
