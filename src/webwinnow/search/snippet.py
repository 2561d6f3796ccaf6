"""`Snippet`: the stretch of a text that holds most of a query's words, with where they stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Snippet", "snippet"]

SNIPPET_CHARACTERS = 200
MOST_MARKS = 500
"""Places of words that are looked at; a text that holds more is shown by those."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Snippet:
    """`marks`: the spans of `text` that are words of the query."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


def snippet(text: str, said: Sequence[str], length: int = SNIPPET_CHARACTERS) -> Snippet:
    """The stretch with most different words of `said`, the first of equals; the beginning where there are none."""
    text = _BLANKS.sub(" ", text).strip()
    spans = _places(text, said)
    best, held, start = 0, 0, 0
    counts: dict[str, int] = {}
    for k, (_, end, word) in enumerate(spans):
        counts[word] = counts.get(word, 0) + 1
        while end - spans[held][0] > length - length // 5:
            gone = spans[held][2]
            counts[gone] -= 1
            if not counts[gone]:
                del counts[gone]
            held += 1
            if held > k:
                break
        if len(counts) > best:
            best, start = len(counts), spans[held][0]
    begin = _at_blank(text, max(0, start - length // 5), start)
    end = len(text) if begin + length >= len(text) else max(text.rfind(" ", begin, begin + length), begin + length // 2)
    shown = text[begin:end]
    before, after = "… " if begin else "", " …" if end < len(text) else ""
    marks = tuple((a - begin + len(before), b - begin + len(before)) for a, b, _ in spans if a >= begin and b <= end)
    return Snippet(before + shown + after, marks)


def _places(text: str, said: Sequence[str]) -> list[tuple[int, int, str]]:
    """Where words of the query stand, as far as their spelling is the same but for case."""
    if not said:
        return []
    parts = sorted(set(said), key=lambda word: (-len(word), word))
    pattern = re.compile(
        "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in parts), re.IGNORECASE
    )
    found = []
    for match in pattern.finditer(text):
        found.append((match.start(), match.end(), match.group().casefold()))
        if len(found) >= MOST_MARKS:
            break
    return found


def _at_blank(text: str, at: int, latest: int) -> int:
    """The first beginning of a word from `at` on, not after `latest`."""
    if at == 0:
        return 0
    blank = text.find(" ", at - 1, latest)
    return blank + 1 if blank >= 0 else at
