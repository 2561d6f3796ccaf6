"""Labels of pages: a file of them, and the columns that there are where one was asked for in vain."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from webwinnow.errors import InputError
from webwinnow.io.jsonl import BOM, split_lines
from webwinnow.io.labelled import PARQUET, LabelledFile
from webwinnow.io.limits import ReadLimits
from webwinnow.io.rows import text_of_value
from webwinnow.io.streams import UnpackedStream

__all__ = ["check_label_column", "read_label_column", "read_labels"]

NAMES_TOLD: Final = 40
_BY: Final = ("page_id", "url")
_EXPECTED: Final = "expected JSONL, Parquet, CSV or TSV with page_id or url, and label"


def check_label_column(inputs: Sequence[str | Path], column: str, hint: str = "") -> None:
    """Raise `InputError` where no file has this column, and say which there are, and the `hint`; pipes and folders
    pass.
    """
    names: dict[str, None] = {}
    problems: list[str] = []
    for given in inputs:
        path = Path(given)
        if not path.is_file():
            return
        try:
            names |= dict.fromkeys(LabelledFile(path).columns)
        except InputError as error:  # a file without columns, or a damaged one
            problems.append(str(error))
    if column not in names:
        told = "; ".join([", ".join(islice(names, NAMES_TOLD)) or "none", *problems])
        further = f"; {hint}" if hint else ""
        raise InputError(f"no column {column!r} in {', '.join(map(str, inputs))}; the columns are: {told}{further}")


def read_labels(path: Path, limits: ReadLimits | None = None) -> dict[str, str]:
    """Labels by page id or URL. CSV and TSV have a line of names, or two columns without one."""
    limits = limits or ReadLimits()
    try:
        with path.open("rb") as file:
            stream = UnpackedStream(file, limits)
            head = stream.peek(16)
            if not head.startswith(PARQUET) and not head.removeprefix(BOM).lstrip().startswith(b"{"):
                return _of_table(stream, limits, path)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read ({error}); {_EXPECTED}") from None
    rows = LabelledFile(path, limits)
    _check_names(rows.columns, path)
    return _by_page(rows.values((*_BY, "label"), lambda _: None))


def read_label_column(paths: Sequence[str | Path], column: str, limits: ReadLimits | None = None) -> dict[str, str]:
    """What a column of files of pages says of each, by the page's id or, where it has none, its URL.

    Files are Parquet or JSONL, packed or not. `InputError` where one is neither, or where no row has the column.
    """
    found: dict[str, str] = {}
    for path in map(Path, paths):
        for page_id, url, label in LabelledFile(path, limits).values((*_BY, column), lambda _: None):
            page = page_id or url
            if page is not None and label is not None:
                found[page] = label
    if not found:
        names = ", ".join(map(str, paths))
        raise InputError(f"{names}: no page with a {column!r}; expected Parquet or JSONL with page_id or url beside it")
    return found


def _check_names(names: Sequence[str], path: Path) -> None:
    if "label" not in names or not any(name in names for name in _BY):
        raise InputError(f"{path}: has no column label beside page_id or url; {_EXPECTED}")


def _by_page(rows: Iterable[tuple[str | None, ...]]) -> dict[str, str]:
    """Labels by what names a page in rows of page_id, url and label: either does."""
    found: dict[str, str] = {}
    for *pages, label in rows:
        if label is not None:
            found |= {page: label for page in pages if page is not None}
    return found


def _of_table(stream: UnpackedStream, limits: ReadLimits, path: Path) -> dict[str, str]:
    lines = (b"" if line is None else line for line in split_lines(stream, limits.max_line_bytes))
    text = io.StringIO(b"\n".join(lines).removeprefix(BOM).decode("utf-8"), newline="")
    head = text.readline()
    text.seek(0)
    rows = csv.reader(text, delimiter="\t" if "\t" in head else ",")
    first = next(rows, [])
    names = [name.strip() for name in first]
    if len(first) == 2 and "label" not in names:
        return _by_page((None, text_of_value(row[0]), text_of_value(row[1])) for row in (first, *rows) if len(row) == 2)
    _check_names(names, path)
    named = (dict(zip(names, row, strict=False)) for row in rows)
    return _by_page(tuple(text_of_value(row.get(name)) for name in (*_BY, "label")) for row in named)
