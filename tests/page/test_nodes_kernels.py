"""`_nodes` against its plain twin."""

from __future__ import annotations

import numpy as np
import plain_nodes as plain
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.page import _nodes as compiled


@given(st.data())
def test_twins_find_the_nearest_marked_ancestor_equally(data: st.DataObject):
    size = data.draw(st.integers(1, 30))
    parent = np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))], np.int32)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    found = plain.nearest(parent, marked)
    assert compiled.nearest(parent, marked).tolist() == found.tolist()
    for i, ancestor in enumerate(found.tolist()):
        assert ancestor == -1 or (marked[ancestor] and ancestor <= i)


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
    with pytest.raises(ValueError, match="columns of different lengths"):
        twin.topmost(np.array([-1, 0], np.int32), np.array([True]))


@settings(max_examples=50)
@given(st.data())
def test_path_keys_twins_agree(data):
    size = data.draw(st.integers(1, 20))
    parent = np.array([-1] + [data.draw(st.integers(0, i - 1)) for i in range(1, size)], np.int32)
    style = np.array([data.draw(st.integers(0, 2)) * (2**62 + 1) for _ in range(size)], np.uint64)
    for fast, slow in zip(compiled.path_keys(parent, style), plain.path_keys(parent, style), strict=True):
        assert fast.dtype == slow.dtype
        np.testing.assert_array_equal(fast, slow)


def test_near_keys_forget_what_stands_far_above_and_whole_keys_do_not():
    parent = np.array([-1, 0, 1, 2, 3], np.int32)
    one, other = np.array([0, 1, 2, 3, 4], np.uint64), np.array([0, 9, 2, 3, 4], np.uint64)
    (whole, near), (other_whole, other_near) = plain.path_keys(parent, one), plain.path_keys(parent, other)
    assert near[4] == other_near[4]
    assert whole[4] != other_whole[4]
    assert near[3] != other_near[3]


@settings(max_examples=300)
@given(st.data())
def test_kept_around_twins_agree(data):
    size, runs = data.draw(st.integers(1, 12)), data.draw(st.integers(0, 10))
    parent = np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))], np.int32)
    run_owner = np.array([data.draw(st.integers(0, size - 1)) for _ in range(runs)], np.int32)
    masks = [np.array([data.draw(st.booleans()) for _ in range(n)], np.bool_) for n in (runs, runs, size)]
    fast, slow = (twin.kept_around(parent, run_owner, *masks) for twin in (compiled, plain))
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


def test_kept_around_refuses_a_parent_behind_its_child():
    one, none = np.array([1, -1], np.int32), np.zeros(0, np.bool_)
    for twin in (compiled, plain):
        with pytest.raises(ValueError, match="has the parent 1"):
            twin.kept_around(one, np.zeros(0, np.int32), none, none, np.zeros(2, np.bool_))


def test_kept_around_refuses_a_run_of_a_node_that_does_not_exist():
    yes = np.ones(1, np.bool_)
    for twin in (compiled, plain):
        with pytest.raises(ValueError, match="run 0 is outside the tree"):
            twin.kept_around(np.array([-1], np.int32), np.ones(1, np.int32), yes, yes, yes)
