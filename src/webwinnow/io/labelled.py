"""Pages with further columns, from Parquet or JSONL: labels, sites and whatever else an experiment asks for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from webwinnow.errors import InputError
from webwinnow.io.jsonl import read_jsonl_rows
from webwinnow.io.limits import ReadLimits
from webwinnow.io.parquet import parquet_columns, read_parquet_rows
from webwinnow.io.rows import ROW_FIELDS, page_of_row, text_of_value
from webwinnow.io.sniff import HEAD_BYTES, Content, content_of
from webwinnow.io.streams import ProblemListener, UnpackedStream
from webwinnow.records import PageRecord

__all__ = ["PARQUET", "LabelledFile"]

PARQUET = b"PAR1"
"""How a Parquet file begins."""
_LOOKED_AT = 1000
"""Lines of JSONL whose names are taken for the columns of the file."""


class LabelledFile:
    """A Parquet or JSONL file (packed or not) with a page a row. It is read once for labels and once for pages.

    `columns` are the names there are; `on_problem` is told of lines that cannot be read, at each reading.
    """

    def __init__(self, path: Path, limits: ReadLimits | None = None) -> None:
        self.path = path
        self.limits = limits or ReadLimits()
        try:
            with path.open("rb") as file:
                self.is_parquet = file.read(len(PARQUET)) == PARQUET
                file.seek(0)
                self.columns = parquet_columns(file, str(path)) if self.is_parquet else self._names(file)
        except OSError as error:
            raise InputError(f"{path}: cannot be read ({error.strerror})") from error

    def check(self, columns: Sequence[str]) -> None:
        """Raise `InputError` where a column is not there."""
        missing = [name for name in dict.fromkeys(columns) if self.columns.count(name) != 1]
        if missing:
            told = ", ".join(self.columns) or "none"
            raise InputError(f"{self.path}: has no column {', '.join(missing)}; the columns are: {told}")

    def values(self, columns: Sequence[str], on_problem: ProblemListener) -> Iterator[tuple[str | None, ...]]:
        """The values of some columns, row by row, as text: None for what is missing, blank or no text or number."""
        for row in self.rows(columns, on_problem):
            yield tuple(text_of_value(row.get(name)) for name in columns)

    def pages(self, on_problem: ProblemListener) -> Iterator[PageRecord]:
        """The pages, row by row, refused ones too: as many as `values` gives."""
        for number, row in enumerate(self.rows(ROW_FIELDS, on_problem)):
            yield page_of_row(row, where=f"row {number}", limits=self.limits)

    def rows(self, columns: Sequence[str], on_problem: ProblemListener) -> Iterator[dict[str, Any]]:
        """Some columns, row by row, as they are; a row of JSONL has its other values too."""
        try:
            with self.path.open("rb") as file:
                if self.is_parquet:
                    there = [name for name in dict.fromkeys(columns) if self.columns.count(name) == 1]
                    yield from read_parquet_rows(file, there, name=str(self.path), limits=self.limits)
                else:
                    yield from self._objects(file, on_problem)
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror})") from error

    def _objects(self, file: BinaryIO, on_problem: ProblemListener) -> Iterator[dict[str, Any]]:
        stream = UnpackedStream(file, self.limits)
        return read_jsonl_rows(stream, name=str(self.path), limits=self.limits, on_problem=on_problem)

    def _names(self, file: BinaryIO) -> list[str]:
        if content_of(UnpackedStream(file, self.limits).peek(HEAD_BYTES), str(self.path)) is not Content.JSONL:
            raise InputError(f"{self.path}: expected Parquet or JSONL with a page a row")
        file.seek(0)
        names: dict[str, None] = {}
        for _, row in zip(range(_LOOKED_AT), self._objects(file, lambda _: None), strict=False):
            names |= dict.fromkeys(row)
        return list(names)
