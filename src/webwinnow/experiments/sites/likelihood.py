"""Figure 6 of Sites: the log-likelihood of batch and incremental EM, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from webwinnow.experiments.sites.labelledsites import LabelledSite
from webwinnow.sitemining.hmt import HIDDEN, Forest, HiddenMarkovTree, TreeParameters, soft_evidence
from webwinnow.sitemining.hmt.treemodel import Known
from webwinnow.sitemining.topics import Training
from webwinnow.sitemining.topics.treescale import page_observations

SUBSETS = (1, 3, 10)
"""The paper's: batch, 3 and 10 subsets."""
STATES, SYMBOLS, TREES, NODES = 3, 8, 200, 30
"""Size of the random trees; the paper says only that parameters and samples are random."""


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


def random_curves(seed: int) -> list[Curve]:
    """The paper's own check: trees sampled from a random model, learned from another random start."""
    rng = np.random.default_rng(seed)
    truth = HiddenMarkovTree.of(TreeParameters.random(STATES, SYMBOLS, rng))
    parent = np.concatenate(
        [np.concatenate(([-1], rng.integers(0, np.arange(1, NODES)) + NODES * tree)) for tree in range(TREES)]
    )
    forest, _ = truth.sample(parent, rng)
    start = TreeParameters.random(STATES, SYMBOLS, rng)
    return _curves(forest, None, STATES, SYMBOLS, start)


def site_curves(sites: Sequence[LabelledSite]) -> list[Curve]:
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
    return _curves(Forest.join(forests), np.concatenate(known), training.topics, 0, None)


def _curves(forest: Forest, known: Known, states: int, symbols: int, start: TreeParameters | None) -> list[Curve]:
    found = []
    for subsets in SUBSETS:
        model = HiddenMarkovTree(states, symbols=symbols, subsets=subsets, start=start).fit(forest, known)
        found.append(Curve(subsets, tuple(value / len(forest) for value in model.convergence_.history)))
    return found
