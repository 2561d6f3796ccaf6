"""How well clusters agree with classes: F by the best assignment (thesis 5.4), purity, mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import MissingExtra

try:
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics import normalized_mutual_info_score
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("webwinnow.mining", "mining") from None

__all__ = ["Agreement", "agreement", "assigned_f", "contingency", "purity"]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well clusters agree with the classes of the same pages, each from 0 to 1.

    - `f`: mean over classes of F under the assignment of classes to clusters that makes it greatest (thesis 5.4).
    - `purity`: share of pages in the commonest class of their cluster.
    - `nmi`: mutual information of clusters and classes over the mean of their entropies (scikit-learn).
    """

    f: float
    purity: float
    nmi: float

    def __str__(self) -> str:
        return f"F {self.f:.3f}, purity {self.purity:.3f}, NMI {self.nmi:.3f}"


def agreement(classes: Sequence[Any] | NDArray[Any], label: NDArray[Any]) -> Agreement:
    """Compare the clusters of pages, by their numbers, with their classes.

    Pages without a cluster (numbers below 0) count as pages of their class that no cluster found; for `nmi` they are
    one more cluster.
    """
    table, sizes = contingency(classes, label)
    nmi = float(normalized_mutual_info_score(np.asarray(classes), label)) if len(sizes) else 0.0
    return Agreement(assigned_f(table, sizes), purity(table, sizes), nmi)


def contingency(
    classes: Sequence[Any] | NDArray[Any], label: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pages by class (row) and cluster (column), and the pages of each class, those without a cluster too."""
    names, of_page = np.unique(np.asarray(classes), return_inverse=True)
    label = np.asarray(label)
    inside = label >= 0
    _, cluster = np.unique(label[inside], return_inverse=True)
    columns = int(cluster.max()) + 1 if len(cluster) else 0
    cells = np.bincount(of_page[inside] * columns + cluster, minlength=len(names) * columns)
    return cells.reshape(len(names), columns), np.bincount(of_page, minlength=len(names))


def assigned_f(table: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """Thesis 5.4: F = 2pr / (p + r) of each class and the cluster assigned to it, on average over the classes.

    A class that no cluster is left for has F 0. With p = cell / cluster and r = cell / class, F is
    2 cell / (cluster + class).
    """
    if not table.size:
        return 0.0
    f = 2 * table / (table.sum(axis=0) + sizes[:, None])
    rows, columns = linear_sum_assignment(f, maximize=True)
    return float(f[rows, columns].sum() / len(sizes))


def purity(table: NDArray[np.int64], sizes: NDArray[np.int64]) -> float:
    """Share of all pages that are of the commonest class of their cluster."""
    return float(table.max(axis=0).sum() / sizes.sum()) if table.size else 0.0
