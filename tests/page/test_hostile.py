"""Hostile pages: each gives a consistent tree or a clear error, quickly. A hang or a crash fails the run."""

from __future__ import annotations

import codecs
import random
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webwinnow.errors import PageRefused
from webwinnow.page.markup import MAX_TAG
from webwinnow.page.parsing import DEFAULT_LIMITS, ParseLimits, parse
from webwinnow.page.tree import PageTree

Check = Callable[[PageTree], None]

MANY = 200_000
MEGABYTES_20 = 20_000_000


def depth_of(tree: PageTree) -> int:
    depth = [0] * len(tree)
    for i, parent in enumerate(tree.parent.tolist()[1:], 1):
        depth[i] = depth[parent] + 1
    return max(depth)


# Nesting


@pytest.mark.parametrize(
    "nested",
    [
        "div",
        "span",
        "b",
        "a",
        "font",
        "blockquote",
        "math><mrow",
        "ul><li",
        "table><tr><td",
        "my-tag",
        "div hidden",
        "ruby><rt",
    ],
)
def test_elements_nested_200_000_deep_are_read_and_their_text_kept(nested: str, assert_consistent: Check):
    opening = f"<{nested}>"
    tree = parse(opening * (MANY // opening.count("<")) + "the end")
    assert_consistent(tree)
    assert tree.text == "the end"
    assert depth_of(tree) <= DEFAULT_LIMITS.max_depth


def test_tree_of_200_000_nested_elements_says_that_depth_was_clipped():
    assert "depth" in parse("<div>" * MANY + "the end").clipped


@pytest.mark.parametrize(
    "nested", ["svg", "template", "svg><g", "select", "button", "form", "p", "h1", "frameset", "noscript"]
)
def test_elements_nested_200_000_deep_that_hold_nothing_are_read(nested: str, assert_consistent: Check):
    assert_consistent(parse(f"<{nested}>" * MANY))


def test_text_at_every_level_of_200_000_nested_elements_is_kept_in_order(assert_consistent: Check):
    tree = parse("".join(f"<div>{k} " for k in range(MANY)))
    assert_consistent(tree)
    assert tree.text.split() == [str(k) for k in range(MANY)]


def test_nested_shadow_roots_are_read(assert_consistent: Check):
    tree = parse("<div><template shadowrootmode=open>" * 50_000 + "the end")
    assert_consistent(tree)
    assert tree.text == "the end"


def test_misnested_formatting_elements_that_multiply_are_refused_at_the_node_limit():
    # The first <p> closes with 500 <font> open; each later one opens all of them again: 2,500,000 elements.
    with pytest.raises(PageRefused, match="1,000,000"):
        parse("<p>" + "".join(f"<font color={k}>" for k in range(500)) + "<p>x" * 5_000)


def test_a_page_deeper_than_the_default_limit_is_read_whole_on_request():
    tree = parse("<div>" * 5_000 + "the end", limits=ParseLimits(max_depth=10_000))
    assert (depth_of(tree), tree.text, tree.clipped) == (5_001, "the end", ())


@pytest.mark.parametrize(
    "page",
    [
        "<b><div>" * MANY + "</b>" * MANY,
        "<a><div>" * MANY,
        "<b><i><u><s><div>" * 20_000 + "</b></i></u></s>" * 20_000,
        "<b><p>" + "<i></i>" * MANY + "</b>" + "<b></b>" * MANY,
        "<table>" + "<b>x" * MANY,
        "<table>" * MANY + "x<b>" * 10,
        "<nobr><table><tr><td>" * 50_000 + "</nobr>" * MANY,
        "<form><div></form>" * MANY,
        "<template>" * MANY + "<td>" * MANY,
        "<svg><desc>" * MANY + "</p>" * MANY,
        "<object>" * MANY + "<b>" * MANY,
        "<table>" + " </>" * MANY + "x",
        "<video/>" + "<title/>" * MANY,
    ],
    ids=lambda page: page[:24],
)
def test_nested_formatting_tables_and_foreign_content_are_read(page: str, assert_consistent: Check):
    assert_consistent(parse(page))


@pytest.mark.parametrize(
    "page",
    [
        "".join(f"<b id={k}>" for k in range(MANY)),
        "<a>" + "<div>" * MANY + "</a>" * MANY,
        "<p><object>" + "<span>" * MANY + "<div>" * MANY,
        "<div>" * MANY + "<table></table>" * MANY,
        "<div>" * MANY + "</h1>" * MANY,
        "<x><div>" + "<y>" * MANY + "</x>" * MANY,
        "<svg>" + "<g>" * MANY + "</x>" * MANY,
        "<select>" + "<div>" * MANY + "<option>" * MANY,
    ],
    ids=lambda page: page[:24],
)
def test_a_page_each_of_whose_tags_looks_at_all_open_elements_is_refused(page: str):
    with pytest.raises(PageRefused, match="nests its elements so deeply"):
        parse(page)


PAGE_THAT_MULTIPLIES = """
import resource
import sys
from webwinnow.errors import PageRefused
from webwinnow.page.parsing import parse

resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    print("read:", parse(sys.stdin.read(), "http://a.example/").text)
except PageRefused as refusal:
    print("refused:", refusal)
"""


def read_in_two_gigabytes(page: str) -> str:
    """What becomes of a page in a process of its own, which may use two gigabytes."""
    command = [sys.executable, "-c", PAGE_THAT_MULTIPLIES]
    run = subprocess.run(command, input=page, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-500:]
    return run.stdout


DEEP = "<div>" * 600
"""Deeper than a PageTree may be."""


@pytest.mark.parametrize("before", ["", DEEP])
@pytest.mark.parametrize(
    "page",
    [
        # 20,000,000 elements
        "<p>" + "".join(f"<font color={k}>" for k in range(500)) + "<p>x" * 40_000,
        # closed after they were reopened: at the end none is open
        "<p>" + "".join(f"<font color={k}>" for k in range(500)) + "<p>x" * 40_000 + "</font>" * 500,
        # 50,000 elements with 45 KB of attributes each
        f"<p><b class='{'x ' * 12_000}' title='{'y' * 24_000}'>" + "<p>z" * 50_000,
        "<p><b " + " ".join(f"data-a{k}=1" for k in range(900)) + ">" + "<p>z" * 50_000,
    ],
    ids=["elements", "closed later", "long values", "many attributes"],
)
def test_a_page_whose_reopened_elements_multiply_takes_less_than_two_gigabytes(before: str, page: str):
    assert read_in_two_gigabytes(before + page).startswith("refused:")


@pytest.mark.parametrize("tag", ["html", "body"])
@pytest.mark.parametrize("before", ["", DEEP])
def test_attributes_that_tags_add_to_html_and_body_again_and_again_cost_little(before: str, tag: str):
    page = before + "".join(f"<{tag} a{k}=1>" for k in range(50_000)) + "the end"
    outcome = read_in_two_gigabytes(page)
    assert outcome.startswith("read: the end")


def test_attributes_of_a_second_body_tag_are_added_to_those_of_the_first():
    tree = parse("<body class=a><p>x<body class=b id=c>")
    (body,) = np.flatnonzero(tree.tagged("body"))
    assert tree.attributes(int(body)) == {"class": "a", "id": "c"}


def test_a_tag_with_a_million_attributes_is_read():
    tree = parse("<p " + " ".join(f"a{k}" for k in range(1_000_000)) + ">the end")
    assert tree.text == "the end"
    assert "attributes" in tree.clipped


def test_formatting_elements_with_500_attributes_that_differ_in_the_last_are_compared_in_linear_time():
    names = " ".join(f"a{k}" for k in range(480))
    assert parse("".join(f"<b {names} z={k}>{k} " for k in range(400))).text.split() == [str(k) for k in range(400)]


def test_formatting_elements_with_the_same_attributes_in_another_order_are_alike():
    # Of more than three alike, the first is not reopened (Noah's Ark clause).
    tree = parse("<p>" + "<b id=x class=y><b class=y id=x>" * 3 + "<p>z")
    assert np.count_nonzero(tree.tagged("b")) == 6 + 3


def test_a_long_tag_name_is_truncated():
    tree = parse(f"<{'x' * 100_000}>the end")
    assert max(len(node.tag) for node in tree) == MAX_TAG
    assert tree.text == "the end"


def test_deep_tables_with_foster_parented_text_lose_no_word(assert_consistent: Check):
    tree = parse("".join(f"<table>out{k} <tr>row{k} <td>cell{k} " for k in range(2_000)))
    assert_consistent(tree)
    words = tree.text.split()
    assert sorted(words) == sorted(f"{place}{k}" for k in range(2_000) for place in ("out", "row", "cell"))


# Size


def test_20_megabytes_of_text_are_read(assert_consistent: Check):
    tree = parse(b"grain " * (MEGABYTES_20 // 6) + b"ok", content_type="text/html; charset=utf-8")
    assert_consistent(tree)
    assert len(tree.text) == MEGABYTES_20
    assert tree.text.endswith("grain ok")


def test_20_megabytes_and_one_byte_are_refused_with_both_numbers():
    with pytest.raises(PageRefused, match=r"20,000,001\b.*\b20,000,000\b"):
        parse(b"x" * (MEGABYTES_20 + 1))


@pytest.mark.parametrize(
    "piece",
    [b"<", b"&", b"&amp;", b"\0", b"<!--", b"</", b"<!---->", b"\xff", "漢".encode(), b"<a ", b"<p a='", b"]]>"],
)
def test_megabytes_of_one_piece_are_read(piece: bytes, assert_consistent: Check):
    assert_consistent(parse(piece * (2_000_000 // len(piece))))


def test_more_elements_than_the_limit_are_refused_with_the_limit():
    with pytest.raises(PageRefused, match="1,000,000"):
        parse("<br>" * 1_000_000)


def test_100_000_attributes_are_clipped_and_the_tree_says_so(assert_consistent: Check):
    tree = parse("<p title=first " + " ".join(f"a{k}={k}" for k in range(100_000)) + " class=last>x")
    assert_consistent(tree)
    assert tree.clipped == ("attributes",)
    assert tree[2].attributes == {"title": "first"}
    assert tree.text == "x"


def test_one_attribute_100_000_times_counts_once(assert_consistent: Check):
    tree = parse("<p " + "title=a " * 100_000 + ">x")
    assert_consistent(tree)
    assert tree[2].attributes == {"title": "a"}
    assert tree.clipped == ()


def test_100_000_distinct_tag_names_are_refused_with_a_reason():
    with pytest.raises(PageRefused, match="tag names"):
        parse("".join(f"<x{k}>{k}</x{k}>" for k in range(100_000)))


def test_50_000_distinct_tag_names_are_read(assert_consistent: Check):
    tree = parse("".join(f"<x{k}>{k}</x{k}>" for k in range(50_000)))
    assert_consistent(tree)
    assert len(tree.custom_tags) == 50_000
    assert tree[40_000].tag == "x39998"


def test_100_000_class_tokens_are_one_style(assert_consistent: Check):
    tokens = [f"a{'b' * (k % 7)}{chr(97 + k % 26)}" for k in range(100_000)]
    one, other = (parse(f"<p class='{' '.join(order)}'>x") for order in (tokens, tokens[::-1]))
    assert_consistent(one)
    assert one.style[2] == other.style[2]


def test_megabytes_in_one_attribute_are_cut(assert_consistent: Check):
    tree = parse(f"<p title='{'x' * 5_000_000}' class='{'y' * 5_000_000}' style='{'z:1;' * 1_000_000}'>x")
    assert_consistent(tree)
    assert tree.text == "x"


def test_megabytes_of_json_ld_are_left_out():
    page = '<script type="application/ld+json">{"@type": "' + "x" * 10_000_000 + '"}</script><p>x'
    assert parse(page).head.json_ld_types == ()


def test_100_000_metas_and_scripts_are_read(assert_consistent: Check):
    tree = parse("<meta name=a content=b><script type=application/ld+json>{}</script>" * 50_000 + "<p>x")
    assert_consistent(tree)
    assert tree.text == "x"


# Bytes


def test_nul_bytes_everywhere_are_survived(assert_consistent: Check):
    page = (
        '<html lang="en"><title>tit</title><p class="c" title="t">text <b>bold</b><!-- c --><svg><text>s</text></svg>'
    )
    tree = parse("\0".join(page))
    assert_consistent(tree)
    for at in range(len(page)):
        assert_consistent(parse(f"{page[:at]}\0{page[at:]}".encode()))


def test_nul_in_text_is_not_text():
    assert parse(b"<p>a\0b").text == "ab"
    assert parse(b"<p title='a\0b'>x").attribute(2, "title") == "a\ufffdb"


@given(st.binary(max_size=500))
def test_random_bytes_are_survived(assert_consistent: Check, body: bytes):
    assert_consistent(parse(body))


def test_a_megabyte_of_random_bytes_is_survived(assert_consistent: Check):
    noise = random.Random(20030817)
    assert_consistent(parse(noise.randbytes(1_000_000)))
    assert_consistent(parse(bytes(noise.choices(b"<>/=\"'!-& ap\0\xff", k=1_000_000))))


@settings(max_examples=50)
@given(
    st.sampled_from(("utf-8", "utf-16", "shift_jis", "gb18030", "euc-kr", "euc-jp", "big5", "iso-2022-jp")), st.data()
)
def test_truncated_multibyte_text_is_survived(assert_consistent: Check, codec: str, data: st.DataObject):
    body = ("<p>" + "日本漢字" * 4).encode(codec)
    cut = data.draw(st.integers(0, len(body)))
    for part in (body[:cut], b"<p>" + body[cut:]):
        assert_consistent(parse(part, content_type=f"text/html; charset={codec}"))
        assert_consistent(parse(part))


def test_text_in_the_wrong_charset_is_survived(assert_consistent: Check):
    for written in ("utf-8", "cp1251", "shift_jis", "utf-16"):
        body = "<p>яжы</p>".encode(written)
        for read in ("utf-8", "gb18030", "big5", "iso-2022-jp", "euc-jp", "utf-16", "koi8-r", "nonsense"):
            assert_consistent(parse(body, content_type=f"text/html; charset={read}"))


def test_bom_alone_is_an_empty_page(assert_consistent: Check):
    for bom in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        tree = parse(bom)
        assert_consistent(tree)
        assert tree.reason == "empty"


# Names


@pytest.mark.parametrize(
    "odd", ['"', "'", "=", "<", "`", "é", "漢", "😀", "&amp;", ":", "|", "\\", "\x0b", "\x1f", "#root", "."]
)
def test_odd_tag_and_attribute_names_are_survived(odd: str, assert_consistent: Check):
    for page in (
        f"<a{odd}>x</a{odd}>",
        f"<a{odd}b class=c>x</a{odd}b>",
        f"<p {odd}>x",
        f"<p {odd}=1 class=c>x",
        f"<p a{odd}b='{odd}' class=c>x",
        f"<p {odd}{odd}={odd} {odd}>x",
        f"<p class={odd}>x",
        f"<p class='{odd} {odd}{odd}'>x" if odd != "'" else '<p class="\'">x',
        f"<math><a{odd} b{odd}=c>x</math>",
    ):
        tree = parse(f"<body>{page}<i>after</i>")
        assert_consistent(tree)
        assert "after" in tree.text or odd in "\"'"  # an open quote consumes the rest


def test_attributes_behind_one_with_an_odd_name_are_read():
    page = "<p \"=1 '=2 ==3 <=4 é=5 a\"b=6 x:y=7 /z=8 title='right'>x"
    assert parse(page)[2].attributes == {"title": "right"}


def test_slashes_inside_tags_are_no_end():
    tree = parse("<p/title='a'/class='b'/>x<br/><b/>y")
    assert tree[2].attributes == {"title": "a", "class": "b"}
    assert [node.tag for node in tree][2:] == ["p", "br", "b"]
    assert tree[4].text == "y"


def test_element_that_bears_the_name_of_the_root_is_not_the_root(assert_consistent: Check):
    tree = parse("<a#root>x</a#root><x#text>y</x#text>")
    assert_consistent(tree)
    assert [node.tag for node in tree] == ["#root", "body", "a#root", "x#text"]


def test_markup_in_attribute_values_stays_there():
    page = """<p title='</p><script>"&lt;b&gt;-->' class="a>b">x</p><a href='"><b>'>y</a>"""
    tree = parse(page)
    assert [node.tag for node in tree] == ["#root", "body", "p", "a"]
    assert tree[2].attributes == {"title": '</p><script>"<b>-->', "class": "a>b"}
    assert tree.attribute(3, "href") == '"><b>'


# Comments and tags that do not end


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<!--x--!>b", "ab"),
        ("a<!--x--!y-->b", "ab"),
        ("a<!-->b", "ab"),
        ("a<!--->b", "ab"),
        ("a<!---->b", "ab"),
        ("a<!----->b", "ab"),
        ("a<!--x--->b", "ab"),
        ("a<!-- <!-- x --> -->b", "a -->b"),
        ("a<!-- > -- > <p> -->b", "ab"),
        ("a<!--x", "a"),
        ("a<!--x--", "a"),
        ("a<!--x--!", "a"),
        ("a<!", "a"),
        ("a<!x>b", "ab"),
        ("a<!x-- -->b", "ab"),
        ("a<?x -->b", "ab"),
        ("a<?-- x>b", "ab"),
        ("a</ x>b", "ab"),
        ("a</>b", "ab"),
        ("a<![CDATA[x]]>b", "ab"),
        ("a<p", "a"),
        ("a<p title", "a"),
        ("a<p title=", "a"),
        ("a<p title='x>b", "a"),
        ('a<p title="x>b', "a"),
        ("a<p title=x", "a"),
        ("a</p", "a"),
        ("a<", "a<"),
        ("a</", "a</"),
        ("a< b", "a< b"),
        ("a<1>b", "a<1>b"),
        ("a<script>b", "a"),
        ("a<script><!--<script>b</script>c", "a"),
        ("a<style>b", "a"),
        ("a<template>b", "a"),
        ("a<textarea>b</p>", "ab</p>"),
        ("a&", "a&"),
        ("a&#", "a&#"),
        ("a&#x", "a&#x"),
        ("a&#x110000;", "a\ufffd"),
        ("a&#99999999999999999999;", "a\ufffd"),
        ("a&am", "a&am"),
    ],
)
def test_what_does_not_end_ends_as_the_standard_says(page: str, text: str, assert_consistent: Check):
    tree = parse(f"<body>{page}")
    assert_consistent(tree)
    assert tree.text == text


def test_page_cut_at_any_place_is_a_tree(assert_consistent: Check):
    page = """<!doctype html><html lang=de><head><meta charset="utf-8"><title>T &amp; t</title><style>a{}</style></head>
        <body class='a b'><!-- c --><table><tr>x<td colspan=2>é 漢<script>if (a < b) "</script>";</script></table>
        <svg><g/></svg><template><p>y</p></template><pre>\n z</pre><dialog open>&nbsp;</dialog></body></html>"""
    page = page.encode()
    for cut in range(len(page)):
        assert_consistent(parse(page[:cut]))
        assert_consistent(parse(page[cut:]))


def test_limits_of_one_hold(assert_consistent: Check):
    page = "<div class=a>x<p title=b>y</p></div>"
    with pytest.raises(PageRefused):
        parse(page, limits=ParseLimits(max_bytes=1))
    with pytest.raises(PageRefused):
        parse(page, limits=ParseLimits(max_nodes=1))
    tree = parse(page, limits=ParseLimits(max_depth=1, max_attributes=1))
    assert_consistent(tree)
    assert (tree.text, len(tree)) == ("xy", 2)
    assert np.array_equal(tree.run_owner, [1])
