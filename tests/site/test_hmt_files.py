"""Models of trees as files: round trips, damaged files are refused; one model per class."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.errors import InputError, ModelError
from webwinnow.site.hmt.hiddenmarkovtree import HiddenMarkovTree, HiddenMarkovTreeClassifier
from webwinnow.site.hmt.treemodel import Forest, TreeParameters
from webwinnow.storage import modelfile

TREES = Forest([-1, 0, 0, -1, 3, 3, -1, 6], [0, 0, 1, 2, 2, 1, 0, -1])


def learned(**settings) -> HiddenMarkovTree:
    return HiddenMarkovTree(2, symbols=3, passes=5, **settings).fit(TREES)


def rewritten(data: bytes, name: str, content: np.ndarray | bytes) -> bytes:
    """A model file with one array or its header changed."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as archive, zipfile.ZipFile(out, "w") as changed:
        for entry in archive.namelist():
            if entry.partition(".")[0] != name:
                changed.writestr(entry, archive.read(entry))
            elif isinstance(content, bytes):
                changed.writestr(entry, content)
            else:
                array = io.BytesIO()
                np.save(array, content)
                changed.writestr(entry, array.getvalue())
    return out.getvalue()


def header(**changes: object) -> bytes:
    """The header of a model file, changed: `kind`, `version`, or a setting."""
    with zipfile.ZipFile(io.BytesIO(learned().to_bytes())) as archive:
        found = json.loads(archive.read("header.json"))
    for name, value in changes.items():
        (found if name in found else found["about"])[name] = value
    return json.dumps(found).encode()


def test_a_model_comes_back_from_its_file(tmp_path):
    model = learned(seed=3)
    model.save(tmp_path / "trees.npz")
    found = HiddenMarkovTree.load(tmp_path / "trees.npz")
    np.testing.assert_array_equal(found.predict_proba(TREES), model.predict_proba(TREES))
    assert found.settings == model.settings
    assert found.convergence_.history == model.convergence_.history
    assert found.to_bytes() == model.to_bytes()


def test_learning_continues_after_a_file():
    one, other = learned(), HiddenMarkovTree.from_bytes(learned().to_bytes())
    np.testing.assert_array_equal(
        one.partial_fit(TREES).parameters_.transition, other.partial_fit(TREES).parameters_.transition
    )


def test_a_model_without_symbols_comes_back():
    model = HiddenMarkovTree(2).fit(Forest([-1, 0], evidence=[[0, -1], [-1, 0]]))
    assert HiddenMarkovTree.from_bytes(model.to_bytes()).score(Forest([-1])) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("root", np.array([0.5, 0.6])),
        ("root", np.array([0.2, 0.3, 0.5])),
        ("transition", np.full((2, 2), np.nan)),
        ("transition", np.full((2, 2), "x")),
        ("emission", np.ones((2, 1))),
        ("counts_root", np.array([-1.0, 2.0])),
        ("counts_transition", np.ones((3, 3))),
        ("header", b"{}"),
        ("header", b"[1]"),
        ("header", header(states=2.0)),
        ("header", header(seed="x")),
        ("header", header(passes=None)),
        ("header", header(passes=0)),
        ("header", header(tolerance=float("nan"))),
        ("header", header(unheard_of=1)),
        ("header", header(version=99)),
        ("header", header(kind="other")),
        ("history", np.zeros((1, 2))),
        ("header", b"\xff"),
        ("root", np.array([{"run": "me"}], object)),
    ],
)
def test_a_file_whose_parts_do_not_fit_is_refused(name: str, column: np.ndarray | bytes):
    with pytest.raises(ModelError):
        HiddenMarkovTree.from_bytes(rewritten(learned().to_bytes(), name, column))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 255))
def test_a_damaged_file_is_refused_or_harmless(place: int, flip: int):
    data = bytearray(MODEL_FILE)
    data[place % len(data)] ^= flip
    try:
        HiddenMarkovTree.from_bytes(bytes(data)).score(TREES)
    except ModelError as error:
        assert "learn it again" in str(error) or "upgrade webwinnow" in str(error)


MODEL_FILE = learned().to_bytes()


@pytest.mark.parametrize("size", [10**9, 10**13, 2**62, 2**70])
def test_a_file_that_claims_to_hold_more_than_it_does_is_refused(size: int):
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (size,)})
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(MODEL_FILE)) as archive, zipfile.ZipFile(out, "w") as changed:
        for entry in archive.namelist():
            changed.writestr(entry, claim.getvalue() if entry == "root.npy" else archive.read(entry))
    with pytest.raises(ModelError):
        HiddenMarkovTree.from_bytes(out.getvalue())


# One model per class


def steady(turn: float) -> HiddenMarkovTree:
    """A model whose states change with a probability; each state emits its own symbol."""
    return HiddenMarkovTree.of(
        TreeParameters(
            root=[0.5, 0.5],
            transition=[[1 - turn, turn], [turn, 1 - turn]],
            emission=[[0.95, 0.05], [0.05, 0.95]],
        )
    )


def of_two_classes(trees: int, seed: int) -> tuple[Forest, list[str]]:
    chance = np.random.default_rng(seed)
    parent = np.tile(np.arange(-1, 9), trees)
    parent = np.where(parent < 0, -1, parent + np.repeat(np.arange(trees) * 10, 10))
    calm, restless = (steady(turn).sample(parent, chance)[0] for turn in (0.05, 0.9))
    return Forest.join([calm, restless]), ["calm"] * trees + ["restless"] * trees


def test_trees_are_classified_by_the_likelihood_under_the_model_of_each_class():
    classifier = HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=2, starts=3)).fit(*of_two_classes(100, 1))
    forest, truth = of_two_classes(100, 2)
    assert classifier.classes_.tolist() == ["calm", "restless"]
    assert (classifier.predict(forest) == truth).mean() > 0.95
    assert classifier.predict_proba(forest).sum(axis=1) == pytest.approx(1.0)


def test_a_classifier_learns_more_trees_and_new_classes():
    forest, truth = of_two_classes(50, 1)
    calm = np.flatnonzero(forest.tree < 50)
    classifier = HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=2, starts=3))
    classifier.partial_fit(forest.at(calm), truth[:50]).partial_fit(forest, truth)
    assert classifier.classes_.tolist() == ["calm", "restless"]
    assert classifier.models_[0].counts_.root.sum() == pytest.approx(100)


def test_a_classifier_comes_back_from_its_file(tmp_path):
    forest, truth = of_two_classes(20, 1)
    classifier = HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=2)).fit(forest, truth)
    classifier.save(tmp_path / "classes.npz")
    found = HiddenMarkovTreeClassifier.load(tmp_path / "classes.npz")
    assert found.predict(forest).tolist() == classifier.predict(forest).tolist()
    with pytest.raises(ModelError):
        HiddenMarkovTreeClassifier.from_bytes(classifier.to_bytes()[:-40])
    with pytest.raises(ModelError):
        HiddenMarkovTreeClassifier.from_bytes(MODEL_FILE)
    with pytest.raises(ModelError):
        HiddenMarkovTree.from_bytes(classifier.to_bytes())


def test_the_models_of_a_classifier_have_one_limit_together(monkeypatch):
    forest, truth = of_two_classes(20, 1)
    data = HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=2)).fit(forest, truth).to_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = [entry.file_size for entry in archive.infolist()]
        assert {"0_emission.npy", "1_emission.npy"} <= set(archive.namelist())  # no files in a file
    monkeypatch.setattr(modelfile, "LARGEST_MODEL", sum(sizes) - 1)
    with pytest.raises(ModelError, match="its arrays have more than"):
        HiddenMarkovTreeClassifier.from_bytes(data)


@pytest.mark.parametrize("labels", [["a"], [0.5, 0.5, 0.5], [None, None, None], []])
def test_labels_that_do_not_fit_are_refused(labels: list):
    with pytest.raises(InputError):
        HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=3)).fit(TREES, labels)


def test_a_classifier_that_learned_nothing_says_so():
    with pytest.raises(InputError, match="call fit"):
        HiddenMarkovTreeClassifier(HiddenMarkovTree(2, symbols=3)).predict(TREES)
