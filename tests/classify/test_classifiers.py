"""Classifiers over sparse rows, by hand on a few points: classes, votes, probabilities, folds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from webwinnow import SettingsError
from webwinnow.classify.classifiers import ChiSquareNeighbours, LinearSVM, best_features, probabilities, slope_of

# columns: kitten, whisker, gearbox, wheel, menu
ROWS = np.array(
    [
        [2, 1, 0, 0, 1],
        [1, 2, 0, 0, 1],
        [1, 0, 0, 0, 1],
        [0, 0, 2, 1, 1],
        [0, 0, 1, 2, 1],
        [0, 0, 0, 1, 1],
    ],
    float,
)
LABELS = ["cats", "cats", "cats", "cars", "cars", "cars"]
CLASSIFIERS = [LinearSVM, ChiSquareNeighbours]


def rows(values) -> sparse.csr_array:
    return sparse.csr_array(np.asarray(values, float))


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_pages_similar_to_a_class_are_classified_into_it(kind):
    found = kind(folds=0).fit(rows(ROWS), LABELS)
    assert found.classes_.tolist() == ["cars", "cats"]
    assert found.predict(rows([[0, 3, 0, 0, 1], [0, 0, 0, 9, 0]])).tolist() == ["cats", "cars"]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_probabilities_are_of_all_classes_and_add_up_to_1(kind):
    found = kind(folds=3).fit(rows(ROWS), LABELS).predict_proba(rows(ROWS))
    assert found.shape == (6, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert (found[:3, 1] > 0.5).all()
    assert (found[3:, 0] > 0.5).all()


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_page_without_known_features_has_the_shares_of_training(kind):
    found = kind(folds=0).fit(rows(np.vstack((ROWS, ROWS[:1]))), [*LABELS, "cats"])
    assert found.predict_proba(rows([[0, 0, 0, 0, 0]])).tolist() == [[3 / 7, 4 / 7]]
    assert found.known(rows([[0, 0, 0, 0, 0], [0, 1, 0, 0, 0]])).tolist() == [False, True]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_a_single_class_is_learned_and_predicted_for_every_page(kind):
    found = kind().fit(rows(ROWS), ["cats"] * 6)
    assert found.predict(rows(ROWS)).tolist() == ["cats"] * 6
    assert found.predict_proba(rows(ROWS)).tolist() == [[1.0]] * 6
    assert found.held_out_ is None


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_class_of_one_page_does_not_stop_the_others(kind):
    found = kind(folds=3).fit(rows(ROWS), [*LABELS[:-1], "bikes"])
    assert found.classes_.tolist() == ["bikes", "cars", "cats"]
    held_out = found.held_out_
    assert held_out is not None
    assert held_out[5, 0] == 0  # no training page is left for bikes
    np.testing.assert_allclose(held_out.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_three_classes_have_a_column_each(kind):
    found = kind(folds=0).fit(rows(ROWS), ["a", "a", "a", "b", "b", "c"])
    assert found.predict_proba(rows(ROWS)).shape == (6, 3)


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_rows_without_a_feature_are_learned(kind):
    found = kind(folds=2).fit(rows(np.zeros((4, 3))), ["a", "a", "a", "b"])
    assert found.predict(rows(np.zeros((1, 3)))).tolist() == ["a"]


def test_nearest_pages_vote_with_their_cosines():
    found = ChiSquareNeighbours(neighbours=3, folds=0).fit(rows([[1, 0], [1, 1], [0, 1], [0, 1]]), list("aabb"))
    # cosines with (1, 0): 1, 1/sqrt 2, 0, 0; of the two zeros the first votes, with nothing
    assert found._scores(found._known(rows([[2, 0]]))).tolist() == [[1.0, 0.0]]
    # with (0, 1): 0, 1/sqrt 2, 1, 1
    share = round(0.5**0.5, 6) / (2 + round(0.5**0.5, 6))
    np.testing.assert_allclose(found._scores(found._known(rows([[0, 1]])))[0, 0], share, atol=1e-6)


def test_chi_square_leaves_out_what_all_classes_share():
    truth = np.array([1, 1, 1, 0, 0, 0])
    assert best_features(rows(ROWS), truth, 4).tolist() == [0, 1, 2, 3]
    assert best_features(rows(ROWS), truth, 1).tolist() == [0]  # on all pages of cats, on none of cars; so is wheel
    assert best_features(rows(ROWS), truth, 9).tolist() == [0, 1, 2, 3, 4]


def test_svm_margin_is_what_scikit_learn_has():
    from sklearn.svm import LinearSVC

    length = np.linalg.norm(ROWS, axis=1, keepdims=True)
    theirs = LinearSVC(random_state=0).fit(ROWS / length, LABELS).decision_function(ROWS / length)
    ours = LinearSVM(folds=0).fit(rows(ROWS), LABELS)
    np.testing.assert_allclose(ours._scores(ours._known(rows(ROWS)))[:, 1], theirs, atol=1e-5)


def test_indexes_of_64_bits_are_taken():
    wide = rows(ROWS)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert LinearSVM(folds=2).fit(wide, LABELS).predict(wide).tolist() == LABELS


def test_probability_of_two_classes_is_a_sigmoid_of_the_margin():
    found = probabilities(np.array([[-1.5, 1.5]]), 2.0)
    np.testing.assert_allclose(found, [[1 / (1 + np.exp(6)), 1 / (1 + np.exp(-6))]], rtol=1e-12)


def test_slope_makes_the_mean_probability_the_share_that_is_right():
    scores = np.array([[1.0, 0.0]] * 1000)
    truth = np.array([0] * 800 + [1] * 200)
    # of sigmoid(a) = 0.8, so a = ln 4; Platt's targets shrink it slightly
    np.testing.assert_allclose(slope_of(scores, truth), np.log(4), atol=0.01)


def test_slope_of_pages_classified_without_error_is_finite():
    assert 1 < slope_of(np.array([[1.0, -1.0], [-1.0, 1.0]] * 10), np.array([0, 1] * 10)) < 100


def test_pages_of_a_class_without_score_have_no_say_in_the_slope():
    scores = np.array([[1.0, 0.0]] * 10 + [[3.0, -np.inf]] * 5)
    truth = np.array([0] * 8 + [1] * 7)
    assert slope_of(scores, truth) == slope_of(scores[:10], truth[:10])


def test_folds_are_by_site_and_a_held_out_page_is_classified_by_other_sites():
    # each site has its own word (columns 5 to 7) more distinctive than the topic: only other sites score fairly
    sites = [site for site in "xyz" for _ in range(6)]
    own = np.zeros((18, 3))
    own[np.arange(18), np.repeat([0, 1, 2], 6)] = 1
    found = LinearSVM(folds=3).fit(rows(np.hstack((np.vstack([ROWS] * 3), own))), LABELS * 3, sites)
    assert found.folds_ is not None
    assert (found.folds_.by, found.folds_.count) == ("site", 3)
    assert found.held_out_ is not None
    assert found.classes_[found.held_out_.argmax(axis=1)].tolist() == LABELS * 3


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_senseless_input_is_refused(kind):
    with pytest.raises(SettingsError, match="6 rows and 5 labels"):
        kind().fit(rows(ROWS), LABELS[:-1])
    with pytest.raises(SettingsError, match="not finite numbers"):
        kind().fit(rows([[np.inf], [1]]), ["a", "b"])
    with pytest.raises(SettingsError, match="rows of 2 columns: expected 5"):
        kind(folds=0).fit(rows(ROWS), LABELS).predict(rows([[1, 1]]))
    with pytest.raises(SettingsError, match="expected 1 or more"):
        kind(features=0)


def test_senseless_settings_are_refused():
    with pytest.raises(SettingsError, match="more than 0"):
        LinearSVM(cost=0)
    with pytest.raises(SettingsError, match="expected 1 or more"):
        ChiSquareNeighbours(neighbours=0)


@pytest.mark.parametrize("kind", [LinearSVM, ChiSquareNeighbours])
def test_long_names_of_classes_and_sites_take_their_own_memory_only(kind):
    pages, long = 10_000, "z" * 10_000_000  # an array of such names would have 400 GB
    labels = ["cats", long] * (pages // 2)
    rows = sparse.csr_array(np.tile(np.eye(2), (pages // 2, 1)))
    model = kind(features=2, folds=2).fit(rows, labels, ["a", long, "b", "c"] * (pages // 4))
    assert model.predict(rows[:2]).tolist() == ["cats", long]
