"""Sentences: text parted where one ends, in any script; abbreviations, initials and numbers do not end one.

`sentencex` (MIT, by the Wikimedia language team, compiled) knows the abbreviations and full stops of some 300
languages. Its cost grows with the square of a text without blanks, so long texts are handed to it in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sentencex import segment

from webwinnow._kernels import ended_sentences

__all__ = ["folded_sentences", "is_sentence", "sentences"]

LONGEST_PIECE = 1_000
"""Characters handed over at a time (ours: 1,000 of Chinese without a blank take 0.3 ms, 32,000 would take 260)."""
LEAST_WORDS, LEAST_UNSPACED = 4, 8
"""Words, or characters of a script without blanks, that a sentence has at least (ours)."""

_PARTED = "\n\n"
"""What parts paragraphs; it comes back as it is."""
_ENDS = frozenset(".!?…。！？｡．؟۔।॥။።៕")
_CLOSES = "\"'’”»›)]」』）】"
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def sentences(paragraphs: Sequence[str], language: str = "en") -> list[tuple[int, str]]:
    """The sentences of some paragraphs in order, each with the number of its paragraph; white space is folded.

    Nothing is lost between them. All are handed over at once: a call costs more than a short paragraph. A single
    capital and a full stop (`M. Dupont`) end no sentence.
    """
    return folded_sentences([" ".join(paragraph.split()) for paragraph in paragraphs], language)


def folded_sentences(paragraphs: Sequence[str], language: str) -> list[tuple[int, str]]:
    """As `sentences`, of paragraphs whose white space is folded."""
    number: list[int] = []
    pieces: list[str] = []
    for k, text in enumerate(paragraphs):
        for piece in (text,) if len(text) <= LONGEST_PIECE else _pieces(text):
            if piece:
                number.append(k)
                pieces.append(piece)
    return ended_sentences(segment(language, _PARTED.join(pieces)), number, _PARTED) if pieces else []


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of bounded length, cut at a blank where there is one."""
    while len(text) > LONGEST_PIECE:
        at = text.rfind(". ", LONGEST_PIECE // 2, LONGEST_PIECE) + 1 or text.rfind(" ", 0, LONGEST_PIECE) + 1
        at = at or text.rfind("。", 0, LONGEST_PIECE) + 1 or LONGEST_PIECE
        yield text[:at]
        text = text[at:]
    yield text


def is_sentence(text: str) -> bool:
    """Whether a text reads like one: it ends like a sentence and is no mere word or label."""
    last = text[-1:]
    if last not in _ENDS and (last not in _CLOSES or text.rstrip(_CLOSES)[-1:] not in _ENDS):
        return False
    if text.count(" ") + 1 >= LEAST_WORDS:
        return True
    return not text.isascii() and len(_UNSPACED.findall(text)) >= LEAST_UNSPACED
