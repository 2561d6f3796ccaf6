"""Sites, section 3: equations 5 to 8 on a tree of three nodes computed by hand, and the experiment of Figure 6."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.inference import beliefs, evidence_of, viterbi_states
from webwinnow.site.hmt.treemodel import UNSEEN, Forest, TreeParameters

# A root without observation and two children that both show symbol 0.
TREE = Forest([-1, 0, 0], [UNSEEN, 0, 0])
PI = [Fraction(1, 2), Fraction(1, 2)]
A = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
B = [[Fraction(4, 5), Fraction(1, 5)], [Fraction(1, 5), Fraction(4, 5)]]
MODEL = TreeParameters(root=np.array(PI, float), transition=np.array(A, float), emission=np.array(B, float))


def test_equation_5_an_observation_depends_on_the_state_of_its_node_alone():
    evidence = np.exp(evidence_of(TREE, None, MODEL))
    np.testing.assert_allclose(evidence, [[1, 1], [0.8, 0.2], [0.8, 0.2]])


def test_the_upward_variables_and_the_likelihood_by_hand():
    # each child: sum_m a^km beta(m) = 3/4 4/5 + 1/4 1/5 = 13/20 and 1/4 4/5 + 3/4 1/5 = 7/20,
    # so beta_1 = (169, 49) / 400
    found = beliefs(TREE, evidence_of(TREE, None, MODEL), MODEL)
    assert np.exp(found.beta[0, 1] - found.beta[0, 0]) == pytest.approx(49 / 169)
    assert np.exp(found.beta[1, 1] - found.beta[1, 0]) == pytest.approx(1 / 4)
    assert np.exp(found.likelihood[0]) == pytest.approx(109 / 400)


def test_equation_8_posteriors_from_upward_and_downward_variables_by_hand():
    # alpha_2(m) = sum_r a^rm pi_r 13/20 or 7/20 (the sibling) = (46, 34) / 160, beta_2 = (4/5, 1/5)
    alpha, beta = [Fraction(46, 160), Fraction(34, 160)], [Fraction(4, 5), Fraction(1, 5)]
    total = sum(a * b for a, b in zip(alpha, beta, strict=True))
    assert total == Fraction(109, 400)
    child = [float(a * b / total) for a, b in zip(alpha, beta, strict=True)]
    posterior = HiddenMarkovTree.of(MODEL).predict_proba(TREE)
    np.testing.assert_allclose(posterior, [[169 / 218, 49 / 218], child, child], rtol=1e-12)
    assert child[0] == pytest.approx(92 / 109)


def test_equation_7_takes_the_likeliest_state_of_each_node():
    assert HiddenMarkovTree.of(MODEL).predict(TREE).tolist() == [0, 0, 0]
    # with the root known to be in state 1, a child is P(0) : P(1) = 1/4 4/5 : 3/4 1/5 = 4 : 3
    posterior = HiddenMarkovTree.of(MODEL).predict_proba(TREE, [1, -1, -1])
    np.testing.assert_allclose(posterior[1], [4 / 7, 3 / 7])


def test_equation_6_the_joint_probability_of_the_viterbi_states_is_a_product_over_nodes():
    states, reached = viterbi_states(TREE, evidence_of(TREE, None, MODEL), MODEL)
    assert states.tolist() == [0, 0, 0]
    assert np.exp(reached[0]) == pytest.approx(float(PI[0] * (A[0][0] * B[0][0]) ** 2))


def test_map_and_viterbi_may_differ():
    # the root is more probably in state 0, the most probable pair is (1, 0): 0.4 1.0 against 0.6 0.5
    model = TreeParameters(root=[0.6, 0.4], transition=[[0.5, 0.5], [1.0, 0.0]])
    pair = Forest([-1, 0])
    assert HiddenMarkovTree.of(model).predict(pair).tolist() == [0, 0]
    assert HiddenMarkovTree.of(model).predict(pair, rule="viterbi").tolist() == [1, 0]


def test_one_m_step_by_hand():
    # expected counts of the tree above: root (169, 49) / 218, pairs P(C_1 = r, C_2 = m | W), twice
    model = HiddenMarkovTree(2, symbols=2, smoothing=0.0, passes=1, start=MODEL).fit(TREE)
    np.testing.assert_allclose(model.parameters_.root, [169 / 218, 49 / 218])
    pairs = np.array([[PI[r] * Fraction(13 - 6 * r, 20) * A[r][m] * B[m][0] for m in (0, 1)] for r in (0, 1)], float)
    np.testing.assert_allclose(model.counts_.transition, 2 * pairs / (109 / 400))
    np.testing.assert_allclose(model.parameters_.transition, pairs / pairs.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.parameters_.emission, [[1, 0], [1, 0]])


@pytest.mark.parametrize("subsets", [3, 10])
def test_figure_6_incremental_em_needs_fewer_passes_than_batch_em(subsets: int):
    # "discrete observation HMT with random parameterization and sampling"; 3 and 10 subsets
    chance = np.random.default_rng(6)
    truth = HiddenMarkovTree.of(TreeParameters.random(3, 5, chance))
    parent = np.tile([-1, 0, 0, 1, 1, 2, 2], 300)
    first = np.repeat(np.arange(300) * 7, 7)
    forest, _ = truth.sample(np.where(parent < 0, -1, parent + first), chance)
    start = TreeParameters.random(3, 5, chance)
    batch = HiddenMarkovTree(3, symbols=5, start=start, tolerance=1e-5).fit(forest)
    incremental = HiddenMarkovTree(3, symbols=5, start=start, tolerance=1e-5, subsets=subsets).fit(forest)
    assert len(incremental.convergence_.history) < len(batch.convergence_.history)
    assert incremental.score(forest) == pytest.approx(batch.score(forest), rel=0.005)
