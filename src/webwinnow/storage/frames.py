"""Messages between a process and its children: length-prefixed `marshal` frames over pipes.

`marshal` knows numbers, strings, bytes, tuples, lists and dicts, nothing that runs code on reading. Both ends are the
same Python and the same webwinnow; frames are never kept in files or sent to other machines.
"""

from __future__ import annotations

import marshal
import struct
from typing import IO, Any, Final

LARGEST_FRAME: Final = 1 << 40
"""Bytes of a frame; a larger length means that the two ends have lost step."""
_LENGTH: Final = struct.Struct("<Q")


def write_frame(stream: IO[bytes], message: Any) -> None:
    """Write a message and flush it. An unbuffered pipe may take it in several parts."""
    body = marshal.dumps(message)
    for part in (_LENGTH.pack(len(body)), body):
        rest = memoryview(part)
        while rest:
            rest = rest[stream.write(rest) or 0 :]
    stream.flush()


def read_frame(stream: IO[bytes]) -> Any:
    """Read the next message. Raises `EOFError` where the other end has closed the pipe, inside a frame or between."""
    (size,) = _LENGTH.unpack(_read_exactly(stream, _LENGTH.size))
    if size > LARGEST_FRAME:
        raise EOFError(f"a frame of {size:,} bytes")
    return marshal.loads(_read_exactly(stream, size))


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) == size:
        return data
    parts = [data]
    while data and (left := size - sum(map(len, parts))):
        data = stream.read(left)
        parts.append(data)
    if not data:
        raise EOFError
    return b"".join(parts)
