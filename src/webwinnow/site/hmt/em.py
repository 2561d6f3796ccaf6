"""EM and incremental EM (Sites 3.1) for the parameters of a hidden Markov tree: start, steps and convergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.site.hmt import _passes
from webwinnow.site.hmt.inference import beliefs, check_fits, evidence_of, known_states
from webwinnow.site.hmt.treemodel import HIDDEN, UNSEEN, Forest, Known, TreeParameters

TOLERANCE = 1e-6
"""Delta of Sites 4.2, the convergence parameter, for which the paper gives no value: nats per node (ours)."""
MOST_PASSES = 200
"""Maximum number of passes over the trees (ours)."""
BELIEF_IN_ABOVE = 0.5
"""Weight of the nearest known ancestor's state in the first guess for a hidden node, before EM (ours)."""
SMALLEST_COUNT = float(np.finfo(np.float64).tiny)

Floats = NDArray[np.float64]
Part = tuple[Forest, NDArray[np.int64]]
"""Trees and their known states."""


@dataclass(slots=True)
class Convergence:
    """Watches the objective of learning; `history` is the objective before each M-step.

    Done when a pass changes it by less than `tolerance` for each of `nodes`, or after `most` passes.
    """

    tolerance: float = TOLERANCE
    most: int = MOST_PASSES
    nodes: int = 1
    history: list[float] = field(default_factory=list)

    @property
    def gain(self) -> float:
        """The gain of the last pass; infinite before the second."""
        return self.history[-1] - self.history[-2] if len(self.history) > 1 else float("inf")

    @property
    def converged(self) -> bool:
        """Whether the last pass changed almost nothing; a larger decrease (incremental EM) does not count."""
        return abs(self.gain) < self.tolerance * max(self.nodes, 1)

    @property
    def done(self) -> bool:
        return self.converged or len(self.history) >= self.most


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedCounts:
    """Expected counts for the M-step: states of roots, pairs of parent and child states, symbols by state."""

    root: Floats
    transition: Floats
    emission: Floats

    def __add__(self, other: ExpectedCounts) -> Self:
        return type(self)(self.root + other.root, self.transition + other.transition, self.emission + other.emission)

    def times(self, weight: float) -> Self:
        """All counts multiplied by a weight."""
        return type(self)(self.root * weight, self.transition * weight, self.emission * weight)

    @classmethod
    def constant(cls, count: float, states: int, symbols: int) -> Self:
        """The same count everywhere, for smoothing."""
        return cls(np.full(states, count), np.full((states, states), count), np.full((states, symbols), count))

    def log_probability(self, parameters: TreeParameters) -> float:
        """Log of the product of all parameters, each raised to its count; 0 log 0 is 0.

        Counts below `SMALLEST_COUNT` are taken as 0: their share may underflow to 0, whose logarithm is not finite.
        """
        total = 0.0
        for name in ("root", "transition", "emission"):
            count, probability = getattr(self, name), getattr(parameters, name)
            used = count > SMALLEST_COUNT
            with np.errstate(divide="ignore"):
                total += float((count[used] * np.log(probability[used])).sum())
        return total


def expectation(part: Part, parameters: TreeParameters) -> tuple[ExpectedCounts, float]:
    """The E-step: expected counts given the observations and known states, and log P(W | lambda) of all trees."""
    forest, known = part
    found = beliefs(forest, evidence_of(forest, known, parameters), parameters)
    pairs = _passes.expected_counts(forest.parent, found.beta, found.posterior, parameters.transition)
    roots = found.posterior[forest.roots].sum(axis=0)
    counts = ExpectedCounts(roots, pairs, _symbol_counts(forest, found.posterior, parameters))
    return counts, float(found.likelihood.sum())


def estimate(counts: ExpectedCounts, before: TreeParameters) -> TreeParameters:
    """The M-step: each row of probabilities in proportion to its counts; a row without counts does not change."""
    return TreeParameters(
        root=_shares(counts.root[None], before.root[None])[0],
        transition=_shares(counts.transition, before.transition),
        emission=_shares(counts.emission, before.emission),
    )


def learn(
    parts: Sequence[Part],
    start: TreeParameters,
    held: ExpectedCounts,
    convergence: Convergence,
    weights: Sequence[float] | None = None,
) -> tuple[TreeParameters, ExpectedCounts]:
    """EM over one part, incremental EM over several; the parameters and the expected counts of all parts.

    Incremental EM (Gotoh, Hochberg and Silverman [11]; 3.1): after the E-step of each part, its new counts replace its
    old ones in the sum, and an M-step follows at once. Ours: the first pass counts every part under the start, so that
    nothing has probability 0 only because its part was not yet read. `held` is counted in every M-step and never
    changes: smoothing, and the counts of earlier learning. `weights` of the parts, 1 by default, multiply their counts
    and log-likelihoods. The objective is log P(W | lambda) plus the log probability of `held`; with one part no pass
    lowers it.
    """

    def counted_part(number: int) -> tuple[ExpectedCounts, float]:
        counts, likelihood = expectation(parts[number], parameters)
        weight = 1.0 if weights is None else weights[number]
        return counts.times(weight), likelihood * weight

    parameters = start
    counted = [counted_part(number) for number in range(len(parts))]
    convergence.history.append(sum(found for _, found in counted) + held.log_probability(parameters))
    parameters = estimate(_sum(counted, held), parameters)
    while not convergence.done:
        likelihood = 0.0
        weight = held.log_probability(parameters)
        for number in range(len(parts)):
            counted[number] = counted_part(number)
            likelihood += counted[number][1]
            parameters = estimate(_sum(counted, held), parameters)
        convergence.history.append(likelihood + weight)
    none = ExpectedCounts.constant(0.0, parameters.states, parameters.symbols)
    return parameters, _sum(counted, none)


def split_trees(forest: Forest, known: NDArray[np.int64], parts: int) -> list[Part]:
    """The trees split round-robin into this many parts, at most one per tree."""
    if parts == 1 or len(forest.roots) <= 1:
        return [(forest, known)]
    turn = forest.tree % min(parts, len(forest.roots))
    chosen = [np.flatnonzero(turn == number) for number in range(int(turn.max()) + 1)]
    return [(forest.at(nodes), known[nodes]) for nodes in chosen]


def evidence_distinguishes(forest: Forest) -> bool:
    """Whether there is evidence that differs between states."""
    return forest.evidence is not None and bool((forest.evidence != forest.evidence[:, :1]).any())


def starting_parameters(
    forest: Forest, known: Known, states: int, symbols: int, chance: np.random.Generator
) -> TreeParameters:
    """Where learning starts: at the known states and the evidence, so that EM does not swap states; else at random.

    The first guess for a hidden node is partly the state of its nearest known ancestor. Without evidence, states that
    no node is known to be in start at random.
    """
    check_fits(forest, states, symbols)
    labels = known_states(forest, known, states)
    anywhere = TreeParameters.random(states, symbols, chance)
    labelled = np.isin(np.arange(states), labels)
    distinguished = evidence_distinguishes(forest)
    if not distinguished and not labelled.any():
        return anywhere
    guess = _first_guess(forest, labels, states)
    child = np.flatnonzero(forest.parent >= 0)
    uniform = TreeParameters.uniform(states, symbols)
    counts = ExpectedCounts(
        uniform.root + guess[forest.roots].sum(axis=0),
        uniform.transition + guess[forest.parent[child]].T @ guess[child],
        uniform.emission + _symbol_counts(forest, guess, uniform),
    )
    found = estimate(counts, uniform)
    if distinguished:
        return found
    return TreeParameters(
        root=found.root,
        transition=np.where(labelled[:, None], found.transition, anywhere.transition),
        emission=np.where(labelled[:, None], found.emission, anywhere.emission),
    )


def _first_guess(forest: Forest, labels: NDArray[np.int64], states: int) -> Floats:
    """A distribution over the states of each node, from the known states at or above it and its own evidence."""
    nearest = labels.tolist()
    for u, above in enumerate(forest.parent.tolist()):
        if above >= 0 and nearest[u] == HIDDEN:
            nearest[u] = nearest[above]
    label = np.array(nearest, np.int64)
    belief = np.where(labels != HIDDEN, 1.0, np.where(label != HIDDEN, BELIEF_IN_ABOVE, 0.0))
    guess = np.repeat((1.0 - belief)[:, None] / states, states, axis=1)
    guess[np.arange(len(forest)), label] += belief  # HIDDEN adds 0 to the last state
    if forest.evidence is not None:
        largest = forest.evidence.max(axis=1, keepdims=True)
        weighed = guess * np.exp(forest.evidence - np.where(np.isneginf(largest), 0.0, largest))
        guess = _shares(weighed, guess)
    return guess


def _symbol_counts(forest: Forest, weight: Floats, parameters: TreeParameters) -> Floats:
    """The total weight of each state at the nodes that show each symbol."""
    if forest.symbols is None:
        return np.zeros_like(parameters.emission)
    seen = np.flatnonzero(forest.symbols != UNSEEN)
    shown, symbols = forest.symbols[seen], parameters.symbols
    rows = [np.bincount(shown, weights=column, minlength=symbols) for column in weight[seen].T]
    return np.array(rows, np.float64).reshape(parameters.emission.shape)


def _sum(counted: Sequence[tuple[ExpectedCounts, float]], held: ExpectedCounts) -> ExpectedCounts:
    return sum((counts for counts, _ in counted), held)


def _shares(counts: Floats, before: Floats) -> Floats:
    """Rows in proportion to the counts; `before` for rows without any."""
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), before)
