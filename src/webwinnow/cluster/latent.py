"""Latent semantic analysis: pages as points in the directions in which their words vary together most."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from webwinnow.cluster.clustering import UnitRows
from webwinnow.errors import MissingExtra

try:
    import scipy.sparse as sp
    from sklearn.decomposition import TruncatedSVD
    from threadpoolctl import threadpool_limits
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("clustering", "mining") from None

DIRECTIONS: Final = 50
"""Directions that clustering uses. 30, 50 and 100 gave the same results on sites-news and sites-swde
(docs/cluster.md)."""
DECIMALS: Final = 6


def latent_rows(unit: UnitRows, directions: int = DIRECTIONS, seed: int = 0) -> UnitRows:
    """The rows in their leading directions, of length 1 again; the rows themselves if they have no more than these.

    Computed on one thread and rounded, so that the result does not depend on the machine's cores. Rows without a
    component in these directions keep no place: they are similar to no page.
    """
    if directions < 1 or directions >= min(unit.rows.shape):
        return unit
    with threadpool_limits(1):
        found = TruncatedSVD(directions, random_state=seed).fit_transform(unit.rows.astype(np.float64))
    return _placed(np.round(found, DECIMALS), unit)


def _placed(found: Any, unit: UnitRows) -> UnitRows:
    """Unit rows of an array, for the same pages."""
    inner = UnitRows.of(sp.csr_matrix(found))
    return UnitRows(inner.rows, inner.columns, unit.page[inner.page], unit.pages)
