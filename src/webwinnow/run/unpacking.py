"""Bounded decompression: data is unpacked piece by piece, so that a decompression bomb never grows in memory.

Each coding is a generator from packed chunks to unpacked pieces. It raises `InputError` if the packed bytes are damaged
or end early. `unpack_body` applies one to a page, `decode_http_body` those that HTTP headers name, `UnpackedStream` one
to a file.
"""

from __future__ import annotations

import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final
from zipfile import BadZipFile

import brotli  # type: ignore[import-untyped]
import zstandard

from webwinnow.errors import InputError, PageRefused
from webwinnow.run.readers import looks_like_html
from webwinnow.settings import Settings, setting

if TYPE_CHECKING:
    from _typeshed import SupportsRead

MB: Final = 1 << 20
CHUNK_BYTES: Final = 1 << 16  # packed bytes read at once
PIECE_BYTES: Final = 1 << 18  # unpacked bytes requested at once
# python-zstandard cannot limit what one call returns. A block has at least 4 bytes and unpacks to at most 128 KB
# (RFC 8878, 3.1.1.2), so a call with 512 bytes returns at most 16 MB.
ZSTD_CHUNK_BYTES: Final = 512
ZSTD_BODY_WINDOW: Final = 8 * MB  # RFC 9659: the most that the content coding zstd may ask for
ZSTD_FILE_WINDOW: Final = 128 * MB  # the zstd command's default maximum
ZLIB_WRAPPED, ZLIB_RAW, GZIP_WRAPPED = 15, -15, 31  # `wbits` of zlib

GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ZSTD_DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"
MOST_STARTS: Final = 4096  # gzip members whose places are kept, from the current record on
KEPT_BYTES: Final = 256 << 10
"""Unpacked bytes that are kept after they were read. fastwarc reads 64 KB ahead, and a header of up to 64 KB."""
MAX_DICTIONARY_BYTES: Final = 16 * MB  # ours; trained dictionaries have some 100 KB
FILE_RATIO_FLOOR: Final = 256 * MB
"""Bytes that any packed file may unpack to. Ours: a large crawl, and seconds of work if all of it is empty lines."""

ProblemListener = Callable[[str], None]
"""Called with one sentence that names an input and says why it was read only in part."""


class InputProblem(str):
    """Such a sentence; commands that report one end with exit code 1. Remarks on other things are plain `str`."""

    __slots__ = ()


def ignore_problem(problem: str) -> None:
    """Ignore a problem: the default of functions that take a `ProblemListener`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLimits(Settings):
    """Limits for reading inputs. A page over one is refused with a reason; the run continues.

    - `max_page_bytes`: one page's HTML, before and after unpacking. Ours: far above what people write.
    - `max_line_bytes`: one line of JSONL, or one value of Parquet; escapes make a page longer than its HTML.
    - `max_ratio`: unpacked bytes per packed byte, checked above `ratio_floor` bytes (Parquet: 16 MB). Ours: deflate
      cannot exceed 1032 (zlib's own figure), which only a bomb approaches; Brotli and zstd bombs reach tens of
      thousands.
    - `max_spool_bytes`: bytes copied to disk when Parquet or WACZ comes through a pipe, as these need to seek.
    """

    max_page_bytes: Annotated[int, setting("Bytes of a page's HTML.", above=0)] = 64 * MB
    max_line_bytes: Annotated[int, setting("Bytes of a line of JSONL, or of a value of Parquet.", above=0)] = 128 * MB
    max_ratio: Annotated[int, setting("Unpacked bytes per packed byte.", above=0)] = 1000
    ratio_floor: Annotated[int, setting("Unpacked bytes from which the ratio is checked.", above=0)] = 1 * MB
    max_spool_bytes: Annotated[int, setting("Bytes of a pipe that are copied to disk.", above=0)] = 16 * 1024 * MB


def packing_of(head: bytes) -> str | None:
    """Return the coding of a file or body that begins with `head`: gzip, zstd or None."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    # A zstd file may begin with a skippable frame, as WARC files with a dictionary do (RFC 8878, 3.1.2).
    if head.startswith(ZSTD_MAGIC) or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return None


def unpack_body(coding: str, body: bytes, limits: ReadLimits) -> bytes:
    """Unpack one page; raise `PageRefused` if it is damaged or exceeds a limit.

    Junk after the end of gzip, deflate or zstd data is ignored, as in browsers.
    """
    pieces = []
    size = 0
    chunks = (body[at : at + CHUNK_BYTES] for at in range(0, len(body), CHUNK_BYTES))
    try:
        for piece in CODINGS[coding](chunks, True):
            size += len(piece)
            if size > limits.max_page_bytes:
                raise PageRefused(f"the {coding} body unpacks to more than {limits.max_page_bytes} bytes")
            if size > limits.ratio_floor and size > limits.max_ratio * len(body):
                raise PageRefused(f"the {coding} body unpacks to more than {limits.max_ratio} times its size")
            pieces.append(piece)
    except PageRefused:
        raise
    except InputError as error:
        raise PageRefused(str(error)) from error
    return b"".join(pieces)


def _inflated(
    coding: str, wbits: int, chunks: Iterable[bytes], junk_ends: bool, starts: deque[tuple[int, int]] | None = None
) -> Iterator[bytes]:
    """Inflate concatenated zlib streams; with `junk_ends`, data after the first stream that is not gzip is ignored.

    The places of the streams, as (unpacked, packed) bytes before them, are added to `starts` while it has room.
    """
    decoder = None
    complete = 0  # streams that reached their end
    packed = unpacked = 0
    for chunk in chunks:
        packed += len(chunk)
        rest = chunk if decoder is not None or not complete else chunk.lstrip(b"\0")  # files may be padded with zeros
        while rest:
            if decoder is None:
                if junk_ends and complete and not GZIP_MAGIC.startswith(rest[:3]):
                    return
                decoder = zlib.decompressobj(wbits)
                if starts is not None and len(starts) < MOST_STARTS:
                    starts.append((unpacked, packed - len(rest)))
            try:
                piece = decoder.decompress(rest, PIECE_BYTES)
            except zlib.error as error:
                raise InputError(f"the {coding} data is damaged ({error})") from error
            unpacked += len(piece)
            yield piece
            rest = decoder.unconsumed_tail
            while not rest and not decoder.eof and len(piece) == PIECE_BYTES:
                piece = decoder.decompress(b"", PIECE_BYTES)  # what zlib still buffers after a full piece
                unpacked += len(piece)
                yield piece
            if decoder.eof:
                rest = decoder.unused_data.lstrip(b"\0")
                decoder = None
                complete += 1
    if decoder is not None or not complete:
        raise InputError(f"the {coding} data ends early")


def _inflate(chunks: Iterable[bytes], junk_ends: bool) -> Iterator[bytes]:
    """Inflate "deflate": zlib's format by RFC 9110, raw deflate from old servers. The header's checksum decides."""
    chunks = iter(chunks)
    head = next(chunks, b"")
    wrapped = len(head) >= 2 and head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _inflated("deflate", ZLIB_WRAPPED if wrapped else ZLIB_RAW, chain([head], chunks), junk_ends)


def _unbrotli(chunks: Iterable[bytes], _junk_ends: bool) -> Iterator[bytes]:
    """Unpack Brotli; the decoder does not report where its data ended, so trailing junk counts as damage."""
    decoder = brotli.Decompressor()
    for chunk in chunks:
        piece, rest = b"", chunk
        while rest or piece:  # until the decoder returns nothing more for this chunk
            try:
                piece, rest = decoder.process(rest, output_buffer_limit=PIECE_BYTES), b""
            except brotli.error as error:
                raise InputError(f"the br data is damaged ({error})") from error
            yield piece
    if not decoder.is_finished():
        raise InputError("the br data ends early")


def _unzstd(
    chunks: Iterable[bytes],
    junk_ends: bool,
    dictionary: zstandard.ZstdCompressionDict | None = None,
    packed: int = 0,
    starts: deque[tuple[int, int]] | None = None,
) -> Iterator[bytes]:
    """Unpack concatenated zstd frames; bodies (`junk_ends`) have the smaller window and no dictionary.

    The places of the frames are added to `starts` as by `_inflated`; `packed` bytes were before the chunks.
    """
    unpacker = zstd_unpacker(dictionary, ZSTD_BODY_WINDOW if junk_ends else ZSTD_FILE_WINDOW)
    decoder = None
    complete = unpacked = 0
    for chunk in chunks:
        for at in range(0, len(chunk), ZSTD_CHUNK_BYTES):
            rest = chunk[at : at + ZSTD_CHUNK_BYTES]
            packed += len(rest)
            while rest:
                if decoder is None:
                    decoder = unpacker.decompressobj()
                    if starts is not None and len(starts) < MOST_STARTS:
                        starts.append((unpacked, packed - len(rest)))
                try:
                    piece = decoder.decompress(rest)
                except zstandard.ZstdError as error:
                    if junk_ends and complete:
                        return
                    raise InputError(f"the zstd data is damaged ({error})") from error
                unpacked += len(piece)
                yield piece
                rest = decoder.unused_data if decoder.eof else b""
                if decoder.eof:
                    decoder = None
                    complete += 1
    if decoder is not None or not complete:
        raise InputError("the zstd data ends early")


def zstd_unpacker(dictionary: zstandard.ZstdCompressionDict | None, window: int) -> zstandard.ZstdDecompressor:
    """Return an unpacker of frames with windows of at most so many bytes; `InputError` for a damaged dictionary."""
    try:
        return zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=window)
    except zstandard.ZstdError as error:
        raise InputError(f"the zstd dictionary is damaged ({error})") from error


def _zstd_dictionary(chunks: Iterator[bytes]) -> tuple[zstandard.ZstdCompressionDict | None, int, Iterator[bytes]]:
    """Split off the dictionary that a .warc.zst may begin with (IIPC, Zstandard compression of WARC files, 3.1).

    The second value is the number of bytes before the rest.
    """
    head = next(chunks, b"")
    if not head.startswith(ZSTD_DICTIONARY_MAGIC):
        return None, 0, chain([head], chunks)
    size = int.from_bytes(head[4:8], "little")
    if size > MAX_DICTIONARY_BYTES:
        raise InputError(f"the zstd dictionary has {size} bytes, more than {MAX_DICTIONARY_BYTES}")
    while len(head) < 8 + size:
        chunk = next(chunks, b"")
        if not chunk:
            raise InputError("the zstd dictionary ends early")
        head += chunk
    packed = head[8 : 8 + size]
    if packed.startswith(ZSTD_MAGIC):
        packed = unpack_body("zstd", packed, ReadLimits(max_page_bytes=MAX_DICTIONARY_BYTES))
    return zstandard.ZstdCompressionDict(packed), 8 + size, chain([head[8 + size :]], chunks)


CODINGS: Final[dict[str, Callable[[Iterable[bytes], bool], Iterator[bytes]]]] = {
    "gzip": partial(_inflated, "gzip", GZIP_WRAPPED),
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}


class UnpackedStream:
    """The bytes of a source, unpacked if they are gzip or zstd, as a stream that never raises.

    If the source is damaged, the stream ends there and `problem` says why; readers check it at the end. The ratio limit
    applies to one record at a time: call `mark` where the next one begins. Above `FILE_RATIO_FLOOR` bytes it also
    applies to the whole stream: a few KB of zstd can have any number of short lines.
    `base` is the place in the source where the stream begins, `starts` the gzip members or zstd frames since the last
    mark. `dictionary` is that of a zstd file, which is at its beginning.
    """

    def __init__(
        self,
        source: SupportsRead[bytes],
        limits: ReadLimits,
        base: int = 0,
        dictionary: zstandard.ZstdCompressionDict | None = None,
    ) -> None:
        self.source = source
        self.base = base
        self.dictionary = dictionary
        self.starts: deque[tuple[int, int]] = deque()
        self.problem: str | None = None
        self.taken = 0  # packed bytes since the last mark
        self.given = 0  # unpacked bytes since the last mark
        self._all_taken = self._all_given = 0  # the same since the beginning
        self._limits = limits
        self._position = 0
        self._piece = b""  # unpacked; the bytes after `_at` are not read yet
        self._at = 0
        self._kept: deque[bytes] = deque()  # pieces that were read, for `rewind`
        self._kept_bytes = 0
        chunks = self._chunks(source)
        head = self._next(chunks)
        self.packing = packing_of(head)
        chunks = chain([head], chunks)
        self._pieces: Iterator[bytes] = chunks
        if self.packing == "gzip":
            self._pieces = _inflated("gzip", GZIP_WRAPPED, chunks, False, self.starts)
        elif self.packing == "zstd":
            self._pieces = self._unzstd(chunks)

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes, fewer only at the end; all that is left if `size` is negative."""
        parts = []
        left = size
        while left and self._fill():
            end = len(self._piece) if size < 0 else min(self._at + left, len(self._piece))
            parts.append(self._piece[self._at : end])
            left -= end - self._at
            self._at = end
        unpacked = b"".join(parts)
        self._position += len(unpacked)
        return unpacked

    def peek(self, size: int) -> bytes:
        """Return up to `size` of the next bytes without reading past them; fewer only at the end."""
        held = len(self._piece) - self._at
        if held < size:
            self._keep(self._piece[: self._at])
            parts = [self._piece[self._at :]]
            self._piece, self._at = b"", 0
            while held < size and self._fill():
                parts.append(self._piece)
                held += len(self._piece)
                self._piece = b""
            self._piece = b"".join(parts)
        return self._piece[self._at : self._at + size]

    def mark(self, at: int | None = None) -> None:
        """Begin a new record, `at` bytes after the beginning: the ratio limit counts from here."""
        self.taken = self.given = 0
        while at is not None and len(self.starts) > 1 and self.starts[1][0] <= at:
            self.starts.popleft()

    def rewind(self, position: int) -> None:
        """Return to a place before the current one, or as near to it as the kept bytes reach."""
        before = b"".join(self._kept) + self._piece[: self._at]
        back = min(max(self._position - position, 0), len(before))
        self._piece = before + self._piece[self._at :]
        self._at = len(before) - back
        self._position -= back
        self._kept.clear()
        self._kept_bytes = 0

    def _keep(self, piece: bytes) -> None:
        self._kept.append(piece)
        self._kept_bytes += len(piece)
        while self._kept_bytes - len(self._kept[0]) >= KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popleft())

    def tell(self) -> int:
        """Return the number of bytes read so far."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Raise: a stream only goes forward."""
        raise io.UnsupportedOperation(f"seek to {offset} ({whence}) in a stream")

    def close(self) -> None:
        """Do nothing: the caller that opened the source closes it."""

    def _fill(self) -> bool:
        """Load the next piece if the current one is used up; False at the end."""
        if self._at < len(self._piece):
            return True
        if self._piece:
            self._keep(self._piece)
        self._piece = b"" if self.problem else self._next(self._pieces)
        self._at = 0
        self.given += len(self._piece)
        self._all_given += len(self._piece)
        # Bytes taken before the mark may still have been inside the decoder: allow for a chunk of them.
        if self.packing and self.given > self._limits.max_ratio * (self.taken + CHUNK_BYTES):
            self.problem = f"one record unpacks to more than {self._limits.max_ratio} times its {self.packing} size"
        elif self.packing and FILE_RATIO_FLOOR < self._all_given > self._limits.max_ratio * self._all_taken:
            self.problem = f"unpacks to more than {self._limits.max_ratio} times its {self.packing} size"
        return bool(self._piece)

    def _next(self, pieces: Iterator[bytes]) -> bytes:
        try:
            return next(filter(None, pieces), b"")
        except InputError as error:
            self.problem = str(error)
            return b""

    def _unzstd(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        own, packed, chunks = _zstd_dictionary(chunks)
        self.dictionary = own or self.dictionary
        yield from _unzstd(chunks, False, self.dictionary, packed, self.starts)

    def _chunks(self, source: SupportsRead[bytes]) -> Iterator[bytes]:
        while True:
            try:
                chunk = source.read(CHUNK_BYTES)
            except (OSError, EOFError, ValueError, RuntimeError, OverflowError, zlib.error, BadZipFile) as error:
                raise InputError(f"it cannot be read on ({error})") from error
            if not chunk:
                return
            self.taken += len(chunk)
            self._all_taken += len(chunk)
            yield chunk


# HTTP bodies as crawlers store them: chunked and packed, or already decoded despite their headers

HTML_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
MAX_CODINGS: Final = 4  # ours: two are an accident, more an attack
_ALIASES: Final = {"x-gzip": "gzip"}
_NO_CODING: Final = frozenset({"", "identity", "none", "chunked"})
CHUNK_HEAD: Final = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,4096})?\r?\n")
LINE_END: Final = re.compile(rb"\r?\n")


def media_type(content_type: str | None) -> str:
    """Return the type of a Content-Type header in lower case, without its parameters."""
    return (content_type or "").partition(";")[0].strip().lower()


def decode_http_body(headers: Iterable[tuple[str, str]], body: bytes, limits: ReadLimits) -> bytes:
    """Undo the transfer and content codings that `headers` name; `PageRefused` if that fails or exceeds a limit.

    Crawlers often store a decoded body with the headers of the packed one. So a coding is skipped if its magic number
    is missing, or if the body is plainly HTML. A gzip or zstd body that no header names is unpacked.
    """
    headers = list(headers)
    content, transfer = _codings(headers, "content-encoding"), _codings(headers, "transfer-encoding")
    if "chunked" in transfer:
        body = _dechunked(body)
    codings = [coding for coding in content + transfer if coding not in _NO_CODING]
    if len(codings) > MAX_CODINGS:
        raise PageRefused(f"the body has {len(codings)} codings, more than {MAX_CODINGS}")
    for coding in reversed(codings):
        if not body or looks_like_html(body):
            return body
        if coding in {"gzip", "zstd"} and packing_of(body) != coding:
            continue
        if coding not in CODINGS:
            raise PageRefused(f"the body has the unknown coding {coding!r}")
        body = unpack_body(coding, body, limits)
    unnamed = packing_of(body)
    return unpack_body(unnamed, body, limits) if unnamed else body


def _codings(headers: list[tuple[str, str]], name: str) -> list[str]:
    """List the codings in the order in which they were applied."""
    values = ",".join(value for key, value in headers if key.lower() == name)
    codings = [coding.strip().lower() for coding in values.split(",")]
    return [_ALIASES.get(coding, coding) for coding in codings]


def _dechunked(body: bytes) -> bytes:
    """Join the chunks of RFC 9112, 7.1. A body that does not begin with a chunk was decoded before.

    A body that ends inside a chunk is used as far as it goes, as any truncated page is.
    """
    joined = bytearray()
    at = 0
    while at < len(body):
        head = CHUNK_HEAD.match(body, at)
        if head is None:
            if at == 0:
                return body
            raise PageRefused("the chunked body is damaged")
        size = int(head[1], 16)
        if size == 0:
            break
        joined += body[head.end() : head.end() + size]
        at = head.end() + size
        end = LINE_END.match(body, at)
        if end is None and at < len(body):
            raise PageRefused("the chunked body is damaged")
        at = end.end() if end else len(body)
    return bytes(joined)
