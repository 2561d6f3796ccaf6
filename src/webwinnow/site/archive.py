"""Arrays and JSON in one `.npz` file, never code. What is read is looked at before it is believed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.errors import ModelError
from webwinnow.markup import STYLE_VERSION

__all__ = ["FORMAT_VERSION", "Column", "pack", "unpack", "within"]

FORMAT_VERSION = 4
LARGEST_COLUMN = 400_000_000
"""Bytes of one array; no true model holds more: above, a file is damaged or means harm."""

Column = NDArray[Any]


def pack(kind: str, about: dict[str, Any], columns: dict[str, Column]) -> bytes:
    """What is known and its arrays as bytes; the same gives the same bytes."""
    told = about | {"kind": kind, "format_version": FORMAT_VERSION, "style_version": STYLE_VERSION}
    return packed_arrays({"about": _json_column(told)} | columns)


def unpack(
    kind: str, data: bytes, name: str, wanted: dict[str, Any], optional: Iterable[dict[str, Any]] = ()
) -> tuple[dict[str, Any], dict[str, Column]]:
    """Read what `pack` wrote: columns of the types `wanted`, and each of the `optional` groups that is there.

    Raises `ModelError` for a file that is foreign, damaged, newer, or learned with other style hashes.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            about = json.loads(bytes(_column(archive, "about", np.uint8)))
            _check_versions(kind, about, name)
            there = {entry.removesuffix(".npy") for entry in archive.namelist()}
            types = wanted | {
                column: dtype for group in optional if there & group.keys() for column, dtype in group.items()
            }
            columns = {column: _column(archive, column, dtype) for column, dtype in types.items()}
    except NOT_ARRAYS as error:
        raise ModelError(f"{name} is not a webwinnow {kind} or is damaged ({error}); learn the site again") from None
    return about, columns


def within(indexes: Column, size: int, lowest: int = 0) -> bool:
    """Whether all indexes lie in `lowest:size`."""
    return not len(indexes) or bool(indexes.min() >= lowest and indexes.max() < size)


def _json_column(told: dict[str, Any]) -> Column:
    return np.frombuffer(json.dumps(told, sort_keys=True).encode(), np.uint8)


def _check_versions(kind: str, about: Any, name: str) -> None:
    version = about.get("format_version") if isinstance(about, dict) else None
    if not isinstance(version, int) or version < 1:
        raise ValueError("it has no format version")
    if version > FORMAT_VERSION:
        raise ModelError(f"{name} has format {version}, this webwinnow reads up to {FORMAT_VERSION}; upgrade webwinnow")
    if version < FORMAT_VERSION:
        raise ModelError(f"{name} has the old format {version}, now it is {FORMAT_VERSION}; learn the site again")
    if about.get("kind") != kind:
        raise ValueError(f"it holds a {about.get('kind')}")
    if about.get("style_version") != STYLE_VERSION:
        raise ModelError(
            f"{name} was learned with styles of version {about.get('style_version')}, "
            f"this webwinnow has {STYLE_VERSION}; learn the site again"
        )


def _column(archive: zipfile.ZipFile, name: str, dtype: Any) -> Column:
    """One array of a file, if it is of the type that it should be."""
    found = read_array(archive, name, LARGEST_COLUMN)
    if found.dtype != dtype or found.ndim != 1:
        raise ValueError(f"{name} is a {found.ndim}-dimensional array of {found.dtype}")
    return found
