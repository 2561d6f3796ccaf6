"""WACZ: zip archives of WARC files."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from operator import attrgetter
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.run.reader_warc import read_warc
from webwinnow.run.readers import Reader, Source
from webwinnow.run.unpacking import ReadLimits, UnpackedStream

ZIP_ERRORS: Final = (BadZipFile, OSError, ValueError, RuntimeError, EOFError, OverflowError, struct.error, zlib.error)
"""What Python's reader of zip archives raises for damaged ones."""
ENCRYPTED: Final = 0x1  # flag bit 0 of a zip member
_WARC_MEMBER: Final = re.compile(r"archive/.+\.warc(\.gz|\.zst)?", re.IGNORECASE)


class WaczReader(Reader):
    """A WACZ archive (WACZ 1.1)."""

    kind, suffixes, magic, seeks = "WACZ", (".wacz",), (b"PK\x03\x04", b"PK\x05\x06"), True

    def check(self, source: Source) -> None:
        """Raise `InputError` if the archive is damaged or has no WARC files (WACZ 1.1, 4.1)."""
        with _opened(source.file, source.name) as archive:
            _warcs_in(archive, source.name)

    def pages(self, source: Source) -> Iterator[PageRecord]:
        """The pages of all WARC files in the order of their names, without unpacking the archive to disk."""
        limits, on_problem = source.limits, source.on_problem
        with _opened(source.file, source.name) as archive:
            overlapping = _overlapping(archive)
            for member in _warcs_in(archive, source.name):
                where = f"{source.name}/{member.filename}"
                fault = "overlaps another member" if member in overlapping else _fault(member, limits)
                if fault:
                    on_problem(f"{where}: {fault}")
                    continue
                try:
                    file = archive.open(member)
                except ZIP_ERRORS as error:  # also for flags of kinds of zip that Python does not read
                    on_problem(f"{where}: cannot be read ({error})")
                    continue
                with file:
                    stream = UnpackedStream(file, limits)
                    yield from read_warc(stream, name=where, limits=limits, on_problem=on_problem)


READER = WaczReader()


def _warcs_in(archive: ZipFile, name: str) -> list[ZipInfo]:
    """The WARC files in the order of their names, which may be given twice."""
    found = [member for member in archive.infolist() if _WARC_MEMBER.fullmatch(member.filename)]
    if not found:
        raise InputError(f"{name}: is a zip archive without archive/*.warc.gz, so no WACZ; unpack it first")
    return sorted(found, key=attrgetter("filename"))


def _overlapping(archive: ZipFile) -> set[ZipInfo]:
    """The members that reach into another one: a small archive could have the same bytes any number of times."""
    members = sorted(archive.infolist(), key=attrgetter("header_offset"))
    return {one for one, after in pairwise(members) if one.header_offset + one.compress_size > after.header_offset}


def _opened(file: IO[bytes], name: str) -> ZipFile:
    try:
        return ZipFile(file)
    except ZIP_ERRORS as error:
        raise InputError(f"{name}: is a damaged zip archive ({error})") from error


def _fault(member: ZipInfo, limits: ReadLimits) -> str | None:
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "is compressed by a method that WACZ does not allow"
    if limits.ratio_floor < member.file_size > limits.max_ratio * member.compress_size:
        return f"unpacks to more than {limits.max_ratio} times its size"
    return None
