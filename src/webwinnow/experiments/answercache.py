"""Finished work kept on disk: a run that was killed goes on from there, and one more method costs no more than itself.

What is kept is keyed by all that it was made of (rows or packed trees, settings, the version of webwinnow), so it is
only found again where the same work would give the same.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from xxhash import xxh3_128_hexdigest

from webwinnow._version import __version__
from webwinnow.arrays import NOT_ARRAYS, packed_arrays, read_array
from webwinnow.site.archive import write_whole

__all__ = ["Kept", "key_of"]

FORMAT = 1
"""To be raised where what is kept changes its form or meaning."""
LARGEST_ARRAY = 1 << 34
"""Bytes of one array; larger ones are not unpacked."""


def key_of(*parts: bytes | str) -> str:
    """A name for what is made of these parts."""
    said = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    lengths = ",".join(str(len(part)) for part in said).encode()
    return xxh3_128_hexdigest(b"".join([f"{FORMAT} {__version__} ".encode(), lengths, *said]))


class Kept:
    """A folder of answers by key; None keeps nothing. A damaged file counts as missing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def __bool__(self) -> bool:
        return self.folder is not None

    def answer(self, key: str) -> Any:
        """What was kept as JSON; None if nothing was."""
        if self.folder is None:
            return None
        try:
            return json.loads((self.folder / f"{key}.json").read_bytes())
        except (OSError, ValueError, RecursionError):
            return None

    def keep(self, key: str, answer: Any) -> None:
        """Keep plain values."""
        if self.folder is not None:
            write_whole(self.folder / f"{key}.json", json.dumps(answer).encode())

    def arrays(self, key: str, names: tuple[str, ...]) -> dict[str, NDArray[Any]] | None:
        """Arrays that were kept; None if they are not there."""
        if self.folder is None:
            return None
        try:
            with zipfile.ZipFile(self.folder / f"{key}.npz") as archive:
                return {name: read_array(archive, name, LARGEST_ARRAY) for name in names}
        except NOT_ARRAYS:
            return None

    def keep_arrays(self, key: str, **arrays: NDArray[Any]) -> None:
        """Keep some arrays."""
        if self.folder is not None:
            write_whole(self.folder / f"{key}.npz", packed_arrays(arrays))
