"""Records that `webwinnow clean` wrote as pages of plain text, for commands that need no HTML.

Each line of a record's text becomes a paragraph, and its title, language and day of publication are in the head, so
that a record goes through a collection as any page does. A page that was dropped has no text; one that failed is
refused with the error of its record.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from webwinnow.page.records import PageRecord
from webwinnow.run.rows import text_of_value
from webwinnow.run.tablefiles import read_records
from webwinnow.run.unpacking import ProblemListener, ReadLimits


def open_records(
    inputs: Sequence[str | Path],
    *,
    on_problem: ProblemListener,
    limits: ReadLimits | None = None,
    label: str | None = None,
) -> Iterator[PageRecord]:
    """Read the records of all inputs in their order as pages, numbered from 0. `label` names a further column."""
    columns = () if label is None else (label,)
    records = read_records(inputs, on_problem=on_problem, limits=limits, columns=columns)
    for ordinal, record in enumerate(records):
        yield replace(page_of_record(record, label), ordinal=ordinal)


def page_of_record(record: Mapping[str, object], label: str | None = None) -> PageRecord:
    """Return a record as a page of plain text."""
    texts = {name: text_of_value(record.get(name)) for name in ("url", "page_id", "site", "title", "date", "lang")}
    failed = record.get("outcome") == "failed"
    lines = (text_of_value(record.get("text")) or "").splitlines()
    head = "".join(
        [
            f"<title>{html.escape(texts['title'])}</title>" if texts["title"] else "",
            f'<meta property="article:published_time" content="{html.escape(texts["date"])}">' if texts["date"] else "",
        ]
    )
    body = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines if line.strip())
    written = f'<!doctype html><html lang="{html.escape(texts["lang"] or "")}">{head}<body>\n{body}'
    return PageRecord(
        url=texts["url"] or "",
        body=b"" if failed else written.encode("utf-8", "replace"),
        content_type="text/html; charset=utf-8",
        site=texts["site"] or "",
        page_id=texts["page_id"],
        refused=(text_of_value(record.get("reason")) or "the page failed") if failed else None,
        label=None if label is None else text_of_value(record.get(label)),
    )
