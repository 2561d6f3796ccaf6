"""Bytes to a tree: charset, URLs, invisible text, the head, odd elements, limits."""

from __future__ import annotations

import codecs
import importlib
from encodings.aliases import aliases

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.errors import InputError, PageRefused
from webwinnow.page.markup import style_hash
from webwinnow.page.parsing import ParseLimits, decode, parse
from webwinnow.page.tree import Node, PageTree

RUSSIAN = "Эта страница рассказывает о том, как устроена наша библиотека и где её найти."
JAPANESE = "このページでは、図書館の開館時間とサービスについて説明します。日本語の文章です。"
KOREAN = "이 페이지는 도서관의 운영 시간과 서비스에 대해 설명합니다. 한국어 문장입니다."
CHINESE = "这个页面介绍图书馆的开放时间和服务内容。"
UTF8_HEADER = "text/html; charset=utf-8"


def text_of(page: bytes | str, content_type: str | None = None) -> str:
    return parse(page, content_type=content_type).text


def only(tree: PageTree, tag: str) -> Node:
    (node,) = [node for node in tree if node.tag == tag]
    return node


def visible_text(tree: PageTree) -> str:
    return "".join(tree.run(r) for r in range(tree.run_count) if tree.visible[tree.run_owner[r]])


# Style sheets of the page

CSS = ParseLimits(css=True)


def test_rules_of_style_sheets_are_display_properties_on_request():
    sheet = "<style>.x { color: red } p#q { color: green }</style>"
    page = f"{sheet}<body><p>a<p id=q>b<p id=q class=x>c<p style='color:blue' id=q>d"
    plain, found = parse(page), parse(page, limits=CSS)
    assert found.text == plain.text
    changed = (found.style != plain.style)[found.tagged("p")]
    assert changed.tolist() == [False, True, True, True]
    by_hand = [
        style_hash("p", [("ww-css", "color:green")]),
        style_hash("p", [("ww-css", "color:green"), ("class", "x")]),
    ]
    assert found.style[found.tagged("p")][1:3].tolist() == by_hand


def test_the_cascade_decides_between_rules():
    page = "<style>p { color: red } #q { color: %s } p { color: blue }</style><body><p id=q>b"
    green = parse(page % "green", limits=CSS)
    assert green.style[green.tagged("p")].tolist() == [style_hash("p", [("ww-css", "color:green")])]
    assert green.style.tolist() != parse(page % "black", limits=CSS).style.tolist()


def test_shorthands_stand_for_their_properties():
    one, other = (parse(f"<style>p {{ margin: {m} }}</style><body><p>a", limits=CSS) for m in ("1px 2px", "3px"))
    assert one.style.tolist() != other.style.tolist()


def test_a_style_sheet_hides_nothing():
    tree = parse("<style>p { display: none }</style><body><p>a", limits=CSS)
    assert tree.visible.all()


@pytest.mark.parametrize("sheet", ["p {", ":::x { color: red }", "@media print { p { color: red } }", "}{", "<!--"])
def test_broken_rules_and_at_rules_are_skipped(sheet):
    page = f"<style>{sheet}</style><body><p>a"
    assert parse(page, limits=CSS).style.tolist() == parse(page).style.tolist()


def test_selectors_match_the_tree_that_is_built():
    """An empty element, one that is closed as in XML, one with a name that selectors cannot have, one in a template."""
    sheet = "<style>p:empty { color: red } iframe + p { color: red } template p { color: red }</style>"
    page = f'{sheet}<body><p></p><p>a</p><iframe/><p>b</p><x"y =z=1>c</x"y><template><p>d</p></template>'
    plain, found = parse(page), parse(page, limits=CSS)
    assert (found.style != plain.style)[found.tagged("p")].tolist() == [True, False, True]
    assert found.text == "abc"


def test_a_deep_page_has_style_sheets_too():
    page = "<style>b { color: red }</style>" + "<div>" * 300 + "<b>a</b>" + "<div>" * 100_000 + "<b>b"
    plain, found = parse(page), parse(page, limits=CSS)
    assert np.count_nonzero(found.style != plain.style) == 1


def test_style_sheets_with_too_many_rules_are_clipped():
    rules = "".join(f".c{k} {{ color: red }}" for k in range(6_000))
    assert parse(f"<style>{rules}</style><body><p>a", limits=CSS).clipped == ("css",)
    assert parse(f"<style>{rules}</style><body><p>a").clipped == ()


# Charset: sources of the label


@pytest.mark.parametrize(
    ("bom", "codec"),
    [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be")],
)
def test_bom_beats_header_and_meta(bom: bytes, codec: str):
    page = bom + f"<meta charset=koi8-r><p>{RUSSIAN}".encode(codec)
    tree = parse(page, content_type="text/html; charset=windows-1251")
    assert tree.text == RUSSIAN
    assert tree.encoding == codec


def test_header_beats_meta():
    assert text_of(f"<meta charset=koi8-r><p>{RUSSIAN}".encode("cp1251"), "text/html; charset=windows-1251") == RUSSIAN


def test_latin_header_beats_meta():
    assert text_of("<meta charset=windows-1251><p>café".encode("latin-1"), "text/html;charset=ISO-8859-1") == "café"


def test_meta_beats_detection():
    page = f"<meta charset=koi8-r><p>{RUSSIAN}".encode("cp1251")
    assert text_of(page) == RUSSIAN.encode("cp1251").decode("koi8-r")


def test_utf8_without_a_label_is_found():
    assert text_of(f"<p>{RUSSIAN}{JAPANESE}".encode()) == RUSSIAN + JAPANESE


@pytest.mark.parametrize(
    "label", ["gb2312", "big5", "windows-1251", "shift_jis", "euc-kr", "iso-8859-1", "iso-2022-kr"]
)
def test_valid_utf8_beats_every_declared_charset(label: str):
    page = f"<meta charset={label}><p>{RUSSIAN}{JAPANESE}".encode()
    assert text_of(page) == RUSSIAN + JAPANESE
    assert text_of(page, f"text/html; charset={label}") == RUSSIAN + JAPANESE
    assert parse(page).encoding == "utf-8"


def test_utf8_that_is_cut_within_a_character_beats_the_declared_charset():
    page = f"<meta charset=gb2312><p>{JAPANESE}".encode()[:-1]
    assert text_of(page) == JAPANESE[:-1] + "\ufffd"


def test_one_byte_that_is_not_utf8_makes_the_declared_charset_count():
    assert text_of("<meta charset=gb2312><p>漢字".encode("gb18030")) == "漢字"
    page = b"<meta charset=windows-1252><p>caf\xc3\xa9 caf\xe9</p>"
    assert text_of(page) == "cafÃ© café"
    assert text_of(b"<meta charset=windows-1252><p>caf\xe9") == "café"  # cut, and no character before


def test_page_in_ascii_is_read_by_its_declared_charset():
    page = f"<meta charset=iso-2022-jp><p>{JAPANESE}".encode("iso-2022-jp")
    assert page.isascii()
    assert text_of(page) == JAPANESE


def test_utf16_by_the_header_may_be_valid_utf8():
    page = "<p>\u80c2".encode("utf-16le")
    assert page.decode("utf-8").endswith("\x80")
    assert text_of(page, "text/html; charset=utf-16le") == "\u80c2"


def test_encoding_of_an_xml_declaration_counts_after_meta():
    declared = '<?xml version="1.0" encoding="koi8-r"?>'
    assert text_of(f"{declared}<p>{RUSSIAN}".encode("koi8-r")) == RUSSIAN
    assert text_of(f"{declared}<meta charset=windows-1251><p>{RUSSIAN}".encode("cp1251")) == RUSSIAN


@pytest.mark.parametrize(
    ("text", "codec"),
    [(RUSSIAN, "cp1251"), (JAPANESE, "shift_jis"), (JAPANESE, "euc-jp"), (KOREAN, "euc-kr"), (CHINESE, "gb18030")],
)
def test_charset_without_a_label_is_detected(text: str, codec: str):
    assert text_of(f"<html><body><p>{text}</p></body></html>".encode(codec)) == text


@pytest.mark.parametrize(
    "unknown", ["none", "utf8;", "x-nonsense", "", "undefined", "None", "%s", "ütf-8", "utf-8-or-so"]
)
def test_unknown_label_in_the_header_falls_through_to_meta(unknown: str):
    page = f"<meta charset=windows-1251><p>{RUSSIAN}".encode("cp1251")
    content_type = f'text/html; charset="{unknown}"' if ";" in unknown else f"text/html; charset={unknown}"
    assert text_of(page, content_type) == RUSSIAN


@pytest.mark.parametrize("unknown", ["none", "utf8;", "x-nonsense", "undefined", "None", "%s", "utf-8-or-so"])
def test_unknown_label_in_meta_falls_through_to_detection(unknown: str):
    assert text_of(f'<meta charset="{unknown}"><p>{RUSSIAN}'.encode("cp1251")) == RUSSIAN


def test_unknown_label_in_meta_falls_through_to_the_next_meta():
    assert text_of(f"<meta charset=none><meta charset=koi8-r><p>{RUSSIAN}".encode("koi8-r")) == RUSSIAN


def test_header_without_a_charset_leaves_it_to_meta():
    assert text_of(f"<meta charset=koi8-r><p>{RUSSIAN}".encode("koi8-r"), "text/html") == RUSSIAN


LABELS = sorted({*aliases, *aliases.values(), "undefined", "idna", "punycode", "unicode_escape", "raw_unicode_escape"})


def test_no_label_that_python_knows_breaks_a_page(assert_consistent):
    body = b"<p>\xe9\xff\x81 +2AA- \\ud800 \\N{x} -x--\xf0\x9f</p>"
    broken = []
    for label in LABELS:
        try:
            assert_consistent(parse(body, content_type=f"text/html; charset={label}"))
            assert_consistent(parse(f"<meta charset={label}>".encode() + body))
        except (AssertionError, UnicodeError):
            broken.append(label)
    assert broken == []


@pytest.mark.parametrize(
    "label", ["undefined", "idna", "punycode", "unicode_escape", "utf-7", "utf-32", "cp037", "hex"]
)
def test_codecs_of_python_that_no_browser_knows_are_unknown_labels(label: str):
    assert text_of(f"<meta charset={label}><p>a +AGI- \\u0063 {RUSSIAN}".encode("cp1251")) == (
        f"a +AGI- \\u0063 {RUSSIAN}"
    )


# Charset: reading of labels


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (JAPANESE, "shift_jis", "Shift_JIS"),
        (JAPANESE, "shift_jis", "x-sjis"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "cp1251", "CP1251"),
        (KOREAN, "euc-kr", "EUC-KR"),
        (KOREAN, "euc-kr", "ks_c_5601-1987"),
        (CHINESE, "big5", "big5"),
        ("žluťoučký kůň", "iso-8859-2", "ISO-8859-2"),
        ("žluťoučký kůň", "iso-8859-2", "iso_8859-2:1987"),
        ("café", "cp1252", "ANSI_X3.4-1968"),
    ],
)
class TestLabels:
    def test_is_read_from_the_header(self, text: str, codec: str, label: str):
        text = text.encode(codec, "ignore").decode(codec)
        assert text_of(f"<p>{text}".encode(codec), f"text/html; charset={label}") == text

    def test_is_read_from_meta(self, text: str, codec: str, label: str):
        text = text.encode(codec, "ignore").decode(codec)
        assert text_of(f"<html><head><meta charset='{label}'></head><p>{text}".encode(codec)) == text

    def test_is_read_from_http_equiv(self, text: str, codec: str, label: str):
        text = text.encode(codec, "ignore").decode(codec)
        meta = f'<META content="text/html; charset={label}" HTTP-EQUIV="Content-Type">'
        assert text_of(f"{meta}<p>{text}".encode(codec)) == text


@pytest.mark.parametrize(
    "content_type",
    [
        "text/html;charset=windows-1251",
        'text/html; charset="windows-1251"',
        "text/html; Charset = Windows-1251 ; x=y",
        "application/xhtml+xml; profile=x; charset=windows-1251",
        "charset=windows-1251",
    ],
)
def test_header_is_read_however_it_is_written(content_type: str):
    assert text_of(f"<p>{RUSSIAN}".encode("cp1251"), content_type) == RUSSIAN


@pytest.mark.parametrize("label", ["GB2312", "gbk", "x-gbk", "gb_2312-80", "GB18030"])
def test_gb2312_and_gbk_are_read_as_gb18030(label: str):
    text = CHINESE + "镕〇€😀"  # the last two are in GB18030 only
    page = f"<meta charset={label}><p>{text}".encode("gb18030")
    assert text_of(page) == text
    assert text_of(page.replace(b"<meta", b"<x"), f"text/html; charset={label}") == text
    assert parse(page).encoding == "gb18030"


@pytest.mark.parametrize("codec", ["utf-16le", "utf-16be"])
def test_utf16_without_bom_is_read_by_the_header(codec: str):
    label = codec.replace("16-", "16")
    assert text_of(f"<p>{RUSSIAN}".encode(codec), f"text/html; charset={label}") == RUSSIAN


def test_utf16_in_a_meta_that_bytes_can_read_means_utf8():
    assert text_of(f"<meta charset=utf-16><p>{RUSSIAN}".encode()) == RUSSIAN


def test_latin_label_means_windows_1252():
    assert text_of(b"<meta charset=iso-8859-1><p>\x93quoted\x94 \x80") == "“quoted” €"


def test_meta_in_a_comment_is_no_label():
    assert text_of(f"<!-- <meta charset=koi8-r> --><meta charset=cp1251><p>{RUSSIAN}".encode("cp1251")) == RUSSIAN


def test_meta_that_only_speaks_of_a_charset_is_no_label():
    page = f"<meta name=description content='what charset=koi8-r was'><meta charset=cp1251><p>{RUSSIAN}"
    assert text_of(page.encode("cp1251")) == RUSSIAN


def test_meta_behind_a_long_script_is_found():
    page = "<script>" + "var x = 1;\n" * 500 + f"</script><meta charset=koi8-r><p>{RUSSIAN}"
    assert text_of(page.encode("koi8-r")) == RUSSIAN


def test_tree_says_its_encoding_by_a_name_that_others_know():
    for codec in ("cp1251", "shift_jis", "iso-8859-2"):
        encoding = parse(f"<meta charset={codec}><p>\x7f".encode(codec) + b"\xb1\xb2").encoding
        assert codecs.lookup(encoding).name == codecs.lookup(codec).name
        assert not encoding.startswith("whatwg")


# Charset: undecodable bytes


def test_undecodable_bytes_become_the_replacement_character():
    assert text_of(b"<p>a\xffb\xc3", UTF8_HEADER) == "a\ufffdb\ufffd"


def test_truncated_characters_become_the_replacement_character():
    assert (
        text_of(("<p>" + JAPANESE).encode("shift_jis")[:-1], "text/html; charset=shift_jis") == JAPANESE[:-1] + "\ufffd"
    )
    assert text_of(codecs.BOM_UTF16_LE + "<p>ab".encode("utf-16le")[:-1]) == "a\ufffd"
    assert text_of("<p>a漢".encode()[:-1], UTF8_HEADER) == "a\ufffd"


def test_lone_surrogates_become_the_replacement_character():
    assert text_of("<p>a\ud800b\udfffc") == "a\ufffdb\ufffdc"
    assert text_of("<p>&#xD800;&#xDFFF;") == "\ufffd\ufffd"
    assert text_of(codecs.BOM_UTF16_LE + "<p>a".encode("utf-16le") + b"\x00\xd8b\x00") == "a\ufffdb"
    assert "\ufffd" in text_of(b"<p>\xed\xa0\x80", UTF8_HEADER)


def test_lone_surrogates_in_attributes_and_titles_become_the_replacement_character():
    tree = parse("<title>t\ud800</title><p title='a\udc00' class='\ud800'>x<\ud800 \udc00=\ud800>")
    assert tree.head.title == "t\ufffd"
    assert only(tree, "p").attributes == {"title": "a\ufffd", "class": "\ufffd"}


def test_lone_surrogates_in_json_ld_become_the_replacement_character():
    page = r"""<script type="application/ld+json">
        {"@type": "A\ud800", "author": "Ann\ud800", "datePublished": "1\udc00"}</script>"""
    head = parse(page).head
    assert head.json_ld_types == ("A\ufffd",)


def test_pair_of_surrogates_is_the_character_it_means():
    assert text_of("<p>\ud83d\ude00") == "😀"


def test_text_that_is_decoded_already_loses_only_its_bom():
    tree = parse("\ufeff<meta charset=koi8-r><p>é", content_type="text/html; charset=windows-1251")
    assert tree.text == "é"


@given(st.binary(max_size=200), st.sampled_from((None, "shift_jis", "gbk", "euc-kr", "utf-8", "windows-1251", "x")))
def test_any_bytes_decode_to_text_without_surrogates(body: bytes, label: str | None):
    text, _ = decode(body, label and f"text/html; charset={label}")
    text.encode("utf-8")


# URLs


def links(page: str, url: str = "https://site.example/a/b.html") -> list[str | None]:
    return [node.href for node in parse(page, url=url) if node.tag == "a"]


def test_relative_links_are_resolved_by_the_pages_url():
    page = (
        "<a href=c.html>1</a><a href=../d>2</a><a href=/e?f=1#g>3</a><a href=//other.example/h>4</a><a href='?q'>5</a>"
    )
    assert links(page) == [
        "https://site.example/a/c.html",
        "https://site.example/d",
        "https://site.example/e?f=1#g",
        "https://other.example/h",
        "https://site.example/a/b.html?q",
    ]


def test_base_moves_relative_links():
    assert links("<base href=/docs/><a href=c>x</a>") == ["https://site.example/docs/c"]
    assert links("<base href=https://cdn.example/x/y><a href=c>x</a>") == ["https://cdn.example/x/c"]
    assert links("<base href=https://cdn.example/><a href=c>x</a>", url="") == ["https://cdn.example/c"]


def test_first_base_with_a_url_wins():
    assert links("<base target=_blank><base href=/one/><base href=/two/><a href=c>x</a>") == [
        "https://site.example/one/c"
    ]


def test_base_in_a_template_is_none():
    assert links("<template><base href=https://evil.example/></template><a href=c>x</a>") == [
        "https://site.example/a/c"
    ]


@pytest.mark.parametrize("base", ["javascript:alert(1)//", "data:text/html,x", ""])
def test_base_that_no_browser_would_take_is_none(base: str):
    assert links(f"<base href='{base}'><a href=c>x</a>") == ["https://site.example/a/c"]


def test_link_without_href_has_none():
    assert links("<a>x</a><a name=y>z</a>") == [None, None]


def test_canonical_url_is_resolved():
    page = "<base href=/docs/><link rel='Nofollow CANONICAL' href=' page '><link rel=canonical href=/other>"
    assert parse(page, url="https://site.example/x").head.canonical == "https://site.example/docs/page"
    assert parse("<p>x", url="https://site.example/x").head.canonical is None


def test_tree_knows_its_url():
    assert parse("<p>x", url="https://site.example/x").url == "https://site.example/x"


# Invisible text


@pytest.mark.parametrize(
    "invisible",
    [
        "<script>no()</script>",
        "<script>if (a < b) '</p><b>'; <!-- <script>no</script> --></script>",
        "<style>no { a > b }</style>",
        "<template><p>no</p></template>",
        "<!-- no <p>no</p> -->",
        "<!--no--!>",
        "<?no no?>",
        "<![CDATA[no]]>",
        "<link rel=no><meta name=no content=no>",
        "<title>no</title>",
        "<noembed>no</noembed>",
        "<noframes><p>no</p></noframes>",
        "<datalist><option>no</datalist>",
        "<iframe><p>no</p></iframe>",
    ],
)
def test_what_browsers_never_show_is_neither_text_nor_node(invisible: str):
    tree = parse(f"<body><p>before</p>{invisible}<p>after</p>")
    assert tree.text == "beforeafter"
    assert [node.tag for node in tree if node.tag != "iframe"] == ["#root", "body", "p", "p"]


def test_text_around_what_is_dropped_is_one_run():
    tree = parse("<p>a<!-- x -->b<script>no</script>c")
    assert (tree.run_count, tree.run(0)) == (1, "abc")


@pytest.mark.parametrize(
    "opening",
    [
        "<div hidden>",
        "<div hidden=hidden>",
        "<div hidden=false>",
        "<div style='display:none'>",
        "<div style='color:red; DISPLAY : None !important'>",
        "<div style='display:block;display:none'>",
        "<div class=a\nid=x hidden>",
        "<dialog>",
        "<dialog hidden open>",
        "<dialog open style='display:none'>",
        "<section id=S:0 hidden>",
    ],
)
def test_what_is_hidden_is_flagged_with_all_inside(opening: str):
    closing = "</dialog>" if opening.startswith("<dialog") else "</div></section>"
    tree = parse(f"<body><p>shown</p>{opening}not <b>here <i>nor here</i></b>{closing}<p>again</p>")
    assert [node.hidden for node in tree] == [False, False, False, True, True, True, False]
    assert visible_text(tree) == "shownagain"
    assert tree.text == "shownnot here nor hereagain"


@pytest.mark.parametrize(
    "opening",
    [
        "<div hidden=until-found>",
        "<div role=tabpanel hidden style='display:none'>",
        "<div style='display:none' role='TabPanel'>",
        "<div style='visibility:visible;display:block'>",
        "<div style='--card-display:none'>",
        "<div style='display:none;display:block'>",
        "<div style='content:\"none\"'>",
        "<div style='d i s p l a y : n o n e'>",
        "<div class=hidden>",
        "<div data-hidden aria-hidden=true>",
        "<dialog open>",
        "<details>",
        "<div id='S:0' hidden>",
    ],
)
def test_what_is_shown_is_not_flagged(opening: str):
    tree = parse(f"<body>{opening}here <b>too</b>")
    assert tree.visible.all()
    assert visible_text(tree) == "here too"


def test_hidden_input_is_flagged_and_others_are_not():
    tree = parse("<input type=hidden value=a><input TYPE=' HIDDEN'><input type=text><input>")
    assert [node.hidden for node in tree if node.tag == "input"] == [True, True, False, False]


def test_noscript_is_parsed_and_flagged():
    tree = parse("<body><noscript><p>without <b>script</b></p><style>no</style></noscript><p>x")
    assert [(node.tag, node.noscript) for node in tree][2:] == [
        ("noscript", True),
        ("p", True),
        ("b", True),
        ("p", False),
    ]
    assert tree.text == "without scriptx"
    assert tree.visible.all()


def test_late_segments_of_react_are_visible():
    page = '<div id=root><!--$?--><template id="B:0"></template></div><div hidden id="S:0"><p>late</p></div>'
    tree = parse(page)
    assert visible_text(tree) == "late"


def test_declarative_shadow_roots_are_visible():
    for mode in ("open", "closed"):
        tree = parse(
            f"<my-card><template shadowrootmode={mode}><style>p {{}}</style><script>if (a<b) '<i>'</script>"
            "<p>shadow</p><slot></slot></template><b>light</b></my-card>"
        )
        assert visible_text(tree) == "shadowlight"
        assert {"p", "slot", "b"} <= {node.tag for node in tree}
        assert {"style", "script", "i"}.isdisjoint(node.tag for node in tree)


def test_template_inside_a_shadow_root_is_invisible():
    assert text_of("<div><template shadowrootmode=open>a<template>no</template>b</template></div>") == "ab"


def test_template_with_an_unknown_shadow_root_mode_is_an_ordinary_one():
    assert text_of("<body><div><template shadowrootmode=ajar>no</template>x</div>") == "x"


@pytest.mark.parametrize("tag", ["video", "audio", "canvas", "iframe", "applet"])
def test_what_is_shown_as_one_thing_is_a_leaf(tag: str):
    tree = parse(f"<body><p>a<{tag} width=10>inside <title>t</title><b>x</b></{tag}>b</p>")
    assert tree.text == "ab"
    node = only(tree, tag)
    assert list(node.children) == []
    assert node.text == ""
    assert node.attributes == {"width": "10"}


def test_svg_is_opaque():
    tree = parse("<p>a<svg><title>t</title><text>x</text><foreignObject><p>y</p></foreignObject></svg>b")
    assert [node.tag for node in tree] == ["#root", "body", "p", "svg"]
    assert tree.text == "ab"
    assert tree.head.title == ""


# Elements with special rules


@pytest.mark.parametrize(
    ("page", "tag", "text"),
    [
        ("<xmp><b>&amp;</b></xmp>", "xmp", "<b>&amp;</b>"),
        ("<plaintext><b>&amp;</plaintext></p>", "plaintext", "<b>&amp;</plaintext></p>"),
        ("<textarea><b>&amp; x</textarea>", "textarea", "<b>& x"),
        ("<pre>  a\n   b &lt;i&gt;<i>c</i></pre>", "pre", "  a\n   b <i>c"),
        ("<listing>a  b</listing>", "listing", "a  b"),
    ],
)
def test_raw_text_is_text(page: str, tag: str, text: str):
    node = only(parse("<body>" + page), tag)
    assert node.text == text
    assert node.preformatted


@pytest.mark.parametrize("tag", ["pre", "textarea", "listing"])
def test_first_line_break_of_preformatted_text_is_not_content(tag: str):
    assert text_of(f"<body><{tag}>\nx</{tag}>") == "x"
    assert text_of(f"<body><{tag}>\n\nx</{tag}>") == "\nx"
    assert text_of(f"<body><{tag}>\r\n\r\n\r\nx</{tag}>") == "\n\nx"


def test_source_white_space_is_kept():
    assert text_of("<body>\n <p> a\t b\n</p>\u00a0</body>") == "\n  a\t b\n\u00a0"


def test_character_references_are_read_once():
    assert (
        text_of("<p>&amp;lt;b&amp;gt; &eacute;&#233;&#xe9; &copy &nosuch; &amp;amp;")
        == "&lt;b&gt; ééé © &nosuch; &amp;"
    )
    tree = parse("<p title='&amp;quot;&quot; &amp;amp; <b> &nbsp;'>x")
    assert only(tree, "p").attributes["title"] == '&quot;" &amp; <b> \u00a0'


def test_text_in_a_table_outside_its_cells_stands_before_the_table():
    tree = parse("<table>one<tr>two<td>cell</td></tr>three</table>")
    assert tree.text == "onetwothreecell"
    assert only(tree, "table").text == "cell"


def test_mathml_is_kept_without_its_annotations():
    tree = parse(
        "<math><semantics><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><annotation encoding=tex>x+1</annotation>"
        "<annotation-xml encoding='text/html'><p>no</p></annotation-xml></semantics></math>"
    )
    assert tree.text == "x+1"
    assert [node.tag for node in tree][2:] == ["math", "semantics", "mrow", "mi", "mo", "mn"]


def test_options_and_their_groups_are_nodes():
    tree = parse("<select><optgroup label=g><option>a<option value=v>b</select>")
    assert [(node.tag, node.own_text) for node in tree][2:] == [
        ("select", ""),
        ("optgroup", ""),
        ("option", "a"),
        ("option", "b"),
    ]


def test_tags_of_the_authors_own_keep_their_names():
    tree = parse("<My-Card><x-y>a</x-y></My-Card><x-y>b</x-y>")
    assert [node.tag for node in tree][2:] == ["my-card", "x-y", "x-y"]
    assert tree.custom_tags == ("my-card", "x-y")


@pytest.mark.parametrize("page", ["", b"", " \n\t", b"\xef\xbb\xbf", "<html></html>", "<!-- x -->", "<title>t</title>"])
def test_empty_page_is_an_empty_tree_with_a_reason(page: bytes | str, assert_consistent):
    tree = parse(page)
    assert tree.reason == "empty"
    assert tree.text.strip() == ""
    assert_consistent(tree)


def test_page_with_content_has_no_reason():
    assert parse("<p>x").reason is None
    assert parse("<img src=a>").reason is None


@pytest.mark.parametrize(
    "page",
    [
        "<frameset cols=20%,80%><frame src=a><frame src=b></frameset>",
        "<head><title>t</title></head><frameset><frame src=a><noframes><body><p>no</p></body></noframes></frameset>",
        "<frameset><frameset><frame></frameset></frameset></html> ",
    ],
)
def test_frameset_is_an_empty_tree_with_a_reason(page: str, assert_consistent):
    tree = parse(page)
    assert tree.reason == "frameset"
    assert tree.text == ""
    assert len(tree) == 1
    assert_consistent(tree)


def test_frameset_tag_inside_a_page_with_content_changes_nothing():
    tree = parse("<p>x</p><frameset><frame></frameset>")
    assert (tree.reason, tree.text) == (None, "x")


def test_head_of_a_frameset_is_read():
    assert parse("<title>T</title><frameset><frame></frameset>").head.title == "T"


# The head


def head_of(markup: str):
    return parse(f"<!doctype html><html><head>{markup}</head><body>x", url="https://site.example/p").head


def test_title_is_the_first_one_with_white_space_joined():
    assert head_of("<title> A &amp;\n  B </title><title>C</title>").title == "A & B"


def test_title_in_a_drawing_is_not_the_pages():
    assert parse("<body><svg><title>S</title></svg><p>x").head.title == ""


@pytest.mark.parametrize(
    "inert",
    [
        "<title>T</title>",
        "<meta name=author content=T>",
        "<link rel=canonical href=https://evil.example/T>",
        '<script type=application/ld+json>{"@type": "T"}</script>',
    ],
)
def test_what_a_template_says_is_not_said_by_the_page(inert: str):
    head = parse(f"<body><template>{inert}</template>x").head
    assert (head.title, head.metas, head.canonical, head.json_ld_types) == ("", (), None, ())


@pytest.mark.parametrize(
    ("page", "language"),
    [
        ("<html lang=de-CH>", "de-CH"),
        ("<html xml:lang=fr>", "fr"),
        ("<html lang=' en '>", "en"),
        ("<html><meta http-equiv=Content-Language content=pl>", "pl"),
        ("<html lang=it><meta http-equiv=Content-Language content=pl>", "it"),
        ("<html>", ""),
    ],
)
def test_language_is_what_the_page_says(page: str, language: str):
    assert parse(page + "<p>x").head.language == language


def test_open_graph_is_read_without_its_prefix_first_value_each():
    head = head_of(
        '<meta property="og:title" content="T"><meta property="OG:Type" content="article">'
        '<meta property="og:image" content="1"><meta property="og:image" content="2"><meta name="og:url" content="u">'
    )
    assert head.open_graph == {"title": "T", "type": "article", "image": "1", "url": "u"}


def test_robots_directives_are_read_in_lower_case():
    assert head_of("<meta name=ROBOTS content='NoIndex, nofollow ,'>").robots == {"noindex", "nofollow"}
    assert head_of("").robots == frozenset()


def test_page_that_says_nothing_has_an_empty_head():
    head = head_of("")
    assert (head.title, head.language, head.open_graph, head.json_ld_types) == ("", "", {}, ())


def test_json_ld_types_are_distinct_and_in_page_order():
    head = head_of(
        '<script type="application/ld+json">{"@graph": [{"@type": "WebPage"}, {"@type": ["Article", "NewsArticle"]}]}'
        '</script><script type="Application/LD+JSON; charset=utf-8">[{"@type": "WebPage"}, {"@type": "Person"}, 3]'
        "</script>"
    )
    assert head.json_ld_types == ("WebPage", "Article", "NewsArticle", "Person")


@pytest.mark.parametrize(
    "script",
    ["", "not json", "{", "[" * 100_000, "1" * 5_000, '{"@type": 3}', '{"@type": null, "author": 4}', '"x"', "NaN"],
)
def test_json_ld_that_says_nothing_is_skipped(script: str):
    head = head_of(
        f'<script type="application/ld+json">{script}</script>'
        '<script type="application/ld+json">{"@type": "Article", "author": "Ann"}</script>'
    )
    assert head.json_ld_types == ("Article",)


def test_json_ld_with_line_breaks_inside_strings_is_read():
    head = head_of('<script type="application/ld+json">{"@type": "Article", "x": "a\nb"}</script>')
    assert head.json_ld_types == ("Article",)


def test_json_ld_in_the_body_is_read_and_is_no_content():
    tree = parse('<body><p>x<script type="application/ld+json">{"@type": "Recipe"}</script>')
    assert (tree.head.json_ld_types, tree.text) == (("Recipe",), "x")


# Limits


def test_page_over_the_byte_limit_is_refused_with_both_numbers():
    with pytest.raises(PageRefused, match=r"1,001\b.*\b1,000\b"):
        parse(b"x" * 1001, limits=ParseLimits(max_bytes=1000))


def test_page_at_the_byte_limit_is_read():
    assert parse(b"x" * 1000, limits=ParseLimits(max_bytes=1000)).text == "x" * 1000


def test_page_over_the_byte_limit_is_refused_before_parsing(monkeypatch):
    module = importlib.import_module("webwinnow.page.parsing")
    for work in ("_as_utf8", "HtmlTree"):
        monkeypatch.setattr(module, work, lambda *_: pytest.fail("work was done on a page that is too long"))
    with pytest.raises(PageRefused):
        parse(b"x" * 1001, limits=ParseLimits(max_bytes=1000))


def test_page_over_the_node_limit_is_refused_with_the_number():
    limits = ParseLimits(max_nodes=1000)
    with pytest.raises(PageRefused, match="1,000"):
        parse("<p>x" * 999, limits=limits)
    assert len(parse("<p>x" * 998, limits=limits)) == 1000


def test_a_refusal_is_an_input_error():
    assert issubclass(PageRefused, InputError)


def test_limits_are_twenty_megabytes_by_default():
    assert ParseLimits().max_bytes == 20_000_000


def depth_of(tree: PageTree) -> int:
    depth = np.zeros(len(tree), int)
    for i in range(1, len(tree)):
        depth[i] = depth[tree.parent[i]] + 1
    return int(depth.max())


def test_elements_below_the_depth_limit_become_part_of_their_ancestor(assert_consistent):
    tree = parse("<div>a<div>b<div>c<p>d</p>e</div>f</div>g</div>", limits=ParseLimits(max_depth=3))
    assert [(node.tag, node.own_text) for node in tree] == [
        ("#root", ""),
        ("body", ""),
        ("div", "ag"),
        ("div", "bcdef"),
    ]
    assert tree.text == "abcdefg"
    assert tree.clipped == ("depth",)
    assert depth_of(tree) == 3
    assert_consistent(tree)


def test_page_within_its_limits_is_not_clipped():
    tree = parse("<div>a<div>b</div></div>", limits=ParseLimits(max_depth=3, max_attributes=0))
    assert tree.clipped == ()


@pytest.mark.parametrize("max_depth", [1, 2, 10, 400])
def test_clipped_depth_loses_no_text_and_is_reported(max_depth: int, assert_consistent):
    page = "".join(f"<div>{k} " for k in range(3_000))
    tree = parse(page, limits=ParseLimits(max_depth=max_depth))
    assert tree.text.split() == [str(k) for k in range(3_000)]
    assert "depth" in tree.clipped
    assert depth_of(tree) <= max_depth
    assert_consistent(tree)


def test_page_as_deep_as_the_default_limit_is_read_whole_and_a_deeper_one_says_that_it_is_clipped():
    limit = ParseLimits().max_depth
    whole = parse("<div>" * (limit - 1) + "x")
    assert (depth_of(whole), whole.clipped) == (limit, ())
    clipped = parse("<div>" * limit + "x")
    assert (depth_of(clipped), clipped.clipped) == (limit, ("depth",))


def test_what_is_hidden_below_the_depth_limit_does_not_become_visible():
    tree = parse(
        "<div>a<div>b<div hidden>no</div><script>no</script><svg><text>no</text></svg></div>c</div>",
        limits=ParseLimits(max_depth=3),
    )
    assert "no" not in visible_text(tree)


def test_attributes_over_the_limit_are_left_out_and_the_tree_says_so(assert_consistent):
    tree = parse("<p title=a x=1 y=2 class=b>x</p><p title=c>y", limits=ParseLimits(max_attributes=3))
    assert [node.attributes for node in tree][2:] == [{"title": "a"}, {"title": "c"}]
    assert tree.clipped == ("attributes",)
    assert_consistent(tree)


def test_long_attribute_values_are_cut_and_long_urls_left_out():
    tree = parse(f"<a title='{'t' * 10_000}' href='https://e.example/{'h' * 10_000}'>x")
    assert tree.attribute(2, "title") == "t" * 4096
    assert not tree.attribute(2, "href")


# XML-style empty elements

XML_CLOSED = (
    "applet audio canvas iframe noembed noframes noscript script select style template textarea title video xmp"
).split()


@pytest.mark.parametrize("iframe", ["<iframe src=/>", "<iframe src=/a/>", "<iframe src = b/>", "<iframe src=b\xa0/>"])
def test_a_slash_of_an_attributes_value_closes_nothing(iframe: str):
    assert parse(f"<p>a</p>{iframe}b<p>c").text == "a"
    assert parse(f"<p>a</p>{iframe}b</iframe><p>c").text == "ac"
    assert parse(f"<p>a</p><video/>d{iframe}b<p>c").text == "ad"


@pytest.mark.parametrize("tag", XML_CLOSED)
def test_xml_style_element_without_an_end_tag_swallows_nothing(tag: str):
    tree = parse(f"<div><p>one</p><{tag} id='x' /></div><p>two</p><p>three</p>")
    assert [node.text for node in tree if node.tag == "p"] == ["one", "two", "three"]


@pytest.mark.parametrize("tag", XML_CLOSED)
def test_xml_style_element_swallows_nothing_up_to_the_next_one_of_its_name(tag: str):
    tree = parse(f"<p>one</p><{tag.upper()}/><p>two</p><{tag}></{tag}><p>three</p>")
    assert [node.text for node in tree if node.tag == "p"] == ["one", "two", "three"]


def test_xml_style_frame_in_a_noscript_swallows_nothing():
    tree = parse('<noscript><iframe src="x" height="0" /></noscript><p>text</p>')
    assert visible_text(tree) == "text"


def test_xml_style_title_does_not_swallow_the_page():
    tree = parse("<head><title/></head><body><p>text</p><svg><title>icon</title></svg>")
    assert tree.head.title == ""
    assert only(tree, "p").text == "text"


@pytest.mark.parametrize(
    "page",
    [
        "<p>a<textarea/>b</textarea>c",
        "<title/>b</title><p>c",
        "<script/>if (a < b) x = '<script>';</script><p>c",
        "<style/>p { color: red }</style><p>c",
        "<p>a<select/><option>b</select>c",
        "<script>x = '<iframe/><title/>'</script><p>c<b>d</b>",
        "<!-- <iframe/> --><p>c",
        "<p>a<br/><img/><div/>b<iframe></iframe>",
        "<iframe/><p>swallowed</p></iframe><p>c",
    ],
)
def test_page_whose_xml_style_elements_have_end_tags_is_parsed_as_browsers_do(page: str):
    plain = parse(page.replace("/>", ">"))
    tree = parse(page)
    assert (tree.text, tree.tag.tolist(), tree.head) == (plain.text, plain.tag.tolist(), plain.head)


_MARKUP = st.lists(
    st.sampled_from(["<iframe/>", "<script />", "<title/>", "</title>", "<style>", "</script>", "<p>", "<!--", "-->"])
    | st.sampled_from(["<select/>", "<svg>", "</svg>", "<noscript/>", "<template/>", "x", "é", "\xff", "<"]),
    max_size=30,
).map("".join)


@given(_MARKUP, st.sampled_from(["utf-8", "latin-1"]), st.sampled_from((None, "gbk", "utf-8", "utf-16le")))
def test_any_bytes_with_xml_style_elements_make_a_tree(page: str, codec: str, label: str | None):
    tree = parse(page.encode(codec), content_type=label and f"text/html; charset={label}")
    assert tree.text.encode("utf-8").decode() == tree.text


def test_many_xml_style_elements_cost_little():
    for hostile in ("<title/>", "<script/><!--", "<script/><!-- -->", "<iframe ", "<iframe/></iframe", "<!--<title/>"):
        parse("<p>a" + hostile * 20_000)
