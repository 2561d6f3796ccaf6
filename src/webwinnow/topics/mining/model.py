"""`MineModel`: the model of a run of `sites mine`: learned from seeds, grown by the certain sites of each round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from webwinnow.errors import InputError
from webwinnow.topics.methods import TwoPhase
from webwinnow.topics.pages import SitePages
from webwinnow.topics.reading import ReadingModel
from webwinnow.topics.settings import MineSettings
from webwinnow.topics.sitetopics import SiteTopics
from webwinnow.topics.training import Training
from webwinnow.topics.treescale import TreeScale

Models = tuple[SiteTopics, ReadingModel]


class MineModel:
    """Step 1 of Algorithm 1 in every round.

    `changes` says how the model moved, one entry per round that added sites; `spelled` has the words of the sites.
    """

    def __init__(self, settings: MineSettings) -> None:
        self.settings = settings
        self.changes: list[dict[str, Any]] = []
        self.spelled: dict[int, str] = {}
        self._waiting: dict[int, list[tuple[SitePages, str]]] = defaultdict(list)
        self._training: Training | None = None
        self._models: Models | None = None

    def add(self, number: int, pages: SitePages, topic: str) -> None:
        """Add a site that was judged in a round: models of later rounds have learned from it."""
        self._waiting[number].append((pages, topic))

    def before(self, number: int) -> Models:
        """The model for the sites of a round, learned from those of the rounds before (step 5)."""
        for earlier in sorted(one for one in self._waiting if one < number):
            self._learn(earlier, self._waiting.pop(earlier))
        if self._models is None:
            raise InputError("fewer than two topics have a seed that could be read; see the messages about them")
        return self._models

    def _learn(self, number: int, sites: list[tuple[SitePages, str]]) -> None:
        """Learn from the seeds, or add the sites of a round by incremental EM (steps 1.1 to 1.3)."""
        pages, labels = [one for one, _ in sites], [topic for _, topic in sites]
        before = self._models
        if self._training is not None:
            self._training = self._training.grown(pages, labels)
        elif len(set(labels)) < 2:
            return
        else:
            self._training = Training(pages, labels, self.settings.learning)
        model = SiteTopics(
            self.settings.method,
            site_by=self.settings.site_by,
            stop_list=self.settings.stop_list,
            denoiser=self.settings.denoiser,
        ).learn(self._training)
        self._models = model, ReadingModel.learn(self._training)
        if before is not None:
            moved = model_change(before[1].tree, self._models[1].tree, model.names_, self.spelled)
            added = {"round": number, "sites": {one.site: topic for one, topic in sites}}
            self.changes.append(added | moved)


TOP_WORDS = 15
"""Words of a topic that are its own most clearly; a change lists those that are new among them, and those that left."""
UNKNOWN = "?"
"""A word without a known spelling."""


def model_change(
    before: TwoPhase, after: TwoPhase, names: Sequence[str], spelled: Mapping[int, str]
) -> dict[str, dict[str, Any]]:
    """The change from one model to the next, as plain values.

    `largest` is the largest change of any element of pi, A and B, of page trees and of DOM trees. `topics` has P(C) of
    sites, pages and blocks, before and after, and the words that entered and left the most distinctive ones.
    """
    largest = {
        scale: {
            symbol: _rounded(np.abs(getattr(new, row) - getattr(old, row)).max())
            for symbol, row in (("pi", "root"), ("A", "transition"), ("B", "emission"))
        }
        for scale, old, new in (
            ("pages", before.pages.parameters, after.pages.parameters),
            ("blocks", before.blocks.parameters, after.blocks.parameters),
        )
    }
    priors = [_priors(model.pages, model.blocks) for model in (before, after)]
    words = [model.words.distinctive(TOP_WORDS) for model in (before, after)]
    topics = {
        name: {
            "prior_before": priors[0][number],
            "prior": priors[1][number],
            "words_in": [spelled.get(key, UNKNOWN) for key in words[1][number] if key not in words[0][number]],
            "words_out": [spelled.get(key, UNKNOWN) for key in words[0][number] if key not in words[1][number]],
        }
        for number, name in enumerate(names)
    }
    return {"largest": largest, "topics": topics}


def _priors(pages: TreeScale, blocks: TreeScale) -> list[dict[str, float]]:
    """P(C) of each topic at the three scales of fusion."""
    rows = zip(pages.parameters.root, pages.prior, blocks.prior, strict=True)
    return [dict(zip(("sites", "pages", "blocks"), map(_rounded, row), strict=True)) for row in rows]


def _rounded(number: float) -> float:
    return round(float(number), 6)
