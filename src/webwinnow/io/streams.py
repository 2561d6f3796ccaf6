"""A file as a stream of unpacked bytes that says how it ended."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Protocol
from zipfile import BadZipFile

from webwinnow.errors import InputError
from webwinnow.io.decompress import CHUNK_BYTES, CODINGS, packing_of
from webwinnow.io.limits import ReadLimits

__all__ = ["ProblemListener", "Readable", "UnpackedStream"]

ProblemListener = Callable[[str], None]
"""Told, in one sentence that names the input, what is wrong with an input that was read only in part."""


class Readable(Protocol):
    """What a source must offer to be read here."""

    def read(self, size: int = ..., /) -> bytes:
        """Give up to `size` bytes, b"" at the end."""
        ...


class UnpackedStream:
    """The bytes of a source with a gzip or zstd wrapping taken off, as a stream that never raises.

    Where the source breaks the stream ends, and `problem` says why: who reads it looks there at the end. What came
    before the break was given. The ratio limit holds for one record at a time: `mark` says that the next one begins.
    """

    def __init__(self, source: Readable, limits: ReadLimits) -> None:
        self.problem: str | None = None
        self.taken = 0  # packed bytes since the last mark
        self.given = 0  # unpacked bytes since the last mark
        self._limits = limits
        self._told = 0
        self._piece = b""  # unpacked and not yet read: what stands behind `_at`
        self._at = 0
        chunks = self._chunks(source)
        head = self._next(chunks)
        self.packing = packing_of(head)
        chunks = chain([head], chunks)
        self._pieces = CODINGS[self.packing](chunks, False) if self.packing else chunks

    def read(self, size: int = -1, /) -> bytes:
        """Give up to `size` bytes, fewer only at the end; all that is left where `size` is negative."""
        parts = []
        left = size
        while left and self._fill():
            end = len(self._piece) if size < 0 else min(self._at + left, len(self._piece))
            parts.append(self._piece[self._at : end])
            left -= end - self._at
            self._at = end
        unpacked = b"".join(parts)
        self._told += len(unpacked)
        return unpacked

    def peek(self, size: int) -> bytes:
        """Show up to `size` of the bytes that come next, fewer only at the end."""
        while len(self._piece) - self._at < size:
            before = self._piece[self._at :]
            self._piece, self._at = b"", 0
            more = self._fill()
            self._piece = before + self._piece
            if not more:
                break
        return self._piece[self._at : self._at + size]

    def mark(self) -> None:
        """Begin a new record: the ratio limit counts from here."""
        self.taken = self.given = 0

    def tell(self) -> int:
        """Count the bytes read so far."""
        return self._told

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Refuse: a stream only goes forward."""
        raise io.UnsupportedOperation(f"seek to {offset} ({whence}) in a stream")

    def close(self) -> None:
        """Do nothing: who opened the source closes it."""

    def _fill(self) -> bool:
        """See to it that there is something to read; False at the end."""
        if self._at < len(self._piece):
            return True
        self._piece = b"" if self.problem else self._next(self._pieces)
        self._at = 0
        self.given += len(self._piece)
        # What was taken before the mark may still have been inside the decoder: allow for a chunk of it.
        if self.packing and self.given > self._limits.max_ratio * (self.taken + CHUNK_BYTES):
            self.problem = f"one record unpacks to more than {self._limits.max_ratio} times its {self.packing} size"
        return bool(self._piece)

    def _next(self, pieces: Iterator[bytes]) -> bytes:
        try:
            return next(filter(None, pieces), b"")
        except InputError as error:
            self.problem = str(error)
            return b""

    def _chunks(self, source: Readable) -> Iterator[bytes]:
        while True:
            try:
                chunk = source.read(CHUNK_BYTES)
            except (OSError, EOFError, zlib.error, BadZipFile) as error:
                raise InputError(f"it cannot be read on ({error})") from error
            if not chunk:
                return
            self.taken += len(chunk)
            yield chunk
