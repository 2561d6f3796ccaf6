"""Likelihood, posteriors and states of hidden Markov trees against enumeration, and trees of extreme shape."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from enumerated_trees import Enumerated, enumerate_states
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.errors import InputError
from webwinnow.site.hmt._passes import expected_counts
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.inference import beliefs, evidence_of, viterbi_states
from webwinnow.site.hmt.treemodel import HIDDEN, UNSEEN, Forest, TreeParameters, soft_evidence

EXACT = 1e-9
"""The required tolerance."""
LARGE = 100_000


class Case(NamedTuple):
    forest: Forest
    known: np.ndarray
    parameters: TreeParameters

    @property
    def evidence(self) -> np.ndarray:
        return evidence_of(self.forest, self.known, self.parameters)

    def enumerated(self) -> Enumerated:
        """Evidence in the oracle's form, computed from the parameters."""
        likelihood = []
        for u in range(len(self.forest)):
            row = [1.0] * self.parameters.states
            for k in range(self.parameters.states):
                if self.forest.symbols is not None and self.forest.symbols[u] != UNSEEN:
                    row[k] *= float(self.parameters.emission[k, self.forest.symbols[u]])
                if self.forest.evidence is not None:
                    row[k] *= float(np.exp(self.forest.evidence[u, k]))
                if self.known[u] not in (HIDDEN, k):
                    row[k] = 0.0
            likelihood.append(row)
        root, transition = self.parameters.root.tolist(), self.parameters.transition.tolist()
        return enumerate_states(self.forest.parent.tolist(), likelihood, root, transition)


def probabilities(chance: np.random.Generator, rows: int, columns: int, zeros: bool) -> np.ndarray:
    """Rows that sum to 1, some entries of them 0."""
    found = chance.dirichlet(np.ones(columns), rows)
    if zeros:
        found[(chance.random(found.shape) < 0.3) & (found < found.max(axis=1, keepdims=True))] = 0.0
    return found / found.sum(axis=1, keepdims=True)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Forests of up to 8 nodes and 3 states, with symbols, evidence, both or neither, and some states known."""
    parent = [draw(st.integers(-1, u - 1)) for u in range(draw(st.integers(1, 8)))]
    states, symbols = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    chance = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    zeros = draw(st.booleans())
    parameters = TreeParameters(
        root=probabilities(chance, 1, states, zeros)[0],
        transition=probabilities(chance, states, states, zeros),
        emission=probabilities(chance, states, symbols, zeros),
    )
    seen = chance.integers(UNSEEN, symbols, len(parent)) if draw(st.booleans()) else None
    posteriors = probabilities(chance, len(parent), states, zeros)
    evidence = soft_evidence(posteriors, np.linspace(1, 2, states)) if draw(st.booleans()) else None
    known = np.where(chance.random(len(parent)) < 0.3, chance.integers(0, states, len(parent)), HIDDEN)
    return Case(
        Forest(parent, seen, evidence), known if draw(st.booleans()) else np.full(len(parent), HIDDEN), parameters
    )


@settings(max_examples=150, deadline=None)
@given(cases())
def test_likelihood_posteriors_and_counts_are_those_of_enumeration(case: Case):
    truth = case.enumerated()
    model = HiddenMarkovTree.of(case.parameters)
    np.testing.assert_allclose(model.score_trees(case.forest, case.known), truth.likelihood, rtol=0, atol=EXACT)
    if -np.inf in truth.likelihood:
        with pytest.raises(InputError, match="cannot occur"):
            model.predict_proba(case.forest, case.known)
        return
    found = beliefs(case.forest, case.evidence, case.parameters)
    np.testing.assert_allclose(found.posterior, truth.posterior, rtol=0, atol=EXACT)
    pairs = expected_counts(case.forest.parent, found.beta, found.posterior, case.parameters.transition)
    np.testing.assert_allclose(pairs, truth.pairs, rtol=0, atol=EXACT)


@settings(max_examples=150, deadline=None)
@given(cases())
def test_the_viterbi_path_is_that_of_enumeration(case: Case):
    truth = case.enumerated()
    if -np.inf in truth.best:
        with pytest.raises(InputError, match="cannot occur"):
            viterbi_states(case.forest, case.evidence, case.parameters)
        return
    states, reached = viterbi_states(case.forest, case.evidence, case.parameters)
    np.testing.assert_allclose(reached, truth.best, rtol=0, atol=EXACT)
    for nodes, paths in zip(truth.nodes, truth.paths, strict=True):
        assert tuple(states[nodes].tolist()) in paths


@settings(deadline=None)
@given(cases())
def test_map_states_are_the_likeliest_at_each_node(case: Case):
    truth = case.enumerated()
    if -np.inf in truth.likelihood:
        return
    states = HiddenMarkovTree.of(case.parameters).predict(case.forest, case.known)
    chosen = np.take_along_axis(np.array(truth.posterior), states[:, None].astype(np.int64), axis=1)[:, 0]
    np.testing.assert_allclose(chosen, np.max(truth.posterior, axis=1), rtol=0, atol=EXACT)
    clamped = case.known != HIDDEN
    np.testing.assert_array_equal(states[clamped], case.known[clamped])


# Shapes


def sticky(states: int) -> TreeParameters:
    stay = np.full((states, states), 0.1 / (states - 1))
    np.fill_diagonal(stay, 0.9)
    return TreeParameters(root=np.full(states, 1 / states), transition=stay, emission=stay)


SHAPES = {
    "chain": np.arange(-1, LARGE - 1),
    "star": np.r_[-1, np.zeros(LARGE - 1, np.int64)],
    "trees of one node": np.full(LARGE, -1),
}


@pytest.mark.parametrize("parent", SHAPES.values(), ids=SHAPES.keys())
def test_a_hundred_thousand_nodes_of_any_shape_work(parent: np.ndarray):
    model = HiddenMarkovTree.of(sticky(3))
    forest, states = model.sample(parent, np.random.default_rng(0))
    posterior = model.predict_proba(forest)
    np.testing.assert_allclose(posterior.sum(axis=1), 1.0, rtol=0, atol=EXACT)
    assert np.isfinite(model.score(forest))
    assert (model.predict(forest) == states).mean() > 0.85
    assert (model.predict(forest, rule="viterbi") == states).mean() > 0.85
    assert model.partial_fit(forest).score(forest) < 0


def test_a_chain_has_the_likelihood_of_its_hidden_markov_chain():
    parameters = sticky(2)
    symbols = [0, 0, 1, 1, 0]
    forward = parameters.root * parameters.emission[:, symbols[0]]
    for symbol in symbols[1:]:
        forward = forward @ parameters.transition * parameters.emission[:, symbol]
    forest = Forest([-1, 0, 1, 2, 3], symbols)
    assert HiddenMarkovTree.of(parameters).score(forest) == pytest.approx(np.log(forward.sum()), abs=EXACT)


def test_a_forest_without_nodes_has_nothing_to_say():
    model = HiddenMarkovTree.of(sticky(2))
    assert model.score(Forest([])) == 0.0
    assert model.predict_proba(Forest([])).shape == (0, 2)
    assert len(model.predict(Forest([]), rule="viterbi")) == 0


def test_evidence_far_beyond_the_range_of_floats_is_weighed_exactly():
    stay = TreeParameters(root=[0.5, 0.5], transition=np.eye(2))
    forest = Forest([-1, 0], evidence=[[0, 0], [0, -2000]])
    model = HiddenMarkovTree.of(stay)
    assert model.score(forest, [1, HIDDEN]) == pytest.approx(np.log(0.5) - 2000, abs=EXACT)
    np.testing.assert_array_equal(model.predict_proba(forest, [1, HIDDEN]), [[0, 1], [0, 1]])
    assert model.predict(forest, [1, HIDDEN], rule="viterbi").tolist() == [1, 1]


def test_nodes_in_breadth_first_order_say_the_same_as_in_preorder():
    model = HiddenMarkovTree.of(sticky(3))
    preorder = Forest([-1, 0, 1, 0, 3], [0, 1, 2, 1, 0])
    breadth = Forest([-1, 0, 0, 1, 2], [0, 1, 1, 2, 0])
    np.testing.assert_allclose(
        model.predict_proba(preorder)[[0, 1, 3, 2, 4]], model.predict_proba(breadth), rtol=0, atol=EXACT
    )


def test_interleaved_trees_are_distinguished():
    forest = Forest([-1, -1, 0, 1, 2], [0, 1, 0, 1, 2])
    assert forest.tree.tolist() == [0, 1, 0, 1, 0]
    model = HiddenMarkovTree.of(sticky(3))
    alone = [model.score(forest.at(np.flatnonzero(forest.tree == number))) for number in (0, 1)]
    np.testing.assert_allclose(model.score_trees(forest), alone, rtol=0, atol=EXACT)


# Observations


def test_posteriors_of_a_classifier_are_divided_by_its_prior():
    np.testing.assert_allclose(np.exp(soft_evidence([[0.2, 0.8]], [0.1, 0.9])), [[2.0, 8 / 9]])


def test_a_floor_keeps_a_class_possible():
    assert soft_evidence([[1.0, 0.0]])[0, 1] == -np.inf
    np.testing.assert_allclose(np.exp(soft_evidence([[1.0, 0.0]], floor=0.01)), [[1.0, 0.01]])


def test_a_row_of_nan_is_a_node_without_observation():
    assert soft_evidence([[np.nan, np.nan], [0.5, 0.5]], [0.1, 0.9])[0].tolist() == [0.0, 0.0]


def test_one_node_with_soft_evidence_has_the_posterior_of_its_classifier_where_the_priors_agree():
    prior = [0.3, 0.7]
    model = HiddenMarkovTree.of(TreeParameters(root=prior, transition=np.eye(2)))
    forest = Forest([-1], evidence=soft_evidence([[0.6, 0.4]], prior))
    np.testing.assert_allclose(model.predict_proba(forest), [[0.6, 0.4]])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Forest([0]),
        lambda: Forest([-1, 2, 0]),
        lambda: Forest([-2]),
        lambda: Forest([-1.0]),
        lambda: Forest([[-1]]),
        lambda: Forest([-1], [0, 1]),
        lambda: Forest([-1], [-2]),
        lambda: Forest([-1], evidence=[[np.nan]]),
        lambda: Forest([-1], evidence=[[np.inf]]),
        lambda: Forest([-1], evidence=[0.5]),
        lambda: Forest([2**40]),
        lambda: Forest.join([Forest([-1]), Forest([-1], [0])]),
        lambda: soft_evidence([0.5]),
        lambda: soft_evidence([[0.5, 0.5]], floor=-0.1),
        lambda: soft_evidence([[0.5, -0.5]]),
        lambda: soft_evidence([[0.5, np.nan]]),
        lambda: soft_evidence([[0.5, 0.5]], [1.0, 0.0]),
        lambda: HiddenMarkovTree.of(sticky(2)).score(Forest([-1], [2])),
        lambda: HiddenMarkovTree.of(sticky(2)).score(Forest([-1], evidence=[[0, 0, 0]])),
        lambda: HiddenMarkovTree.of(sticky(2)).score(Forest([-1]), [2]),
        lambda: HiddenMarkovTree.of(sticky(2)).score(Forest([-1]), [0, 0]),
        lambda: HiddenMarkovTree(2).score(Forest([-1])),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_a_forest_cannot_be_changed():
    forest = Forest([-1, 0], [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        forest.parent[0] = 5


def test_joined_forests_keep_their_trees():
    joined = Forest.join([Forest([-1, 0], [1, 2]), Forest([-1, 0, 1], [0, 1, 2])])
    assert joined.parent.tolist() == [-1, 0, -1, 2, 3]
    assert joined.symbols.tolist() == [1, 2, 0, 1, 2]
