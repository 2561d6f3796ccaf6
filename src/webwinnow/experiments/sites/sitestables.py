"""The results as CSV: accuracy by training sites, every site left out, denoising, reading, likelihood, times."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from webwinnow.experiments.sites.sitesresults import SitesResults, accuracy_of
from webwinnow.io.formats import write_csv
from webwinnow.io.outputs import whole_file
from webwinnow.io.schema import Field, FieldKind, Fields

__all__ = ["TABLES", "write_tables"]

TABLES = ("accuracy", "sites", "denoising", "reading", "likelihood", "times")
"""Names of the files, `.csv` left off."""
DECIMALS = 4


def write_tables(results: SitesResults, folder: Path) -> list[Path]:
    """Write the tables that have rows into a folder; cells that a spreadsheet would run are quoted (`io.csv`)."""
    written = []
    makers = (_accuracy, _sites, _denoising, _reading, _likelihood, _times)
    for name, maker in zip(TABLES, makers, strict=True):
        records = list(maker(results))
        if not records:
            continue
        path = folder.resolve() / f"{name}.csv"
        with whole_file(path) as file:
            write_csv(records, file, _fields(tuple(records[0])))
        written.append(path)
    return written


def _fields(columns: tuple[str, ...]) -> Fields:
    return tuple(Field(name, FieldKind.NUMBER) for name in columns)


def _accuracy(results: SitesResults) -> Iterator[dict[str, Any]]:
    """Figure 9: every draw."""
    for size in results.sizes:
        for draw, value in enumerate(size.accuracies):
            yield {
                "method": size.method,
                "training_sites": size.sites,
                "draw": draw,
                "accuracy": round(value, DECIMALS),
            }


def _sites(results: SitesResults) -> Iterator[dict[str, Any]]:
    """Every site left out once."""
    pages = {name: count for name, _, count in results.sites}
    for method, answers in results.left_out.items():
        for answer in answers:
            yield {
                "method": method,
                "site": answer.site,
                "pages": pages[answer.site],
                "label": answer.label,
                "found": answer.topic,
                "right": answer.right,
                "probability": round(answer.probability, DECIMALS),
            }


def _denoising(results: SitesResults) -> Iterator[dict[str, Any]]:
    for row in results.denoising:
        for method, answers in row.answers.items():
            yield {
                "denoising": row.choice,
                "method": method,
                "accuracy": round(accuracy_of(answers), DECIMALS),
                "words_taking_part": round(row.words, DECIMALS),
                "pages_taking_part": round(row.pages, DECIMALS),
                "seconds": round(row.seconds, 2),
            }


def _reading(results: SitesResults) -> Iterator[dict[str, Any]]:
    """Figure 11: every site in every way."""
    for row in results.pruning:
        for one in row.reads:
            yield {
                "way": row.way,
                "site": one.answer.site,
                "read": one.read,
                "kept": one.kept,
                "label": one.answer.label,
                "found": one.answer.topic,
                "right": one.answer.right,
            }


def _likelihood(results: SitesResults) -> Iterator[dict[str, Any]]:
    """Figure 6."""
    for trees, curves in (("drawn", results.drawn), ("sites", results.own)):
        for curve in curves:
            for number, value in enumerate(curve.history, start=1):
                yield {"trees": trees, "em": curve.name, "pass": number, "nats_a_node": round(value, 6)}


def _times(results: SitesResults) -> Iterator[dict[str, Any]]:
    for stage, seconds in results.seconds.items():
        yield {"stage": stage, "seconds": round(seconds, 3)}
