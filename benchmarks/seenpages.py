"""100 rendered pages that two readers labelled block by block: make them again, read their labels, compare the readers.

    python benchmarks/seenpages.py                     # make and render the pages: build/seen/pages.parquet
    python benchmarks/seenpages.py --write FOLDER      # write the numbered blocks of the labelled pages, for a reader
    python benchmarks/seenpages.py --adopt FOLDER first  # take over FOLDER/labels.jsonl as the labels of a reader

Labels are in `judgements/seen-first.jsonl` and `seen-second.jsonl`, one line per page: its id, four digits of a digest
of each of its blocks, and the positions of the blocks that are content. A page is used if it has as many blocks today
and nearly all are the same; packages and browsers change, and some pages show the day on which they were made.
`judgements/seen.md` is the guide of the readers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import xxhash

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "servers"))

from renderedpages import NO_NETWORK, chosen
from seensites import CACHE, Site, sites
from webserver import Asked, Reply, WebServer

from webwinnow.crawl.browser.capture import RENDERED_TYPE, PageToRender, RenderFailed
from webwinnow.crawl.browser.renderer import Renderer
from webwinnow.crawl.browser.settings import RenderSettings
from webwinnow.crawl.guard import AddressGuard, Route
from webwinnow.judge.evidence import evidence_of
from webwinnow.page.layout import POSITIONS, VISIBLE
from webwinnow.page.page import Page
from webwinnow.page.parsing import parse

FILE = CACHE / "pages.parquet"
JUDGEMENTS = Path(__file__).with_name("judgements")
READERS = {name: JUDGEMENTS / f"seen-{name}.jsonl" for name in ("first", "second")}
ADDRESS = "127.0.0.2"
OF_SITE = 6
"""Pages of a site that are rendered: its model is learned from them."""
LEAST_BLOCKS, MOST_BLOCKS = 8, 115
"""Blocks of a labelled page: longer ones take a reader too long."""
MOST_HTML = 40_000
"""Bytes of a page of a manual; larger ones have too many blocks."""
STORED = 12
"""Labelled pages of the shared data."""
TWICE = 16
"""Manuals of which two pages are labelled; of the others, one."""
DIGITS, SAME = 4, 0.7
"""Hexadecimal digits of the digest of a block; share of the blocks of a page that must be the same. A
theme of Hexo shows related articles at random, nearly a third of its blocks."""
SHOWN = 170
"""Characters of a block that a reader is shown."""
_TYPES = {".html": "text/html; charset=utf-8", ".css": "text/css", ".js": "text/javascript", ".mjs": "text/javascript"}
_TYPES |= {".png": "image/png", ".svg": "image/svg+xml", ".gif": "image/gif", ".jpg": "image/jpeg"}
_TYPES |= {".json": "application/json", ".md": "text/markdown; charset=utf-8", ".woff2": "font/woff2"}
_SCHEMA = pa.schema(
    {"page_id": pa.string(), "site": pa.string(), "kind": pa.string(), "url": pa.string(), "labelled": pa.bool_()}
    | {"html": pa.binary(), "layout": pa.binary(), "plain": pa.binary()}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenPage:
    """A rendered page. `plain` is what the server sent."""

    page_id: str
    site: str
    kind: str
    url: str
    labelled: bool
    html: bytes
    layout: bytes
    plain: bytes

    def context(self, *, rendered: bool = True) -> Page:
        """The page with its blocks; as the server sent it if not `rendered`."""
        if not rendered:
            return Page(parse(self.plain, self.url))
        return Page(parse(self.html, self.url, content_type=RENDERED_TYPE, layout=self.layout))


def seen_pages(data: Path | None) -> list[SeenPage]:
    """All rendered pages; they are made and rendered if the file is not there."""
    if not FILE.exists():
        rows = [*_site_pages(), *(_stored_pages(data) if data is not None else ())]
        pq.write_table(pa.Table.from_pylist(rows, _SCHEMA), FILE, compression="zstd")
    return [SeenPage(**row) for row in pq.read_table(FILE).to_pylist()]


def digest(texts: list[str]) -> str:
    """Digests of the blocks of a page, `DIGITS` each."""
    return "".join(xxhash.xxh3_64_hexdigest(text.encode())[:DIGITS] for text in texts)


def is_same(now: str, then: str) -> bool:
    """Whether nearly all blocks of a page are as they were, by their digests."""
    pairs = [(now[k : k + DIGITS], then[k : k + DIGITS]) for k in range(0, len(now), DIGITS)]
    return len(now) == len(then) and sum(a == b for a, b in pairs) >= SAME * len(pairs)


def block_texts(page: Page) -> list[str]:
    """The blocks with text, which are what is labelled."""
    texts = page.blocks.texts()
    return [texts[block] for block in evidence_of(page).said.tolist()]


def labels(reader: str) -> dict[str, tuple[str, frozenset[int]]]:
    """For each page the digests of its blocks, and the positions of content; empty if this reader has not read."""
    if not READERS[reader].exists():
        return {}
    rows = map(json.loads, READERS[reader].read_text(encoding="utf-8").splitlines())
    return {row["page_id"]: (row["blocks"], frozenset(row["content"])) for row in rows}


def kappa(pairs: list[tuple[bool, bool]]) -> float:
    """Cohen's kappa (Cohen 1960) of two labellings."""
    count = len(pairs)
    equal = sum(a == b for a, b in pairs) / count
    first, second = (sum(pair[i] for pair in pairs) / count for i in (0, 1))
    chance = first * second + (1 - first) * (1 - second)
    return (equal - chance) / (1 - chance) if chance < 1 else 1.0


# Rendering


def _inside(root: Path, path: str) -> Path | None:
    """The file of a path below a root, through the absolute links of Debian packages."""
    found = root
    for part in Path(path.lstrip("/")).parts:
        if part == "..":
            return None
        found = found / part
        for _ in range(8):
            if not found.is_symlink():
                break
            target = found.readlink()
            found = root / str(target).lstrip("/") if target.is_absolute() else found.parent / target
    return found if found.is_file() else None


def _site_pages() -> list[dict[str, Any]]:
    made = sites()
    roots = {f"{site.name}.test": site.root for site in made}

    def answer(asked: Asked) -> Reply | None:
        path = asked.path.partition("?")[0]
        file = _inside(roots[asked.host], path) if asked.host in roots else None
        if file is None:
            return None
        return Reply(file.read_bytes(), headers=(("Content-Type", _TYPES.get(file.suffix, "text/plain")),))

    with WebServer({}, address=ADDRESS, answer=answer) as server:  # type: ignore[arg-type]
        guard = AddressGuard(allow=(f"{ADDRESS}/32",), routes=(Route.parse(server.route()),))
        manuals = [site.name for site in made if site.kind == "manual"]
        with Renderer(RenderSettings(browsers=2), guard) as renderer, ThreadPoolExecutor(2) as threads:
            tasks = [
                threads.submit(_of_site, site, renderer, 1 if site.name in manuals[TWICE:] else site.labelled)
                for site in made
            ]
            return [row for task in tasks for row in task.result()]


def _of_site(site: Site, renderer: Renderer, labelled: int) -> list[dict[str, Any]]:
    """Pages of a site by the hash of their paths, those that have labels first.

    Without labels, the first that are neither short nor long are to be labelled.
    """
    chosen_before = set(labels("first"))
    found = [path for pattern in site.pages for path in site.root.glob(pattern)]
    small = [path for path in found if site.kind != "manual" or path.stat().st_size <= MOST_HTML]
    paths = sorted(
        {str(path.relative_to(site.root)) for path in small},
        key=lambda path: (f"{site.name}/{path}" not in chosen_before, xxhash.xxh3_64_hexdigest(path.encode())),
    )
    rows: list[dict[str, Any]] = []
    for path in paths[: 4 * OF_SITE]:
        url = f"http://{site.name}.test/{path.removesuffix('index.html') if site.kind == 'generator' else path}"
        about = {"page_id": f"{site.name}/{path}", "site": site.name, "kind": site.kind, "url": url}
        file = _inside(site.root, path)
        body = file.read_bytes() if file is not None else b""
        page = PageToRender(url=url, body=body, content_type="text/html", screenshot=True)
        row = _rendered(about, page, renderer, chosen_before)
        wanted = sum(one["labelled"] for one in rows) < labelled
        if row is None or (len(rows) >= OF_SITE and not (wanted and row["labelled"])):
            continue
        row["labelled"] = row["labelled"] and wanted
        rows.append(row)
        if len(rows) >= OF_SITE and sum(one["labelled"] for one in rows) >= labelled:
            break
    return rows


def _stored_pages(data: Path) -> Iterator[dict[str, Any]]:
    """Pages of the shared data that no model has seen, without network: their style sheets are those in `<style>`."""
    chosen_before = set(labels("first"))
    count = 0
    with Renderer(NO_NETWORK) as renderer:
        for page in chosen(data):
            name = f"shared/{page['page_id']}"
            if page["set"] == "wcxb" or count >= STORED:
                break
            if chosen_before and name not in chosen_before:
                continue
            url = page["url"] or "http://page.invalid/"
            about = {"page_id": name, "site": page["page_id"], "kind": "shared", "url": url}
            row = _rendered(about, PageToRender(url=url, body=page["html"], screenshot=True), renderer, chosen_before)
            if row is not None and row["labelled"]:
                count += 1
                yield row


def _rendered(
    about: dict[str, Any], page: PageToRender, renderer: Renderer, chosen_before: set[str]
) -> dict[str, Any] | None:
    """A row of the file; None if the page cannot be rendered, which is tried twice: the machine may be busy."""
    for _ in range(2):
        try:
            found = renderer.render(page)
            break
        except RenderFailed as failure:
            print(about["page_id"], failure, file=sys.stderr)
    else:
        return None
    layout = found.layout.to_bytes()
    blocks = len(evidence_of(Page(parse(found.html, page.url, content_type=RENDERED_TYPE, layout=layout))).said)
    print(about["page_id"], blocks, file=sys.stderr, flush=True)
    fits = about["page_id"] in chosen_before if chosen_before else LEAST_BLOCKS <= blocks <= MOST_BLOCKS
    return about | {"html": found.html, "layout": layout, "plain": page.body, "labelled": fits}


# For readers


def write_for_readers(pages: list[SeenPage], folder: Path) -> None:
    """Write the numbered blocks of each labelled page into a file, and the list of pages."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = []
    for page in pages:
        if page.labelled:
            name = f"p{len(listed) + 1:03}"
            context = page.context()
            (folder / f"{name}.txt").write_text(_numbered(page, context), encoding="utf-8")
            texts = block_texts(context)
            listed.append({"page": name, "page_id": page.page_id, "blocks": digest(texts), "count": len(texts)})
    (folder / "pages.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed), encoding="utf-8")


def adopt(pages: list[SeenPage], labelled: Path, reader: str) -> None:
    """Write the labels of a reader, given as page numbers and ranges of blocks, as `labels` reads them."""
    given = {row["page"]: row["content"] for row in map(json.loads, labelled.read_text().splitlines())}
    rows = []
    for number, page in enumerate((page for page in pages if page.labelled), start=1):
        texts = block_texts(page.context())
        content = sorted(_positions(given[f"p{number:03}"]))
        if content and content[-1] >= len(texts):
            raise ValueError(f"p{number:03} has {len(texts)} blocks, not {content[-1] + 1}")
        rows.append({"page_id": page.page_id, "blocks": digest(texts), "content": content})
    READERS[reader].write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _positions(ranges: str) -> set[int]:
    """The numbers in `3-5, 8`."""
    ends = [part.strip().partition("-") for part in ranges.split(",") if part.strip()]
    return {number for first, _, last in ends for number in range(int(first), int(last or first) + 1)}


def _numbered(page: SeenPage, context: Page) -> str:
    """The blocks of a page: number, left edge and top, marks, element, text."""
    tree, layout = context.tree, context.tree.layout
    assert layout is not None
    fixed = POSITIONS.index("fixed")
    lines = [f"{page.url}  (page {layout.page_size[0]} x {layout.page_size[1]})"]
    texts = block_texts(context)
    for position, block in enumerate(evidence_of(context).said.tolist()):
        node = int(tree.run_owner[context.blocks.first_run[block]])
        around = [node]
        while tree.parent[around[-1]] >= 0:
            around.append(int(tree.parent[around[-1]]))
        marks = "F" if any(layout.position[one] == fixed for one in around) else ""
        box = min(around, key=lambda one: (layout.width[one] == 0, around.index(one)))
        hidden = not layout.flags[node] & VISIBLE or layout.left[box] + layout.width[box] <= 0
        marks += "H" if hidden else ""
        text = texts[position]
        text = text if len(text) <= SHOWN else f"{text[:SHOWN]} ... ({len(text.split())} words)"
        tag = tree.tag_name(int(context.blocks.owner[block]))
        place = f"{layout.left[box]},{layout.top[box]}"
        lines.append(f"{position} [{' '.join(filter(None, (place, marks, tag)))}] {text}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import argparse
    import os

    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", type=Path, metavar="FOLDER")
    options.add_argument("--adopt", nargs=2, metavar=("FOLDER", "READER"))
    chosen_options = options.parse_args()
    found = seen_pages(Path(os.environ["WEBWINNOW_DATA"]) if os.environ.get("WEBWINNOW_DATA") else None)
    print(f"{len(found)} pages, {sum(page.labelled for page in found)} labelled")
    if chosen_options.write:
        write_for_readers(found, chosen_options.write)
    if chosen_options.adopt:
        adopt(found, Path(chosen_options.adopt[0]) / "labels.jsonl", chosen_options.adopt[1])
