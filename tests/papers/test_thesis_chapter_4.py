"""Equations and worked examples of thesis chapter 4; `test_thesis_4_2` has those of the site style tree."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow import parse
from webwinnow.page.markup import style_hash
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.site.importance import (
    composite_importance,
    feature_entropy,
    leaf_importance,
    node_importance,
    path_importance,
    style_importance,
)
from webwinnow.site.sitetree import SiteTree, finish
from webwinnow.site.styletree import CST_CUT, INTERNAL, LEAF, SST_CUT, Cut, StyleTree, feature_names

ACTUAL_LEAVES = Cut(0, one_per_page=False)
"""No virtual leaves: the small trees of the figures are too flat for them."""


def element(site: SiteTree, tag: str, *display: tuple[str, str]) -> int:
    """The only element of a tag and display attributes."""
    (found,) = np.flatnonzero(site.style == np.uint64(style_hash(tag, display)))
    return int(found)


def test_element_seen_once_has_importance_1_in_the_sst_and_0_in_the_cst():
    once = (np.array([1]), np.array([0]), np.array([1]))
    assert node_importance(*once, alone=1.0).tolist() == [1.0]
    assert node_importance(*once, alone=0.0).tolist() == [0.0]


def test_figure_4_9_node_importance_of_root_is_0_and_of_body_1():
    pages = [
        "<body bgcolor=white><div width=800>x</div><span>s</span><div bgcolor=red>y</div>",
        "<body bgcolor=white><div width=800>x</div><div bgcolor=red>y</div>",
    ]
    site = finish(StyleTree.grow([parse(page) for page in pages], ACTUAL_LEAVES))
    node = node_importance(site.style_count, site.style_element, site.m, alone=0.0)
    assert node[0] == 0
    assert node[element(site, "body", ("bgcolor", "white"))] == pytest.approx(1.0)


def test_equation_5_2_attenuates_by_0_9_for_each_style():
    assert composite_importance(0.5, np.array([3, 1]), np.array([1.0, 0.2])) == pytest.approx(
        (1 - 0.9**2) * 0.5 + 0.9**2 * (0.75 * 1.0 + 0.25 * 0.2)
    )


def test_equation_5_3_leaves_without_features_do_not_count():
    assert style_importance(np.array([0.8, 0.4, 0.0]), np.array([True, True, False])) == pytest.approx(0.6)


def test_equations_5_4_and_5_7_take_the_mean_over_features():
    assert leaf_importance(np.array([1.0, 0.0, 0.5]), np.array([0, 0, 1]), 3).tolist() == [0.5, 0.5, 0.0]


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8))
def test_equation_5_5_from_sums_is_the_entropy_of_the_counts(counts):
    f, m = np.array(counts), len(counts)
    p = f / f.sum()
    by_hand = float(-(p * np.log(p)).sum() / math.log(m))
    scaled = np.rint((1 << 32) * f * np.log2(f)).astype(np.int64).sum()
    found = feature_entropy(np.array([f.sum()]), np.array([scaled]), np.array([m]))
    assert found[0] == pytest.approx(by_hand, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.data())
def test_path_importance_never_falls_from_root_to_leaf(values, data):
    parent = np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, len(values)))], np.int32)
    path = path_importance(np.array(values), parent)
    assert np.all((path >= 0) & (path <= 1))
    for i in range(1, len(values)):
        assert path[i] >= path[parent[i]] - 1e-12


def test_weights_of_a_five_node_site_by_hand():
    # BODY holds two leaves; both pages have one style everywhere, so only the leaves have importance. Leaf 1 says
    # "menu" on both pages (H = 1) and nothing else: importance 0. Leaf 2 says "same" on both (H = 1) and a word of its
    # own on each (H = 0): importance 1 - (1 + 0 + 0) / 3 = 2/3. PathImp is that of the leaf: w(own) = 2/3, w(same) = 0.
    pages = [f"<body><p class=a>menu</p><p class=b>same {word}</p>" for word in ("red", "blue")]
    trees = [parse(page) for page in pages]
    weights = FeatureWeights(finish(StyleTree.grow(trees, ACTUAL_LEAVES)))
    names = feature_names(trees[0])
    features, found = weights.weigh(trees[0])
    assert {names[feature]: weight for feature, weight in zip(features.tolist(), found, strict=True)} == {
        "red": pytest.approx(2 / 3)
    }


def test_weight_counts_each_occurrence_on_the_page():
    pages = ["<body><p>red red red</p>", "<body><p>blue</p>"]
    trees = [parse(page) for page in pages]
    _, found = FeatureWeights(finish(StyleTree.grow(trees, ACTUAL_LEAVES))).weigh(trees[0])
    assert found.tolist() == [pytest.approx(3.0)]


def test_page_that_leaves_the_tree_counts_in_full():
    trees = [parse(f"<body><p>menu {word}</p>") for word in ("red", "blue")]
    weights = FeatureWeights(finish(StyleTree.grow(trees, ACTUAL_LEAVES)))
    _, found = weights.weigh(parse("<body><h1>menu</h1><ul><li>x</ul>"))
    assert found.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("other", "joined"), [("one two three four five six", True), ("one 2 3 4 5 6", False)])
def test_step_3_of_the_cst_joins_menus_of_similar_words_only(other, joined):
    # The menu is before one or two stories, so in two styles.
    def menu(words: str) -> str:
        return "<ul class=menu>" + "".join(f"<li><a><b>{word}</b></a>" for word in words.split()) + "</ul>"

    story = "<div><p><i><b>{}</b></i></p></div>"
    pages = [menu("one two three four five six") + story.format("a1"), menu(other) + 2 * story.format("b1")]
    site = finish(StyleTree.grow([parse(page) for page in pages], CST_CUT))
    menus = site.m[site.style == np.uint64(style_hash("ul", [("class", "menu")]))]
    assert menus.tolist() == ([2] if joined else [1, 1])


def test_sst_never_joins_two_tag_nodes_of_one_page():
    page = "<div class=x><p><i><b>same words here again and again today</b></i></p></div>" * 2
    raw = StyleTree.grow([parse(page)], SST_CUT)
    assert np.count_nonzero(finish(raw).style == np.uint64(style_hash("div", [("class", "x")]))) == 2
    joined = finish(StyleTree.grow([parse(page)], CST_CUT))
    assert np.count_nonzero(joined.style == np.uint64(style_hash("div", [("class", "x")]))) == 1


def test_text_directly_inside_an_internal_element_is_a_leaf_of_its_own():
    site = finish(StyleTree.grow([parse("<body>loose<div><p><b>x</b></p></div>")], SST_CUT))
    text_leaves = site.path_child[site.path_position < 0]
    assert len(text_leaves) == 1
    assert site.kind[text_leaves[0]] == LEAF
    assert site.kind[0] == INTERNAL
