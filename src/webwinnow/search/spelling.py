"""Other spellings of the words of a query: stems by language, and near words of an index for words that it lacks."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final

STEMMERS: Final = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""The stemmers of tantivy (Snowball) by language."""
ONE_TYPO, TWO_TYPOS = 4, 8
"""Letters of a word from which one typo, and two, are looked for."""
MOST_SPELLINGS: Final = 3
"""Words of the index that stand in for a word that it lacks."""


@functools.cache
def _stemmer(name: str) -> Any:
    import tantivy  # noqa: PLC0415 (an optional extra)

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
    return builder.filter(tantivy.Filter.stemmer(name)).build()


def stems(found: Sequence[str], language: str | None) -> list[str]:
    """Return the stems of words in a language; the words themselves if there is no stemmer for it."""
    name = STEMMERS.get(language or "")
    if name is None or not found:
        return list(found)
    made: list[str] = _stemmer(name).analyze(" ".join(found))
    return made if len(made) == len(found) else list(found)


def near_words(word: str, known: Iterable[tuple[str, int]], most: int = MOST_SPELLINGS) -> list[str]:
    """Return the words among `known` (with their frequencies) that are a typo or two from `word`.

    Nearest first, then the most frequent. A typo is a letter too many, too few or other, or two that are swapped; words
    of fewer than four letters have none, those of fewer than eight one.
    """
    allowed = 0 if len(word) < ONE_TYPO else 1 if len(word) < TWO_TYPOS else 2
    if not allowed:
        return []
    letters = set(word)
    found = []
    for other, times in known:
        if abs(len(other) - len(word)) > allowed or len(letters.symmetric_difference(other)) > 2 * allowed:
            continue
        distance = typos(word, other, allowed)
        if distance <= allowed:
            found.append((distance, -times, other))
    found.sort()
    return [other for distance, _, other in found if distance == found[0][0]][:most]


def typos(one: str, other: str, most: int) -> int:
    """Return the typos between two words (optimal string alignment), or more than `most` if there are more."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, compared in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != compared))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == compared:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most and min(last) > most:
            return most + 1
        before, last = last, row
    return last[-1]
