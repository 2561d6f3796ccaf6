"""Sites 4.2: equation 14 and the rules of pruning, computed by hand on a start page and two pages below it."""

from __future__ import annotations

from math import inf, log

import numpy as np
import pytest

from webwinnow.site.hmt.treemodel import TreeParameters, soft_evidence
from webwinnow.topics.pruning import GrowingTree, KlRule, Step, VarianceRule, kl_distance, path_weight

STICKY = TreeParameters(root=[0.5, 0.5], transition=[[0.75, 0.25], [0.25, 0.75]])
ROOT = soft_evidence([[0.6, 0.4]])[0]
CHILD = soft_evidence([[0.8, 0.2]])[0]


class Noted:
    """A rule that adds everything and records its calls."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def adds(self, step: Step) -> bool:
        self.steps.append(step)
        return True


def test_equation_14_by_hand():
    # T- (1/2, 1/2), T+ (3/4, 1/4): 1/2 log 2/3 + 1/2 log 2 = 1/2 log 4/3
    assert kl_distance([0.5, 0.5], [0.75, 0.25]) == pytest.approx(0.5 * log(4 / 3))
    assert kl_distance([0.5, 0.5], [0.5, 0.5]) == 0.0
    assert kl_distance([1.0, 0.0], [0.5, 0.5]) == pytest.approx(log(2))
    assert kl_distance([0.5, 0.5], [1.0, 0.0]) == inf


def test_the_posteriors_before_and_after_a_page_by_hand():
    rule, growing = Noted(), GrowingTree(STICKY)
    growing.offer(-1, ROOT, rule)
    growing.offer(0, CHILD, rule)
    start, child = rule.steps
    np.testing.assert_allclose(start.before, [0.5, 0.5])
    np.testing.assert_allclose(start.after, [0.6, 0.4])
    # the child's message to the root is 3/4 4/5 + 1/4 1/5 = 13/20 and 7/20; 0.6 13 : 0.4 7 = 39 : 14
    np.testing.assert_allclose(child.before, [0.6, 0.4])
    np.testing.assert_allclose(child.after, [39 / 53, 14 / 53])
    assert (start.depth, child.depth) == (0, 1)


def test_the_rule_of_14_weighs_the_distance_against_the_depth():
    distance = kl_distance([0.6, 0.4], [39 / 53, 14 / 53])
    assert distance == pytest.approx(0.6 * log(0.6 * 53 / 39) + 0.4 * log(0.4 * 53 / 14))
    for delta, added in ((distance * 0.99, True), (distance * 1.01, False)):
        growing = GrowingTree(STICKY)
        assert growing.offer(-1, ROOT, KlRule(delta=delta)) == 0
        assert (growing.offer(0, CHILD, KlRule(delta=delta)) is not None) == added
        assert len(growing) == 1 + added
    # at depth 2 the same distance must be twice as large
    deeper = Step(np.array([0.6, 0.4]), np.array([39 / 53, 14 / 53]), 2, np.zeros(2), np.zeros(2), 3)
    assert KlRule(delta=distance * 0.49).adds(deeper)
    assert not KlRule(delta=distance * 0.51).adds(deeper)


def test_the_weight_of_a_path_by_hand():
    # P(path | C) = (0.36, 0.16) over two pages: roots (0.6, 0.4), variance 0.1^2
    assert path_weight([log(0.36), log(0.16)], 2) == pytest.approx(0.01)
    assert path_weight([log(0.3), log(0.3)], 1) == 0.0
    assert path_weight([-inf, -inf], 1) == 0.0


def test_the_variance_rule_by_hand():
    # to the start page: shares (0.6, 0.4), weight 0.01; to the child: 0.6 13/20 : 0.4 7/20 = 39 : 14, square roots
    one, other = 39**0.5, 14**0.5
    weight = (one / (one + other) - 0.5) ** 2
    rule, growing = Noted(), GrowingTree(STICKY)
    growing.offer(-1, ROOT, rule)
    growing.offer(0, CHILD, rule)
    step = rule.steps[1]
    assert path_weight(step.path, 2) == pytest.approx(weight)
    assert path_weight(step.path_above, 1) == pytest.approx(0.01)
    even = 0.01 * 2 / weight  # of omega, where both sides are equal
    assert VarianceRule(omega=even * 1.01).adds(step)
    assert not VarianceRule(omega=even * 0.99).adds(step)
    assert VarianceRule(omega=0.001).adds(rule.steps[0])
