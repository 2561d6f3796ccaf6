"""What the crawl and its child process tell each other: JSON, with a page's body where there is one, in frames.

A frame is its length in four bytes, then that many bytes: a line of JSON, and the body behind its line end.
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any, Final, NamedTuple

from webwinnow.errors import InputError

__all__ = ["Message", "read_message", "write_message"]

LONGEST_FRAME: Final = (1 << 31) - 1
_LENGTH: Final = struct.Struct("!I")


class Message(NamedTuple):
    """`kind` says what it is about: see `child` and `run`, which are the two ends."""

    kind: str
    about: dict[str, Any]
    body: bytes = b""


def packed(message: Message) -> bytes:
    """A message as the bytes of a frame, without its length."""
    return json.dumps([message.kind, message.about]).encode() + b"\n" + message.body


def unpacked(frame: bytes) -> Message:
    """The message of a frame."""
    line, _, body = frame.partition(b"\n")
    kind, about = json.loads(line)
    return Message(kind, about, body)


def write_message(stream: IO[bytes], message: Message) -> None:
    """Write a frame and flush it."""
    frame = packed(message)
    whole = memoryview(_LENGTH.pack(len(frame)) + frame)
    while whole:
        whole = whole[stream.write(whole) or 0 :]  # an unbuffered pipe may take a part
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """Read a frame; None where the other end has gone."""
    head = _read_exactly(stream, _LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    if length > LONGEST_FRAME:
        raise InputError(f"a message of {length} bytes: expected at most {LONGEST_FRAME}")
    frame = _read_exactly(stream, length)
    return None if frame is None else unpacked(frame)


def _read_exactly(stream: IO[bytes], size: int) -> bytes | None:
    parts = []
    while size > 0:
        part = stream.read(size)
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
