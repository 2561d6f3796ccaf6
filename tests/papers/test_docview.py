"""DocView by hand: Algorithm 1, equation 2, the paragraph rule and equation 3 on trees of a few nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_view import paragraphs, quotas, topic_root

from webwinnow import parse
from webwinnow.classify.classifiers import chi_square
from webwinnow.methods.method_docview import HUB, IMAGE, TOPIC, TagTree, block_force, block_weights, feature_vector
from webwinnow.methods.viewsettings import FORCE, OURS, ViewSettings, filled
from webwinnow.page._words import name_hash
from webwinnow.record.view import KeySentences, relevant_blocks

AS_PUBLISHED = filled(ViewSettings(), "docview")


def algorithm_1(parent: list[int], force: list[float], passed_on: float) -> list[float]:
    """The paper's loop, line by line."""
    weight = [1.0] * len(parent)
    for i in range(len(parent)):
        if i not in parent:
            weight[i] *= force[i]
            if parent[i] >= 0:
                weight[parent[i]] *= force[i] ** passed_on
                for j in range(len(parent)):
                    if j != i and parent[j] == parent[i]:
                        weight[j] *= force[i] ** passed_on
    return weight


def weights(parent: list[int], force: list[float], settings: ViewSettings = AS_PUBLISHED) -> list[float]:
    inside = np.ones(len(parent), np.bool_)
    return block_weights(np.array(parent, np.int32), np.array(force), inside, settings).tolist()


def test_a_leaf_takes_its_force_and_hands_its_root_to_parent_and_siblings():
    # 0 (root) holds 1; 1 holds the leaves 2 (force 4), 3 and 4
    assert weights([-1, 0, 1, 1, 1], [1, 1, 4, 1, 1]) == pytest.approx([1, 2, 4, 2, 2])


def test_forces_of_several_leaves_multiply():
    # the leaves 1 (force 4) and 2 (force 9) of one parent: 0 gets 2 * 3, 1 gets 4 * 3, 2 gets 9 * 2
    assert weights([-1, 0, 0], [1, 4, 9]) == pytest.approx([6, 12, 18])


def test_force_of_a_block_that_holds_others_goes_nowhere():
    assert weights([-1, 0, 1], [1, 9, 1]) == pytest.approx([1, 1, 1])


def test_passed_on_force_is_a_setting():
    settings = replace(AS_PUBLISHED, passed_on=1.0)
    assert weights([-1, 0, 0], [1, 4, 1], settings) == pytest.approx([4, 4, 4])


def test_force_has_a_ceiling_by_default():
    # departure: two siblings of force 64 pass on sqrt(64) each as published; with a ceiling of 8 all are cut to it
    many = [-1, 0, 0, 0]
    assert weights(many, [1, 64, 64, 1]) == pytest.approx([64, 512, 512, 64])
    assert weights(many, [1, 64, 64, 1], replace(OURS, most=8.0)) == pytest.approx([8, 8 * sqrt(8), 8 * sqrt(8), 8])


@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from([1.0, 1.5, 4.0])), min_size=1, max_size=30))
def test_whole_arrays_give_what_the_loop_gives(drawn: list[tuple[int, float]]):
    parent = [-1, *(place % (i + 1) for i, (place, _) in enumerate(drawn))]
    force = [1.0, *(force for _, force in drawn)]
    assert weights(parent, force) == pytest.approx(algorithm_1(parent, force, 0.5), rel=1e-9)


# Tag tree and features

PAGE = """<body><div><h1>Wheat</h1><p>Wheat is <b>grain</b>, chaff is not grain.</p>
<ul><li><a href=/a>Wheat prices</a></li><li><a href=/b>Grain trade</a></li><li><a href=/c>Sign in</a></li></ul></div>
<div><img src=a.jpg></div>"""


def tag_tree(page: str) -> TagTree:
    return TagTree.of(parse(page, url="https://grain.test/x"))


def named(blocks: TagTree, tag: str) -> list[int]:
    return [b for b in range(len(blocks)) if blocks.tree.tag_name(int(blocks.node[b])) == tag]


def test_blocks_are_hub_image_or_topic_by_proportion():
    blocks = tag_tree(PAGE)
    (paragraph,) = named(blocks, "p")
    assert blocks.terms[paragraph] == 7
    assert [blocks.type[b] for b in named(blocks, "li")] == [HUB, HUB, HUB]
    assert blocks.type[paragraph] == TOPIC
    assert blocks.type[named(blocks, "div")[1]] == IMAGE


def test_force_is_the_sum_over_weighty_tags():
    blocks = tag_tree("<body><p><b>One</b> two <i>three</i> four five six seven</p><p>Eight</p>")
    force = block_force(blocks, np.ones(len(blocks.word_key), np.bool_))
    one, two = named(blocks, "p")
    assert force[one] == pytest.approx(FORCE["b"] + FORCE["i"])
    assert force[two] == 1.0


@pytest.mark.parametrize(
    "pseudo",
    [
        "<p><a href=/buy><b>Buy now</b></a></p>",
        "<p><b><img src=logo.gif></b> x</p>",
        f"<p><b>{'all of a long paragraph in bold ' * 4}</b></p>",
    ],
)
def test_pseudo_weighty_tags_have_no_force(pseudo: str):
    blocks = tag_tree(f"<body>{pseudo}")
    assert set(block_force(blocks, np.ones(len(blocks.word_key), np.bool_)).tolist()) == {1.0}


def test_feature_weights_are_counts_by_block_weight_of_length_one():
    # h1 (force 4) and p (force 1) are the leaves of one div: h1 weighs 4, p weighs 2 (equation 2)
    blocks = tag_tree("<body><div><h1>Wheat</h1><p>Wheat, chaff, chaff</p></div>")
    vector = feature_vector(blocks, np.ones(len(blocks.word_key), np.bool_), "en")
    wheat, chaff = 4 + 2, 2 + 2
    length = sqrt(wheat**2 + chaff**2)
    found = vector.weight_of(np.array([name_hash("wheat"), name_hash("chaff"), name_hash("rye")], np.uint64))
    assert found == pytest.approx([wheat / length, chaff / length, 0.0])


def test_stop_words_are_no_features():
    blocks = tag_tree("<body><p>The wheat and the chaff don't mix")
    assert len(feature_vector(blocks, np.ones(len(blocks.word_key), np.bool_), "en")) == 3


# Paragraphs (Figure 3)

FIGURE_3 = np.array([-1, 0, 1, 2, 2, 2, 3, 3, 1], np.int32)
"""0 holds 1; 1 holds 2 and 8; 2 holds 3, 4 and 5; 3 holds 6 and 7."""


@pytest.mark.parametrize(
    ("leaves", "root", "expected"),
    [
        ([4, 5, 6, 7], 2, [4, 5, 3, 3]),
        ([4, 8], 1, [2, 8]),
        ([6, 7], 3, [6, 7]),
        ([5], 5, [5]),
        ([2, 4, 5], 2, [2, 4, 5]),
    ],
)
def test_paragraphs_are_the_sons_of_the_topic_root(leaves: list[int], root: int, expected: list[int]):
    parents = FIGURE_3.copy()
    # page order: the children of 3 follow it
    renumber = {old: new for new, old in enumerate([0, 1, 2, 3, 6, 7, 4, 5, 8])}
    parents = np.array(
        [-1 if old == 0 else renumber[int(FIGURE_3[old])] for old in [0, 1, 2, 3, 6, 7, 4, 5, 8]], np.int32
    )
    order = np.sort([renumber[leaf] for leaf in leaves])
    assert topic_root(parents, order) == renumber[root]
    found = dict(zip(order.tolist(), paragraphs(parents, order).tolist(), strict=True))
    assert [found[renumber[leaf]] for leaf in leaves] == [renumber[son] for son in expected]


def test_quotas_follow_size_and_what_is_there():
    sizes, available = np.array([60, 30, 10]), np.array([9, 9, 9])
    assert quotas(sizes, available, 10).tolist() == [6, 3, 1]
    assert quotas(sizes, np.array([2, 9, 9]), 10).tolist() == [2, 6, 2]
    assert quotas(sizes, np.array([1, 1, 1]), 10).tolist() == [1, 1, 1]
    assert quotas(sizes, available, 1).tolist() == [1, 0, 0]


@given(st.lists(st.tuples(st.integers(1, 500), st.integers(0, 20)), min_size=1, max_size=12), st.integers(0, 20))
def test_quotas_add_up(paragraph: list[tuple[int, int]], wanted: int):
    sizes, available = (np.array(column) for column in zip(*paragraph, strict=True))
    given_ = quotas(sizes, available, wanted)
    assert given_.sum() == min(wanted, available.sum())
    assert (given_ <= available).all()


def test_key_sentences_are_the_heaviest_of_each_paragraph():
    page = """<body><div><p>Wheat is a grass that people grow. It is old. Wheat gives grain, and the grain flour.</p>
    <p>Chaff is what the wind takes away. Nobody knows why this stands here.</p></div>"""
    blocks = tag_tree(page)
    keys = sorted((name_hash(word), weight) for word, weight in Counter(wheat=3, grain=2, chaff=2, wind=1).items())
    found = KeySentences.of(
        blocks,
        np.ones(blocks.tree.run_count, np.bool_),
        np.array([key for key, _ in keys], np.uint64),
        np.array([float(weight) for _, weight in keys]),
        "en",
    )
    assert found.chosen(2) == ["Wheat gives grain, and the grain flour.", "Chaff is what the wind takes away."]
    assert found.weight.tolist() == [3, 5, 3, 0]  # "It is old." is too short to be scored


# Relevant links


def test_links_are_relevant_by_the_cosine_of_their_block_with_the_topic():
    page = """<body><div><p>Wheat grain wheat grain</p></div><ul><li><a href=/a>Wheat grain</a></li></ul>
    <ul><li><a href=/b>Wheat</a></li><li><a href=/c>Login form</a></li></ul>"""
    blocks = tag_tree(page)
    topic = feature_vector(blocks, blocks.type[blocks.block_of_word] == TOPIC, "en")
    offered = np.ones(len(blocks), np.bool_)
    # topic is (1, 1) / sqrt 2 over wheat and grain; the first list has cosine 1, the second 1 / sqrt(2 * 3) = 0.41
    first, *second = named(blocks, "li")
    for beta, expected in ((0.4, [first, *second]), (0.42, [first])):
        settings = replace(OURS, similarity=beta)
        assert np.flatnonzero(relevant_blocks(blocks, topic, offered, "en", settings)).tolist() == expected


# Chi-square (Yang and Pedersen 1997, which section 7.1 names)


def test_chi_square_of_a_feature_and_a_category():
    # 10 pages, 4 of the category; 3 of the 5 with the feature are of it: A 3, B 2, C 1, D 4
    found = chi_square(np.array([[3.0]]), np.array([5.0]), np.array([4.0]), 10)
    assert found == pytest.approx(10 * (3 * 4 - 1 * 2) ** 2 / ((3 + 1) * (2 + 4) * (3 + 2) * (1 + 4)))
