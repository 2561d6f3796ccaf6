"""Hidden Markov trees: time of a pass, memory by number of nodes, batch against incremental EM (Sites, Figure 6)."""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.hmt._passes import viterbi as compiled_viterbi
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.inference import beliefs
from webwinnow.site.hmt.treemodel import Forest, TreeParameters

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "oracles"))

import plain_passes

NODES, STATES = 100_000, 10
ROUNDS = 5
TREES, TREE_NODES = 2_000, 20
RECOVERED_STATES, SYMBOLS = 3, 4
STAY, SHOW = 0.8, 0.7
"""Of the model to recover: probability that a child has its parent's state, and that a state emits its own symbol."""
STARTS = 6


def trees(_: Path) -> list[tuple[str, str]]:
    """Run all measurements; reads no data."""
    return [*passes(), *memory(), *learning()]


def passes() -> list[tuple[str, str]]:
    """CPU seconds of one upward-downward pass, best of several rounds; the slow versions once."""
    rows = []
    chance = np.random.default_rng(0)
    parameters = TreeParameters.random(STATES, 0, chance)
    for name, parent in _shapes(NODES, chance).items():
        evidence = np.log(chance.dirichlet(np.ones(STATES), NODES))
        forest = Forest(parent, evidence=evidence)
        both = _seconds(lambda forest=forest, evidence=evidence: beliefs(forest, evidence, parameters))
        path = _seconds(
            lambda forest=forest, evidence=evidence: compiled_viterbi(
                forest.parent, evidence, parameters.root, parameters.transition
            )
        )
        plain = _seconds(lambda forest=forest, evidence=evidence: _plain(forest, evidence, parameters), rounds=1)
        times = f"**{both:.3f} s** upward-downward, {path:.3f} s Viterbi; plain numpy {plain:.1f} s"
        rows.append((f"{name} of {NODES:,} nodes, {STATES} states", times))
    return rows


def memory() -> list[tuple[str, str]]:
    """Bytes per node at the peak of a pass, at two sizes: equal if memory is linear."""
    chance = np.random.default_rng(0)
    parameters = TreeParameters.random(STATES, 0, chance)
    shown = []
    for nodes in (NODES, 4 * NODES):
        evidence = np.log(chance.dirichlet(np.ones(STATES), nodes))
        forest = Forest(_shapes(nodes, chance)["random tree"], evidence=evidence)
        tracemalloc.start()
        beliefs(forest, evidence, parameters)
        shown.append(f"{tracemalloc.get_traced_memory()[1] / nodes:.0f} at {nodes:,}")
        tracemalloc.stop()
    return [(f"bytes per node at the peak of a pass, {STATES} states, without the evidence", ", ".join(shown))]


def learning() -> list[tuple[str, str]]:
    """Recover a known model from sampled trees; compare incremental with batch EM from the same starts."""
    chance = np.random.default_rng(0)
    truth = _known_model()
    one = (chance.random((TREES, TREE_NODES)) * np.arange(TREE_NODES)).astype(np.int64)
    one += np.arange(TREES)[:, None] * TREE_NODES
    one[:, 0] = -1
    forest, _ = HiddenMarkovTree.of(truth).sample(one.ravel(), chance)
    found = HiddenMarkovTree(RECOVERED_STATES, symbols=SYMBOLS, starts=STARTS).fit(forest).parameters_
    away = min(
        max(
            np.abs(found.transition[np.ix_(order, order)] - truth.transition).max(),
            np.abs(found.emission[list(order)] - truth.emission).max(),
        )
        for order in permutations(range(RECOVERED_STATES))
    )
    rows = [
        (
            f"largest error of a transition or emission, {TREES:,} trees of {TREE_NODES} nodes, {STARTS} starts",
            f"**{away:.3f}**",
        )
    ]
    starts = [TreeParameters.random(RECOVERED_STATES, SYMBOLS, np.random.default_rng(k)) for k in range(STARTS)]
    batch = [_fitted(forest, start, 1) for start in starts]
    passes = ", ".join(str(len(model.convergence_.history)) for model in batch)
    rows.append((f"batch EM, {STARTS} random starts: passes", passes))
    for subsets in (3, 10):
        models = [_fitted(forest, start, subsets) for start in starts]
        below = [1 - one.score(forest) / other.score(forest) for one, other in zip(batch, models, strict=True)]
        passes = ", ".join(str(len(model.convergence_.history)) for model in models)
        under, over = max(0.0, *below), max(0.0, *(-share for share in below))
        worst = f"; log-likelihood at worst {under:.3%} below batch, at best {over:.3%} above"
        rows.append((f"incremental EM, {subsets} subsets: passes", passes + worst))
    return rows


def _fitted(forest: Forest, start: TreeParameters, subsets: int) -> HiddenMarkovTree:
    return HiddenMarkovTree(RECOVERED_STATES, symbols=SYMBOLS, subsets=subsets, start=start).fit(forest)


def _known_model() -> TreeParameters:
    stay = np.full((RECOVERED_STATES, RECOVERED_STATES), (1 - STAY) / (RECOVERED_STATES - 1))
    np.fill_diagonal(stay, STAY)
    show = np.full((RECOVERED_STATES, SYMBOLS), (1 - SHOW) / (SYMBOLS - 1))
    np.fill_diagonal(show, SHOW)
    return TreeParameters(root=[0.5, 0.3, 0.2], transition=stay, emission=show)


def _shapes(nodes: int, chance: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    anywhere = (chance.random(nodes) * np.arange(nodes)).astype(np.int64)
    anywhere[0] = -1
    star = np.zeros(nodes, np.int64)
    star[0] = -1
    return {"random tree": anywhere, "chain": np.arange(-1, nodes - 1), "star": star}


def _plain(forest: Forest, evidence: NDArray[np.float64], parameters: TreeParameters) -> None:
    beta, _ = plain_passes.upward(forest.parent, evidence, parameters.transition)
    plain_passes.downward(forest.parent, beta, parameters.root, parameters.transition)


def _seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    found = []
    for _ in range(rounds):
        started = time.process_time()
        work()
        found.append(time.process_time() - started)
    return min(found)
