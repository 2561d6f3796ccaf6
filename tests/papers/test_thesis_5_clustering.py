"""Thesis 5.1.1 and 5.4: the example of the cosine distance, and the F score of a clustering."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from webwinnow.cluster.clustering import UnitRows, agreement, k_means
from webwinnow.cluster.settings import KMeans

PAGES = {
    "A": "PCMagzine Firstlooks Samsung printer",
    "B": "PCMagzine Firstlooks camera lens",
    "C": "Amazon brands laser printer",
}
OF_THE_SITES = {"PCMagzine", "Firstlooks", "Amazon", "brands"}


def cosines(vectors):
    rows = UnitRows.of(sp.csr_matrix(np.array(vectors, float))).rows
    return (rows @ rows.T).toarray()


def vectors_over(terms):
    return [[float(term in page.split()) for term in terms] for page in PAGES.values()]


def all_terms():
    return list(dict.fromkeys(" ".join(PAGES.values()).split()))


def test_with_the_words_of_the_sites_a_is_nearer_to_b():
    """d(A, B) = 0.5 and d(A, C) = 0.25, as printed; over the nine terms that the three pages have."""
    found = cosines(vectors_over(all_terms()))
    assert found[0, 1] == pytest.approx(0.5, rel=1e-6)
    assert found[0, 2] == pytest.approx(0.25, rel=1e-6)


def test_without_them_a_is_nearer_to_c():
    """d(A, B) = 0 and d(A, C) = 0.5, as printed."""
    found = cosines(vectors_over([term for term in all_terms() if term not in OF_THE_SITES]))
    assert found[0, 1] == 0
    assert found[0, 2] == pytest.approx(0.5, rel=1e-6)


def test_the_vectors_that_the_thesis_prints_do_not_give_its_result():
    """Its space of eight terms lacks `camera`, and its x_C has Samsung: with them d(A, C) is 0.5, not 0.25.

    The pages as it lists them, over nine terms, give what it prints (above); so we assume an error in the vectors.
    """
    a, b, c = [1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0, 1, 1]
    found = cosines([a, b, c])
    assert found[0, 1] == pytest.approx(0.5, rel=1e-6)
    assert found[0, 2] == pytest.approx(0.5, rel=1e-6)


def test_the_words_of_the_sites_decide_what_two_clusters_hold():
    """The point of the example: two clusters of the three pages are by site before cleaning, by product after."""
    noisy = vectors_over(all_terms())
    clean = vectors_over([term for term in all_terms() if term not in OF_THE_SITES])
    for vectors, together in ((noisy, (0, 1)), (clean, (0, 2))):
        best = max(k_means(sp.csr_matrix(vectors), KMeans(k=2), runs=8), key=lambda run: run.cohesion)
        assert best.label[together[0]] == best.label[together[1]]
        assert len(set(best.label.tolist())) == 2


def test_f_is_that_of_the_best_assignment_of_classes_to_clusters():
    """Four pages of x, three in cluster 0, one in 1; two of y in 1: F(x, 0) = 2*3/(3+4), F(y, 1) = 2*2/(3+2)."""
    scores = agreement(list("xxxxyy"), np.array([0, 0, 0, 1, 1, 1]))
    assert scores.f == pytest.approx((6 / 7 + 4 / 5) / 2)
    assert scores.purity == pytest.approx(5 / 6)


def test_a_class_that_gets_no_cluster_counts_as_0():
    scores = agreement(list("xxyy"), np.array([0, 0, 0, 0]))
    assert scores.f == pytest.approx((4 / 6) / 2)
