"""Figure 6 of Sites: the log-likelihood of batch and incremental EM, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from webwinnow.errors import SettingsError
from webwinnow.papers.sites.labelledsites import LabelledSite
from webwinnow.settings import Settings, setting
from webwinnow.site.hmt.em import MOST_PASSES, TOLERANCE
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.treemodel import HIDDEN, Forest, Known, TreeParameters, soft_evidence
from webwinnow.topics.training import Training
from webwinnow.topics.treescale import page_observations

STATES, SYMBOLS, TREES, NODES = 3, 8, 200, 30
"""Size of the random trees; the paper says only that parameters and samples are random."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmSettings(Settings):
    """Settings of Figure 6."""

    subsets: Annotated[tuple[int, ...], setting("numbers of subsets, 1 for batch EM", least=1)] = (1, 3, 10)
    tolerance: Annotated[float, setting("gain per node at which EM ends", least=0)] = TOLERANCE
    passes: Annotated[int, setting("passes at most", least=1)] = MOST_PASSES

    def validate(self) -> None:
        """Raise `SettingsError` if there is no batch EM to compare with."""
        if 1 not in self.subsets:
            raise SettingsError(f"subsets is {self.subsets}: expected 1 (batch EM, to compare with) among them")


@dataclass(frozen=True, slots=True)
class Curve:
    """The objective before each pass, in nats per node, for a number of subsets; 1 is batch EM."""

    subsets: int
    history: tuple[float, ...]

    @property
    def name(self) -> str:
        """The name in reports."""
        return "batch" if self.subsets == 1 else f"{self.subsets} subsets"

    def passes_to(self, objective: float) -> int | None:
        """Passes until an objective is reached; None if it never is."""
        return next((k for k, found in enumerate(self.history, start=1) if found >= objective), None)


def random_curves(seed: int, settings: EmSettings) -> list[Curve]:
    """The paper's own check: trees sampled from a random model, learned from another random start."""
    rng = np.random.default_rng(seed)
    truth = HiddenMarkovTree.of(TreeParameters.random(STATES, SYMBOLS, rng))
    parent = np.concatenate(
        [np.concatenate(([-1], rng.integers(0, np.arange(1, NODES)) + NODES * tree)) for tree in range(TREES)]
    )
    forest, _ = truth.sample(parent, rng)
    start = TreeParameters.random(STATES, SYMBOLS, rng)
    return _curves(forest, None, (STATES, SYMBOLS), start, settings)


def site_curves(sites: Sequence[LabelledSite], settings: EmSettings) -> list[Curve]:
    """Learn the page trees of all sites: pages have evidence from the words of other sites, roots are known."""
    training = Training([one.site for one in sites], [one.label for one in sites])
    forests, known = [], []
    for one, held, number in zip(sites, training.held_out, training.topic.tolist(), strict=True):
        if held is not None:
            tree = one.site.page_tree
            parent, shown = page_observations(tree, held.pages)
            forests.append(Forest(parent, evidence=soft_evidence(shown)))
            known.append(np.where(tree.parent < 0, number, HIDDEN))
    if not forests:
        return []
    return _curves(Forest.join(forests), np.concatenate(known), (training.topics, 0), None, settings)


def _curves(
    forest: Forest, known: Known, size: tuple[int, int], start: TreeParameters | None, settings: EmSettings
) -> list[Curve]:
    """Learn by each number of subsets; `size` are the numbers of states and symbols."""
    found, (states, symbols) = [], size
    for subsets in settings.subsets:
        model = HiddenMarkovTree(
            states,
            symbols=symbols,
            subsets=subsets,
            start=start,
            tolerance=settings.tolerance,
            passes=settings.passes,
        ).fit(forest, known)
        found.append(Curve(subsets, tuple(value / len(forest) for value in model.convergence_.history)))
    return found
