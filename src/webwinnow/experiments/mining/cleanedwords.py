"""Every page as words, cleaned by every method: parsed once, each site learned once, one sparse matrix a method."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from webwinnow._words import word_spans
from webwinnow.cleaner import Cleaner
from webwinnow.collection.pagestore import CollectionStore
from webwinnow.experiments.answercache import Kept, key_of
from webwinnow.experiments.jobpool import Workers
from webwinnow.experiments.mining.minedmethods import Mined
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.pagefeatures import feature_names
from webwinnow.site.sampling import LEARNED_PAGES
from webwinnow.site.styletree import Keys
from webwinnow.site.sums import SiteSums
from webwinnow.treebytes import tree_from_bytes
from webwinnow.vectors import VectorBuilder, VectorSettings, is_word, learn_weights
from webwinnow.words import stop_words

__all__ = ["MethodRows", "clean_sites", "unit_rows"]

Ref = tuple[int, int]
Values = NDArray[np.float64]
DEFAULT_LANGUAGE = "en"
PLUS = "wplus"


class SiteJob(NamedTuple):
    """A site to clean: where its trees lie in the spool, and those that it is learned from."""

    spool: str
    pages: tuple[tuple[int, Ref], ...]
    chosen: tuple[Ref, ...]
    methods: tuple[Mined, ...]
    content: bytes = b""
    """Tells these trees from any others."""


@dataclass(frozen=True, slots=True, eq=False)
class SiteWords:
    """The pages of a site as one method gives them: page k has the words (hashes, ascending) `start[k]:start[k + 1]`,
    with their counts or weights.
    """

    start: NDArray[np.int64]
    words: Keys
    values: Values

    @classmethod
    def of(cls, pages: Sequence[tuple[Keys, Values]]) -> SiteWords:
        """Join the words of some pages."""
        start = np.concatenate(([0], np.cumsum([len(words) for words, _ in pages], dtype=np.int64)))
        if not pages:
            return cls(start, np.zeros(0, np.uint64), np.zeros(0))
        return cls(start, np.concatenate([words for words, _ in pages]), np.concatenate([v for _, v in pages]))

    def page(self, number: int) -> tuple[Keys, Values]:
        """The words of one page."""
        inside = slice(int(self.start[number]), int(self.start[number + 1]))
        return self.words[inside], self.values[inside]


@dataclass(frozen=True, slots=True, eq=False)
class MethodRows:
    """A CSR matrix a method, by letter; a row a page of the collection, its columns words with counts or weights.

    `pages` that could not be read have an empty row and are False in `read`.
    """

    matrices: dict[str, Any]
    read: NDArray[np.bool_]


def clean_sites(
    store: CollectionStore,
    ways: Sequence[Mined],
    sites: Sequence[str | None],
    workers: Workers,
    kept: Kept,
    tell: Callable[[int], None],
) -> MethodRows:
    """Clean the pages of a store, site by site, in every way; `tell` hears how many are done.

    `sites` has one name for each row of the collection; the store holds pages by the number of their row.
    """
    rows: dict[str, dict[int, tuple[Keys, Values]]] = {way.letter: {} for way in ways}
    read = np.zeros(len(sites), np.bool_)
    done = 0

    def take(job: SiteJob, letter: str, found: SiteWords) -> None:
        for number, (page, _) in enumerate(job.pages):
            rows[letter][page] = found.page(number)

    def jobs() -> Iterator[SiteJob]:
        """The sites, each with the methods that are not kept from an earlier run."""
        for site, _ in list(store.sites()):
            refs = tuple((row.ordinal, row.ref) for row in store.pages_of(site) if row.ref is not None)
            chosen = tuple(store.chosen_of(site, LEARNED_PAGES))
            content = _content(store, (*(ref for _, ref in refs), *chosen)) if kept else b""
            job = SiteJob(str(store.spool_path), refs, chosen, tuple(ways), content)
            read[[page for page, _ in refs]] = True
            missing = []
            for way in ways:
                found = kept.arrays(_key(job, way.letter), ("start", "words", "values")) if kept else None
                if found is None:
                    missing.append(way)
                else:
                    take(job, way.letter, SiteWords(**found))
            yield job._replace(methods=tuple(missing))

    for job, answer in workers.run(site_words, jobs()):
        for letter, found in answer.items():
            take(job, letter, found)
            if kept:
                kept.keep_arrays(_key(job, letter), start=found.start, words=found.words, values=found.values)
        done += len(job.pages)
        tell(done)
    matrices = _matrices(rows, len(sites))
    for way in ways:
        if way.weighting == PLUS:
            matrices[way.letter] = _weighed_together(matrices[way.letter], sites, read)
    return MethodRows(matrices, read)


def _weighed_together(matrix: Any, sites: Sequence[str | None], read: NDArray[np.bool_]) -> Any:
    """W+: the weights of all pages that were read, weighed again by what the whole collection shows.

    It has columns of its own.
    """
    from scipy import sparse  # noqa: PLC0415 (an optional extra)

    from webwinnow.weighting import CollectionWeights  # noqa: PLC0415

    pages = np.flatnonzero(read)
    if not len(pages):
        return matrix
    met = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    rows = sparse.csr_array(matrix[pages][:, met])
    names, site = np.unique(np.array([sites[page] or "" for page in pages.tolist()], np.str_), return_inverse=True)
    weighed = sparse.csr_matrix(CollectionWeights.learn(rows, site, len(names)).weigh(rows, site))
    start = np.zeros(len(sites) + 1, np.int64)
    start[pages + 1] = np.diff(weighed.indptr)
    return sparse.csr_matrix((weighed.data, weighed.indices, np.cumsum(start)), shape=(len(sites), weighed.shape[1]))


def _content(store: CollectionStore, refs: Sequence[Ref]) -> bytes:
    digest = xxh3_128()
    for ref in refs:
        digest.update(store.read(ref))
    return digest.digest()


def _key(job: SiteJob, letter: str) -> str:
    """A name for the words of a site by one method: its trees, and those it is learned from."""
    return key_of("words", letter, job.content, f"{len(job.pages)}")


def site_words(job: SiteJob) -> dict[str, SiteWords]:
    """The words of a site's pages by the letter of the method."""
    if not job.methods:
        return {}
    spool = os.open(job.spool, os.O_RDONLY)
    try:
        found: dict[str, list[tuple[Keys, Values]]] = {mined.letter: [] for mined in job.methods}
        for letter, words, values in _words(job, lambda ref: tree_from_bytes(os.pread(spool, ref[1], ref[0]))):
            found[letter].append((words, values))
    finally:
        os.close(spool)
    return {letter: SiteWords.of(pages) for letter, pages in found.items()}


def _words(job: SiteJob, tree_at: Callable[[Ref], PageTree]) -> Iterator[tuple[str, Keys, Values]]:
    """Page by page and method by method the words of a site."""
    cleaners = {mined.letter: Cleaner.of(mined.cleaning) for mined in job.methods if mined.cleaning is not None}
    scored = any(cleaner.method.scores for cleaner in cleaners.values())
    parts = frozenset[str]().union(*(cleaner.method.parts for cleaner in cleaners.values()))
    sums = SiteSums(parts=parts)
    for ref in job.chosen if parts else ():
        sums.add(tree_at(ref))
    model = LearnedSite.of(sums) if parts else None
    builders = {
        mined.letter: VectorBuilder(VectorSettings(weighting=mined.weighting))
        for mined in job.methods
        if mined.weighting is not None
    }
    weights = learn_weights(map(tree_at, job.chosen), VectorSettings().weights) if builders else None
    for _, ref in job.pages:
        tree = tree_at(ref)
        evidence = PageEvidence.of(tree) if scored else None
        wanted = _wanted(tree)
        hashes, runs, _, _ = word_spans(tree.text, tree.run_start, tree.visible[tree.run_owner])
        for letter, cleaner in cleaners.items():
            verdict = cleaner.clean(tree, model, evidence).verdict
            kept = verdict.keep_runs & verdict.keep[tree.run_owner]
            words, counts = np.unique(hashes[kept[runs]], return_counts=True)
            inside = np.isin(words, wanted)
            yield letter, words[inside], counts[inside].astype(np.float64)
        for letter, builder in builders.items():
            builder.add("", tree, weights)
            words, values = builder.rows[-1]
            order = np.argsort(words)
            yield letter, words[order], values[order]


def _wanted(tree: PageTree) -> Keys:
    """The words of a page that count, as for `webwinnow features`: two letters at least, no digits, no stop words."""
    stops = stop_words(tree.head.language or DEFAULT_LANGUAGE)
    return np.array([key for key, name in feature_names(tree).items() if is_word(name, stops)], np.uint64)


def _matrices(rows: dict[str, dict[int, tuple[Keys, Values]]], pages: int) -> dict[str, Any]:
    """One matrix a method, the columns of all methods alike: the words by hash, ascending."""
    from scipy import sparse  # noqa: PLC0415 (an optional extra)

    empty = (np.zeros(0, np.uint64), np.zeros(0))
    joined = {letter: SiteWords.of([rows[letter].get(k, empty) for k in range(pages)]) for letter in rows}
    vocabulary = np.unique(np.concatenate([found.words for found in joined.values()]))
    return {
        letter: sparse.csr_matrix(
            (found.values, np.searchsorted(vocabulary, found.words), found.start), shape=(pages, len(vocabulary))
        )
        for letter, found in joined.items()
    }


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
