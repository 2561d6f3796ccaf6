"""Thesis 4.1: the DOM tree and presentation styles (Figure 4-1), and the entropy of styles (Figure 4-2)."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from webwinnow import parse
from webwinnow.page.markup import style_hash
from webwinnow.site.importance import node_importance
from webwinnow.site.styletree import Cut, StyleTree, elements_of_page

ACTUAL_LEAVES = Cut(0)
FIGURE_4_1 = """<body bgcolor=white><table width=800 height=200><tr><td>a</table>
<img src=image.gif width=800><table bgcolor=red><tr><td>b</table></body>"""


def style_of_body(page: str) -> int:
    """The presentation style of BODY, as the site trees compare it."""
    tree = parse(page)
    (body,) = np.flatnonzero(tree.tagged("body"))
    return int(elements_of_page(tree, ACTUAL_LEAVES).sequence[body])


def test_figure_4_1_children_of_body_are_pairs_of_tag_and_display_attributes():
    tree = parse(FIGURE_4_1)
    assert tree.tag_name(0) == "#root"
    assert tree.tag_name(1) == "body"
    children = [i for i in range(len(tree)) if tree.parent[i] == 1]
    expected = [
        style_hash("table", [("width", "800"), ("height", "200")]),
        style_hash("img", [("width", "800")]),
        style_hash("table", [("bgcolor", "red")]),
    ]
    assert tree.style[children].tolist() == expected


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (("<td>a", "<td>other words"), True),
        (("src=image.gif", "src=other.gif"), True),
        (("width=800 height=200", "height=200 width=800"), True),
        (("width=800 height=200", "width=800 height=100"), False),
        (("width=800 height=200", "width=800"), False),
        (("<table bgcolor=red><tr><td>b</table>", ""), False),
        (("<table bgcolor=red><tr><td>b</table>", "<div bgcolor=red>b</div>"), False),
        (("<table bgcolor=red>", "<p></p><table bgcolor=red>"), False),
    ],
)
def test_styles_are_equal_if_tags_and_attributes_are_in_the_same_order(change, same):
    changed = FIGURE_4_1.replace(*change)
    assert changed != FIGURE_4_1
    assert (style_of_body(changed) == style_of_body(FIGURE_4_1)) is same


def test_an_element_counts_its_styles_over_pages():
    pages = [FIGURE_4_1, FIGURE_4_1.replace("<td>a", "<td>c"), FIGURE_4_1.replace("width=800 height=200", "width=1")]
    grown = StyleTree.grow([parse(page) for page in pages], ACTUAL_LEAVES)
    of_body = grown.style_element == grown.key[grown.style == np.uint64(style_hash("body", [("bgcolor", "white")]))]
    assert sorted(grown.style_m[of_body].tolist()) == [1, 2]


def test_figure_4_2_block_a_is_more_important_than_block_b():
    """H(S_A) = -0.3 log 0.1 - 0.4 log 0.2 - 0.3 log 0.3, as printed; H(S_B) = 0. Ours divides by log m."""
    counts, element = np.array([3, 2, 2, 1, 1, 1, 10]), np.array([0] * 6 + [1])
    a, b = node_importance(counts, element, np.array([10, 10]), alone=1.0)
    assert a * log(10) == pytest.approx(-0.3 * log(0.1) - 0.4 * log(0.2) - 0.3 * log(0.3))
    assert b == 0
