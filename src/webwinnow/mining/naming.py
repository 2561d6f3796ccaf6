"""Names of clusters: the words that set a cluster apart from the rest of the collection."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from webwinnow.mining.cluster import Labels, UnitRows, members
from webwinnow.weighting import TOPIC_PREFIX
from webwinnow.words import IMAGE_PREFIX, LINK_PREFIX

__all__ = ["NAME_TERMS", "TERMS", "cluster_names", "cluster_terms"]

TERMS: Final = 10
"""Terms that describe a cluster."""
NAME_TERMS: Final = 3
"""The strongest of them that make its name."""
NO_WORDS: Final = (LINK_PREFIX, IMAGE_PREFIX, TOPIC_PREFIX)
"""How features begin that are no words."""
LONGEST_TERM: Final = 40
"""Characters of a term in a name: pages are written by strangers."""


def cluster_terms(
    unit: UnitRows, label: Labels, vocabulary: Sequence[str], *, most: int = TERMS
) -> list[list[tuple[str, float]]]:
    """For each cluster its strongest terms with their strength, the strongest first.

    The strength of a term is its mean weight in the cluster times the logarithm of how much more often a page of the
    cluster has it than another page: a word that all clusters share names none of them, nor does a word of few pages.
    Where only one cluster holds pages, there is nothing to be set apart from, and the mean weight decides. Words name
    a cluster; images, links and topics (W+) do where it has no word.
    """
    inside = label[unit.page]
    weight = (members(inside) @ unit.rows).tocsr()
    holds = unit.rows.copy()
    holds.data = np.ones_like(holds.data)
    held = (members(inside) @ holds).tocsr().sorted_indices()
    of_all = np.asarray(held.sum(axis=0)).ravel()
    sizes = np.bincount(inside, minlength=held.shape[0])
    pages, names = len(inside), np.array(vocabulary, dtype=np.str_)
    is_word = ~np.any([np.char.startswith(names, prefix) for prefix in NO_WORDS], axis=0)
    told = []
    for cluster, size in enumerate(sizes.tolist()):
        row = held[[cluster]]
        columns = row.indices
        mean = weight[[cluster]].toarray().ravel()[columns] / max(size, 1)  # weights below 0 may leave nothing of one
        if 0 < size < pages:
            among = row.data / size
            elsewhere = (of_all[columns] - row.data) / (pages - size)
            mean = mean * np.log((among + 1 / pages) / (elsewhere + 1 / pages))
        if is_word[columns].any():
            columns, mean = columns[is_word[columns]], mean[is_word[columns]]
        best = np.lexsort((columns, -mean.round(9)))[:most]
        told.append([(str(names[columns[i]]), float(mean[i])) for i in best if mean[i] > 0])
    return told


def cluster_names(terms: Sequence[Sequence[tuple[str, float]]]) -> list[str]:
    """A name for each cluster, its strongest terms; clusters of one name are numbered."""
    names = [", ".join(term[:LONGEST_TERM] for term, _ in some[:NAME_TERMS]) or "no terms" for some in terms]
    return [f"{name} ({names[: k + 1].count(name)})" if names.count(name) > 1 else name for k, name in enumerate(names)]
