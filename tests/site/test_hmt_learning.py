"""EM, incremental EM, starts from labels, and convergence."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.errors import InputError, SettingsError
from webwinnow.site.hmt.em import Convergence, split_trees, starting_parameters
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.treemodel import HIDDEN, Forest, TreeParameters, soft_evidence

NEAR = 0.005
"""Incremental EM reaches the likelihood of batch EM within 0.5 %."""
RECOVERED = 0.05
"""Largest error of the recovered parameters of a known model."""

KNOWN = TreeParameters(
    root=[0.5, 0.3, 0.2],
    transition=[[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.15, 0.05, 0.8]],
    emission=[[0.7, 0.2, 0.05, 0.05], [0.1, 0.1, 0.7, 0.1], [0.05, 0.2, 0.05, 0.7]],
)


def shapes(trees: int, nodes: int, chance: np.random.Generator) -> np.ndarray:
    """Random trees of a size, one after another: the parent of each node is any earlier one."""
    one = (chance.random((trees, nodes)) * np.arange(nodes)).astype(np.int64) + np.arange(trees)[:, None] * nodes
    one[:, 0] = -1
    return one.ravel()


def sampled(trees: int, nodes: int, seed: int = 0) -> tuple[Forest, np.ndarray]:
    chance = np.random.default_rng(seed)
    return HiddenMarkovTree.of(KNOWN).sample(shapes(trees, nodes, chance), chance)


def never_falls(history: list[float]) -> bool:
    """Whether no pass of EM lost more than rounding."""
    return all(after >= before - 1e-9 * max(abs(before), 1.0) for before, after in pairwise(history))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_em_never_lowers_the_likelihood(data: st.DataObject):
    parent = [data.draw(st.integers(-1, u - 1)) for u in range(data.draw(st.integers(1, 30)))]
    states, symbols = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 4))
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    forest = Forest(
        parent,
        chance.integers(-1, symbols, len(parent)),
        np.log(chance.dirichlet(np.ones(states), len(parent))) if data.draw(st.booleans()) else None,
    )
    known = np.where(chance.random(len(parent)) < 0.2, chance.integers(0, states, len(parent)), HIDDEN)
    smoothing = data.draw(st.sampled_from([0.0, 0.5]))
    model = HiddenMarkovTree(states, symbols=symbols, smoothing=smoothing, tolerance=0.0, passes=25).fit(forest, known)
    assert never_falls(model.convergence_.history)
    if not smoothing:
        assert model.score(forest, known) >= model.convergence_.history[-1] - 1e-9
    more = model.partial_fit(forest, known)
    assert never_falls(more.convergence_.history)


@pytest.mark.parametrize("subsets", [3, 10])
def test_incremental_em_reaches_the_likelihood_of_batch_em(subsets: int):
    forest, _ = sampled(trees=300, nodes=15)
    start = TreeParameters.random(3, 4, np.random.default_rng(5))
    batch = HiddenMarkovTree(3, symbols=4, start=start).fit(forest).score(forest)
    incremental = HiddenMarkovTree(3, symbols=4, start=start, subsets=subsets).fit(forest).score(forest)
    assert incremental == pytest.approx(batch, rel=NEAR)


def test_partial_fit_on_parts_comes_near_to_fit_on_all():
    forest, _ = sampled(trees=600, nodes=10)
    start = TreeParameters.random(3, 4, np.random.default_rng(5))
    whole = HiddenMarkovTree(3, symbols=4, start=start).fit(forest)
    grown = HiddenMarkovTree(3, symbols=4, start=start)
    for part, _ in split_trees(forest, np.full(len(forest), HIDDEN), 3):
        grown.partial_fit(part)
    assert grown.score(forest) == pytest.approx(whole.score(forest), rel=NEAR)
    assert grown.counts_.root.sum() == pytest.approx(600)
    assert grown.counts_.transition.sum() == pytest.approx(600 * 9)


def test_a_known_model_comes_back_from_two_thousand_trees():
    forest, _ = sampled(trees=2_000, nodes=20)
    found = HiddenMarkovTree(3, symbols=4, starts=4).fit(forest).parameters_
    ways = [list(way) for way in permutations(range(3))]
    away = [
        max(
            np.abs(found.transition[np.ix_(way, way)] - KNOWN.transition).max(),
            np.abs(found.emission[way] - KNOWN.emission).max(),
            np.abs(found.root[way] - KNOWN.root).max(),
        )
        for way in ways
    ]
    assert min(away) < RECOVERED


def test_states_keep_the_numbers_of_the_labels():
    forest, states = sampled(trees=400, nodes=20)
    known = np.where(forest.parent < 0, states, HIDDEN)
    found = HiddenMarkovTree(3, symbols=4).fit(forest, known)
    np.testing.assert_allclose(found.parameters_.emission, KNOWN.emission, rtol=0, atol=0.1)
    np.testing.assert_array_equal(found.predict(forest, known)[forest.roots], states[forest.roots])
    assert (found.predict(forest) == states).mean() > 0.7


def test_known_states_alone_give_their_own_frequencies():
    forest, states = sampled(trees=200, nodes=10)
    found = HiddenMarkovTree(3, symbols=4, smoothing=0.0).fit(forest, states).parameters_
    child = np.flatnonzero(forest.parent >= 0)
    pairs = np.zeros((3, 3))
    np.add.at(pairs, (states[forest.parent[child]], states[child]), 1)
    np.testing.assert_allclose(found.transition, pairs / pairs.sum(axis=1, keepdims=True), rtol=1e-12)


def test_states_keep_the_numbers_of_the_classes_of_soft_evidence():
    forest, states = sampled(trees=300, nodes=20)
    prior = np.array([0.2, 0.3, 0.5])
    said = KNOWN.emission[:, forest.symbols].T * prior
    evidence = soft_evidence(said / said.sum(axis=1, keepdims=True), prior)
    found = HiddenMarkovTree(3).fit(Forest(forest.parent, evidence=evidence))
    np.testing.assert_allclose(found.parameters_.transition, KNOWN.transition, rtol=0, atol=0.1)
    assert (found.predict(Forest(forest.parent, evidence=evidence)) == states).mean() > 0.7


def test_unknown_states_do_not_start_equal():
    forest, states = sampled(trees=20, nodes=10)
    known = np.where((forest.parent < 0) & (states == 0), 0, HIDDEN)
    start = starting_parameters(forest, known, 3, 4, np.random.default_rng(0))
    assert not np.allclose(start.emission[1], start.emission[2])


def test_a_symbol_that_was_never_seen_stays_possible():
    found = HiddenMarkovTree(2, symbols=3).fit(Forest([-1, 0], [0, 1]))
    assert np.isfinite(found.score(Forest([-1], [2])))
    strict = HiddenMarkovTree(2, symbols=3, smoothing=0.0).fit(Forest([-1, 0], [0, 1]))
    assert strict.score(Forest([-1], [2])) == -np.inf
    with pytest.raises(InputError, match="root at node 0"):
        strict.predict(Forest([-1], [2]))


@pytest.mark.parametrize("known", [None, [0]])
@pytest.mark.parametrize("forest", [Forest([-1], [5]), Forest([-1], evidence=[[0.0, -1.0, 0.0]])])
def test_trees_that_do_not_fit_the_model_are_not_learned(forest: Forest, known: list[int] | None):
    with pytest.raises(InputError, match="for a model of 2"):
        HiddenMarkovTree(2, symbols=2).fit(forest, known)


def test_evidence_that_says_nothing_does_not_keep_states_alike():
    forest, _ = sampled(trees=50, nodes=10)
    silent = Forest(forest.parent, forest.symbols, np.zeros((len(forest), 3)))
    found = HiddenMarkovTree(3, symbols=4).fit(silent).parameters_
    assert not np.allclose(found.emission[0], found.emission[1])


def test_the_same_seed_gives_the_same_model():
    forest, _ = sampled(trees=30, nodes=10)
    one, other = (HiddenMarkovTree(3, symbols=4, starts=2, seed=7).fit(forest).to_bytes() for _ in range(2))
    assert one == other


def test_parts_hold_whole_trees_and_all_of_them():
    forest, states = sampled(trees=7, nodes=5)
    parts = split_trees(forest, states, 3)
    assert [len(part.roots) for part, _ in parts] == [3, 2, 2]
    assert sum(len(part) for part, _ in parts) == len(forest)
    assert len(split_trees(forest, states, 100)) == 7


def test_samples_follow_the_model():
    forest, states = sampled(trees=5_000, nodes=4)
    np.testing.assert_allclose(np.bincount(states[forest.roots]) / 5_000, KNOWN.root, rtol=0, atol=0.03)
    shown = np.bincount(forest.symbols[states == 1], minlength=4) / (states == 1).sum()
    np.testing.assert_allclose(shown, KNOWN.emission[1], rtol=0, atol=0.03)


@pytest.mark.parametrize(
    "wrong",
    [
        {"states": 0},
        {"states": 2, "symbols": -1},
        {"states": 2, "subsets": 0},
        {"states": 2, "starts": 0},
        {"states": 2, "smoothing": -1.0},
        {"states": 2, "smoothing": float("nan")},
        {"states": 2, "passes": 0},
        {"states": 2, "tolerance": -1.0},
        {"states": 2, "start": KNOWN},
    ],
)
def test_settings_without_meaning_are_refused(wrong: dict):
    with pytest.raises(SettingsError):
        HiddenMarkovTree(**wrong).fit(Forest([-1]))


@pytest.mark.parametrize(
    "wrong",
    [
        {"root": [], "transition": np.zeros((0, 0))},
        {"root": [0.5, 0.6], "transition": np.eye(2)},
        {"root": [1.0, 0.0], "transition": np.eye(3)},
        {"root": [1.5, -0.5], "transition": np.eye(2)},
        {"root": [1.0], "transition": [[1.0]], "emission": [[np.nan]]},
        {"root": [1.0], "transition": [[1.0]], "emission": [0.5, 0.5]},
    ],
)
def test_parameters_that_are_no_probabilities_are_refused(wrong: dict):
    with pytest.raises(SettingsError):
        TreeParameters(**wrong)


# Convergence


def test_learning_continues_until_a_pass_gains_too_little():
    watch = Convergence(tolerance=0.1, most=100)
    for objective in (-10.0, -5.0, -4.0):
        watch.history.append(objective)
        assert not watch.done
    watch.history.append(-3.95)
    assert watch.converged
    assert watch.done
    assert watch.gain == pytest.approx(0.05)


def test_the_tolerance_is_for_each_node():
    watch = Convergence(tolerance=0.1, nodes=100, history=[-50.0, -45.0])
    assert watch.converged
    assert not Convergence(tolerance=0.1, nodes=10, history=[-50.0, -45.0]).converged


def test_learning_ends_after_the_most_passes():
    watch = Convergence(tolerance=0.0, most=2)
    watch.history.append(-9.0)
    assert not watch.done
    watch.history.append(-1.0)
    assert watch.done
    assert not watch.converged


def test_a_fall_is_no_end():
    assert not Convergence(tolerance=0.1, history=[-5.0, -6.0]).converged


def test_nothing_reported_is_no_end():
    assert not Convergence().done
