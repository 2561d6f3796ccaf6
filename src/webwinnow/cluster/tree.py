"""The hierarchy of clusters: which are merged first when fewer are wanted, cut at any number of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from webwinnow.cluster.clustering import Labels, UnitRows, members
from webwinnow.counted import counted
from webwinnow.errors import SettingsError

LINKAGE: Final = "average"


class Merge(NamedTuple):
    """Two groups that become one: numbers below the number of clusters are clusters, others earlier merges.

    `distance` is 1 - cosine, on average over pairs of clusters. `name` is that of the merged group.
    """

    one: int
    other: int
    distance: float
    name: str


class ClusterTree(NamedTuple):
    """The merges of clusters, the most similar first: `merges[i]` makes group `clusters + i`."""

    clusters: int
    merges: tuple[Merge, ...]

    def clusters_of(self, group: int) -> list[int]:
        """The clusters in a group, ascending."""
        found, open_groups = [], [group]
        while open_groups:
            part = open_groups.pop()
            if part < self.clusters:
                found.append(part)
            else:
                open_groups += self.merges[part - self.clusters][:2]
        return sorted(found)

    def cut(self, groups: int) -> list[int]:
        """The group of each cluster when there are so many groups: the last merges are undone."""
        if not 1 <= groups <= self.clusters:
            wanted = f"{counted(groups, 'group')} of {counted(self.clusters, 'cluster')}"
            raise SettingsError(f"{wanted}: expected 1 to {self.clusters}")
        group = list(range(self.clusters))
        for number, merge in enumerate(self.merges[: self.clusters - groups], start=self.clusters):
            group = [number if of in (merge.one, merge.other) else of for of in group]
        return group

    def name(self, group: int, names: Sequence[str]) -> str:
        """The name of a group; `names` are those of the clusters."""
        return names[group] if group < self.clusters else self.merges[group - self.clusters].name


def cluster_tree(unit: UnitRows, label: Labels, name: Callable[[list[int]], str]) -> ClusterTree:
    """Merge clusters by the cosine of their centroids, average linkage; `name` gives the name of some clusters."""
    inside = label[unit.page]
    sums: Any = (members(inside) @ unit.rows.astype(np.float64)).toarray()
    clusters = sums.shape[0]
    if clusters < 2:
        return ClusterTree(clusters, ())
    found = linkage(_apart(sums), LINKAGE)
    tree = ClusterTree(clusters, tuple(Merge(int(a), int(b), round(float(d), 6), "") for a, b, d, _ in found))
    named = tuple(
        merge._replace(name=name(tree.clusters_of(clusters + number))) for number, merge in enumerate(tree.merges)
    )
    return ClusterTree(clusters, named)


def _apart(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - cosine of each pair of centroids, as scipy's condensed distances; 1 to a centroid of no length."""
    length = np.linalg.norm(sums, axis=1, keepdims=True)
    centre = sums / np.where(length > 0, length, 1)
    one, other = np.triu_indices(len(sums), 1)
    apart: NDArray[np.float64] = np.clip(1 - (centre @ centre.T)[one, other], 0, 2).round(6)
    return apart
