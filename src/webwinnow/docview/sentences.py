"""Sentences: text parted where one ends, in any script; abbreviations, initials and numbers do not end one.

`sentencex` (MIT, by the Wikimedia language team, compiled) knows the abbreviations and full stops of some 300
languages. Its cost grows with the square of a text without blanks, so long texts are handed to it in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import segment

__all__ = ["is_sentence", "sentences"]

LONGEST_PIECE = 1_000
"""Characters handed over at a time (ours: 1,000 of Chinese without a blank take 0.3 ms, 32,000 would take 260)."""
LEAST_WORDS, LEAST_UNSPACED = 4, 8
"""Words, or characters of a script without blanks, that a sentence has at least (ours)."""

_ENDS = re.compile(r"""[.!?…。！？｡．؟۔।॥။።៕]["'’”»›)\]」』）】]*$""")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def sentences(text: str, language: str = "en") -> list[str]:
    """The sentences of a paragraph in order, white space folded; nothing is lost between them."""
    text = " ".join(text.split())
    found = []
    for piece in _pieces(text):
        found.extend(stripped for sentence in segment(language, piece) if (stripped := sentence.strip()))
    return found


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, cut at a blank where there is one."""
    while len(text) > LONGEST_PIECE:
        at = text.rfind(". ", LONGEST_PIECE // 2, LONGEST_PIECE) + 1 or text.rfind(" ", 0, LONGEST_PIECE) + 1
        at = at or text.rfind("。", 0, LONGEST_PIECE) + 1 or LONGEST_PIECE
        yield text[:at]
        text = text[at:]
    if text:
        yield text


def is_sentence(text: str) -> bool:
    """Whether a text reads like one: it ends like a sentence and is no mere word or label."""
    if _ENDS.search(text) is None:
        return False
    return text.count(" ") + 1 >= LEAST_WORDS or len(_UNSPACED.findall(text)) >= LEAST_UNSPACED
