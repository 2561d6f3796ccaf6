"""Checksums of the files of a tantivy index. tantivy does not check them on opening, and damage can abort it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from webwinnow.errors import InputError

MOST_CHECKED: Final = 1 << 28
"""Bytes of a level of an index above which its files are not checked. Ours: reading them takes a third of a second."""
_MAGIC: Final = (1337).to_bytes(4, "little")
_SEGMENT: Final = re.compile("[0-9a-f]{32}")


def check_segments(path: Path) -> None:
    """Raise `InputError` if a file of a segment is not as it was written; a missing file is tantivy's to report.

    A file ends with a footer in JSON that has the CRC-32 of what is before it, the length of the footer, and a magic
    number (tantivy, `directory/footer.rs`).
    """
    files = [file for file in _segment_files(path) if file.is_file()]
    if sum(file.stat().st_size for file in files) > MOST_CHECKED:
        return
    for file in files:
        if not _is_whole(file.read_bytes()):
            raise InputError(f"{path} is a damaged index ({file.name} has a wrong checksum); make it again")


def _segment_files(path: Path) -> Iterator[Path]:
    """The files of the segments in use; others may just be written or removed."""
    try:
        found = json.loads((path / "meta.json").read_bytes())["segments"]
        used = {str(segment["segment_id"]).replace("-", "") for segment in found}
    except (OSError, ValueError, LookupError, TypeError, RecursionError):  # none yet, or tantivy refuses it
        return
    for name in sorted(used):
        if _SEGMENT.fullmatch(name):
            yield from sorted(path.glob(f"{name}.*"))


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
