"""Sanitised HTML: the page's own layout without scripts, forms or loaded resources other than images."""

from __future__ import annotations

import re
from html import escape

import numpy as np
import pytest
import turbohtml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from webwinnow.page.parsing import parse
from webwinnow.record.html import to_html

HOME = "http://site.org/folder/page.html"
INERT = re.compile(
    r"a|abbr|acronym|address|article|aside|b|bdi|bdo|big|blockquote|body|br|caption|center|cite|code|col|colgroup|data|dd"
    r"|del|details|dfn|dir|div|dl|dt|em|figcaption|figure|footer|h[1-6]|head|header|hgroup|hr|html|i|img|ins|kbd|li|main"
    r"|mark|menu|menuitem|meta|nav|ol|p|picture|pre|q|rb|rp|rt|rtc|ruby|s|samp|section|small|span|strike|strong|sub"
    r"|summary|sup|table|tbody|td|tfoot|th|thead|time|title|tr|tt|u|ul|var|wbr"
)
ATTRIBUTES = frozenset(
    "class align valign bgcolor width height border cellpadding cellspacing dir colspan rowspan start datetime lang "
    "title alt href src charset type value reversed".split()
)


def html(page: str) -> str:
    tree = parse(page, url=HOME)
    return to_html(tree, np.ones(len(tree), np.bool_))


def body(page: str) -> str:
    """The content of BODY, without the element that replaces the page's own."""
    document = html(page)
    inside = document[document.index("<body>") + len("<body>") : document.index("</body>")]
    assert inside.startswith("<div")
    assert inside.endswith("</div>")
    return inside[inside.index(">") + 1 : -len("</div>")]


def assert_harmless(document: str) -> None:
    for element in turbohtml.parse(document).iter_elements():
        assert INERT.fullmatch(element.tag), element.tag
        for name, value in element.attrs.items():
            assert name in ATTRIBUTES, name
            if name == "href":
                assert re.match("(?:https?|mailto):", value), value
            elif name == "src":
                assert element.tag == "img"
                assert re.match("https?:", value), value


FOUL_TAGS = """
script style iframe object embed form input svg math button textarea select option frame frameset link meta base applet
video audio canvas template dialog fieldset label noscript plaintext xmp listing marquee image keygen source track area
map slot portal x-evil param
"""
FOUL_VALUES = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\tscript:x",
    "data:text/html,<script>",
    "vbscript:x",
    '"><script>alert(1)</script>',
    "'><img src=x onerror=y>",
    "</title><script>",
    "expression(alert(1))",
    "&quot;&gt;",
    "http://x.org/",
    "`",
    "",
]
NAMES = (
    "onclick onload style href src action formaction srcdoc class title alt xlink:href background ping id name srcset"
)
TEXTS = [
    "<script>alert(1)</script>",
    "</title>",
    "--><script>",
    "]]>",
    "<",
    ">",
    "&",
    "&lt;b&gt;",
    "a",
    "b c",
    '"',
    "\x1b[31m",
]

attribute = st.builds(
    lambda name, value: f' {name}="{escape(value)}"', st.sampled_from(NAMES.split()), st.sampled_from(FOUL_VALUES)
)


def elements(inside: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    tags = st.sampled_from([*FOUL_TAGS.split(), *"p div a a img table tr td ul li b".split()])
    return st.builds(
        lambda tag, attributes, parts: f"<{tag}{''.join(attributes)}>{''.join(parts)}</{tag}>",
        tags,
        st.lists(attribute, max_size=3),
        st.lists(inside, max_size=3),
    )


hostile_pages = st.lists(
    st.recursive(st.sampled_from(TEXTS) | st.sampled_from(TEXTS).map(escape), elements, max_leaves=12), max_size=5
).map("".join)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_pages)
@example("<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>a")
@example("<math><mtext><table><mglyph><style><img src=x onerror=y>")
@example("<noscript><p title='</noscript><img src=x onerror=y>'>")
@example("<svg><a href=javascript:x><text>y</text></a></svg>")
def test_a_hostile_page_comes_out_harmless(page: str) -> None:
    assert_harmless(html(page))


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_soup_comes_out_harmless(data, soup) -> None:
    assert_harmless(html(data.draw(soup)))


def test_the_document_is_whole() -> None:
    document = html("<html lang=de><title>A &amp; B</title><p>x")
    assert document.startswith(
        '<!DOCTYPE html>\n<html lang="de">\n<head><meta charset="utf-8"><title>A &amp; B</title></head>'
    )
    assert document.endswith("</body>\n</html>\n")


def test_text_is_escaped() -> None:
    assert body("<p>&lt;b&gt; &amp;amp; \"'</p>") == "<p>&lt;b&gt; &amp;amp; \"'</p>"


def test_attribute_values_are_escaped() -> None:
    assert body("<p title='\"&gt;&lt;script&gt;'>x</p>") == '<p title="&quot;&gt;&lt;script&gt;">x</p>'


def test_layout_is_kept() -> None:
    page = (
        '<table class="grid" width="100%" cellpadding="2"><tbody><tr><td colspan="2" align="right" bgcolor="#eee">a'
        '</td><th rowspan="3" valign="top">b</th></tr></tbody></table>'
    )
    attributes = re.findall(r'[a-z]+="[^"]*"', page)
    shown = body(page)
    assert sorted(re.findall(r'[a-z]+="[^"]*"', shown)) == sorted(attributes)
    assert re.sub(r" [a-z]+=\"[^\"]*\"", "", shown) == re.sub(r" [a-z]+=\"[^\"]*\"", "", page)


@pytest.mark.parametrize(
    "page",
    [
        "<h2>a</h2><ul><li>b</li></ul>",
        '<ol start="3"><li>a</li></ol>',
        "<dl><dt>a</dt><dd>b</dd></dl>",
        "<blockquote>a<br>b</blockquote><hr>",
        "<p>a <b>b</b> <i>c</i> <code>d</code></p>",
        '<p dir="rtl" lang="fr">a <time datetime="2020-01-01">b</time></p>',
        "<details><summary>a</summary>b</details>",
        "<figure>a<figcaption>b</figcaption></figure>",
    ],
)
def test_plain_markup_comes_out_as_it_went_in(page: str) -> None:
    assert body(page) == page


@pytest.mark.parametrize("tag", ["form", "fieldset", "legend", "select", "dialog", "noscript", "search"])
def test_blocks_that_ask_or_run_become_plain_blocks(tag: str) -> None:
    assert body(f"x<{tag}>a</{tag}>") == "x<div>a</div>"


@pytest.mark.parametrize("tag", ["button", "label", "font", "my-element", "output", "object"])
def test_inline_elements_that_ask_or_are_unknown_become_plain_ones(tag: str) -> None:
    assert body(f"<{tag}>a</{tag}>") == "<span>a</span>"


@pytest.mark.parametrize("tag", ["pre", "textarea", "listing", "xmp"])
def test_preformatted_text_keeps_every_character(tag: str) -> None:
    page = parse(f"x<{tag}>\n\n  a\n\tb </{tag}>")
    again = parse(to_html(page, np.ones(len(page), np.bool_)))
    (node,) = np.flatnonzero(again.tagged("pre"))
    assert again[node].text == page[2].text


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ('<a href="b.html">x</a>', '<a href="http://site.org/folder/b.html">x</a>'),
        ('<a href="mailto:a@b.org">x</a>', '<a href="mailto:a@b.org">x</a>'),
        ('<a href="javascript:x">x</a>', "<a>x</a>"),
        ('<a href="data:text/html,x">x</a>', "<a>x</a>"),
        ('<img src="i.png" alt="x">', '<img alt="x" src="http://site.org/folder/i.png">'),
        ('<img src="data:image/gif;base64,R0" data-src="/i.png">', '<img src="http://site.org/i.png">'),
        ('<img src="data:image/gif;base64,R0">', ""),
        ('<img src="mailto:a@b.org" alt="x">', ""),
    ],
)
def test_urls_are_absolute_and_safe_or_gone(page: str, expected: str) -> None:
    assert body(page) == expected


@pytest.mark.parametrize("left_out", ["<iframe src=/x></iframe>", "<video></video>", "<canvas></canvas>"])
def test_words_beside_an_element_that_is_left_out_stay_apart(left_out: str) -> None:
    assert re.search(r"a\s+b", body(f"a{left_out}b"))


def test_control_characters_do_not_come_through() -> None:
    document = html("<title>&#27;[31m</title><p title='&#27;]0;x&#7;' class='&#155;'>&#27;[2J\x9b</p>")
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", document) is None


def test_pages_from_right_to_left_say_so_and_keep_their_order() -> None:
    page = "<html dir=rtl lang=he><body><h1>USB וכבלים</h1><p>כבל ראשון</p><p>כבל שני</p></body></html>"
    tree = parse(page)
    document = to_html(tree, np.ones(len(tree), np.bool_))
    assert '<html lang="he" dir="rtl">' in document
    assert document.index("ראשון") < document.index("שני")
    other = parse("<p>One word: שלום</p>")
    assert " dir=" not in to_html(other, np.ones(len(other), np.bool_))


def test_boxes_without_text_or_picture_are_left_out():
    tree = parse(
        "<div class=a></div><div class=b> <p></p></div>one<div><iframe></iframe></div>two"
        "<div class=c><img src=/x.png></div>"
    )
    written = to_html(tree, np.ones(len(tree), np.bool_))
    assert re.findall("<(?:div|p)[^>]*>", written) == ["<div>", '<div class="c">']
    assert written.index("one") < written.index("\n", written.index("one")) < written.index("two")
