"""`LearnedSite`: what was learned about one site. Stored as arrays and JSON, never as code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import ModelError, SettingsError
from webwinnow.lazy import lazy_property
from webwinnow.page.hints import name_key
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.site.alignedtree import finish_aligned
from webwinnow.site.blocktable import BlockTable, lookup
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.noisemap import NoiseMap, NoiseSettings, choose_threshold, importance_of
from webwinnow.site.pagelets import PageletCounts, PageletSettings
from webwinnow.site.segmenttable import SegmentRows, SegmentTable
from webwinnow.site.sitetree import JoinSettings, SiteTree, finish
from webwinnow.site.sums import (
    ALL_PARTS,
    BLOCKS,
    CUTS,
    PAGELETS,
    SEGMENTS,
    TEXT_DTYPES,
    TEXTS,
    SiteSums,
    check_styles,
    check_texts,
    css_note,
    noted_css,
    pack_site,
    read_labels,
    site_name,
)
from webwinnow.storage.atomic import write_file
from webwinnow.storage.modelfile import Array, ArrayTable, ModelFile, ModelFormat

FORMAT = ModelFormat("site model", 9, "learn the site again")
SHARED_NAME, SHARED_PAGES = 0.2, 3
"""A name of this share of the pages, and of so many, does not distinguish one of them (ours)."""
SHOWN_LABELS = 20_000
"""Labels that a model stores at most."""
FINISHERS = {"sst": finish, "aligned": finish_aligned, "cst": finish}
"""How each tree is finished."""
NOISE_TREES = ("sst", "aligned")
"""The trees that mark noise: the published site style tree, and our variant."""

NO_JOINS: Final[Mapping[str, JoinSettings]] = MappingProxyType({})

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedSite:
    """What was learned about one site from `pages` pages.

    `page_keys`: fingerprints of the pages, ascending. `text_key` (ascending) and `text_pages`: on how many pages each
    text occurs, for texts of more than one page; `name_key` and `name_pages` are the same for titles, their parts and
    headings. `sst`, `aligned` and `cst` are the finished trees, None where they
    were not requested; `thresholds` are those of `NOISE_TREES` that it has.
    """

    site: str
    page_keys: NDArray[np.uint64]
    text_key: NDArray[np.uint64]
    text_pages: NDArray[np.int32]
    name_key: NDArray[np.uint64]
    name_pages: NDArray[np.int32]
    sst: SiteTree | None = None
    aligned: SiteTree | None = None
    cst: SiteTree | None = None
    thresholds: dict[str, float] = field(default_factory=dict)
    blocks: BlockTable | None = None
    pagelets: PageletCounts | None = None
    """Pagelets of more than one page."""
    segments: SegmentTable | None = None
    labels: dict[int, str] = field(default_factory=dict)
    """A readable name of an element, by its style."""
    has_texts: bool = True
    """Whether texts were counted; otherwise `text_key` is empty."""
    css: bool | None = None
    """Whether the rules of style sheets are part of the styles (`ParseLimits.css`), as they must be in pages that are
    cleaned with this model; None if that is not known."""

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the fields, without what methods derived from them, which compiled classes hold."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @property
    def pages(self) -> int:
        """How many pages were learned."""
        return len(self.page_keys)

    @classmethod
    def learn(
        cls,
        trees: Iterable[PageTree],
        site: str = "",
        parts: frozenset[str] = ALL_PARTS,
        joins: Mapping[str, JoinSettings] = NO_JOINS,
        pagelets: PageletSettings | None = None,
        stops: StopList | None = None,
    ) -> Self:
        """Learn from the pages of one site (choose them first: `choose_pages`); `joins` as in `of`."""
        sums = SiteSums(site, parts, pagelets, stops)
        for tree in trees:
            sums.add(tree)
        return cls.of(sums, joins)

    @classmethod
    def of(cls, sums: SiteSums, joins: Mapping[str, JoinSettings] = NO_JOINS) -> Self:
        """Finish the sums over a site's pages; `joins` are the settings of trees that differ from the defaults."""
        trees = {
            name: FINISHERS[name](tree, joins.get(name)) for name, tree in (sums.trees() if sums.pages else {}).items()
        }
        key, pages = sums.texts()
        name, named = sums.names()
        styles = sorted({style for tree in trees.values() for style in tree.style.tolist()} & sums.labels.keys())
        return cls(
            site=sums.site,
            page_keys=sums.page_keys(),
            text_key=key[pages > 1],
            text_pages=pages[pages > 1],
            name_key=name[named > 1],
            name_pages=named[named > 1],
            thresholds={
                name: choose_threshold(trees[name], importance_of(trees[name])) for name in NOISE_TREES if name in trees
            },
            blocks=BlockTable.of(sums.blocks()) if BLOCKS in sums.parts and sums.pages > 1 else None,
            pagelets=sums.pagelets().repeated() if PAGELETS in sums.parts else None,
            segments=SegmentTable.of(SegmentRows.merge(sums.segments), sums.segment_stops)
            if SEGMENTS in sums.parts
            else None,
            labels={style: sums.labels[style] for style in styles[:SHOWN_LABELS]},
            has_texts=TEXTS in sums.parts,
            css=sums.css,
            **trees,
        )

    @classmethod
    def of_one(cls, fingerprint: int) -> Self:
        """A site of one page: nothing repeats."""
        none, counts = np.zeros(0, np.uint64), np.zeros(0, np.int32)
        keys = np.array([fingerprint], np.uint64)
        return cls(
            site="", page_keys=keys, text_key=none, text_pages=counts, name_key=none, name_pages=counts, has_texts=False
        )

    @property
    def shown_name(self) -> str:
        """The site's name for people, without terminal control characters."""
        return "".join(c if c.isprintable() else "?" for c in self.site) or "(no name)"

    @lazy_property
    def learned(self) -> frozenset[int]:
        """The fingerprints of the pages learned."""
        return frozenset(self.page_keys.tolist())

    def pages_that_say(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """On how many learned pages each text occurs; 1 for a text that was not found on two."""
        self._part(self.has_texts or None, "counts of texts")
        return lookup(self.text_key, self.text_pages, keys, missing=1).astype(np.int32)

    def shares_name(self, name: str) -> bool:
        """Whether many pages have this title, part of a title or heading."""
        shared = self._shared_names
        return bool(shared) and name_key(name) in shared

    @lazy_property
    def _shared_names(self) -> frozenset[int]:
        is_shared = self.name_pages >= max(SHARED_NAME * self.pages, SHARED_PAGES)
        return frozenset(self.name_key[is_shared].tolist())

    @property
    def block_table(self) -> BlockTable:
        """The site's counts of its blocks."""
        return self._part(self.blocks, "table of blocks")

    @property
    def pagelet_counts(self) -> PageletCounts:
        """The pagelets of more than one page."""
        return self._part(self.pagelets, "pagelets")

    @property
    def segment_table(self) -> SegmentTable:
        """The entropies of the site's words, for its tables and sections."""
        return self._part(self.segments, "segments")

    @property
    def noise_trees(self) -> tuple[str, ...]:
        """The names of the `NOISE_TREES` that the model has."""
        return tuple(name for name in NOISE_TREES if getattr(self, name) is not None)

    def noise_tree(self, name: str) -> SiteTree:
        """The finished tree `sst` or `aligned`."""
        found: SiteTree | None = getattr(self, name)
        return self._part(found, f"site style tree of method {name}")

    def noise_map(self, name: str, settings: NoiseSettings | None = None) -> NoiseMap:
        """A site style tree by name (`NOISE_TREES`), ready to map pages to."""
        wanted = (name, settings or NoiseSettings())
        if wanted not in self._noise_maps:
            self._noise_maps[wanted] = NoiseMap(self.noise_tree(name), wanted[1])
        return self._noise_maps[wanted]

    @lazy_property
    def _noise_maps(self) -> dict[tuple[str, NoiseSettings], NoiseMap]:
        return {}

    def feature_weights(self, settings: CstWeightSettings) -> FeatureWeights:
        """The weights of the compressed structure tree; the last are cached."""
        found = self._weights.get(settings)
        if found is None:
            found = FeatureWeights(self._part(self.cst, "compressed structure tree"), settings)
            self._weights.clear()  # another thread may do the same
            self._weights[settings] = found
        return found

    @lazy_property
    def _weights(self) -> dict[CstWeightSettings, FeatureWeights]:
        return {}

    def _part(self, part: T | None, name: str) -> T:
        if part is None:
            raise ModelError(f"the model of {self.site or 'this site'} has no {name}; learn it again with this part")
        return part

    def with_threshold(self, threshold: float, tree: str = "sst") -> Self:
        """The same model with another threshold of the tree `sst` or `aligned`."""
        if not 0.0 <= threshold <= 1.0:
            raise SettingsError(f"the threshold must be between 0 and 1, not {threshold}")
        self.noise_tree(tree)
        return replace(self, thresholds=self.thresholds | {tree: threshold})

    def to_bytes(self) -> bytes:
        """The model as a model file; equal models give equal bytes."""
        tables: dict[str, ArrayTable | None] = {name: getattr(self, name) for name in CUTS}
        tables |= {BLOCKS: self.blocks, PAGELETS: self.pagelets, SEGMENTS: self.segments}
        return pack_site(
            FORMAT,
            {"site": self.site, "thresholds": self.thresholds, "texts": self.has_texts} | css_note(self.css),
            {name: getattr(self, name) for name in TEXT_DTYPES},
            self.labels,
            {name: table for name, table in tables.items() if table is not None},
        )

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read a model; everything in it is validated. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            check_styles(file, name)
            texts, thresholds, has_texts = file.typed(TEXT_DTYPES), file.about["thresholds"], file.about["texts"]
            page_keys = texts["page_keys"]
            for of in ("text", "name"):
                check_texts(texts[f"{of}_key"], texts[f"{of}_pages"], page_keys, least=2)
            if not np.all(page_keys[1:] >= page_keys[:-1]):
                raise ValueError("its pages are out of order")
            trees = {tree: _read(file, SiteTree, tree, partial(SiteTree.of_columns, cut)) for tree, cut in CUTS.items()}
            if not isinstance(has_texts, bool) or not _are_thresholds(thresholds, trees):
                raise ValueError("its thresholds are not from 0 to 1, or it does not say whether texts were counted")
            return cls(
                site=site_name(file),
                page_keys=page_keys,
                text_key=texts["text_key"],
                text_pages=texts["text_pages"],
                name_key=texts["name_key"],
                name_pages=texts["name_pages"],
                **trees,
                thresholds={tree: float(threshold) for tree, threshold in thresholds.items()},
                blocks=_read(file, BlockTable, BLOCKS, BlockTable.of_columns),
                pagelets=_read(
                    file, PageletCounts, PAGELETS, lambda columns: PageletCounts.of_columns(columns, len(page_keys))
                ),
                segments=_read(file, SegmentTable, SEGMENTS, SegmentTable.of_columns),
                labels=read_labels(file),
                has_texts=has_texts,
                css=noted_css(file),
            )

    def save(self, path: Path | str) -> None:
        """Write the model to a file."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a model from a file."""
        return cls.from_bytes(FORMAT.load(path), str(path))


def limits_for(model: LearnedSite | None, limits: ParseLimits) -> ParseLimits:
    """Return the limits to parse a page with that is cleaned with a model: their styles must be of the same kind."""
    return limits if model is None or model.css is None else replace(limits, css=model.css)


def _are_thresholds(found: object, trees: Mapping[str, SiteTree | None]) -> bool:
    """Whether `found` has a number from 0 to 1 for each noise tree of a file."""
    return (
        isinstance(found, dict)
        and found.keys() == {name for name in NOISE_TREES if trees[name] is not None}
        and all(isinstance(value, int | float) and 0 <= value <= 1 for value in found.values())
    )


def _read(file: ModelFile, kind: type[ArrayTable], name: str, checked: Callable[[dict[str, Array]], T]) -> T | None:
    """A table of a file, if it has it."""
    columns = file.table(kind, f"{name}_")
    return None if columns is None else checked(columns)
