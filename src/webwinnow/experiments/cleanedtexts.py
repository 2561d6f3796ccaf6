"""Labelled rows and pages of an experiment: small enough for memory, cleaned in one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from webwinnow.blocks import text_of_runs
from webwinnow.cleaner import Cleaner
from webwinnow.errors import InputError
from webwinnow.io import open_pages
from webwinnow.io.tablefiles import TableFile
from webwinnow.pagetree import PageTree
from webwinnow.parsing import parse
from webwinnow.progress import Progress
from webwinnow.records import PageRecord
from webwinnow.replicas import distinctive_runs
from webwinnow.sitemodel import learn
from webwinnow.urls import SiteKey

__all__ = ["read_rows", "telling_texts"]


def read_rows(path: Path, columns: Sequence[str], also: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a Parquet or JSONL file, with more columns where there are. `InputError` where one lacks a column."""

    def refuse(problem: str) -> None:
        raise InputError(problem)

    file = TableFile(path)
    file.check(columns)
    rows = list(file.rows((*columns, *also), refuse))
    if any(name not in row for row in rows for name in columns):
        raise InputError(f"{path}: expected the columns {', '.join(columns)} in every row")
    return rows


def telling_texts(
    pages: Path,
    wanted: set[str],
    *,
    cleaning: str,
    site_by: SiteKey | None = None,
    on_progress: Progress | None = None,
) -> dict[str, str]:
    """By page id the cleaned text of each page, each site learned from all its pages (see `distinctive_runs`)."""
    tell = on_progress or (lambda _stage, _done, _total: None)
    site_by = site_by or SiteKey()
    sites: dict[str, list[tuple[str | None, PageTree]]] = defaultdict(list)
    problems: list[str] = []
    for done, page in enumerate(open_pages([pages], on_problem=problems.append), start=1):
        if page.refused is None:
            sites[site_by.of(page)].append((page.page_id, _tree(page)))
        tell("parse", done, None)
    texts: dict[str, str] = {}
    cleaner = Cleaner.of(cleaning)
    for site, members in sorted(sites.items()):
        learns = cleaner.method.learns and site_by.has_sites
        model = learn([tree for _, tree in members], site, cleaner.method.parts) if learns else None
        for page_id, tree in members:
            if page_id in wanted:
                evidence = cleaner.evidence(tree)
                verdict = cleaner.clean(tree, model, evidence).verdict
                texts[page_id] = text_of_runs(tree, distinctive_runs(tree, verdict, evidence, model))
                tell("clean", len(texts), len(wanted))
    missing = sorted(wanted - texts.keys())
    if missing:
        raise InputError(f"{pages}: has no page {', '.join(missing[:3])}, which the labels name")
    return texts


def _tree(page: PageRecord) -> PageTree:
    return parse(page.body, url=page.url, content_type=page.content_type)
