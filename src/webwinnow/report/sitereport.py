"""`SiteReport`: all that the viewer shows of one site, packed: its tree, its sample pages, what methods say of them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import count_words
from webwinnow.methods import method_named
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.report.dials import DIALS, MILLION, Reading, read
from webwinnow.report.elements import Examples, ShownTree
from webwinnow.report.pageregions import Regions, words_of_runs
from webwinnow.report.pagetokens import tokens
from webwinnow.site.learned import LearnedSite

__all__ = ["CURVE_STEPS", "DEFAULT_METHODS", "SiteReport", "packed"]

DEFAULT_METHODS = ("combined", "sst")
CURVE_STEPS = 1000
"""Steps of a dial in the viewer; what the whole sample keeps is told at each of them."""
MOST_REGIONS = 8_000
"""Regions of one page that are shown."""
LONGEST_TITLE = 200


def packed(thing: Any) -> str:
    """A thing as JSON, deflated, in base64: it may stand in any HTML."""
    plain = json.dumps(thing, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    deflater = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(deflater.compress(plain) + deflater.flush()).decode("ascii")


@dataclass(frozen=True, slots=True, eq=False)
class SiteReport:
    """One site: `about` it for the index, its tree and its pages, each packed by itself so that it opens when asked."""

    about: dict[str, Any]
    tree: str
    pages: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many characters it takes."""
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
        """Ask the methods about some pages of a site; pages for which there is no `room` (characters) are left out."""
        for name in methods:
            method_named(name)
        shown_tree, examples = ShownTree(model), Examples()
        curves = {name: np.zeros(CURVE_STEPS + 1, np.int64) for name in methods}
        totals = {name: dict.fromkeys(("own", *_favors(name)), 0) for name in methods}
        pages: list[str] = []
        listed: list[dict[str, Any]] = []
        taken, left_out = 0, 0
        for tree in trees:
            page = _Page(tree, model, methods)
            said = packed(page.columns(shown_tree))
            if room is not None and taken + len(said) > room:
                left_out += 1
                continue
            taken += len(said)
            pages.append(said)
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
            "threshold": round(model.threshold * MILLION),
            "pages": listed,
            "curves": {name: curve.tolist() for name, curve in curves.items()},
            "totals": totals,
            "words": sum(page["words"] for page in listed),
            "elements": len(shown_tree.shown),
            "left_out": left_out,
        }
        return cls(about, packed(shown_tree.columns(examples)), tuple(pages))


def _favors(name: str) -> tuple[str, ...]:
    return DIALS[name].favors if name in DIALS else ()


class _Page:
    """A sample page: its regions, and what each method says of them."""

    def __init__(self, tree: PageTree, model: LearnedSite, methods: Sequence[str]) -> None:
        self.tree = tree
        evidence = PageEvidence.of(tree)
        self.readings = {name: read(name, tree, model, evidence) for name in methods}
        self.regions = Regions.of(tree, model, list(self.readings.values()))
        self.words = words_of_runs(tree)
        self.model = model

    def texts(self) -> list[str]:
        """What each region says, white space folded."""
        starts, text = self.tree.run_start.tolist(), self.tree.text
        said: list[list[str]] = [[] for _ in range(len(self.regions))]
        for run, region in enumerate(self.regions.of_run.tolist()):
            if region >= 0:
                said[region].append(text[starts[run] : starts[run + 1]])
        return [" ".join("".join(parts).split()) for parts in said]

    def kept(self, reading: Reading, turn: int | None) -> int:
        """How many words stay with the dial at `turn`."""
        return int(self.words[reading.keeps(turn)].sum())

    def curve(self, reading: Reading) -> NDArray[np.int64]:
        """How many words stay at each step of the dial."""
        keeps_more = reading.verdict.method in DIALS and DIALS[reading.verdict.method].keeps_more
        step = MILLION // CURVE_STEPS
        last = np.clip(np.floor_divide(reading.limit, step), -1, CURVE_STEPS)  # the last step at or below the limit
        words = np.bincount(last + 1, weights=self.words, minlength=CURVE_STEPS + 2).astype(np.int64)
        below = np.cumsum(words)[: CURVE_STEPS + 1]  # words of runs whose last step lies before each step
        return below if keeps_more else words.sum() - below

    def about(self) -> dict[str, Any]:
        """What the list of pages says of it."""
        visible = self.tree.visible[self.tree.run_owner]
        return {
            "url": self.tree.url,
            "title": " ".join(self.tree.head.title.split())[:LONGEST_TITLE],
            "words": count_words(self.tree.text, self.tree.run_start, visible),
            "kept": {name: self.kept(reading, reading.own) for name, reading in self.readings.items()},
        }

    def columns(self, shown_tree: ShownTree) -> dict[str, Any]:
        """The page for the viewer."""
        most = slice(0, MOST_REGIONS)
        first = self.regions.first[most]
        hidden = ~self.tree.visible[self.tree.run_owner[first]]
        return {
            "language": self.tree.head.language,
            "tokens": tokens(self.tree, self.regions, MOST_REGIONS),
            "xpath": self.regions.xpaths(MOST_REGIONS),
            "words": self.regions.words[most].tolist(),
            "pages": self.regions.pages[most].tolist(),
            "element": shown_tree.number[self.regions.element[most]].tolist(),
            "hidden": np.flatnonzero(hidden).tolist(),
            "left_out": max(len(self.regions) - MOST_REGIONS, 0),
            "methods": {name: _said(self.tree, reading, first) for name, reading in self.readings.items()},
        }


def _said(tree: PageTree, reading: Reading, first: NDArray[np.int64]) -> dict[str, Any]:
    """What a method says of each region, by its first run."""
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
