"""Damaged model files for tests: a packed model taken apart, changed and packed again."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import numpy as np

HEADER = "header.json"


def members(data: bytes) -> dict[str, bytes]:
    """The entries of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(entries: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """An archive of some entries."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return out.getvalue()


def npy(values: Any, dtype: Any = None) -> bytes:
    """An array as a `.npy` entry; objects are pickled."""
    out = io.BytesIO()
    np.save(out, np.array(values, dtype), allow_pickle=True)
    return out.getvalue()


def with_arrays(data: bytes, **arrays: Any) -> bytes:
    """A model file with other arrays, or bytes, in some places; None removes one."""
    entries = members(data)
    for name, array in arrays.items():
        if array is None:
            del entries[f"{name}.npy"]
        else:
            entries[f"{name}.npy"] = array if isinstance(array, bytes) else npy(array)
    return archive_of(entries)


def with_header(data: bytes, **changes: Any) -> bytes:
    """A model file with other values in its header (`kind`, `version`, `about`)."""
    entries = members(data)
    return archive_of(entries | {HEADER: json.dumps(json.loads(entries[HEADER]) | changes).encode()})


def with_about(data: bytes, **changes: Any) -> bytes:
    """A model file with other values in its metadata."""
    return with_header(data, about=json.loads(members(data)[HEADER])["about"] | changes)
