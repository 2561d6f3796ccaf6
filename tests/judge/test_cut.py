"""The cut: of all sets of blocks the one with the highest expected F."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from webwinnow.judge.evidence import page_with
from webwinnow.judge.models import BETA, LEAST_CUT, PageModel, best_cut
from webwinnow.judge.reading import GENRES
from webwinnow.page.parsing import parse
from webwinnow.record.cleaner import Cleaner

ROUNDING = 1e-6
DOCS = Path(__file__).parents[2] / "docs" / "page-model.md"


def expected_f(
    keep: NDArray[np.bool_], probability: NDArray[np.float64], words: NDArray[np.int32], beta: float = 1.0
) -> float:
    """F-beta of the expected counts: (1 + b2) TP / (kept + b2 content), with TP = sum of p w over what is kept."""
    hoped = probability * words
    below = float(words[keep].sum()) + beta * beta * float(hoped.sum())
    return (1.0 + beta * beta) * float(hoped[keep].sum()) / below if below > 0.0 else 0.0


@given(
    st.lists(st.tuples(st.integers(0, 20).map(lambda p: p / 20), st.integers(0, 30)), min_size=1, max_size=8),
    st.sampled_from(list(BETA)),
)
def test_no_set_of_blocks_has_a_higher_expected_f(blocks: list[tuple[float, int]], favor):
    probability, words = np.array([p for p, _ in blocks]), np.array([w for _, w in blocks], np.int32)
    lowest, found = best_cut(probability, words, favor)
    sets = (np.array(kept, np.bool_) for kept in product((False, True), repeat=len(blocks)))
    best = max(expected_f(kept, probability, words, BETA[favor]) for kept in sets)
    assert found == pytest.approx(best, abs=2 * ROUNDING)
    assert expected_f(probability >= lowest, probability, words, BETA[favor]) == pytest.approx(best, abs=2 * ROUNDING)


def test_precision_keeps_no_more_and_recall_no_less():
    probability, words = np.array([0.9, 0.6, 0.45, 0.3, 0.1]), np.full(5, 10, np.int32)
    cuts = [best_cut(probability, words, favor)[0] for favor in ("precision", None, "recall")]
    assert cuts[0] > cuts[1] > cuts[2]


def test_any_array_will_do():
    probability, words = np.array([[1.0, 0.0], [0.4, 0.0]], np.float32)[:, 0], np.array([10, 10])
    assert best_cut(probability, words) == (1.0, pytest.approx(20 / 24, abs=ROUNDING))


def test_the_example_of_the_docs_prints_what_it_says(capsys):
    code = "\n".join(re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL))
    exec(compile(code, str(DOCS), "exec"), {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)


def test_by_hand():
    # 10 words sure, 10 words with 0.4: one block gives 2 * 10 / (10 + 14), both give 2 * 14 / (20 + 14)
    lowest, found = best_cut(np.array([1.0, 0.4]), np.array([10, 10], np.int32))
    assert (lowest, found) == (1.0, pytest.approx(20 / 24, abs=ROUNDING))


@pytest.mark.parametrize("words", [[], [0, 0]])
def test_a_page_without_words_keeps_nothing(words: list[int]):
    lowest, found = best_cut(np.ones(len(words)), np.array(words, np.int32))
    assert found == 0.0
    assert lowest > 1.0


SHIFT = np.array([0.0, -0.1, 0.0, 0.0, 0.0, 0.0, 0.5])
PROBABILITY, WORDS = np.array([0.9, 0.45, 0.4, 0.1]), np.array([50, 10, 10, 10], np.int32)


def of_genre(name: str) -> np.ndarray:
    return np.eye(len(GENRES))[GENRES.index(name)]


def test_the_cut_is_shifted_by_genre():
    model = replace(PageModel.load(), cut_shift=SHIFT)
    lowest = model.cut(PROBABILITY, WORDS)
    assert model.cut(PROBABILITY, WORDS, genre=of_genre("article")) == lowest
    assert model.cut(PROBABILITY, WORDS, genre=of_genre("collection")) == pytest.approx(lowest - 0.1)
    assert model.judged(PROBABILITY, WORDS, genre=of_genre("collection"))[0] == pytest.approx(lowest - 0.1)
    half = (of_genre("article") + of_genre("collection")) / 2
    assert model.cut(PROBABILITY, WORDS, genre=half) == pytest.approx(lowest - 0.05)


def test_a_shifted_cut_keeps_something_and_leaves_the_improbable():
    model = replace(PageModel.load(), cut_shift=SHIFT)
    assert model.cut(PROBABILITY, WORDS, genre=of_genre("service")) == PROBABILITY.max()
    low = PROBABILITY / 10
    assert model.cut(low, WORDS, genre=of_genre("collection")) == pytest.approx(min(best_cut(low, WORDS)[0], LEAST_CUT))


def test_method_page_shifts_its_cut():
    page = "<main>" + "".join(f"<p>Word number {k} of the page, and more.</p>" for k in range(9)) + "</main>"
    shifted = replace(PageModel.load(), cut_shift=np.full(len(GENRES), 1.0))
    before, after = (
        Cleaner.of("page").clean_in(page_with(parse(page), model=model)).kept_words for model in (None, shifted)
    )
    assert 0 < after < before
