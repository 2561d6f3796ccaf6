"""`LearnedSite`: what was learned of one site. Saved as arrays and JSON, never as code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError, SettingsError
from webwinnow.pagetree import PageTree
from webwinnow.site.archive import pack, unpack
from webwinnow.site.blocktable import BlockTable
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.noisemap import NoiseMap, choose_threshold, importance_of
from webwinnow.site.pagelets import PageletCounts
from webwinnow.site.segmenttable import SegmentRows, SegmentTable
from webwinnow.site.sitetree import SiteTree, finish
from webwinnow.site.sums import (
    ALL_PARTS,
    BLOCKS,
    CUTS,
    LABEL_COLUMNS,
    PAGELETS,
    SEGMENTS,
    TEXTS,
    SiteSums,
    label_columns,
    labels_of,
)
from webwinnow.storage import write_file

__all__ = ["LearnedSite"]

KIND = "site model"
_COLUMNS: dict[str, Any] = {"page_keys": np.uint64, "text_key": np.uint64, "text_pages": np.int32}
SHOWN_LABELS = 20_000
"""Labels that a model keeps at most."""
_TREES = ("sst", "cst")


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedSite:
    """What was learned of one site from `pages` pages.

    `page_keys`: fingerprints of the pages, ascending. `text_key` (ascending) and `text_pages` tell, for each text that
    more than one page says, how many do. `sst` and `cst` are the finished trees, None where they were not asked for;
    `threshold` is the site's own for the SST.
    """

    site: str
    page_keys: NDArray[np.uint64]
    text_key: NDArray[np.uint64]
    text_pages: NDArray[np.int32]
    sst: SiteTree | None = None
    cst: SiteTree | None = None
    threshold: float = 0.0
    blocks: BlockTable | None = None
    pagelets: PageletCounts | None = None
    """Pagelets that more than one page has."""
    segments: SegmentTable | None = None
    labels: dict[int, str] = field(default_factory=dict)
    """What people may call an element, by its style."""
    has_texts: bool = True
    """Whether texts were counted: without, none is known to repeat."""

    @property
    def pages(self) -> int:
        """How many pages were learned."""
        return len(self.page_keys)

    @classmethod
    def learn(cls, trees: Iterable[PageTree], site: str = "", parts: frozenset[str] = ALL_PARTS) -> Self:
        """Learn from the pages of one site (choose them first: `choose_pages`)."""
        sums = SiteSums(site, parts)
        for tree in trees:
            sums.add(tree)
        return cls.of(sums)

    @classmethod
    def of(cls, sums: SiteSums) -> Self:
        """Finish what was summed up over a site's pages."""
        found = {name: finish(tree) for name, tree in sums.trees().items()} if sums.pages else {}
        threshold = 0.0
        if "sst" in found:
            threshold = choose_threshold(found["sst"], importance_of(found["sst"]))
        key, pages = sums.texts()
        said_twice = pages > 1
        return cls(
            site=sums.site,
            page_keys=sums.page_keys(),
            text_key=key[said_twice],
            text_pages=pages[said_twice],
            threshold=threshold,
            blocks=BlockTable.of(sums.blocks()) if BLOCKS in sums.parts and sums.pages > 1 else None,
            pagelets=sums.pagelets().repeated() if PAGELETS in sums.parts else None,
            segments=SegmentTable.of(SegmentRows.merge(sums.segments)) if SEGMENTS in sums.parts else None,
            labels=_labels_in(sums.labels, found.values()),
            has_texts=TEXTS in sums.parts,
            **found,
        )

    @property
    def shown_name(self) -> str:
        """The site's name as people read it, without what a terminal would obey."""
        return "".join(c if c.isprintable() else "?" for c in self.site) or "(no name)"

    def pages_that_say(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """On how many learned pages each text stands; 1 for a text that was never seen twice."""
        if not self.has_texts:
            raise ModelError(f"the model of {self.site or 'this site'} has not counted texts; learn it again with them")
        if not len(self.text_key):
            return np.ones(len(keys), np.int32)
        at = np.minimum(np.searchsorted(self.text_key, keys), len(self.text_key) - 1)
        return np.where(self.text_key[at] == keys, self.text_pages[at], 1).astype(np.int32)

    @cached_property
    def learned(self) -> frozenset[int]:
        """The fingerprints of the pages learned."""
        return frozenset(self.page_keys.tolist())

    @property
    def block_table(self) -> BlockTable:
        """What the site shows of its blocks."""
        if self.blocks is None:
            raise ModelError(f"the model of {self.site or 'this site'} has no table of blocks; learn it again with one")
        return self.blocks

    @property
    def pagelet_counts(self) -> PageletCounts:
        """The pagelets that more than one page has."""
        if self.pagelets is None:
            raise ModelError(f"the model of {self.site or 'this site'} has no pagelets; learn it again with them")
        return self.pagelets

    @property
    def segment_table(self) -> SegmentTable:
        """What the site's words tell of its tables and sections."""
        if self.segments is None:
            raise ModelError(f"the model of {self.site or 'this site'} has no segments; learn it again with them")
        return self.segments

    @cached_property
    def noise(self) -> NoiseMap:
        """The site style tree, ready to lay pages over."""
        if self.sst is None:
            raise ModelError(f"the model of {self.site or 'this site'} has no site style tree; learn it again with one")
        return NoiseMap(self.sst)

    @cached_property
    def weights(self) -> FeatureWeights:
        """The exact weights (5-10) of the compressed structure tree."""
        return self.feature_weights(CstWeightSettings())

    def feature_weights(self, settings: CstWeightSettings) -> FeatureWeights:
        """The weights of the compressed structure tree."""
        if self.cst is None:
            raise ModelError(
                f"the model of {self.site or 'this site'} has no compressed structure tree; learn it again with one"
            )
        return FeatureWeights(self.cst, settings)

    def to_bytes(self) -> bytes:
        """The model as a `.npz` archive; the same model gives the same bytes."""
        columns: dict[str, NDArray[Any]] = {name: getattr(self, name) for name in _COLUMNS}
        columns |= label_columns(self.labels)
        if self.blocks is not None:
            columns |= {f"{BLOCKS}_{column}": values for column, values in self.blocks.columns().items()}
        if self.pagelets is not None:
            columns |= {f"{PAGELETS}_{column}": values for column, values in self.pagelets.columns().items()}
        if self.segments is not None:
            columns |= {f"{SEGMENTS}_{column}": values for column, values in self.segments.columns().items()}
        for name in _TREES:
            tree: SiteTree | None = getattr(self, name)
            if tree is not None:
                columns |= {f"{name}_{column}": values for column, values in tree.columns().items()}
        return pack(KIND, {"site": self.site, "threshold": self.threshold, "texts": self.has_texts}, columns)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read a model back; everything in it is checked. Raises `ModelError`."""
        groups = {
            tree: {f"{tree}_{column}": dtype for column, dtype in SiteTree.column_types().items()} for tree in _TREES
        }
        groups[BLOCKS] = {f"{BLOCKS}_{column}": dtype for column, dtype in BlockTable.column_types().items()}
        groups[PAGELETS] = {f"{PAGELETS}_{column}": dtype for column, dtype in PageletCounts.column_types().items()}
        groups[SEGMENTS] = {f"{SEGMENTS}_{column}": dtype for column, dtype in SegmentTable.column_types().items()}
        about, columns = unpack(KIND, data, name, _COLUMNS | LABEL_COLUMNS, groups.values())
        site, threshold, has_texts = about.get("site"), about.get("threshold"), about.get("texts", True)
        keys, counts, pages = columns["text_key"], columns["text_pages"], columns["page_keys"]
        sound = (
            isinstance(site, str)
            and isinstance(has_texts, bool)
            and isinstance(threshold, int | float)
            and 0 <= threshold <= 1
            and len(keys) == len(counts)
            and bool(np.all(keys[1:] > keys[:-1]))
            and bool(np.all(pages[1:] >= pages[:-1]))
            and bool(np.all((counts > 1) & (counts <= len(pages))))
        )
        if not sound:
            raise ModelError(f"{name} is damaged: its parts do not fit together; learn the site again")
        trees = {}
        for tree, group in groups.items():
            if tree in _TREES and group.keys() <= columns.keys():
                trees[tree] = _tree(
                    tree, {column: columns[f"{tree}_{column}"] for column in SiteTree.column_types()}, name
                )
        return cls(
            site=str(site),
            page_keys=pages,
            text_key=keys,
            text_pages=counts,
            threshold=float(threshold or 0),
            blocks=_blocks(columns, name) if groups[BLOCKS].keys() <= columns.keys() else None,
            pagelets=_pagelets(columns, name) if groups[PAGELETS].keys() <= columns.keys() else None,
            segments=_segments(columns, name) if groups[SEGMENTS].keys() <= columns.keys() else None,
            labels=labels_of(columns, name),
            has_texts=bool(has_texts),
            **trees,
        )

    def with_threshold(self, threshold: float) -> Self:
        """The same model with a threshold that a person chose."""
        if not 0.0 <= threshold <= 1.0:
            raise SettingsError(f"the threshold must lie between 0 and 1, not at {threshold}")
        return replace(self, threshold=threshold)

    def save(self, path: Path | str) -> None:
        """Write the model to a file."""
        write_file(Path(path), self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model from a file."""
        return cls.from_bytes(Path(path).read_bytes(), str(path))


def _tree(kind: str, columns: dict[str, NDArray[Any]], name: str) -> SiteTree:
    try:
        return SiteTree.of_columns(CUTS[kind], columns)
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its {kind} {error}; learn the site again") from None


def _blocks(columns: dict[str, NDArray[Any]], name: str) -> BlockTable:
    try:
        return BlockTable.of_columns({column: columns[f"{BLOCKS}_{column}"] for column in BlockTable.column_types()})
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of blocks {error}; learn the site again") from None


def _pagelets(columns: dict[str, NDArray[Any]], name: str) -> PageletCounts:
    try:
        return PageletCounts.of_columns(
            {column: columns[f"{PAGELETS}_{column}"] for column in PageletCounts.column_types()},
            len(columns["page_keys"]),
        )
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of pagelets {error}; learn the site again") from None


def _segments(columns: dict[str, NDArray[Any]], name: str) -> SegmentTable:
    try:
        return SegmentTable.of_columns(
            {column: columns[f"{SEGMENTS}_{column}"] for column in SegmentTable.column_types()}
        )
    except ValueError as error:
        raise ModelError(f"{name} is damaged: its table of segments {error}; learn the site again") from None


def _labels_in(labels: dict[int, str], trees: Iterable[SiteTree]) -> dict[int, str]:
    """The labels of styles that stand in one of the trees."""
    styles = sorted({style for tree in trees for style in tree.style.tolist()} & labels.keys())
    return {style: labels[style] for style in styles[:SHOWN_LABELS]}
