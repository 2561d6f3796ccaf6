"""The compiled loops over style trees against their plain twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import plain_styles as plain
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_hashing import mixed

from webwinnow.site import _styles as compiled
from webwinnow.site.styletree import pair_key

ALL_BITS = (1 << 64) - 1
SMALLEST_TABLE = 1024
"""Initial slots of a compiled table."""


def assert_same(mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> None:
    for one, other in zip(mine, theirs, strict=True):
        assert one.dtype == other.dtype
        assert one.tolist() == other.tolist()


def a_tree(data: st.DataObject) -> np.ndarray:
    size = data.draw(st.integers(1, 25))
    return np.array([-1, *(data.draw(st.integers(max(0, i - 4), i - 1)) for i in range(1, size))], np.int32)


def in_preorder(parent: np.ndarray) -> np.ndarray:
    """Parents renumbered to preorder."""
    children: dict[int, list[int]] = {}
    for i, p in enumerate(parent.tolist()):
        children.setdefault(p, []).append(i)
    order: list[int] = []
    stack = [0]
    while stack:
        i = stack.pop()
        order.append(i)
        stack.extend(reversed(children.get(i, [])))
    place = {i: k for k, i in enumerate(order)}
    return np.array([-1 if parent[i] < 0 else place[int(parent[i])] for i in order], np.int32)


@given(st.data(), st.integers(0, 3), st.integers(0, 2))
def test_twins_give_elements_the_same_keys(data: st.DataObject, cut: int, least: int):
    parent = in_preorder(a_tree(data))
    size = len(parent)
    style = np.array([data.draw(st.integers(0, 3)) * (2**62 + 1) for _ in range(size)], np.uint64)
    alive = np.array([data.draw(st.booleans()) or i == 0 for i in range(size)])
    for mine, theirs in zip(
        compiled.element_keys(parent, style, alive, cut, least),
        plain.element_keys(parent, style, alive, cut, least),
        strict=True,
    ):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


def a_page(data: st.DataObject, cut: int) -> tuple[np.ndarray, ...]:
    """The columns that `StyleSums.add` takes."""
    parent = in_preorder(a_tree(data))
    size, count = len(parent), data.draw(st.integers(0, 12))
    style = np.array([data.draw(st.integers(0, 2)) for _ in range(size)], np.uint64)
    alive = np.array([i == 0 or data.draw(st.integers(0, 5)) > 0 for i in range(size)])
    owner = np.array([data.draw(st.integers(0, size - 1)) for _ in range(count)], np.int32)
    feature = np.array([data.draw(st.integers(0, 4)) * (2**61 + 1) for _ in range(count)], np.uint64)
    shape = style // np.uint64(2)
    return (
        parent,
        style,
        shape,
        *plain.element_keys(parent, style, alive, cut, data.draw(st.integers(0, 1))),
        owner,
        feature,
    )


@given(st.data(), st.integers(0, 3))
def test_twins_sum_pages_up_equally(data: st.DataObject, cut: int):
    mine, theirs = compiled.StyleSums(), plain.StyleSums()
    for _ in range(data.draw(st.integers(0, 4))):
        page = a_page(data, cut)
        mine.add(*page)
        theirs.add(*page)
        assert_same(mine.element_columns(), theirs.element_columns())
        assert_same(mine.style_columns(), theirs.style_columns())
        assert_same(mine.feature_columns(), theirs.feature_columns())


def a_row_of_leaves(features: np.ndarray, keys: np.ndarray | None = None) -> tuple[np.ndarray, ...]:
    """A page of a root with leaves, one per feature."""
    size = len(features) + 1
    parent = np.array([-1, *[0] * (size - 1)], np.int32)
    nothing = np.zeros(size, np.uint64)
    key = np.arange(1, size + 1, dtype=np.uint64) if keys is None else np.concatenate(([np.uint64(1)], keys))
    kind = np.array([plain.INTERNAL, *[plain.LEAF] * (size - 1)], np.uint8)
    position, owner = np.arange(size, dtype=np.int32), np.arange(1, size, dtype=np.int32)
    return parent, nothing, nothing, key, nothing, position, kind, owner, features


def test_twins_sum_up_equally_when_tables_grow():
    mine, theirs = compiled.StyleSums(), plain.StyleSums()
    chance = np.random.default_rng(7)
    for size in (1, 3, SMALLEST_TABLE, 5 * SMALLEST_TABLE):
        page = a_row_of_leaves(
            chance.integers(0, 1 << 63, size, np.uint64), chance.integers(2, 1 << 64, size, np.uint64)
        )
        mine.add(*page)
        theirs.add(*page)
    assert_same(mine.element_columns(), theirs.element_columns())
    assert_same(mine.feature_columns(), theirs.feature_columns())


@pytest.mark.parametrize("highest", [0, ALL_BITS - 4 * SMALLEST_TABLE], ids=["first", "last"])
@pytest.mark.parametrize("step", [1, -1])
def test_keys_that_share_one_home_are_all_kept(highest: int, step: int):
    keys = np.arange(highest + 2, highest + 2 + 2 * SMALLEST_TABLE, dtype=np.uint64)[::step]
    page = a_row_of_leaves(np.arange(len(keys), dtype=np.uint64), keys)
    mine, theirs = compiled.StyleSums(), plain.StyleSums()
    for sums in (mine, theirs):
        sums.add(*page)
        sums.add(*page)
    assert_same(mine.element_columns(), theirs.element_columns())


def test_many_occurrences_of_one_feature_weigh_alike():
    mine, theirs = compiled.StyleSums(), plain.StyleSums()
    for f in (1, 2, 63, 64, 65, 1000):
        parent, *columns, _, _ = a_row_of_leaves(np.zeros(1, np.uint64))
        for sums in (mine, theirs):
            sums.add(parent, *columns, np.full(f, 1, np.int32), np.zeros(f, np.uint64))
    assert_same(mine.feature_columns(), theirs.feature_columns())


def test_features_of_a_deep_page_are_counted_up_to_the_top():
    size, features = 500, np.arange(300, dtype=np.uint64)
    parent = np.arange(-1, size - 1, dtype=np.int32)
    style = np.zeros(size, np.uint64)
    sums = compiled.StyleSums()
    columns = compiled.element_keys(parent, style, np.ones(size, np.bool_), 0, 0)
    sums.add(parent, style, style, *columns, np.full(len(features), size - 1, np.int32), features)
    _, _, df, _, _ = sums.feature_columns()
    assert df.tolist() == [1] * (size * len(features))


def bad_pages() -> list[tuple[np.ndarray, ...]]:
    found = []
    for column, entry, value in (
        (0, 1, 1),
        (0, 1, -1),
        (6, 0, plain.LEAF),
        (6, 0, plain.OUTSIDE),
        (7, 0, 2),
        (7, 0, -1),
    ):
        page = [array.copy() for array in a_row_of_leaves(np.zeros(1, np.uint64))]
        page[column][entry] = value
        found.append(tuple(page))
    for column in range(9):
        page = list(a_row_of_leaves(np.zeros(1, np.uint64)))
        page[column] = page[column][:-1]
        found.append(tuple(page))
    return found


@pytest.mark.parametrize("page", bad_pages())
def test_twins_refuse_what_is_no_page_equally(page: tuple[np.ndarray, ...]):
    said = set()
    for twin in (compiled, plain):
        with pytest.raises(ValueError, match=r"lengths|root|node") as refusal:
            twin.StyleSums().add(*page)
        said.add(str(refusal.value))
    assert len(said) == 1


@given(st.data(), st.integers(0, 3))
def test_twins_find_the_leaves_around_equally(data: st.DataObject, cut: int):
    parent, _, _, key, _, _, kind, owner, _ = a_page(data, cut)
    assert_same(compiled.leaves_around(parent, key, kind, owner), plain.leaves_around(parent, key, kind, owner))


def test_twins_refuse_leaves_around_no_node():
    parent, _, _, key, _, _, kind, owner, _ = a_row_of_leaves(np.zeros(1, np.uint64))
    outside = np.zeros(len(kind), np.uint8)
    for twin in (compiled, plain):
        for arguments in (
            (parent, key, kind, owner + 1),
            (parent, key, outside, owner),
            (parent, key[1:], kind, owner),
        ):
            with pytest.raises(ValueError, match=r"node|lengths"):
                twin.leaves_around(*arguments)


few = st.integers(0, 3) | st.integers(0, ALL_BITS)
pairs = st.lists(st.tuples(few, few), max_size=30)


def columns_of(rows: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([row[0] for row in rows], np.uint64), np.array([row[1] for row in rows], np.uint64)


@given(pairs, pairs)
def test_twins_find_pairs_equally(known: list[tuple[int, int]], wanted: list[tuple[int, int]]):
    mine, theirs = compiled.Pairs(*columns_of(known)), plain.Pairs(*columns_of(known))
    assert_same((mine.rows(*columns_of(wanted + known)),), (theirs.rows(*columns_of(wanted + known)),))


def test_many_pairs_are_found():
    one = np.arange(10 * SMALLEST_TABLE, dtype=np.uint64)
    known = compiled.Pairs(one, one)
    assert known.rows(one, one).tolist() == one.tolist()
    assert set(known.rows(one, one + np.uint64(1)).tolist()) == {-1}


@given(st.lists(st.tuples(few, st.floats(0, 1e9)), max_size=40))
def test_twins_add_by_key_equally_to_the_last_bit(rows: list[tuple[int, float]]):
    key, value = np.array([key for key, _ in rows], np.uint64), np.array([value for _, value in rows], np.float64)
    assert_same(compiled.sums_by_key(key, value), plain.sums_by_key(key, value))


@given(st.data(), st.integers(0, 3))
def test_twins_walk_equally(data: st.DataObject, cut: int):
    parent, _, _, _, sequence, position, kind, _, _ = a_page(data, cut)
    size = data.draw(st.integers(0, 20))
    sequences = st.sampled_from(sequence.tolist())
    ways = (
        np.array([data.draw(st.integers(0, 3)) for _ in range(size)], np.int64),
        np.array([data.draw(sequences) for _ in range(size)], np.uint64),
        np.array([data.draw(st.integers(-1, 2)) for _ in range(size)], np.int32),
        np.array([data.draw(st.integers(1, 2)) for _ in range(size)], np.uint8),
        np.array([data.draw(st.integers(0, 3)) for _ in range(size)], np.int64),
    )
    held = np.array([data.draw(st.sampled_from([-2, -2, -2, -1, 0, 1])) for _ in parent], np.int32)
    page = (parent, sequence, position, kind, held)
    assert_same((compiled.Paths(*ways).walk(*page),), (plain.Paths(*ways).walk(*page),))


def test_pair_keys_are_made_as_the_twins_make_them():
    one, other = np.array([1, 2**63, ALL_BITS], np.uint64), np.array([0, 5, ALL_BITS], np.uint64)
    by_hand = [mixed(mixed(int(a)) ^ int(b)) for a, b in zip(one, other, strict=True)]
    assert pair_key(one, other).tolist() == by_hand
