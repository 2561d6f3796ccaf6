"""Bounded decompression: nothing is unpacked by more than a piece at a time, so a bomb never grows in memory.

Each coding is a generator from packed chunks to unpacked pieces that raises `InputError` where the packed bytes are
damaged or end early. `unpack_body` runs one over a page, `UnpackedStream` (in `streams`) over a file.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import brotli  # type: ignore[import-untyped]
import zstandard

from webwinnow.errors import InputError, PageRefused
from webwinnow.io.limits import MB, ReadLimits

__all__ = ["CHUNK_BYTES", "CODINGS", "packing_of", "unpack_body"]

CHUNK_BYTES: Final = 1 << 16  # packed bytes taken at once
PIECE_BYTES: Final = 1 << 18  # unpacked bytes asked for at once
# python-zstandard cannot limit what one call gives. A block has at least 4 bytes and unpacks to at most 128 KB
# (RFC 8878, 3.1.1.2), so a call with 512 bytes gives at most 16 MB.
ZSTD_CHUNK_BYTES: Final = 512
ZSTD_BODY_WINDOW: Final = 8 * MB  # RFC 9659: the most that the content coding zstd may ask for
ZSTD_FILE_WINDOW: Final = 128 * MB  # what the zstd command accepts without being asked
ZLIB_WRAPPED, ZLIB_RAW, GZIP_WRAPPED = 15, -15, 31  # `wbits` of zlib

GZIP_MAGIC: Final = b"\x1f\x8b\x08"
ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"
ZSTD_DICTIONARY_MAGIC: Final = b"\x5d\x2a\x4d\x18"
MAX_DICTIONARY_BYTES: Final = 16 * MB  # ours; trained dictionaries have some 100 KB


def packing_of(head: bytes) -> str | None:
    """Name the coding that `head`, the first bytes of a file or body, begins: gzip, zstd or None."""
    if head.startswith(GZIP_MAGIC):
        return "gzip"
    # A zstd file may begin with a skippable frame, as WARC files with a dictionary do (RFC 8878, 3.1.2).
    if head.startswith(ZSTD_MAGIC) or (head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F):
        return "zstd"
    return None


def unpack_body(coding: str, body: bytes, limits: ReadLimits) -> bytes:
    """Unpack one page; `PageRefused` where that is damaged or goes over a limit.

    Junk behind the end of gzip, deflate or zstd is ignored, as browsers do.
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


def _inflated(coding: str, wbits: int, chunks: Iterable[bytes], junk_ends: bool) -> Iterator[bytes]:
    """Inflate one zlib stream after the other; where `junk_ends`, what follows the first and is no gzip ends it."""
    decoder = None
    whole = 0  # streams that came to their end
    for chunk in chunks:
        rest = chunk if decoder is not None or not whole else chunk.lstrip(b"\0")  # files may be padded with zeros
        while rest:
            if decoder is None:
                if junk_ends and whole and not GZIP_MAGIC.startswith(rest[:3]):
                    return
                decoder = zlib.decompressobj(wbits)
            try:
                piece = decoder.decompress(rest, PIECE_BYTES)
            except zlib.error as error:
                raise InputError(f"the {coding} data is damaged ({error})") from error
            yield piece
            rest = decoder.unconsumed_tail
            while not rest and not decoder.eof and len(piece) == PIECE_BYTES:
                piece = decoder.decompress(b"", PIECE_BYTES)  # what zlib holds back when a piece is full
                yield piece
            if decoder.eof:
                rest = decoder.unused_data.lstrip(b"\0")
                decoder = None
                whole += 1
    if decoder is not None or not whole:
        raise InputError(f"the {coding} data ends early")


def _gunzip(chunks: Iterable[bytes], junk_ends: bool) -> Iterator[bytes]:
    return _inflated("gzip", GZIP_WRAPPED, chunks, junk_ends)


def _inflate(chunks: Iterable[bytes], junk_ends: bool) -> Iterator[bytes]:
    """Inflate "deflate": by RFC 9110 zlib's format, by old servers the raw one; the header's checksum tells."""
    chunks = iter(chunks)
    head = next(chunks, b"")
    wrapped = len(head) >= 2 and head[0] & 0x0F == 8 and int.from_bytes(head[:2], "big") % 31 == 0
    return _inflated("deflate", ZLIB_WRAPPED if wrapped else ZLIB_RAW, chain([head], chunks), junk_ends)


def _unbrotli(chunks: Iterable[bytes], _junk_ends: bool) -> Iterator[bytes]:
    """Unpack Brotli; the decoder does not say where its data ended, so junk behind it counts as damage."""
    decoder = brotli.Decompressor()
    for chunk in chunks:
        piece, rest = b"", chunk
        while rest or piece:  # until the decoder has nothing left to give for this chunk
            try:
                piece, rest = decoder.process(rest, output_buffer_limit=PIECE_BYTES), b""
            except brotli.error as error:
                raise InputError(f"the br data is damaged ({error})") from error
            yield piece
    if not decoder.is_finished():
        raise InputError("the br data ends early")


def _unzstd(chunks: Iterable[bytes], junk_ends: bool) -> Iterator[bytes]:
    """Unpack one zstd frame after the other; bodies (`junk_ends`) have the smaller window and no dictionary."""
    window = ZSTD_BODY_WINDOW if junk_ends else ZSTD_FILE_WINDOW
    dictionary = None
    if not junk_ends:
        dictionary, chunks = _zstd_dictionary(iter(chunks))
    unpacker = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=window)
    decoder = None
    whole = 0
    for chunk in chunks:
        for at in range(0, len(chunk), ZSTD_CHUNK_BYTES):
            rest = chunk[at : at + ZSTD_CHUNK_BYTES]
            while rest:
                decoder = decoder or unpacker.decompressobj()
                try:
                    yield decoder.decompress(rest)
                except zstandard.ZstdError as error:
                    if junk_ends and whole:
                        return
                    raise InputError(f"the zstd data is damaged ({error})") from error
                rest = decoder.unused_data if decoder.eof else b""
                if decoder.eof:
                    decoder = None
                    whole += 1
    if decoder is not None or not whole:
        raise InputError("the zstd data ends early")


def _zstd_dictionary(chunks: Iterator[bytes]) -> tuple[zstandard.ZstdCompressionDict | None, Iterator[bytes]]:
    """Take off the dictionary that a .warc.zst may begin with (IIPC, Zstandard compression of WARC files, 3.1)."""
    head = next(chunks, b"")
    if not head.startswith(ZSTD_DICTIONARY_MAGIC):
        return None, chain([head], chunks)
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
    return zstandard.ZstdCompressionDict(packed), chain([head[8 + size :]], chunks)


CODINGS: Final[dict[str, Callable[[Iterable[bytes], bool], Iterator[bytes]]]] = {
    "gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
