from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard
from growth import growth
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.errors import PageRefused
from webwinnow.run.unpacking import ReadLimits, UnpackedStream, packing_of, unpack_body

LIMITS = ReadLimits()
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
WRAPPINGS: dict[str, Callable[[bytes], bytes]] = {"none": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}
SOME_BYTES = st.binary() | st.binary(max_size=50).map(lambda piece: piece * 20_000)


@pytest.mark.parametrize("coding", PACKERS)
@given(body=SOME_BYTES)
def test_a_body_is_unpacked_as_it_was_packed(coding: str, body: bytes) -> None:
    limits = ReadLimits(max_ratio=10**9)
    assert unpack_body(coding, PACKERS[coding](body), limits) == body


@pytest.mark.parametrize("coding", PACKERS)
@given(body=st.binary())
def test_rubbish_is_unpacked_or_refused(coding: str, body: bytes) -> None:
    try:
        unpack_body(coding, body, LIMITS)
    except PageRefused:
        return


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@given(content=SOME_BYTES, sizes=st.lists(st.integers(1, 200_000), min_size=1))
def test_a_stream_gives_all_bytes_whatever_is_asked_for(wrapping: str, content: bytes, sizes: list[int]) -> None:
    if packing_of(content):
        return
    stream = UnpackedStream(io.BytesIO(WRAPPINGS[wrapping](content)), LIMITS)
    read = b""
    for size in sizes:
        peeked = stream.peek(size)
        part = stream.read(size)
        assert part == peeked == content[len(read) : len(read) + size]
        read += part
        assert stream.tell() == len(read)
    assert stream.read() == content[len(read) :]
    assert stream.read(1) == b""
    assert stream.problem is None


def test_members_and_zero_padding_follow_one_another() -> None:
    stream = UnpackedStream(io.BytesIO(gzip.compress(b"a") + gzip.compress(b"b") + bytes(600)), LIMITS)
    assert (stream.read(), stream.problem) == (b"ab", None)


def test_a_window_that_would_eat_memory_is_refused() -> None:
    wide = zstandard.ZstdCompressionParameters.from_level(3, window_log=24)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    body = packer.compress(b"x" * 100) + packer.flush()
    with pytest.raises(PageRefused, match="too much memory"):
        unpack_body("zstd", body, LIMITS)


class BrokenDisk:
    def __init__(self) -> None:
        self.chunks = [b"first", b"second"]

    def read(self, _size: int = -1, /) -> bytes:
        if self.chunks:
            return self.chunks.pop(0)
        raise OSError("input/output error")


def test_a_disk_that_breaks_is_a_problem_behind_what_was_read() -> None:
    stream = UnpackedStream(BrokenDisk(), LIMITS)
    assert stream.read() == b"firstsecond"
    assert stream.problem == "it cannot be read on (input/output error)"


def test_a_stream_does_not_go_back() -> None:
    with pytest.raises(io.UnsupportedOperation):
        UnpackedStream(io.BytesIO(b"x"), LIMITS).seek(0)


class _Dribble:
    """A source that gives a byte at a time, as a pipe may."""

    def __init__(self, size: int) -> None:
        self.left = size

    def read(self, size: int = -1, /) -> bytes:
        """The next byte."""
        self.left -= 1
        return b"x" if self.left >= 0 else b""


def test_peeking_over_many_short_pieces_is_linear() -> None:
    # The search for the next record peeks at a MB. Joined one by one, a MB of zstd frames of one byte took 8 s.
    def peek(size: int) -> Callable[[], object]:
        return lambda: UnpackedStream(_Dribble(size), LIMITS).peek(size)

    assert growth(peek, 100_000, 1_000_000, 40) < 40
