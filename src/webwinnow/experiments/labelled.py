"""Labelled rows and pages of an experiment: small enough for memory, cleaned in one process."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from webwinnow.blocks import said_in
from webwinnow.cleaning import CleaningSettings, method
from webwinnow.errors import InputError
from webwinnow.io import open_pages
from webwinnow.io.parquet import needs_pyarrow
from webwinnow.pagemodel import PageEvidence
from webwinnow.pagetree import PageTree
from webwinnow.parse import parse
from webwinnow.records import PageRecord
from webwinnow.replicas import telling_runs
from webwinnow.sitemodel import learn
from webwinnow.urls import SiteKey

__all__ = ["read_rows", "telling_texts"]


def read_rows(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a Parquet or JSONL file. `InputError` where it is none or lacks a column."""
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            needs_pyarrow()
            import pyarrow.parquet as pq  # noqa: PLC0415

            rows = pq.read_table(path).to_pylist()
        else:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read ({error}); expected Parquet or JSONL") from error
    for row in rows:
        if not isinstance(row, dict) or any(name not in row for name in columns):
            raise InputError(f"{path}: expected the columns {', '.join(columns)}")
    return rows


def telling_texts(
    pages: Path,
    wanted: set[str],
    *,
    cleaning: str,
    site_by: SiteKey | None = None,
    on_progress: Callable[[str, int, int | None], None] | None = None,
) -> dict[str, str]:
    """By page id what each page says once it is cleaned, each site learned from all its pages (see `telling_runs`)."""
    tell = on_progress or (lambda _stage, _done, _total: None)
    site_by = site_by or SiteKey()
    sites: dict[str, list[tuple[str | None, PageTree]]] = defaultdict(list)
    problems: list[str] = []
    for done, page in enumerate(open_pages([pages], on_problem=problems.append), start=1):
        if page.refused is None:
            sites[site_by.of(page)].append((page.page_id, _tree(page)))
        tell("parse", done, None)
    texts: dict[str, str] = {}
    chosen, settings = method(cleaning), CleaningSettings()
    for site, members in sorted(sites.items()):
        model = learn([tree for _, tree in members], site, chosen.parts) if chosen.learns else None
        for page_id, tree in members:
            if page_id in wanted:
                evidence = PageEvidence.of(tree) if chosen.scores else None
                verdict = chosen.clean(tree, model, settings, evidence)
                texts[page_id] = said_in(tree, telling_runs(tree, verdict, evidence, model))
                tell("clean", len(texts), len(wanted))
    missing = sorted(wanted - texts.keys())
    if missing:
        raise InputError(f"{pages}: has no page {', '.join(missing[:3])}, which the labels name")
    return texts


def _tree(page: PageRecord) -> PageTree:
    return parse(page.body, url=page.url, content_type=page.content_type)
