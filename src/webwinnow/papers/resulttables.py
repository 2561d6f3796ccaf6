"""Results of experiments for people: CSV files, tables of HTML pages with the best values marked, notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from webwinnow.record.fields import Field, FieldKind
from webwinnow.run.formats import write_csv
from webwinnow.storage.atomic import atomic_file

MISSING = "–"
DECIMALS = 4
"""Of measures in CSV files."""


class Cell(NamedTuple):
    """A table cell with a style class."""

    text: str
    kind: str


Row = Sequence[str | Cell]


def write_tables(tables: Mapping[str, Iterable[Mapping[str, Any]]], folder: Path) -> list[Path]:
    """Write the tables that have rows as `NAME.csv`; cells that a spreadsheet would run as formulas are quoted."""
    written = []
    for name, rows in tables.items():
        records = [dict(row) for row in rows]
        if records:
            path = folder.resolve() / f"{name}.csv"
            columns = dict.fromkeys(column for record in records for column in record)
            with atomic_file(path) as file:
                write_csv(records, file, tuple(Field(column, FieldKind.NUMBER) for column in columns))
            written.append(path)
    return written


def best_of_row(values: Sequence[float | None]) -> list[str | Cell]:
    """Format values with three decimals and mark the greatest."""
    shown = [MISSING if value is None else f"{value:.3f}" for value in values]
    top = max((value for value in shown if value != MISSING), key=float, default=None)
    return [Cell(value, "best") if value == top else value for value in shown]


def best_of_columns(rows: Sequence[Sequence[str]], first: int = 1) -> list[Row]:
    """Mark the greatest number of each column from `first` on; columns of equal numbers stay unmarked."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    marked: list[Row] = []
    for number, column in enumerate(columns):
        values = [cell.split(maxsplit=1)[0] if cell else "" for cell in column]
        if number < first or len(set(values)) < 2:
            marked.append(column)
        else:
            top = max(values, key=float)
            marked.append([Cell(c, "best") if v == top else c for c, v in zip(column, values, strict=True)])
    return [list(row) for row in zip(*marked, strict=True)]


class Notes:
    """The problems of a run, each reported once."""

    def __init__(self, on_problem: Callable[[str], None] | None) -> None:
        self.lines: dict[str, None] = {}
        self._report = on_problem or (lambda _: None)

    def __call__(self, problem: str) -> None:
        if problem not in self.lines:
            self.lines[problem] = None
            self._report(problem)
