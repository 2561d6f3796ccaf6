"""Clustered collections: names, number of clusters, map; and files of features."""

from __future__ import annotations

import io

import numpy as np
import pytest
import scipy.sparse as sp

from webwinnow.cluster.clustering import NO_CLUSTER, UnitRows
from webwinnow.cluster.count import suggest_k
from webwinnow.cluster.latent import drawn_pages, plane
from webwinnow.cluster.names import TERMS, ClusterTerms, numbered
from webwinnow.cluster.pages import cluster_pages
from webwinnow.cluster.rows import PageRows
from webwinnow.cluster.settings import ClusterSettings
from webwinnow.errors import InputError, SettingsError
from webwinnow.features.vectors import FeatureMatrix
from webwinnow.storage.modelfile import pack_arrays

TOPICS = {
    "cats": "cat kitten whiskers purr fur paw",
    "cars": "engine wheel gearbox brake road motor",
    "bread": "flour yeast oven crust dough loaf",
}
EVERYWHERE = "page story writer"


def cluster_terms(unit, label, vocabulary, most=TERMS):
    """The strongest terms of each cluster."""
    counted = ClusterTerms.of(unit, label, vocabulary)
    return [list(counted.of_clusters([cluster], most).words) for cluster in range(len(counted.sizes))]


def collection(pages_each=12, seed=0, topics=TOPICS):
    """Rows of pages about some topics, each of four words of its own topic and of words that all have."""
    rng = np.random.default_rng(seed)
    vocabulary = sorted(" ".join([*topics.values(), EVERYWHERE]).split())
    place = {word: k for k, word in enumerate(vocabulary)}
    counts, names = [], []
    for topic, words in topics.items():
        for number in range(pages_each):
            row = np.zeros(len(vocabulary))
            for word in [*rng.choice(words.split(), 4, replace=False), *EVERYWHERE.split()]:
                row[place[word]] += 1
            counts.append(row)
            names.append(f"{topic}/{number}")
    return PageRows(sp.csr_matrix(np.array(counts)), names, vocabulary)


def test_terms_of_a_cluster_set_it_apart():
    rows = collection()
    label = np.repeat(np.arange(3, dtype=np.int32), 12)
    terms = cluster_terms(UnitRows.of(rows.matrix), label, rows.vocabulary, most=6)
    for some, words in zip(terms, TOPICS.values(), strict=True):
        assert {term for term, _ in some} == set(words.split())
        assert [strength for _, strength in some] == sorted((strength for _, strength in some), reverse=True)


def test_a_lone_cluster_is_named_by_its_heaviest_terms():
    rows = collection(topics={"cats": TOPICS["cats"]})
    terms = cluster_terms(UnitRows.of(rows.matrix), np.zeros(12, np.int32), rows.vocabulary, most=3)
    assert {term for term, _ in terms[0]} == set(EVERYWHERE.split())


def test_links_name_a_cluster_only_where_it_has_no_word():
    unit = UnitRows.of(sp.csr_matrix([[5.0, 1, 0], [5, 1, 0], [0, 0, 1], [0, 0, 1]]))
    terms = cluster_terms(unit, np.array([0, 0, 1, 1], np.int32), ["@href:a.example/", "cat", "@img:dog.png"])
    assert [[term for term, _ in some] for some in terms] == [["cat"], ["@img:dog.png"]]


def test_clusters_of_one_name_are_numbered():
    assert numbered(["a", "b", "a"]) == ["a (1)", "b", "a (2)"]


def test_a_word_without_end_is_cut_short_in_a_name():
    terms = ClusterTerms.of(UnitRows.of(sp.csr_matrix([[1.0]])), np.zeros(1, np.int32), ["a" * 10_000])
    assert len(terms.of_clusters([0]).name) == 40


def test_three_topics_make_three_clusters_without_a_given_number():
    assert suggest_k(UnitRows.of(collection(20).matrix), most=6).k == 3


def test_where_no_number_of_clusters_is_stable_none_stands_out():
    rows = sp.csr_matrix(np.abs(np.random.default_rng(0).normal(size=(128, 60))))
    found = suggest_k(UnitRows.of(rows))
    assert (found.k, found.stands_out) == (8, False)


def test_the_largest_number_tried_does_not_stand_out():
    found = suggest_k(UnitRows.of(sp.csr_matrix(np.kron(np.eye(6), np.ones((10, 2))))), most=4)
    assert (found.k, found.stands_out) == (4, False)
    assert suggest_k(UnitRows.of(collection(20).matrix), most=6).stands_out


@pytest.mark.parametrize("matrix", [np.ones((30, 4)), np.eye(3), [[1.0]]], ids=["alike", "few", "one"])
def test_pages_that_do_not_differ_or_are_few_make_one_cluster(matrix):
    assert suggest_k(UnitRows.of(sp.csr_matrix(matrix))).k == 1


def test_a_collection_is_clustered_named_and_plotted():
    rows = collection()
    found = cluster_pages(rows, ClusterSettings(k=3, runs=5))
    assert [cluster.size for cluster in found.clusters] == [12, 12, 12]
    for cluster in found.clusters:
        topics = {rows.page_ids[page].partition("/")[0] for page in cluster.typical}
        (topic,) = topics
        assert set(cluster.name.split(", ")) <= set(TOPICS[topic].split())
    assert len(found.drawn) == 36
    assert found.points.min() >= 0
    assert found.points.max() <= 1


def test_the_same_seed_gives_the_same_collection_whatever_the_threads():
    rows = collection()
    one, two = (cluster_pages(rows, ClusterSettings(k=4, runs=9, jobs=jobs)) for jobs in (1, 3))
    assert np.array_equal(one.clustering.label, two.clustering.label)
    assert np.array_equal(one.points, two.points)
    assert one.clusters == two.clusters


def test_clusters_that_draw_no_page_are_left_out():
    rows = PageRows(sp.csr_matrix(np.ones((6, 2))), list("abcdef"), ["x", "y"])
    found = cluster_pages(rows, ClusterSettings(k=3))
    assert (found.wanted, len(found.clusters)) == (3, 1)


def test_one_page_is_one_cluster():
    found = cluster_pages(PageRows(sp.csr_matrix([[2.0, 0, 1]]), ["a"], ["x", "y", "z"]))
    assert [cluster.size for cluster in found.clusters] == [1]
    assert found.points.tolist() == [[0.5, 0.5]]


def test_pages_without_any_feature_are_an_error():
    with pytest.raises(InputError, match="nothing to cluster"):
        cluster_pages(PageRows(sp.csr_matrix((4, 2)), list("abcd"), ["x", "y"]))


def test_empty_pages_are_neither_plotted_nor_lost():
    rows = collection()
    matrix = sp.vstack([sp.csr_matrix((1, rows.matrix.shape[1])), rows.matrix]).tocsr()
    found = cluster_pages(PageRows(matrix, ["empty", *rows.page_ids], rows.vocabulary), ClusterSettings(k=3))
    assert found.clustering.label[0] == NO_CLUSTER
    assert len(found.clustering.label) == 37
    assert 0 not in found.drawn


@pytest.mark.parametrize("pages", [0, 1, 2, 3, 4, 5, 6, 9])
def test_a_map_of_few_pages_has_a_place_for_each(pages):
    points = plane(UnitRows.of(sp.csr_matrix(np.eye(10)[:pages])).rows)
    assert points.shape == (pages, 2)
    assert np.isfinite(points).all()
    assert len({tuple(point) for point in points.round(3).tolist()}) == pages


def test_similar_pages_are_close_on_the_map():
    unit = UnitRows.of(collection(15).matrix)
    points, topic = plane(unit.rows), np.repeat(np.arange(3), 15)
    nearest = [topic[np.argsort(((points - point) ** 2).sum(axis=1))[1]] == topic[k] for k, point in enumerate(points)]
    assert np.mean(nearest) > 0.9


def test_a_map_shows_a_sample_of_many_pages():
    unit = UnitRows.of(sp.csr_matrix(np.ones((50, 1))))
    drawn = drawn_pages(unit, most=10)
    assert len(np.unique(drawn)) == 10
    assert np.array_equal(drawn, drawn_pages(unit, most=10))


# Feature files


def saved(tmp_path, **changed):
    columns = {
        "data": np.array([1.0, 2.0]),
        "indices": np.array([0, 1], np.int32),
        "indptr": np.array([0, 1, 2], np.int64),
        "shape": np.array([2, 2], np.int64),
        "page_ids": np.array(["a", "b"]),
        "vocabulary": np.array(["x", "y"]),
    }
    path = tmp_path / "features.npz"
    path.write_bytes(pack_arrays(columns | changed))
    return path


def test_a_feature_file_comes_back_as_it_was_saved(tmp_path):
    matrix = FeatureMatrix(
        np.array([1.0, 2.0]), np.array([1, 0], np.int32), np.array([0, 1, 1, 2]), ["a", "b", "c"], ["x", "y"]
    )
    held = io.BytesIO()
    matrix.save(held)
    path = tmp_path / "f.npz"
    path.write_bytes(held.getvalue())
    rows = PageRows.read(path)
    assert (rows.page_ids, rows.vocabulary) == (matrix.page_ids, matrix.vocabulary)
    assert (rows.matrix != PageRows.of(matrix).matrix).nnz == 0


@pytest.mark.parametrize(
    "changed",
    [
        {"indices": np.array([0, 2], np.int32)},
        {"indices": np.array([-1, 0], np.int32)},
        {"indptr": np.array([0, 2, 1], np.int64)},
        {"indptr": np.array([0, 2], np.int64)},
        {"shape": np.array([3, 2], np.int64)},
        {"data": np.array([1.0, np.nan])},
        {"data": np.array(["a", "b"])},
        {"page_ids": np.array([1, 2])},
        {"vocabulary": np.array([["x", "y"]])},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_a_feature_file_that_does_not_fit_is_an_error(tmp_path, changed):
    with pytest.raises(InputError, match="not a feature file"):
        PageRows.read(saved(tmp_path, **changed))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
def test_a_file_of_another_kind_is_an_error(tmp_path, content):
    path = tmp_path / "f.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not a feature file"):
        PageRows.read(path)


def test_topics_of_wplus_name_no_cluster_that_has_words():
    matrix = sp.csr_matrix(np.array([[0.5, 1.0, 2.0], [0.5, 1.0, 2.0]]))
    (terms,) = cluster_terms(UnitRows.of(matrix), np.zeros(2, np.int32), ["apple", "pear", "@topic:1:pear"])
    assert [term for term, _ in terms] == ["pear", "apple"]


def test_weights_that_cancel_exactly():
    matrix = sp.csr_matrix(np.array([[3.0, 4.0], [-3.0, 4.0]]))
    (terms,) = cluster_terms(UnitRows.of(matrix), np.zeros(2, np.int32), ["apple", "pear"])
    assert [term for term, _ in terms] == ["pear"]


@pytest.mark.parametrize("setting", [{"seed": 2**32}, {"seed": -1}, {"runs": 10**30}, {"runs": 0}])
def test_seeds_and_runs_out_of_range_are_refused(setting):
    with pytest.raises(SettingsError, match=next(iter(setting))):
        ClusterSettings(**setting)


def test_one_long_name_does_not_make_a_feature_file_unreadable(tmp_path):
    names = ["http://a.example/" + "x" * 2_000, *(f"p{k}" for k in range(9_000))]  # 72 MB in an array, mostly zeros
    matrix = FeatureMatrix(np.ones(1), np.zeros(1, np.int32), np.arange(len(names) + 1).clip(0, 1), names, ["word"])
    with (tmp_path / "features.npz").open("wb") as file:
        matrix.save(file)
    assert PageRows.read(tmp_path / "features.npz").page_ids == names
