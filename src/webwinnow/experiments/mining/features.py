"""Every page as words, cleaned by every method: parsed once, each site learned once, one sparse matrix a method."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow._kernels import word_spans
from webwinnow.cleaning import CleaningSettings, method
from webwinnow.experiments.mining.methods import Mined
from webwinnow.experiments.mining.workers import Workers
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.pipeline.store import RunStore
from webwinnow.site.choose import LEARNED_PAGES
from webwinnow.site.features import feature_names
from webwinnow.site.knowledge import SiteKnowledge
from webwinnow.site.styletree import Keys
from webwinnow.site.sums import SiteSums
from webwinnow.site.weights import WeightSettings
from webwinnow.treebytes import tree_from_bytes
from webwinnow.vectors import is_word, learn_weights
from webwinnow.words import stop_words

__all__ = ["MethodRows", "clean_sites", "unit_rows"]

Ref = tuple[int, int]
Values = NDArray[np.float64]
DEFAULT_LANGUAGE = "en"


class SiteJob(NamedTuple):
    """A site to clean: where its trees lie in the spool, and those that it is learned from."""

    spool: str
    pages: tuple[tuple[int, Ref], ...]
    chosen: tuple[Ref, ...]
    methods: tuple[Mined, ...]


class PageWords(NamedTuple):
    """A page as one method gives it: hashes of words, ascending, and their counts or weights."""

    page: int
    letter: str
    words: Keys
    values: Values


@dataclass(frozen=True, slots=True, eq=False)
class MethodRows:
    """A CSR matrix a method, by letter, over one vocabulary; a row a page of the collection, counts or weights.

    `pages` that could not be read have an empty row and are False in `read`.
    """

    matrices: dict[str, Any]
    read: NDArray[np.bool_]


def clean_sites(
    store: RunStore,
    methods: Sequence[Mined],
    pages: int,
    workers: Workers,
    tell: Callable[[int], None],
) -> MethodRows:
    """Clean the pages of a store, site by site, with every method; `tell` hears how many are done."""
    jobs = []
    for site, _ in list(store.sites()):
        found = tuple((row.ordinal, row.ref) for row in store.pages_of(site) if row.ref is not None)
        chosen = tuple(store.chosen_of(site, LEARNED_PAGES))
        jobs.append(SiteJob(str(store.spool_path), found, chosen, tuple(methods)))
    said: dict[str, dict[int, PageWords]] = {mined.letter: {} for mined in methods}
    read = np.zeros(pages, np.bool_)
    done = 0
    for job, answer in workers.run(site_words, jobs):
        for page in answer:
            said[page.letter][page.page] = page
        read[[number for number, _ in job.pages]] = True
        done += len(job.pages)
        tell(done)
    return MethodRows(_matrices(said, pages), read)


def site_words(job: SiteJob) -> list[PageWords]:
    """The words of a site's pages, page by page and method by method."""
    spool = os.open(job.spool, os.O_RDONLY)
    try:
        return list(_site_words(job, lambda ref: tree_from_bytes(os.pread(spool, ref[1], ref[0]))))
    finally:
        os.close(spool)


def _site_words(job: SiteJob, tree_at: Callable[[Ref], PageTree]) -> Iterator[PageWords]:
    cleaners = {mined.letter: method(mined.cleaning) for mined in job.methods if mined.cleaning is not None}
    scored = any(cleaner.scores for cleaner in cleaners.values())
    parts = frozenset[str]().union(*(cleaner.parts for cleaner in cleaners.values()))
    sums = SiteSums(parts=parts)
    for ref in job.chosen if parts else ():
        sums.add(tree_at(ref))
    model = SiteKnowledge.of(sums) if parts else None
    weighted = any(mined.weighting == "cst" for mined in job.methods)
    weights = learn_weights(map(tree_at, job.chosen), WeightSettings(mapped=True)) if weighted else None
    settings = CleaningSettings()
    for page, ref in job.pages:
        tree = tree_at(ref)
        evidence = PageEvidence.of(tree) if scored else None
        wanted = _wanted(tree)
        hashes, runs, _, _ = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
        for mined in job.methods:
            if mined.cleaning is not None:
                verdict = cleaners[mined.letter].clean(tree, model, settings, evidence)
                kept = verdict.keep_runs & verdict.keep[tree.run_owner]
                words, counts = np.unique(hashes[kept[runs]], return_counts=True)
                values = counts.astype(np.float64)
            else:
                assert weights is not None
                words, values = weights.weigh(tree)
            inside = np.isin(words, wanted)
            yield PageWords(page, mined.letter, words[inside], values[inside])


def _wanted(tree: PageTree) -> Keys:
    """The words of a page that count, as for `webwinnow features`: two letters at least, no digits, no stop words."""
    stops = stop_words(tree.head.language or DEFAULT_LANGUAGE)
    return np.array([key for key, name in feature_names(tree).items() if is_word(name, stops)], np.uint64)


def _matrices(said: dict[str, dict[int, PageWords]], pages: int) -> dict[str, Any]:
    """One matrix a method, the columns of all methods alike: the words by hash, ascending."""
    from scipy import sparse  # noqa: PLC0415 (an optional extra)

    met = [page.words for found in said.values() for page in found.values()]
    vocabulary = np.unique(np.concatenate(met)) if met else np.zeros(0, np.uint64)
    empty = PageWords(0, "", np.zeros(0, np.uint64), np.zeros(0))
    matrices = {}
    for letter, found in said.items():
        rows = [found.get(page, empty) for page in range(pages)]
        indptr = np.concatenate(([0], np.cumsum([len(row.words) for row in rows], dtype=np.int64)))
        words = np.concatenate([row.words for row in rows]) if rows else vocabulary
        data = np.concatenate([row.values for row in rows]) if rows else np.zeros(0)
        matrices[letter] = sparse.csr_matrix(
            (data, np.searchsorted(vocabulary, words), indptr), shape=(pages, len(vocabulary))
        )
    return matrices


def unit_rows(matrix: Any, *, tfidf: bool) -> Any:
    """Rows of length 1 for the miners, after tf-idf over these pages where it is wanted (thesis 5.5).

    The inverse document frequency is scikit-learn's, `log((1 + n) / (1 + df)) + 1`. Empty rows stay empty.
    """
    from scipy import sparse  # noqa: PLC0415 (an optional extra)

    rows = sparse.csr_matrix(matrix, dtype=np.float64, copy=True)
    if tfidf:
        pages_with = np.bincount(rows.indices, minlength=rows.shape[1])
        rows.data *= (np.log((1 + rows.shape[0]) / (1 + pages_with)) + 1)[rows.indices]
    of_row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    length = np.sqrt(np.bincount(of_row, weights=np.square(rows.data), minlength=rows.shape[0]))
    rows.data /= length[of_row]
    met = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return rows[:, met].tocsr()
