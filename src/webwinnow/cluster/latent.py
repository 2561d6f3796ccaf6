"""Latent semantic analysis: pages as points in the directions in which their words vary together most, and on a map.

All of it runs on one thread and is rounded, so that results do not depend on the cores of the machine.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from webwinnow.cluster.clustering import UnitRows
from webwinnow.cluster.settings import DIRECTIONS

DECIMALS: Final = 6
MOST_POINTS: Final = 5000
"""Most pages on a map: more cannot be distinguished, and their layout takes minutes."""
MAP_DIRECTIONS: Final = 30
"""Directions of the greatest variance that the layout uses."""
PERPLEXITY: Final = 30.0
"""Effective number of neighbours of a page (the usual value of t-SNE)."""
ROUNDS: Final = 500
FEWEST: Final = 5
"""Fewer pages are laid out on a circle: they have no neighbourhoods."""
NO_SPREAD: Final = 1e-6


def latent_rows(unit: UnitRows, directions: int = DIRECTIONS, seed: int = 0) -> UnitRows:
    """The rows in their leading directions, of length 1 again; the rows themselves if they have no more than these.

    Rows without a component in these directions keep no place: they are similar to no page.
    """
    if directions < 1 or directions >= min(unit.rows.shape):
        return unit
    with threadpool_limits(1):
        found = TruncatedSVD(directions, random_state=seed).fit_transform(unit.rows.astype(np.float64))
    inner = UnitRows.of(sp.csr_matrix(np.round(found, DECIMALS)))
    return UnitRows(inner.rows, inner.columns, unit.page[inner.page], unit.pages)


def drawn_pages(unit: UnitRows, seed: int = 0, most: int = MOST_POINTS) -> NDArray[np.int64]:
    """The rows that a map shows, in order: all of them, or a random sample."""
    if len(unit.page) <= most:
        return np.arange(len(unit.page))
    return np.sort(np.random.default_rng((seed, most)).choice(len(unit.page), most, replace=False))


def plane(rows: Any, seed: int = 0) -> NDArray[np.float64]:
    """Coordinates from 0 to 1 for each of some unit rows: latent semantic directions, then t-SNE.

    As always with t-SNE, distances between distant groups mean little.
    """
    pages = rows.shape[0]
    directions = min(MAP_DIRECTIONS, pages - 1, rows.shape[1] - 1)
    if pages < FEWEST or directions < 2:
        return _circle(pages)
    with threadpool_limits(1):
        latent = TruncatedSVD(directions, random_state=seed).fit_transform(rows)
        deviation = latent.std(axis=0)
        if deviation.max() < NO_SPREAD:  # all pages are equal
            return _circle(pages)
        first = latent[:, np.argsort(-deviation, kind="stable")[:2]] / deviation.max() * 1e-4
        layout = TSNE(
            init=first.astype(np.float32),
            perplexity=min(PERPLEXITY, (pages - 1) / 3),
            max_iter=ROUNDS,
            random_state=seed,
            n_jobs=1,
        ).fit_transform(latent.astype(np.float32))
    return _scaled(layout.astype(np.float64))


def _circle(pages: int) -> NDArray[np.float64]:
    turn = 2 * np.pi * np.arange(pages) / max(pages, 1)
    around = 0.5 + 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    return around if pages > 1 else np.full((pages, 2), 0.5)


def _scaled(layout: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scaled into the unit square, with the same factor for both axes."""
    least, most = layout.min(axis=0), layout.max(axis=0)
    size = max(float((most - least).max()), NO_SPREAD)
    scaled: NDArray[np.float64] = 0.5 + (layout - (least + most) / 2) / size
    return scaled
