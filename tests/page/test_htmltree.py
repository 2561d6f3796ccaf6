"""`HtmlTree` against turbohtml where that follows the standard, and what html5lib's tests leave open."""

from __future__ import annotations

from html.entities import html5
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from treelines import built, built_by_turbohtml

from webwinnow.errors import PageRefused
from webwinnow.page._htmlnames import NAMES
from webwinnow.page._htmltokens import utf8_kind
from webwinnow.page._htmltree import HtmlTree
from webwinnow.page.parsing import _as_utf8, parse

GOLDEN = sorted(Path(__file__).parents[1].joinpath("golden").glob("*.html"))
MOST = 1_000_000
MOST_ATTRIBUTES = 1_000


def assert_parsers_agree(page: str | bytes) -> None:
    body, _ = _as_utf8(page, None)
    assert built(body) == built_by_turbohtml(body.decode())


ALIKE = sorted(set(NAMES) - set("col frameset head html input param source template track".split()))
"""Names without those for which turbohtml departs from the standard: `</col>` in a column group, for example."""
ODD_TAGS = """
<!doctype html>|<!DOCTYPE html PUBLIC '-//W3C//DTD HTML 4.0 Transitional//EN'>|<b class="x y">|<b class='x'>
<font color=red>|<body class=a>|<p title="&lt;&ampx&copy=">
<a href=1 HREF=2>|<annotation-xml encoding='text/html'>|<script><!--<script>|<textarea>|<pre>|<!--c-->|<?p>
<![CDATA[x<y>]]>|</>|</ x>|<div hidden>|<meta name=n content=c>|<base href=/y>
<link rel=canonical href=/x>|<title>t|<script type="application/ld+json">{}</script>|<br/>|<p/>|</p x='>'>
<a "b" =c>|</br>|<image>|<DIV CLASS=Q>
"""
PIECES = st.one_of(
    st.sampled_from(ALIKE).map("<{}>".format),
    st.sampled_from(ALIKE).map("<{}>".format),
    st.sampled_from(ALIKE).map("</{}>".format),
    st.sampled_from("a b p table tr td select option svg math li div".split()).map("<{}>".format),
    st.sampled_from("a b p table tr td select option svg math li div".split()).map("</{}>".format),
    st.sampled_from(ODD_TAGS.strip().replace("\n", "|").split("|")),
    st.sampled_from(("x", " ", "\n", "\r\n", "&amp;", "&notit;", "&#x41", "&lt", "a < b", "<", "-->", "é", "漢", "😀")),
)


@settings(max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PIECES, max_size=25).map("".join))
def test_parsers_agree_on_random_tags(page: str):
    assert_parsers_agree(page)


def test_a_frameset_after_text_in_a_table_in_a_template_is_ignored():
    assert parse("<p>a<template><tr>x</template><frameset>").text == "a"
    assert len(parse("<p><template><tr>x</template><frameset>")) == 3  # html, body, p


PAGES = """
<p>a<b>b<p>c</b>d<i>e
<a href=1>x<a href=2>y<div>z</a>w
<b><i><u><s><p>x</b>y</i>z<p>w
<b class=x><b class="x"><b class='x'><b class=x>a<p>b<p>c
<b id=1 class=x><b class=x id=1><b id=1 class=x><b class=x id=1>a<p>b
<nobr>a<nobr>b<table><nobr>c<tr><td><nobr>d</table>e
<table>a<tr>b<td>c<table>d</table>e</table>f
<table><b><tr><td>x</td></b>y</table>z
<table><form><tr><td><input></form></table>x
<table><caption>a<table>b</table>c<td>d
<table><tr><td>a<th>b<tr>c<tfoot><tr><td>d</table>
<table><tr><td><select><table>x
<table><tr><td><select><option>a<tr><td>b
<select><option>a<option>b<optgroup>c<option>d<hr>e</select>f
<select><div>a<option>b<p>c<select>d
<select><button>a</button><input>b
<p>a<select><p>b<div>c</select>d
<div><select></div>d
<svg><title>a</title><foreignObject><p>b<div>c</svg>d
<svg><style><b>x</style></svg><p>y
<svg><desc><p>a</desc><p>b
<math><mi>a<mglyph></mglyph><p>b</mi><mo>c</math>d
<math><annotation-xml encoding=text/html><p>x</annotation-xml></math>y
<math><annotation-xml><svg><p>x</math>y
<math><source>x</source><col>y</col></math>z
<svg><font>a<font color=x>b</svg>c
<template><tr><td>x</template>y
<div><template shadowrootmode=open><title>a</title><meta name=b content=c><p>x<template>y</template></template></div>
<ul><li>a<ul><li>b</ul><li>c</ul>d
<dl><dt>a<dd>b<div><dt>c</dl>d
<h1>a<h2>b</h1>c<p><h3>d</p>
<form>a<form>b</form>c<div></form>d
<button>a<p>b<button>c</button>d</button>
<ruby>a<rb>b<rt>c<rtc>d<rt>e<rp>f</ruby>
<object><p>a<b>b</object>c<marquee><i>d</marquee>e
<head><title>a &amp; b</title><noscript><link><p>x</noscript>y
<noscript><p>a</noscript><body><noscript><p>b</noscript>
<body>a</body> b</html> c<p>d
</br></p>a</div></h1><br></br>
<p>a<pre>\\nb</pre><listing>\\n\\nc</listing><textarea>\\n\\nd</textarea>
<b><p>a</p><source>b<param>c<p></b><pre>\\n
<plaintext>a</plaintext><b>b\\0
<xmp>a<b>c</xmp><iframe>d<b></iframe><noembed>e</noembed>f
<script>a<!--<script>b</script>c--></script>d<script><!--e</script>f
<script><!--<script>a--></script>b<script><!-->c</script>d
<style>a</styles>b</style c='>'>d
<title>a</titl>b</title/>c
<p x=1 x=2 Y='a\\rb' z="&amp=&ampx&lt;&#13;"=>c<p/a/b/>d
<p>&nosuch;&notit;&amp&lt=&#x80;&#0;&#xD800;&#x110000;&#99999999999;&#;&#x;&;&a
a\\0b<p>\\0c<svg>\\0d</svg><table>\\0 <tr>\\0e
\\0 <p>a
<frameset><frame></frameset><noframes>x</noframes>
<p><frameset><frame></frameset>
x<frameset>
<div><frameset>
a<!-->b<!--->c<!---->d<!-- --!>e<!-- -- >f-->g<!x>h<?y>i</>j</ k>l<!doctype x>m
<image src=a><isindex><keygen>b<nextid>c
<applet><p>a</applet>b<video><p>c</video>d
<html lang=a><body class=b><html lang=c dir=d><body class=e id=f>x
<table><tr><td></table><a href=x><table><tr><td><a href=y>z</table>
<!doctype html><p>a<table><tr><td>b
<p>a<table><tr><td>b
<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN"><p>a<table>
<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd"><p>a<table>
<!DOCTYPE html SYSTEM "about:legacy-compat"><p>a<table>
<!DOCTYPE html SYSTEM 'http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd'><p>a<table>
<!DOCTYPE html PUBLIC '-//IETF//DTD HTML 3.2//EN' 'x'><p>a<table>
<!doctype html bogus><p>a<table>
<!doctype html public><p>a<table>
<!doctype html public "a><p>a<table>
<!doctypehtml><p>a<table>
<!doctype htm><p>a<table>
<!doctype><p>a<table>
""".strip().split("\n")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page[:30])
def test_parsers_agree_on(page: str):
    page = page.replace("\\n", "\n").replace("\\r", "\r").replace("\\0", "\0")
    assert_parsers_agree(page)
    assert_parsers_agree(f"<body>{page}<p>漢")


@pytest.mark.parametrize(
    "end",
    ["", "<", "</", "</p", "<p", "<p a", "<p a=", "<p a='", "<!", "<!-", "<!--", "<!doctype", "<?", "&", "&#", "&am"],
)
def test_parsers_agree_on_pages_that_end_in(end: str):
    assert_parsers_agree(f"<p>x<b>y{end}")
    assert_parsers_agree(end)
    assert_parsers_agree(f"<title>x{end}")
    assert_parsers_agree(f"<p><script>x{end}")


@pytest.mark.parametrize("page", GOLDEN, ids=lambda path: path.stem)
def test_parsers_agree_on_golden_pages(page: Path):
    assert_parsers_agree(page.read_bytes())


def test_named_references_are_those_of_the_standard():
    names = sorted(html5)
    tree = parse("<p>" + "<p>".join(f"&{name} |" for name in names))
    assert tree.text == "".join(f"{html5[name]} |" for name in names)
    assert_parsers_agree("".join(f'<p title="&{name}" id=&{name}= class=&{name}x>&{name}x' for name in names))


@given(st.binary(max_size=12) | st.text(max_size=6).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_bytes_are_known_as_ascii_or_utf8(body: bytes):
    try:
        body.decode()
        kind = 0 if body.isascii() else 1
    except UnicodeDecodeError:
        kind = 2
    assert utf8_kind(body) == kind


def test_a_deep_page_is_built_whole_and_one_that_multiplies_is_refused():
    assert max(depth for depth, _ in built(b"<div>" * 5_000)) == 5_001
    with pytest.raises(PageRefused, match="more than 100 elements"):
        HtmlTree(b"<p>" + b"<i>" * 3 + b"<p>x" * 200, 100, MOST_ATTRIBUTES)


def test_an_attribute_can_be_added():
    tree = HtmlTree(b"<p class=a>x", MOST, MOST_ATTRIBUTES)
    tree.add_attribute(next(node for node, _, _, name, _, _ in tree.nodes() if name == "p"), "title", "é")
    assert {"class": "a", "title": "é"} in [attributes for _, _, _, _, attributes, _ in tree.nodes()]


@pytest.mark.parametrize(
    ("page", "lines"),
    [
        ("<table><input type='hidden'>漢", [(2, '"漢"'), (2, "<table>"), (3, "<input>"), (4, 'type="hidden"')]),
        ("<table><colgroup></col><col>", [(2, "<table>"), (3, "<colgroup>"), (4, "<col>")]),
        (
            "<p><b>a</p><source>b",
            [(2, "<p>"), (3, "<b>"), (4, '"a"'), (2, "<source>"), (2, "<b>"), (3, '"b"')],
        ),
        ("\0 <p>a", [(2, '" "'), (2, "<p>"), (3, '"a"')]),
        (" \0 a", [(2, '" a"')]),
        ("<table> \0 <tr>", [(2, "<table>"), (3, '"  "'), (3, "<tbody>"), (4, "<tr>")]),
        ("<table> </>x<tr>", [(2, '" x"'), (2, "<table>"), (3, "<tbody>"), (4, "<tr>")]),
        ("<title>a</></title><textarea></></textarea>", [(2, "<textarea>"), (3, '"</>"')]),
        ("<pre></>\nx", [(2, "<pre>"), (3, '"x"')]),
        ("a\r</>\nb", [(2, '"a\n\nb"')]),
    ],
)
def test_trees_are_those_of_the_standard_where_turbohtml_departs(page: str, lines: list[tuple[int, str]]):
    found = built(page.encode())
    assert found[found.index((1, "<body>")) + 1 :] == lines


@pytest.mark.parametrize("length", [0, 1, 63, 64, 65, 255, 256, 257, 511, 1_000])
@pytest.mark.parametrize("sign", ["a", "\xff", "\u0100", "\u20ac", "\U0001f600"])
def test_a_sign_is_read_wherever_it_is_in_a_page(length: int, sign: str):
    for page in ("a" * length + sign, sign + "a" * length, "é" * length + sign):
        tree = parse(page.encode())
        assert (tree.text, tree.encoding) == (page, "utf-8")
        assert utf8_kind(page.encode()) == (0 if page.isascii() else 1)
        assert utf8_kind(page.encode() + b"\xff") == 2


@pytest.mark.parametrize(("page", "text"), [("<pre>\0\nx", "\nx"), ("<pre>\n\0x", "x"), ("<pre>\n\nx", "\nx")])
def test_only_a_newline_right_after_pre_is_dropped(page: str, text: str) -> None:
    """A NUL is dropped too (13.2.6.4.7), but what follows it is not the next token after the tag."""
    tree = parse(page)
    assert "".join(tree.run(r) for r in range(tree.run_count)) == text
