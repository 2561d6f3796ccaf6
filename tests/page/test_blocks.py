"""Blocks: a page split where a reader would pause."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.page.blocks import cut, text_of_runs
from webwinnow.page.markup import BLOCK_TAGS
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree


def texts(page: str) -> list[str]:
    return [text for text in cut(parse(page)).texts() if text]


def events(tree: PageTree) -> list[int | str]:
    """Runs as numbers, and "|" at each start and end of a splitting element: slow and obvious."""
    found: list[int | str] = []

    def visit(i: int) -> None:
        mark = ["|"] if tree.tag_name(i) in BLOCK_TAGS | {"br"} else []
        found.extend(mark)
        runs = {int(tree.run_before[r]): r for r in np.flatnonzero(tree.run_owner == i).tolist()}
        child = i + 1
        while child < tree.end[i]:
            found.extend([runs[child]] if child in runs else [])
            visit(child)
            child = int(tree.end[child])
        found.extend([runs[child]] if child in runs else [])
        found.extend(mark)

    visit(0)
    return found


@given(data=st.data())
def test_every_run_is_in_exactly_one_block_in_page_order(data, soup) -> None:
    tree = parse(data.draw(soup))
    blocks = cut(tree)
    assert blocks.first_run[0] == 0
    assert blocks.first_run[-1] == tree.run_count
    assert (np.diff(blocks.first_run) > 0).all()
    assert len(blocks) == len(blocks.owner) == len(blocks.first_run) - 1
    assert blocks.of_run().tolist() == [b for b in range(len(blocks)) for _ in range(*blocks.first_run[b : b + 2])]


@given(data=st.data())
def test_blocks_end_exactly_where_an_element_parts_the_text(data, soup) -> None:
    tree = parse(data.draw(soup))
    expected: list[list[int | str]] = []
    fresh = True
    for event in events(tree):
        if event == "|":
            fresh = True
            continue
        if fresh:
            expected.append([])
        expected[-1].append(event)
        fresh = False
    assert [list(range(a, b)) for a, b in pairwise(cut(tree).first_run.tolist())] == expected


@given(data=st.data())
def test_the_blocks_one_after_another_are_the_text_of_the_page(data, soup) -> None:
    tree = parse(data.draw(soup))
    blocks = cut(tree)
    assert "".join(blocks.text(b) for b in range(len(blocks))) == tree.text
    assert blocks.texts() == [" ".join(blocks.text(b).split()) for b in range(len(blocks))]


@given(data=st.data())
def test_the_owner_of_a_block_is_the_nearest_block_element_around_all_its_runs(data, soup) -> None:
    tree = parse(data.draw(soup))
    blocks = cut(tree)
    for r, b in enumerate(blocks.of_run().tolist()):
        node = int(tree.run_owner[r])
        while tree.tag_name(node) not in BLOCK_TAGS | {"br"}:
            node = int(tree.parent[node])
        assert blocks.owner[b] == node


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<p>a</p><p>b</p>", ["a", "b"]),
        ("<div>a<p>b</p>c</div>", ["a", "b", "c"]),
        ("a<br>b", ["a", "b"]),
        ("a<hr>b", ["a", "b"]),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", ["a", "b", "c"]),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", ["a", "b", "c"]),
        ("<dl><dt>a<dd>b</dl>", ["a", "b"]),
        ("<select><option>a<option>b</select>", ["a", "b"]),
        ("a<div></div>b", ["a", "b"]),
        ("a<span><div></div></span>b", ["a", "b"]),
        ("<span>a<p>b</p></span>c", ["a", "b", "c"]),
        ("a<iframe></iframe>b", ["a", "b"]),
    ],
)
def test_blocks_cells_and_line_breaks_part_text(page: str, expected: list[str]) -> None:
    assert texts(page) == expected


@pytest.mark.parametrize(
    "tag", ["b", "a", "span", "code", "my-element", "sup", "button", "label", "font", "img", "wbr"]
)
def test_inline_elements_do_not_part_text(tag: str) -> None:
    end = "" if tag in ("img", "wbr") else f"c</{tag}>"
    assert texts(f"a<{tag}>{end}b") == [f"a{end[:1]}b"]


def test_comments_and_scripts_do_not_part_text() -> None:
    assert texts("<p>a<!-- x --><script>y()</script>b</p>") == ["ab"]


def test_an_empty_page_has_no_blocks() -> None:
    blocks = cut(parse(""))
    assert len(blocks) == 0
    assert blocks.texts() == []
    assert len(blocks.of_run()) == 0


def test_what_is_said_in_some_runs_keeps_words_of_different_blocks_apart() -> None:
    tree = parse("<p>o<b>n</b>e</p><p>two</p>")
    assert text_of_runs(tree, np.ones(tree.run_count, np.bool_)).split() == ["one", "two"]


def test_what_is_said_in_some_runs_leaves_the_others_out() -> None:
    tree = parse("<p>one</p><p>two</p><p>three</p>")
    assert text_of_runs(tree, np.array([True, False, True])).split() == ["one", "three"]


def test_nothing_is_said_in_no_runs() -> None:
    assert text_of_runs(parse(""), np.zeros(0, np.bool_)) == ""
