"""The compiled kernels of the DocView against their plain twins, on pages of any shape."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import plain_nodes
import plain_view as plain
import plain_words
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.methods import _view as compiled
from webwinnow.methods.method_docview import CONTAINER_CODES, HUB, TOPIC, TagTree, force_codes
from webwinnow.page import _nodes as compiled_nodes
from webwinnow.page import _words as compiled_words
from webwinnow.page._words import word_spans
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, HIDDEN, TAG_CODE
from webwinnow.page.parsing import parse
from webwinnow.record.view import is_sentence

PIECES = (
    *("<div>", "</div>", "<p>", "</p>", "<ul><li>", "</ul>", "<h1>", "</h1>", "<h3>", "</h3>", "<b>", "</b>", "<br>"),
    *("<a href=/x>", "<a href='#y'>", "<a href=http://b.example/ü>", "</a>", "<x-y>", "</x-y>", "<p hidden>"),
    *("<img src=a.png width=40>", "<img height=20px>", "<img width=1200>", "<nav role=' Menu '>", "</nav>"),
    *("<img width=' 7'>", "<img width=px>", "<img height=0040>"),
    *("wheat and chaff. ", "rye ", "The miller grinds wheat every day. ", "麦と粉 ", "12 2026 ", "x ", "мельница "),
)
pages = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
LEVELS = np.zeros(CUSTOM_TAG + 1, np.uint8)
LEVELS[[TAG_CODE["h1"], TAG_CODE["h3"]]] = 1, 3


def agree(name: str, *values: object, of: tuple[ModuleType, ModuleType] = (compiled, plain)) -> object:
    """The result of both twins, which must be equal."""
    fast, slow = (getattr(twin, name)(*values) for twin in of)
    for one, other in zip(*((side if isinstance(side, tuple) else (side,)) for side in (fast, slow)), strict=True):
        if isinstance(other, np.ndarray):
            assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    return fast


@given(pages, st.randoms(use_true_random=False))
def test_the_twins_of_blocks_and_features_agree(html, chance):
    tree = parse(html.encode(), url="http://a.example/")
    agree("containers", tree.tag, tree.parent, tree.end, tree.run_owner, CONTAINER_CODES, TAG_CODE["a"])
    blocks = TagTree.of(tree)
    columns = tree.tag, tree.parent, CONTAINER_CODES, tree.run_owner, tree.run_before
    agree("cut_runs", *columns, of=(compiled_nodes, plain_nodes))
    text = tree.text, tree.run_start, tree.visible[tree.run_owner]
    agree("word_spans", *text, of=(compiled_words, plain_words))
    agree("attached", blocks.word_run, blocks.of_run, blocks.in_link, tree.run_owner, len(blocks))
    sizes = ATTRIBUTE_CODE["width"], ATTRIBUTE_CODE["height"], 48
    attributes = tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text
    agree("shown_images", tree.tag, tree.flags, HIDDEN, TAG_CODE["img"], *attributes, *sizes)
    agree("block_types", blocks.terms, blocks.link_terms, blocks.images, 0.5, 0.1, 0, 1, 2)
    wanted = np.array([chance.random() < 0.7 for _ in blocks.word_key], np.bool_)
    places = tree.tag, tree.text_start, tree.text_end, blocks.of_node, force_codes("")
    words = blocks.word_start, blocks.block_of_word, wanted
    force = agree("tag_forces", *places, *words, blocks.type, TOPIC, 0.7, 2, 2.0)
    inside = agree("blocks_around", blocks.block_of_word, wanted, blocks.end)
    weight = agree("shared_force", blocks.parent, np.log(force), inside, 0.5, 2.0)
    stops = np.sort(np.unique(blocks.word_key)[::3])
    found = agree("feature_sums", blocks.word_key, blocks.block_of_word, wanted, np.exp(weight), stops)
    assert isinstance(found, tuple)
    keys, total, first = found
    for looked_at, most in ((4, 2), (300, 5), (0, 0)):
        agree("heaviest", tree.text, total, first, blocks.word_start, blocks.word_end, 2, looked_at, most)
    offered = np.array([chance.random() < 0.7 for _ in blocks.node], np.bool_)
    said = blocks.block_of_word, blocks.word_key
    for least in (0.0, 0.3, 2.0):
        for grouped in (True, False):
            agree("similar_blocks", blocks.parent, blocks.type, HUB, offered, *said, keys, total, stops, least, grouped)
    links_around = tree.end, blocks.in_link, TAG_CODE["a"]
    heads = tree.text_start, blocks.terms, blocks.link_terms, blocks.word_start
    linked = agree("linked_headings", tree.tag, LEVELS, blocks.node, *heads, wanted, 0.8, 3, *links_around)
    teasers = [(start, end) for _, start, end in linked]
    agree("leading_words", blocks.type, HUB, blocks.block_of_word, wanted, teasers)
    roles = tree.attr_node, tree.attr_name, ATTRIBUTE_CODE["role"], tree.attr_start, tree.attr_text
    agree("inside_marked", tree.tag, tree.parent, CONTAINER_CODES, *roles, frozenset(("menu",)))


@given(pages, st.integers(1, 4), st.randoms(use_true_random=False))
def test_the_twins_of_key_sentences_agree(html, most, chance):
    tree = parse(html.encode(), url="http://a.example/")
    blocks = TagTree.of(tree)
    kept = np.array([chance.random() < 0.7 for _ in range(tree.run_count)], np.bool_)
    likely = np.array([chance.choice((0.2, 0.7, 0.9)) for _ in tree.tag], np.float32)
    keep = np.array([chance.random() < 0.7 for _ in tree.tag], np.bool_)
    agree("kept_and_shown", kept, keep, tree.run_owner, tree.flags, HIDDEN)
    reason = np.array([chance.randrange(3) for _ in kept], np.uint8)
    agree("offered_blocks", keep, blocks.node, kept, reason, 2, blocks.of_run)
    agree("likely_runs", kept, likely, tree.run_owner, blocks.word_run, 0.7, 0.5)
    unit = agree("text_units", tree.tag, TAG_CODE["br"], blocks.node, tree.run_before, blocks.of_run)
    keyword = np.unique(blocks.word_key)[:5]
    weight = np.array([chance.random() for _ in keyword])
    agree("keyword_units", unit, kept, blocks.word_run, blocks.word_key, keyword, most)
    agree("keyword_sums", blocks.word_key, blocks.word_run, tree.run_count, keyword, weight)
    runs = np.flatnonzero(kept)
    agree("folded_units", tree.text, tree.run_start, unit, runs)
    if len(runs):
        at = blocks.of_run[runs]
        agree("paragraph_sizes", blocks.block_of_word, blocks.word_run, kept, blocks.parent, at)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30), st.integers(0, 40))
def test_the_twins_of_quotas_agree(sentences, most):
    paragraph, weight = (np.array([one[k] for one in sentences], np.int64) for k in (0, 1))
    agree("by_quota", weight.astype(np.float64), paragraph, np.array([5, 90, 30, 30, 1], np.int64), most)


segments = st.lists(
    st.sampled_from(("\n\n", "Dr. A.", " M. ", "M.", "É.", "x.", "The end. ", " ", "A man", ".", "麦。"))
)


@given(segments)
def test_the_twins_of_sentences_agree(found):
    number = list(range(len(found) + 1))
    fast, slow = (twin.ended_sentences(found, number, "\n\n") for twin in (compiled, plain))
    assert fast == slow
    for lines in (True, False):
        distinct = [twin.distinct_sentences(fast, is_sentence, 2, lines) for twin in (compiled, plain)]
        assert list(distinct[0].items()) == list(distinct[1].items())


def test_many_sentences_of_many_paragraphs_go_to_the_twin_that_sorts():
    paragraph = np.arange(3000, dtype=np.int64)
    found = compiled.by_quota(np.ones(3000), paragraph, np.arange(1, 3001, dtype=np.int64), 1000)
    assert found == list(range(2000, 3000))


def test_places_outside_are_refused():
    with pytest.raises(ValueError, match="place 3 of 2"):
        compiled.blocks_around(np.array([3], np.int32), np.ones(1, np.bool_), np.array([2, 2]))
    key, sentence, _, _ = word_spans("wheat", np.array([0, 5], np.int32), np.ones(1, np.bool_))
    with pytest.raises(ValueError, match="place 0 of 0"):
        compiled.keyword_sums(key, sentence, 0, key, np.ones(1))
