"""Which pages of a site to learn from (`choose_pages`), and what is added up over them (`SiteSums`).

The choice depends on the set of pages only, not on their order, the number of workers or the engine; choices over
parts of a site combine, since the k lowest keys of a union are among the k lowest of its parts. Sums over disjoint
pages merge exactly, in any order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.errors import ModelError
from webwinnow.judge.evidence import PageEvidence, evidence_of, page_with
from webwinnow.page.blocks import Blocks
from webwinnow.page.fingerprints import page_fingerprint
from webwinnow.page.hints import page_names
from webwinnow.page.markup import STYLE_VERSION, canonical_class
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.page.words import StopList
from webwinnow.site.blocktable import BlockRows
from webwinnow.site.pagelets import PageletCounts, PageletSettings, pagelets_of
from webwinnow.site.segmenttable import NO_WORDS, SegmentRows
from webwinnow.site.styletree import ALIGNED_CUT, CST_CUT, SST_CUT, Grower, StyleTree
from webwinnow.storage.atomic import write_file
from webwinnow.storage.modelfile import Array, ArrayTable, ModelFile, ModelFormat

SAME_CSS = "use the option for all pages of a site or for none"
FORMAT = ModelFormat("site sums", 7, "learn the site again")
LEARNED_PAGES = 500
"""Pages learned from one site at most (thesis 5.3 samples 500)."""
TEXTS, LABELS, BLOCKS, PAGELETS, SEGMENTS = "texts", "labels", "blocks", "pagelets", "segments"
CUTS = {"sst": SST_CUT, "aligned": ALIGNED_CUT, "cst": CST_CUT}
ALL_PARTS = frozenset({TEXTS, LABELS, BLOCKS, PAGELETS, SEGMENTS, *CUTS})
"""What can be learned: on how many pages a text occurs; names of elements for people; the table of blocks; on how many
pages a pagelet occurs; the words of tables and sections; the site style tree, published and aligned; the compressed
structure tree."""
LONGEST_LABEL = 60
TEXT_DTYPES: dict[str, Any] = {
    "page_keys": np.uint64,
    "text_key": np.uint64,
    "text_pages": np.int32,
    "name_key": np.uint64,
    "name_pages": np.int32,
}
LABEL_DTYPES: dict[str, Any] = {"label_style": np.uint64, "label_text": np.uint8}

_NO_WORD = re.compile(r"[^\w\n]+")
T = TypeVar("T")


def page_key(url: str, seed: int = 0) -> int:
    """`xxh3(seed, canonical URL)`, by which pages are sampled."""
    return xxh3_64_intdigest(canonical(url, routes=True).encode("utf-8", "replace"), seed=seed)


def choose_pages(pages: Iterable[tuple[int, str, T]], k: int = LEARNED_PAGES) -> list[T]:
    """Choose from (page_key, exact fingerprint, page): one page per content, then the k lowest keys, in key order."""
    lowest: dict[str, tuple[int, T]] = {}
    for key, content, page in pages:
        known = lowest.get(content)
        if known is None or key < known[0]:
            lowest[content] = (key, page)
    return [page for _, page in sorted(lowest.values(), key=lambda found: found[0])[:k]]


def block_keys(blocks: Blocks) -> NDArray[np.uint64]:
    """A 64-bit hash of each block's text: its words in lower case or, where it has none, its other characters."""
    texts = blocks.texts()
    worded = _NO_WORD.sub(" ", "\n".join(texts).lower()).split("\n") if texts else []
    hashes = (
        xxh3_64_intdigest((words.strip() or text).encode("utf-8", "replace"))
        for words, text in zip(worded, texts, strict=True)
    )
    return np.fromiter(hashes, np.uint64, len(texts))


class SiteSums:
    """Sums over the pages of one site, for the requested `parts`; add each page once."""

    def __init__(
        self,
        site: str = "",
        parts: frozenset[str] = ALL_PARTS,
        pagelets: PageletSettings | None = None,
        stops: StopList | None = None,
        *,
        css: bool | None = None,
    ) -> None:
        if unknown := parts - ALL_PARTS:
            raise ModelError(
                f"no part {', '.join(sorted(unknown))} of a site; there are: {', '.join(sorted(ALL_PARTS))}"
            )
        self.site, self.parts, self.css = site, parts, css
        self.keys: list[int] = []
        self.text_pages: Counter[int] = Counter()
        self.name_pages: Counter[int] = Counter()
        """On how many pages a name occurs: a title, a part of one or a heading."""
        self.cuts = {name: cut for name, cut in CUTS.items() if name in parts}
        self.grower = Grower(*self.cuts.values())
        self.known: dict[str, StyleTree] = {}
        """Trees over pages that were merged or read rather than added here."""
        self.rows: list[BlockRows] = []
        self.pagelet_settings = pagelets or PageletSettings()
        self.pagelet_pages: Counter[int] = Counter()
        self.segment_stops = NO_WORDS if stops is None or stops.own is None else stops.keys(None)
        self.segments: list[SegmentRows] = []
        self.labels: dict[int, str] = {}
        """A readable name of an element, by its style."""

    @property
    def pages(self) -> int:
        """How many pages were added."""
        return len(self.keys)

    def add(self, tree: PageTree, evidence: PageEvidence | None = None) -> None:
        """Add one page. Its evidence from the page model is computed if it is needed and not given."""
        page = page_with(tree, evidence)
        self.keys.append(page_fingerprint(tree))
        known = None if evidence is None else evidence.names
        self.name_pages.update((page_names(tree, page.hints) if known is None else known).tolist())
        if BLOCKS in self.parts:
            self.rows.append(BlockRows.of_page(self.keys[-1], evidence_of(page)))
        if TEXTS in self.parts:
            self.text_pages.update(np.unique(block_keys(page.blocks)).tolist())
        if PAGELETS in self.parts:
            found = pagelets_of(tree, self.pagelet_settings)
            self.pagelet_pages.update(np.unique(found.fingerprint).tolist())
        if SEGMENTS in self.parts:
            self.segments.append(SegmentRows.of_page(self.keys[-1], tree, self.segment_stops))
        if LABELS in self.parts:
            for style, i in zip(*(found.tolist() for found in np.unique(tree.style, return_index=True)), strict=True):
                if style not in self.labels:
                    self.labels[style] = _label(tree, i)
        if self.cuts:
            self.grower.add(tree, self.keys[-1])

    def add_evidence(self, key: int, evidence: PageEvidence) -> None:
        """Add a page for the part `blocks` alone; `key` is its `page_fingerprint`."""
        if self.parts != {BLOCKS}:
            raise ModelError("a page without its tree can be added to the part blocks only")
        assert evidence.names is not None
        self.keys.append(key)
        self.name_pages.update(evidence.names.tolist())
        self.rows.append(BlockRows.of_page(key, evidence))

    def page_keys(self) -> NDArray[np.uint64]:
        """Fingerprints of the pages, ascending."""
        return np.sort(np.array(self.keys, np.uint64))

    def texts(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """The texts by key, ascending, and on how many pages each occurs."""
        return _sorted_counts(self.text_pages)

    def names(self) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
        """The names of pages by key, ascending, and how many pages have each."""
        return _sorted_counts(self.name_pages)

    def pagelets(self) -> PageletCounts:
        """On how many pages each pagelet occurs."""
        key, pages = _sorted_counts(self.pagelet_pages)
        return PageletCounts(key=key, pages=pages, how=self.pagelet_settings.to_array())

    def blocks(self) -> BlockRows:
        """The blocks of all pages."""
        return BlockRows.merge(self.rows)

    def trees(self) -> dict[str, StyleTree]:
        """The raw trees by part."""
        found = {}
        for name, cut in self.cuts.items():
            trees = [self.grower.tree(cut)] if self.grower.pages else []
            trees += [self.known[name]] if name in self.known else []
            if trees:
                found[name] = StyleTree.merge(trees) if len(trees) > 1 else trees[0]
        return found

    @classmethod
    def merge(cls, several: Iterable[SiteSums]) -> SiteSums:
        """Add up sums over disjoint pages of one site. Raises `ModelError` where they overlap."""
        given = list(several)
        if len({(one.site, one.parts, one.pagelet_settings) for one in given}) != 1:
            raise ModelError("only sums of one site with the same parts and pagelets can be merged")
        if {True, False} <= {one.css for one in given}:
            raise ModelError(f"parts of the site {given[0].site} were learned with --css, others without; {SAME_CSS}")
        merged = cls(given[0].site, given[0].parts, given[0].pagelet_settings, css=given[-1].css)
        merged.keys = [key for one in given for key in one.keys]
        if shared := len(merged.keys) - len(set(merged.keys)):
            raise ModelError(
                f"parts of the site {merged.site} share pages ({shared:,}); each page may be learned once: "
                "learn all the pages together"
            )
        for one in given:
            merged.text_pages.update(one.text_pages)
            merged.name_pages.update(one.name_pages)
            merged.labels |= one.labels
            merged.rows += one.rows
            merged.pagelet_pages.update(one.pagelet_pages)
            merged.segments += one.segments
        trees = [one.trees() for one in given]
        for name in merged.cuts:
            if found := [tree[name] for tree in trees if name in tree]:
                merged.known[name] = StyleTree.merge(found)
        return merged

    def to_bytes(self) -> bytes:
        """The sums as a model file; equal sums give equal bytes."""
        arrays: dict[str, Array] = {"page_keys": self.page_keys()}
        arrays["text_key"], arrays["text_pages"] = self.texts()
        arrays["name_key"], arrays["name_pages"] = self.names()
        tables: dict[str, ArrayTable] = dict(self.trees())
        if BLOCKS in self.parts:
            tables[BLOCKS] = self.blocks()
        if PAGELETS in self.parts:
            tables[PAGELETS] = self.pagelets()
        if SEGMENTS in self.parts:
            tables[SEGMENTS] = SegmentRows.merge(self.segments)
        about = {"site": self.site, "parts": sorted(self.parts)} | css_note(self.css)
        return pack_site(FORMAT, about, arrays, self.labels, tables)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the sums") -> Self:
        """Read sums; everything in them is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            check_styles(file, name)
            texts, parts = file.typed(TEXT_DTYPES), file.about["parts"]
            if not isinstance(parts, list) or not ALL_PARTS.issuperset(parts):
                raise ValueError("its parts are unknown")
            for of in ("text", "name"):
                check_texts(texts[f"{of}_key"], texts[f"{of}_pages"], texts["page_keys"], least=1)
            sums, page_keys = cls(site_name(file), frozenset(parts), css=noted_css(file)), texts["page_keys"]
            sums.keys = page_keys.tolist()
            sums.text_pages, sums.name_pages = (
                Counter(dict(zip(texts[f"{of}_key"].tolist(), texts[f"{of}_pages"].tolist(), strict=True)))
                for of in ("text", "name")
            )
            sums.labels = read_labels(file)
            if BLOCKS in parts and (columns := file.table(BlockRows, "blocks_")):
                sums.rows = [BlockRows.of_columns(columns)]
            if PAGELETS in parts and (columns := file.table(PageletCounts, "pagelets_")):
                counts = PageletCounts.of_columns(columns, len(page_keys))
                sums.pagelet_settings = counts.settings
                sums.pagelet_pages = Counter(dict(zip(counts.key.tolist(), counts.pages.tolist(), strict=True)))
            if SEGMENTS in parts and (columns := file.table(SegmentRows, "segments_")):
                sums.segments = [SegmentRows.of_columns(columns)]
                if not np.array_equal(sums.segments[0].page_key, page_keys):
                    raise ValueError("segments of other pages")
            for tree, cut in sums.cuts.items():
                if columns := file.table(StyleTree, f"{tree}_"):
                    sums.known[tree] = StyleTree.of_columns(cut, page_keys, columns)
        return sums

    def save(self, path: Path | str) -> None:
        """Write the sums to a file."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read sums from a file."""
        return cls.from_bytes(FORMAT.load(path), str(path))


def _sorted_counts(counter: Counter[int]) -> tuple[NDArray[np.uint64], NDArray[np.int32]]:
    key = np.fromiter(counter.keys(), np.uint64, len(counter))
    pages = np.fromiter(counter.values(), np.int32, len(counter))
    order = np.argsort(key)
    return key[order], pages[order]


def _label(tree: PageTree, i: int) -> str:
    """Tag and canonical class names of a node, which its style determines, without terminal control characters."""
    classes = canonical_class(tree.attribute(i, "class") or "").split()
    label = ".".join([tree.tag_name(i), *classes])[:LONGEST_LABEL]
    return "".join(character if character.isprintable() else "?" for character in label)


# Files of sums and of models


def pack_site(
    format: ModelFormat,
    about: dict[str, Any],
    arrays: dict[str, Array],
    labels: dict[int, str],
    tables: dict[str, ArrayTable],
) -> bytes:
    """Sums or a model as bytes: arrays, labels (styles ascending, one label per line), and tables by name."""
    styles = sorted(labels)
    text = "\n".join(labels[style] for style in styles).encode("utf-8", "replace")
    arrays |= {"label_style": np.array(styles, np.uint64), "label_text": np.frombuffer(text, np.uint8)}
    for name, table in tables.items():
        arrays |= table.columns(f"{name}_")
    return format.pack(about | {"style_version": STYLE_VERSION}, arrays)


def css_note(css: bool | None) -> dict[str, Any]:
    """What a file says about the styles of its pages: whether they have the rules of style sheets, if that is known."""
    return {} if css is None else {"css": css}


def noted_css(file: ModelFile) -> bool | None:
    """Whether a file was learned with `ParseLimits.css`; None for older files, which do not say."""
    css = file.about.get("css")
    if not isinstance(css, bool | None):
        raise ValueError("it does not say whether style sheets were read")
    return css


def check_styles(file: ModelFile, name: str) -> None:
    """`ModelError` for a file whose style hashes were made by another version of `markup`."""
    version = file.about.get("style_version")
    if version != STYLE_VERSION:
        raise ModelError(
            f"{name} was learned with styles of version {version}, this webwinnow has {STYLE_VERSION}; "
            "learn the site again"
        )


def site_name(file: ModelFile) -> str:
    """The site of a file."""
    if not isinstance(site := file.about["site"], str):
        raise ValueError("its site has no name")
    return site


def check_texts(key: Array, pages: Array, page_keys: Array, least: int) -> None:
    """`ValueError` unless keys ascend and each text occurs on `least` pages or more, and on no more than there are."""
    if len(key) != len(pages) or not np.all(key[1:] > key[:-1]):
        raise ValueError("its texts are out of order or have no counts")
    if not np.all((pages >= least) & (pages <= len(page_keys))):
        raise ValueError("its texts are counted on more or fewer pages than possible")


def read_labels(file: ModelFile) -> dict[int, str]:
    """The labels that `pack_site` stored."""
    styles, text = file.typed(LABEL_DTYPES).values()
    texts = bytes(text).decode("utf-8", "replace").split("\n") if len(styles) else []
    if len(texts) != len(styles):
        raise ValueError("its labels do not fit together")
    return dict(zip(styles.tolist(), texts, strict=True))
