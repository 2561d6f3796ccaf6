"""The abstract of a page (DocView 6): key sentences, from every paragraph its share."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import word_spans
from webwinnow.docview.sentences import LEAST_WORDS, is_sentence, sentences
from webwinnow.docview.tagtree import TagTree
from webwinnow.markup import TAG_CODE
from webwinnow.pagetree import PageTree

__all__ = ["MOST_UNITS", "UNITS_PER_SENTENCE", "KeySentences", "paragraphs", "quotas", "topic_root"]

UNITS_PER_SENTENCE = 2
MOST_UNITS = 30
"""Units of text (paragraphs, items) in which key sentences are looked for: two for each of 15 sentences (ours)."""
LIKELY, LIKELY_SHARE = 0.7, 0.1
"""Text that is content with this probability gives the abstract, if it has this share of the kept words. On two folds
of `benchmarks/docview.py --held-out`, 0.5 with 0.3 put 0.922 of the sentences into the true text, 0.7 with 0.15 and
0.05 0.932 and 0.936, 0.9 no more than that."""
MOST_CHARACTERS = 200_000
"""Of a longer page only so much is looked at for sentences (ours)."""


def topic_root(parent: NDArray[np.int32], leaves: NDArray[np.intp]) -> int:
    """The block that exactly embeds all leaves of the topic content tree: their lowest common ancestor.

    Leaves come in page order; then the first and the last have the same lowest common ancestor as all.
    """
    above, block = set(), int(leaves[0])
    while block >= 0:
        above.add(block)
        block = int(parent[block])
    block = int(leaves[-1])
    while block not in above:
        block = int(parent[block])
    return block


def paragraphs(parent: NDArray[np.int32], leaves: NDArray[np.intp]) -> NDArray[np.int64]:
    """For each leaf its paragraph: the son of the topic root that holds it; the root for text directly in the root."""
    root = topic_root(parent, leaves)
    sons = np.flatnonzero(parent == root)
    at = np.searchsorted(sons, leaves, side="right") - 1
    return np.where(at >= 0, sons[at], root) if len(sons) else np.full(len(leaves), root, np.int64)


def quotas(sizes: NDArray[np.int64], available: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """How many of the wanted sentences each paragraph gives: by its size, no more than it has.

    The paper says "according to the size of each paragraph"; ours: one after the other to where it stands for the most
    terms (the rule of d'Hondt).
    """
    if int(available.sum()) <= wanted:
        return available.copy()
    turn = np.arange(1, wanted + 1)
    claim = np.where(turn <= available[:, None], sizes[:, None] / turn, -1.0).ravel()
    first = np.argsort(-claim, kind="stable")[:wanted]
    return np.bincount(first // max(wanted, 1), minlength=len(sizes))


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
        if likely is not None:
            kept = _likely_runs(blocks, kept, likely)
        unit = _units(blocks)
        texts, runs = _sentences_in(blocks.tree, unit, _telling_runs(blocks, unit, kept, keyword, units), language)
        if not texts:
            texts, runs = _sentences_in(blocks.tree, unit, np.flatnonzero(kept), language, lines=True)
        if not texts:
            return cls([], np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        terms = np.bincount(blocks.block_of_word[kept[blocks.word_run]], minlength=len(blocks))
        block = blocks.of_run[runs]
        terms[block] = np.maximum(terms[block], 1)
        leaves = np.flatnonzero(terms)
        names, paragraph = np.unique(paragraphs(blocks.parent, leaves), return_inverse=True)
        sizes = np.bincount(paragraph, weights=terms[leaves], minlength=len(names)).astype(np.int64)
        weight = _weights(texts, keyword, keyword_weight)
        if likely is not None:
            weight = weight * likely[blocks.tree.run_owner[runs]]
        return cls(texts, np.round(weight, 9), paragraph[np.searchsorted(leaves, block)], sizes)

    def chosen(self, most: int) -> list[str]:
        """The heaviest sentences of each paragraph by its quota, `most` in all, in page order."""
        if not self.texts:
            return []
        available = np.bincount(self.paragraph, minlength=len(self.sizes))
        given = quotas(self.sizes, available, most)
        order = np.lexsort((np.arange(len(self.texts)), -self.weight, self.paragraph))
        first = np.concatenate(([0], np.cumsum(available)))[self.paragraph[order]]
        rank = np.arange(len(order)) - first
        return [self.texts[k] for k in np.sort(order[rank < given[self.paragraph[order]]]).tolist()]


def _units(blocks: TagTree) -> NDArray[np.int64]:
    """For each run the number of its unit of text: runs that no container and no line break parts."""
    tree = blocks.tree
    parts = tree.tag == TAG_CODE["br"]
    parts[blocks.node] = True
    opened = np.cumsum(parts)[np.maximum(tree.run_before, 1) - 1]
    changes = (opened[1:] != opened[:-1]) | (blocks.of_run[1:] != blocks.of_run[:-1])
    return np.concatenate(([0], np.cumsum(changes)))[: tree.run_count]


def _likely_runs(blocks: TagTree, kept: NDArray[np.bool_], likely: NDArray[np.float32]) -> NDArray[np.bool_]:
    """The kept runs that are likely content, if they have enough of the words; all of them if not."""
    sure = kept & (likely[blocks.tree.run_owner] >= LIKELY)
    words = blocks.word_run
    enough = np.count_nonzero(sure[words]) >= LIKELY_SHARE * np.count_nonzero(kept[words])
    return sure if enough else kept


def _telling_runs(
    blocks: TagTree, unit: NDArray[np.int64], kept: NDArray[np.bool_], keyword: NDArray[np.uint64], most: int
) -> NDArray[np.intp]:
    """The kept runs of the units of text that hold most keywords: no more than `most` units."""
    at = np.flatnonzero(kept[blocks.word_run])
    if not len(keyword) or not len(at):
        return np.zeros(0, np.intp)
    key = blocks.word_key[at]
    hits = keyword[np.minimum(np.searchsorted(keyword, key), len(keyword) - 1)] == key
    count = np.bincount(unit[blocks.word_run[at[hits]]], minlength=int(unit[-1]) + 1)
    if np.count_nonzero(count) > most:
        count[np.argsort(-count, kind="stable")[most:]] = 0
    return np.flatnonzero(kept & (count > 0)[unit])


def _sentences_in(
    tree: PageTree, unit: NDArray[np.int64], runs: NDArray[np.intp], language: str, *, lines: bool = False
) -> tuple[list[str], NDArray[np.int64]]:
    """The sentences of some runs, each once, and the first run of the unit of text that each stands in.

    Headings, labels and the like are none; with `lines` they count too.
    """
    unit = unit[runs]
    bounds = [0, *(np.flatnonzero(unit[1:] != unit[:-1]) + 1).tolist(), len(runs)] if len(runs) else []
    starts, ends, text = tree.run_start[runs].tolist(), tree.run_start[runs + 1].tolist(), tree.text
    said = [
        text[starts[a] : ends[a]] if b == a + 1 else "".join([text[starts[r] : ends[r]] for r in range(a, b)])
        for a, b in pairwise(bounds)
    ]
    said = said[: bisect_right(list(accumulate(map(len, said))), MOST_CHARACTERS) or 1]
    found: dict[str, int] = {}
    for k, sentence in sentences(said, language):
        if is_sentence(sentence) or (lines and sentence.count(" ") + 1 >= LEAST_WORDS):
            found.setdefault(sentence, k)
    return list(found), runs[np.array(bounds, np.intp)[list(found.values())]]


def _weights(texts: list[str], keyword: NDArray[np.uint64], keyword_weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of the weights of the keywords in each text, each counted once."""
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
    key, sentence, _, _ = word_spans("".join(texts), starts, np.ones(len(texts), np.bool_))
    if not len(keyword):
        return np.zeros(len(texts))
    which = np.minimum(np.searchsorted(keyword, key), len(keyword) - 1)
    hits = keyword[which] == key
    pairs = np.unique(sentence[hits].astype(np.int64) * len(keyword) + which[hits])
    weight = keyword_weight[pairs % len(keyword)]
    return np.bincount(pairs // len(keyword), weights=weight, minlength=len(texts)).astype(np.float64)
