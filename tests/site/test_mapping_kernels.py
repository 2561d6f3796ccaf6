"""The compiled mapping kernels against their plain twins, and the invariants of an alignment."""

from __future__ import annotations

import numpy as np
import plain_mapping as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.site import _mapping as compiled

children = st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(0, 3)), max_size=12)


def columns(row: list[tuple[int, int, int]]) -> list[np.ndarray]:
    # a style belongs to one tag
    return [
        np.array([tag for tag, _, _ in row], np.uint64),
        np.array([10 * tag + style for tag, style, _ in row], np.uint64),
        np.array([content for _, _, content in row], np.uint64),
    ]


@given(children, children)
def test_align_twins_agree(one, other):
    fast = compiled.align(*columns(one), *columns(other))
    slow = plain.align(*columns(one), *columns(other))
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


@given(children, children)
def test_alignment_is_in_order_and_of_one_tag(one, other):
    places = plain.align(*columns(one), *columns(other))
    matched = places[places >= 0]
    assert np.all(np.diff(matched) > 0)
    for j, i in enumerate(places.tolist()):
        assert i < 0 or one[i][0] == other[j][0]


@given(children)
def test_a_row_aligns_with_itself(row):
    np.testing.assert_array_equal(plain.align(*columns(row), *columns(row)), np.arange(len(row)))


def test_one_more_child_leaves_its_neighbours_in_place():
    menu = [(1, 1, 7), (2, 1, 8), (2, 1, 9)]
    more = [(1, 1, 7), (2, 1, 5), (2, 1, 8), (2, 1, 9)]
    assert plain.align(*columns(menu), *columns(more)).tolist() == [0, -1, 1, 2]


@pytest.mark.parametrize("twin", [plain, compiled])
def test_rows_too_long_for_a_table_are_matched_place_by_place(twin):
    one = [(1 + k % 2, 1, 0) for k in range(2100)]
    other = [(1 + k // 1000 % 2, 2, 0) for k in range(2100)]
    places = twin.align(*columns(one), *columns(other))
    assert all(place in (-1, j) for j, place in enumerate(places.tolist()))
    assert (places >= 0).any()


@given(st.lists(st.integers(0, 5), max_size=30))
def test_grouped_twins_agree(groups):
    given = np.array(groups, np.int64)
    for fast, slow in zip(compiled.grouped(given, 6), plain.grouped(given, 6), strict=True):
        assert fast.dtype == slow.dtype
        np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("twin", [plain, compiled])
@pytest.mark.parametrize("group", [-1, 3])
def test_grouped_refuses_a_group_that_there_is_not(twin, group):
    with pytest.raises(ValueError, match=f"no group {group} of 3"):
        twin.grouped(np.array([0, group], np.int64), 3)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), max_size=30).map(sorted))
def test_pages_of_items_twins_agree(rows):
    page, item = (np.array([row[k] for row in rows], np.int64) for k in (0, 1))
    fast, slow = compiled.pages_of(item, page, 6), plain.pages_of(item, page, 6)
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("twin", [plain, compiled])
@pytest.mark.parametrize("item", [-1, 3])
def test_pages_of_items_refuses_an_item_that_there_is_not(twin, item):
    with pytest.raises(ValueError, match=f"no item {item} of 3"):
        twin.pages_of(np.array([0, item], np.int64), np.zeros(2, np.int64), 3)
