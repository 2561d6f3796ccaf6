"""`webwinnow search`: full-text search over clean pages."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webwinnow.cli import options as opt
from webwinnow.counted import counted, printable
from webwinnow.search.index import IndexFolder
from webwinnow.search.level import FILTERS
from webwinnow.search.query import DAYS, FIELDS, Hit, SearchSettings, Within, suggest
from webwinnow.search.query import search as search_index

PANEL = "Search"


def search(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="A folder that webwinnow index made.")],
    query: Annotated[
        str,
        typer.Argument(
            help='Words, "phrases", -words that must not occur, title:words, site:NAME, after:DAY, before:DAY.'
        ),
    ],
    within: Annotated[
        Within, opt.reading("Search abstracts, then full texts (two-level), or one of them.", "--in")
    ] = "two-level",
    site: Annotated[str | None, opt.site()] = None,
    type: Annotated[str | None, opt.reading("Only topic, hub or image pages.")] = None,
    genre: Annotated[str | None, opt.reading("Only pages of this genre (article, product, ...).")] = None,
    category: Annotated[str | None, opt.reading("Only pages of this category.")] = None,
    lang: Annotated[str | None, opt.reading("Only pages in this language, such as en or de.")] = None,
    since: Annotated[str | None, opt.reading("Only pages published on this day or later, YYYY-MM-DD.")] = None,
    until: Annotated[str | None, opt.reading("Only pages published on this day or earlier, YYYY-MM-DD.")] = None,
    forms: Annotated[
        bool, opt.reading("Also find other forms of the words (apple, apples).", "--forms/--no-forms")
    ] = True,
    typos: Annotated[
        bool, opt.reading("Find near words for a word that the index does not have.", "--typos/--no-typos")
    ] = True,
    facets: Annotated[
        str | None,
        opt.writing("Count the pages that match by these, separated by commas: site, type, genre, category, lang."),
    ] = None,
    complete: Annotated[bool, opt.writing("Print completions of the query instead.", "--suggest")] = False,
    limit: Annotated[int, opt.writing("Number of results.", "--limit", "-n", min=1)] = 10,
    offset: Annotated[int, opt.writing("Number of results to skip.", min=0)] = 0,
    as_json: opt.AsJson = False,
) -> None:
    """Search an index.

    Results are printed best first, each with the passage that matches best.

    Examples:

        webwinnow search index "frost resistant apples"
        webwinnow search index '"site style tree" -css' --site example.org --json | jq .url
        webwinnow search index "title:apples after:2025-01-01" --facets site,lang
        webwinnow search index "frost resi" --suggest
    """
    filters = {"site": site, "type": type, "genre": genre, "category": category, "lang": lang}
    if complete:
        for completed in suggest(IndexFolder(folder), query, limit):
            sys.stdout.write((json.dumps({"query": completed}, ensure_ascii=False) if as_json else completed) + "\n")
        return
    settings = SearchSettings(
        within=within,
        limit=limit,
        offset=offset,
        filters={name: value for name, value in filters.items() if value},
        after=since,
        before=until,
        forms=forms,
        typos=typos,
        facets=opt.names_in(facets or ""),
    )
    result = search_index(IndexFolder(folder), query, settings)
    for name in result.unknown:
        fields = ", ".join((*FIELDS, *FILTERS, *DAYS))
        sys.stderr.write(f"webwinnow: {name!r} is no field and is searched for as a word; the fields are: {fields}\n")
    for typed, used in result.corrections.items():
        sys.stderr.write(f"webwinnow: the index has no {printable(typed)!r}; searched for {printable(used)!r}\n")
    if as_json:
        for hit in result.hits:
            sys.stdout.write(json.dumps(asdict(hit), ensure_ascii=False) + "\n")
        if result.facets:
            facets_found = {name: dict(values) for name, values in result.facets.items()}
            sys.stdout.write(json.dumps({"facets": facets_found}, ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False, soft_wrap=True)
    for number, hit in enumerate(result.hits, start=offset + 1):
        _show(console, number, hit)
    for name, values in result.facets.items():
        shown = ", ".join(f"{printable(value)} {count:,}" for value, count in values)
        console.print(Text(f"{name}: {shown}", style="dim"))
    console.print(Text(f"{counted(result.count, 'page')} in {1000 * result.seconds:.1f} ms", style="dim"))


def _show(console: Console, number: int, hit: Hit) -> None:
    about = " · ".join(value for value in (hit.site, hit.genre, hit.date, hit.lang) if value)
    console.print(Text(f"{number}. ") + Text(printable(hit.title or hit.url or hit.key), style="bold"))
    console.print(Text(f"   {printable(hit.url or hit.key)}", style="cyan"))
    if about:
        console.print(Text(f"   {printable(about)}", style="dim"))
    snippet = Text(printable(hit.snippet.text))
    for start, end in hit.snippet.marks:
        snippet.stylize("bold", start, end)
    console.print(Text("   ") + snippet)
