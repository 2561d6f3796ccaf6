"""`_words` against its plain twin."""

from __future__ import annotations

import numpy as np
import plain_words as plain
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from webwinnow.page import _words as compiled
from webwinnow.page.words import image_feature, link_feature


@given(st.text(), st.data())
def test_twins_count_words_of_runs_and_see_blanks_equally(text: str, data: st.DataObject):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    starts = np.array([0, *cuts, len(text)], np.int32)
    counted = np.array(data.draw(st.lists(st.booleans(), min_size=len(starts) - 1, max_size=len(starts) - 1)), np.bool_)
    assert compiled.run_words(text, starts, counted).tolist() == plain.run_words(text, starts, counted).tolist()
    assert compiled.blank_runs(text, starts).tolist() == plain.blank_runs(text, starts).tolist()


@pytest.mark.parametrize("starts", [[0, 9], [0, 2, 1, 3], [-1, 3], [0]])
def test_twins_refuse_runs_outside_the_text(starts: list[int]):
    offsets, counted = np.array(starts, np.int32), np.ones(2, np.bool_)
    for twin in (compiled, plain):
        for counting in (twin.word_spans, twin.run_words):
            with pytest.raises(ValueError, match="run"):
                counting("abc", offsets, counted if len(starts) == 1 else np.ones(len(starts) - 1, np.bool_))


@given(st.text() | st.text("aB1_ 日本ไทย가é", max_size=40), st.data())
def test_twins_find_the_same_words(text: str, data: st.DataObject):
    cut = data.draw(st.integers(0, len(text)))
    starts, counted = np.array([0, cut, len(text)], np.int32), np.array([True, data.draw(st.booleans())])
    for mine, theirs in zip(
        compiled.word_spans(text, starts, counted), plain.word_spans(text, starts, counted), strict=True
    ):
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == theirs.tolist()


# Names and URLs

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
def test_twins_hash_urls_equally(addresses: list[str], data: st.DataObject | None):
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
def test_twins_hash_names_equally(name: str):
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


# Folded text


@given(st.text() | st.text(" \t\n\x1c\x85\xa0aBß\u0130\u0390ﬃ漢\ud800", max_size=40), st.data())
@example("".join(map(chr, range(0x600))), None)
def test_twins_fold_text_equally(text: str, data: st.DataObject | None):
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
