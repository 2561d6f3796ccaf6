"""Sample the images and links that are labelled by hand: `python tools/labels/draw_items.py [--show FOLDER]`.

Adds to `items.jsonl`; its rows are kept. `--show` writes the labeller's view of new items to a folder. Advertisements
and editorial links are rare, so each page gives a `random` item and some of a stratum where they are likely: `suspect`
images, links in `text`. A second pass over further pages takes only images that are `adlike` by a narrower filter, and
links in text (`more-text`). A filter decides what is read, never the label. Needs WEBWINNOW_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
from xxhash import xxh3_64_hexdigest

from webwinnow.methods.itemfeatures import items_of
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import SiteKey

LABELS = Path(__file__).with_name("items.jsonl")
SEED = 1999
PAGES: dict[str, tuple[int, int]] = {
    "sites-news": (6, 6),
    "sites-swde": (3, 3),
    "pages-wcxb": (145, 1),
    "pages-more": (110, 1),
}
"""Pages sampled: of each site of the files of whole sites, else of the file; and the most pages of one site."""
WHOLE_SITES = ("sites-news", "sites-swde")
BLOCKS = frozenset("p li td th div section article main dd dt body h1 h2 h3 h4 h5 h6 blockquote".split())
BANNERS = {(468, 60), (728, 90), (120, 600), (160, 600), (300, 250), (120, 240), (125, 125), (88, 31), (234, 60)}
SUSPECT = re.compile(
    r"(?<![a-z])(ads?|adv|advert\w*|adserv\w*|adimg|banners?|sponsor\w*|clicks?|click\w+|promo\w*|partners?|affiliates?|"
    r"aff|redir\w*|offers?|deals?|bnr|subscribe|doubleclick)(?![a-z])"
)
ADLIKE = re.compile(
    r"doubleclick|adserv|adclick|/ads?/|[/._?&-]ads?[/._=-]|adv/|banner|sponsor|affiliat|shareasale|awin1|amzn\\.to|[?&]tag=|"
    r"outbrain|taboola|partner|promo|[?&/._-]click|redirect|utm_|reklam|anzeige|werb|publi[cd]|subscri|abo[/._-]|offer|deal"
)
CAPTIONED = re.compile(r"advertis|sponsor|anzeige|werbung|publicit|reklam|promo|adchoice|ad policy", re.IGNORECASE)
MORE = {"image": (230, 2), "link": (460, 1)}
"""Items of the second pass, and the most of one site."""
NEAR = 40
"""Characters beside an image that are read for `CAPTIONED`."""
TEXT_WORDS = 12
"""Least number of words outside links around a link of stratum `text`."""
SHOWN_STEPS = 4
_DOMAIN = SiteKey(by="domain")


class Drawn(NamedTuple):
    """A sampled item: its place among the page's items of its kind, its node and its stratum."""

    at: int
    node: int
    stratum: str


def rows_of(data: Path, file: str) -> list[dict[str, Any]]:
    """The pages of a file that weights that ship may learn from, with their sites."""
    more = file == "pages-more"
    columns = ["page_id", "url", "site", *(["use"] if more else [])]
    rows = pq.read_table(data / f"{file}.parquet", columns=columns).to_pylist()
    for at, row in enumerate(rows):
        row["at"] = at
        row["own"] = row["site"] if file in WHOLE_SITES else _DOMAIN.of(row["url"] or "")
    return [row for row in rows if row["url"] and (not more or row["use"] == "train")]


def sampled_pages(data: Path, file: str, rng: np.random.Generator) -> Iterator[tuple[dict[str, Any], PageTree]]:
    """A random sample of the pages of a file, parsed."""
    most, per_site = PAGES[file]
    rows = rows_of(data, file)
    taken: Counter[str] = Counter()
    chosen = []
    for k in rng.permutation(len(rows)).tolist():
        if taken[rows[k]["own"]] < per_site and (file in WHOLE_SITES or len(chosen) < most):
            taken[rows[k]["own"]] += 1
            chosen.append(rows[k])
    html = pq.read_table(data / f"{file}.parquet", columns=["html"])["html"]
    for row in chosen:
        yield row, parse(html[row["at"]].as_py(), url=row["url"])


def url_of(tree: PageTree, node: int, kind: str) -> str:
    """The URL of an item, as the page writes it."""
    items = items_of(tree, kind, ())
    return items.urls[items.node.tolist().index(node)]


def link_around(tree: PageTree, node: int) -> int:
    """The link that an image is in, -1 if none."""
    while node > 0 and not (tree.tag_name(node) == "a" and tree.attribute(node, "href") is not None):
        node = int(tree.parent[node])
    return node if node > 0 else -1


def block_around(tree: PageTree, node: int) -> int:
    """The nearest block element around a node."""
    node = int(tree.parent[node])
    while node > 0 and tree.tag_name(node) not in BLOCKS:
        node = int(tree.parent[node])
    return max(node, 0)


def is_suspect(tree: PageTree, node: int, numbers: dict[str, float]) -> bool:
    """Whether an image is in the stratum where advertisements are likely."""
    link = link_around(tree, node)
    urls = url_of(tree, node, "image") + " " + ("" if link < 0 else tree.attribute(link, "href") or "")
    return (
        bool(SUSPECT.search(urls.lower()))
        or (numbers["width"], numbers["height"]) in BANNERS
        or (numbers["aspect ratio"] >= 3 and numbers["width"] >= 120)
        or numbers["link to this site"] == 0
    )


def is_in_text(tree: PageTree, node: int) -> bool:
    """Whether a link is beside words that are in no link."""
    block = block_around(tree, node)
    words = len(tree[block].text.split())
    inside = [i for i in range(block, int(tree.end[block])) if tree.tag_name(i) == "a"]
    return words - sum(len(tree[i].text.split()) for i in inside) >= TEXT_WORDS


def is_adlike(tree: PageTree, node: int) -> bool:
    """Whether an image is in the narrower stratum of the second pass."""
    link = link_around(tree, node)
    urls = url_of(tree, node, "image") + " " + ("" if link < 0 else tree.attribute(link, "href") or "")
    start, end = int(tree.text_start[node]), int(tree.text_end[node])
    near = tree.text[max(start - NEAR, 0) : start] + " " + tree.text[end : end + NEAR]
    return (link >= 0 and bool(ADLIKE.search(urls.lower()))) or bool(CAPTIONED.search(near))


def drawn_items(tree: PageTree, kind: str, rng: np.random.Generator, chosen_left: int) -> Iterator[Drawn]:
    """A random item of a page, and some of the stratum of its kind."""
    items = items_of(tree, kind, ())
    names = ("width", "height", "aspect ratio", "link to this site")
    columns = items.columns(names, kind)
    random_left = 1
    for k in rng.permutation(len(items.node)).tolist():
        node = int(items.node[k])
        if kind == "image":
            wanted = is_suspect(tree, node, dict(zip(names, columns[k].tolist(), strict=True)))
        else:
            wanted = is_in_text(tree, node)
        if random_left:
            random_left -= 1
            yield Drawn(k, node, "random")
        elif wanted and chosen_left:
            chosen_left -= 1
            yield Drawn(k, node, "suspect" if kind == "image" else "text")


def more_items(tree: PageTree, kind: str, rng: np.random.Generator) -> Iterator[Drawn]:
    """The items of the second pass's strata, in random order."""
    items = items_of(tree, kind, ())
    for k in rng.permutation(len(items.node)).tolist():
        node = int(items.node[k])
        if is_adlike(tree, node) if kind == "image" else is_in_text(tree, node):
            yield Drawn(k, node, "adlike" if kind == "image" else "more-text")


def url_hash(url: str) -> str:
    """The hash that identifies an item in the committed list."""
    return xxh3_64_hexdigest(url.encode("utf-8", "replace"))[:10]


class Sample:
    """Sampled items, each URL of a site once."""

    def __init__(self) -> None:
        self.seen: set[tuple[str, str, str]] = set()

    def row(self, file: str, page: dict[str, Any], tree: PageTree, kind: str, drawn: Drawn) -> dict[str, Any] | None:
        """The row of an item; None if its URL was sampled before."""
        url = url_of(tree, drawn.node, kind)
        key = (page["own"], kind, url)
        if key in self.seen:
            return None
        self.seen.add(key)
        place = {"file": file, "page_id": page["page_id"], "kind": kind, "at": drawn.at, "hash": url_hash(url)}
        return place | {"drawn": drawn.stratum}


def draw(data: Path) -> Iterator[tuple[dict[str, Any], PageTree, int]]:
    """Sample items: their rows, pages and nodes."""
    rng = np.random.default_rng(SEED)
    sample = Sample()
    for file in PAGES:
        for page, tree in sampled_pages(data, file, rng):
            for kind in ("image", "link"):
                for drawn in drawn_items(tree, kind, rng, 2 if kind == "image" and file in WHOLE_SITES else 1):
                    row = sample.row(file, page, tree, kind, drawn)
                    if row is not None:
                        yield row, tree, drawn.node
    left = {kind: most for kind, (most, _) in MORE.items()}
    taken: Counter[tuple[str, str]] = Counter()
    for file, page, tree in _all_pages(data, rng):
        for kind, (_, per_site) in MORE.items():
            for drawn in more_items(tree, kind, rng) if left[kind] and (kind, page["own"]) not in taken else ():
                row = sample.row(file, page, tree, kind, drawn)
                if row is not None and taken[kind, page["own"]] < per_site and left[kind]:
                    taken[kind, page["own"]] += 1
                    left[kind] -= 1
                    yield row, tree, drawn.node
        if not any(left.values()):
            return


def _all_pages(data: Path, rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Any], PageTree]]:
    """All pages that may be sampled, in random order."""
    html = {file: pq.read_table(data / f"{file}.parquet", columns=["html"])["html"] for file in PAGES}
    rows = [(file, row) for file in PAGES for row in rows_of(data, file)]
    for k in rng.permutation(len(rows)).tolist():
        file, row = rows[k]
        yield file, row, parse(html[file][row["at"]].as_py(), url=row["url"])


def _path(tree: PageTree, node: int) -> str:
    steps = []
    while node > 0 and len(steps) < SHOWN_STEPS:
        kept = tree.attributes(node)
        classes = "".join(f".{name}" for name in (kept.get("class") or "").split()[:2])[:26]
        steps.append(tree.tag_name(node) + classes + (f"#{kept['id']}"[:18] if kept.get("id") else ""))
        node = int(tree.parent[node])
    return " < ".join(steps)


def shown(number: int, row: dict[str, Any], tree: PageTree, node: int) -> str:
    """An item with its context, for a labeller."""
    start, end = int(tree.text_start[node]), int(tree.text_end[node])
    before = " ".join(tree.text[max(start - 150, 0) : start].split())[-50:]
    after = " ".join(tree.text[end : end + 150].split())[:50]
    lines = [f"{row['kind'][0]}{number:04d} {tree.url.partition('//')[2][:70]}"]
    if row["kind"] == "image":
        link = link_around(tree, node)
        size = f"{tree.attribute(node, 'width') or '?'}x{tree.attribute(node, 'height') or '?'}"
        alt = " ".join((tree.attribute(node, "alt") or "").split())[:70]
        lines.append(f"  {url_of(tree, node, 'image')[-90:]} {size} alt={alt!r}")
        if link >= 0:
            lines.append(f"  -> {(tree.attribute(link, 'href') or '')[:100]}")
    else:
        pictured = " +img" if any(tree.tag_name(i) == "img" for i in range(node, int(tree.end[node]))) else ""
        lines.append(f"  -> {url_of(tree, node, 'link')[:90]}{pictured}")
    own, words = " ".join(tree[node].text.split())[:90], len(tree[block_around(tree, node)].text.split())
    lines.append(f"  {start / max(len(tree.text), 1):.0%} ..{before} [[{own}]] {after}..  ({words}w)")
    return "\n".join([*lines, f"  {_path(tree, node)}"])


def main() -> None:
    """Sample, keep earlier labels, write or show."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", type=Path, help="write the labeller's view of new items to this folder")
    chosen = options.parse_args()
    rows = {}
    if LABELS.exists():
        rows = {_key(row): row for row in map(json.loads, LABELS.open(encoding="utf-8"))}
    views = defaultdict(list)
    for row, tree, node in draw(Path(os.environ["WEBWINNOW_DATA"])):
        if _key(row) not in rows and chosen.show:
            own = views[row["kind"]]
            own.append(shown(len(own) + 1, row, tree, node))
        rows.setdefault(_key(row), row)
    for kind, texts in views.items():
        (chosen.show / f"{kind}.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
    LABELS.write_text("".join(json.dumps(row) + "\n" for row in rows.values()), encoding="utf-8")
    print(Counter((row["kind"], row["drawn"], row.get("label")) for row in rows.values()))


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["file"], row["page_id"], row["kind"], row["at"]


if __name__ == "__main__":
    main()
