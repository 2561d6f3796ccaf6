"""Finished results on disk: a killed run resumes from them, and an additional method costs only its own work.

The key of a result covers everything it depends on: rows or packed trees, settings, the version of webwinnow.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from webwinnow._version import __version__
from webwinnow.storage import pack_arrays, read_arrays, write_file

FORMAT = 1
"""Increase it when the form or meaning of a result changes."""
LARGEST_ARRAY = 1 << 34
"""Larger arrays, in bytes, are not unpacked."""


def cache_key(*parts: bytes | str) -> str:
    """Return the key of a result that depends on these parts."""
    encoded = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    lengths = ",".join(str(len(part)) for part in encoded).encode()
    return xxh3_128_hexdigest(b"".join([f"{FORMAT} {__version__} ".encode(), lengths, *encoded]))


class AnswerCache:
    """A folder of results by key; without a folder, nothing is stored. A damaged file counts as missing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def __bool__(self) -> bool:
        return self.folder is not None

    def get(self, key: str) -> Any:
        """Return a stored JSON value, or None."""
        if self.folder is None:
            return None
        try:
            return json.loads((self.folder / f"{key}.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None

    def put(self, key: str, value: Any) -> None:
        """Store a JSON value."""
        if self.folder is not None:
            write_file(self.folder / f"{key}.json", json.dumps(value).encode(), durable=False)

    def get_arrays(self, key: str, names: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
        """Return stored arrays, or None."""
        if self.folder is None:
            return None
        try:
            return read_arrays(self.folder / f"{key}.npz", names, largest=LARGEST_ARRAY)
        except ValueError:
            return None

    def put_arrays(self, key: str, **arrays: NDArray[Any]) -> None:
        """Store arrays."""
        if self.folder is not None:
            write_file(self.folder / f"{key}.npz", pack_arrays(arrays), durable=False)
