"""`cleaning._judging` against its plain twin."""

from __future__ import annotations

import numpy as np
import plain_judging as plain
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from webwinnow.judge import _judging as compiled
from webwinnow.judge import tails
from webwinnow.page.markup import ATTRIBUTES, TAG_CODE
from webwinnow.page.parsing import parse

TWINS = (compiled, plain)
REASONS = (1, 10, 9, 19, 13, 12, 38, 39, 2)


def parents(data: st.DataObject, size: int) -> np.ndarray:
    return np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))], np.int32)


@settings(max_examples=150)
@given(st.integers(1, 8), st.lists(st.integers(1, 3), max_size=8), st.integers(0, 2**32 - 1))
def test_twins_spread_the_same_verdict_over_runs(nodes: int, lengths: list[int], seed: int):
    rng = np.random.default_rng(seed)
    first_run = np.cumsum([0, *lengths]).astype(np.int64)
    said = np.flatnonzero(rng.random(len(lengths)) < 0.8).astype(np.int32)
    n, runs = len(said), int(first_run[-1])

    def mask(often: float = 0.5) -> np.ndarray:
        return rng.random(n) < often

    def maybe() -> np.ndarray | None:
        return mask(0.4) if rng.random() < 0.7 else None

    whole = (mask(0.4) * rng.integers(25, 30, n)).astype(np.uint8)
    given = (
        first_run,
        said,
        rng.integers(0, nodes, runs).astype(np.int32),
        rng.random(nodes) < 0.7,
        rng.random(n).round(6),
        mask(),
        mask(),
        whole if rng.random() < 0.7 else None,
        *(maybe() for _ in range(7)),
        REASONS,
    )
    for fast, slow in zip(*(twin.spread(*given) for twin in TWINS), strict=True):
        assert fast.dtype == slow.dtype
        np.testing.assert_array_equal(fast, slow)


def test_the_verdict_on_blocks_of_another_page_is_refused():
    none, yes = np.zeros(0, np.bool_), np.ones(1, np.bool_)
    with pytest.raises(ValueError, match="not in order"):
        compiled.spread(
            np.array([0, 1]), np.array([4], np.int32), np.zeros(1, np.int32), yes, np.ones(1), yes, yes,
            *[None] * 8, REASONS,
        )  # fmt: skip
    with pytest.raises(ValueError, match="different lengths"):
        compiled.spread(
            np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.int32), yes, np.ones(1), none, yes,
            *[None] * 8, REASONS,
        )  # fmt: skip
    with pytest.raises(ValueError, match="outside the tree"):
        compiled.spread(
            np.array([0, 1]), np.zeros(1, np.int32), np.full(1, 3, np.int32), yes, np.ones(1), yes, yes,
            *[None] * 8, REASONS,
        )  # fmt: skip


@given(st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_twins_give_nodes_the_same_reasons(nodes: int, seed: int):
    rng = np.random.default_rng(seed)
    keep, visible, *masks = (rng.random((4, nodes)) < 0.5).astype(np.bool_)
    given = [mask if rng.random() < 0.7 else None for mask in masks]
    kept = [keep.copy(), keep.copy()]
    fast, slow = (
        twin.node_reasons(mask, visible, *given, (1, 10, 9, 33, 34)) for twin, mask in zip(TWINS, kept, strict=True)
    )
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)
    np.testing.assert_array_equal(kept[0], kept[1])


@given(st.data())
def test_twins_find_the_same_shares_of_links(data: st.DataObject):
    size, runs = data.draw(st.integers(1, 8)), data.draw(st.integers(1, 8))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    first_run = np.unique(np.append(rng.integers(0, runs, 3), (0, runs))).astype(np.int64)
    given = (
        parents(data, size),
        rng.integers(0, 3, size).astype(np.uint16),
        1,
        np.cumsum(rng.integers(0, 5, runs + 1)).astype(np.int32),
        rng.integers(0, size, runs).astype(np.int32),
        rng.random(runs) < 0.7,
        first_run,
        np.arange(len(first_run) - 1, dtype=np.int32),
    )
    np.testing.assert_array_equal(compiled.link_shares(*given), plain.link_shares(*given))


_SIGNS = "0123456789 \u3000\n./-:,·|_smhdwyreago\u0661é\U0001f600日"
_DATE_WORDS = "19;20;2012;ago;vor;hace;il y a;at;de;May;st;Yesterday;ust now;昨天;小时前;5月".split(";")
_PIECES = st.sampled_from([*_SIGNS, *_DATE_WORDS])


@settings(max_examples=400)
@given(st.lists(st.tuples(st.lists(_PIECES, max_size=9).map("".join), st.booleans()), max_size=6))
def test_twins_find_the_same_lines_that_may_have_a_date(spans: list[tuple[str, bool]]):
    bounds = np.cumsum([0, *(len(text) for text, _ in spans)]).astype(np.int32)
    wanted = np.array([want for _, want in spans], np.bool_)
    given = "".join(text for text, _ in spans), bounds[:-1], bounds[1:], wanted, tails._DAYS
    for fast, slow in zip(compiled.may_be_stamps(*given), plain.may_be_stamps(*given), strict=True):
        np.testing.assert_array_equal(fast, slow)


@settings(max_examples=1_000)
@given(st.lists(_PIECES, max_size=12).map("".join))
def test_no_line_with_a_date_is_left_out(line: str):
    span = np.zeros(1, np.int32), np.full(1, len(line), np.int32), np.ones(1, np.bool_)
    dated, named = compiled.may_be_stamps(line, *span, tails._DAYS)
    if tails._is_stamp(line, is_brief=True, names_day=bool(named[0])):
        assert dated[0] or named[0]


@pytest.mark.parametrize(
    "line",
    [
        "5.11.12",
        "5 May 2012",
        "May 5, 10:32",
        "3 days ago",
        "vor 5 Tagen",
        "hace 3 h",
        "il y a 2 ans",
        "3天前",
        "5月6日",
        "Anna · 21h",
        "21 h",
    ],
)
def test_each_way_to_write_a_date_is_found(line: str):
    span = np.zeros(1, np.int32), np.full(1, len(line), np.int32), np.ones(1, np.bool_)
    assert tails._is_stamp(line, is_brief=True, names_day=False)
    assert compiled.may_be_stamps(line, *span, tails._DAYS)[0][0]


def test_digits_of_other_scripts_and_numbers_alone_are_no_dates():
    stop = np.array([2, 4, 6], np.int32)
    found, _ = compiled.may_be_stamps("a1\u0661b12", stop - 2, stop, np.ones(3, np.bool_), tails._DAYS)
    assert not found.any()


@given(st.integers(0, 12), st.integers(0, 2**32 - 1))
def test_twins_give_the_same_reasons_of_wholes(blocks: int, seed: int):
    rng = np.random.default_rng(seed)
    masks = (rng.random((4, blocks)) < 0.5).astype(np.bool_)
    nodes = rng.integers(-1, 2, (3, 5)).astype(np.int32)
    owner, level = rng.integers(0, 5, blocks).astype(np.int32), rng.integers(0, 2, blocks).astype(np.uint8)
    given = *masks, level, owner, *nodes, tuple(range(20, 31))
    fast, slow = (twin.whole_reasons(*given) for twin in TWINS)
    assert fast.dtype == slow.dtype
    np.testing.assert_array_equal(fast, slow)


@given(st.text("abZY1-_ /.", max_size=30), st.integers(0, 20))
def test_twins_find_the_same_words_in_a_name(name: str, most: int):
    assert compiled.ascii_words(name, most) == plain.ascii_words(name, most)


def test_words_of_other_scripts_are_refused():
    with pytest.raises(ValueError, match="ASCII"):
        compiled.ascii_words("K\u212a", 9)


def test_a_picture_has_its_own_attributes_and_those_of_the_elements_around_it_without_text():
    tree = parse('<div class=d>text<a href=/x><span id=s><img src=p.png alt="A p"></span></a></div>')
    image = np.flatnonzero(tree.tag == TAG_CODE["img"]).astype(np.int32)
    columns = tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text, ATTRIBUTES
    places = tree.parent, tree.tag, tree.text_start, tree.text_end
    around = [(TAG_CODE["span"], {"id": "s"}), (TAG_CODE["a"], {"href": "/x"})]
    assert compiled.framed(*places, *columns, image, 3) == [({"src": "p.png", "alt": "A p"}, around)]
    assert compiled.framed(*places, *columns, image, 1) == [({"src": "p.png", "alt": "A p"}, around[:1])]
    with pytest.raises(ValueError, match="outside the page"):
        compiled.framed(*places, *columns, image + 90, 3)


@settings(max_examples=150)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_twins_pool_the_same_records(seed: int, with_site: bool):
    rng = np.random.default_rng(seed)
    fields = rng.integers(1, 4, rng.integers(1, 3))
    of_group = np.repeat(np.arange(len(fields)), 3)
    records = np.stack((np.arange(len(of_group)), of_group, np.tile(np.arange(3), len(fields)))).astype(np.int32)
    groups = np.stack((np.zeros_like(fields), np.full_like(fields, 3), fields)).astype(np.int32)
    record_of, field_of = [], []
    for record, group in enumerate(of_group):
        for field in range(fields[group]):
            if rng.random() < 0.8:
                record_of += [record, -1][: int(rng.integers(1, 3))]
                field_of += [field] * (len(record_of) - len(field_of))
    n = len(record_of)
    assume(n >= fields.max())  # a page has a block of each field
    given = (
        np.array(record_of, np.int32),
        np.array(field_of, np.int32),
        records,
        groups,
        rng.random(n).round(6),
        rng.integers(0, 9, n).astype(np.int32),
        rng.integers(0, 3, n).astype(np.uint64),
        rng.random(n).round(1) if with_site else None,
        2.0,
        1.5,
        0.5,
        0.1,
    )
    np.testing.assert_allclose(compiled.pool_records(*given), plain.pool_records(*given), rtol=0, atol=1.1e-6)


def test_a_block_of_a_record_that_does_not_exist_is_refused():
    one = np.zeros(1, np.int32)
    table = np.ones((3, 1), np.int32)
    with pytest.raises(ValueError, match="does not fit"):
        compiled.pool_records(
            one + 5, one, table, table, np.ones(1), one, np.zeros(1, np.uint64), None, 2.0, 1.5, 0.5, 0.1
        )
