"""The compiled kernels of replicas against their plain twins."""

from __future__ import annotations

import numpy as np
import plain_sketches as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.replicas import _sketches as compiled

words = st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3), max_size=40)


@given(words, st.integers(1, 6), st.integers(1, 8))
def test_lowest_shingles_twins_agree(hashes, size, slot_bits):
    given_words = np.array(hashes, np.uint64)
    fast, fast_count = compiled.lowest_shingles(given_words, size, slot_bits)
    slow, slow_count = plain.lowest_shingles(given_words, size, slot_bits)
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)
    assert fast_count == slow_count


@pytest.mark.parametrize("twin", [plain, compiled])
@pytest.mark.parametrize(("size", "slot_bits"), [(0, 7), (3, 0), (3, 17)])
def test_lowest_shingles_refuse_what_has_no_meaning(twin, size, slot_bits):
    with pytest.raises(ValueError, match="expected shingles"):
        twin.lowest_shingles(np.zeros(3, np.uint64), size, slot_bits)


@given(st.lists(st.integers(0, 2**64 - 1) | st.just(2**64 - 1), min_size=8, max_size=8), st.permutations(range(8)))
def test_lent_slots_twins_agree(hashes, order):
    lowest = np.array(hashes, np.uint64)
    lenders = np.array([np.roll(order, slot) for slot in range(8)], np.int64)
    fast, slow = (twin.lent_slots(lowest, lenders) for twin in (compiled, plain))
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


pairs = st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=20)


@given(pairs)
def test_unite_twins_agree(found):
    one, other = (np.array([pair[k] for pair in found], np.int64) for k in (0, 1))
    fast, slow = np.arange(12, dtype=np.int64), np.arange(12, dtype=np.int64)
    compiled.unite(fast, one, other)
    plain.unite(slow, one, other)
    np.testing.assert_array_equal(fast, slow)


@given(pairs, st.randoms(use_true_random=False))
def test_clusters_do_not_depend_on_the_order_of_pairs(found, chance):
    shuffled = chance.sample(found, len(found))
    results = []
    for row in (found, shuffled):
        parent = np.arange(12, dtype=np.int64)
        compiled.unite(parent, *(np.array([pair[k] for pair in row], np.int64) for k in (0, 1)))
        results.append(parent)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("twin", [plain, compiled])
def test_unite_refuses_what_is_not_there(twin):
    three = np.arange(3, dtype=np.int64)
    for one, other in (([3], [0]), ([0], [-1]), ([0, 1], [1])):
        with pytest.raises(ValueError, match=r"no such member|different length"):
            twin.unite(three, np.array(one, np.int64), np.array(other, np.int64))
    with pytest.raises(ValueError, match="earlier member"):
        twin.unite(np.array([1, 1], np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=6), st.data())
def test_agreeing_slots_twins_agree(rows, data):
    table = np.zeros(len(rows), np.dtype([("slots", "<u2", 4), ("more", "<u8")]))
    table["slots"] = rows
    places = st.lists(st.integers(0, len(rows) - 1), min_size=5, max_size=5)
    one, other = (np.array(data.draw(places), np.int64) for _ in range(2))
    fast = compiled.agreeing_slots(table["slots"], one, other)
    np.testing.assert_array_equal(fast, plain.agreeing_slots(table["slots"], one, other))
    assert fast.tolist() == [
        sum(a == b for a, b in zip(rows[i], rows[j], strict=True)) for i, j in zip(one, other, strict=True)
    ]


@pytest.mark.parametrize("twin", [plain, compiled])
def test_agreeing_slots_refuse_what_is_not_there(twin):
    slots = np.zeros((2, 4), np.uint16)
    for one, other in (([2], [0]), ([0], [-1]), ([0, 1], [1])):
        with pytest.raises(ValueError, match=r"no such member|different length"):
            twin.agreeing_slots(slots, np.array(one, np.int64), np.array(other, np.int64))
