"""The templates of a collection: pagelets that its pages share, found by following the links between pages."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple, Unpack

from webwinnow.page.urls import SiteKey
from webwinnow.run.outputs import check_apart, check_output, write_lines
from webwinnow.run.pagestore import PageRow
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import CollectionSettings
from webwinnow.site.pagelets import PUBLISHED, TEMPLATE_PAGES, PageletSettings
from webwinnow.site.templates import Collection, Template, pagelet_text


class Listed(NamedTuple):
    """The numbers of templates, of pages that have one, of all pages, and of pages that could not be read."""

    templates: int
    with_templates: int
    pages: int
    failed: int


def list_templates(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: CollectionSettings,
    *,
    linked: bool = True,
    least: int = TEMPLATE_PAGES,
    pagelets: PageletSettings = PUBLISHED,
    **options: Unpack[OpenOptions],
) -> Listed:
    """Write one line per template, those of most pages first: fingerprint, text, sites and the pages that have it.

    A template is on `least` pages or more. The lines also have the settings of the pagelets, unless they are the
    published ones.
    """
    check_output(out, "jsonl")
    check_apart(inputs, out)
    with ParsedCollection.open(inputs, settings, **options) as collection:
        rows = [row for row in collection.rows() if row.ref is not None]
        templates = Collection((row.key for row in rows), pagelets)
        for done, row in enumerate(rows, start=1):
            templates.add(collection.tree(row))
            collection.progress("clean", done, len(rows))
        found = templates.templates(linked=linked, pages=least)
        texts = _texts(found, rows, collection, pagelets)
        write_lines(_lines(found, rows, texts, settings.site_by, pagelets), out)
        having = {page for template in found for page in template.pages}
        return Listed(len(found), len(having), collection.page_count, collection.failed_count)


def _texts(
    found: list[Template], rows: list[PageRow], collection: ParsedCollection, pagelets: PageletSettings
) -> list[str]:
    """The text of each template on its first page; each page is read once."""
    wanted: dict[int, list[int]] = defaultdict(list)
    for at, template in enumerate(found):
        wanted[template.pages[0]].append(at)
    texts = [""] * len(found)
    for page, templates in wanted.items():
        tree = collection.tree(rows[page])
        for at in templates:
            texts[at] = pagelet_text(tree, found[at].fingerprint, pagelets)
    return texts


def _lines(
    found: list[Template], rows: list[PageRow], texts: list[str], site_by: SiteKey, pagelets: PageletSettings
) -> Iterator[bytes]:
    how = {} if pagelets == PUBLISHED else {"pagelets": asdict(pagelets)}
    for template, text in zip(found, texts, strict=True):
        members = [rows[page] for page in template.pages]
        record = {
            "template": f"{template.fingerprint:016x}",
            "pages": len(members),
            "sites": sorted({site_by.name(row.site, row.url) for row in members}),
            "text": text,
            "members": [row.url for row in members],
        } | how
        yield json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
