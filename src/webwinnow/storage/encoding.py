"""Values as bytes: JSON for files, and length-prefixed `marshal` frames for the pipes between processes.

JSON is msgspec's, and the standard library's where msgspec refuses: surrogates, line breaks in strings, NaN.

`marshal` knows numbers, strings, bytes, tuples, lists and dicts, nothing that runs code on reading. Both ends are the
same Python and the same webwinnow; frames are never kept in files or sent to other machines. Long byte strings, such as
pages, follow their frame instead of being part of it: they are written from where they are, and read where they stay.
"""

from __future__ import annotations

import json
import marshal
import struct
from collections.abc import Iterator
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import msgspec

LARGEST_FRAME: Final = 1 << 40
"""Bytes of a frame; a larger length means that the two ends have lost step."""
LONG_BYTES: Final = 1 << 15
"""Bytes of a string that follows its frame."""
_LENGTHS: Final = struct.Struct("<QQ")
"""Bytes of a frame, and the number of strings that follow it."""
_LENGTH: Final = struct.Struct("<Q")


def to_json(value: Any, *, surrogates: Literal["replace", "keep"] = "replace") -> bytes:
    """Return compact JSON in UTF-8; equal values give equal bytes. Lone surrogates become `?` or stay, as escapes."""
    try:
        return _coders()[0].encode(value)
    except UnicodeEncodeError:
        text = json.dumps(value, ensure_ascii=surrogates == "keep", allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8", "replace")


def from_json(text: str | bytes) -> Any:
    """Read JSON; line breaks in strings and infinite numbers are allowed. Raises `ValueError`, `RecursionError`."""
    try:
        return _coders()[1].decode(text)
    except ValueError:  # a MsgspecError or a UnicodeError is one
        return json.loads(text, strict=False)


@cache
def _coders() -> tuple[msgspec.json.Encoder, msgspec.json.Decoder[Any]]:
    import msgspec  # noqa: PLC0415 (a page without JSON starts sooner)

    return msgspec.json.Encoder(), msgspec.json.Decoder()


# Frames


def write_all(stream: IO[bytes], data: bytes | memoryview) -> None:
    """Write all bytes or raise `OSError`: an unbuffered file or pipe may take only some at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[stream.write(rest) or 0 :]


def write_frame(stream: IO[bytes], message: Any) -> None:
    """Write a message and flush it. A `memoryview` of bytes in a tuple or list is read as bytes."""
    long: list[bytes | memoryview] = []
    body = marshal.dumps(_without_long(message, long))
    write_all(stream, _LENGTHS.pack(len(body), len(long)) + body)
    for data in long:
        write_all(stream, _LENGTH.pack(len(data)))
        write_all(stream, data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Any:
    """Read the next message. Raises `EOFError` where the other end has closed the pipe, inside a frame or between."""
    size, following = _LENGTHS.unpack(_read_exactly(stream, _LENGTHS.size))
    message = marshal.loads(_read_exactly(stream, size))
    if not following:
        return message
    return _with_long(message, (_read_long(stream) for _ in range(following)))


def _without_long(value: Any, long: list[bytes | memoryview]) -> Any:
    """A message with `...` for each long string, which is added to `long`."""
    kind = type(value)
    if kind is tuple or kind is list:
        return kind([_without_long(item, long) for item in value])
    if kind is memoryview or (kind is bytes and len(value) >= LONG_BYTES):
        long.append(value)
        return ...
    return value


def _with_long(value: Any, long: Iterator[bytes]) -> Any:
    """A message with its long strings again."""
    if value is ...:
        return next(long)
    kind = type(value)
    return kind([_with_long(item, long) for item in value]) if kind is tuple or kind is list else value


def _read_long(stream: IO[bytes]) -> bytes:
    return _read_exactly(stream, *_LENGTH.unpack(_read_exactly(stream, _LENGTH.size)))


def _read_exactly(stream: IO[bytes], size: int) -> bytes:
    if size > LARGEST_FRAME:
        raise EOFError(f"a frame of {size:,} bytes")
    data = stream.read(size)
    if len(data) == size:
        return data
    parts = [data]  # a pipe gives a part at a time
    while size := size - len(parts[-1]):
        parts.append(stream.read(size))
        if not parts[-1]:
            raise EOFError
    return b"".join(parts)
