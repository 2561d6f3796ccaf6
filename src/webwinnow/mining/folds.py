"""Folds for cross-validation: whole sites are held out where that can be, since pages of one site are alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FOLDS", "LEAST_SITES", "Folds", "choose_folds"]

FOLDS = 5
LEAST_SITES = 3
"""With fewer sites, folds are by page: half of the sites would have to tell of the other half."""
LEAST_SHARE = 0.5
"""Folds are by site where at least so many pages are of classes that other sites have too."""


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """For each page the fold that it is held out in; `by` is `site` or `page`, `why` a few words on it."""

    number: NDArray[np.int64]
    count: int
    by: str
    why: str


def choose_folds(
    truth: NDArray[np.int64],
    sites: Sequence[str] | NDArray[np.str_] | None = None,
    *,
    most: int = FOLDS,
    seed: int = 0,
) -> Folds | None:
    """Cut pages of the classes `truth` into at most so many folds; None where there are not two pages, or folds.

    By site, if there are `LEAST_SITES` sites and most pages are of classes that stand on two of them or more: a class
    of one site cannot be known while that site is held out. Else by page, the classes dealt out evenly.
    """
    if most < 2 or len(truth) < 2:
        return None
    if sites is None:
        return Folds(*_by_page(truth, most, seed), "page", "no sites were given")
    names, site = np.unique(np.asarray(sites, np.str_), return_inverse=True)
    if len(names) < LEAST_SITES:
        told = f"{len(names)} site{'s' * (len(names) != 1)}; by site from {LEAST_SITES} on"
        return Folds(*_by_page(truth, most, seed), "page", told)
    shared = sites_of_classes(truth, site)[truth] > 1
    if shared.mean() < LEAST_SHARE:
        told = f"{1 - shared.mean():.0%} of the pages are of classes that one site alone has"
        return Folds(*_by_page(truth, most, seed), "page", told)
    return Folds(*_by_site(site, most), "site", f"{len(names)} sites")


def sites_of_classes(truth: NDArray[np.int64], site: NDArray[np.int64]) -> NDArray[np.int64]:
    """On how many sites each class stands."""
    pairs = np.unique(np.stack((truth, site)), axis=1)
    return np.bincount(pairs[0], minlength=int(truth.max()) + 1)


def _by_site(site: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], int]:
    """The largest site goes to the fold with the fewest pages, and so on."""
    pages = np.bincount(site)
    count = min(most, len(pages))
    filled = np.zeros(count, np.int64)
    fold = np.zeros(len(pages), np.int64)
    for s in np.lexsort((np.arange(len(pages)), -pages)).tolist():
        fold[s] = int(filled.argmin())
        filled[fold[s]] += pages[s]
    return fold[site], count


def _by_page(truth: NDArray[np.int64], most: int, seed: int) -> tuple[NDArray[np.int64], int]:
    """Pages in random order, class after class, dealt out like cards."""
    count = min(most, len(truth))
    order = np.lexsort((np.random.default_rng(seed).permutation(len(truth)), truth))
    fold = np.zeros(len(truth), np.int64)
    fold[order] = np.arange(len(truth)) % count
    return fold, count
