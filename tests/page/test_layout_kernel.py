"""`_layout` against its plain twin: same columns and same refusals for the tree of any page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import plain_layout as plain
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from webwinnow.errors import PageRefused
from webwinnow.page import _layout as compiled
from webwinnow.page import markup
from webwinnow.page._htmltree import HtmlTree
from webwinnow.page.parsing import DEFAULT_LIMITS, decode, parse

MAX_NODES, MAX_DEPTH, MAX_ATTRIBUTES = (
    DEFAULT_LIMITS.max_nodes,
    DEFAULT_LIMITS.max_depth,
    DEFAULT_LIMITS.max_attributes,
)
MANY_TOKENS = 64
LONG_CLASS = 1024
"""Beyond these the kernel calls `markup.canonical_class`."""


def tree_of(page: str | bytes) -> HtmlTree:
    text, _ = decode(page)
    return HtmlTree(text.encode(), MAX_NODES, MAX_ATTRIBUTES)


def style_of(attribute: str, value: str) -> int:
    """The style hash of a paragraph with one attribute."""
    page = tree_of("<p>")
    page.add_attribute(max(node for node, *_ in page.nodes()), attribute, value)
    return int(compiled.lay_out(page, MAX_NODES, MAX_DEPTH, MAX_ATTRIBUTES)["style"][2])


def outcome(twin: Any, *arguments: Any) -> Any:
    try:
        return twin.lay_out(*arguments)
    except PageRefused as refusal:
        return str(refusal)


def assert_twins_agree(
    tree: HtmlTree, max_nodes: int = MAX_NODES, max_depth: int = MAX_DEPTH, max_attributes: int = MAX_ATTRIBUTES
) -> None:
    fast = outcome(compiled, tree, max_nodes, max_depth, max_attributes)
    slow = outcome(plain, tree, max_nodes, max_depth, max_attributes)
    if isinstance(slow, str):
        assert fast == slow
        return
    assert fast.keys() == slow.keys()
    for name, column in slow.items():
        if isinstance(column, np.ndarray):
            assert fast[name].dtype == column.dtype
            np.testing.assert_array_equal(fast[name], column, err_msg=name)
        else:
            assert type(fast[name]) is type(column)
            assert fast[name] == column, name


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_twins_lay_out_soup_equally(data: st.DataObject, soup: st.SearchStrategy[str]):
    assert_twins_agree(tree_of(data.draw(soup)))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_twins_keep_to_limits_equally(data: st.DataObject, soup: st.SearchStrategy[str]):
    limits = [
        data.draw(st.integers(least, 8), label=name) for name, least in (("nodes", 2), ("depth", 1), ("attributes", 0))
    ]
    assert_twins_agree(tree_of(data.draw(soup)), *limits)


@given(st.binary(max_size=300))
def test_twins_lay_out_random_bytes_equally(body: bytes):
    assert_twins_agree(tree_of(body))


name_characters = st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\f\r/>\0"), max_size=5)


@given(tag=name_characters, name=name_characters, value=name_characters)
@example(tag='"', name="=", value='"')
@example(tag="<b", name="<", value="&amp")
@example(tag="=é", name="é=", value="&amp;quot;")
def test_twins_read_odd_names_equally(tag: str, name: str, value: str):
    assert_twins_agree(tree_of(f"<a{tag} {name}={value} {name}x class='{value}'>x</a{tag}><b{tag}/{name}>y"))


@pytest.mark.parametrize(
    "page",
    [
        "",
        "x",
        "<frameset><frame></frameset>",
        "<!doctype html><!-- a --><?x y><html><!-- b --><body><!-- c -- d --->x<!----><!-->y<!--->z",
        "<p>&amp;amp; &amp;lt; &lt;b&gt; &nbsp; &quot; & &am &amp",
        "<p title='&amp;quot; &lt; &nbsp; \"'>x",
        "<p title='" + "é" * 4096 + "'>x<p title='" + "é" * 4097 + "'>y",
        "<a href='" + "h" * 4096 + "'>x<a href='" + "h" * 4097 + "'>y",
        "<a href='" + "&amp;" * 4096 + "'>x<a title='" + "&amp;" * 4097 + "'>y",
        "<p title='" + "a" * 4095 + "😀z'>x",
        "<p style='display:NONE'>x<p style='displaynone'>y<p style=' d i s p l a y : n o n e '>z",
        "<p role='A  b'>x<p role='a B'>y<x-y role>z<x-y>w",
        "<p class='" + " ".join(f"a{k}" for k in range(100)) + "'>x",
        "<div><template shadowrootmode=open>x<style>y</style></template></div><template>z</template>",
        "<svg><g><p>x</p></g></svg><video><source>x</video><math><mi>x</mi><annotation>y</annotation></math>",
        "<table>a<tr>b<td>c<table>d</table>e",
        "<pre>\n\nx</pre><textarea>\n&lt;</textarea><plaintext></b>",
        "<div hidden><div hidden id=S:1><input type=hidden></div></div><dialog>x</dialog><dialog open>y</dialog>",
        "".join(f"<x{k}>" for k in range(70_000)),
        "<b>" * 3000 + "x",
    ],
    ids=lambda page: page[:24],
)
def test_twins_lay_out_odd_pages_equally(page: str):
    assert_twins_agree(tree_of(page))


LARGE_PAGES = {
    "nested": "".join(f"<div class=c{k}>{k}" for k in range(5_000)),
    "attributes": "<p " + " ".join(f"a{k}={k}" for k in range(5_000)) + ">x",
    "words": "<p>漢字 é &amp; <b>x</b>" * 5_000,
}


@pytest.mark.parametrize("page", LARGE_PAGES.values(), ids=LARGE_PAGES.keys())
def test_twins_lay_out_large_pages_equally(page: str):
    assert_twins_agree(tree_of(page))


GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.html"))


@pytest.mark.parametrize("page", GOLDEN, ids=lambda page: page.stem)
def test_twins_lay_out_golden_pages_equally(page: Path):
    assert_twins_agree(tree_of(page.read_bytes()))


# Class names


class_text = st.one_of(
    st.text("aZ09-_ ", max_size=30),
    st.text(st.characters(max_codepoint=127), max_size=30),
    st.text(max_size=20),
    st.lists(st.text("abYZ01-_é", min_size=1, max_size=8), max_size=2 * MANY_TOKENS).map(" ".join),
)


@settings(max_examples=500)
@given(class_text)
@example("")
@example(" \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0")
@example("a\x1cb")
@example("-_-")
@example("9--")
@example("__A__")
@example("aB1cD2 1aB-aB1")
@example("aBcDe aBcD")
def test_class_names_are_canonicalised_as_markup_does(written: str):
    assert style_of("class", written) == markup.style_hash("p", [("class", written)])


@pytest.mark.parametrize("count", [MANY_TOKENS - 1, MANY_TOKENS, MANY_TOKENS + 1, 3 * MANY_TOKENS])
def test_twins_agree_on_many_class_tokens(count: int):
    letters = "abcdefghijklmnopqrstuvwxyz"
    written = " ".join(letters[k % 26] + letters[k // 26] for k in reversed(range(count)))
    assert style_of("class", written) == markup.style_hash("p", [("class", written)])
    assert len(markup.canonical_class(written).split()) == count


@pytest.mark.parametrize("length", [LONG_CLASS - 1, LONG_CLASS, LONG_CLASS + 1, 10 * LONG_CLASS])
@pytest.mark.parametrize("piece", ["a", "A", "a1", "-", "aB-", "1 ", "-1 "])
def test_twins_agree_on_long_class_names(length: int, piece: str):
    written = (piece * length)[:length]
    assert style_of("class", written) == markup.style_hash("p", [("class", written)])


declarations = st.lists(
    st.one_of(
        st.sampled_from([" ", "\n", "\x1c", "é", "&quot;", "&amp;", "<", "url(a)", "url("]),
        st.sampled_from("display DISPLAY none None : ; ! - -- 1 0.5 . px URL( ) # color:red --x:1 hidden".split()),
    ),
    max_size=30,
).map("".join)


@settings(max_examples=500)
@given(declarations)
@example("url(url(a)b)1-2--3.-.a:B;;--x:1;a:b;A : b")
@example("a:url(;b:1")
@example(";".join(f"a{chr(97 + k % 26)}{chr(97 + k // 26)}:b" for k in range(MANY_TOKENS + 1)))
@example("a:" + "b" * LONG_CLASS)
def test_inline_styles_are_canonicalised_as_markup_does(written: str):
    assert style_of("style", written) == markup.style_hash("p", [("style", written)])


@settings(max_examples=300)
@given(declarations, st.sampled_from(["div", "input", "dialog"]), st.sampled_from(["", " type=Hidden", " hidden"]))
@example("display:none;display : NONE ! important", "div", "")
@example("display:none;display", "div", "")
@example("none:display", "div", " type='hidden '")
def test_twins_hide_and_style_equally(written: str, tag: str, more: str):
    escaped = written.replace('"', "&quot;")
    assert_twins_agree(tree_of(f'<{tag}{more} style="{escaped}">x</{tag}><{tag} class="{escaped}">'))


def test_styles_and_shapes_of_a_page_with_many_of_them_are_those_of_the_vocabulary():
    tags = [f'<div class="c{k} d" role=r{k % 300}>' for k in range(2_000)] + [f"<x-{k} role=r>" for k in range(300)]
    tree = parse("<body>" + "".join(f"{tag}a</{tag[1:].split()[0]}>" for tag in tags * 2))
    classes = [{"class": f"c{k} d", "role": f"r{k % 300}"} for k in range(2_000)] + [{"role": "r"}] * 300
    names = ["div"] * 2_000 + [f"x-{k}" for k in range(300)]
    given_ = list(zip(names, classes, strict=True)) * 2
    assert tree.style[2:].tolist() == [markup.style_hash(name, tuple(values.items())) for name, values in given_]
    assert tree.shape[2:].tolist() == [markup.shape_hash(name, values["role"]) for name, values in given_]
