"""What a run and its workers say to one another: length-prefixed frames of plain values over pipes.

Frames are written with `marshal`, which knows numbers, strings, bytes, tuples, lists and dicts and nothing that runs.
"""

from __future__ import annotations

import marshal
import struct
from typing import IO, Any

__all__ = ["BEAT", "FAILED", "READY", "RESULT", "receive", "send"]

_LENGTH = struct.Struct("<Q")

READY = "ready"
"""A worker has started."""
BEAT = "beat"
"""A worker is getting on with a long item."""
RESULT = "result"
"""(RESULT, value): an item is done."""
FAILED = "failed"
"""(FAILED, error): an item could not be done; the next one follows."""


def send(pipe: IO[bytes], message: Any) -> None:
    """Write one frame."""
    body = marshal.dumps(message)
    pipe.write(_LENGTH.pack(len(body)))
    pipe.write(body)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one frame; `EOFError` where the other side is gone."""
    head = pipe.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (size,) = _LENGTH.unpack(head)
    body = pipe.read(size)
    if len(body) < size:
        raise EOFError
    return marshal.loads(body)
