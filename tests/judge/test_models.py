"""The page model's weights: they load without pickle, are validated, and give the same result for the same page."""

from __future__ import annotations

import numpy as np
import pytest
from modelfiles import with_about, with_arrays, with_header

from webwinnow.errors import ModelError
from webwinnow.judge.featureschema import CONTEXTS, FEATURES
from webwinnow.judge.models import SHIPPED, PageModel, log_odds
from webwinnow.judge.reading import GENRES, linear_scores, read
from webwinnow.page.parsing import parse

LARGEST = 3_000_000
WEIGHTS = SHIPPED.read_bytes()
PAGE = (
    "<nav><a href=/>Home</a></nav><main><h1>Story</h1>"
    "<p>It was a dark night, and nobody came to see us. So it went on, for years, until the war was over.</p></main>"
)


@pytest.fixture(scope="module")
def model() -> PageModel:
    return PageModel.load()


def test_weights_are_small_and_come_back_as_they_were(model: PageModel):
    assert SHIPPED.stat().st_size <= LARGEST
    assert PageModel.from_bytes(model.to_bytes()).to_bytes() == SHIPPED.read_bytes()


def test_weights_of_a_path_are_read_too(model: PageModel, tmp_path):
    path = tmp_path / "weights.npz"
    path.write_bytes(SHIPPED.read_bytes())
    tree = parse(PAGE)
    assert np.array_equal(PageModel.load(path).score(tree).probability, model.score(tree).probability)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive",
        SHIPPED.read_bytes()[:5000],
        with_arrays(WEIGHTS, first_feature=np.full((250, 6), 9999, np.int16)),
        with_arrays(WEIGHTS, first_border=np.full((250, 6), np.nan, np.float32)),
        with_arrays(WEIGHTS, linear_words=np.zeros(3, np.int16)),
        with_arrays(WEIGHTS, calibration=np.array([[1.0, 0.0], [0.0, 1.0]])),
        with_arrays(WEIGHTS, cut_shift=np.full(7, np.nan)),
        with_header(WEIGHTS, about=[]),
        with_arrays(WEIGHTS, confidence=np.array([{}], object)),
    ],
    ids=["nothing", "text", "half", "feature", "border", "table", "knots", "shift", "about", "pickle"],
)
def test_damaged_weights_are_refused(data: bytes):
    with pytest.raises(ModelError):
        PageModel.from_bytes(data)


def test_weights_for_other_features_are_refused():
    with pytest.raises(ModelError, match="make train"):
        PageModel.from_bytes(with_about(WEIGHTS, features="words chars"))


def test_each_block_has_a_probability_and_the_page_a_genre(model: PageModel):
    scores = model.score(parse(PAGE))
    assert len(scores.probability) == len(scores.reading.words) == 3
    assert ((scores.probability >= 0) & (scores.probability <= 1)).all()
    assert scores.genre_probability.sum() == pytest.approx(1.0, abs=1e-4)
    assert scores.genre in GENRES
    assert scores.features.shape == (len(FEATURES) + len(GENRES) + len(CONTEXTS), 3)
    assert np.isfinite(log_odds(scores.probability)).all()


def test_prose_is_likelier_than_navigation(model: PageModel):
    home, _, story = model.score(parse(PAGE)).probability
    assert story > 0.5 > home


def test_the_same_page_scores_the_same(model: PageModel):
    first, again = model.score(parse(PAGE)), model.score(parse(PAGE))
    assert np.array_equal(first.probability, again.probability)
    assert np.array_equal(first.features, again.features)


def test_linear_scores_are_sums_over_tokens_by_hand(model: PageModel):
    reading = read(parse("<p>alpha beta</p>"))
    scores, _ = linear_scores(reading, model.linear)
    body, root = reading.node_ids[reading.node_offsets[1]], reading.node_ids[reading.node_offsets[0]]
    words = model.linear.words[reading.word_ids].sum() / np.sqrt(2) / 4096
    near = model.linear.near[reading.node_ids[reading.node_offsets[2]]] / 4096
    mid = (int(model.linear.mid[body]) + int(model.linear.mid[root])) / np.sqrt(2) / 4096
    far = model.linear.far[root] / 4096
    assert scores[:, 0] == pytest.approx([words + near + mid + far + model.linear.bias, words, near, mid, far])


@pytest.mark.parametrize("page", ["", "<p> </p>", "<p>...</p>", "x", "<frameset><frame></frameset>"])
def test_pages_with_hardly_anything_are_scored(model: PageModel, page: str):
    scores = model.score(parse(page))
    assert len(scores.probability) == len(scores.reading.words)
    assert 0.0 <= model.judged(scores.probability, scores.reading.words)[1] <= 1.0
