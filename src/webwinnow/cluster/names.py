"""Names of clusters: the words and phrases that distinguish the pages of a cluster from all others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.cluster.clustering import Labels, UnitRows, members
from webwinnow.cluster.rows import PhraseRows
from webwinnow.features.weighting import TOPIC_PREFIX
from webwinnow.page.words import IMAGE_PREFIX, LINK_PREFIX

TERMS: Final = 10
"""Terms that describe a cluster."""
NAME_TERMS: Final = 3
"""The strongest of them, which make its name."""
NO_WORDS: Final = (LINK_PREFIX, IMAGE_PREFIX, TOPIC_PREFIX)
"""Prefixes of features that are not words."""
LONGEST_TERM: Final = 40
"""Characters of a term in a name: pages are untrusted input."""
PHRASE_SHARE: Final = 0.4
"""A phrase replaces its stronger word in a name if it is at least this strong relative to the word (ours)."""
HOST_SHARE: Final = 0.5
"""A part of a site's host names no cluster if more than this share of the pages with it are on such sites."""
_PARTS = re.compile(r"[^\W\d_]+")

Floats = NDArray[np.float64]


class Terms(NamedTuple):
    """What distinguishes some pages: words with their strength, the strongest first, and a name."""

    words: tuple[tuple[str, float], ...]
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTerms:
    """In how many pages of each cluster each word and phrase is, from which any union of clusters can be named.

    - `held`: clusters by words, the number of pages; `weight`: the sum of weights.
    - `sizes`: the pages of each cluster; `may_name`: the words that may be in a name.
    - `phrases`: clusters by phrases, and the columns of their two words.
    """

    vocabulary: Sequence[str]
    held: Any
    weight: Any
    sizes: NDArray[np.int64]
    may_name: NDArray[np.bool_]
    phrases: Any = None
    phrase_words: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        unit: UnitRows,
        label: Labels,
        vocabulary: Sequence[str],
        *,
        sites: Sequence[str] | None = None,
        phrases: PhraseRows | None = None,
    ) -> Self:
        """Count the words of clustered pages. A word with a weight below 0 (W+, topic weights) is not on the page."""
        inside = label[unit.page]
        member = members(inside)
        present = unit.rows.copy()
        present.data = (present.data > 0).astype(np.float64)
        present.eliminate_zeros()
        may_name = np.array([not name.startswith(NO_WORDS) for name in vocabulary], np.bool_)
        if sites is not None:
            may_name &= ~_site_words(present, [sites[page] for page in unit.page.tolist()], vocabulary)
        found = pairs = None
        if phrases is not None and phrases.words:
            column = {name: k for k, name in enumerate(vocabulary)}
            pairs = np.array([[column.get(one, -1), column.get(two, -1)] for one, two in phrases.words], np.int64)
            found = (member @ phrases.matrix[unit.page]).tocsr()
        sizes = np.bincount(inside[inside >= 0], minlength=member.shape[0]).astype(np.int64)
        return cls(vocabulary, (member @ present).tocsr(), (member @ unit.rows).tocsr(), sizes, may_name, found, pairs)

    def of_clusters(self, clusters: Sequence[int], most: int = TERMS) -> Terms:
        """The terms of the pages in some clusters against those in all others.

        The strength of a term is the share of the pages that have it times the logarithm of how much more often a page
        has it than a page of other clusters (c-TF-IDF over pages): a word that all clusters share names none of them,
        nor does a word of few pages. The mean weight decides between words of equal strength, and alone if there are no
        other pages. Words name a cluster; images, links and topics (W+) do only if it has no word.
        """
        chosen = list(clusters)
        size, pages = int(self.sizes[chosen].sum()), int(self.sizes.sum())
        held = np.asarray(self.held[chosen].sum(axis=0)).ravel()
        weight = np.asarray(self.weight[chosen].sum(axis=0)).ravel() / max(size, 1)
        if 0 < size < pages:
            strength = _strength(held, np.asarray(self.held.sum(axis=0)).ravel(), size, pages)
        else:
            strength = weight
        columns = np.flatnonzero((held > 0) & self.may_name)
        if not len(columns):
            columns = np.flatnonzero(held > 0)
        best = columns[np.lexsort((columns, -weight[columns].round(6), -strength[columns].round(9)))[:most]]
        words = tuple((self.vocabulary[k], float(strength[k])) for k in best.tolist() if strength[k] > 0)
        return Terms(words, self._name(chosen, [k for k in best.tolist() if strength[k] > 0], strength, size, pages))

    def _name(self, clusters: list[int], best: list[int], strength: Floats, size: int, pages: int) -> str:
        """The strongest terms, a word replaced by a phrase that has it and is nearly as distinctive."""
        phrase_of = self._phrases(clusters, strength, size, pages) if 0 < size < pages else {}
        parts: list[str] = []
        used: set[int] = set()
        for word in best:
            if word in used:
                continue
            pair = phrase_of.get(word, (word,))
            if used & set(pair):
                pair = (word,)
            used |= set(pair)
            parts.append(" ".join(self.vocabulary[k][:LONGEST_TERM] for k in pair))
            if len(parts) == NAME_TERMS:
                break
        return ", ".join(parts) or "no terms"

    def _phrases(self, clusters: list[int], strength: Floats, size: int, pages: int) -> dict[int, tuple[int, int]]:
        """For words, the strongest phrase that may replace each."""
        if self.phrases is None or self.phrase_words is None:
            return {}
        held = np.asarray(self.phrases[clusters].sum(axis=0)).ravel()
        found = _strength(held, np.asarray(self.phrases.sum(axis=0)).ravel(), size, pages)
        chosen: dict[int, tuple[int, int]] = {}
        for k in np.lexsort((np.arange(len(found)), -found.round(9))).tolist():
            one, two = self.phrase_words[k].tolist()
            if found[k] <= 0:
                break
            if min(one, two) < 0 or not (self.may_name[one] and self.may_name[two]):
                continue
            if found[k] >= PHRASE_SHARE * max(strength[one], strength[two]):
                chosen.setdefault(one, (one, two))
                chosen.setdefault(two, (one, two))
        return chosen


def _strength(held: Floats, of_all: Floats, size: int, pages: int) -> Floats:
    among = held / size
    elsewhere = (of_all - held) / (pages - size)
    found: Floats = among * np.log((among + 1 / pages) / (elsewhere + 1 / pages))
    return found


def _site_words(present: Any, sites: list[str], names: Sequence[str]) -> NDArray[np.bool_]:
    """Words that are parts of a site's host (bbc, cnn) and mostly on pages of such sites."""
    found = np.zeros(len(names), np.bool_)
    parts_of = {site: set(_PARTS.findall(site.lower())) for site in set(sites)}
    if len(parts_of) < 2:
        return found
    column = {name: k for k, name in enumerate(names)}
    by_word = present.tocsc()
    for part in sorted(set().union(*parts_of.values()) & set(column)):
        pages = by_word[:, [column[part]]].indices
        there = sum(part in parts_of[sites[page]] for page in pages.tolist())
        found[column[part]] = there > HOST_SHARE * len(pages)
    return found


def numbered(names: Sequence[str]) -> list[str]:
    """The names, those that are equal with a number each."""
    return [f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name for k, name in enumerate(names)]
