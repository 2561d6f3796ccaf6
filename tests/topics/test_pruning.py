"""A growing page tree has the beliefs of the whole tree, and rules prune it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.errors import SettingsError
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree
from webwinnow.site.hmt.treemodel import Forest, TreeParameters, soft_evidence
from webwinnow.topics.pruning import Everything, GrowingTree, KlRule, VarianceRule, prune

EXACT = 1e-9
STICKY = TreeParameters(root=[0.5, 0.5], transition=[[0.9, 0.1], [0.1, 0.9]])


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_tree_that_grew_believes_what_the_whole_tree_does(data: st.DataObject):
    parent = [-1, *(data.draw(st.integers(0, u - 1)) for u in range(1, data.draw(st.integers(1, 12))))]
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    parameters = TreeParameters.random(3, 0, chance)
    evidence = chance.normal(scale=3, size=(len(parent), 3))
    evidence[chance.random(evidence.shape) < data.draw(st.sampled_from([0.0, 0.1]))] = -np.inf
    model, growing = HiddenMarkovTree.of(parameters), GrowingTree(parameters)
    for u, above in enumerate(parent):
        growing.offer(above, evidence[u], Everything())
        forest = Forest(parent[: u + 1], evidence=evidence[: u + 1])
        if np.isneginf(model.score(forest)):
            assert not growing.posterior.any()
            return
        np.testing.assert_allclose(growing.posterior, model.predict_proba(forest)[0], rtol=0, atol=EXACT)
    assert growing.parent.tolist() == parent


def of_pages(parent: list[int], posteriors: list[list[float]]) -> Forest:
    return Forest(parent, evidence=soft_evidence(posteriors))


def test_no_page_is_read_below_an_uninformative_one():
    # page 1 is informative, page 2 is not; 3 is below 1, 4 below 2
    site = of_pages([-1, 0, 0, 1, 2], [[0.6, 0.4], [0.9, 0.1], [0.5, 0.5], [0.9, 0.1], [0.1, 0.9]])
    found = prune(site, STICKY, KlRule(delta=1e-3))
    assert found.read.tolist() == [True, True, True, True, False]
    assert found.kept.tolist() == [True, True, False, True, False]
    assert prune(site, STICKY, Everything()).kept.all()


def test_a_larger_delta_prunes_more():
    chance = np.random.default_rng(0)
    parent = [-1, *(int(chance.integers(0, u)) for u in range(1, 200))]
    site = of_pages(parent, chance.dirichlet([1, 1], 200).tolist())
    kept = [int(prune(site, STICKY, KlRule(delta=delta)).kept.sum()) for delta in (0.0, 1e-4, 1e-2, 1.0)]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] == 200
    assert kept[-1] < 10


def test_what_is_left_of_a_pruned_tree_gives_its_belief():
    chance = np.random.default_rng(1)
    parent = [-1, *(int(chance.integers(0, u)) for u in range(1, 60))]
    site = of_pages(parent, chance.dirichlet([1, 1], 60).tolist())
    found = prune(site, STICKY, KlRule(delta=1e-3))
    left = site.at(np.flatnonzero(found.kept))
    np.testing.assert_allclose(found.posterior, HiddenMarkovTree.of(STICKY).predict_proba(left)[0], rtol=0, atol=EXACT)


def test_a_tree_of_many_pages_and_a_long_path_grows():
    growing = GrowingTree(STICKY)
    at = growing.offer(-1, [0.0, 0.0], Everything())
    for number in range(3_000):
        growing.offer(at, [0.0, -0.1 * (number % 3)], KlRule(delta=0.0))
    assert len(growing) == 3_001
    assert growing.depth == 1


@pytest.mark.parametrize("wrong", [lambda: KlRule(delta=-1.0), lambda: VarianceRule(omega=0.0)])
def test_settings_without_meaning_are_refused(wrong):
    with pytest.raises(SettingsError):
        wrong()
