"""Models of classes on disk: a loaded model predicts the same, and no file does harm."""

from __future__ import annotations

import io
import zipfile
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow import ModelError, parse
from webwinnow.classify.classifiers import ChiSquareNeighbours, LinearSVM, sparse_rows
from webwinnow.classify.classmodel import METHODS, ClassModel
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings
from webwinnow.site.featureweights import CstWeightSettings
from webwinnow.storage.modelfile import ModelFormat, pack_arrays

FORMAT = ClassModel.file_format
WORDS = ["gearbox", "kitten", "menu", "wheel", "whisker"]


def trained(method: str, table: np.ndarray, labels: list[str], **others) -> tuple[ClassModel, object]:
    rows = sparse_rows(*_csr(table), table.shape[1])
    keys = np.arange(7, 7 + table.shape[1], dtype=np.uint64) * 1_000_003
    names = [*WORDS, *(f"w{n}" for n in range(table.shape[1]))][: table.shape[1]]
    matrix = FeatureMatrix(*_csr(table), [], names, keys, others.pop("rarity", None))
    classifier = METHODS[method](folds=2).fit(rows, labels)
    vectors = VectorSettings(weighting="tfidf", weights=CstWeightSettings(mapped=True))
    return ClassModel.of(method, classifier, matrix, vectors, **others), rows


def _csr(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(table)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=len(table)))))
    return table[rows, columns].astype(np.float64), columns.astype(np.int32), indptr.astype(np.int64)


TABLE = np.array([[0, 2, 1, 0, 1], [0, 1, 1, 0, 2], [2, 0, 1, 1, 0], [1, 0, 1, 2, 0]], float)
LABELS = ["pets/cats", "pets/cats", "cars", "cars"]


@cache
def saved(method: str) -> bytes:
    return trained(method, TABLE, LABELS)[0].to_bytes()


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_loaded_model_predicts_the_same_and_has_the_same_bytes(method, data):
    pages, words = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 6))
    cells = data.draw(st.lists(st.integers(0, 3), min_size=pages * words, max_size=pages * words))
    label = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5).filter(lambda s: s.strip("\0"))
    labels = [
        name.rstrip("\0")
        for name in data.draw(st.lists(st.sampled_from(["a", "b/c", "ü"]) | label, min_size=pages, max_size=pages))
    ]
    model, rows = trained(method, np.array(cells, float).reshape(pages, words), labels, site_by="domain")
    again = ClassModel.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert again.classifier.classes_.tolist() == model.classifier.classes_.tolist()
    assert (again.site_by, again.separator, again.vectors) == ("domain", "/", model.vectors)
    own = rows[:, np.flatnonzero(np.asarray(rows.sum(axis=0)))]
    assert np.array_equal(again.classifier.predict_proba(own), model.classifier.predict_proba(own))


def test_columns_that_a_classifier_does_not_use_are_left_behind():
    rarity = np.array([2.0, 3.0, 1.0, 5.0, 6.0])
    matrix = FeatureMatrix(*_csr(TABLE), [], WORDS, np.arange(5, dtype=np.uint64), rarity)
    classifier = ChiSquareNeighbours(features=2, folds=0).fit(sparse_rows(*_csr(TABLE), 5), LABELS)
    model = ClassModel.of("knn", classifier, matrix, VectorSettings(weighting="tfidf"))
    assert len(model.names) == 2
    assert "menu" not in model.names
    assert model.rarity.tolist() == [rarity[WORDS.index(name)] for name in model.names]


def test_pages_are_read_with_the_rarity_of_training():
    builder = VectorBuilder(VectorSettings(weighting="tfidf"))
    for n, text in enumerate(("kitten whisker", "kitten gearbox", "gearbox wheel", "wheel")):
        builder.add(str(n), parse(f"<p>{text}"), None)
    matrix = builder.matrix()
    classifier = LinearSVM(folds=0).fit(sparse_rows(matrix.data, matrix.indices, matrix.indptr, 4), list("aabb"))
    model = ClassModel.of("svm", classifier, matrix, builder.settings)
    one = VectorBuilder(model.vectors)
    one.add("0", parse("<p>kitten whisker unheard"), None)
    np.testing.assert_allclose(model.rows(one).toarray()[0], sparse_row(matrix, 0))


def sparse_row(matrix: FeatureMatrix, n: int) -> np.ndarray:
    return matrix.rows().toarray()[n]


# Hostile and damaged files


def altered(method: str, fields: dict[str, object] | None = None, **changed: np.ndarray | None) -> bytes:
    """A model with arrays changed or left out, or with other metadata."""
    with FORMAT.reading(saved(method), "m") as file:
        found = file.arrays | changed
        return FORMAT.pack(file.about | (fields or {}), {n: array for n, array in found.items() if array is not None})


@pytest.mark.parametrize(
    "changed",
    [
        {"weight": None},
        {"weight": np.zeros(3, np.float32)},
        {"weight": np.full(10, np.nan, np.float32)},
        {"weight": np.zeros((2, 5), np.float32)},
        {"bias": np.zeros(3)},
        {"key": np.zeros(5, np.uint64)},
        {"key": np.zeros(5, np.int64)},
        {"rarity": np.ones(2)},
        {"prior": np.ones(1)},
        {"fields": {"names": ["a"]}},
        {"fields": {"names": {"a": 1}}},
        {"fields": {"about": []}},
        {"fields": {"method": "pickle"}},
        {"fields": {"method": ["svm"]}},
        {"fields": {"classes": ["b", "a"]}},
        {"fields": {"classes": ["a", "a"]}},
        {"fields": {"classes": []}},
        {"fields": {"classes": 7}},
        {"fields": {"slope": -1.0}},
        {"fields": {"slope": "steep"}},
        {"fields": {"settings": {}}},
        {"fields": {"settings": {"features": "x", "cost": 1.0, "folds": 2, "seed": 0}}},
        {"fields": {"settings": {"features": 0, "cost": 1.0, "folds": 2, "seed": 0}}},
        {"fields": {"vectors": {"kinds": ["words"], "weights": {}, "weighting": "unheard"}}},
        {"fields": {"vectors": {"kinds": ["words"], "weights": {"x": 1}, "weighting": "cst"}}},
        {"fields": {"vectors": None}},
        {"fields": {"site_by": "moon"}},
        {"fields": {"site_by": 3}},
        {"fields": {"separator": None}},
    ],
)
def test_svm_that_does_not_fit_together_is_refused(changed):
    with pytest.raises(ModelError, match="not a webwinnow classifier or is damaged"):
        ClassModel.from_bytes(altered("svm", **changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"truth": np.array([0, 0, 1, 2])},
        {"truth": np.array([0, 0, -1, 1])},
        {"truth": np.zeros(3, np.int64)},
        {"row_indices": np.full(12, 99, np.int32)},
        {"row_indices": np.full(12, -1, np.int32)},
        {"row_indptr": np.array([0, 9, 3, 6, 12])},
        {"row_indptr": np.array([0, 3, 6, 9, 13])},
        {"row_indptr": np.zeros(0, np.int64)},
        {"row_data": np.full(12, np.inf)},
    ],
)
def test_neighbours_that_do_not_fit_together_are_refused(changed):
    with pytest.raises(ModelError, match="not a webwinnow classifier or is damaged"):
        ClassModel.from_bytes(altered("knn", **changed))


def test_newer_format_asks_for_an_upgrade():
    with (
        FORMAT.reading(saved("svm"), "m") as file,
        pytest.raises(ModelError, match="upgrade webwinnow"),
    ):
        ClassModel.from_bytes(ModelFormat(FORMAT.kind, 99, "").pack(file.about, file.arrays))


@pytest.mark.parametrize("header", [b"[]", b"{}", b"[" * 100_000, b'{"kind": "sites", "version": 2, "about": {}}'])
def test_a_foreign_header_is_refused(header):
    with (
        FORMAT.reading(saved("svm"), "m") as file,
        pytest.raises(ModelError, match="not a webwinnow classifier"),
    ):
        ClassModel.from_bytes(pack_arrays(file.arrays, header))


def test_pickled_arrays_are_never_loaded():
    out = io.BytesIO()
    np.savez(out, about=np.array([{"kind": "classifier"}], object))
    with pytest.raises(ModelError):
        ClassModel.from_bytes(out.getvalue())


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_changed_byte_is_refused_or_harmless(place, value):
    data = bytearray(saved("svm"))
    data[place % len(data)] = value
    try:
        found = ClassModel.from_bytes(bytes(data))
    except ModelError:
        return
    assert found.classifier.predict_proba(sparse_rows(*_csr(TABLE), 5)).shape[0] == 4


def test_archive_that_unpacks_to_too_much_is_refused(monkeypatch):
    data = saved("svm")
    monkeypatch.setattr("webwinnow.storage.modelfile.LARGEST_ARRAY", 100)
    with pytest.raises(ModelError, match="bytes"):
        ClassModel.from_bytes(data)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"<html>", b"\0" * 100])
def test_foreign_files_are_refused(tmp_path, content):
    path = tmp_path / "m.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"m\.npz"):
        ClassModel.load(path)


def test_file_that_is_missing_or_a_folder_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        ClassModel.load(tmp_path / "none.npz")
    with pytest.raises(ModelError, match="cannot be read"):
        ClassModel.load(tmp_path)


def test_model_is_a_plain_archive_of_arrays():
    with zipfile.ZipFile(io.BytesIO(saved("knn"))) as archive:
        assert archive.namelist()[0] == "header.json"
        assert all(name.endswith(".npy") for name in archive.namelist()[1:])
