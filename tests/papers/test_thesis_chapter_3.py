"""The thesis's chapter 3: its printed examples of rival methods, and five nodes by hand where it prints none."""

from __future__ import annotations

import numpy as np
import pytest

from webwinnow import SiteModel, parse
from webwinnow.site.pagelets import pagelets_of
from webwinnow.site.segmenttable import block_entropies, feature_entropies, greedy_threshold, segments_of

# Figure 3-2: two pages of five tables. F1 to F6 (logo, banner, panel, copyright) are on both, F7 and F8 on the first
# page only, F9 and F10 on the second.

SHARED = range(1, 7)
ON_PAGE = {0: [*SHARED, 7, 8], 1: [*SHARED, 9, 10]}


def figure_3_2() -> tuple[np.ndarray, np.ndarray]:
    feature = np.array([f for features in ON_PAGE.values() for f in features], np.uint64)
    page = np.repeat([0, 1], [len(features) for features in ON_PAGE.values()]).astype(np.int32)
    return feature, page


def test_figure_3_2_entropy_of_features():
    feature, page = figure_3_2()
    names, entropy = feature_entropies(feature, page, np.ones(len(feature), np.int32), pages=2)
    assert names.tolist() == list(range(1, 11))
    assert entropy.tolist() == [1.0] * 6 + [0.0] * 4


def test_equation_4_1_by_hand():
    """A word 3 times on one page and once on another, of four: -(3/4 log4 3/4 + 1/4 log4 1/4) = 0.405639."""
    _, entropy = feature_entropies(
        np.array([5, 5], np.uint64), np.array([0, 3], np.int32), np.array([3, 1], np.int32), pages=4
    )
    assert entropy.tolist() == [0.405639]


def test_equation_4_1_takes_the_blocks_of_a_page_together():
    feature, page = np.array([5, 5, 5], np.uint64), np.array([0, 0, 1], np.int32)
    _, entropy = feature_entropies(feature, page, np.array([1, 2, 3], np.int32), pages=2)
    assert entropy.tolist() == [1.0]


def test_equation_4_2_is_the_mean_over_a_block():
    block = np.array([0, 0, 1, 1, 1, 3])
    entropy = np.array([1.0, 1.0, 0.0, 0.0, 0.75, 0.0])
    assert block_entropies(block, entropy, 4).tolist() == [1.0, 0.25, 1.0, 0.0]


def test_figure_3_2_threshold_parts_the_informative_table_from_the_others():
    """Tables of entropy 0 and 1: the first threshold of the row already separates them."""
    site = SiteModel.learn(
        [
            parse(
                "<table><tr><td>f1</table><table><tr><td>f2 f3</table><table><tr><td>f4 f5</table>"
                f"<table><tr><td>{own}</table><table><tr><td>f6</table>"
            )
            for own in ("f7 f8 f11 f12 f13 f14", "f9 f10 f15 f16 f17 f18")
        ]
    )
    _, entropy = site.segment_table.block_entropy(parse("<table><tr><td>f1</table><table><tr><td>f7"), "tables")
    assert entropy[[2, 6]].tolist() == [1.0, 0.0]
    assert site.segment_table.threshold_of("tables") == 0.0


def test_greedy_threshold_by_hand():
    """Ten features, eight in by 0.3; from 0.3 to 0.4 none: the boundary is 0.3."""
    entropy = np.array([0.0, 0.05, 0.15, 0.15, 0.2, 0.25, 0.28, 0.3, 0.9, 0.95])
    assert greedy_threshold(np.arange(10), entropy) == 0.3
    assert greedy_threshold(np.zeros(0, np.int64), np.zeros(0)) == 1.0


def test_figure_3_1_blocks_are_tables_without_their_child_tables():
    """CB1, the text outside tables, has S2 and S5; a nested table is a separate block."""
    page = (
        "<p>S2</p><table id=CB2><tr><td>S1<table id=CB3><tr><td>S3</table><table id=CB4><tr><td>S4</table>"
        "</table><p>S5</p><table id=CB5><tr><td>S6</table>"
    )
    tree = parse(page)
    block = segments_of(tree, "tables")
    said = {
        tree.run(r).strip(): tree.attribute(int(block[owner]), "id") if block[owner] else "CB1"
        for r, owner in enumerate(tree.run_owner.tolist())
    }
    assert said == {"S1": "CB2", "S2": "CB1", "S3": "CB3", "S4": "CB4", "S5": "CB1", "S6": "CB5"}


# Pagelets by hand


def names(page: str) -> list[str]:
    """The ids of a page's pagelets that have text."""
    tree = parse(page)
    return [tree.attribute(node, "id") or tree.tag_name(node) for node in pagelets_of(tree).node.tolist()]


LINKS = "<a href=/1>one</a><a href=/2>two</a><a href=/3>three</a>"


def test_a_page_whose_children_have_few_links_is_one_pagelet():
    assert names("<div id=a><a href=/1>one</a><a href=/2>two</a></div><p>text") == ["body"]


def test_an_element_with_a_full_child_is_none_and_its_children_are_tried():
    """BODY has a child with 3 links, so it is none; DIV has 3 links, but no child with 3: it is a pagelet."""
    assert names(f"<div id=menu>{LINKS}</div><p id=story>text</p>") == ["menu", "story"]


def test_pagelets_are_not_nested():
    assert names(f"<div id=menu><ul><li><a href=/1>one</a></ul></div><div id=b>{LINKS}</div>") == ["menu", "b"]


def test_the_cut_goes_down_only_where_links_are():
    page = f"<div id=a><ul id=b>{LINKS}</ul><p id=c>c</p></div><div id=d><p>d</p></div>"
    assert names(page) == ["b", "c", "d"]


def test_text_directly_inside_a_full_element_is_in_no_pagelet():
    tree = parse(f"<p id=p>p</p>loose<div id=a>{LINKS}</div>")
    around = pagelets_of(tree).around
    assert [int(around[owner]) for owner in tree.run_owner[:2]] == [2, -1]


@pytest.mark.parametrize("links", [2, 3, 4])
def test_k_links_are_too_many(links):
    tree = parse(f"<div><div>{LINKS}</div></div>")
    assert (pagelets_of(tree, links).node[0] > 2) == (links <= 3)
