"""Quality signals and the published rules."""

from __future__ import annotations

import random
import re

import numpy as np
import plain_textquality
import pytest
from growth import growth
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.record._textquality import count_tokens, token_hash, tokens
from webwinnow.record.textquality import (
    C4_LINE_WORDS,
    FINEWEB_QUALITY,
    GOPHER_QUALITY,
    GOPHER_REPETITION,
    SIGNALS,
    _combining_marks,
    _lines,
    _paragraphs,
    _sentences,
    broken_rule,
    c4_lines,
    signals_of,
)

WRITTEN = (
    "don't we'll N'T n't U.S. end.Next 3,000.5 a,b covid-19 state-of-art 1-2 10:30 http://a.example/b?c=d. x:y 1/2 "
    "and/or AT&T J. e.g. i.e.. 16GB 5pm 1st 10-core in-1 4mm- a\u2011b a_b ... -- … • # é e\u0301 कि word word the of "
    "Ann’s O'Neill ' 中文 ſ İ 𝔘"
)
PIECES = st.sampled_from([*WRITTEN.split(" "), "\n", " ", "\u00a0"])
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=60).map("".join)


def sentence(*words: str, times: int = 1) -> str:
    return " ".join(words * times) + "."


def essay(sentences: int = 12, letters: str = "abdefgiklmnorstu") -> str:
    """Different sentences of invented words between those of plain English, one per line."""
    chosen = random.Random(0)
    between = ["the", "of", "and", "that", "with"]

    def word() -> str:
        return "".join(chosen.choices(letters, k=chosen.randint(3, 8)))

    lines = []
    for _ in range(sentences):
        said = [chosen.choice(between) if chosen.random() < 0.3 else word() for _ in range(14)]
        lines.append(" ".join(said).capitalize() + ".")
    return "\n".join(lines)


@given(TEXTS)
def test_kernel_splits_and_counts_as_the_plain_version(text):
    stops = {"the", "of", "word"}
    keys = np.sort(np.array([token_hash(word) for word in stops], np.uint64))
    assert tokens(text, _combining_marks()) == plain_textquality.tokens(text)
    assert count_tokens(text, keys, _combining_marks()) == plain_textquality.count_tokens(text, stops)


def test_tokens_are_words_clitics_and_punctuation_marks():
    text = "Ann's dog can't run—see http://a.example/x, 3.5 (U.S.) ... well-known."
    found = [text[start:end] for start, end, _ in tokens(text, _combining_marks())]
    assert found == [
        *("Ann", "'s", "dog", "ca", "n't", "run", "—", "see", "http://a.example/x", ",", "3.5", "(", "U.S.", ")"),
        *("...", "well", "-", "known", "."),
    ]


def test_signals_of_a_text_computed_by_hand():
    found = signals_of("the cat sat\nthe cat sat\n\n# of ...")
    assert found is not None
    assert tuple(found) == SIGNALS
    assert found["words"] == 7  # and the tokens # and ...
    assert found["mean_word_length"] == round(20 / 7, 6)
    assert found["hash_ratio"] == found["ellipsis_ratio"] == round(1 / 9, 6)
    assert found["ellipsis_lines"] == 0.25
    assert found["stop_words"] == 2
    assert found["alphabetic_words"] == round(7 / 9, 6)
    assert found["duplicate_lines"] == round(1 / 3, 6)
    assert found["duplicate_line_characters"] == round(11 / 33, 6)
    assert found["duplicate_paragraphs"] == 0
    assert found["top_2gram"] == round(2 * len("the cat") / 33, 6)
    assert found["top_3gram"] == round(2 * len("the cat sat") / 33, 6)
    assert found["punctuated_lines"] == round(1 / 3, 6)
    assert found["short_lines"] == 1
    assert found["repeated_characters"] == round(11 / 30, 6)
    assert found["newline_ratio"] == round(3 / 9, 6)


def test_a_text_without_a_token_has_no_signals():
    assert signals_of(" \n ") is None
    assert broken_rule("gopher", "", None) == "gopher: no words"


def test_plain_prose_passes_all_rules():
    text = essay()
    assert broken_rule("fineweb", text, signals_of(text)) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (essay(3), "gopher: words below 50"),
        (essay() + "\n" + essay(), "gopher: duplicate_lines above 0.3"),
        (sentence("the", "of", *"abcdefgh", times=9), "gopher: top_2gram"),
        (essay(20).replace(" ", " #", 400), "gopher: hash_ratio above 0.1"),
        ("\n".join(f"- {line}" for line in essay().splitlines()), "gopher: bullet_lines above 0.9"),
        (essay().replace(".", "..."), "gopher: ellipsis_lines above 0.3"),
        (re.sub(r"\b(the|of|and|that|with)\b", lambda found: found[0].upper(), essay()), "gopher: stop_words below 2"),
    ],
)
def test_a_text_breaks_the_rule_that_it_was_made_for(text, rule):
    assert (broken_rule("gopher", text, signals_of(text)) or "").startswith(rule)
    assert broken_rule("none", text, signals_of(text)) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (essay() + "\nSee the { bracket } of that.", "c4: curly bracket"),
        (essay() + "\nThis is lorem ipsum dolor.", "c4: lorem ipsum"),
        (essay(4), "c4: sentences below 5"),
        (essay(40).replace(".", ""), "fineweb: punctuated_lines below 0.12"),
    ],
)
def test_fineweb_has_rules_that_gopher_does_not_have(text, rule):
    assert broken_rule("gopher", text, signals_of(text)) is None
    assert broken_rule("fineweb", text, signals_of(text)) == rule


def test_c4_leaves_out_short_lines_scripts_and_policies():
    text = essay(6)
    noise = "Home\nPlease enable JavaScript in that browser.\nRead the privacy policy of this site.\n"
    assert c4_lines(noise + text) == (None, text)


@given(st.text('ab.. !?,"।\u3000\n ', max_size=14))
def test_sentences_of_a_line_are_those_of_a_pattern(line):
    """The pattern says what is counted; it takes minutes for 4,000 characters of dots and spaces."""
    ends = re.findall(r"(?<!\.)[.!?।]+(?=\W*\s+\W*\w)", line)
    assert _sentences(line, 2 * C4_LINE_WORDS) == 1 + len(ends)
    assert _sentences(line, C4_LINE_WORDS) == 1


def test_c4_is_linear_in_dots_and_spaces():
    def call(size):
        return lambda: c4_lines("a b c d e f" + " ." * size)

    assert growth(call, 10_000, 100_000, 40) < 40


def test_stop_words_are_those_of_the_language():
    german = {"the": "der", "of": "von", "and": "und", "that": "das", "with": "mit"}
    text = re.sub(r"\b(the|of|and|that|with)\b", lambda found: german[found[0]], essay())
    assert broken_rule("gopher", text, signals_of(text, "de"), "de") is None
    assert broken_rule("gopher", text, signals_of(text, "en"), "en") == "gopher: stop_words below 2"


def test_rules_on_words_do_not_apply_where_words_are_not_separated():
    text = "。\n".join(f"第{k}行說明一個城市的歷史與文化並且描述它的河流和橋樑" for k in range(8)) + "。"
    assert broken_rule("gopher", text, signals_of(text, "zh"), "zh") is None
    assert broken_rule("gopher", text + "\n" + text, signals_of(text + "\n" + text, "zh"), "zh") is not None


def test_every_rule_is_about_a_signal():
    assert {rule.signal for rule in (*GOPHER_QUALITY, *GOPHER_REPETITION, *FINEWEB_QUALITY)} <= set(SIGNALS)


@given(st.lists(st.sampled_from(["a", "b", " ", "\n", "\n\n", "\n\n\n"]), max_size=12).map("".join))
def test_lines_and_paragraphs_are_those_of_the_patterns(text):
    assert _lines(text) == re.split("\n+", text) or not text.strip("\n")
    assert _paragraphs(text) == re.split("\n{2,}", text.strip()) or not text.strip()
