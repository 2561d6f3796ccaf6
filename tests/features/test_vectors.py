"""Feature vectors: rows of pages, weighted by the repetition on their site."""

from __future__ import annotations

import io

import numpy as np
import pytest

from webwinnow import SettingsError, parse
from webwinnow.features import vectors
from webwinnow.features.vectors import FeatureMatrix, VectorBuilder, VectorSettings, learn_weights

STORIES = ("Turnips grow in cellars", "Harbours freeze when winter bites", "Violins need patience")
PAGES = [
    f"<body><div><ul><li><b>Home menu</b></ul></div><div><p><i><b>{story}</b></i></p><img src=/p{n}.png></div>"
    for n, story in enumerate(STORIES)
]


def built(settings: VectorSettings | None = None) -> FeatureMatrix:
    trees = [parse(page, url="http://a.example/") for page in PAGES]
    builder = VectorBuilder(settings)
    weights = learn_weights(trees, builder.settings.weights)
    for n, tree in enumerate(trees):
        builder.add(f"page{n}", tree, weights)
    return builder.matrix()


def row(matrix: FeatureMatrix, n: int) -> dict[str, float]:
    cells = slice(int(matrix.indptr[n]), int(matrix.indptr[n + 1]))
    return {matrix.vocabulary[i]: v for i, v in zip(matrix.indices[cells], matrix.data[cells].tolist(), strict=True)}


def test_words_of_the_page_weigh_and_words_of_the_site_do_not():
    matrix = built()
    assert set(row(matrix, 0)) == {"turnips", "grow", "cellars"}
    assert "menu" not in matrix.vocabulary


def test_columns_are_in_alphabetical_order_and_rows_name_their_pages():
    matrix = built()
    assert matrix.vocabulary == sorted(matrix.vocabulary)
    assert matrix.page_ids == ["page0", "page1", "page2"]


def test_stop_words_numbers_and_single_letters_are_kept_only_on_request():
    assert "in" not in built().vocabulary
    assert "in" in built(VectorSettings(stop_words=False)).vocabulary


def test_images_join_when_asked_for():
    assert "@img:p0.png" in row(built(VectorSettings(kinds=("words", "images"))), 0)
    assert not any(name.startswith("@") for name in built().vocabulary)


def test_page_that_failed_has_an_empty_row():
    builder = VectorBuilder()
    builder.add("gone", None, None)
    builder.add("here", parse(PAGES[0]), None)
    matrix = builder.matrix()
    assert matrix.indptr.tolist()[:2] == [0, 0]
    assert row(matrix, 1)


def test_tfidf_weighs_rare_words_more():
    builder = VectorBuilder(VectorSettings(weighting="tfidf"))
    for n, text in enumerate(("turnips winter", "violins winter")):
        builder.add(str(n), parse(f"<p>{text}"), None)
    found = row(builder.matrix(), 0)
    assert found["turnips"] > found["winter"]


def test_saved_matrix_is_a_csr_matrix_that_numpy_reads_without_pickle():
    out = io.BytesIO()
    built().save(out)
    out.seek(0)
    with np.load(out, allow_pickle=False) as found:
        assert set(found) == {"data", "indices", "indptr", "shape", "page_ids", "vocabulary"}
        assert found["shape"].tolist() == [3, len(found["vocabulary"])]
        assert found["indptr"][-1] == len(found["data"]) == len(found["indices"])


@pytest.mark.parametrize("settings", [{"kinds": ("verbs",)}, {"kinds": ()}, {"weighting": "bm25"}])
def test_senseless_settings_are_refused(settings):
    with pytest.raises(SettingsError, match="there are"):
        VectorSettings(**settings)


def test_other_pages_are_weighed_with_the_rarity_of_a_collection():
    builder = VectorBuilder(VectorSettings(weighting="tfidf"))
    for n, text in enumerate(("turnips winter", "violins winter")):
        builder.add(str(n), parse(f"<p>{text}"), None)
    known = builder.matrix()
    assert known.rarity is not None
    other = VectorBuilder(builder.settings)
    other.add("alone", parse("<p>turnips winter unheard"), None)
    found = other.matrix(dict(zip(known.keys.tolist(), known.vocabulary, strict=True)), known.rarity)
    assert row(found, 0) == row(known, 0)
    assert built().rarity is None


def test_one_long_name_does_not_make_all_names_long(monkeypatch):
    monkeypatch.setattr(vectors, "MOST_NAME_CHARACTERS", 100_000)
    long = "x" * 1_000_000
    names = ["a", long + "y", long + "z", *(f"p{k}" for k in range(97))]
    matrix = FeatureMatrix(np.zeros(0), np.zeros(0, np.int32), np.zeros(101, np.int64), names, ["word", long])
    file = io.BytesIO()
    matrix.save(file)
    found = np.load(io.BytesIO(file.getvalue()))
    assert found["page_ids"].itemsize // 4 == 1_000
    assert found["vocabulary"].itemsize // 4 == 50_000
    assert found["page_ids"][[0, 3]].tolist() == ["a", "p0"]
    assert len(set(found["page_ids"].tolist())) == 100
