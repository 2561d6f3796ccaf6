"""The central area, the three types of page, and cleaning by type."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webwinnow import CleaningSettings, clean_page, parse
from webwinnow.methods.method_docview import TYPES, TagTree, central_blocks, page_type, teasers
from webwinnow.methods.registry import method_named

URL = "https://grain.test/page"
SENTENCE = "The wind takes the chaff away and leaves the heavy grain on the floor of the barn. "
MENU = "<ul>" + "".join(f"<li><a href=/{k}>Section number {k}</a></li>" for k in range(8)) + "</ul>"
STORY = f"<h1>How to winnow</h1><p>{SENTENCE * 3}</p><p>{SENTENCE * 2}<a href=/more>More</a></p>"
LIST = "".join(f"<li><a href=/story/{k}>A story about field {k}</a></li>" for k in range(20))
TEASERS = "".join(
    f"<div><h2><a href=/s/{k}>Story {k}</a></h2><h3>May {k}</h3><p>{SENTENCE}</p></div>" for k in range(5)
)
GALLERY = "".join(f"<div><img src={k}.jpg width=400><p>Field {k}</p></div>" for k in range(6))
FOOT = "<footer><p>All rights reserved by the people of the barn.</p></footer>"


def page(content: str) -> str:
    return f"<html lang=en><body><nav>{MENU}</nav><table><tr><td>{MENU}</td><td>{content}</td></tr></table>{FOOT}"


def type_of(html: str) -> str:
    blocks = TagTree.of(parse(html, url=URL))
    central = central_blocks(blocks)
    return TYPES[page_type(blocks, central[blocks.block_of_word], int(blocks.images[central].sum()))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [(STORY, "topic"), (f"<ul>{LIST}</ul>", "hub"), (TEASERS, "hub"), (GALLERY, "image"), ("", "hub")],
)
def test_type_is_read_off_the_central_area(content: str, expected: str):
    assert type_of(page(content)) == expected


def test_icons_make_no_image_page():
    icons = "<img src=i.gif width=16 height=16>" * 30
    assert type_of(f"<body><p>{icons} {SENTENCE}") == "topic"


def test_a_page_of_words_with_many_pictures_is_no_image_page():
    assert (
        type_of("<body>" + f"<p>{SENTENCE}<img src=a.jpg><img src=b.jpg><img src=c.jpg><img src=d.jpg></p>" * 6)
        == "topic"
    )


def test_central_area_leaves_out_what_is_marked_as_surroundings():
    blocks = TagTree.of(parse(page(STORY), url=URL))
    words = central_blocks(blocks)[blocks.block_of_word]
    said = {blocks.tree.text[a:b] for a, b in zip(blocks.word_start[words], blocks.word_end[words], strict=True)}
    assert {"wind", "winnow"} <= said
    assert said.isdisjoint({"rights", "Section"})


@pytest.mark.parametrize(
    ("href", "leads"),
    [("/other", True), ("#top", False), (URL, False), ("page", False), ("https://shop.test/x", False), ("", False)],
)
def test_a_teaser_is_under_a_heading_that_leads_to_another_page_of_the_site(href: str, leads: bool):
    blocks = TagTree.of(parse(f"<body><h2><a href='{href}'>Heading</a></h2><p>{SENTENCE}", url=URL))
    found = teasers(blocks, np.ones(len(blocks.word_key), np.bool_))
    assert found.all() == leads
    assert found.any() == leads


def test_a_teaser_ends_at_the_next_heading_of_its_rank():
    blocks = TagTree.of(parse("<body><h2><a href=/a>One</a></h2><h3>Two</h3><p>three</p><h2>Four</h2><p>five", url=URL))
    assert teasers(blocks, np.ones(5, np.bool_)).tolist() == [True, True, True, False, False]


# Cleaning


def test_docview_is_a_method_like_the_others():
    assert method_named("docview").about
    assert not method_named("docview").learns


def test_topic_page_keeps_its_topic_blocks():
    clean = clean_page(parse(page(STORY), url=URL), "docview")
    assert "How to winnow" in clean.text
    assert "leaves the heavy grain" in clean.text
    assert "Section number" not in clean.text
    assert clean.view.type == "topic"
    assert {decision.reason.partition(":")[0] for decision in clean.decisions()} == {"kept", "hub"}


def test_hub_page_keeps_the_links_of_its_central_area():
    clean = clean_page(parse(page(f"<ul>{LIST}</ul>"), url=URL), "docview")
    assert "A story about field 19" in clean.text
    assert "Section number" not in clean.text
    assert "rights" not in clean.text
    assert clean.view.type == "hub"
    assert len(clean.view.links) == 20
    assert {decision.reason.partition(":")[0] for decision in clean.decisions()} == {"kept", "marginal"}


def test_image_page_keeps_images_and_the_text_around_them():
    clean = clean_page(parse(page(GALLERY), url=URL), "docview")
    assert clean.text.split() == [word for k in range(6) for word in ("Field", str(k))]
    assert clean.markdown.count(".jpg") == 6
    assert clean.view.type == "image"


def test_image_without_any_text_is_kept():
    clean = clean_page(parse("<body><div><p><img src=a.jpg></p></div>", url=URL), "docview")
    assert "a.jpg" in clean.html


@pytest.mark.parametrize(("headings", "expected"), [("true", 4.0), ("none", 1.0)])
def test_a_heading_weighs_more_where_it_is_a_block(headings: str, expected: float):
    settings = CleaningSettings.from_pairs([f"docview.headings={headings}"])
    clean = clean_page(parse(page(STORY), url=URL), "docview", settings=settings)
    (heading,) = np.flatnonzero(clean.tree.tagged("h1"))
    (foot,) = np.flatnonzero(clean.tree.tagged("footer"))
    assert clean.verdict.weight[heading] == pytest.approx(expected)
    assert clean.verdict.weight[foot] == 1.0


def test_topic_page_keeps_its_layout():
    html = "<body><div class=a><table><tr><td class=c><p>Some words that stay</p></td></tr></table></div>"
    kept = clean_page(parse(html), "docview").verdict.keep
    assert kept[1:].all()


# Two pages of one template


WORDS = st.lists(st.sampled_from("wheat rye oats barley grain chaff wind barn".split()), min_size=3, max_size=30).map(
    " ".join
)
SLOT = "{}"
LEAVES = st.sampled_from(
    [
        f"<p>{SLOT}</p>",
        f"<td>{SLOT}</td>",
        f"<div class=text>{SLOT}</div>",
        f"<h2>{SLOT}</h2>",
        MENU,
        "<p><a href=/x>Next</a></p>",
    ]
)
TEMPLATES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from(["div", "section", "article", "ul", "li"]), st.lists(inner, min_size=1, max_size=4)
    ).map(lambda drawn: f"<{drawn[0]}>{''.join(drawn[1])}</{drawn[0]}>"),
    max_leaves=12,
)


def template_of(html: str) -> list[tuple[int, int, int]]:
    """The structure of a topic content page: depth by parent, tag and style of each kept node."""
    clean = clean_page(parse(html, url=URL), "docview")
    assume(clean.view.type == "topic")
    tree, kept = clean.tree, np.flatnonzero(clean.verdict.keep)
    return [(int(tree.parent[i]), int(tree.tag[i]), int(tree.style[i])) for i in kept]


@given(TEMPLATES, st.data())
def test_two_pages_of_one_template_give_two_topic_pages_of_one_template(template: str, data: st.DataObject):
    slots = template.count(SLOT)
    pages = []
    for _ in range(2):
        filled = template
        for words in data.draw(st.lists(WORDS, min_size=slots, max_size=slots)):
            filled = filled.replace(SLOT, words, 1)
        pages.append(f"<body><p>{SENTENCE * 10}</p>{filled}")
    assert template_of(pages[0]) == template_of(pages[1])
