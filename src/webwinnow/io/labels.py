"""Labels of pages: a file of them, and the columns that there are where one was asked for in vain."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

from webwinnow.errors import InputError
from webwinnow.io.jsonl import BOM, split_lines
from webwinnow.io.limits import ReadLimits
from webwinnow.io.parquet import parquet_columns, read_parquet_values
from webwinnow.io.rows import label_of
from webwinnow.io.sniff import HEAD_BYTES, Content, content_of
from webwinnow.io.streams import UnpackedStream

__all__ = ["check_label_column", "read_labels"]

LINES_LOOKED_AT: Final = 1000
"""Lines of JSONL whose names are taken for the columns of a file."""
NAMES_TOLD: Final = 40
_PARQUET: Final = b"PAR1"
_BY: Final = ("page_id", "url")
_EXPECTED: Final = "expected JSONL, Parquet, CSV or TSV with page_id or url, and label"


def check_label_column(inputs: Sequence[str | Path], column: str) -> None:
    """Raise `InputError` where no file has this column, and say which there are; pipes and folders pass."""
    names: dict[str, None] = {}
    for given in inputs:
        path = Path(given)
        if not path.is_file():
            return
        with path.open("rb") as file:
            names |= dict.fromkeys(_columns(file, str(given)))
    if column not in names:
        told = ", ".join(islice(names, NAMES_TOLD)) or "none"
        raise InputError(
            f"no column {column!r} in {', '.join(map(str, inputs))}; the columns are: {told}; "
            "a file of labels may stand beside the pages instead"
        )


def read_labels(path: Path, limits: ReadLimits | None = None) -> dict[str, str]:
    """Labels by page id or URL. CSV and TSV have a line of names, or two columns without one."""
    limits = limits or ReadLimits()
    try:
        with path.open("rb") as file:
            if _is_parquet(file):
                return _by_page(read_parquet_values(file, name=str(path), limits=limits, columns=(*_BY, "label")), path)
            stream = UnpackedStream(file, limits)
            if stream.peek(16).removeprefix(BOM).lstrip().startswith(b"{"):
                return _by_page(_objects(stream, limits), path)
            return _of_table(stream, limits, path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_EXPECTED}") from None


def _by_page(rows: Iterator[dict[str, Any]], path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    known = False
    for row in rows:
        known = known or ("label" in row and any(name in row for name in _BY))
        label = label_of(row.get("label"))
        for name in _BY:
            page = label_of(row.get(name))
            if label is not None and page is not None:
                found[page] = label
    if not known:
        raise InputError(f"{path}: has no column label beside page_id or url; {_EXPECTED}")
    return found


def _of_table(stream: UnpackedStream, limits: ReadLimits, path: Path) -> dict[str, str]:
    lines = (b"" if line is None else line for line in split_lines(stream, limits.max_line_bytes))
    text = io.StringIO(b"\n".join(lines).removeprefix(BOM).decode("utf-8"), newline="")
    head = text.readline()
    text.seek(0)
    rows = csv.reader(text, delimiter="\t" if "\t" in head else ",")
    first = next(rows, [])
    names = [name.strip() for name in first]
    if "label" in names and any(name in names for name in _BY):
        return _by_page((dict(zip(names, row, strict=False)) for row in rows), path)
    if len(first) != 2:
        raise InputError(f"{path}: {len(first)} columns and no names of ours; {_EXPECTED}")
    two = [first, *rows]
    return {row[0]: label for row in two if len(row) == 2 and (label := row[1].strip())}


def _columns(file: IO[bytes], name: str) -> list[str]:
    if _is_parquet(file):
        return parquet_columns(file, name)
    stream = UnpackedStream(file, ReadLimits())
    if content_of(stream.peek(HEAD_BYTES), name) is not Content.JSONL:
        return []
    rows = _objects(stream, ReadLimits(), LINES_LOOKED_AT)
    return list(dict.fromkeys(key for row in rows for key in row))


def _objects(stream: UnpackedStream, limits: ReadLimits, most: int | None = None) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(islice(split_lines(stream, limits.max_line_bytes), most)):
        try:
            row = json.loads((line or b"").removeprefix(BOM) if not number else line or b"")
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _is_parquet(file: IO[bytes]) -> bool:
    head = file.read(len(_PARQUET))
    file.seek(0)
    return head == _PARQUET
