"""Every page as words, cleaned by every compared method: pages are parsed once, sites learned once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_128

from webwinnow.errors import SettingsError
from webwinnow.features.vectors import VectorBuilder, VectorSettings, is_word, learn_weights
from webwinnow.judge.evidence import PageEvidence
from webwinnow.methods.method_segments import SegmentSettings
from webwinnow.methods.registry import CleaningSettings
from webwinnow.page.tree import PageTree
from webwinnow.page.words import StopList
from webwinnow.papers.jobpool import AnswerCache, JobPool, cache_key
from webwinnow.progress import Progress
from webwinnow.record.cleaner import Cleaner
from webwinnow.run.pagestore import CollectionStore, stored_tree
from webwinnow.site.featureweights import FeatureWeights
from webwinnow.site.learned import LearnedSite
from webwinnow.site.styletree import Keys, feature_names
from webwinnow.site.sums import LEARNED_PAGES, SiteSums

Ref = tuple[int, int]
Values = NDArray[np.float64]
PageWordCounts = tuple[Keys, Values]
"""The words of a page (hashes, ascending) with their counts or weights."""
PLUS = "wplus"

# Methods


@dataclass(frozen=True, slots=True)
class MinedMethod:
    """A method of the experiment: words that a cleaning method keeps, counted, or all words weighted by the site.

    `cleaning` is a method whose kept words get tf-idf (thesis 5.5). `weighting` is one of
    `webwinnow.features.vectors`, whose weights are used unchanged: `exact` (5-10) over all pages of a site, or mapped
    (4.3.3) from a sample. `unit`: rows have length 1, whatever the settings. Letters are those of the thesis's tables
    (N, T, S, W) and ours.
    """

    letter: str
    name: str
    about: str
    cleaning: str | None = None
    weighting: str | None = None
    exact: bool = False
    unit: bool = False


MINED_METHODS: dict[str, MinedMethod] = {
    found.letter: found
    for found in (
        MinedMethod("N", "none", "no cleaning", cleaning="none"),
        MinedMethod("T", "template", "templates dropped (thesis 3.3)", cleaning="template"),
        MinedMethod("S", "sst", "noise of the site style tree dropped (thesis 4.2)", cleaning="sst"),
        MinedMethod("A", "aligned", "noise of our aligned style tree dropped", cleaning="aligned"),
        MinedMethod("W", "weights", "weights of the compressed structure tree (5-10)", weighting="cst", exact=True),
        MinedMethod("M", "mapped", "weights of MapCST, learned from a sample (thesis 4.3.3)", weighting="cst"),
        MinedMethod("C", "combined", "page and site evidence together, our default", cleaning="combined"),
        MinedMethod(
            "W+", "wplus", "M, reweighted by evidence from all sites (docs/features.md)", weighting=PLUS, unit=True
        ),
        MinedMethod("R", "repeated", "content that the site repeats dropped", cleaning="repeated"),
        MinedMethod("P", "page", "page evidence alone", cleaning="page"),
        MinedMethod("G", "segments", "informative tables kept (thesis 3.2)", cleaning="segments"),
        MinedMethod("I", "items", "noisy links and images dropped (thesis 3.1)", cleaning="items"),
        MinedMethod("D", "docview", "topic blocks kept (DocView 4.2)", cleaning="docview"),
        MinedMethod("X", "cst", "blocks with a high mean weight kept as text", cleaning="cst"),
    )
}
"""By letter, in the order of tables and charts."""
DEFAULT_METHODS = tuple(MINED_METHODS)


def mined_methods(names: Iterable[str]) -> tuple[MinedMethod, ...]:
    """Return the methods with these letters or names, each once, in the given order."""
    by_name = {found.name: found for found in MINED_METHODS.values()}
    chosen: dict[str, MinedMethod] = {}
    for name in map(str.strip, names):
        found = MINED_METHODS.get(name) or MINED_METHODS.get(name.upper()) or by_name.get(name.lower())
        if found is None:
            there = ", ".join(f"{letter} ({entry.name})" for letter, entry in MINED_METHODS.items())
            raise SettingsError(f"there is no method {name!r} to mine with; there are: {there}")
        chosen[found.letter] = found
    if not chosen:
        raise SettingsError("no method to mine with was named")
    return tuple(chosen.values())


# Words of pages


class SiteJob(NamedTuple):
    """A site to clean: the places of its trees in the spool, and those of the trees that it is learned from."""

    spool: str
    pages: tuple[tuple[int, Ref], ...]
    chosen: tuple[Ref, ...]
    methods: tuple[MinedMethod, ...]
    settings: CleaningSettings
    stop_list: StopList
    content: bytes = b""
    """A digest of the trees."""

    def key(self, method: MinedMethod) -> str:
        """The cache key of the words of the site by one method."""
        stops = () if self.stop_list.own is None else (repr(self.stop_list),)
        return cache_key("words", repr(method), self.content, f"{len(self.pages)}", repr(self.settings), *stops)


@dataclass(frozen=True, slots=True, eq=False)
class SiteWords:
    """The words of a site's pages by one method: page k has `start[k]:start[k + 1]` of `words` and `values`."""

    start: NDArray[np.int64]
    words: Keys
    values: Values

    @classmethod
    def of(cls, pages: Sequence[PageWordCounts]) -> SiteWords:
        """Join the words of some pages."""
        start = np.concatenate(([0], np.cumsum([len(words) for words, _ in pages], dtype=np.int64)))
        if not pages:
            return cls(start, np.zeros(0, np.uint64), np.zeros(0))
        return cls(start, np.concatenate([words for words, _ in pages]), np.concatenate([v for _, v in pages]))

    def page(self, number: int) -> PageWordCounts:
        """The words of one page."""
        inside = slice(int(self.start[number]), int(self.start[number + 1]))
        return self.words[inside], self.values[inside]


class MethodRows(NamedTuple):
    """A CSR matrix for each method, by letter: rows are pages of the collection, columns words.

    Pages that could not be read have an empty row and are False in `read`.
    """

    matrices: dict[str, Any]
    read: NDArray[np.bool_]


def clean_sites(
    store: CollectionStore,
    methods: Sequence[MinedMethod],
    settings: CleaningSettings,
    sites: Sequence[str | None],
    stop_list: StopList,
    pool: JobPool,
    cache: AnswerCache,
    progress: Progress,
) -> MethodRows:
    """Clean the pages of a store, site by site, with every method.

    `sites` has one name for each row of the collection; the store has pages by the number of their row.
    """
    rows: dict[str, dict[int, PageWordCounts]] = {method.letter: {} for method in methods}
    read = np.zeros(len(sites), np.bool_)
    done, total = 0, store.page_count()
    progress("clean", 0, total)

    def add(job: SiteJob, letter: str, found: SiteWords) -> None:
        for number, (page, _) in enumerate(job.pages):
            rows[letter][page] = found.page(number)

    def jobs() -> Iterator[SiteJob]:
        """The sites, each with the methods whose words are not cached."""
        for site, _ in list(store.sites()):
            refs = tuple((row.ordinal, row.ref) for row in store.pages_of(site) if row.ref is not None)
            chosen = tuple(store.chosen_of(site, LEARNED_PAGES))
            content = _digest(store, (*(ref for _, ref in refs), *chosen)) if cache else b""
            job = SiteJob(str(store.spool_path), refs, chosen, tuple(methods), settings, stop_list, content)
            read[[page for page, _ in refs]] = True
            missing = []
            for method in methods:
                found = cache.get_arrays(job.key(method), ("start", "words", "values"))
                if found is None:
                    missing.append(method)
                else:
                    add(job, method.letter, SiteWords(**found))
            yield job._replace(methods=tuple(missing))

    for job, answer in pool.run(site_words, jobs()):
        for method in job.methods:
            found = answer[method.letter]
            add(job, method.letter, found)
            cache.put_arrays(job.key(method), start=found.start, words=found.words, values=found.values)
        done += len(job.pages)
        progress("clean", done, total)
    matrices = _matrices(rows, len(sites))
    for method in methods:
        if method.weighting == PLUS:
            matrices[method.letter] = _reweighted(matrices[method.letter], sites, read)
    return MethodRows(matrices, read)


def _reweighted(matrix: Any, sites: Sequence[str | None], read: NDArray[np.bool_]) -> Any:
    """W+: the weights of all pages that were read, reweighted by the whole collection. It has its own columns."""
    from scipy import sparse  # noqa: PLC0415 (an optional extra)

    from webwinnow.features.weighting import CollectionWeights  # noqa: PLC0415

    pages = np.flatnonzero(read)
    if not len(pages):
        return matrix
    used = np.flatnonzero(np.bincount(matrix.indices, minlength=matrix.shape[1]))
    rows = sparse.csr_array(matrix[pages][:, used])
    names, site = np.unique(np.array([sites[page] or "" for page in pages.tolist()], np.str_), return_inverse=True)
    weighed = sparse.csr_matrix(CollectionWeights.learn(rows, site, len(names)).weigh(rows, site))
    start = np.zeros(len(sites) + 1, np.int64)
    start[pages + 1] = np.diff(weighed.indptr)
    return sparse.csr_matrix((weighed.data, weighed.indices, np.cumsum(start)), shape=(len(sites), weighed.shape[1]))


def _digest(store: CollectionStore, refs: Sequence[Ref]) -> bytes:
    digest = xxh3_128()
    for ref in refs:
        digest.update(store.read(ref))
    return digest.digest()


def site_words(job: SiteJob) -> dict[str, SiteWords]:
    """Return the words of a site's pages by the letter of the method."""
    if not job.methods:
        return {}
    found: dict[str, list[PageWordCounts]] = {method.letter: [] for method in job.methods}
    spool = os.open(job.spool, os.O_RDONLY)
    try:
        for letter, words, values in _words(job, lambda ref: stored_tree(os.pread(spool, ref[1], ref[0]))):
            found[letter].append((words, values))
    finally:
        os.close(spool)
    return {letter: SiteWords.of(pages) for letter, pages in found.items()}


def _words(job: SiteJob, tree_at: Callable[[Ref], PageTree]) -> Iterator[tuple[str, Keys, Values]]:
    """The words of a site, page by page and method by method."""
    cleaners = {
        method.letter: Cleaner.of(method.cleaning, job.settings)
        for method in job.methods
        if method.cleaning is not None
    }
    scored = any(cleaner.method.scores for cleaner in cleaners.values())
    parts = frozenset[str]().union(*(cleaner.method.parts for cleaner in cleaners.values()))
    settings = CleaningSettings(job.settings.chosen, segments=SegmentSettings(stop_words=job.stop_list.own))
    sums = SiteSums(parts=parts, settings=settings)
    for ref in job.chosen if parts else ():
        sums.add(tree_at(ref))
    model = LearnedSite.of(sums) if parts else None
    builders = {
        method.letter: VectorBuilder(VectorSettings(weighting=method.weighting, stop_list=job.stop_list))
        for method in job.methods
        if method.weighting is not None
    }
    weights = {
        exact: _weights(job, tree_at, exact=exact)
        for exact in {method.exact for method in job.methods if method.weighting is not None}
    }
    for _, ref in job.pages:
        tree = tree_at(ref)
        evidence = PageEvidence.of(tree) if scored else None
        counted = _counted_words(tree, job.stop_list)
        hashes, runs, _, _ = tree.words
        for letter, cleaner in cleaners.items():
            verdict = cleaner.clean(tree, model, evidence).verdict
            words, counts = np.unique(hashes[verdict.keeps_words(tree, runs)], return_counts=True)
            inside = np.isin(words, counted)
            yield letter, words[inside], counts[inside].astype(np.float64)
        for letter, builder in builders.items():
            builder.add("", tree, weights[MINED_METHODS[letter].exact])
            words, values = builder.rows.pop()
            order = np.argsort(words)
            yield letter, words[order], values[order]


def _weights(job: SiteJob, tree_at: Callable[[Ref], PageTree], *, exact: bool) -> FeatureWeights:
    """The weights of a site: exact (5-10) over all pages, or mapped (4.3.3) from the chosen pages."""
    refs = [ref for _, ref in job.pages] if exact else job.chosen
    return learn_weights(map(tree_at, refs), replace(job.settings.cst.weights, mapped=not exact))


def _counted_words(tree: PageTree, stop_list: StopList) -> Keys:
    """The words of a page that count, as in `webwinnow features`: at least two letters, no digits, no stop words."""
    stops = stop_list.of(tree.head.language)
    return np.array([key for key, name in feature_names(tree).items() if is_word(name, stops)], np.uint64)


def _matrices(rows: dict[str, dict[int, PageWordCounts]], pages: int) -> dict[str, Any]:
    """One matrix per method with the same columns: the words by hash, ascending."""
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


def mined_rows(matrix: Any, *, tfidf: bool) -> Any:
    """The rows of some pages for the miners, without unused columns; with TFIDF over these pages on request.

    TFIDF is that of thesis 2.1.1, n(i, j) / max_k n(i, k) times log(N / N_j): a word of every page has weight 0.
    """
    rows = matrix.astype(np.float64).tocsr()
    if tfidf and rows.nnz:
        most = np.maximum(rows.max(axis=1).toarray().ravel(), 1)
        pages_with = np.bincount(rows.indices, minlength=rows.shape[1])
        rarity = np.log(rows.shape[0] / np.maximum(pages_with, 1))
        rows.data *= rarity[rows.indices] / np.repeat(most, np.diff(rows.indptr))
        rows.eliminate_zeros()
    used = np.flatnonzero(np.bincount(rows.indices, minlength=rows.shape[1]))
    return rows[:, used].tocsr()


def unit_rows(rows: Any) -> Any:
    """The rows scaled to length 1; empty rows stay empty."""
    from sklearn.preprocessing import normalize  # noqa: PLC0415 (an optional extra)

    return normalize(rows)
