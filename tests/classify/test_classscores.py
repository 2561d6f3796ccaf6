"""Scores of classes, levels of paths and folds, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.classify.classifiers import choose_folds
from webwinnow.classify.classmodel import MOST_LEVELS, Taxonomy
from webwinnow.classify.scores import ClassScores, Reliability

PATHS = ["art/music", "science/physics/acoustics", "science/physics/optics", "science/biology"]


def test_precision_recall_and_f_of_each_class():
    found = ClassScores.of(list("aaabbc"), list("aabbba"))
    assert found.classes == ("a", "b", "c")
    assert found.confusion.tolist() == [[2, 1, 0], [0, 2, 0], [1, 0, 0]]
    np.testing.assert_allclose(found.precision, [2 / 3, 2 / 3, 0])
    np.testing.assert_allclose(found.recall, [2 / 3, 1, 0])
    np.testing.assert_allclose(found.f, [2 / 3, 4 / 5, 0])
    assert found.accuracy == found.micro_f == 4 / 6
    np.testing.assert_allclose(found.macro_f, (2 / 3 + 4 / 5) / 3)


def test_class_that_no_page_has_does_not_lower_the_macro_f():
    assert ClassScores.of(["a"], ["a"], ["a", "b"]).macro_f == 1


def test_scores_of_no_page_are_0():
    found = ClassScores.of([], [])
    assert (found.accuracy, found.macro_f) == (0, 0)


def test_brier_and_calibration_error_by_hand():
    probability = np.array([[0.8, 0.2], [0.8, 0.2], [0.45, 0.55]])
    found = Reliability.of(probability, np.array([0, 1, 1]))
    np.testing.assert_allclose(found.brier, (2 * 0.2**2 + 2 * 0.8**2 + 2 * 0.45**2) / 3)
    # two pages predicted with 0.8, one of them right; one predicted with 0.55, right
    np.testing.assert_allclose(found.expected_error, (2 * 0.3 + 0.45) / 3)


def test_levels_of_paths_and_classes_that_end_above():
    found = Taxonomy(PATHS)
    assert found.depth == 3
    assert found.names[0] == ("art", "science")
    assert found.names[1] == ("art/music", "science/biology", "science/physics")
    assert found.names[2] == tuple(sorted(PATHS))
    assert found.at(PATHS[1], 1) == "science/physics"


def test_probability_of_a_topic_is_the_sum_over_its_classes():
    levels = Taxonomy(PATHS).probabilities(np.array([[0.4, 0.25, 0.2, 0.15]]))
    np.testing.assert_allclose(levels[0], [[0.4, 0.6]])
    np.testing.assert_allclose(levels[1], [[0.4, 0.15, 0.45]])


def test_labels_of_a_page_lie_on_one_path():
    taxonomy = Taxonomy(PATHS)
    topics, certain = taxonomy.predict(np.array([[0.4, 0.25, 0.2, 0.15]]))
    assert [taxonomy.names[level][topic] for level, topic in enumerate(topics[0])] == ["art", "art/music", "art/music"]
    np.testing.assert_allclose(certain, [[0.4, 0.4, 0.4]])
    topics, certain = taxonomy.predict(np.array([[0.2, 0.3, 0.25, 0.25]]))
    assert taxonomy.names[1][topics[0, 1]] == "science/physics"
    np.testing.assert_allclose(certain, [[0.8, 0.55, 0.3]])


def test_labels_have_one_spelling():
    taxonomy = Taxonomy([])
    assert taxonomy.tidy(" science / physics//optics/ ") == "science/physics/optics"
    assert len(taxonomy.path("/".join("abcdefghijkl"))) == MOST_LEVELS
    assert Taxonomy([], "").tidy(" AC/DC ") == "AC/DC"
    assert Taxonomy([], ">").path("a > b/c") == ("a", "b/c")


@given(st.lists(st.text("ab/", min_size=1, max_size=6).filter(lambda s: s.strip("/")), min_size=1, max_size=8))
def test_topics_of_the_last_level_are_the_classes_and_sums_stay_1(labels):
    tidy = Taxonomy([])
    taxonomy = Taxonomy(sorted({tidy.tidy(label) for label in labels}))
    probability = np.full((2, len(taxonomy.classes)), 1 / len(taxonomy.classes))
    assert taxonomy.names[-1] == tuple(sorted(taxonomy.classes))
    for found in taxonomy.probabilities(probability):
        np.testing.assert_allclose(found.sum(axis=1), 1)
    topics, certain = taxonomy.predict(probability)
    assert (np.diff(certain, axis=1) <= 1e-12).all()
    chain = [taxonomy.names[level][topic] for level, topic in enumerate(topics[0])]
    assert all(taxonomy.at(chain[-1], level) == name for level, name in enumerate(chain))


# Folds


def test_sites_stay_whole_in_folds():
    truth = np.array([0, 1] * 20)
    sites = [f"s{n // 4}" for n in range(40)]
    folds = choose_folds(truth, sites)
    assert folds is not None
    assert (folds.by, folds.count) == ("site", 5)
    assert all(len({int(folds.number[n]) for n in range(40) if sites[n] == site}) == 1 for site in set(sites))
    assert np.bincount(folds.number).tolist() == [8] * 5


@pytest.mark.parametrize(
    ("sites", "why"),
    [
        (None, "no sites"),
        (["a", "b"] * 4, "2 sites"),
        (["a", "b", "a", "b", "c", "d", "c", "d"], "100% of the pages"),
    ],
)
def test_folds_are_by_page_where_sites_do_not_do(sites, why):
    folds = choose_folds(np.array([0, 1, 0, 1, 2, 3, 2, 3]), sites, most=2)
    assert folds is not None
    assert folds.by == "page"
    assert why in folds.why


def test_folds_by_page_deal_out_the_classes():
    truth = np.array([0] * 10 + [1] * 5)
    folds = choose_folds(truth, seed=3)
    assert folds is not None
    assert all(np.bincount(truth[folds.number == fold]).tolist() == [2, 1] for fold in range(5))


def test_one_page_has_no_folds():
    assert choose_folds(np.array([0]), ["a"]) is None
