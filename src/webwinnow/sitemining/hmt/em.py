"""EM and incremental EM (Sites 3.1) for the parameters of a hidden Markov tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import SettingsError
from webwinnow.sitemining.hmt import _passes
from webwinnow.sitemining.hmt.inference import beliefs, check_fits, evidence_of, known_states
from webwinnow.sitemining.hmt.treemodel import HIDDEN, UNSEEN, Forest, Known, TreeParameters

TOLERANCE = 1e-6
"""Delta of Sites 4.2, the convergence parameter, which the paper leaves without a value: nats a node (ours)."""
MOST_PASSES = 200
"""Passes over the trees at most (ours)."""
ROUNDING = 1e-9
"""A fall by this share of the objective is rounding."""


@dataclass(slots=True)
class Convergence:
    """Watches what learning raises, pass by pass: `history` holds the objective before each M-step.

    Done when a pass moves it by less than `tolerance` for each of `nodes`, or after `most` passes.
    """

    tolerance: float = TOLERANCE
    most: int = MOST_PASSES
    nodes: int = 1
    history: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.tolerance >= 0 or self.most < 1:
            raise SettingsError(f"tolerance {self.tolerance}, {self.most} passes: expected 0 or more, 1 or more")

    def report(self, objective: float) -> None:
        """Take what one more pass found."""
        self.history.append(objective)

    @property
    def gain(self) -> float:
        """What the last pass gained; infinite before the second."""
        return self.history[-1] - self.history[-2] if len(self.history) > 1 else float("inf")

    @property
    def converged(self) -> bool:
        """Whether the last pass moved next to nothing; a fall, which incremental EM may have, is no end."""
        return abs(self.gain) < self.tolerance * max(self.nodes, 1)

    @property
    def fell(self) -> bool:
        """Whether a pass ever lost more than rounding does: EM cannot, incremental EM may."""
        return any(after < before - ROUNDING * max(abs(before), 1.0) for before, after in pairwise(self.history))

    @property
    def done(self) -> bool:
        """Whether to stop."""
        return self.converged or len(self.history) >= self.most


BELIEF_IN_ABOVE = 0.5
"""How far a hidden node is taken for its nearest known ancestor where learning starts, before EM decides (ours)."""

SMALLEST_COUNT = float(np.finfo(np.float64).tiny)

Floats = NDArray[np.float64]
Part = tuple[Forest, NDArray[np.int64]]
"""Trees and their known states."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Expected counts, all that the M-step needs: states of roots, pairs of parent and child, symbols by state."""

    root: Floats
    transition: Floats
    emission: Floats

    def __add__(self, other: Counts) -> Self:
        return type(self)(self.root + other.root, self.transition + other.transition, self.emission + other.emission)

    @classmethod
    def constant(cls, count: float, states: int, symbols: int) -> Self:
        """The same count everywhere, as smoothing adds it."""
        return cls(np.full(states, count), np.full((states, states), count), np.full((states, symbols), count))

    def log_probability(self, parameters: TreeParameters) -> float:
        """Log of the product of all parameters, each raised to its count; 0 log 0 is 0.

        Counts below `SMALLEST_COUNT` are taken as 0: their share may underflow to 0, whose logarithm is no number.
        """
        pairs = (
            (self.root, parameters.root),
            (self.transition, parameters.transition),
            (self.emission, parameters.emission),
        )
        with np.errstate(divide="ignore"):
            used = [(count[at], p[at]) for count, p in pairs for at in (count > SMALLEST_COUNT,)]
            return float(sum((count * np.log(p)).sum() for count, p in used))


def expectation(part: Part, parameters: TreeParameters) -> tuple[Counts, float]:
    """The E-step: expected counts given what is observed and known, and log P(W | lambda) of all trees."""
    forest, known = part
    found = beliefs(forest, evidence_of(forest, known, parameters), parameters)
    pairs = _passes.expected_counts(forest.parent, found.beta, found.posterior, parameters.transition)
    counts = Counts(
        found.posterior[forest.roots].sum(axis=0), pairs, _symbol_counts(forest, found.posterior, parameters)
    )
    return counts, float(found.likelihood.sum())


def estimate(counts: Counts, before: TreeParameters) -> TreeParameters:
    """The M-step: each row of probabilities in the proportion of its counts; a row never counted stays as it was."""
    return TreeParameters(
        root=_shares(counts.root[None], before.root[None])[0],
        transition=_shares(counts.transition, before.transition),
        emission=_shares(counts.emission, before.emission),
    )


def learn(
    parts: Sequence[Part], start: TreeParameters, held: Counts, convergence: Convergence
) -> tuple[TreeParameters, Counts]:
    """EM over one part, incremental EM over several; the parameters and the expected counts of all parts.

    Incremental EM (Gotoh, Hochberg and Silverman [11]; 3.1): after the E-step of each part, its new counts take the
    place of its old ones in the sum, and an M-step follows at once. Ours: the first pass counts every part under the
    start, so that nothing has probability 0 only because its part was not yet read. `held` is counted in every M-step
    and never changes: smoothing, and what was learned before. The objective is log P(W | lambda) and the log
    probability of `held`; with one part no pass lowers it.
    """
    parameters = start
    counted = [expectation(part, parameters) for part in parts]
    convergence.report(sum(found for _, found in counted) + held.log_probability(parameters))
    parameters = estimate(_sum(counted, held), parameters)
    while not convergence.done:
        likelihood = 0.0
        weight = held.log_probability(parameters)
        for number, part in enumerate(parts):
            counted[number] = expectation(part, parameters)
            likelihood += counted[number][1]
            parameters = estimate(_sum(counted, held), parameters)
        convergence.report(likelihood + weight)
    none = Counts.constant(0.0, parameters.states, parameters.symbols)
    return parameters, _sum(counted, none)


def split_trees(forest: Forest, known: NDArray[np.int64], parts: int) -> list[Part]:
    """The trees dealt out into so many parts, one after another; no more parts than trees."""
    if parts == 1 or len(forest.roots) <= 1:
        return [(forest, known)]
    turn = forest.tree % min(parts, len(forest.roots))
    chosen = [np.flatnonzero(turn == number) for number in range(int(turn.max()) + 1)]
    return [(forest.at(nodes), known[nodes]) for nodes in chosen]


def is_told(forest: Forest, labels: NDArray[np.int64], states: int) -> bool:
    """Whether labels or evidence say of every state which it is, so that no start is random."""
    return _evidence_speaks(forest) or bool(np.isin(np.arange(states), labels).all())


def _evidence_speaks(forest: Forest) -> bool:
    """Whether there is evidence that tells states apart."""
    return forest.evidence is not None and bool((forest.evidence != forest.evidence[:, :1]).any())


def starting_parameters(
    forest: Forest, known: Known, states: int, symbols: int, chance: np.random.Generator
) -> TreeParameters:
    """Where learning starts: at the known states and the evidence, so that EM does not swap states; else anywhere.

    A hidden node is first taken, in part, for its nearest known ancestor. States that no node is known to be in start
    at random where there is no evidence for them.
    """
    check_fits(forest, states, symbols)
    labels = known_states(forest, known, states)
    anywhere = TreeParameters.random(states, symbols, chance)
    told = np.isin(np.arange(states), labels)
    if not _evidence_speaks(forest) and not told.any():
        return anywhere
    guess = _first_guess(forest, labels, states)
    child = np.flatnonzero(forest.parent >= 0)
    uniform = TreeParameters.uniform(states, symbols)
    counts = Counts(
        uniform.root + guess[forest.roots].sum(axis=0),
        uniform.transition + guess[forest.parent[child]].T @ guess[child],
        uniform.emission + _symbol_counts(forest, guess, uniform),
    )
    found = estimate(counts, uniform)
    if _evidence_speaks(forest):
        return found
    return TreeParameters(
        root=found.root,
        transition=np.where(told[:, None], found.transition, anywhere.transition),
        emission=np.where(told[:, None], found.emission, anywhere.emission),
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
        total = weighed.sum(axis=1, keepdims=True)
        guess = np.where(total > 0, weighed / np.where(total > 0, total, 1.0), guess)
    return guess


def _symbol_counts(forest: Forest, weight: Floats, parameters: TreeParameters) -> Floats:
    """How much weight each state has at the nodes that show each symbol."""
    if forest.symbols is None:
        return np.zeros_like(parameters.emission)
    seen = np.flatnonzero(forest.symbols != UNSEEN)
    shown, symbols = forest.symbols[seen], parameters.symbols
    rows = [np.bincount(shown, weights=column, minlength=symbols) for column in weight[seen].T]
    return np.array(rows, np.float64).reshape(parameters.emission.shape)


def _sum(counted: Sequence[tuple[Counts, float]], held: Counts) -> Counts:
    total = held
    for counts, _ in counted:
        total = total + counts
    return total


def _shares(counts: Floats, before: Floats) -> Floats:
    total = counts.sum(axis=1, keepdims=True)
    return np.where(total > 0, counts / np.where(total > 0, total, 1.0), before)
