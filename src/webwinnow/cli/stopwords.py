"""`webwinnow stopwords`: derive an aggressive stop list from a collection (DocView 3.2)."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from webwinnow.cleaner import clean_page
from webwinnow.errors import PageRefused
from webwinnow.io import open_pages
from webwinnow.parsing import parse
from webwinnow.words import StopListBuilder, StopListSettings

__all__ = ["stopwords"]

_DEFAULTS = StopListSettings()


def stopwords(
    inputs: Annotated[
        list[str], typer.Argument(metavar="INPUT...", help="HTML, WARC, WACZ, JSONL, Parquet, folder, -.")
    ],
    share: Annotated[
        float, typer.Option(help="A word counts as a stop word when at least this share of the pages uses it.")
    ] = _DEFAULTS.min_page_share,
    often: Annotated[
        int, typer.Option(help="A page uses a word when it holds it at least so many times.")
    ] = _DEFAULTS.min_term_frequency,
) -> None:
    """Derive a stop list from a collection: words that many of its pages use often, most widespread first.

    Writes one word a line with the number of pages, tab-separated.

    Example:

        webwinnow stopwords crawl.warc.gz --share 0.2 > stop.tsv
    """
    builder = StopListBuilder(
        StopListSettings(
            min_page_share=share,
            min_term_frequency=often,
            max_missed_share=min(_DEFAULTS.max_missed_share, share / 10),
        )
    )
    refused = 0
    for page in open_pages(inputs, on_problem=lambda problem: print(f"webwinnow: {problem}", file=sys.stderr)):
        try:
            builder.add(clean_page(parse(page.body, url=page.url, content_type=page.content_type)).text)
        except PageRefused:
            refused += 1
    for found in builder.stop_list():
        sys.stdout.write(f"{found.word}\t{found.pages}\n")
    sys.stderr.write(f"webwinnow: {builder.pages} pages read, {refused} refused\n")
