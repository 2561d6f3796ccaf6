"""Checks of arrays: those of a model file, and read-only arrays."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]
Array = TypeVar("Array", bound=NDArray[Any])


def frozen(array: Array) -> Array:
    """Make an array read-only."""
    array.flags.writeable = False
    return array


def keys(arrays: Arrays, name: str) -> NDArray[np.uint64]:
    """Ascending hashes of words; `ValueError` if they are not."""
    found = arrays[name]
    if found.ndim != 1 or found.dtype != np.uint64 or not (found[1:] > found[:-1]).all():
        raise ValueError(f"{name} has no ascending hashes")
    return found


def floats(
    arrays: Arrays, name: str, shape: tuple[int, ...], low: float = 0.0, high: float = np.inf
) -> NDArray[np.float64]:
    """Numbers of this shape, within bounds; `ValueError` if they are not."""
    found = arrays[name]
    if found.shape != shape or found.dtype != np.float64 or not ((found >= low) & (found <= high)).all():
        raise ValueError(f"{name} of shape {found.shape} and type {found.dtype}: expected {shape}, {low} to {high}")
    return found


def indexes(arrays: Arrays, name: str, size: int) -> NDArray[np.int64]:
    """A row of indexes below `size`; `ValueError` if they are not."""
    found: NDArray[Any] = arrays[name]
    if found.ndim != 1 or found.dtype != np.int64 or (len(found) and not (found.min() >= 0 and found.max() < size)):
        raise ValueError(f"{name} has no numbers from 0 to below {size}")
    return found
