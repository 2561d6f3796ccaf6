"""The abstract of a page (DocView 6): key sentences, from every paragraph its share."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import word_spans
from webwinnow.blocks import cut
from webwinnow.docview.sentences import LEAST_WORDS, is_sentence, sentences
from webwinnow.docview.tagtree import TagTree

__all__ = ["KeySentences", "paragraphs", "quotas", "topic_root"]

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
    """How many of the wanted sentences each paragraph gives: its share by size, no more than it has.

    The paper says "according to the size of each paragraph"; ours: largest remainders, what a paragraph cannot give
    goes to the others.
    """
    if int(available.sum()) <= wanted:
        return available.copy()
    share = wanted * sizes / max(int(sizes.sum()), 1)
    given = np.minimum(share.astype(np.int64), available)
    for _ in range(wanted - int(given.sum())):
        given[np.argmax(np.where(given < available, share - given, -np.inf))] += 1
    return given


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
    ) -> KeySentences:
        """Find and weigh the sentences of the kept runs: a sentence weighs what the keywords in it do.

        `keyword` is ascending. `likely`, where a cleaner knows it, is the chance of each node to be content: of two
        sentences the likelier one is taken first (ours).
        """
        texts, runs = _sentences_in(blocks, kept, language)
        if not texts:
            return cls([], np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
        of_word = blocks.block_of_word()[kept[blocks.word_run]]
        terms = np.bincount(of_word, minlength=len(blocks))
        leaves = np.flatnonzero(terms)
        block = blocks.of_run[runs]
        leaves = np.union1d(leaves, block)
        names, paragraph = np.unique(paragraphs(blocks.parent, leaves), return_inverse=True)
        sizes = np.bincount(paragraph, weights=terms[leaves], minlength=len(names)).astype(np.int64)
        weight = _weights(texts, keyword, keyword_weight)
        if likely is not None:
            weight = weight * likely[blocks.tree.run_owner[runs]]
        return cls(texts, np.round(weight, 9), paragraph[np.searchsorted(leaves, block)], sizes)

    def abstract(self, most: int) -> str:
        """The heaviest sentences of each paragraph by its quota, `most` in all, in page order."""
        if not self.texts:
            return ""
        available = np.bincount(self.paragraph, minlength=len(self.sizes))
        given = quotas(self.sizes, available, most)
        order = np.lexsort((np.arange(len(self.texts)), -self.weight, self.paragraph))
        first = np.concatenate(([0], np.cumsum(available)))[self.paragraph[order]]
        rank = np.arange(len(order)) - first
        chosen = np.sort(order[rank < given[self.paragraph[order]]])
        return " ".join([self.texts[k] for k in chosen.tolist()])


def _sentences_in(blocks: TagTree, kept: NDArray[np.bool_], language: str) -> tuple[list[str], NDArray[np.int64]]:
    """The sentences of the kept runs, each once, and the run that each begins in, or its paragraph does.

    Headings, labels and the like are none, unless a page has nothing else.
    """
    tree = blocks.tree
    units = cut(tree)
    at = np.flatnonzero(kept)
    of_run = units.of_run()[at]
    firsts = np.flatnonzero(np.append(True, of_run[1:] != of_run[:-1])) if len(at) else at
    starts, ends = tree.run_start[at].tolist(), tree.run_start[at + 1].tolist()
    bounds = [*firsts.tolist(), len(at)]
    text, seen = tree.text, 0
    found: dict[str, int] = {}
    lines: dict[str, int] = {}
    for a, b in zip(bounds[:-1], bounds[1:], strict=True):
        said = "".join([text[start:end] for start, end in zip(starts[a:b], ends[a:b], strict=True)])
        seen += len(said)
        if seen > MOST_CHARACTERS:
            break
        for sentence in sentences(said, language):
            if is_sentence(sentence):
                found.setdefault(sentence, int(at[a]))
            elif not found and sentence.count(" ") + 1 >= LEAST_WORDS:
                lines.setdefault(sentence, int(at[a]))
    found = found or lines
    return list(found), np.fromiter(found.values(), np.int64, len(found))


def _weights(
    texts: list[str], keyword: NDArray[np.uint64], keyword_weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The sum of the weights of the keywords in each text, each counted once."""
    starts = np.fromiter(accumulate(map(len, texts), initial=0), np.int32, len(texts) + 1)
    key, sentence, _, _ = word_spans("".join(texts), starts, np.ones(len(texts), np.bool_))
    if not len(keyword):
        return np.zeros(len(texts))
    which = np.minimum(np.searchsorted(keyword, key), len(keyword) - 1)
    hits = keyword[which] == key
    pairs = np.unique(sentence[hits].astype(np.int64) * len(keyword) + which[hits])
    return np.bincount(pairs // len(keyword), weights=keyword_weight[pairs % len(keyword)], minlength=len(texts))
