"""`SiteReport`: the packed data of one site for the viewer: style tree, sample pages, the methods' decisions."""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.inspect.dials import DIALS, MILLION, DialReading, keeps_more, read_dial
from webwinnow.inspect.shownpage import PageRegions, tokens
from webwinnow.inspect.templating import shortened
from webwinnow.methods.registry import method_named
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.mapping import NOWHERE
from webwinnow.site.noisemap import NoiseMap
from webwinnow.site.styletree import LEAF

DEFAULT_METHODS = ("combined", "sst")
CURVE_STEPS = 1000
"""Steps of a dial in the viewer; the words that the whole sample keeps are counted at each step."""
MOST_REGIONS = 8_000
"""PageRegions of one page that are shown."""
LONGEST_TITLE = 200
MOST_ELEMENTS = 12_000
"""Elements of a site's tree in a report: those on the most pages."""
SHOWN_EXAMPLES = 3
SHOWN_CHARACTERS = 90


def packed(value: Any) -> str:
    """Return a value as deflated JSON in base64, safe inside any HTML."""
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflater.compress(plain) + deflater.flush()).decode("ascii")


@dataclass(frozen=True, slots=True, eq=False)
class SiteReport:
    """One site: its entry `about` in the index, its tree and its pages, each packed to load on demand."""

    about: dict[str, Any]
    tree: str
    pages: tuple[str, ...]
    pictures: int = 0
    """Pages with a screenshot."""

    @property
    def size(self) -> int:
        """Its size in characters."""
        return len(self.tree) + sum(map(len, self.pages))

    @classmethod
    def of(
        cls,
        model: LearnedSite,
        trees: Iterable[PageTree],
        methods: Sequence[str] = DEFAULT_METHODS,
        *,
        room: int | None = None,
    ) -> SiteReport:
        """Clean some pages of a site with all methods; pages beyond `room` characters are left out."""
        for name in methods:
            method_named(name)
        name_of_tree = next((name for name in (*methods, *model.noise_trees) if name in model.noise_trees), None)
        shown_tree, examples = ShownTree(model, name_of_tree), Examples()
        curves = {name: np.zeros(CURVE_STEPS + 1, np.int64) for name in methods}
        totals = {name: dict.fromkeys(("own", *_favors(name)), 0) for name in methods}
        pages: list[str] = []
        listed: list[dict[str, Any]] = []
        taken, left_out, pictures = 0, 0, 0
        for tree in trees:
            page = _Page(tree, model, methods, name_of_tree)
            columns = packed(page.columns(shown_tree))
            if room is not None and taken + len(columns) > room:
                left_out += 1
                continue
            taken += len(columns)
            pictures += tree.layout is not None and bool(tree.layout.picture)
            pages.append(columns)
            listed.append(page.about())
            for name, reading in page.readings.items():
                curves[name] += page.curve(reading)
                totals[name]["own"] += page.kept(reading, reading.own)
                for favor, turn in reading.favored.items():
                    totals[name][favor] += page.kept(reading, turn)
            examples.add(page.regions.element, page.texts())
        about = {
            "name": model.shown_name,
            "learned": model.pages,
            "tree": name_of_tree,
            "threshold": round(model.thresholds.get(name_of_tree or "", 0.0) * MILLION),
            "pages": listed,
            "curves": {name: curve.tolist() for name, curve in curves.items()},
            "totals": totals,
            "words": sum(page["words"] for page in listed),
            "elements": len(shown_tree.shown),
            "left_out": left_out,
        }
        return cls(about, packed(shown_tree.columns(examples)), tuple(pages), pictures)


def _favors(name: str) -> tuple[str, ...]:
    return DIALS[name].favors if name in DIALS else ()


class _Page:
    """A sample page: its regions and the decisions of each method."""

    def __init__(self, tree: PageTree, model: LearnedSite, methods: Sequence[str], shown: str | None) -> None:
        self.tree = tree
        page = Page(tree)
        self.readings = {name: read_dial(name, page, model) for name in methods}
        self.regions = PageRegions.of(page, model, list(self.readings.values()), shown)
        self.words = tree.run_words
        self.model = model

    def texts(self) -> list[str]:
        """The text of each region, white space normalised."""
        starts, text = self.tree.run_start.tolist(), self.tree.text
        texts: list[list[str]] = [[] for _ in range(len(self.regions))]
        for run, region in enumerate(self.regions.of_run.tolist()):
            if region >= 0:
                texts[region].append(text[starts[run] : starts[run + 1]])
        return [" ".join("".join(parts).split()) for parts in texts]

    def kept(self, reading: DialReading, turn: int | None) -> int:
        """Number of words kept with the dial at `turn`."""
        return int(self.words_of(reading)[reading.keeps(turn)].sum())

    def words_of(self, reading: DialReading) -> NDArray[np.int64]:
        """Number of words of each run that a method outputs where it keeps the run."""
        return self.words if reading.reduced is None else reading.reduced.run_words

    def curve(self, reading: DialReading) -> NDArray[np.int64]:
        """Number of words kept at each step of the dial."""
        step = MILLION // CURVE_STEPS
        last = np.clip(np.floor_divide(reading.limit, step), -1, CURVE_STEPS)  # the last step at or below the limit
        words = np.bincount(last + 1, weights=self.words_of(reading), minlength=CURVE_STEPS + 2).astype(np.int64)
        below = np.cumsum(words)[: CURVE_STEPS + 1]  # words of runs whose last step is before each step
        return below if keeps_more(reading.verdict.method) else words.sum() - below

    def about(self) -> dict[str, Any]:
        """Its entry in the list of pages."""
        return {
            "url": self.tree.url,
            "title": " ".join(self.tree.head.title.split())[:LONGEST_TITLE],
            "words": self.tree.all_words,
            "kept": {name: self.kept(reading, reading.own) for name, reading in self.readings.items()},
        }

    def columns(self, shown_tree: ShownTree) -> dict[str, Any]:
        """The data of the page for the viewer."""
        most = slice(0, MOST_REGIONS)
        first = self.regions.first[most]
        hidden = ~self.tree.visible_runs[first]
        return {
            "language": self.tree.head.language,
            "tokens": tokens(self.tree, self.regions, MOST_REGIONS),
            "xpath": self.regions.xpaths(MOST_REGIONS),
            "words": self.regions.words[most].tolist(),
            "pages": self.regions.pages[most].tolist(),
            "element": shown_tree.number[self.regions.element[most]].tolist(),
            "structure": self.regions.structures(MOST_REGIONS),
            "hidden": np.flatnonzero(hidden).tolist(),
            "left_out": max(len(self.regions) - MOST_REGIONS, 0),
            "seen": self.regions.seen(MOST_REGIONS),
            "methods": {
                name: _decisions(self.tree, reading, first) | self._fewer_words(reading)
                for name, reading in self.readings.items()
            },
        }

    def _fewer_words(self, reading: DialReading) -> dict[str, list[int]]:
        """The words of each region that a method outputs, if it removes some from kept runs."""
        if reading.reduced is None:
            return {}
        filled = self.regions.of_run >= 0
        words = np.bincount(self.regions.of_run[filled], weights=self.words_of(reading)[filled])
        return {"words": words.astype(np.int64).tolist()[:MOST_REGIONS]}


def _decisions(tree: PageTree, reading: DialReading, first: NDArray[np.int64]) -> dict[str, Any]:
    """The decisions of a method on each region, taken from its first run."""
    score = reading.score[first]
    return {
        "limit": reading.limit[first].tolist(),
        "score": [None if np.isnan(value) else round(value, 4) for value in score.tolist()],
        "kept": reading.kept_reason[first].tolist(),
        "gone": reading.gone_reason[first].tolist(),
        "kind": reading.verdict.kind[tree.run_owner[first]].tolist(),
        "own": reading.own,
        "favored": reading.favored,
        "note": reading.verdict.note,
        "genre": reading.verdict.genre,
        "confidence": reading.verdict.confidence,
    }


# The site style tree


class Examples:
    """Texts of sample pages in the elements of a site's tree."""

    def __init__(self) -> None:
        self.seen: dict[int, int] = defaultdict(int)
        self.texts: dict[int, dict[str, None]] = defaultdict(dict)

    def add(self, element: NDArray[np.int32], texts: list[str]) -> None:
        """Add the regions of one page: their elements and their texts."""
        for at, text in zip(element.tolist(), texts, strict=True):
            if at != NOWHERE:
                self.seen[at] += 1
                known = self.texts[at]
                if len(known) < SHOWN_EXAMPLES:
                    known.setdefault(shortened(text, SHOWN_CHARACTERS))


class ShownTree:
    """The elements of a site's tree, `sst` or `aligned`, that a report shows, numbered."""

    def __init__(self, model: LearnedSite, name: str | None) -> None:
        self.labels = model.labels
        self.noise = None if name is None else model.noise_map(name)
        self.shown = np.zeros(0, np.int64)
        self.number = np.full(1, NOWHERE, np.int64)
        """For each element the number of the nearest shown one at or above it; the last entry is for `NOWHERE`."""
        if self.noise is None:
            return
        site, speaks = self.noise.site, self.noise.importance.speaks
        order = np.lexsort((np.arange(len(site)), -site.m))
        allowed = np.zeros(len(site), np.bool_)
        allowed[order[speaks[order]][:MOST_ELEMENTS]] = True
        allowed[0] = False  # the virtual root is not shown
        parent: list[int] = site.parent.tolist()
        number = [NOWHERE] * (len(site) + 1)
        shown: list[int] = []
        for i in range(1, len(site)):
            if allowed[i] and (parent[i] == 0 or number[parent[i]] != NOWHERE):
                number[i] = len(shown)
                shown.append(i)
            else:
                number[i] = number[parent[i]]
        self.shown, self.number = np.array(shown, np.int64), np.array(number, np.int64)

    def columns(self, examples: Examples) -> dict[str, Any]:
        """The elements as columns, importances in millionths. Below `spotless` no part of an element is noisy."""
        if self.noise is None:
            return {"parent": []}
        site, noise = self.noise.site, self.noise
        styles = np.bincount(site.style_element, minlength=len(site))
        shown = self.shown
        return {
            "parent": self.number[site.parent[shown]].tolist(),
            "label": [self.labels.get(int(style), "#text" if style == 0 else "?") for style in site.style[shown]],
            "pages": site.m[shown].tolist(),
            "styles": np.where(site.kind[shown] == LEAF, 0, styles[shown]).tolist(),
            "importance": np.rint(noise.importance.composite[shown] * MILLION).astype(np.int64).tolist(),
            "noisy": np.ceil(noise.noisy_from[shown] * MILLION).astype(np.int64).tolist(),
            "spotless": np.ceil(_spotless(noise)[shown] * MILLION).astype(np.int64).tolist(),
            "seen": [examples.seen.get(i, 0) for i in shown.tolist()],
            "says": [list(examples.texts.get(i, ())) for i in shown.tolist()],
            "left_out": int(noise.importance.speaks.sum()) - len(shown) - 1,
        }


def _spotless(noise: NoiseMap) -> NDArray[np.float64]:
    """For each element the lowest importance of a leaf at or below it: below that, no part of it is noisy."""
    site, importance = noise.site, noise.importance
    lowest: list[float] = np.where(
        importance.speaks & (site.kind == LEAF), importance.composite, np.float64(2.0)
    ).tolist()
    for i in range(len(site) - 1, 0, -1):
        up = int(site.parent[i])
        lowest[up] = min(lowest[up], lowest[i])
    return np.array(lowest)
