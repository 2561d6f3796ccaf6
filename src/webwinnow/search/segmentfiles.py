"""Checksums of the files of a tantivy index. tantivy does not check them on opening, and damage can abort it."""

from __future__ import annotations

import json
import re
import zlib
from pathlib import Path
from typing import Any, Final

from webwinnow.errors import InputError

MOST_CHECKED: Final = 1 << 28
"""Bytes of a level of an index above which its files are not checked. Ours: reading them takes a third of a second."""
_MAGIC: Final = (1337).to_bytes(4, "little")
_SEGMENT: Final = re.compile("[0-9a-f]{32}")
_COMPONENTS: Final = (".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term")
"""Files of every segment; others have what was deleted."""


def check_segments(path: Path) -> None:
    """Raise `InputError` if a file of a segment is missing or not as it was written, or all are without a list of them.

    A file ends with a footer in JSON that has the CRC-32 of what is before it, the length of the footer, and a magic
    number (tantivy, `directory/footer.rs`).
    """
    if not (path / "meta.json").exists() and any(_SEGMENT.match(file.name) for file in path.iterdir()):
        # tantivy would make an empty index of it
        raise InputError(f"{path} is a damaged index (it has no meta.json); make it again")
    names = _segment_names(path)
    missing = [f"{name}{end}" for name in names for end in _COMPONENTS if not (path / f"{name}{end}").is_file()]
    if missing and names == _segment_names(path):  # another process may just have joined them
        raise InputError(f"{path} is a damaged index (it has no {missing[0]}); make it again")
    files = [file for name in names for file in sorted(path.glob(f"{name}.*")) if file.is_file()]
    if sum(file.stat().st_size for file in files) > MOST_CHECKED:
        return
    for file in files:
        if not _is_whole(file.read_bytes()):
            raise InputError(f"{path} is a damaged index ({file.name} has a wrong checksum); make it again")


def _segment_names(path: Path) -> list[str]:
    """The segments in use; the files of others may just be written or removed."""
    try:
        found = json.loads((path / "meta.json").read_bytes())["segments"]
        used = {str(segment["segment_id"]).replace("-", "") for segment in found}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # none yet, or tantivy refuses it
        return []
    return sorted(filter(_SEGMENT.fullmatch, used))


def _is_whole(content: bytes) -> bool:
    length = int.from_bytes(content[-8:-4], "little")
    start = len(content) - 8 - length
    if not content.endswith(_MAGIC) or start < 0:
        return False
    try:
        footer: Any = json.loads(content[start:-8])
        return bool(footer["crc"] == zlib.crc32(content[:start]))
    except (ValueError, LookupError, TypeError, RecursionError):
        return False
