"""Records that `webwinnow clean` wrote, JSONL, packed or not, or Parquet, read back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from webwinnow.errors import InputError, SettingsError
from webwinnow.io.jsonl import split_lines
from webwinnow.io.limits import ReadLimits
from webwinnow.io.parquet import parquet_columns, read_parquet_records
from webwinnow.io.sniff import HEAD_BYTES, Content, content_of
from webwinnow.io.streams import ProblemListener, UnpackedStream

__all__ = ["are_records", "read_records"]

_TOLD_BY = frozenset({"outcome", "text"})
"""What a record has and a page does not."""
_PARQUET = b"PAR1"


def are_records(inputs: Sequence[str | Path], limits: ReadLimits | None = None) -> bool:
    """Whether the inputs are records rather than pages; `SettingsError` where some are and some are not."""
    found = [_holds_records(Path(given), limits or ReadLimits()) for given in inputs]
    if any(found) and not all(found):
        raise SettingsError("some inputs are pages and some are records of webwinnow clean; expected one or the other")
    return any(found)


def read_records(
    inputs: Sequence[str | Path], *, on_problem: ProblemListener, limits: ReadLimits | None = None
) -> Iterator[dict[str, Any]]:
    """The records of all inputs in their order; `on_problem` is told of a line that is none."""
    limits = limits or ReadLimits()
    for given in inputs:
        try:
            with Path(given).open("rb") as file:
                if _is_parquet(file):
                    if not set(parquet_columns(file, str(given))) >= _TOLD_BY:
                        raise InputError(f"{given}: no record; expected records that webwinnow clean wrote")
                    file.seek(0)
                    yield from read_parquet_records(file, name=str(given), limits=limits)
                    continue
                stream = UnpackedStream(file, limits)
                for number, line in enumerate(split_lines(stream, limits.max_line_bytes), start=1):
                    record = _record(line)
                    if record is not None:
                        yield record
                    elif line is None or line.strip():
                        on_problem(f"{given}: line {number} is no record")
                if stream.problem:
                    on_problem(f"{given}: {stream.problem}")
        except OSError as error:
            raise InputError(f"{given}: cannot be read ({error.strerror})") from error


def _holds_records(path: Path, limits: ReadLimits) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        if _is_parquet(file):
            return set(parquet_columns(file, str(path))) >= _TOLD_BY
        stream = UnpackedStream(file, limits)
        try:
            if content_of(stream.peek(HEAD_BYTES), str(path)) is not Content.JSONL:
                return False
        except InputError:
            return False
        return _record(next(split_lines(stream, limits.max_line_bytes), None)) is not None


def _is_parquet(file: BinaryIO) -> bool:
    head = file.read(len(_PARQUET))
    file.seek(0)
    return head == _PARQUET


def _record(line: bytes | None) -> dict[str, Any] | None:
    try:
        record = json.loads(line) if line else None
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.keys() >= _TOLD_BY else None
