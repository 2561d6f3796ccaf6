"""K-means over sparse rows: the oracle's clusters, invariants for any rows, and odd rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from plain_kmeans import plain_k_means

from webwinnow.cluster.clustering import NO_CLUSTER, SIDE_BY_SIDE, UnitRows, best_run, k_means
from webwinnow.cluster.settings import KMeans
from webwinnow.errors import InputError, SettingsError


def random_rows(seed, pages=60, features=40, density=0.15):
    rng = np.random.default_rng(seed)
    drawn = rng.random((pages, features)) * (rng.random((pages, features)) < density)
    drawn[np.arange(pages), np.arange(pages) % features] = 0.5  # no row is empty
    return sp.csr_matrix(drawn)


def groups(sizes, seed=0):
    """Rows of groups that share no feature."""
    rng = np.random.default_rng(seed)
    blocks = [rng.random((size, 6)) + 0.1 for size in sizes]
    return sp.csr_matrix(sp.block_diag(blocks)), np.repeat(np.arange(len(sizes)), sizes)


def seeds_of(run, pages, k, seed):
    """The pages that run number `run` begins with."""
    return np.random.default_rng((seed, run)).choice(pages, k, replace=False).tolist()


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_runs_find_what_the_oracle_finds_from_the_same_seeds(k):
    rows = random_rows(k)
    pages = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in rows]
    for number, run in enumerate(k_means(rows, KMeans(k=k), runs=6, seed=3)):
        labels, iterations = plain_k_means(pages, seeds_of(number, len(pages), k, 3), 30)
        assert run.label.tolist() == labels
        assert run.iterations == iterations


def test_a_run_stops_after_the_iterations_it_is_given():
    rows = random_rows(1)
    pages = [dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in rows]
    (run,) = k_means(rows, KMeans(k=6, iterations=2))
    assert (run.iterations, run.converged) == (2, False)
    assert run.label.tolist() == plain_k_means(pages, seeds_of(0, len(pages), 6, 0), 2)[0]


@pytest.mark.parametrize("start", ["random", "k-means++"])
def test_what_a_run_finds_depends_on_neither_threads_nor_the_runs_beside_it(start):
    rows, how = random_rows(2, pages=120), KMeans(k=4, start=start)
    runs = SIDE_BY_SIDE // 4 * 2 + 3
    alone = list(k_means(rows, how, runs=runs, seed=9))
    threaded = list(k_means(rows, how, runs=runs, seed=9, jobs=3))
    few = list(k_means(rows, how, runs=2, seed=9))
    for one, other in [*zip(alone, threaded, strict=True), *zip(alone, few, strict=False)]:
        assert np.array_equal(one.label, other.label)
        assert np.array_equal(one.similarity, other.similarity)
    assert len({run.label.tobytes() for run in alone}) > 1


def test_rest_of_the_runs_is_not_asked_for_when_the_caller_leaves():
    runs = k_means(random_rows(2), KMeans(k=3), runs=200, jobs=2)
    assert len(next(runs).label) == 60
    runs.close()


@given(
    arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 6)), elements=st.sampled_from([0, 0, 1, 2, 7])),
    st.integers(1, 4),
    st.sampled_from(["random", "k-means++"]),
)
@settings(max_examples=60, deadline=None)
def test_at_rest_every_page_is_with_the_nearest_centroid(rows, k, start):
    filled = np.flatnonzero(rows.any(axis=1))
    if k > len(filled):
        with pytest.raises(SettingsError):
            list(k_means(sp.csr_matrix(rows), KMeans(k=k, start=start)))
        return
    (run,) = k_means(sp.csr_matrix(rows), KMeans(k=k, start=start, iterations=200))
    assert np.array_equal(np.flatnonzero(run.label != NO_CLUSTER), filled)
    unit = rows[filled] / np.linalg.norm(rows[filled], axis=1, keepdims=True)
    label = run.label[filled]
    assert run.converged
    sums = np.array([unit[label == c].sum(axis=0) for c in np.unique(label)])
    cosines = unit @ (sums / np.linalg.norm(sums, axis=1, keepdims=True)).T
    own = cosines[np.arange(len(unit)), np.searchsorted(np.unique(label), label)]
    assert (own >= cosines.max(axis=1) - 1e-5).all()
    assert run.similarity[filled] == pytest.approx(own, abs=1e-5)


@pytest.mark.parametrize("batch", [None, 20])
def test_groups_that_share_nothing_are_found(batch):
    rows, group = groups((30, 20, 10))
    best = best_run(k_means(rows, KMeans(k=3, batch=batch, start="k-means++"), runs=10)).by_size()
    assert best.label.tolist() == group.tolist()


def test_k_means_plus_plus_begins_in_groups_far_apart():
    rows, _ = groups((20, 20, 20, 20))
    reached = {}
    for start in ("random", "k-means++"):
        runs = k_means(rows, KMeans(k=4, start=start, iterations=1), runs=20)
        reached[start] = sum(bool(run.similarity.min() > 0) for run in runs)
    assert reached["k-means++"] > 2 * reached["random"]  # random: 4! / 4^4 of the runs, about 2


def test_a_page_without_features_is_in_no_cluster_and_the_others_do_not_mind():
    rows, _ = groups((5, 4))
    with_empty = sp.vstack([rows[:3], sp.csr_matrix((1, rows.shape[1])), rows[3:]]).tocsr()
    run = best_run(k_means(with_empty, KMeans(k=2), runs=8)).by_size()
    assert run.label.tolist() == [0, 0, 0, NO_CLUSTER, 0, 0, 1, 1, 1, 1]
    assert run.similarity[3] == 0
    assert run.cohesion == pytest.approx(float(np.delete(run.similarity, 3).mean()), rel=1e-6)


@pytest.mark.parametrize("start", ["random", "k-means++"])
def test_pages_that_all_say_the_same_fill_one_cluster(start):
    (run,) = k_means(sp.csr_matrix(np.ones((6, 3))), KMeans(k=3, start=start))
    assert set(run.label.tolist()) == {0}
    assert run.similarity == pytest.approx(1, rel=1e-6)


def test_lengths_of_rows_do_not_matter():
    rows = random_rows(4)
    longer = sp.diags_array(np.random.default_rng(0).random(60) * 100 + 1) @ rows
    for one, other in zip(k_means(rows, KMeans(k=4), runs=3), k_means(longer, KMeans(k=4), runs=3), strict=True):
        assert one.label.tolist() == other.label.tolist()


def test_clusters_are_numbered_by_size():
    rows, _ = groups((4, 9, 6))
    run = best_run(k_means(rows, KMeans(k=3), runs=12)).by_size()
    assert run.label[[0, 4, 13]].tolist() == [2, 0, 1]


def test_more_clusters_than_pages_with_features_is_an_error_that_says_so():
    rows = sp.csr_matrix(np.eye(3)[[0, 1]])
    with pytest.raises(SettingsError, match="5 clusters of 2 pages"):
        list(k_means(rows, KMeans(k=5)))


@pytest.mark.parametrize(
    "wrong", [{"k": 0}, {"k": 2, "iterations": 0}, {"k": 2, "batch": 0}, {"k": 2, "start": "best"}]
)
def test_settings_without_meaning_are_refused(wrong):
    with pytest.raises(SettingsError):
        KMeans(**wrong)


def test_weights_below_0_point_away():
    """W+ has such weights: similarity is the cosine, which may be negative."""
    rows = sp.csr_matrix([[1.0, -1.0], [0.9, -1.1], [-1.0, 1.0], [-0.8, 1.0]])
    found = best_run(k_means(rows, KMeans(k=2), runs=4))
    assert found.label.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])


@pytest.mark.parametrize("weight", [np.nan, np.inf])
def test_weights_that_are_none_are_refused(weight):
    with pytest.raises(InputError, match="finite"):
        UnitRows.of(sp.csr_matrix([[1.0, weight]]))
