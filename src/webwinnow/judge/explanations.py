"""Why a block has its score: the causes on the page and on the site, in words with numbers, strongest first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.counted import counted
from webwinnow.judge.combined import LEAST_PAGES, joined, site_evidence
from webwinnow.judge.contributions import pushes
from webwinnow.judge.evidence import evidence_of, page_model, reading_of, scores_of
from webwinnow.judge.featureschema import CONTEXTS, FEATURES
from webwinnow.judge.models import log_odds, sigmoid
from webwinnow.judge.page import PageSettings
from webwinnow.judge.reading import GENRES
from webwinnow.judge.verdict import without_site
from webwinnow.judge.visualevidence import visual_pushes
from webwinnow.page.page import Page
from webwinnow.site.learned import LearnedSite

LEAST_PUSH = 0.1
"""Causes below this change in log odds are not reported."""
_ROW = {name: k for k, name in enumerate((*FEATURES, *GENRES, *CONTEXTS))}
_MARKS = [name for name in FEATURES if name.startswith("in_")]


class Cause(NamedTuple):
    """One cause of a block's score: the change in the log odds of main content, and its description."""

    push: float
    says: str


Causes = dict[int, tuple[Cause, ...]]
"""The causes of each block with text, by its number, strongest first."""


def of_page(page: Page, _model: LearnedSite | None, settings: PageSettings) -> Causes:
    """What in each block moved the page model's score, and what the layout adds if it was used."""
    return _ranked(reading_of(page).said, _page_pushes(page) + (_visual_pushes(page) if settings.layout else []))


def of_combined(page: Page, model: LearnedSite | None, settings: PageSettings) -> Causes:
    """What in each block moved the page model's score, what the site adds, and the layout if it was used."""
    if model is None or without_site(model, LEAST_PAGES) is not None:
        return of_page(page, model, settings)
    found = _page_pushes(page) + _site_pushes(page, model)
    return _ranked(reading_of(page).said, found + (_visual_pushes(page) if settings.layout else []))


_Pushes = list[tuple[NDArray[np.float64], Callable[[int], str]]]
"""The change in log odds of each block, and a function that describes it for one of them."""


def _ranked(said: NDArray[np.int32], found: _Pushes) -> Causes:
    causes: Causes = {}
    for k, block in enumerate(said.tolist()):
        felt = [(float(push[k]), say) for push, say in found if abs(push[k]) >= LEAST_PUSH]
        felt.sort(key=lambda cause: -abs(cause[0]))
        causes[block] = tuple(Cause(round(push, 2), say(k)) for push, say in felt)
    return causes


def _page_pushes(page: Page) -> _Pushes:
    scores = scores_of(page)
    features, counts = scores.features, scores.reading.words

    def value(name: str, k: int) -> float:
        return float(features[_ROW[name], k])

    def count(name: str, k: int) -> int:
        """A feature that is log(1 + a count), as the count."""
        return round(float(np.expm1(features[_ROW[name], k])))

    def text(k: int) -> str:
        ends = counted(round(value("ends_per_word", k) * counts[k]), "end of a sentence", "ends of sentences")
        return f"its text: {counted(int(counts[k]), 'word')}, {ends}"

    def place(k: int) -> str:
        inside = ", ".join(name.removeprefix("in_") for name in _MARKS if value(name, k) > 0)
        return f"its place: {value('place', k):.0%} down the page" + (f", in {inside}" if inside else "")

    def headings(k: int) -> str:
        if value("level", k):
            return f"it is a heading of level {value('level', k):.0f}"
        if value("since_heading", k) < 0:
            return "no heading stands before it"
        before = counted(count("since_heading", k), "block")
        return f"a heading of level {value('heading_level', k):.0f} stands {before} before it"

    def repetition(k: int) -> str:
        alike = count("item_same", k)
        items = f"it is in one of {alike} items alike" if alike else "it is in no list of items"
        copies = round(value("copies", k))
        return items + (f", and {copies} blocks say the same" if copies > 1 else "")

    say: dict[str, Callable[[int], str]] = {
        "names": lambda k: f"its words and the names of its elements score {value('linear_all', k):+.1f}",
        "links": lambda k: (
            f"links: {value('link_share', k):.0%} of its words, {value('above1_link_share', k):.0%} of "
            "those in the part around it"
        ),
        "text": text,
        "title": lambda k: (
            f"{counted(round(value('title_words', k)), 'of its words is', 'of its words are')} in the title, "
            f"{count('summary_words', k)} in the page's description"
        ),
        "page": lambda k: (
            f"the page as a whole: {counted(count('page_words', k), 'word')}, "
            f"{value('page_link_share', k):.0%} of them links"
        ),
        "repetition": repetition,
        "containers": lambda k: f"the part around it has {value('above1_page_share', k):.0%} of the page's words",
        "headings": headings,
        "neighbours": lambda k: f"the blocks around it are given {value('given_around5', k):.2f}",
        "place": place,
        "hidden": lambda k: "browsers do not show it" if value("hidden", k) else "browsers show it",
        "genre": lambda _: f"the page is given {scores.genre_probability.max():.2f} to be of genre {scores.genre}",
    }
    return [(push, say[name]) for name, push in pushes(page_model(page), scores).items()]


def _visual_pushes(page: Page) -> _Pushes:
    """The change in log odds by the layout of a rendered page."""
    cues, owner = page.visual, page.blocks.owner[reading_of(page).said]
    if cues is None:
        return []
    first = page.tree.run_owner[page.blocks.first_run[reading_of(page).said]]
    say: dict[str, Callable[[int], str]] = {
        "beside": lambda k: f"its place: {1 - cues.in_column[owner[k]]:.0%} of its width is beside the main column",
        "small": lambda k: f"its font: {cues.font[first[k]]:.0%} of the page's usual size",
        "faint": lambda k: f"its colour: a contrast of {cues.contrast[first[k]]:.1f} to the background",
    }
    return [(push, say[name]) for name, push in visual_pushes(page).items()]


def _site_pushes(page: Page, model: LearnedSite) -> _Pushes:
    """The change in log odds if one kind of evidence from the site were unknown."""
    evidence, asked = evidence_of(page), site_evidence(page, model)
    nothing = np.zeros(len(evidence))
    whole = log_odds(joined(evidence, asked))

    def without(**unknown: Any) -> NDArray[np.float64]:
        return whole - log_odds(joined(evidence, replace(asked, **unknown)))

    mean = sigmoid(asked.mean)
    return [
        (without(share=nothing), lambda k: f"the site says this on {asked.share[k]:.0%} of its other pages"),
        (without(fixed=nothing), lambda k: f"{asked.fixed[k]:.0%} of what the site has in this place is repeated"),
        (
            without(field=nothing),
            lambda k: f"each page of the site fills this place once, and otherwise ({asked.field[k]:.2f})",
        ),
        (
            without(labelled=nothing),
            lambda k: f"it follows a label that the site repeats, and differs between pages ({asked.labelled[k]:.2f})",
        ),
        (without(known=nothing), lambda k: f"the page model gives this place {mean[k]:.2f} over the site"),
        (
            without(records=0.0),
            lambda _: f"the site is given {asked.records:.2f} to be one of records, where what is not repeated stays",
        ),
    ]
