"""`SiteSums`: what is added up over a site's pages. Sums over disjoint pages merge exactly, in any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.blocks import Blocks
from webwinnow.errors import ModelError
from webwinnow.fingerprints import page_fingerprint
from webwinnow.markup import canonical_class
from webwinnow.pagemodel import PageContext, PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.site.archive import Column, pack, unpack, within
from webwinnow.site.blocktable import BlockRows
from webwinnow.site.pagelets import PageletCounts, pagelets_of
from webwinnow.site.segmenttable import SegmentRows
from webwinnow.site.styletree import CST_CUT, SST_CUT, Grower, StyleTree
from webwinnow.storage import write_file

__all__ = [
    "ALL_PARTS",
    "BLOCKS",
    "LABELS",
    "PAGELETS",
    "SEGMENTS",
    "TEXTS",
    "SiteSums",
    "block_keys",
]

KIND = "site sums"
TEXTS, LABELS, BLOCKS = "texts", "labels", "blocks"
PAGELETS, SEGMENTS = "pagelets", "segments"
CUTS = {"sst": SST_CUT, "cst": CST_CUT}
ALL_PARTS = frozenset({TEXTS, LABELS, BLOCKS, PAGELETS, SEGMENTS, *CUTS})
"""What can be learned: in how many pages a text stands; names of elements for people; the table of blocks; in how many
pages a pagelet stands; the words of tables and sections; the site style tree; the compressed structure tree."""
LONGEST_LABEL = 60

_NO_WORD = re.compile(r"[^\w\n]+")


def block_keys(blocks: Blocks) -> NDArray[np.uint64]:
    """For each block 64 bits of what it says: its words in lower case or, where it has none, its signs."""
    texts = blocks.texts()
    worded = _NO_WORD.sub(" ", "\n".join(texts).lower()).split("\n") if texts else []
    return np.fromiter(
        (
            xxh3_64_intdigest((said.strip() or text).encode("utf-8", "replace"))
            for said, text in zip(worded, texts, strict=True)
        ),
        np.uint64,
        len(texts),
    )


class SiteSums:
    """Sums over the pages of one site, for the `parts` asked for; give each page once."""

    def __init__(self, site: str = "", parts: frozenset[str] = ALL_PARTS) -> None:
        unknown = parts - ALL_PARTS
        if unknown:
            raise ModelError(
                f"no part {', '.join(sorted(unknown))} of a site; there are: {', '.join(sorted(ALL_PARTS))}"
            )
        self.site, self.parts = site, parts
        self.keys: list[int] = []
        self.said: Counter[int] = Counter()
        self.cuts = {name: cut for name, cut in CUTS.items() if name in parts}
        self.grower = Grower(*self.cuts.values())
        self.known: dict[str, StyleTree] = {}
        """Trees over pages that were not added here but merged or read."""
        self.grown = 0
        self.rows: list[BlockRows] = []
        self.cut_up: Counter[int] = Counter()
        """On how many pages each pagelet stands, by fingerprint."""
        self.segments: list[SegmentRows] = []
        self.labels: dict[int, str] = {}
        """What people may call an element, by its style."""

    @property
    def pages(self) -> int:
        """How many pages were added."""
        return len(self.keys)

    def add(self, tree: PageTree, evidence: PageEvidence | None = None) -> None:
        """Add one page; what the page model says of it is asked for where it is wanted and not given."""
        page = PageContext(tree, evidence)
        self.keys.append(page_fingerprint(tree))
        if BLOCKS in self.parts:
            self.rows.append(BlockRows.of_page(self.keys[-1], page.evidence))
        if TEXTS in self.parts:
            self.said.update(np.unique(block_keys(page.blocks)).tolist())
        if PAGELETS in self.parts:
            self.cut_up.update(np.unique(pagelets_of(tree).fingerprint).tolist())
        if SEGMENTS in self.parts:
            self.segments.append(SegmentRows.of_page(self.keys[-1], tree))
        if LABELS in self.parts:
            for style, i in zip(*(found.tolist() for found in np.unique(tree.style, return_index=True)), strict=True):
                if style not in self.labels:
                    self.labels[style] = _label(tree, i)
        if self.cuts:
            self.grower.add(tree, self.keys[-1])
            self.grown += 1

    def add_evidence(self, key: int, evidence: PageEvidence) -> None:
        """Add a page of which only the blocks are wanted; `key` is its `page_fingerprint`."""
        if self.parts != {BLOCKS}:
            raise ModelError("a page without its tree shows nothing but its blocks")
        self.keys.append(key)
        self.rows.append(BlockRows.of_page(key, evidence))

    def page_keys(self) -> NDArray[np.uint64]:
        """Fingerprints of the pages, ascending."""
        return np.sort(np.array(self.keys, np.uint64))

    def texts(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """The texts by key, ascending, and how many pages say each."""
        return _counted(self.said)

    def pagelets(self) -> PageletCounts:
        """On how many pages each pagelet stands."""
        key, pages = _counted(self.cut_up)
        return PageletCounts(key=key, pages=pages)

    def blocks(self) -> BlockRows:
        """The blocks of all pages."""
        return BlockRows.merge(self.rows)

    def trees(self) -> dict[str, StyleTree]:
        """The raw trees by part."""
        found = {}
        for name, height in self.cuts.items():
            parts = [self.grower.tree(height)] if self.grown else []
            parts += [self.known[name]] if name in self.known else []
            if parts:
                found[name] = StyleTree.merge(parts) if len(parts) > 1 else parts[0]
        return found

    @classmethod
    def merge(cls, several: Iterable[SiteSums]) -> SiteSums:
        """Add up sums over disjoint pages of one site. Raises `ModelError` where they overlap."""
        given = list(several)
        if len({one.site for one in given}) != 1 or len({one.parts for one in given}) != 1:
            raise ModelError("only sums of one site that hold the same parts can be merged")
        merged = cls(given[0].site, given[0].parts)
        merged.keys = [key for one in given for key in one.keys]
        if len(set(merged.keys)) < len(merged.keys):
            shared = len(merged.keys) - len(set(merged.keys))
            raise ModelError(
                f"parts of the site {merged.site} share pages ({shared:,}); each page may be learned once: "
                "learn all the pages together"
            )
        for one in given:
            merged.said.update(one.said)
            merged.labels |= one.labels
            merged.rows += one.rows
            merged.cut_up.update(one.cut_up)
            merged.segments += one.segments
        trees = [one.trees() for one in given]
        for name in merged.cuts:
            found = [tree[name] for tree in trees if name in tree]
            if found:
                merged.known[name] = StyleTree.merge(found)
        return merged

    def to_bytes(self) -> bytes:
        """The sums as a `.npz` archive; the same sums give the same bytes."""
        key, pages = self.texts()
        columns: dict[str, Column] = {"page_keys": self.page_keys(), "text_key": key, "text_pages": pages}
        columns |= label_columns(self.labels)
        if BLOCKS in self.parts:
            columns |= {f"{BLOCKS}_{column}": values for column, values in self.blocks().columns().items()}
        if PAGELETS in self.parts:
            columns |= {f"{PAGELETS}_{column}": values for column, values in self.pagelets().columns().items()}
        if SEGMENTS in self.parts:
            rows = SegmentRows.merge(self.segments)
            columns |= {f"{SEGMENTS}_{column}": values for column, values in rows.columns().items()}
        for name, tree in self.trees().items():
            columns |= {f"{name}_{column}": getattr(tree, column) for column in _tree_types()}
        return pack(KIND, {"site": self.site, "parts": sorted(self.parts)}, columns)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the sums") -> SiteSums:
        """Read sums back; everything in them is checked. Raises `ModelError`."""
        groups = {tree: {f"{tree}_{column}": dtype for column, dtype in _tree_types().items()} for tree in CUTS}
        groups[BLOCKS] = {f"{BLOCKS}_{column}": dtype for column, dtype in BlockRows.column_types().items()}
        groups[PAGELETS] = {f"{PAGELETS}_{column}": dtype for column, dtype in PageletCounts.column_types().items()}
        groups[SEGMENTS] = {f"{SEGMENTS}_{column}": dtype for column, dtype in SegmentRows.column_types().items()}
        wanted = {"page_keys": np.uint64, "text_key": np.uint64, "text_pages": np.int32} | LABEL_COLUMNS
        about, columns = unpack(KIND, data, name, wanted, groups.values())
        site, parts = about.get("site"), about.get("parts")
        key, pages = columns["text_key"], columns["text_pages"]
        sound = (
            isinstance(site, str)
            and isinstance(parts, list)
            and all(isinstance(part, str) and part in ALL_PARTS for part in parts)
            and len(key) == len(pages)
            and bool(np.all(key[1:] > key[:-1]))
            and bool(np.all((pages > 0) & (pages <= len(columns["page_keys"]))))
        )
        if not sound:
            raise ModelError(f"{name} is damaged: its parts do not fit together; learn the site again")
        sums = cls(str(site), frozenset(parts or []))
        sums.keys = columns["page_keys"].tolist()
        sums.said = Counter(dict(zip(key.tolist(), pages.tolist(), strict=True)))
        sums.labels = labels_of(columns, name)
        if BLOCKS in sums.parts and groups[BLOCKS].keys() <= columns.keys():
            sums.rows = [_rows(columns, name)]
        if PAGELETS in sums.parts and groups[PAGELETS].keys() <= columns.keys():
            counts = _pagelets(columns, name)
            sums.cut_up = Counter(dict(zip(counts.key.tolist(), counts.pages.tolist(), strict=True)))
        if SEGMENTS in sums.parts and groups[SEGMENTS].keys() <= columns.keys():
            sums.segments = [_segments(columns, name)]
        for tree, height in sums.cuts.items():
            if groups[tree].keys() <= columns.keys():
                found = {column: columns[f"{tree}_{column}"] for column in _tree_types()}
                sums.known[tree] = _checked(height, found, columns["page_keys"], name)
        return sums

    def save(self, path: Path | str) -> None:
        """Write the sums to a file."""
        write_file(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> SiteSums:
        """Read sums from a file."""
        return cls.from_bytes(Path(path).read_bytes(), str(path))


def _rows(columns: dict[str, Column], name: str) -> BlockRows:
    try:
        return BlockRows.of_columns({column: columns[f"{BLOCKS}_{column}"] for column in BlockRows.column_types()})
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of blocks {error}; learn the site again") from None


def _pagelets(columns: dict[str, Column], name: str) -> PageletCounts:
    try:
        return PageletCounts.of_columns(
            {column: columns[f"{PAGELETS}_{column}"] for column in PageletCounts.column_types()},
            len(columns["page_keys"]),
        )
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of pagelets {error}; learn the site again") from None


def _segments(columns: dict[str, Column], name: str) -> SegmentRows:
    try:
        return SegmentRows.of_columns(
            {column: columns[f"{SEGMENTS}_{column}"] for column in SegmentRows.column_types()}, columns["page_keys"]
        )
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of segments {error}; learn the site again") from None


def _counted(counter: Counter[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    """The keys of a counter, ascending, and their counts."""
    key = np.fromiter(counter.keys(), np.uint64, len(counter))
    pages = np.fromiter(counter.values(), np.int32, len(counter))
    order = np.argsort(key)
    return key[order], pages[order]


LABEL_COLUMNS: dict[str, Any] = {"label_style": np.uint64, "label_text": np.uint8}


def label_columns(labels: dict[int, str]) -> dict[str, Column]:
    """Labels as arrays: styles ascending, and their labels one a line."""
    styles = sorted(labels)
    text = "\n".join(labels[style] for style in styles).encode("utf-8", "replace")
    return {"label_style": np.array(styles, np.uint64), "label_text": np.frombuffer(text, np.uint8)}


def labels_of(columns: dict[str, Column], name: str) -> dict[int, str]:
    """Read what `label_columns` made."""
    texts = bytes(columns["label_text"]).decode("utf-8", "replace").split("\n") if len(columns["label_style"]) else []
    if len(texts) != len(columns["label_style"]):
        raise ModelError(f"{name} is damaged: its labels do not fit together; learn the site again")
    return dict(zip(columns["label_style"].tolist(), texts, strict=True))


def _label(tree: PageTree, i: int) -> str:
    """Tag and canonical class names of a node, which its style alone determines, without what a terminal would obey."""
    classes = canonical_class(tree.attribute(i, "class") or "").split()
    label = ".".join([tree.tag_name(i), *classes])[:LONGEST_LABEL]
    return "".join(character if character.isprintable() else "?" for character in label)


def _tree_types() -> dict[str, Any]:
    """The columns of a raw tree and their types, those that `SiteSums` holds itself left out."""
    narrow = {"position": np.int32, "kind": np.uint8}
    counts = {"m", "style_m", "df", "total", "entropy_sum"}
    names = [field.name for field in fields(StyleTree) if field.name not in ("cut", "pages")]
    return {name: narrow.get(name, np.int64 if name in counts else np.uint64) for name in names}


def _checked(height: int, columns: dict[str, Column], pages: NDArray[np.uint64], name: str) -> StyleTree:
    """A raw tree, if its columns fit together."""
    key = columns["key"]
    groups = (
        ("key", "parent", "way", "style", "shape", "position", "kind", "m"),
        ("style_element", "style_sequence", "style_m"),
        ("feature_element", "feature", "df", "total", "entropy_sum"),
    )
    sound = (
        all(len({len(columns[column]) for column in group}) == 1 for group in groups)
        and bool(np.all(key[1:] > key[:-1]))
        and all(bool(np.isin(columns[column], key).all()) for column in ("style_element", "feature_element"))
        and bool(np.isin(columns["parent"][columns["parent"] != 0], key).all())
        and within(columns["kind"], 3, 1)
        and within(columns["m"], len(pages) + 1, 1)
        and within(columns["style_m"], len(pages) + 1, 1)
        and within(columns["df"], len(pages) + 1, 1)
        and within(columns["total"], 1 << 40)
        and within(columns["position"], 1 << 30, -1)
    )
    if not sound:
        raise ModelError(f"{name} is damaged: its tree does not fit together; learn the site again")
    return StyleTree(cut=height, pages=pages, **columns)
