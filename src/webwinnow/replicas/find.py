"""Replicas of a collection: clusters of alike pages, in each the copy that stays, and what the others are to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.replicas.clusters import Places, alike, joined, likeness
from webwinnow.replicas.settings import ReplicaSettings
from webwinnow.replicas.sketch import Sketches

__all__ = ["RELATIONS", "Mirror", "Replicas", "find_replicas"]

RELATIONS: Final = ("", "copy", "version", "mirror")
"""What a page is to the copy that stays, by code: that copy itself, a copy, an older version, a page of a mirror."""
_COPY, _VERSION, _MIRROR = 1, 2, 3
SLACK: Final = 0.2
"""A page that came into a cluster by way of others stays in it if it is not clearly less alike to the copy that stays:
by four standard errors of the estimate."""
ROUNDS: Final = 8
"""A cluster is parted so often at most; what is left then stays."""
MIRROR_PAGES: Final = 5
MIRROR_SHARE: Final = 0.5
"""A site mirrors another if so many of its pages, and this share of them, have a replica there. Ours, untuned."""


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
    """For each page its cluster, the page that stays, what it is to that one (`RELATIONS`) and how much alike.

    Clusters are numbered in the order of their first pages. `fingerprinted` says which pages could be compared.
    """

    cluster: Places
    stays: Places
    relation: NDArray[np.uint8]
    similarity: NDArray[np.float32]
    fingerprinted: NDArray[np.bool_]
    mirrors: tuple[Mirror, ...]

    def __len__(self) -> int:
        return len(self.cluster)

    @property
    def count(self) -> int:
        """How many pages are replicas of one that stays."""
        return int(np.count_nonzero(self.relation))

    def counts(self) -> dict[str, int]:
        """How many pages there are of each relation."""
        counted = np.bincount(self.relation, minlength=len(RELATIONS)).tolist()
        return {name: counted[code] for code, name in enumerate(RELATIONS) if name}


def find_replicas(sketches: Sketches, settings: ReplicaSettings | None = None) -> Replicas:
    """Find the replicas among pages, given their sketches in page order; a memory map will do.

    The same pages in another order give the same clusters, and the same page of each stays unless two of its pages have
    the same traits. Memory is some 60 bytes a page and `KEY_BYTES`.
    """
    settings = settings or ReplicaSettings()
    first = joined(sketches, settings)
    stays = _chosen(sketches, first)
    for _ in range(ROUNDS):
        if not _part(sketches, first, stays, settings):
            break
        stays = _chosen(sketches, first)
    relation, similarity, mirrors = _relations(sketches, stays)
    return Replicas(
        cluster=np.unique(first, return_inverse=True)[1].astype(np.int64),
        stays=stays,
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
    """For each page the copy of its cluster that stays.

    The best address has most canonical links of the cluster pointing to it, then the shortest URL, the earliest date,
    the first place in the input. Of the versions of that page the newest stays.
    """
    stays = np.arange(len(first), dtype=np.int64)
    pages = _members(first)
    if not len(pages):
        return stays
    cluster, rows = first[pages], sketches[_traits(sketches)][pages]
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
    kept = newest[np.append(True, cluster[newest[1:]] != cluster[newest[:-1]])]
    stays[pages] = pages[kept[of]]
    return stays


def _traits(sketches: Sketches) -> list[str]:
    return [name for name in sketches.dtype.names or () if name != "slots"]


def _votes(cluster: Places, rows: Sketches) -> NDArray[np.int64]:
    """How many canonical links of a page's cluster name its address."""
    pointing = rows["named"] != 0
    named = np.stack([cluster[pointing].astype(np.uint64), rows["named"][pointing]], axis=1)
    asked = np.stack([cluster.astype(np.uint64), rows["address"]], axis=1)
    _, of = np.unique(np.concatenate([named, asked]), axis=0, return_inverse=True)
    of = of.reshape(-1)
    votes: NDArray[np.int64] = np.bincount(of[: len(named)], minlength=int(of.max()) + 1)[of[len(named) :]]
    return votes


def _part(sketches: Sketches, first: Places, stays: Places, settings: ReplicaSettings) -> bool:
    """Let go, in place, what is clearly unlike the copy that stays: of each cluster into a new one. False if nothing is."""
    pages = np.flatnonzero(stays != np.arange(len(stays)))
    if settings.method != "modern" or not len(pages):
        return False
    unlike = pages[~alike(sketches, pages, stays[pages], settings, slack=SLACK)]
    for members in (unlike, np.setdiff1d(_members(first), unlike)):  # a cluster is named by its first page
        _, start, of = np.unique(first[members], return_index=True, return_inverse=True)
        first[members] = members[start[of]]
    return bool(len(unlike))


def _relations(
    sketches: Sketches, stays: Places
) -> tuple[NDArray[np.uint8], NDArray[np.float32], tuple[Mirror, ...]]:
    """What each page is to the one that stays, and how much alike; which sites mirror another."""
    relation = np.zeros(len(stays), np.uint8)
    similarity = np.ones(len(stays), np.float32)
    pages = np.flatnonzero(stays != np.arange(len(stays)))
    if not len(pages):
        return relation, similarity, ()
    similarity[pages] = likeness(sketches, pages, stays[pages])[0]
    traits = _traits(sketches)
    own, its = sketches[traits][pages], sketches[traits][stays[pages]]
    is_near = (own["near"] == its["near"]) | ((own["named"] == its["named"]) & (own["named"] != 0))
    is_other_time = np.zeros(len(pages), np.bool_)
    for time in ("date", "fetched"):
        is_other_time |= (own[time] != its[time]) & (own[time] != 0) & (its[time] != 0)
    relation[pages] = np.where(is_near & is_other_time, _VERSION, _COPY)
    mirrors = _mirrors(sketches, own, its)
    for mirror in mirrors:
        on_mirror = (own["site"] == mirror.site) & (its["site"] == mirror.of)
        relation[pages[on_mirror]] = _MIRROR
    return relation, similarity, mirrors


def _mirrors(sketches: Sketches, own: Sketches, its: Sketches) -> tuple[Mirror, ...]:
    """Sites most of whose pages have a replica on one other site: the pages `own` are replicas of `its`."""
    across = own["site"] != its["site"]
    own, its = own[across], its[across]
    if not len(own):
        return ()
    site_of = np.asarray(sketches["site"])[np.asarray(sketches["exact"]) != 0]
    sites, sizes = np.unique(site_of, return_counts=True)
    size_of = dict(zip(sites.tolist(), sizes.tolist(), strict=True))
    pairs = np.sort(np.stack([own["site"], its["site"]], axis=1), axis=1)
    found, of, shared = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    same_path = np.bincount(of.reshape(-1), weights=own["path"] == its["path"])
    lost = np.bincount(of.reshape(-1), weights=own["site"] == pairs[:, 0])
    mirrors = []
    for k, (one, other) in enumerate(found.tolist()):
        share = {site: min(1.0, int(shared[k]) / size_of[site]) for site in (one, other)}
        lost_share = {one: lost[k] / shared[k], other: 1 - lost[k] / shared[k]}
        site, of_site = sorted((one, other), key=lambda s: (-share[s], -lost_share[s], s))
        if shared[k] >= MIRROR_PAGES and share[site] >= MIRROR_SHARE:
            mirrors.append(Mirror(site, of_site, int(shared[k]), share[site], float(same_path[k] / shared[k])))
    return tuple(sorted(mirrors, key=lambda mirror: (-mirror.pages, mirror.site, mirror.of)))
