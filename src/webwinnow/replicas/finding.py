"""Replicas of a collection: clusters of similar pages, the kept page of each, and the relation of the others to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.page.metadata import metadata
from webwinnow.record.cleaner import CleanPage
from webwinnow.replicas.grouping import GOLDEN, Places, alike, joined, similarity_of
from webwinnow.replicas.sketches import (
    PageOrigin,
    ReplicaSettings,
    Sketches,
    distinctive_runs,
    page_sketch,
    sketch,
    sketch_type,
)

RELATIONS: Final = ("", "copy", "version", "mirror")
"""The relation of a page to the one that is kept, by code: itself, a copy, an older version, a page of a mirror."""
_COPY, _VERSION, _MIRROR = 1, 2, 3
_COLUMNS = ("address", "near", "path", "named", "site", "fetched", "ordinal", "url_length", "date")
SLACK: Final = 0.2
"""A page that joined a cluster through others stays in it unless it is clearly less similar to the kept page: by four
standard errors of the estimate."""
ROUNDS: Final = 8
"""A cluster is split at most so often."""
MIRROR_PAGES: Final = 5
MIRROR_SHARE: Final = 0.5
"""A site mirrors another if at least so many of its pages, and this share, have a replica there. Ours, untuned."""


Columns = dict[str, NDArray[Any]]


class Mirror(NamedTuple):
    """A site (its hash, as in the sketches) most of whose pages have replicas on another.

    `pages` have one; they are `share` of all its pages with a fingerprint; `same_paths` of them at the same path.
    """

    site: int
    of: int
    pages: int
    share: float
    same_paths: float


@dataclass(frozen=True, slots=True, eq=False)
class Replicas:
    """For each page its cluster, the kept page (`kept`), its relation to that (`RELATIONS`) and their similarity.

    Clusters are numbered in the order of their first pages. `fingerprinted`: which pages could be compared.
    """

    cluster: Places
    kept: Places
    relation: NDArray[np.uint8]
    similarity: NDArray[np.float32]
    fingerprinted: NDArray[np.bool_]
    mirrors: tuple[Mirror, ...]

    def __len__(self) -> int:
        return len(self.cluster)

    @property
    def count(self) -> int:
        """How many pages are replicas of a kept page."""
        return int(np.count_nonzero(self.relation))

    def counts(self) -> dict[str, int]:
        """How many pages there are of each relation."""
        counted = np.bincount(self.relation, minlength=len(RELATIONS)).tolist()
        return {name: counted[code] for code, name in enumerate(RELATIONS) if name}


def find_replicas(sketches: Sketches, settings: ReplicaSettings | None = None) -> Replicas:
    """Find the replicas among pages, given their sketches in page order (an array or a memory map).

    The same pages in another order give the same clusters, and the same page of each is kept unless two of its pages
    have equal traits. Memory is about 100 bytes per page and at most `KEY_BYTES`, beside the sketches.
    """
    settings = settings or ReplicaSettings()
    first = joined(sketches, settings)
    kept = _chosen(sketches, first)
    for _ in range(ROUNDS):
        if not _split(sketches, first, kept, settings):
            break
        kept = _chosen(sketches, first)
    relation, similarity, mirrors = _relations(sketches, kept)
    return Replicas(
        cluster=np.unique(first, return_inverse=True)[1].astype(np.int64),
        kept=kept,
        relation=relation,
        similarity=similarity,
        fingerprinted=np.asarray(sketches["exact"] != 0),
        mirrors=mirrors,
    )


def _members(first: Places) -> Places:
    """The pages that are not alone in their cluster, in page order."""
    sizes = np.bincount(first, minlength=len(first))
    return np.flatnonzero(sizes[first] > 1)


def _chosen(sketches: Sketches, first: Places) -> Places:
    """For each page the page of its cluster that is kept.

    The best URL has the most canonical links of the cluster, then the shortest URL, the earliest date, the first place
    in the input. Of the versions of that page the newest is kept.
    """
    kept = np.arange(len(first), dtype=np.int64)
    pages = _members(first)
    if not len(pages):
        return kept
    cluster, rows = first[pages], _columns(sketches, pages)
    undated = np.uint32(0xFFFFFFFF)
    date = np.where(rows["date"] == 0, undated, rows["date"])
    votes = _votes(cluster, rows)
    order = np.lexsort((pages, rows["ordinal"], date, rows["url_length"], -votes, cluster))
    best = order[np.append(True, cluster[order[1:]] != cluster[order[:-1]])]
    rank = np.empty(len(pages), np.int64)
    rank[order] = np.arange(len(pages))
    _, of = np.unique(cluster, return_inverse=True)
    is_version = rows["near"] == rows["near"][best[of]]
    newest = np.lexsort((rank, -rows["fetched"].astype(np.int64), -rows["date"].astype(np.int64), ~is_version, cluster))
    first_of = newest[np.append(True, cluster[newest[1:]] != cluster[newest[:-1]])]
    kept[pages] = pages[first_of[of]]
    return kept


def _columns(sketches: Sketches, pages: Places) -> Columns:
    return {name: sketches[name][pages] for name in _COLUMNS}


def _votes(cluster: Places, rows: Columns) -> NDArray[np.int64]:
    """How many canonical links of a page's cluster name its URL."""
    pointing = rows["named"] != 0
    named, counted = np.unique(_pair_keys(cluster[pointing], rows["named"][pointing]), return_counts=True)
    votes = np.zeros(len(cluster), np.int64)
    if len(named):
        addresses = _pair_keys(cluster, rows["address"])
        at = np.minimum(np.searchsorted(named, addresses), len(named) - 1)
        votes = np.where(named[at] == addresses, counted[at], 0)
    return votes


def _pair_keys(one: NDArray[Any], other: NDArray[Any]) -> NDArray[np.uint64]:
    """One hash for each ordered pair."""
    keys: NDArray[np.uint64] = (one.astype(np.uint64) + GOLDEN) * GOLDEN ^ other.astype(np.uint64)
    return keys


def _split(sketches: Sketches, first: Places, kept: Places, settings: ReplicaSettings) -> bool:
    """Split pages that differ from the kept page off their clusters, in place; return whether there were any."""
    pages = np.flatnonzero(kept != np.arange(len(kept)))
    if settings.method != "modern" or not len(pages):
        return False
    unlike = pages[~alike(sketches, pages, kept[pages], settings, slack=SLACK)]
    for members in (unlike, np.setdiff1d(_members(first), unlike)):  # a cluster is named by its first page
        _, start, of = np.unique(first[members], return_index=True, return_inverse=True)
        first[members] = members[start[of]]
    return bool(len(unlike))


def _relations(sketches: Sketches, kept: Places) -> tuple[NDArray[np.uint8], NDArray[np.float32], tuple[Mirror, ...]]:
    """The relation and similarity of each page to the kept one; which sites mirror another."""
    relation = np.zeros(len(kept), np.uint8)
    similarity = np.ones(len(kept), np.float32)
    pages = np.flatnonzero(kept != np.arange(len(kept)))
    if not len(pages):
        return relation, similarity, ()
    similarity[pages] = similarity_of(sketches, pages, kept[pages])[0]
    here, there = _columns(sketches, pages), _columns(sketches, kept[pages])
    is_near = (here["near"] == there["near"]) | ((here["named"] == there["named"]) & (here["named"] != 0))
    is_other_time = np.zeros(len(pages), np.bool_)
    for time in ("date", "fetched"):
        is_other_time |= (here[time] != there[time]) & (here[time] != 0) & (there[time] != 0)
    relation[pages] = np.where(is_near & is_other_time, _VERSION, _COPY)
    mirrors = _mirrors(sketches, here, there)
    on_mirrors = _pair_keys(*(np.array([mirror[k] for mirror in mirrors], np.uint64) for k in (0, 1)))
    relation[pages[np.isin(_pair_keys(here["site"], there["site"]), on_mirrors)]] = _MIRROR
    return relation, similarity, mirrors


def _mirrors(sketches: Sketches, here: Columns, there: Columns) -> tuple[Mirror, ...]:
    """Sites most of whose pages have a replica on one other site: the pages `here` are replicas of those `there`."""
    across = here["site"] != there["site"]
    pairs = np.stack([here["site"][across], there["site"][across]], axis=1)
    lost_by_first = pairs[:, 0] < pairs[:, 1]
    pairs.sort(axis=1)
    _, at, of, shared = np.unique(
        _pair_keys(pairs[:, 0], pairs[:, 1]), return_index=True, return_inverse=True, return_counts=True
    )
    same_path = np.bincount(of, weights=(here["path"] == there["path"])[across], minlength=len(at))
    lost = np.bincount(of, weights=lost_by_first, minlength=len(at))
    sites, sizes = np.unique(np.asarray(sketches["site"])[np.asarray(sketches["exact"]) != 0], return_counts=True)
    mirrors = []
    for k in np.flatnonzero(shared >= MIRROR_PAGES).tolist():
        both, pages = pairs[at[k]], int(shared[k])
        share = np.minimum(pages / sizes[np.searchsorted(sites, both)], 1.0).tolist()
        lost_share = (float(lost[k]) / pages, 1 - float(lost[k]) / pages)
        mirror, mirrored = sorted((0, 1), key=lambda side: (-share[side], -lost_share[side]))
        if share[mirror] >= MIRROR_SHARE:
            site, of_site = int(both[mirror]), int(both[mirrored])
            mirrors.append(Mirror(site, of_site, pages, share[mirror], float(same_path[k]) / pages))
    return tuple(sorted(mirrors, key=lambda found: (-found.pages, found.site, found.of)))


class ReplicaFinder:
    """Collects pages, about 340 bytes of each, and finds the replicas among them.

    >>> finder = ReplicaFinder()
    >>> story = "the mill by the river grinds grain for all the villages around it"
    >>> for url in ("http://b.example/long/story", "http://a.example/story"):
    ...     _ = finder.add(story, PageOrigin(url=url))
    >>> finder.find().kept.tolist()
    [1, 1]
    """

    def __init__(self, settings: ReplicaSettings | None = None) -> None:
        self.settings = settings or ReplicaSettings()
        self._rows = bytearray()
        self._type = sketch_type(self.settings.method)

    def __len__(self) -> int:
        return len(self._rows) // self._type.itemsize

    def add(self, page: CleanPage | str, origin: PageOrigin | None = None) -> int:
        """Add a cleaned page or its text, and return its number."""
        if isinstance(page, CleanPage):
            runs = distinctive_runs(page.tree, page.verdict)
            row = page_sketch(page.tree, runs, origin or _origin(page), self.settings)
        else:
            row = sketch(page, origin or PageOrigin(), self.settings)
        row["ordinal"] = len(self)
        self._rows += row.tobytes()
        return len(self) - 1

    def find(self) -> Replicas:
        """The replicas among the pages so far."""
        return find_replicas(np.frombuffer(bytes(self._rows), self._type), self.settings)


def _origin(page: CleanPage) -> PageOrigin:
    about = metadata(page.tree)
    named = page.tree.head.canonical
    return PageOrigin(url=page.tree.url, title=about.title, date=about.date, canonical=named, language=about.language)
