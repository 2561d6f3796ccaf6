from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stop_words import LANGUAGE_MAPPING

from webwinnow.errors import MissingExtra, SettingsError
from webwinnow.page.words import (
    IMAGE_PREFIX,
    LINK_PREFIX,
    CjkSegmentation,
    StopListBuilder,
    StopListSettings,
    StopWord,
    image_feature,
    link_feature,
    shingles,
    stop_words,
    word_hash,
    words,
)

UNSPACED_BLOCKS = (
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "BOPOMOFO",
    "HANGZHOU",
    "IDEOGRAPHIC",
)
ANY_TEXT = st.text(st.characters())  # lone surrogates too
TRICKY_TEXT = st.text(st.sampled_from("aZsStdmé'’_- .0İß\u00ad\u0301\u0345\u0307\u200b\u200d™½我กั中アｱпЯя"))


def content_words(text: str, language: str, cjk: CjkSegmentation = "bigrams") -> list[str]:
    return [word for word in words(text, cjk=cjk) if word not in stop_words(language)]


def derive_stop_list(pages: Iterable[str | Iterable[str]], settings: StopListSettings | None = None) -> list[StopWord]:
    builder = StopListBuilder(settings)
    for page in pages:
        builder.add(page)
    return builder.stop_list()


def is_spaced(text: str) -> bool:
    return not any(
        unicodedata.name(char, "").startswith(UNSPACED_BLOCKS) for char in unicodedata.normalize("NFKC", text)
    )


# Words


def test_words_are_lower_case_and_in_order() -> None:
    assert words("The quick, brown FOX") == ["the", "quick", "brown", "fox"]


def test_empty_text_has_no_words() -> None:
    assert words("") == []
    assert words(" \n\t—…") == []


def test_digits_are_words() -> None:
    assert words("In 2004: 3 pages, mp3") == ["in", "2004", "3", "pages", "mp3"]


def test_underscores_alone_are_no_word() -> None:
    assert words("__ snake_case _ ___") == ["snake_case"]


def test_underscores_alone_are_no_word_beside_han() -> None:
    assert words("中_文") == ["中", "文"]


def test_case_folding_is_full() -> None:
    assert words("STRASSE Straße") == ["strasse", "strasse"]


def test_compatibility_forms_are_one_word() -> None:
    assert words("ﬁne fine ｆｉｎｅ") == ["fine"] * 3


def test_composed_and_decomposed_letters_are_one_word() -> None:
    assert words("caf\u00e9 cafe\u0301") == ["café", "café"]


def test_turkish_capital_i_with_dot_is_i() -> None:
    assert words("İstanbul istanbul") == ["istanbul", "istanbul"]


def test_hyphens_of_all_kinds_separate() -> None:
    assert words("state-of-the-art well\u2010known e\u2011mail") == [
        *("state", "of", "the", "art"),
        *("well", "known"),
        *("e", "mail"),
    ]


def test_contractions_stay_whole() -> None:
    assert words("Don't we'll I'm they’re") == ["don't", "we'll", "i'm", "they're"]


def test_final_apostrophe_s_is_removed() -> None:
    assert words("Ann's ANN’S 1990's it's") == ["ann", "ann", "1990", "it"]


def test_apostrophe_s_before_a_combining_mark_stays_a_word() -> None:
    assert words("a's\u0303b") == ["a", "s\u0303b"]


def test_elision_separates() -> None:
    assert words("l'été dell’arte d'Artagnan") == ["l", "été", "dell", "arte", "d", "artagnan"]


@pytest.mark.parametrize("apostrophe", list("'’‘ʼ´＇"))
def test_every_apostrophe_counts_as_one(apostrophe: str) -> None:
    assert words(f"don{apostrophe}t") == ["don't"]


def test_apostrophe_is_a_letter_in_ukrainian() -> None:
    assert words("п'ять, П’ЯТЬ") == ["п'ять", "п'ять"]


def test_quotation_marks_are_no_part_of_a_word() -> None:
    assert words("'quoted' ‘quoted’ “quoted”") == ["quoted"] * 3


def test_soft_hyphens_and_joiners_vanish() -> None:
    assert words("hy\u00adphen می\u200cخواهم") == ["hyphen", "میخواهم"]


def test_zero_width_space_separates() -> None:
    assert words("one\u200btwo") == ["one", "two"]


def test_trade_mark_signs_do_not_glue_to_the_word() -> None:
    assert words("Acme™ Acme® Acme℠") == ["acme"] * 3


def test_words_with_combining_marks_stay_whole() -> None:
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_marks_on_nothing_are_dropped() -> None:
    assert words("\u0301abc ¨x _\u0301") == ["abc", "x"]


def test_endless_marks_on_a_letter_are_cut_at_thirty() -> None:
    assert words("x" + "\u0300\u0316" * 200_000) == ["x" + "\u0316" * 15 + "\u0300" * 15]


def test_a_long_rule_of_punctuation_separates() -> None:
    assert words("é" + "═" * 50 + "é") == ["é", "é"]


def test_korean_is_cut_at_blanks_only() -> None:
    assert words("한국어 문장") == ["한국어", "문장"]


@given(st.text(st.characters(max_codepoint=127, exclude_characters="'")))
def test_ascii_words_are_those_of_the_plain_pattern(text: str) -> None:
    assert words(text) == [word for word in re.findall(r"\w+", text.lower()) if word.strip("_")]


@given(ANY_TEXT | TRICKY_TEXT)
def test_a_word_holds_letters_digits_marks_underscores_and_inner_apostrophes_only(text: str) -> None:
    for word in words(text):
        assert any(char.isalnum() for char in word)
        assert all(char.isalnum() or char in "_'" or unicodedata.category(char) in ("Mn", "Mc") for char in word)
        assert word == word.strip("'")
        assert not unicodedata.category(word[0]).startswith("M")


@given(ANY_TEXT | TRICKY_TEXT)
def test_words_are_folded_and_normalised(text: str) -> None:
    for word in words(text):
        assert unicodedata.normalize("NFKC", word.casefold()) == word


@given((ANY_TEXT | TRICKY_TEXT).filter(is_spaced))
@example("y'all'd've x's's a's't")
@example("İ\u0307")
@example("ŉ aŉb")
@example("\u0345\u0301 Ϊ\u0301 ǰ i\u0307\u0301")
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


@given(ANY_TEXT | TRICKY_TEXT, ANY_TEXT | TRICKY_TEXT)
def test_words_of_two_texts_are_those_of_each(first: str, second: str) -> None:
    assert words(f"{first}\n{second}") == words(first) + words(second)


# Scripts without blanks


def test_han_becomes_overlapping_bigrams() -> None:
    assert words("北京大学") == ["北京", "京大", "大学"]


def test_a_single_han_character_is_a_word() -> None:
    assert words("我") == ["我"]


def test_bigrams_do_not_cross_punctuation() -> None:
    assert words("你好。世界") == ["你好", "世界"]


def test_han_and_latin_part_where_they_meet() -> None:
    assert words("iPhone手机2024年") == ["iphone", "手机", "2024", "年"]


def test_half_width_katakana_is_katakana() -> None:
    assert words("ｶﾞｲﾄﾞ") == ["ガイ", "イド"]


def test_thai_marks_stay_with_their_letter() -> None:
    assert words("ที่นี่") == ["ที่นี่"]
    assert words("ที่นี่ดี") == ["ที่นี่", "นี่ดี"]


def test_jieba_cuts_chinese_words() -> None:
    pytest.importorskip("rjieba")
    assert words("我们在北京大学学习ABC", cjk="jieba") == ["我们", "在", "北京大学", "学习", "abc"]


def test_jieba_leaves_kana_as_bigrams() -> None:
    pytest.importorskip("rjieba")
    assert words("カタカナ学习", cjk="jieba") == ["カタ", "タカ", "カナ", "学习"]


def test_jieba_without_the_extra_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rjieba", None)
    with pytest.raises(MissingExtra, match=r"Chinese word segmentation.*webwinnow\[cjk\]"):
        words("plain English", cjk="jieba")


def test_unknown_segmentation_is_refused() -> None:
    with pytest.raises(SettingsError, match="'bigrams' or 'jieba'"):
        words("text", cjk="mecab")  # type: ignore[arg-type]


def test_importing_the_module_loads_no_segmenter() -> None:
    code = "import sys, webwinnow.page.words; sys.exit('rjieba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Stop words


def test_english_stop_words_include_contractions() -> None:
    assert {"the", "and", "don't", "we'll"} <= stop_words("en")


@pytest.mark.parametrize("tag", ["en-GB", "en_US", "EN", " en ", "en-Latn-GB"])
def test_longer_tags_give_the_list_of_their_language(tag: str) -> None:
    assert stop_words(tag) == stop_words("en")


@pytest.mark.parametrize("tag", ["", "xx", "english", "tlh-Latn", "-", "zxx"])
def test_a_language_without_a_list_has_no_stop_words(tag: str) -> None:
    assert stop_words(tag) == frozenset()


def test_both_norwegian_codes_give_the_norwegian_list() -> None:
    assert stop_words("no") == stop_words("nn") == stop_words("nb") != frozenset()


@pytest.mark.parametrize("code", sorted(LANGUAGE_MAPPING))
def test_stop_words_are_spelled_as_words_are(code: str) -> None:
    stops = stop_words(code)
    assert stops
    for stop in filter(is_spaced, stops):
        assert words(stop) == [stop]


def test_elided_articles_are_stop_words() -> None:
    assert content_words("L’école qu'on aime", "fr") == ["école", "aime"]


def test_phrases_do_not_make_stop_words_of_their_parts() -> None:
    assert "đầu" not in stop_words("vi")  # "head"; the list has "bắt đầu", to begin


def test_content_words_keep_order_and_repetitions() -> None:
    assert content_words("The camera and the lens of the camera", "en-US") == ["camera", "lens", "camera"]


def test_content_words_of_an_unknown_language_are_all_words() -> None:
    assert content_words("The camera", "xx") == ["the", "camera"]


def test_chinese_stop_words_are_found_among_chinese_words() -> None:
    pytest.importorskip("rjieba")
    assert content_words("我在学习", "zh-CN", cjk="jieba") == ["学习"]


# Links and images


@pytest.mark.parametrize(
    ("href", "feature"),
    [
        ("https://Example.ORG/News/Item?id=3#top", "@href:example.org/News/Item?id=3"),
        ("http://example.org", "@href:example.org/"),
        ("//example.org/a", "@href:example.org/a"),
        ("/a/b.html", "@href:/a/b.html"),
        ("../b.html", "@href:../b.html"),
        ("#top", "@href:"),
        ("", "@href:"),
        (" \n/a\tb ", "@href:/ab"),
        ("mailto:Ann@example.org", "@href:mailto:Ann@example.org"),
        ("JavaScript:void(0)", "@href:javascript:void(0)"),
        ("http://[::1", "@href:[::1/"),
    ],
)
def test_link_feature_is_host_path_and_query(href: str, feature: str) -> None:
    assert link_feature(href) == feature


def test_links_that_differ_in_scheme_only_are_one_feature() -> None:
    assert link_feature("http://a.org/x") == link_feature("https://a.org/x") == link_feature("//a.org/x")


@pytest.mark.parametrize(
    ("src", "feature"),
    [
        ("https://img.example.org/a/Logo.gif?v=2#x", "@img:Logo.gif"),
        ("spacer.gif", "@img:spacer.gif"),
        ("/photos/", "@img:photos"),
        ("https://Ads.example.org/?banner=3", "@img:ads.example.org"),
        ("", "@img:"),
    ],
)
def test_image_feature_is_the_file_name(src: str, feature: str) -> None:
    assert image_feature(src) == feature


def test_data_images_are_distinguished_by_hash() -> None:
    first, second = image_feature("data:image/png;base64,AAAA"), image_feature("data:image/png;base64,AAAB")
    assert first != second
    assert re.fullmatch("@img:data:[0-9a-f]{16}", first)
    assert first == image_feature(" data:image/png;base64,AAAA\n")


def test_data_links_are_short() -> None:
    assert re.fullmatch("@href:data:[0-9a-f]{16}", link_feature("data:text/html," + "x" * 10_000))


@given(ANY_TEXT)
@example("http://[")
@example("http://a\ud800/\udfff")
def test_any_string_gives_features_that_are_no_words(url: str) -> None:
    for feature, prefix in ((link_feature(url), LINK_PREFIX), (image_feature(url), IMAGE_PREFIX)):
        assert feature.startswith(prefix)
        assert words(feature) != [feature]
        assert 0 <= word_hash(feature) < 2**64


# Hashes


def test_word_hash_is_the_published_xxh3() -> None:
    assert word_hash("") == 0x2D06800538D394C2  # XXH3_64bits of no input, seed 0, from the xxHash test vectors


def test_shingles_are_hashes_of_windows_joined_by_blanks() -> None:
    found = shingles(["a", "b", "c"], size=2)
    assert found.dtype == np.uint64
    assert found.tolist() == [word_hash("a b"), word_hash("b c")]


def test_shingles_hold_five_words_by_default() -> None:
    assert shingles(list("abcdef")).tolist() == [word_hash("a b c d e"), word_hash("b c d e f")]


def test_fewer_tokens_than_a_shingle_are_one_shingle() -> None:
    assert shingles(["a", "b"], size=5).tolist() == [word_hash("a b")]


def test_no_tokens_have_no_shingles() -> None:
    found = shingles([])
    assert found.dtype == np.uint64
    assert found.size == 0


@pytest.mark.parametrize("size", [0, -1])
def test_a_shingle_of_no_words_is_refused(size: int) -> None:
    with pytest.raises(SettingsError, match="1 or more"):
        shingles(["a"], size=size)


@given(st.lists(st.text(max_size=3), max_size=20), st.integers(1, 7))
def test_shingle_count_is_windows_or_one(tokens: list[str], size: int) -> None:
    assert shingles(tokens, size).size == (max(len(tokens) - size + 1, 1) if tokens else 0)


# Stop lists from a collection

EVERY_WORD = StopListSettings(min_page_share=0.5, min_term_frequency=1, min_pages=1)


def test_stop_list_holds_words_of_enough_pages_most_pages_first_then_by_the_alphabet() -> None:
    pages = [["the", "cat"], ["the", "dog", "cat"], ["the", "emu", "dog"], ["the", "fox"]]
    assert derive_stop_list(pages, EVERY_WORD) == [
        StopWord("the", 4, 0),
        StopWord("cat", 2, 0),
        StopWord("dog", 2, 0),
    ]


def test_a_page_counts_only_for_words_that_it_repeats_enough() -> None:
    settings = StopListSettings(min_page_share=0.5, min_term_frequency=2, min_pages=1)
    assert derive_stop_list([["a", "a", "b"], ["a", "b", "b"], ["a", "a"]], settings) == [StopWord("a", 2, 0)]


def test_a_page_counts_once_however_often_it_holds_a_word() -> None:
    assert derive_stop_list([["a"] * 9, ["b"]], EVERY_WORD) == [StopWord("a", 1, 0), StopWord("b", 1, 0)]


def test_too_few_pages_give_no_stop_list() -> None:
    assert derive_stop_list([["a", "a"]] * 9) == []
    assert derive_stop_list([["a", "a"]] * 10) == [StopWord("a", 10, 0)]


def test_no_pages_give_no_stop_list() -> None:
    assert derive_stop_list([], EVERY_WORD) == []


def test_texts_are_cut_into_words_first() -> None:
    assert derive_stop_list(
        ["The cat.", "THE dog"], StopListSettings(min_page_share=1.0, min_term_frequency=1, min_pages=1)
    ) == [StopWord("the", 2, 0)]


def test_a_share_met_exactly_is_met() -> None:
    settings = StopListSettings(min_page_share=0.1, min_term_frequency=1, min_pages=1)
    pages = [["a"]] * 3 + [["b"]] * 27
    assert derive_stop_list(pages, settings) == [StopWord("b", 27, 0), StopWord("a", 3, 0)]


def test_a_builder_may_be_asked_between_pages() -> None:
    builder = StopListBuilder(EVERY_WORD)
    builder.add(["a"])
    assert builder.stop_list() == [StopWord("a", 1, 0)]
    builder.add(["b"])
    builder.add(["b"])
    assert builder.stop_list() == [StopWord("b", 2, 0)]
    assert builder.pages == 3


FORGETFUL = StopListSettings(min_page_share=0.4, min_term_frequency=1, min_pages=1, exact_words=2, max_missed_share=0.2)


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=5), max_size=60))
def test_forgetting_rare_words_never_loses_a_stop_word(pages: list[list[str]]) -> None:
    truth = Counter(word for page in pages for word in set(page))
    found = {stop.word: stop for stop in derive_stop_list(pages, FORGETFUL)}
    for word, count in truth.items():
        if count / len(pages) >= FORGETFUL.min_page_share:
            assert word in found


@given(st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=5), max_size=60))
def test_forgetting_rare_words_bounds_what_was_missed(pages: list[list[str]]) -> None:
    truth = Counter(word for page in pages for word in set(page))
    for stop in derive_stop_list(pages, FORGETFUL):
        assert stop.pages <= truth[stop.word] <= stop.pages + stop.missed
        assert stop.missed <= FORGETFUL.max_missed_share * len(pages)


def test_a_word_that_came_after_forgetting_carries_its_possible_loss() -> None:
    builder = StopListBuilder(FORGETFUL)
    for page in (["a"], ["a"], ["a"], ["a"], ["x", "y", "z"], *(["late"] for _ in range(6))):
        builder.add(page)
    assert builder.stop_list() == [StopWord("late", 6, 1)]


def test_memory_is_bounded_on_pages_of_ever_new_words() -> None:
    settings = StopListSettings(min_page_share=0.5, min_term_frequency=1, exact_words=100, max_missed_share=0.05)
    builder = StopListBuilder(settings)
    for page in range(2_000):
        builder.add(["the", *(f"w{page}-{i}" for i in range(10))])
    assert builder.words_held < 1_000
    assert builder.stop_list() == [StopWord("the", 2_000, 0)]


@pytest.mark.parametrize(
    "settings",
    [
        {"min_page_share": 0.0},
        {"min_page_share": 1.1},
        {"min_page_share": float("nan")},
        {"max_missed_share": 0.15},
        {"max_missed_share": 0.0},
        {"min_pages": 0},
        {"min_term_frequency": 0},
        {"exact_words": 0},
    ],
)
def test_settings_without_meaning_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match="expected"):
        StopListSettings(**settings)  # type: ignore[arg-type]
