"""The compiled kernels against their plain twins: same columns, same refusals, for anything the parser may write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from webwinnow import _kernels, markup
from webwinnow._kernels import plain
from webwinnow.errors import PageRefused
from webwinnow.parsing import DEFAULT_LIMITS, _parsed, decode
from webwinnow.words import image_feature, link_feature

compiled = pytest.importorskip(
    "webwinnow._kernels.compiled", reason="the compiled kernels are not built: there was no compiler at install"
)

MAX_NODES, MAX_DEPTH, MAX_ATTRIBUTES = (
    DEFAULT_LIMITS.max_nodes,
    DEFAULT_LIMITS.max_depth,
    DEFAULT_LIMITS.max_attributes,
)
MANY_TOKENS = 64
LONG_CLASS = 1024
"""Beyond these the compiled `canonical_class` hands over to the plain one."""


def written_back(page: str | bytes) -> str:
    """The page as the parser writes it back: what `lay_out` is given."""
    text, _ = decode(page)
    return _parsed(text, "")[0]


def outcome(twin: Any, *arguments: Any) -> Any:
    try:
        return twin.lay_out(*arguments)
    except PageRefused as refusal:
        return str(refusal)


def assert_twins_agree(
    written: str, max_nodes: int = MAX_NODES, max_depth: int = MAX_DEPTH, max_attributes: int = MAX_ATTRIBUTES
) -> None:
    fast = outcome(compiled, written, max_nodes, max_depth, max_attributes)
    slow = outcome(plain, written, max_nodes, max_depth, max_attributes)
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


def test_the_compiled_kernel_is_the_one_in_use():
    assert _kernels.COMPILED
    assert _kernels.lay_out is compiled.lay_out


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_twins_lay_out_soup_alike(data: st.DataObject, soup: st.SearchStrategy[str]):
    assert_twins_agree(written_back(data.draw(soup)))


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_twins_keep_to_limits_alike(data: st.DataObject, soup: st.SearchStrategy[str]):
    limits = [
        data.draw(st.integers(least, 8), label=name) for name, least in (("nodes", 2), ("depth", 1), ("attributes", 0))
    ]
    assert_twins_agree(written_back(data.draw(soup)), *limits)


@given(st.binary(max_size=300))
def test_twins_lay_out_random_bytes_alike(body: bytes):
    assert_twins_agree(written_back(body))


name_characters = st.text(st.characters(exclude_categories=("Cs",), exclude_characters=" \t\n\f\r/>\0"), max_size=5)


@given(tag=name_characters, name=name_characters, value=name_characters)
@example(tag='"', name="=", value='"')
@example(tag="<b", name="<", value="&amp")
@example(tag="=é", name="é=", value="&amp;quot;")
def test_twins_read_odd_names_alike(tag: str, name: str, value: str):
    assert_twins_agree(written_back(f"<a{tag} {name}={value} {name}x class='{value}'>x</a{tag}><b{tag}/{name}>y"))


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
def test_twins_lay_out_odd_pages_alike(page: str):
    assert_twins_agree(written_back(page))


LARGE_PAGES = {
    "nested": "".join(f"<div class=c{k}>{k}" for k in range(5_000)),
    "attributes": "<p " + " ".join(f"a{k}={k}" for k in range(5_000)) + ">x",
    "words": "<p>漢字 é &amp; <b>x</b>" * 5_000,
}


@pytest.mark.parametrize("page", LARGE_PAGES.values(), ids=LARGE_PAGES.keys())
def test_twins_lay_out_large_pages_alike(page: str):
    assert_twins_agree(written_back(page))


@pytest.mark.parametrize("page", sorted((Path(__file__).parent / "golden").glob("*.html")), ids=lambda page: page.stem)
def test_twins_lay_out_golden_pages_alike(page: Path):
    assert_twins_agree(written_back(page.read_bytes()))


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
@example("\ud800 x1")
def test_twins_canonicalise_class_names_alike(written: str):
    assert compiled.canonical_class(written) == plain.canonical_class(written) == markup.canonical_class(written)


@pytest.mark.parametrize("count", [MANY_TOKENS - 1, MANY_TOKENS, MANY_TOKENS + 1, 3 * MANY_TOKENS])
def test_twins_agree_on_many_class_tokens(count: int):
    letters = "abcdefghijklmnopqrstuvwxyz"
    written = " ".join(letters[k % 26] + letters[k // 26] for k in reversed(range(count)))
    assert compiled.canonical_class(written) == plain.canonical_class(written)
    assert len(compiled.canonical_class(written).split()) == count


@pytest.mark.parametrize("length", [LONG_CLASS - 1, LONG_CLASS, LONG_CLASS + 1, 10 * LONG_CLASS])
@pytest.mark.parametrize("piece", ["a", "A", "a1", "-", "aB-", "1 ", "-1 "])
def test_twins_agree_on_long_class_names(length: int, piece: str):
    written = (piece * length)[:length]
    assert compiled.canonical_class(written) == plain.canonical_class(written)


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
def test_twins_canonicalise_inline_styles_alike(written: str):
    assert compiled.canonical_inline_style(written) == markup._canonical_inline_style(written)


@settings(max_examples=300)
@given(declarations, st.sampled_from(["div", "input", "dialog"]), st.sampled_from(["", " type=Hidden", " hidden"]))
@example("display:none;display : NONE ! important", "div", "")
@example("display:none;display", "div", "")
@example("none:display", "div", " type='hidden '")
def test_twins_hide_and_style_alike(written: str, tag: str, more: str):
    escaped = written.replace('"', "&quot;")
    assert_twins_agree(written_back(f'<{tag}{more} style="{escaped}">x</{tag}><{tag} class="{escaped}">'))


@given(st.text(), st.data())
def test_twins_count_words_and_see_blanks_alike(text: str, data: st.DataObject):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    starts = np.array([0, *cuts, len(text)], np.int32)
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(starts) - 1, max_size=len(starts) - 1)), np.bool_)
    assert compiled.count_words(text, starts, counted) == plain.count_words(text, starts, counted)
    assert compiled.blank_runs(text, starts).tolist() == plain.blank_runs(text, starts).tolist()


@pytest.mark.parametrize("starts", [[0, 9], [0, 2, 1, 3], [-1, 3], [0]])
def test_twins_refuse_runs_outside_the_text(starts: list[int]):
    offsets, counted = np.array(starts, np.int32), np.ones(2, np.bool_)
    for twin in (compiled, plain):
        with pytest.raises(ValueError, match="run"):
            twin.count_words("abc", offsets, counted if len(starts) == 1 else np.ones(len(starts) - 1, np.bool_))


@given(st.data())
def test_twins_find_the_nearest_marked_ancestor_alike(data: st.DataObject):
    size = data.draw(st.integers(1, 30))
    parent = np.array([-1, *(data.draw(st.integers(0, i - 1)) for i in range(1, size))], np.int32)
    marked = np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)), np.bool_)
    found = plain.nearest(parent, marked)
    assert compiled.nearest(parent, marked).tolist() == found.tolist()
    for i, ancestor in enumerate(found.tolist()):
        assert ancestor == -1 or (marked[ancestor] and ancestor <= i)


@given(st.binary(max_size=60) | st.text("<>/bBiIfontFONTem uU\n", max_size=80).map(str.encode))
def test_twins_count_open_formatting_alike(markup: bytes):
    assert compiled.open_formatting(markup) == plain.open_formatting(markup)


@given(st.text() | st.text("aB1_ 日本ไทย가é", max_size=40), st.data())
def test_twins_find_the_same_words(text: str, data: st.DataObject):
    cut = data.draw(st.integers(0, len(text)))
    starts, counted = np.array([0, cut, len(text)], np.int32), np.array([True, data.draw(st.booleans())])
    for mine, theirs in zip(
        compiled.word_spans(text, starts, counted), plain.word_spans(text, starts, counted), strict=True
    ):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


# Names and addresses

address = st.one_of(
    st.text(),
    st.text("aB:/?#.&@ \t\né+-1", max_size=20),
    st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(
            ["", "http:", "HTTPS:", "mailto:", "data:", "javascript:", "1a:", "a+b-c.d:", ":", "é:", " \x00"]
        ),
        st.sampled_from(["", "//", "//Host.Example:80", "//host", "/", "///", "//\u212a"]),
        st.sampled_from(["", "/", "/A/b.gif", "a/b//", "//", "/a b\n/c", "/" + "x" * 5000]),
        st.sampled_from(["", "?", "?q=A/b:c", "??", "?é"]),
        st.sampled_from(["", "#", "#top?", " \r\n"]),
    ),
)


@settings(max_examples=500)
@given(st.lists(address, max_size=4), st.data())
@example(["", "//h", "http://h", "mailto:a@b", "data:,x", "a:", "//"], None)
def test_twins_hash_addresses_alike(addresses: list[str], data: st.DataObject | None):
    text, starts = "".join(addresses), np.cumsum([0, *map(len, addresses)], dtype=np.int32)
    which = np.array(
        [k for k in range(len(addresses)) if data is None or data.draw(st.booleans())],
        np.int64,
    )
    links, images = ([naming(addresses[k]) for k in which] for naming in (link_feature, image_feature))
    for twin in (compiled, plain):
        assert twin.link_hashes(text, starts, which, link_feature).tolist() == [plain.name_hash(link) for link in links]
        found = twin.image_hashes(text, starts, which, image_feature)
        assert found.dtype == np.uint64
        assert found.tolist() == [plain.name_hash(image) for image in images]


@given(st.text())
@example("\ud800")
def test_twins_hash_names_alike(name: str):
    assert compiled.name_hash(name) == plain.name_hash(name)


@given(st.text("aZ09", min_size=1))
def test_a_word_has_the_hash_of_its_name_in_lower_case(word: str):
    (found,), *_ = compiled.word_spans(word, np.array([0, len(word)], np.int32), np.ones(1, np.bool_))
    assert found == compiled.name_hash(word.lower())


def test_twins_refuse_addresses_outside_the_text():
    for twin in (compiled, plain):
        for starts, which in (([0, 9], [0]), ([0, 3], [1]), ([0, 3], [-1])):
            with pytest.raises(ValueError, match="run"):
                twin.link_hashes("abc", np.array(starts, np.int32), np.array(which, np.int64), link_feature)


# Text in one spelling


@given(st.text() | st.text(" \t\n\x1c\x85\xa0aBß\u0130\u0390ﬃ漢\ud800", max_size=40), st.data())
@example("".join(map(chr, range(0x600))), None)
def test_twins_fold_text_alike(text: str, data: st.DataObject | None):
    def draw(most: int, least: int = 0) -> int:
        return least if data is None else data.draw(st.integers(least, most))

    size, runs = draw(6, 1), draw(5, 1)
    parent = np.array([-1, *(draw(i - 1) for i in range(1, size))], np.int32)
    parting = np.array([draw(1) == 0 for _ in range(size)])
    starts = np.array([0, *sorted(draw(len(text)) for _ in range(runs - 1)), len(text)], np.int32)
    owner = np.array([draw(size - 1) for _ in range(runs)], np.int32)
    before = np.array(sorted(draw(size) for _ in range(runs)), np.int32)
    wanted = np.array([draw(1) == 0 for _ in range(runs)])
    page = (text, starts, owner, before, wanted, parent, parting)
    assert compiled.folded_text(*page) == plain.folded_text(*page)


def test_folding_one_character_is_folding_it_in_a_text():
    every = [chr(code) for code in range(0x110000)]
    assert "".join(every).casefold() == "".join(character.casefold() for character in every)
    assert all(folded.isspace() == character.isspace() for character in every for folded in character.casefold())


def test_twins_refuse_runs_outside_the_tree():
    starts, wanted, parent = np.array([0, 1], np.int32), np.ones(1, np.bool_), np.array([-1], np.int32)
    for twin in (compiled, plain):
        for owner, before in ((1, 0), (-1, 0), (0, 2), (0, -1)):
            with pytest.raises(ValueError, match="outside the tree"):
                twin.folded_text(
                    "a", starts, np.array([owner], np.int32), np.array([before], np.int32), wanted, parent, wanted
                )
