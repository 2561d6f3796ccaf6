"""The abstract of a page (DocView 6): key sentences, from every paragraph its share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from sentencex import segment

from webwinnow._words import word_spans
from webwinnow.docview._view import (
    by_quota,
    distinct_sentences,
    ended_sentences,
    folded_units,
    keyword_sums,
    likely_runs,
    paragraph_sizes,
    telling_units,
    text_units,
)
from webwinnow.docview.tagtree import TagTree
from webwinnow.markup import TAG_CODE
from webwinnow.pagetree import PageTree

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


UNITS_PER_SENTENCE = 2
MOST_UNITS = 30
"""Units of text (paragraphs, items) in which key sentences are looked for: two for each of 15 sentences (ours)."""
LIKELY, LIKELY_SHARE = 0.7, 0.1
"""Text that is content with this probability gives the abstract, if it has this share of the kept words. On two folds
of `benchmarks/docview.py --held-out`, 0.5 with 0.3 put 0.922 of the sentences into the true text, 0.7 with 0.15 and
0.05 0.932 and 0.936, 0.9 no more than that."""
MOST_CHARACTERS = 200_000
"""Of a longer page only so much is looked at for sentences (ours)."""


@dataclass(frozen=True, slots=True, eq=False)
class KeySentences:
    """The sentences of a page's topic content in page order: text, weight, paragraph; and each paragraph's terms."""

    texts: list[str]
    weight: NDArray[np.float64]
    paragraph: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        blocks: TagTree,
        kept: NDArray[np.bool_],
        keyword: NDArray[np.uint64],
        keyword_weight: NDArray[np.float64],
        language: str,
        likely: NDArray[np.float32] | None = None,
        units: int = MOST_UNITS,
    ) -> KeySentences:
        """Find and weigh the sentences of the kept runs: a sentence weighs what the keywords in it do.

        `keyword` is ascending; sentences are looked for in so many `units` of text, those that hold most of them.
        `likely`, where a cleaner knows it, is the chance of each node to be content: unlikely text is left out unless
        it is nearly all, and of two sentences the likelier one is taken first (ours).
        """
        tree = blocks.tree
        if likely is not None:
            kept = likely_runs(kept, likely, tree.run_owner, blocks.word_run, LIKELY, LIKELY_SHARE)
        unit = text_units(tree.tag, TAG_CODE["br"], blocks.node, tree.run_before, blocks.of_run)
        telling = telling_units(unit, kept, blocks.word_run, blocks.word_key, keyword, units)
        texts, runs = _sentences_in(tree, unit, telling, language)
        if not texts:
            texts, runs = _sentences_in(tree, unit, np.flatnonzero(kept), language, lines=True)
        if not texts:
            return cls([], np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        paragraph, sizes = paragraph_sizes(
            blocks.block_of_word, blocks.word_run, kept, blocks.parent, blocks.of_run[runs]
        )
        weight = _weights(texts, keyword, keyword_weight)
        if likely is not None:
            weight = weight * likely[tree.run_owner[runs]]
        return cls(texts, np.round(weight, 9), paragraph, sizes)

    def chosen(self, most: int) -> list[str]:
        """The heaviest sentences of each paragraph by its quota, `most` in all, in page order."""
        return [self.texts[k] for k in by_quota(self.weight, self.paragraph, self.sizes, most)]


def _sentences_in(
    tree: PageTree, unit: NDArray[np.int64], runs: NDArray[np.intp], language: str, *, lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    """The sentences of some runs, each once, and the first run of the unit of text that each stands in.

    Headings, labels and the like are none; with `lines` they count too.
    """
    said, first = folded_units(tree.text, tree.run_start, unit, runs)
    if first and len(tree.text) > MOST_CHARACTERS:
        lengths = np.add.reduceat(tree.run_start[runs + 1] - tree.run_start[runs], first)
        said = said[: int(np.searchsorted(np.cumsum(lengths), MOST_CHARACTERS, side="right")) or 1]
    found = distinct_sentences(folded_sentences(said, language), is_sentence, LEAST_WORDS, lines)
    return list(found), runs[np.array(first, np.intp)[list(found.values())]]


def _weights(texts: list[str], keyword: NDArray[np.uint64], keyword_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of the keywords in each text, each counted once."""
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
    key, sentence, _, _ = word_spans("".join(texts), starts, np.ones(len(texts), np.bool_))
    return keyword_sums(key, sentence, len(texts), keyword, keyword_weight)
