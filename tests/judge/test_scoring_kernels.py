"""The page model's kernels: the compiled ones against their plain twins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import plain_scoring
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webwinnow.judge import _scoring as compiled_scoring
from webwinnow.judge import reading
from webwinnow.judge._genre import forest_row, page_features
from webwinnow.judge.models import PageModel
from webwinnow.judge.reading import Reading, block_features, context_features, linear_scores, read
from webwinnow.page.parsing import parse

ENGINES = {"compiled": compiled_scoring, "plain": plain_scoring}


def with_both(monkeypatch: pytest.MonkeyPatch, work):
    """The results of `work` with the compiled kernels and with the plain ones."""
    found = []
    for engine in ENGINES.values():
        monkeypatch.setattr(reading, "_scoring", engine)
        found.append(work())
    return found


def assert_same(mine: np.ndarray, theirs: np.ndarray) -> None:
    assert mine.dtype == theirs.dtype
    assert mine.shape == theirs.shape
    assert np.array_equal(mine, theirs)


def assert_twins_agree(page: str | bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = parse(page)
    mine, theirs = with_both(monkeypatch, lambda: read(tree))
    for name in Reading.__slots__:
        if name != "blocks":
            assert_same(getattr(mine, name), getattr(theirs, name))
    rng = np.random.default_rng(len(page))
    linear = PageModel.load().linear
    for one, other in zip(*with_both(monkeypatch, lambda: linear_scores(mine, linear)), strict=True):
        assert_same(one, other)
    scores, heading = rng.normal(size=(5, len(mine.said))).round(1), rng.normal(size=len(mine.said))
    assert_same(*with_both(monkeypatch, lambda: block_features(mine, scores, heading)))
    given_ = rng.random(len(mine.said)).round(1)
    assert_same(*with_both(monkeypatch, lambda: context_features(mine, given_)))


@pytest.mark.parametrize(
    "page", sorted((Path(__file__).parents[1] / "golden").glob("*.html")), ids=lambda page: page.stem
)
def test_twins_see_the_same_features_in_golden_pages(page: Path, monkeypatch: pytest.MonkeyPatch):
    assert_twins_agree(page.read_bytes(), monkeypatch)


PAGES = {
    "empty": "",
    "blank": "<p> \n </p>",
    "one word": "x",
    "told": '<title>A b c</title><meta name=description content="one two three four"><p>one two three four A!',
    "json-ld": '<script type="application/ld+json">{"@type":"Product","description":"red \\"old\\" shoes"}</script>'
    "<p>red old shoes</p>",
    "copies": "<h2>a b</h2><p>c d</p><p>c d</p><ul><li>c d<li>c d<li>e</ul><h1>a b</h1>",
    "items": "<div>" + "".join(f"<div class=i><a href=x>n {k}</a> $5.00</div>" for k in range(5)) + "</div>",
    "names": '<div class="navBar main-nav  a1b--c_d HTMLDoc é-x" id=Side role="main"><p itemprop=name>x</p></div>',
    "many names": f'<p class="{" ".join("ab-cd" for _ in range(90))}">x</p>',
    "scripts": "<p>漢字。 かな、 ไทย ¿é_1 İstanbul ٣ ²</p><p>😀 𝒳y £3 ₹4 «q» “r” © |</p>",
    "hidden": "<div hidden><p>a, b. C!</p></div><noscript><p>d</p></noscript><pre>e: f</pre>",
    "controls": "<p>a\x1cb\x85c\u2028d</p>",
}


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_twins_see_the_same_features(page: str, monkeypatch: pytest.MonkeyPatch):
    assert_twins_agree(page, monkeypatch)


PARTS = (
    "<div>|</div>|<p>|</p>|<li class=x>|<h1>|<h3>|</h3>|<a href=y>|</a>|<b>|</b>|a|word, |A b c. |12 |\u4e2d|<img>|"
    "<input>|<table><tr><td>|<div hidden>|<br>"
).split("|")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=60))
@example(["<h1>", "a", "<h1>", "a"])
def test_twins_see_the_same_features_in_any_page(parts: list[str]):
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert_twins_agree("".join(parts), monkeypatch)


@given(st.text())
@example("ǅ İ ß ﬁ")
def test_twins_find_the_same_word_keys_and_shingles(text: str):
    assert_same(compiled_scoring.word_keys(text), plain_scoring.word_keys(text))
    assert_same(compiled_scoring.shingle_map(text), plain_scoring.shingle_map(text))


@given(st.integers(0, 6), st.integers(1, 3), st.integers(0, 5), st.integers(0, 2**32 - 1))
def test_twins_score_forests_equally(trees: int, levels: int, blocks: int, seed: int):
    rng = np.random.default_rng(seed)
    forest = (
        rng.integers(0, 4, (trees, levels)).astype(np.int16),
        rng.normal(size=(trees, levels)).astype(np.float32),
        rng.integers(-32_767, 32_768, (trees, 1 << levels)).astype(np.int16),
    )
    columns = rng.normal(size=(4, blocks)).astype(np.float32)
    assert_same(compiled_scoring.forest_sums(columns, *forest), plain_scoring.forest_sums(columns, *forest))


@given(st.integers(0, 6), st.integers(1, 3), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_twins_score_one_row_with_a_forest_of_several_outputs_equally(trees: int, levels: int, outputs: int, seed: int):
    rng = np.random.default_rng(seed)
    given = (
        rng.normal(size=4).astype(np.float32),
        rng.integers(0, 4, (trees, levels)).astype(np.int16),
        rng.normal(size=(trees, levels)).astype(np.float32),
        rng.integers(-32_767, 32_768, (outputs, trees, 1 << levels)).astype(np.int16),
    )
    assert_same(forest_row(*given), plain_scoring.forest_row(*given))


@pytest.mark.parametrize(("features", "blocks"), [(3, 0), (1, 1), (40, 7), (5, 400)])
def test_features_of_a_page_are_means_over_its_blocks_and_over_its_words(features: int, blocks: int):
    rng = np.random.default_rng(features + blocks)
    rows = rng.normal(size=(features, blocks)).astype(np.float32)
    words = rng.integers(0, 50, (blocks, 3)).astype(np.int32)[:, 1]
    found = page_features(rows, words)
    exact = rows.astype(np.float64)
    expected = (exact.sum(axis=1) / max(blocks, 1), exact @ words / max(words.sum(), 1))
    assert found.dtype == np.float32
    assert found == pytest.approx(np.concatenate(expected), rel=1e-6, abs=1e-9)


def test_features_of_a_page_need_the_words_of_each_block():
    with pytest.raises(ValueError, match="different lengths"):
        page_features(np.zeros((2, 3), np.float32), np.zeros(4, np.int32))


def test_a_forest_with_a_feature_that_a_row_does_not_have_is_refused():
    with pytest.raises(ValueError, match="no feature 3"):
        forest_row(
            np.zeros(1, np.float32),
            np.array([[3]], np.int16),
            np.zeros((1, 1), np.float32),
            np.zeros((1, 1, 2), np.int16),
        )


@pytest.mark.parametrize("engine", ENGINES)
def test_kernels_refuse_what_does_not_fit_together(engine: str):
    kernels = ENGINES[engine]
    ids, offsets = np.array([0, 9], np.int32), np.array([0, 2], np.int32)
    few, root = np.zeros(4, np.int16), np.zeros(1, np.int32)
    with pytest.raises(ValueError, match="no weight of token 9"):
        kernels.name_scores(root - 1, root, root, ids, offsets, few, few, few)
    with pytest.raises(ValueError, match="no weight of token 9"):
        kernels.linear_scores(np.zeros((3, 1)), ids, offsets, few, few, 0, np.array([-1]), 1.0, 0.0)
    with pytest.raises(ValueError, match="parent"):
        kernels.name_scores(
            np.array([-1, 5], np.int32), root, root, ids * 0, np.arange(3, dtype=np.int32), few, few, few
        )
    with pytest.raises(ValueError, match="no feature"):
        kernels.forest_sums(
            np.zeros((1, 1), np.float32),
            np.array([[3]], np.int16),
            np.zeros((1, 1), np.float32),
            np.zeros((1, 2), np.int16),
        )
    with pytest.raises(ValueError, match="outside the text"):
        none = np.zeros(0, np.uint64)
        kernels.block_words(
            "ab", np.array([0, 9], np.int32), np.array([0, 1]), root, np.ones(1, np.uint32), none, none,
            np.zeros(0, np.uint8),
        )  # fmt: skip


@given(st.lists(st.integers(0, 15), max_size=40))
def test_twins_sum_the_rows_of_distinct_tokens_equally(tokens: list[int]):
    table = np.arange(32, dtype=np.int16).reshape(16, 2) - 9
    ids = np.array(tokens, np.int32)
    fast, slow = (twin.distinct_sums(ids, table) for twin in (compiled_scoring, plain_scoring))
    assert fast[0] == slow[0] == len(set(tokens))
    np.testing.assert_array_equal(fast[1], slow[1])


@pytest.mark.parametrize("twin", [compiled_scoring, plain_scoring])
@pytest.mark.parametrize("token", [-1, 16])
def test_a_token_without_a_row_is_refused(twin, token: int):
    with pytest.raises(ValueError, match="there is no row"):
        twin.distinct_sums(np.array([0, token], np.int32), np.zeros((16, 2), np.int16))


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9))), st.sampled_from((0.25, 1.0, 4.0)))
def test_the_twins_cut_at_the_same_probability(blocks, square):
    probability = np.array([block[0] / 6 for block in blocks])
    words = np.array([block[1] for block in blocks], np.int32)
    assert compiled_scoring.best_cut(probability, words, square) == plain_scoring.best_cut(probability, words, square)
