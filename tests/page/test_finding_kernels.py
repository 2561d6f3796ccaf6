"""The compiled search for words against its plain twin."""

from __future__ import annotations

import numpy as np
import plain_finding as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.page import _finding as compiled

WORDS = (b"Written by", b"Text by", b"by")
texts = st.lists(st.sampled_from(["Written", " ", "by", "Text by", "b", "W", "ü", "麦", "\U0001f33e"])).map("".join)
values = st.lists(st.sampled_from(["date", "dat", "d", "", "dadate", "datedate", "ü", "麦", "\U0001f33e"]), max_size=30)


@given(texts)
def test_the_twins_find_the_same_word(text: str) -> None:
    assert compiled.first_found(text, WORDS) == plain.first_found(text, WORDS)


@given(values, st.integers(0, 60), st.integers(0, 8), st.randoms(use_true_random=False))
def test_the_twins_find_the_same_attributes(written: list[str], end: int, most: int, chance) -> None:
    starts = np.cumsum([0, *map(len, written)], dtype=np.int32)
    name = np.array([chance.randrange(3) for _ in written], np.uint8)
    columns = "".join(written), b"date", end, most, starts, name, frozenset((0, 2))
    assert compiled.marked_attributes(*columns) == plain.marked_attributes(*columns)


def test_columns_that_do_not_fit_are_refused() -> None:
    starts, name = np.array([0, 4], np.int32), np.zeros(2, np.uint8)
    with pytest.raises(ValueError, match="different lengths"):
        compiled.marked_attributes("date", b"date", 4, 1, starts, name, frozenset((0,)))
    with pytest.raises(ValueError, match="no attribute"):
        compiled.marked_attributes("date", b"date", 4, 1, np.array([1, 4], np.int32), name[:1], frozenset((0,)))
