"""Find the next record of a damaged WARC file, so that damage costs the records it hits and not those after them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Final, NamedTuple, cast
from zipfile import BadZipFile

import zstandard

from webwinnow.errors import InputError
from webwinnow.run.unpacking import (
    GZIP_MAGIC,
    GZIP_WRAPPED,
    MB,
    ZSTD_FILE_WINDOW,
    ZSTD_MAGIC,
    ReadLimits,
    UnpackedStream,
    zstd_unpacker,
)

MOST_FALSE_STARTS: Final = 100_000
"""Places that look like a gzip member or a zstd frame and are none, after which the search ends."""
_GZIP_HEAD_BYTES: Final = 4096
"""Packed bytes that contain the beginning of a record."""
_ZSTD_HEAD_BYTES: Final = 130 << 10
"""The same for zstd: a frame unpacks block by block, and a block has up to 128 KB (RFC 8878, 3.1.1.2)."""
_BEGINNING: Final = b"WARC/"
_RECORD: Final = re.compile(rb"\nWARC/[01]\.[0-9]{1,2}\r?\n")
_RECORD_BYTES: Final = 16
_BOUNDARY: Final = re.compile(rb"\r\n\r\n(?=WARC/[01]\.[0-9]{1,2}\r\n)")
_BLANK_LINE: Final = b"\r\n\r\n"
_CONTENT_LENGTH: Final = re.compile(rb"\r\nContent-Length:[ \t]*+([0-9]{1,18})[ \t]*+\r\n", re.IGNORECASE)
_LONGEST_HEADER: Final = 64 << 10
MOST_BOUNDARIES: Final = 1_000_000
"""Records behind one of a wrong length, after which the search ends."""
_UNREADABLE: Final = (InputError, OSError, EOFError, ValueError, RuntimeError, OverflowError, zlib.error, BadZipFile)


class Place(NamedTuple):
    """Where the damage of a stream is: behind `end` unpacked bytes that belong to records before it.

    `record`: where the last of these records begins; `complete`: it was read to its end.
    """

    end: int
    record: int
    complete: bool


def next_record(stream: UnpackedStream, damage: Place, limits: ReadLimits) -> UnpackedStream | None:
    """Return a stream that begins with the first record after some damage, or None.

    In a packed file of one record per gzip member or zstd frame, records begin where those do. Elsewhere they begin
    with a line `WARC/1.0`; a page could contain such a line, so these are searched only behind a record that is
    complete, or if the records that begin so follow each other up to the very end (`_behind_wrong_length`). A pipe is
    searched from the bytes that are still kept.
    """
    source = cast("IO[bytes]", stream.source)
    try:
        seekable = source.seekable()
        place = source.tell() if seekable else 0
        if seekable and not damage.complete and not stream.problem:
            found = _behind_wrong_length(stream, source, damage.record, limits)
            if found is not None:
                return found
        if seekable:
            if stream.packing is None:
                at = _next_line(source, stream.base + damage.end) if damage.complete else None
            elif damage.complete and not stream.problem and _has_records_inside(stream, damage.record):
                return _read_on(stream, damage.end)
            else:
                at = _next_member(stream, source, damage.end)
            if at is not None:
                return _again(stream, source, at, limits)
            if stream.packing is None:
                return None
            source.seek(place)  # a single member
    except _UNREADABLE:
        return None
    return _read_on(stream, damage.end) if damage.complete else None


def _again(stream: UnpackedStream, source: IO[bytes], at: int, limits: ReadLimits) -> UnpackedStream:
    """A stream that begins at another place of the same file."""
    source.seek(at)
    return UnpackedStream(source, limits, at, stream.dictionary)


def _has_records_inside(stream: UnpackedStream, record: int) -> bool:
    """Whether a record that was read began inside a gzip member or zstd frame."""
    return bool(stream.starts) and stream.starts[0][0] < record


def _next_line(source: IO[bytes], start: int) -> int | None:
    """The place of the next record in a file that is not packed."""
    for at, window in _windows(source, start, _RECORD_BYTES):
        found = _RECORD.search(window)
        if found is not None:
            return at + found.start() + 1
    return None


def _behind_wrong_length(
    stream: UnpackedStream, source: IO[bytes], record: int, limits: ReadLimits
) -> UnpackedStream | None:
    """A stream that begins with the record behind one whose length is wrong, so that it reached to the end of the file.

    A file that was cut off looks the same, and its last page may contain what looks like records. Those do not end
    where the file ends.
    """
    read = _again(stream, source, stream.base, limits)
    _skip(read, record)
    at = _first_of_chain(*_records_in(read))
    if at is None or read.problem:
        return None
    if stream.packing is None:
        return _again(stream, source, stream.base + at, limits)
    read = _again(stream, source, stream.base, limits)
    _skip(read, at)
    return read


def _skip(stream: UnpackedStream, size: int) -> None:
    while size > 0 and (skipped := len(stream.read(min(size, MB)))):
        stream.mark(stream.tell())
        size -= skipped


def _records_in(stream: UnpackedStream) -> tuple[dict[int, int], int]:
    """Where records begin in the rest of a stream, with the place where the next should, and the end of the stream."""
    found: dict[int, int] = {}
    at, held = stream.tell(), b""
    while piece := stream.read(MB):
        stream.mark(stream.tell())
        held += piece
        done = max(len(held) - _LONGEST_HEADER, 0)  # records behind it may have more of their header in the next piece
        _note_records(held, at, done, found)
        at, held = at + done, held[done:]
        if len(found) > MOST_BOUNDARIES:
            return {}, 0
    _note_records(held, at, len(held), found)
    return found, at + len(held)


def _note_records(window: bytes, at: int, done: int, found: dict[int, int]) -> None:
    """Note the records of a window that begin before its place `done`."""
    for boundary in _BOUNDARY.finditer(window):
        if boundary.start() >= done:
            return
        start = boundary.end()
        end = window.find(_BLANK_LINE, start)
        length = None if end < 0 else _CONTENT_LENGTH.search(window, start, end + 2)
        if length is not None:
            size = end - start + 2 * len(_BLANK_LINE) + int(length[1])
            found[at + start] = at + start + size


def _first_of_chain(records: dict[int, int], end: int) -> int | None:
    """The first record, if the last one ends at the end, and others before the next one or are of a wrong length."""
    following = None
    for start, after in records.items():
        if following is None or start >= following:  # others are in the content of a record
            following = after if after in records or after == end else None
    return next(iter(records)) if following == end else None


def _next_member(stream: UnpackedStream, source: IO[bytes], after: int) -> int | None:
    """The place of the next member or frame with a record: one that was read, or else one that looks like it."""
    known = list(stream.starts)
    for unpacked, packed in known[:-1] if stream.problem else known:  # the last one is what cannot be unpacked
        if unpacked > after:
            return stream.base + packed
    last = known[-1][1] if known else 0
    begins: Callable[[bytes], bool] = _begins_in_gzip
    magic, head_bytes = GZIP_MAGIC, _GZIP_HEAD_BYTES
    if stream.packing == "zstd":
        begins = partial(_begins_in_zstd, zstd_unpacker(stream.dictionary, ZSTD_FILE_WINDOW))
        magic, head_bytes = ZSTD_MAGIC, _ZSTD_HEAD_BYTES
    tried = 0
    for at, window in _windows(source, stream.base + last + 1, head_bytes):
        found = window.find(magic)
        while found >= 0:
            if begins(window[found : found + head_bytes]):
                return at + found
            tried += 1
            if tried > MOST_FALSE_STARTS:
                return None
            found = window.find(magic, found + 1)
    return None


def _begins_in_gzip(packed: bytes) -> bool:
    try:
        return zlib.decompressobj(GZIP_WRAPPED).decompress(packed, len(_BEGINNING)) == _BEGINNING
    except zlib.error:
        return False


def _begins_in_zstd(unpacker: zstandard.ZstdDecompressor, packed: bytes) -> bool:
    try:
        return unpacker.stream_reader(packed).read(len(_BEGINNING)) == _BEGINNING
    except zstandard.ZstdError:
        return False


def _windows(source: IO[bytes], start: int, overlap: int) -> Iterator[tuple[int, bytes]]:
    """Pieces of a file from `start`, each with its place; each begins with the last bytes of the one before."""
    source.seek(start)
    held = b""
    while piece := source.read(MB):
        yield start, held + piece
        start += len(held) + len(piece)
        held = (held + piece)[-overlap:]
        start -= len(held)


def _read_on(stream: UnpackedStream, end: int) -> UnpackedStream | None:
    """Read a stream up to its next record after `end`."""
    stream.rewind(end)
    while not stream.problem:
        head = stream.peek(MB)
        if len(head) < _RECORD_BYTES:
            return None
        found = _RECORD.search(head)
        stream.mark()
        if found is not None:
            stream.read(found.start() + 1)
            return stream
        stream.read(len(head) - _RECORD_BYTES + 1)
    return None
