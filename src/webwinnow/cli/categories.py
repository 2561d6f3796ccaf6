"""`webwinnow categories`: learn content categories from pages whose category is known."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cleaner import clean_page
from webwinnow.docview import CategoryModel, CategorySettings, FeatureVector, features_of
from webwinnow.errors import InputError, PageRefused
from webwinnow.io import check_apart, check_output, open_pages
from webwinnow.methods import DEFAULT_METHOD, METHODS
from webwinnow.parsing import parse

__all__ = ["categories"]

_DEFAULTS = CategorySettings()


def categories(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL, Parquet, folder, -.")
    ],
    labels: Annotated[
        Path, typer.Option(help="A tab-separated file: page_id (or url) and category, a page a line, no heading.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the model goes, an .npz file.")],
    method: Annotated[str, typer.Option(help=f"How to clean: {', '.join(METHODS)}.")] = DEFAULT_METHOD,
    features: Annotated[int, typer.Option(help="Features to keep, by chi-square.")] = _DEFAULTS.features,
    neighbours: Annotated[int, typer.Option(help="Training pages that vote.")] = _DEFAULTS.neighbours,
) -> None:
    """Learn content categories (DocView 6 and 7.1): chi-square chooses features, the nearest pages vote.

    Pages without a label are passed over. The model serves `webwinnow clean --categories`.

    Example:

        webwinnow categories crawl.warc.gz --labels labels.tsv -o categories.npz
    """
    check_output(out, "jsonl")
    check_apart([*inputs, labels], out)
    settings = CategorySettings(features=features, neighbours=neighbours)
    known = _labels(labels)
    vectors: list[FeatureVector] = []
    named: list[str] = []
    refused = 0
    for page in open_pages(inputs, on_problem=lambda problem: print(f"webwinnow: {problem}", file=sys.stderr)):
        category = known.get(page.page_id or "") or known.get(page.url)
        if category is None:
            continue
        try:
            tree = parse(page.body, url=page.url, content_type=page.content_type)
        except PageRefused:
            refused += 1
            continue
        clean = clean_page(tree, method)
        vectors.append(features_of(tree, clean.verdict, clean.language))
        named.append(category)
    if not vectors:
        raise InputError(f"{labels}: no page of the input has a label; expected its page_id or url, a tab, a category")
    model = CategoryModel.train(vectors, named, settings)
    model.save(out)
    learned = f"{len(vectors)} pages, {len(model.names)} categories, {len(model.key)} features"
    sys.stderr.write(f"webwinnow: {learned}; {refused} refused\n")


def _labels(path: Path) -> dict[str, str]:
    """Page ids or addresses with their categories."""
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            rows = [row for row in csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: {error}; expected page_id or url, a tab, a category, a page a line") from None
    short = [row for row in rows if len(row) != 2]
    if short:
        raise InputError(f"{path}: {len(short[0])} columns; expected page_id or url, a tab, a category")
    return {row[0]: row[1] for row in rows}
