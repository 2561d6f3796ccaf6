"""The compiled mapping kernels against their plain twins, and what an alignment promises."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow._kernels import plain_mapping as plain

compiled = pytest.importorskip(
    "webwinnow._kernels.compiled_mapping", reason="the compiled kernels are not built: there was no compiler at install"
)

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


@settings(max_examples=50)
@given(st.data())
def test_topmost_twins_agree(data):
    size = data.draw(st.integers(1, 30))
    parent = np.array([-1] + [data.draw(st.integers(0, i - 1)) for i in range(1, size)], np.int32)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    np.testing.assert_array_equal(compiled.topmost(parent, marked), plain.topmost(parent, marked))


def test_topmost_is_the_highest_mark_above():
    parent = np.array([-1, 0, 1, 2, 0], np.int32)
    marked = np.array([False, True, False, True, False])
    assert plain.topmost(parent, marked).tolist() == [-1, 1, 1, 1, -1]


@pytest.mark.parametrize("twin", [plain, compiled])
def test_topmost_refuses_marks_of_another_length(twin):
    with pytest.raises(ValueError, match="1 marks for 2 nodes"):
        twin.topmost(np.array([-1, 0], np.int32), np.array([True]))


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


@settings(max_examples=50)
@given(st.data())
def test_way_keys_twins_agree(data):
    size = data.draw(st.integers(1, 20))
    parent = np.array([-1] + [data.draw(st.integers(0, i - 1)) for i in range(1, size)], np.int32)
    style = np.array([data.draw(st.integers(0, 2)) * (2**62 + 1) for _ in range(size)], np.uint64)
    for fast, slow in zip(compiled.way_keys(parent, style), plain.way_keys(parent, style), strict=True):
        assert fast.dtype == slow.dtype
        np.testing.assert_array_equal(fast, slow)


def test_near_keys_forget_what_stands_far_above_and_whole_keys_do_not():
    parent = np.array([-1, 0, 1, 2, 3], np.int32)
    one, other = np.array([0, 1, 2, 3, 4], np.uint64), np.array([0, 9, 2, 3, 4], np.uint64)
    (whole, near), (other_whole, other_near) = plain.way_keys(parent, one), plain.way_keys(parent, other)
    assert near[4] == other_near[4]
    assert whole[4] != other_whole[4]
    assert near[3] != other_near[3]


@settings(max_examples=300)
@given(st.data())
def test_kept_around_twins_agree(data):
    size, runs = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 10))
    parent = np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))], np.int32)
    places = st.integers(0, 20)
    text_start, text_end = (np.array([data.draw(places) for _ in range(size)], np.int32) for _ in range(2))
    run_start = np.array(sorted(data.draw(places) for _ in range(runs + 1)), np.int32)
    masks = [np.array([data.draw(st.booleans()) for _ in range(n)], np.bool_) for n in (runs, runs, size)]
    fast, slow = (twin.kept_around(parent, text_start, text_end, run_start, *masks) for twin in (compiled, plain))
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


def test_kept_around_refuses_a_parent_behind_its_child():
    one, none = np.array([1, -1], np.int32), np.zeros(0, np.bool_)
    for twin in (compiled, plain):
        with pytest.raises(ValueError, match="has the parent 1"):
            twin.kept_around(one, one, one, np.zeros(1, np.int32), none, none, np.zeros(2, np.bool_))
