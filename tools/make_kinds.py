"""Pack `samples/kinds.warc.gz`: pages of every kind from invented sites, whose texts were written for the project.

`tools/kinds/HOST.html` is one site: its template, then its pages, each after a line `=== PATH | TITLE`.
Run `.venv/bin/python tools/make_kinds.py`; the same sources give the same pages.
"""

from __future__ import annotations

import argparse
import html
import re
from collections.abc import Iterator
from pathlib import Path

from make_sample import HTML_TYPE, SAMPLES, CrawlWriter, http_header

SOURCES = Path(__file__).parent / "kinds"
PAGE = re.compile(r"^=== (\S+) \| (.+)\n", re.MULTILINE)


def site_pages(source: Path) -> Iterator[tuple[str, bytes]]:
    """Yield URL and HTML of each page of a site."""
    template, *parts = PAGE.split(source.read_text(encoding="utf-8"))
    for path, title, content in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        page = template.replace("{{title}}", html.escape(title, quote=False)).replace("{{content}}", content.strip())
        yield f"http://{source.stem}/{path}", page.encode()


def kinds() -> Iterator[tuple[str, bytes]]:
    """Yield URL and HTML of every page, site by site."""
    for source in sorted(SOURCES.glob("*.html")):
        yield from site_pages(source)


def main() -> None:
    """Write the WARC file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=SAMPLES / "kinds.warc.gz")
    out = parser.parse_args().out
    with CrawlWriter(out) as warc:
        warc.info({"software": "webwinnow tools/make_kinds.py", "description": "Invented sites, one kind of page each"})
        for url, page in kinds():
            warc.response(url, http_header("200 OK", page, HTML_TYPE), page)


if __name__ == "__main__":
    main()
