"""Pages out of WACZ files: zip archives with WARC files under archive/ (WACZ 1.1, 4.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from webwinnow.errors import InputError
from webwinnow.io.limits import ReadLimits
from webwinnow.io.streams import ProblemListener, UnpackedStream
from webwinnow.io.warc import read_warc
from webwinnow.records import PageRecord

__all__ = ["read_wacz", "warcs_in"]

ENCRYPTED: Final = 0x1  # flag bit 0 of a zip member
_WARC_MEMBER: Final = re.compile(r"archive/.+\.warc(\.gz|\.zst)?", re.IGNORECASE)


def warcs_in(file: IO[bytes], name: str) -> list[str]:
    """Name the WARC files of the zip archive `file`; `InputError` where it has none or is damaged."""
    with _opened(file, name) as archive:
        found = sorted(member for member in archive.namelist() if _WARC_MEMBER.fullmatch(member))
    if not found:
        raise InputError(f"{name}: is a zip archive without archive/*.warc.gz, so no WACZ; unpack it first")
    return found


def read_wacz(file: IO[bytes], *, name: str, limits: ReadLimits, on_problem: ProblemListener) -> Iterator[PageRecord]:
    """Read the pages of all WARC files in a WACZ, in the order of their names, without unpacking it to disk."""
    members = warcs_in(file, name)
    with _opened(file, name) as archive:
        for member in members:
            where = f"{name}/{member}"
            fault = _fault(archive.getinfo(member), limits)
            if fault:
                on_problem(f"{where}: {fault}")
                continue
            try:
                source = archive.open(member)
            except (BadZipFile, OSError) as error:
                on_problem(f"{where}: cannot be read ({error})")
                continue
            with source:
                stream = UnpackedStream(source, limits)
                yield from read_warc(stream, name=where, limits=limits, on_problem=on_problem)


def _opened(file: IO[bytes], name: str) -> ZipFile:
    try:
        return ZipFile(file)
    except (BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise InputError(f"{name}: is a damaged zip archive ({error})") from error


def _fault(member: ZipInfo, limits: ReadLimits) -> str | None:
    if member.flag_bits & ENCRYPTED:
        return "is encrypted"
    if member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return "is compressed in a way that WACZ does not have"
    if limits.ratio_floor < member.file_size > limits.max_ratio * member.compress_size:
        return f"unpacks to more than {limits.max_ratio} times its size"
    return None
