"""Tokens and repetitions of a text, by regular expressions and lists: the slow version of `record/_textquality.pyx`."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

UNITS = "[mgtTGMK]|[kmcdnap]m|[kKMGT]B|[kKMGTgtml]b|[km]g|oz|in|ft"
SPLIT = frozenset(",:;!?()[]{}<>_#*&'\"`")
JOINED = frozenset("\xd7\u2032\u2033\xad\u200b\u2022\xb7")
HYPHENS = "-\u2013\u2014~"
ABBREVIATIONS = frozenset(
    (
        "vs Mr Mrs Ms Dr St Jr Inc Co co Corp Ltd Prof Rev Gen Gov Sen Rep Bros Mt Messrs "
        "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec"
    ).split()
)
CLITICS = ("s", "m", "d", "ll", "re", "ve")


def in_word(character: str) -> bool:
    return unicodedata.category(character)[0] in "LN" or (
        unicodedata.category(character)[0] == "M" and ord(character) < 0x10000
    )


def _clitic(text: str, at: int) -> int:
    found = re.match(r"[^\W\d_]+", text[at + 1 :])
    for clitic in CLITICS:
        end = at + 1 + len(clitic)
        if text[at + 1 : end].lower() == clitic and not (end < len(text) and in_word(text[end])):
            return end if found else 0
    return 0


def _is_digit(character: str) -> bool:
    return character in "0123456789" and character != ""


def _splits(sign: str) -> bool:
    return sign in SPLIT if ord(sign) < 128 else sign not in JOINED


def _opens(sign: str, after: str) -> bool:
    return _splits(sign) or sign in "%=$" or (sign == "+" and not _is_digit(after))


def _closes(sign: str, before: str) -> bool:
    return _splits(sign) or sign == "." or (sign in "%$+" and _is_digit(before))


def _joins(text: str, start: int, at: int) -> int:
    """1 if the sign at `at` joins what is before and after it to one word, 0 if not, -1 if n't is split off."""
    joint, before, after = text[at], text[at - 1], text[at + 1]
    if joint == ".":
        return not (after.isupper() and before.isalpha() and not before.isupper())
    if joint == ",":
        return not (before.isalpha() and after.isalpha())
    if joint in ":/=<>":
        return not after.isalpha()
    if joint in HYPHENS:
        return not ((before.isalpha() and after.isalpha()) or (joint == "-" and not before.isalpha()))
    if joint in "'’":
        if _clitic(text, at):
            return 0
        is_not = before in "nN" and after in "tT" and not (at + 2 < len(text) and in_word(text[at + 2]))
        return -1 if is_not and at - 1 > start else 1
    if joint in "+*^":
        return not (_is_digit(before) and _is_digit(after))
    return joint != "\u2026"


def _is_abbreviation(word: str) -> bool:
    if word[-1].isupper() and word[-1].isalpha():
        return len(word) == 1 or not word[-2].isupper()
    if word in ABBREVIATIONS:
        return True
    return len(word) == 3 and word[1] == "." and word[0].isalpha() and word[2].isalpha()


def _word_end(text: str, start: int) -> int:
    at = start
    while True:
        while at < len(text) and in_word(text[at]):
            at += 1
        if text[at : at + 3] == "://":
            end = re.compile(r"\S*").match(text, at).end()  # type: ignore[union-attr]
            while end > at + 1 and not in_word(text[end - 1]) and text[end - 1] != "/":
                end -= 1
            return end
        stop = at
        while stop < len(text) and not in_word(text[stop]) and not text[stop].isspace():
            stop += 1
        if stop == len(text) or text[stop].isspace():
            if text[at : at + 1] == "." and text[at + 1 : at + 2] != "." and _is_abbreviation(text[start:at]):
                return at + 1
            while stop > at and _closes(text[stop - 1], text[stop - 2]):
                stop -= 1
            return stop
        signs = text[at:stop]
        if len(signs) > 1:
            dots = ".." in signs or "\u2026" in signs
            if dots or (text[at - 1].isalpha() and text[stop].isalpha() and set(signs) <= set("-\u2014")):
                return at
            at = stop
            continue
        joins = _joins(text, start, at)
        if joins < 1:
            return at + joins
        at += 1


def _before_unit(text: str, start: int, end: int) -> int:
    unit = re.fullmatch(rf"(?s)(.*[0-9])(?:{UNITS})", text[start:end])
    return start + len(unit[1]) if unit and not any(map(str.isalpha, unit[1])) else end


def tokens(text: str) -> list[tuple[int, int, bool]]:
    found, at = [], 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        dots = re.compile(r"\.\.+").match(text, at)
        begins = at == 0 or text[at - 1].isspace() or (not in_word(text[at - 1]) and _opens(text[at - 1], text[at]))
        if in_word(text[at]):
            end, is_word = _before_unit(text, at, _word_end(text, at)), True
            if re.fullmatch("[cC]annot", text[at : _word_end(text, at)]):
                end = at + 3
        elif text[at] in "'’" and at and in_word(text[at - 1]) and _clitic(text, at):
            end, is_word = _clitic(text, at), True
        elif dots:
            end, is_word = dots.end(), False
        elif begins and not _opens(text[at], text[at + 1 : at + 2]):
            end = at + 1
            while end < len(text) and not in_word(text[end]) and not text[end].isspace():
                if _opens(text[end], text[end + 1 : end + 2]):
                    break
                end += 1
            is_word = end < len(text) and in_word(text[end])
            end = _word_end(text, end) if is_word else end
        elif text[at] == "-":
            end, is_word = re.compile("-+").match(text, at).end(), False  # type: ignore[union-attr]
        else:
            end, is_word = at + 1, False
        found.append((at, end, is_word))
        at = end
    return found


def count_tokens(text: str, stops: set[str]) -> tuple[int, int, int, int, int, tuple[int, ...], tuple[int, ...]]:
    found = [(text[start:end], is_word) for start, end, is_word in tokens(text)]
    everything = [token for token, _ in found]
    words = [token for token, is_word in found if is_word]
    alphabetic = sum(any(character.isalpha() for character in token) for token in everything)
    tops = tuple(_top(everything, n) for n in (2, 3, 4))
    repeats = tuple(_repeated(everything, n) for n in (5, 6, 7, 8, 9, 10))
    return len(found), len(words), len("".join(words)), alphabetic, len(stops & set(words)), tops, repeats


def _top(given: list[str], n: int) -> int:
    grams = Counter(" ".join(given[k : k + n]) for k in range(len(given) - n + 1))
    if not grams:
        return 0
    gram, times = grams.most_common(1)[0]
    return len(gram) * times


def _repeated(given: list[str], n: int) -> int:
    known, characters, k = set(), 0, 0
    while k <= len(given) - n:
        gram = tuple(given[k : k + n])
        if gram in known:
            characters += len("".join(gram))
            k += n
        else:
            known.add(gram)
            k += 1
    return characters
