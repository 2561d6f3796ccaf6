"""`LearnedSite`: what was learned about one site. Stored as arrays and JSON, never as code."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from webwinnow import plugins
from webwinnow.errors import ModelError, SettingsError
from webwinnow.lazy import lazy_property
from webwinnow.page.hints import name_key
from webwinnow.page.parsing import ParseLimits
from webwinnow.page.tree import PageTree
from webwinnow.site.blocktable import BlockTable
from webwinnow.site.counts import Counts
from webwinnow.site.featureweights import CstWeightSettings, FeatureWeights
from webwinnow.site.noisemap import NoiseMap, NoiseSettings
from webwinnow.site.parts import part_named, parts_named
from webwinnow.site.sitetree import SiteTree
from webwinnow.site.sums import (
    BLOCKS,
    TEXTS,
    SiteSums,
    check_styles,
    css_note,
    noted_css,
    pack_site,
    read_labels,
    read_pages,
    site_name,
)
from webwinnow.storage.atomic import write_file
from webwinnow.storage.modelfile import ArrayTable, ModelFormat

FORMAT = ModelFormat("site model", 9, "learn the site again")
SHARED_NAME, SHARED_PAGES = 0.2, 3
"""A name of this share of the pages, and of so many, does not distinguish one of them (ours)."""
SHOWN_LABELS = 20_000
"""Labels that a model stores at most."""
NOISE_TREES = ("sst", "aligned")
"""The trees that mark noise: the published site style tree, and our variant."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LearnedSite:
    """What was learned about one site from `pages` pages: the table of each part by its name, and some of all."""

    site: str
    page_keys: NDArray[np.uint64]
    """Fingerprints of the pages, ascending."""
    names: Counts
    """On how many pages titles, their parts and headings occur, for those of more than one page."""
    parts: dict[str, ArrayTable] = field(default_factory=dict)
    labels: dict[int, str] = field(default_factory=dict)
    """A readable name of an element, by its style."""
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
        cls, trees: Iterable[PageTree], site: str = "", parts: frozenset[str] | None = None, settings: Any = None
    ) -> Self:
        """Learn from the pages of one site (choose them first: `choose_pages`); parts and settings as in `SiteSums`."""
        sums = SiteSums(site, parts, settings)
        for tree in trees:
            sums.add(tree)
        return cls.of(sums)

    @classmethod
    def of(cls, sums: SiteSums) -> Self:
        """Finish the sums over a site's pages."""
        found = {name: part.finish() for name, part in sums.learned.items()}
        trees = [table for table in found.values() if isinstance(table, SiteTree)]
        styles = sorted({style for tree in trees for style in tree.style.tolist()} & sums.labels.keys())
        return cls(
            site=sums.site,
            page_keys=sums.page_keys(),
            names=Counts.of(sums.name_pages).repeated(),
            parts={name: table for name, table in found.items() if table is not None},
            labels={style: sums.labels[style] for style in styles[:SHOWN_LABELS]},
            css=sums.css,
        )

    @classmethod
    def of_one(cls, fingerprint: int) -> Self:
        """A site of one page: nothing repeats."""
        return cls(site="", page_keys=np.array([fingerprint], np.uint64), names=Counts.empty())

    @property
    def shown_name(self) -> str:
        """The site's name for people, without terminal control characters."""
        return "".join(c if c.isprintable() else "?" for c in self.site) or "(no name)"

    @lazy_property
    def learned(self) -> frozenset[int]:
        """The fingerprints of the pages learned."""
        return frozenset(self.page_keys.tolist())

    def part(self, name: str) -> Any:
        """What was learned for a part. Raises `ModelError` where the model lacks it."""
        if name not in self.parts:
            about = part_named(name).ABOUT
            raise ModelError(f"the model of {self.site or 'this site'} has no {about}; learn it again with this part")
        return self.parts[name]

    def pages_that_say(self, keys: NDArray[np.uint64]) -> NDArray[np.int32]:
        """On how many learned pages each text occurs; 1 for a text that was not found on two."""
        counts: Counts = self.part(TEXTS)
        return counts.pages_with(keys, missing=1)

    def shares_name(self, name: str) -> bool:
        """Whether many pages have this title, part of a title or heading."""
        shared = self._shared_names
        return bool(shared) and name_key(name) in shared

    @lazy_property
    def _shared_names(self) -> frozenset[int]:
        is_shared = self.names.pages >= max(SHARED_NAME * self.pages, SHARED_PAGES)
        return frozenset(self.names.key[is_shared].tolist())

    @property
    def block_table(self) -> BlockTable:
        """The site's counts of its blocks."""
        return cast("BlockTable", self.part(BLOCKS))

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of each tree that marks noise."""
        return {name: self.part(name).threshold for name in self.noise_trees}

    @property
    def noise_trees(self) -> tuple[str, ...]:
        """The names of the `NOISE_TREES` that the model has."""
        return tuple(name for name in NOISE_TREES if name in self.parts)

    def noise_map(self, name: str, settings: NoiseSettings | None = None) -> NoiseMap:
        """A site style tree by name (`NOISE_TREES`), ready to map pages to."""
        wanted = (name, settings or NoiseSettings())
        if wanted not in self._noise_maps:
            self._noise_maps[wanted] = NoiseMap(self.part(name), wanted[1])
        return self._noise_maps[wanted]

    @lazy_property
    def _noise_maps(self) -> dict[tuple[str, NoiseSettings], NoiseMap]:
        return {}

    def feature_weights(self, settings: CstWeightSettings) -> FeatureWeights:
        """The weights of the compressed structure tree; the last are cached."""
        found = self._weights.get(settings)
        if found is None:
            found = FeatureWeights(self.part("cst"), settings)
            self._weights.clear()  # another thread may do the same
            self._weights[settings] = found
        return found

    @lazy_property
    def _weights(self) -> dict[CstWeightSettings, FeatureWeights]:
        return {}

    def with_threshold(self, threshold: float, tree: str = "sst") -> Self:
        """The same model with another threshold of the tree `sst` or `aligned`."""
        if not 0.0 <= threshold <= 1.0:
            raise SettingsError(f"the threshold must be between 0 and 1, not {threshold}")
        return replace(self, parts=self.parts | {tree: replace(self.part(tree), threshold=threshold)})

    def to_bytes(self) -> bytes:
        """The model as a model file; equal models give equal bytes."""
        parts = parts_named(frozenset(self.parts))
        about: dict[str, Any] = {"site": self.site, "thresholds": {}, "texts": TEXTS in self.parts}
        if others := sorted(self.parts.keys() - plugins.built_in("part").keys()):
            about["parts"] = others
        for part in parts:
            for key, value in part.about(self.parts[part.NAME]).items():
                about[key] = about.get(key, {}) | value
        tables = {part.PREFIX: self.parts[part.NAME] for part in parts}
        return pack_site(FORMAT, about | css_note(self.css), self.page_keys, self.names, self.labels, tables)

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read a model; all arrays are checked. Raises `ModelError`."""
        with FORMAT.reading(data, name) as file:
            check_styles(file, name)
            page_keys, names = read_pages(file)
            parts = {}
            for part in parts_named(_known_parts(file.about)):
                if (columns := file.table(part.MODEL, part.PREFIX)) is not None:
                    parts[part.NAME] = part.read_model(columns, file.about)
            if not file.about["texts"]:
                parts.pop(TEXTS, None)
            return cls(
                site=site_name(file),
                page_keys=page_keys,
                names=names,
                parts=parts,
                labels=read_labels(file),
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


def _known_parts(about: dict[str, Any]) -> frozenset[str]:
    """The parts that a model file may have: ours, and those of other packages that are installed here."""
    others = frozenset(about.get("parts", ()))
    return frozenset(plugins.built_in("part")) | (others & plugins.installed("part").keys() if others else others)
