"""Scores of a clustering against their plain definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.cluster.clustering import agreement


def f_by_trying_all(classes, label):
    """Thesis 5.4: every assignment of classes to clusters, precision and recall spelled out."""
    names, clusters = sorted(set(classes)), [cluster for cluster in sorted(set(label)) if cluster >= 0]
    places = [*clusters, *[None] * len(names)]
    best = 0.0
    for chosen in set(permutations(places, len(names))):
        total = 0.0
        for name, cluster in zip(names, chosen, strict=True):
            both = sum(c == name and k == cluster for c, k in zip(classes, label, strict=True))
            if cluster is not None and both:
                p, r = both / label.count(cluster), both / classes.count(name)
                total += 2 * p * r / (p + r)
        best = max(best, total / len(names))
    return best


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-1, 2)), min_size=1, max_size=14))
@settings(max_examples=60, deadline=None)
def test_f_is_the_best_over_all_assignments(pages):
    classes, label = [c for c, _ in pages], [k for _, k in pages]
    scores = agreement(classes, np.array(label))
    assert scores.f == pytest.approx(f_by_trying_all(classes, label))
    assert 0 <= scores.purity <= 1
    assert -1e-9 <= scores.nmi <= 1 + 1e-9


def test_clusters_that_are_the_classes_score_1_whatever_their_numbers():
    scores = agreement(list("aabbcc"), np.array([2, 2, 0, 0, 1, 1]))
    assert (scores.f, scores.purity) == (1, 1)
    assert scores.nmi == pytest.approx(1)


def test_pages_in_no_cluster_are_missed_not_wrong():
    scores = agreement(list("aaab"), np.array([0, 0, -1, 1]))
    assert scores.f == pytest.approx((2 * 2 / (2 + 3) + 1) / 2)
    assert scores.purity == pytest.approx(3 / 4)


def test_no_page_in_a_cluster_scores_0():
    assert agreement(list("ab"), np.array([-1, -1])).f == 0
