"""Named arrays as the bytes of one `.npz` file and back: data, never code. Models and weights are kept so."""

from __future__ import annotations

import io
import lzma
import tokenize
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["NOT_ARRAYS", "packed_arrays", "read_array"]

NOT_ARRAYS = (
    *(ValueError, KeyError, OSError, EOFError, OverflowError, MemoryError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a file that is foreign or damaged may raise."""


def packed_arrays(columns: dict[str, NDArray[Any]]) -> bytes:
    """Arrays as a `.npz` archive; the same arrays give the same bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, column in columns.items():
            entry = io.BytesIO()
            np.save(entry, column, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), entry.getvalue(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def read_array(archive: zipfile.ZipFile, name: str, largest: int) -> NDArray[Any]:
    """One array of an archive, read-only; its size is looked at before it is unpacked."""
    entry = archive.getinfo(f"{name}.npy")
    if entry.file_size > largest:
        raise ValueError(f"{name} has {entry.file_size:,} bytes")
    try:
        found: NDArray[Any] = np.lib.format.read_array(io.BytesIO(archive.read(entry)), allow_pickle=False)
    except (TypeError, AttributeError, SyntaxError, tokenize.TokenError, lzma.LZMAError) as error:
        raise ValueError(f"{name} is no array ({error})") from None
    found.flags.writeable = False
    return found
