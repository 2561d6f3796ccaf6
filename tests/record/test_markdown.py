"""GitHub-flavoured Markdown: read back by another program, it shows the page's text and has no unsafe link."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from webwinnow.page.parsing import parse
from webwinnow.record.markdown import to_markdown

HOME = "http://site.org/folder/page.html"
WORD = re.compile(r"\w+")


def markdown(page: str) -> str:
    tree = parse(page, url=HOME)
    return to_markdown(tree, np.ones(len(tree), np.bool_))


# Headings and paragraphs


@pytest.mark.parametrize("level", range(1, 7))
def test_headings_keep_their_rank(level: int) -> None:
    assert markdown(f"<h{level}>Head</h{level}>") == "#" * level + " Head\n"


def test_a_heading_keeps_its_rank_when_a_block_stands_in_it() -> None:
    assert markdown("<h2><div>Head</div></h2><div>Body</div>") == "## Head\n\nBody\n"


def test_a_line_break_in_a_heading_is_a_blank() -> None:
    assert markdown("<h2>a<br>b</h2>") == "## a b\n"


def test_an_empty_heading_is_left_out() -> None:
    assert markdown("<h2> </h2><p>a</p>") == "a\n"


def test_number_signs_at_the_end_of_a_heading_are_read_as_text(read_markdown) -> None:
    assert read_markdown(markdown("<h2>C #</h2><h2>D ##</h2>")).text == "C #\nD ##\n"


def test_blocks_are_paragraphs(read_markdown) -> None:
    assert read_markdown(markdown("<div>a</div><p>b</p>c")).kinds.count("paragraph_open") == 3


def test_br_is_a_hard_break() -> None:
    assert markdown("<p>one<br>two</p>") == "one\\\ntwo\n"


@pytest.mark.parametrize("page", ["<p><br>a<br><br> <br>b<br></p>", "<p>a <br> b <br> </p>"])
def test_hard_breaks_stand_only_between_lines(page: str) -> None:
    assert markdown(page) == "a\\\nb\n"


@pytest.mark.parametrize("before", ['<a href="/x">a</a>', "<b>a</b>", "<code>a</code>", "a"])
@pytest.mark.parametrize("after", ['<a href="/y">b</a>', "<b>b</b>", "<code>b</code>", "b"])
def test_br_parts_whatever_stands_beside_it(before: str, after: str, read_markdown) -> None:
    assert read_markdown(markdown(f"<p>{before}<br>{after}</p>")).text == "a\nb\n"


def test_a_rule_is_read_as_a_rule(read_markdown) -> None:
    assert "hr" in read_markdown(markdown("<p>a</p><hr><p>b</p>")).kinds


def test_a_rule_in_a_list_item_does_not_eat_the_list(read_markdown) -> None:
    kinds = read_markdown(markdown("<ul><li>b<hr>c</li><li>a</li></ul>")).kinds
    assert kinds.count("list_item_open") == 2
    assert "hr" in kinds


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("<hr><p>a</p><hr><hr><p>b</p><hr>", "a\n\n***\n\nb\n"),
        ("<ul><li>a<hr></li><li><hr>b</li></ul>", "- a\n- b\n"),
        ("<ul><li>a<hr></li></ul><hr><p>b</p>", "- a\n\n***\n\nb\n"),
        ("<p>a</p><blockquote>b<hr>c</blockquote>", "a\n\n> b\n>\n> ***\n>\n> c\n"),
    ],
)
def test_rules_that_separate_nothing_are_left_out(page: str, expected: str) -> None:
    assert markdown(page) == expected


# Links


@pytest.mark.parametrize(
    ("href", "target"),
    [
        ("http://x.org/a", "http://x.org/a"),
        ("HTTPS://x.org/a", "https://x.org/a"),
        ("b.html", "http://site.org/folder/b.html"),
        ("/b", "http://site.org/b"),
        ("?q=1", "http://site.org/folder/page.html?q=1"),
        ("//y.org/", "http://y.org/"),
        ("mailto:a@b.org", "mailto:a@b.org"),
        (" /b\n", "http://site.org/b"),
    ],
)
def test_links_are_absolute(href: str, target: str, read_markdown) -> None:
    assert read_markdown(markdown(f'<a href="{href}">x</a>')).links == [target]


def test_links_follow_the_base_of_the_page(read_markdown) -> None:
    assert read_markdown(markdown('<base href="http://b.org/d/"><a href="x">x</a>')).links == ["http://b.org/d/x"]


@pytest.mark.parametrize("href", ["#top", "", " #x", "tel:123", "ftp://x.org/", "about:blank"])
def test_links_into_the_page_and_to_other_schemes_are_text(href: str, read_markdown) -> None:
    expected = [HOME] if href == "" else []
    assert read_markdown(markdown(f'<a href="{href}">x</a>')).links == expected


def test_an_anchor_without_url_is_text() -> None:
    assert markdown("<a name=x>y</a>") == "y\n"


@pytest.mark.parametrize(
    "path",
    ["a(b", "a)b", "a(b)c", "it's", 'a"b', "a b", "a<b>c", "a_b_c", "a*b", "a[b]c", "a`b", "a|b", "a\\b", "é", "a]:b"],
)
def test_odd_characters_in_a_url_survive(path: str, read_markdown) -> None:
    shown = read_markdown(markdown(f'<a href="http://x.org/q?{escape(path)}">text</a> after'))
    assert [unquote(link) for link in shown.links] == [f"http://x.org/q?{path}"]
    assert shown.text == "text after\n"


def test_underscores_in_a_url_stay_as_they_are() -> None:
    assert markdown('<a href="http://x.org/a_b">x</a>') == "[x](http://x.org/a_b)\n"


def test_what_looks_like_an_entity_in_a_url_stays(read_markdown) -> None:
    assert read_markdown(markdown('<a href="/?a&amp;lt;=1&amp;b=2">x</a>')).links == ["http://site.org/?a&lt;=1&b=2"]


def test_a_link_around_blocks_becomes_a_link_in_each() -> None:
    page = '<a href="/x"><h2>Head</h2><p>Text</p></a>'
    assert markdown(page) == "## [Head](http://site.org/x)\n\n[Text](http://site.org/x)\n"


def test_a_link_holds_the_emphasis_inside_it() -> None:
    assert markdown('<a href="/x">a <b>b</b> <i>c</i></a>') == "[a **b** *c*](http://site.org/x)\n"


def test_emphasis_around_a_link_moves_into_it(read_markdown) -> None:
    shown = read_markdown(markdown('<b>a <a href="/x">b</a> c</b>'))
    assert shown.text == "a b c\n"
    assert shown.kinds.count("strong_open") == 3


def test_white_space_at_the_edges_of_a_link_stays_outside() -> None:
    assert markdown('a<a href="/x"> b </a>c') == "a [b](http://site.org/x) c\n"


def test_neighbouring_links_stay_two(read_markdown) -> None:
    assert len(read_markdown(markdown('<a href="/x">a</a><a href="/y">b</a>')).links) == 2


def test_an_exclamation_mark_before_a_link_does_not_make_it_a_picture(read_markdown) -> None:
    shown = read_markdown(markdown('Look!<a href="/x">here</a>'))
    assert shown.text == "Look!here\n"
    assert shown.images == []


def test_a_link_without_text_is_left_out() -> None:
    assert markdown('<p>a<a href="/x"> </a>b</p>') == "a b\n"


def test_a_linked_picture_is_a_link_around_an_image() -> None:
    expected = "[![p](http://site.org/i.png)](http://site.org/x)\n"
    assert markdown('<a href="/x"><img src="/i.png" alt="p"></a>') == expected


def test_code_with_brackets_in_a_link_defines_nothing(read_markdown) -> None:
    shown = read_markdown(markdown('<a href="/x"><code>#]: http://y.org</code></a>'))
    assert shown.text == "#]: http://y.org\n"
    assert shown.references == {}


# Images


def test_images_have_their_description_and_absolute_url() -> None:
    assert markdown('<img src="i.png" alt="a [b]">') == "![a \\[b\\]](http://site.org/folder/i.png)\n"


def test_a_heading_that_is_only_an_image_is_no_heading() -> None:
    assert markdown('<h2><a href="/"><img src="/i.png" alt="p"></a> </h2>').startswith("[![p]")
    assert markdown('<h2><img src="/i.png" alt="p"> Boats</h2>').startswith("## ![p]")


def test_an_image_that_scripts_would_load_is_found() -> None:
    expected = "![](http://site.org/real.png)\n"
    assert markdown('<img src="data:image/gif;base64,R0" data-src="/real.png">') == expected
    assert markdown('<img data-src="/real.png">') == expected


@pytest.mark.parametrize("src", ["data:image/png;base64,x", "javascript:x", "mailto:a@b.org", "file:///x", ""])
def test_images_from_elsewhere_than_the_web_are_left_out(src: str) -> None:
    assert markdown(f'<p>a<img src="{src}" alt="b"></p>') == "a\n"


def test_the_same_image_twice_is_two_images(read_markdown) -> None:
    assert len(read_markdown(markdown('<p><img src="/star.png"><img src="/star.png"></p>')).images) == 2


def test_a_description_is_free_of_control_characters() -> None:
    assert "\x1b" not in markdown('<img src="/i.png" alt="&#27;[31m">')


# Emphasis and code


@pytest.mark.parametrize(
    ("tag", "before", "after"),
    [
        ("b", "**", "**"),
        ("strong", "**", "**"),
        ("i", "*", "*"),
        ("em", "*", "*"),
        ("del", "~~", "~~"),
        ("code", "`", "`"),
    ],
)
def test_white_space_moves_out_of_marks(tag: str, before: str, after: str) -> None:
    assert markdown(f"<p>a<{tag}> b </{tag}>c</p>") == f"a {before}b{after} c\n"


def test_marks_around_nothing_are_left_out() -> None:
    assert markdown("<p>a<b></b><i> </i>b</p>") == "a b\n"


def test_marks_inside_one_another_add_up(read_markdown) -> None:
    kinds = read_markdown(markdown("<p><b>a <i>b</i></b></p>")).kinds
    assert kinds.count("strong_open") == 2
    assert kinds.count("em_open") == 1


@pytest.mark.parametrize("inside", ["Note:", "(x)", "“quoted”", "50€", "漢字。", "$1", "a&b;"])
@pytest.mark.parametrize("tag", ["b", "i", "s", "code"])
def test_marks_beside_punctuation_are_never_shown_as_characters(tag: str, inside: str, read_markdown) -> None:
    shown = read_markdown(markdown(f"<p>before<{tag}>{escape(inside)}</{tag}>after</p>"))
    assert shown.text == f"before{inside}after\n"


def test_punctuation_moves_out_of_marks_that_would_not_be_read() -> None:
    assert markdown("<p><b>Note:</b>text</p>") == "**Note**:text\n"


marked = st.recursive(
    st.sampled_from(
        ["a", "b c", "(", ")", ":", "€", " ", "漢", "`", "*", "_", "~", "!", ".", "1", "“", "]", "|", "\\"]
    ),
    lambda inside: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag.split()[0]}>",
        st.sampled_from(["b", "i", "s", "code", "a href=/x", "a href=/y", "span"]),
        st.lists(inside, max_size=3),
    ),
    max_leaves=10,
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(marked, max_size=5).map("".join))
@example("<code>z</code><b><code>``a</code></b>x")
@example("`<code>a</code>")
@example("<b>a<i>b</i></b>c")
@example("<b><code>a</code>b</b>")
@example("a<b>_</b>b __c__ ___ d__e")
@example("a<s><b>b</b></s>c")
@example("&amp;<i>#</i>60;")
def test_marked_text_shows_its_own_characters_and_no_others(
    read_markdown, kept_text: Callable[..., str], page: str
) -> None:
    tree = parse(f"<p>{page}</p>", url=HOME)
    everything = np.ones(len(tree), np.bool_)
    shown = read_markdown(to_markdown(tree, everything)).text
    assert shown.split() == kept_text(tree, everything).split()


def test_backticks_in_code_are_fenced_by_more_of_them(read_markdown) -> None:
    shown = read_markdown(markdown("<p><code>a `` b</code> <code>`</code></p>"))
    assert shown.text == "a `` b `\n"
    assert shown.kinds.count("code_inline") == 2


@pytest.mark.parametrize(
    "page",
    [
        '<pre class="language-python">x</pre>',
        '<pre><code class="language-python">x</code></pre>',
        '<div class="highlight-source-python"><pre>x</pre></div>',
        '<div class="highlight-python notranslate"><div><pre>x</pre></div></div>',
        '<pre class="brush: python">x</pre>',
        '<pre><code class="hljs lang-python">x</code></pre>',
    ],
)
def test_code_blocks_keep_their_language(page: str) -> None:
    assert markdown(page) == "```python\nx\n```\n"


@pytest.mark.parametrize("name", ["language-none", "language-text", "highlight", "x"])
def test_code_blocks_without_a_language_have_none(name: str) -> None:
    assert markdown(f'<pre class="{name}">x</pre>') == "```\nx\n```\n"


def test_code_blocks_keep_white_space_and_need_no_escapes(read_markdown) -> None:
    code = "if a < b:\n\n    *x*  = [1](y)\n\t&amp;\n"
    assert read_markdown(markdown(f"<pre>{escape(code)}</pre>")).text == code


def test_a_fence_in_code_is_fenced_by_a_longer_one(read_markdown) -> None:
    code = "a\n```\nb\n  ````\nc\n"
    shown = read_markdown(markdown(f"<pre>{code}</pre>"))
    assert shown.text == code
    assert shown.kinds == ["fence"]


# Lists, quotes, definitions


def test_lists_are_tight_and_nested() -> None:
    assert markdown("<ul><li>a<ol><li>b<li>c</ol><li>d</ul>") == "- a\n  1. b\n  2. c\n- d\n"


def test_numbers_are_those_of_the_page(read_markdown) -> None:
    page = "<ol start=3><li>a<ul><li>b<ol reversed><li>c<li>d</ol></ul><li value=9>e</ol>"
    assert markdown(page) == "3. a\n   - b\n\n     2. c\n     1. d\n9. e\n"
    assert read_markdown(markdown(page)).kinds.count("ordered_list_open") == 2


def test_removed_items_count_and_hidden_ones_do_not() -> None:
    tree = parse("<ol><li>a<li><b>gone</b><li hidden>never<li>d</ol>")
    keep = tree.visible & ~tree.tagged("b")
    keep[tree.parent[np.flatnonzero(tree.tagged("b"))]] = False
    assert to_markdown(tree, keep) == "1. a\n3. d\n"


def test_markdown_has_numbers_where_the_page_has_letters() -> None:
    assert markdown("<ol type=a start=3><li>x<li>y</ol>") == "3. x\n4. y\n"


@pytest.mark.parametrize(
    "page",
    [
        "<ul><li>a<ol start=5><li>b</ol></ul>",
        "<ul><li>a</ul><ol start=5><li>b</ol>",
        "<blockquote>a</blockquote><ol start=5><li>b</ol>",
        "<blockquote>a<ol start=5><li>b</ol></blockquote>",
        "<p>a</p><ol start=5><li>b</ol>",
    ],
)
def test_a_list_that_starts_at_another_number_is_read_as_a_list(page: str, read_markdown) -> None:
    shown = read_markdown(markdown(page))
    assert shown.text == "a\nb\n"
    assert "ordered_list_open" in shown.kinds


def test_paragraphs_and_code_in_an_item_stay_in_it(read_markdown) -> None:
    kinds = read_markdown(markdown("<ol><li><p>a</p><p>b</p><pre>c\n\nd</pre><li>e</ol>")).kinds
    assert kinds.count("list_item_open") == 2
    assert kinds.index("fence") < kinds.index("list_item_close")


def test_quotes_are_quotes_with_all_their_paragraphs(read_markdown) -> None:
    page = "<blockquote><p>a</p><p>b<br>c</p><ul><li>d</ul></blockquote>e"
    assert markdown(page) == "> a\n>\n> b\\\n> c\n> - d\n\ne\n"


def test_quotes_inside_quotes_stay_inside(read_markdown) -> None:
    kinds = read_markdown(markdown("<blockquote>a<blockquote>b</blockquote></blockquote>")).kinds
    assert kinds.count("blockquote_open") == 2


def test_definitions_follow_their_terms() -> None:
    assert markdown("<dl><dt>t</dt><dd>d</dd><dd>e</dd></dl>") == "t\n: d\n: e\n"


def test_a_backslash_at_the_end_of_a_term_is_no_line_break(read_markdown) -> None:
    assert "hardbreak" not in read_markdown(markdown("<dl><dt>t\\</dt><dd>d</dd></dl>")).kinds


# Tables


def test_tables_have_a_header_row_and_bars() -> None:
    page = "<table><tr><th>h<th>i<tr><td>a<td>b</table>"
    assert markdown(page) == "| h | i |\n| --- | --- |\n| a | b |\n"


def test_the_header_is_as_wide_as_the_widest_row(read_markdown) -> None:
    shown = read_markdown(markdown("<table><tr><th>h<tr><td>a<td>b<td>c</table>"))
    assert shown.kinds.count("th_open") == 3
    assert WORD.findall(shown.text) == ["h", "a", "b", "c"]


def test_spanned_cells_are_empty() -> None:
    page = "<table><tr><td colspan=2>a<td>b<tr><td rowspan=2>c<td>d<td>e<tr><td>f<td>g</table>"
    assert markdown(page) == "| a |  | b |\n| --- | --- | --- |\n| c | d | e |\n|  | f | g |\n"


@pytest.mark.parametrize("cell", ["a|b", "a\\|b", "\\", "||", "a\\\\|b", "`a|b`"])
@pytest.mark.parametrize("tag", ["span", "code", "b"])
def test_bars_in_cells_are_text(cell: str, tag: str, read_markdown) -> None:
    shown = read_markdown(markdown(f"<table><tr><td><{tag}>{cell}</{tag}><td>next</table>"))
    assert shown.text == f"{cell}\nnext\n"
    assert shown.kinds.count("th_open") == 2


def test_links_and_line_breaks_in_cells_stay_in_their_row() -> None:
    page = '<table><tr><td>a<br>b<td><a href="/x|y">c</a></table>'
    assert markdown(page) == "| a b | [c](http://site.org/x%7Cy) |\n| --- | --- |\n"


def test_an_image_in_a_cell_parts_nothing() -> None:
    page = '<table><tr><td>a<img src="/i">b<td>c</table>'
    assert markdown(page) == "| a![](http://site.org/i)b | c |\n| --- | --- |\n"


def test_a_table_in_a_list_item_stays_in_it(read_markdown) -> None:
    kinds = read_markdown(markdown("<ul><li>a<table><tr><td>b<td>c</table><li>d</ul>")).kinds
    assert kinds.index("table_open") < kinds.index("list_item_close")


# Text that looks like markup


@pytest.mark.parametrize(
    "line",
    "# a|## a|#|- a|+ a|* a|1. a|1) a|-|=|==|---|***|___|- - -|> a|```|~~~|:--|=== b|[a]: /b|<div>|&lt;|&#60;|&copy;"
    "|\\|\\*|a\\|*a*|_a_|__a__|~~a~~|~a~|`a`|[a](/b)|![a](/b)|<b>|<!-- a -->|<http://a.org>|a_b_c|[ ] a|[^1]|!|&".split(
        "|"
    ),
)
@pytest.mark.parametrize("before", ["", "first<br>"])
def test_text_that_looks_like_markdown_is_shown_as_it_is(line: str, before: str, read_markdown) -> None:
    shown = read_markdown(markdown(f"<p>{before}{escape(line)}</p>"))
    assert shown.text.split("\n")[-2] == line
    assert set(shown.kinds) <= {"paragraph_open", "inline", "text", "text_special", "hardbreak", "paragraph_close"}


@pytest.mark.parametrize("delimiter", ["--|--", "|--|--|", ":-|-:", ":-:"])
def test_lines_that_look_like_a_table_are_lines(delimiter: str, read_markdown) -> None:
    shown = read_markdown(markdown(f"<p>a|b<br>{delimiter}</p>"))
    assert shown.text == f"a|b\n{delimiter}\n"
    assert "table_open" not in shown.kinds


def test_plain_text_has_no_needless_escapes() -> None:
    plain = "Home | Site: 3.5 - 4 (a+b) snake_case it's 50% & more! #tag http://x.org/?a=1&b=2 a=b"
    assert markdown(f"<p>{escape(plain)}</p>") == plain.replace("&b", "\\&b") + "\n"


# Hostile pages

SAFE = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
FOUL = [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "\x01javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:image/png;base64,AAAA",
    "vbscript:x",
    "file:///etc/passwd",
    "blob:http://x.org/1",
    "jAvAsCrIpT&colon;x",
    "&#106;avascript:x",
    "//x.org/) [y](javascript:z",
    "http://x.org/ (javascript:y)",
    "http://x.org/>[y](javascript:z)",
    'http://x.org/" onclick="y',
    "http://x.org/](javascript:y)",
    "http://x.org/`[y](javascript:z)`",
    "mailto:a@b.org?subject=](javascript:x)",
]
TEXTS = [
    "[x](javascript:alert(1))",
    "![a](data:image/png;base64,AAAA)",
    "[x]: javascript:alert(1)",
    "]: javascript:alert(1)",
    "[x]",
    "[",
    "](javascript:y)",
    "![",
    "!",
    "<script>alert(1)</script>",
    "<img src=x onerror=y>",
    "<javascript:x>",
    "<a@b.org>",
    "<!--",
    "-->",
    "<?php",
    "<![CDATA[",
    "&lt;script&gt;",
    "&#x6a;avascript:",
    "`",
    "``",
    "```",
    "~~~",
    "|",
    "| - |",
    "\\",
    "\\\\",
    "*",
    "**",
    "_",
    "~~",
    "# a",
    "1. a",
    "- a",
    "> a",
    "    a",
    "\ta",
    "---",
    "===",
    "&",
    "a",
    "b c",
    " ",
    "\n",
    "\n\n",
    "漢字",
    "\u2028",
    "\x1b[31m",
    "\u200b",
]
attribute_values = st.sampled_from([*FOUL, *TEXTS, "/ok", "http://x.org/?a=1&b=(2)"])


@st.composite
def hostile_elements(draw: st.DrawFn, inside: st.SearchStrategy[str]) -> str:
    tags = "p div ul ol li blockquote h1 pre table tr td th dl dt dd b i s code a a a span td li textarea select option"
    tag = draw(st.sampled_from(tags.split()))
    names = {"a": ["href"], "pre": ["class"], "ol": ["start"], "td": ["colspan"]}.get(tag, ["title"])
    written = "".join(f' {name}="{escape(draw(attribute_values))}"' for name in names)
    return f"<{tag}{written}>{''.join(draw(st.lists(inside, max_size=3)))}</{tag}>"


hostile_images = st.builds(
    lambda src, alt: f'<img src="{escape(src)}" alt="{escape(alt)}" data-src="{escape(src)}">',
    attribute_values,
    attribute_values,
)
hostile_pages = st.lists(
    st.recursive(
        st.sampled_from(TEXTS).map(escape) | hostile_images | st.sampled_from(["<br>", "<hr>", "&amp;", "&lt;"]),
        hostile_elements,
        max_leaves=12,
    ),
    min_size=1,
    max_size=5,
).map("".join)


@settings(max_examples=500, suppress_health_check=[HealthCheck.too_slow])
@given(hostile_pages)
@example('<a href="/x"><code>x]: javascript:alert(1)</code></a>')
@example("<code>z</code><b><code>``[x](javascript:alert(1))</code></b>x")
@example("<p>[x]: javascript:alert(1)</p><p>[x]</p>")
@example("<dl><dt>a | b</dt><dd>- | -</dd></dl>")
def test_a_hostile_page_gives_neither_html_nor_foul_links_and_keeps_its_words(
    read_markdown, kept_text: Callable[..., str], page: str
) -> None:
    tree = parse(page, url=HOME)
    everything = np.ones(len(tree), np.bool_)
    shown = read_markdown(to_markdown(tree, everything))
    assert {"html_inline", "html_block"}.isdisjoint(shown.kinds)
    assert all(SAFE.match(link) for link in shown.links)
    assert all(re.match("https?:", image) for image in shown.images)
    assert shown.references == {}
    assert WORD.findall(shown.text.lower()) == WORD.findall(kept_text(tree, everything).lower())


@pytest.mark.parametrize("foul", FOUL)
def test_a_foul_link_is_text(foul: str, read_markdown) -> None:
    shown = read_markdown(markdown(f'<a href="{escape(foul)}">x</a><img src="{escape(foul)}" alt="y">'))
    assert all(SAFE.match(link) for link in shown.links + shown.images)
    assert shown.text.strip() == "x"
