"""Clusters by subject: topic weights, latent directions, names by phrases, hierarchy, density, and time."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from webwinnow import parse
from webwinnow.cluster.clustering import NO_CLUSTER, UnitRows, agreement
from webwinnow.cluster.density import density_clusters
from webwinnow.cluster.latent import latent_rows
from webwinnow.cluster.names import ClusterTerms
from webwinnow.cluster.overtime import over_time
from webwinnow.cluster.pages import cluster_pages
from webwinnow.cluster.rows import PageRows, PhraseCollector, PhraseRows
from webwinnow.cluster.settings import ClusterSettings
from webwinnow.cluster.tree import cluster_tree
from webwinnow.errors import SettingsError
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings
from webwinnow.features.weighting import topic_worth, unrepeated, weigh_by_topic

SUBJECTS = {
    "cats": "cat kitten whiskers purr fur paw tail claw".split(),
    "cars": "engine wheel gearbox brake road motor clutch piston".split(),
    "bread": "flour yeast oven crust dough loaf rye bakery".split(),
}
SITES = [f"site{letter}.example" for letter in "abcdef"]


def pages_of_sites(pages_each=6, seed=0):
    """Pages of six sites on three subjects; each site has a name and two words of its own on every page."""
    rng = np.random.default_rng(seed)
    found = []
    for site in SITES:
        own = [site.partition(".")[0], f"editor{site[4]}", f"section{site[4]}"]
        for subject, words in SUBJECTS.items():
            said = [[*rng.choice(words, 4, replace=False), *own, *own] for _ in range(pages_each)]
            found += [(site, subject, some) for some in said]
    return found


def topic_rows(pages):
    words = sorted({word for *_, said in pages for word in said})
    place = {word: k for k, word in enumerate(words)}
    counts = np.zeros((len(pages), len(words)))
    for number, (*_, said) in enumerate(pages):
        for word in said:
            counts[number, place[word]] += 1
    matrix = sp.csr_matrix(counts)
    sites = [site for site, *_ in pages]
    return PageRows.of(weigh_by_topic(feature_matrix(matrix, words), sites), sites)


def feature_matrix(matrix, words):
    names = [str(n) for n in range(matrix.shape[0])]
    return FeatureMatrix(
        matrix.data, matrix.indices, matrix.indptr, names, words, np.arange(len(words), dtype=np.uint64)
    )


def test_words_of_one_site_have_no_weight():
    kept = topic_rows(pages_of_sites()).vocabulary
    assert {word for words in SUBJECTS.values() for word in words} == set(kept)


def test_of_few_sites_words_of_one_site_have_weight():
    pages = [page for page in pages_of_sites() if page[0] in SITES[:2]]
    assert "editora" in topic_rows(pages).vocabulary


def test_a_word_counts_by_its_rarity_and_its_spread():
    rows = sp.csr_array(np.array([[1.0, 1, 0], [1, 0, 1], [1, 1, 0], [1, 0, 1]]))
    worth = topic_worth(rows, np.array([0, 1, 2, 3]), 4)
    rarity = np.log(5 / np.array([5, 3, 3])) + 1
    np.testing.assert_allclose(worth, rarity * np.array([0.75, 0.5, 0.5]), rtol=1e-12)


def test_words_that_nearly_all_pages_of_a_site_repeat_lose_weight_there():
    with_it = np.zeros((40, 3))
    with_it[:20, 0] = 1  # on all pages of the first site, and on one of the second
    with_it[20, 0] = 1
    with_it[:19, 1] = 1  # on 95 %
    with_it[:, 2] = np.arange(40) % 2
    with_it[39, :] = 1
    rows = sp.csr_array(with_it)
    factor = sp.csr_array((unrepeated(rows, np.arange(40) // 20, 2), rows.indices, rows.indptr)).toarray()
    np.testing.assert_allclose(factor[0, :2], [0, 0.5], rtol=1e-9)
    assert factor[20, 0] == 1
    assert factor[1, 2] == 1


def test_pages_of_repeated_words_alone_and_of_small_sites_keep_them():
    assert unrepeated(sp.csr_array(np.ones((8, 2))), np.zeros(8, np.int64), 1).tolist() == [1.0] * 16
    small = sp.csr_array(np.hstack([np.ones((4, 1)), np.eye(4)]))
    assert unrepeated(small, np.zeros(4, np.int64), 1).tolist() == [1.0] * 8


def test_labels_that_a_cleaner_keeps_do_not_group_pages():
    pages = pages_of_sites(8)
    labels = [f"label{k}" for k in range(30)]
    labelled = [(site, subject, [*said, *labels[:20]]) for site, subject, said in pages if site in SITES[:3]]
    labelled += [(site, subject, [*said, *labels[10:]]) for site, subject, said in pages if site in SITES[3:]]
    found = cluster_pages(topic_rows(labelled), ClusterSettings(map=False))
    assert len(found.clusters) == 3
    assert agreement([subject for _, subject, _ in labelled], found.clustering.label).purity == 1


def test_pages_that_share_no_word_keep_their_words():
    rows = sp.csr_array(np.eye(3))
    assert topic_worth(rows, np.zeros(3, np.int64), 1).all()


def test_clusters_follow_subjects_and_not_sites():
    pages = pages_of_sites()
    found = cluster_pages(topic_rows(pages), ClusterSettings(k=3, map=False))
    assert agreement([subject for _, subject, _ in pages], found.clustering.label).purity == 1
    for cluster in found.clusters:
        assert {term for term, _ in cluster.terms} <= {word for words in SUBJECTS.values() for word in words}


def test_rows_of_no_collection_are_empty():
    found = weigh_by_topic(feature_matrix(sp.csr_matrix((0, 0)), []), [])
    assert (len(found.data), found.indptr.tolist(), found.vocabulary) == (0, [0], [])


def test_topic_rows_come_from_a_builder():
    builder = VectorBuilder(VectorSettings(weighting="topic"))
    for number, (site, _, said) in enumerate(pages_of_sites(2)):
        builder.add(str(number), parse(f"<p>{' '.join(said)}"), None, site=site)
    matrix = builder.matrix()
    assert "cat" in matrix.vocabulary
    assert len(matrix.keys) == len(matrix.vocabulary)


# Latent directions


def test_latent_rows_are_unit_rows_of_the_same_pages():
    unit = UnitRows.of(sp.vstack([sp.csr_matrix((1, 30)), sp.random(20, 30, 0.5, random_state=0)]).tocsr())
    found = latent_rows(unit, 5)
    assert found.rows.shape == (20, 5)
    assert found.page.tolist() == list(range(1, 21))
    np.testing.assert_allclose(np.linalg.norm(found.rows.toarray(), axis=1), 1, rtol=1e-5)


def test_few_pages_stay_as_they_are():
    unit = UnitRows.of(sp.csr_matrix(np.eye(4)))
    assert latent_rows(unit, 50) is unit
    assert latent_rows(unit, 0) is unit


# Names


def test_a_phrase_names_a_cluster_instead_of_its_words():
    counts = np.array([[1.0, 1, 0, 1]] * 5 + [[0, 0, 1, 1]] * 5)
    unit = UnitRows.of(sp.csr_matrix(counts))
    phrases = PhraseRows(sp.csr_matrix(np.array([[1.0]] * 5 + [[0]] * 5)), [("oil", "price")])
    label = np.repeat([0, 1], 5).astype(np.int32)
    terms = ClusterTerms.of(unit, label, ["oil", "price", "cat", "page"], phrases=phrases)
    assert terms.of_clusters([0]).name == "oil price"
    assert [word for word, _ in terms.of_clusters([0]).words] == ["oil", "price"]
    assert terms.of_clusters([1]).name == "cat"


def test_the_name_of_a_site_names_no_cluster():
    counts = np.array([[1.0, 1, 0]] * 4 + [[0, 0, 1]] * 4)
    sites = ["www.bbc.example"] * 4 + ["cnn.example"] * 4
    label = np.repeat([0, 1], 4).astype(np.int32)
    terms = ClusterTerms.of(UnitRows.of(sp.csr_matrix(counts)), label, ["bbc", "war", "cat"], sites=sites)
    assert terms.of_clusters([0]).name == "war"


def test_a_word_of_a_host_that_other_sites_use_too_may_be_a_name():
    counts = np.array([[1.0, 0]] * 6 + [[0, 1]] * 6)
    sites = ["food.example"] * 2 + ["b.example"] * 4 + ["c.example"] * 6
    label = np.repeat([0, 1], 6).astype(np.int32)
    terms = ClusterTerms.of(UnitRows.of(sp.csr_matrix(counts)), label, ["food", "cat"], sites=sites)
    assert terms.of_clusters([0]).name == "food"


def test_phrases_are_neighbouring_words_of_several_pages():
    builder, phrases = VectorBuilder(VectorSettings(weighting="tfidf")), PhraseCollector()
    texts = ["The white house stands.", "A white house, again", "white house <b>white</b> paper", "house. White paper"]
    for number, text in enumerate(texts):
        tree = parse(f"<p>{text}")
        builder.add(str(number), tree, None)
        phrases.add(tree, None, builder.rows[-1][0])
    phrases.add(None, None, np.zeros(0, np.uint64))
    found = phrases.rows(builder.names)
    assert found.words == [("white", "house")]
    assert found.matrix.toarray().ravel().tolist() == [1, 1, 1, 0, 0]


# Hierarchy


def tree_of_four():
    unit = UnitRows.of(sp.csr_matrix([[1.0, 0, 0], [0.9, 0.1, 0], [0, 0, 1.0], [0, 0.3, 1]]))
    return cluster_tree(unit, np.arange(4, dtype=np.int32), lambda clusters: "+".join(map(str, clusters)))


def test_similar_clusters_are_merged_first_and_a_cut_undoes_the_last_merges():
    tree = tree_of_four()
    assert tree.cut(4) == [0, 1, 2, 3]
    assert [len(set(tree.cut(count))) for count in (1, 2, 3, 4)] == [1, 2, 3, 4]
    two = tree.cut(2)
    assert two[0] == two[1] != two[2] == two[3]
    assert tree.name(two[0], ["a", "b", "c", "d"]) == "0+1"
    assert tree.name(0, ["a", "b", "c", "d"]) == "a"
    assert tree.merges[-1].name == "0+1+2+3"


@pytest.mark.parametrize("groups", [0, 5])
def test_a_cut_into_no_groups_or_too_many_is_refused(groups):
    with pytest.raises(SettingsError, match="expected 1 to 4"):
        tree_of_four().cut(groups)


# Density


def two_groups_and_a_stray():
    rng = np.random.default_rng(0)
    groups = [centre + 0.05 * rng.normal(size=(20, 3)) for centre in ([1, 0, 0], [0, 1, 0])]
    return UnitRows.of(sp.csr_matrix(np.vstack([*groups, [[0, 0, 1.0]]])))


def test_dense_groups_are_clusters_and_a_stray_page_is_an_outlier():
    found = density_clusters(two_groups_and_a_stray(), least_pages=8)
    assert found.label[-1] == NO_CLUSTER
    assert len(set(found.label[:20])) == len(set(found.label[20:40])) == 1
    assert found.label[0] != found.label[20]


def test_more_clusters_than_asked_for_are_merged():
    found = density_clusters(two_groups_and_a_stray(), least_pages=8, k=1)
    assert set(found.label.tolist()) == {0, NO_CLUSTER}


def test_pages_without_dense_groups_are_one_cluster():
    assert set(density_clusters(UnitRows.of(sp.csr_matrix(np.eye(4)))).label.tolist()) == {0}


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(SettingsError, match="hdbscan"):
        ClusterSettings(algorithm="best")


# Time


def test_few_days_are_counted_by_day_many_by_year():
    label = np.array([0, 0, 1, NO_CLUSTER], np.int32)
    few = over_time(label, ["2015-01-02", "2015-01-03", None, "2015-01-03"], 2)
    assert (few.periods, few.pages.tolist(), few.undated) == (("2015-01-02", "2015-01-03"), [[1, 0], [1, 0]], 1)
    dates = [f"{year}-0{month}-01" for year in (2000, 2002, 2003, 2004, 2005) for month in range(1, 10)]
    many = over_time(np.zeros(len(dates), np.int32), dates, 1)
    assert many.periods == ("2000", "2001", "2002", "2003", "2004", "2005")
    assert many.pages.ravel().tolist() == [9, 0, 9, 9, 9, 9]


def test_a_text_that_is_no_date_is_not_counted():
    assert over_time(np.zeros(1, np.int32), ["yesterday"], 1).undated == 1


def test_a_long_word_names_a_cluster_by_its_beginning_and_takes_its_own_memory_only():
    words = ["x" * 10_000_000, *(f"w{k}" for k in range(10_000))]  # an array of them would have 400 GB
    unit = UnitRows.of(sp.csr_matrix((np.ones(2), ([0, 1], [0, 1])), shape=(2, len(words))))
    terms = ClusterTerms.of(unit, np.array([0, 1], np.int32), words)
    assert terms.of_clusters([0]).name == "x" * 40
