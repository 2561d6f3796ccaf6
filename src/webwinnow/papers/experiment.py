"""What every experiment writes: a page, CSV files, JSON, Markdown; tables with the best values marked; notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from webwinnow.inspect.templating import asset, render_page
from webwinnow.record.fields import Field, FieldKind
from webwinnow.run.formats import write_csv
from webwinnow.storage.atomic import atomic_file, write_file

MISSING = "–"
DECIMALS = 4
"""Of measures in CSV files."""


class Cell(NamedTuple):
    """A table cell with a style class."""

    text: str
    kind: str


Row = Sequence[str | Cell]
Tables = Mapping[str, Iterable[Mapping[str, Any]]]
"""Rows by the name of a table; one without rows is not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What an experiment writes, under its name: a page, tables as CSV, plain results as JSON; and its summary.

    With plain results the summary is Markdown, which is written too.
    """

    name: str
    summary: Sequence[str]
    page: str = ""
    tables: Tables = field(default_factory=dict)
    plain: Any = None

    def write(self, out: Path) -> None:
        """Write the files into a folder, which is made."""
        out.mkdir(parents=True, exist_ok=True)
        if self.page:
            write_file(out / f"{self.name}.html", self.page.encode("utf-8", "replace"))
        if self.plain is not None:
            write_file(out / f"{self.name}.json", json.dumps(self.plain, indent=1).encode() + b"\n")
            write_file(out / f"{self.name}.md", "\n".join([*self.summary, ""]).encode())
        write_tables(self.tables, out)


def write_tables(tables: Tables, folder: Path) -> list[Path]:
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


def experiment_page(template: str, results: Any, **values: Any) -> str:
    """Render the page of an experiment, in the frame that all have."""
    return render_page(template, asset("experiment.css"), results=results, **values)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


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
