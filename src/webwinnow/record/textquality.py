r"""Quality signals of a text and the published rules that drop pages by them: Gopher's, C4's and FineWeb's.

- Gopher: Rae et al. 2021 (arXiv:2112.11446), appendix A.1, quality rules and repetition rules (Table A1).
- C4: Raffel et al. 2020, as FineWeb applies them, which is without the rule on the ends of lines.
- FineWeb: Penedo et al. 2024 (arXiv:2406.17557), section 3.6.

The papers do not define a word. A token here is a word (with its inner dots, digits, apostrophes), an English clitic
(`n't`, `'s`) or a punctuation mark, as in the tokenizer that FineWeb's own code uses; a word is a token with letters or
digits. `benchmarks/quality_rules.py` compares the decisions with those of that code.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.words import DEFAULT_LANGUAGE, stop_words
from webwinnow.record._textquality import count_tokens, token_hash

QualityRules = Literal["none", "gopher", "fineweb"]
"""Rules by which pages are dropped; those of FineWeb include Gopher's."""
RULES: Final[tuple[QualityRules, ...]] = ("none", "gopher", "fineweb")

TOP_SIZES: Final = (2, 3, 4)
REPEATED_SIZES: Final = (5, 6, 7, 8, 9, 10)
SIGNALS: Final = (
    "words",
    "mean_word_length",
    "hash_ratio",
    "ellipsis_ratio",
    "bullet_lines",
    "ellipsis_lines",
    "alphabetic_words",
    "stop_words",
    "duplicate_paragraphs",
    "duplicate_paragraph_characters",
    "duplicate_lines",
    "duplicate_line_characters",
    *(f"top_{n}gram" for n in TOP_SIZES),
    *(f"duplicate_{n}grams" for n in REPEATED_SIZES),
    "punctuated_lines",
    "short_lines",
    "repeated_characters",
    "newline_ratio",
)
"""Names of the signals: counts of words and of different stop words, a mean, and shares."""
DIGITS: Final = 6
"""Decimal places of a signal; rules compare the rounded value, so that a record's signals explain its outcome."""

GOPHER_STOP_WORDS: Final = ("the", "be", "to", "of", "and", "that", "have", "with")
"""The words of which an English text has two or more; in lower case only, as in FineWeb's code."""
UNSPACED: Final = frozenset({"zh", "ja", "th", "lo", "km", "my"})
"""Languages without blanks between words: rules on words do not apply to them."""
SHORT_LINE: Final = 30
"""Characters of a short line (FineWeb)."""

_BULLETS: Final = ("•", "-")
_ELLIPSES: Final = ("...", "…")
_ENDS: Final = "!.?։؝؞؟۔܀܁܂߹࠷࠹࠽࠾।॥၊။።፧፨᙮᜵᜶។៕៖៙៚᠃᠉᥄᥅᪨᪩᪪᪫᭚᭛᭞᭟᭽᭾᰻᰼᱾᱿‼‽⁇⁈⁉⸮⸼⹓⹔。꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧈꧉꩝꩞꩟꫰꫱꯫﹒﹖﹗！．？｡"
_TERMINAL: Final = frozenset(_ENDS)
"""Sentence_Terminal of the Unicode Character Database, in the Basic Multilingual Plane."""

Signals = dict[str, float]


class Rule(NamedTuple):
    """The values of a signal that a page may have: not below `least`, not above `most`."""

    signal: str
    least: float | None = None
    most: float | None = None

    def broken_by(self, signals: Signals) -> str | None:
        """How a page breaks the rule; None if it does not."""
        value = signals[self.signal]
        if self.least is not None and value < self.least:
            return f"{self.signal} below {self.least:g}"
        if self.most is not None and value > self.most:
            return f"{self.signal} above {self.most:g}"
        return None


GOPHER_REPETITION: Final = (
    Rule("duplicate_paragraphs", most=0.3),
    Rule("duplicate_paragraph_characters", most=0.2),
    Rule("duplicate_lines", most=0.3),
    Rule("duplicate_line_characters", most=0.2),
    Rule("top_2gram", most=0.2),
    Rule("top_3gram", most=0.18),
    Rule("top_4gram", most=0.16),
    Rule("duplicate_5grams", most=0.15),
    Rule("duplicate_6grams", most=0.14),
    Rule("duplicate_7grams", most=0.13),
    Rule("duplicate_8grams", most=0.12),
    Rule("duplicate_9grams", most=0.11),
    Rule("duplicate_10grams", most=0.1),
)
"""Gopher, Table A1."""
GOPHER_QUALITY: Final = (
    Rule("words", 50, 100_000),
    Rule("mean_word_length", 3, 10),
    Rule("hash_ratio", most=0.1),
    Rule("ellipsis_ratio", most=0.1),
    Rule("bullet_lines", most=0.9),
    Rule("ellipsis_lines", most=0.3),
    Rule("alphabetic_words", 0.8),
    Rule("stop_words", 2),
)
"""Gopher, A.1.1, quality filtering."""
FINEWEB_QUALITY: Final = (
    Rule("punctuated_lines", 0.12),
    Rule("short_lines", most=0.67),
    Rule("repeated_characters", most=0.01),
    Rule("newline_ratio", most=0.3),
)
"""FineWeb's custom rules; its paper gives the first three, its code the fourth."""
_LINE_RULES: Final = frozenset({"duplicate_paragraphs", "duplicate_paragraph_characters", "duplicate_lines"}) | {
    "duplicate_line_characters",
    "bullet_lines",
    "ellipsis_lines",
    "punctuated_lines",
    "repeated_characters",
}
"""Signals that do not depend on words, so that they also judge languages without blanks."""


# Signals


def signals_of(text: str, language: str | None = None) -> Signals | None:
    """The signals of a text by the names in `SIGNALS`; None for a text without a token.

    Outside English the stop words are those of the language (`webwinnow.page.words.stop_words`).
    """
    stops = _stop_keys((language or DEFAULT_LANGUAGE).partition("-")[0].lower())
    tokens, words, characters, alphabetic, stops_met, tops, repeats = count_tokens(text, stops, _marks(text))
    if not tokens:
        return None
    length = len(text)
    paragraphs = _paragraphs(text)
    paragraphs_again, paragraph_characters = _duplicates(paragraphs)
    lines = _lines(text)
    lines_again, line_characters = _duplicates(lines)
    said = [line for line in lines if line and not line.isspace()]
    _, said_characters = (0, line_characters) if len(said) == len(lines) else _duplicates(said)
    ellipses = text.count("...") + text.count("…")
    ended = sum([line[-1] in _TERMINAL for line in said])
    short = sum([len(line) <= SHORT_LINE for line in said])
    newlines = text.count("\n")
    all_lines = newlines + (not text.endswith("\n"))
    found = (
        words,
        characters / max(words, 1),
        text.count("#") / tokens,
        ellipses / tokens,
        sum([line.lstrip().startswith(_BULLETS) for line in said]) / all_lines,
        (sum([line.rstrip().endswith(_ELLIPSES) for line in said]) if ellipses else 0) / all_lines,
        alphabetic / tokens,
        stops_met,
        paragraphs_again / len(paragraphs),
        paragraph_characters / length,
        lines_again / len(lines),
        line_characters / length,
        *(top / length for top in tops),
        *(repeat / length for repeat in repeats),
        ended / len(said),
        short / len(said),
        said_characters / (length - newlines),
        newlines / tokens,
    )
    return {name: round(value, DIGITS) for name, value in zip(SIGNALS, found, strict=True)}


def _paragraphs(text: str) -> list[str]:
    """The pieces between two or more line breaks."""
    pieces = text.strip().split("\n\n")
    return [piece.lstrip("\n") for piece in pieces if piece]


def _lines(text: str) -> list[str]:
    """The pieces between line breaks, of which several count as one; empty at a break that begins or ends the text."""
    lines = [line for line in text.split("\n") if line]
    return [*([""] * text.startswith("\n")), *lines, *([""] * text.endswith("\n"))]


def _duplicates(pieces: list[str]) -> tuple[int, int]:
    """Pieces that occurred before, and their characters."""
    again = len(pieces) - len(set(pieces))
    if not again:
        return 0, 0
    known: set[str] = set()
    characters = 0
    for piece in pieces:
        if piece in known:
            characters += len(piece)
        known.add(piece)
    return again, characters


@functools.lru_cache(maxsize=64)
def _stop_keys(language: str) -> NDArray[np.uint64]:
    """The hashes of the stop words of a language, ascending."""
    found: Iterable[str] = GOPHER_STOP_WORDS if language == DEFAULT_LANGUAGE else stop_words(language)
    return np.sort(np.array([token_hash(word) for word in found], np.uint64))


_NO_MARKS: Final = np.zeros(0, np.uint8)


def _marks(text: str) -> NDArray[np.uint8]:
    return _NO_MARKS if text.isascii() else _combining_marks()


@functools.cache
def _combining_marks() -> NDArray[np.uint8]:
    """Which characters of the Basic Multilingual Plane are combining marks; collected on first use."""
    return np.fromiter((unicodedata.category(chr(code)).startswith("M") for code in range(0x10000)), np.uint8, 0x10000)


# Rules


def broken_rule(rules: QualityRules, text: str, signals: Signals | None, language: str | None = None) -> str | None:
    """The first rule that a text breaks, as in `gopher: words below 50`; None if it breaks none.

    `signals` are those of the text. As in FineWeb's pipeline, its rules judge the lines that C4's rules leave.
    """
    if rules == "none":
        return None
    if signals is None:
        return f"{rules}: no words"
    words_count = (language or DEFAULT_LANGUAGE).partition("-")[0].lower() not in UNSPACED
    gopher = _broken((*GOPHER_REPETITION, *GOPHER_QUALITY), signals, language, words_count)
    if gopher is not None:
        return f"gopher: {gopher}"
    if rules == "gopher":
        return None
    broken, left = c4_lines(text, words_count=words_count)
    if broken is not None:
        return f"c4: {broken}"
    signals = signals if left == text else signals_of(left, language)
    if signals is None:
        return "fineweb: no words"
    fineweb = _broken(FINEWEB_QUALITY, signals, language, words_count)
    return None if fineweb is None else f"fineweb: {fineweb}"


def _broken(rules: Iterable[Rule], signals: Signals, language: str | None, words_count: bool) -> str | None:
    for rule in rules:
        if not words_count and rule.signal not in _LINE_RULES:
            continue
        if rule.signal == "stop_words" and not len(
            _stop_keys((language or DEFAULT_LANGUAGE).partition("-")[0].lower())
        ):
            continue  # a language without a list
        broken = rule.broken_by(signals)
        if broken is not None:
            return broken
    return None


C4_LINE_WORDS: Final = 3
C4_WORD_LENGTH: Final = 1000
C4_SENTENCES: Final = 5
"""A line that C4 keeps has three words or more, none of them over 1,000 characters; a page five sentences or more."""
_CITATION: Final = re.compile(r"\[\d*]|\[edit]|\[citation needed]")
_POLICIES: Final = ("terms of use", "privacy policy", "cookie policy", "uses cookies", "use of cookies", "use cookies")
_GAP: Final = re.compile(rf"([{_ENDS}]\W*)(\w?)")
"""What is between two words, from its first end of a sentence on; the next word is missing at the end of a line."""
_SENTENCE_END: Final = re.compile(rf"[{_ENDS}]+")


def c4_lines(text: str, *, words_count: bool = True) -> tuple[str | None, str]:
    """The rule of C4 that a text breaks, if any, and the lines that C4 keeps of it."""
    kept: list[str] = []
    sentences = 0
    for line, count in _lines_with_words(text, words_count):
        lower = line.lower()
        if "lorem ipsum" in lower:
            return "lorem ipsum", text
        if "javascript" in lower:
            continue
        if "{" in line:
            return "curly bracket", text
        if any(policy in lower for policy in _POLICIES):
            continue
        if sentences < C4_SENTENCES:
            sentences += _sentences(line, count)
        kept.append(line)
    if sentences < C4_SENTENCES:
        return f"sentences below {C4_SENTENCES}", text
    return None, "\n".join(kept).strip()


def _lines_with_words(text: str, words_count: bool) -> Iterator[tuple[str, int]]:
    """The lines of at least three words, none of them too long, without citations; with the number of words."""
    for given in text.splitlines():
        line = given.strip()
        count = len(line.split())
        if words_count and count < C4_LINE_WORDS:
            continue
        if len(line) > C4_WORD_LENGTH and any(len(word) > C4_WORD_LENGTH for word in line.split()):
            continue
        yield (_CITATION.sub("", line) if "[" in line else line), count


def _sentences(line: str, words: int) -> int:
    """The sentences of a line: signs that end one count if a space comes before the next word, side by side once."""
    return 1 if words < 2 * C4_LINE_WORDS else 1 + sum(_ends(gap) for gap, word in _GAP.findall(line) if word)


def _ends(gap: str) -> int:
    before_space = gap.split()
    if not gap[-1].isspace():
        before_space.pop()
    return sum(len(_SENTENCE_END.findall(signs)) for signs in before_space)
