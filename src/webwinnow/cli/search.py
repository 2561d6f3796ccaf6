"""`webwinnow index` and `webwinnow search`: full-text search over clean pages."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, printable, shown_progress, stoppable
from webwinnow.counted import counted
from webwinnow.errors import InputError, SettingsError
from webwinnow.io.inputs import known_page_count
from webwinnow.io.tablefiles import read_records, spooled_tables
from webwinnow.search import Hit, IndexFolder, IndexSettings, SearchSettings, suggest
from webwinnow.search import search as search_index
from webwinnow.search.index import FILTERS
from webwinnow.search.query import DAYS, FIELDS, Within

SHOWN_PROBLEMS = 5
"""Lines that are no records of which each is reported; further ones are counted."""
MB = 1_000_000
_INDEX = IndexSettings()


def index(
    inputs: Annotated[
        list[str] | None, typer.Argument(metavar="RECORDS...", help="Records of clean (JSONL, Parquet).")
    ] = None,
    out: Annotated[Path, opt.out_folder("the folder of the index, made if it does not exist")] = ...,  # type: ignore[assignment]
    remove: Annotated[
        list[str] | None, opt.writing("Remove a page by page_id or URL, or site:NAME; repeatable.")
    ] = None,
    with_replicas: Annotated[
        bool, opt.reading("Index pages that are near-duplicates of others too.", "--with-replicas")
    ] = False,
    stop_words: Annotated[Path | None, opt.stop_words("none, all words are indexed", panel=opt.INPUT)] = None,
    memory: Annotated[int, opt.running("Megabytes that each level fills before it writes a segment.")] = _INDEX.memory
    // MB,
    commit_every: Annotated[int, opt.running("Pages after which the index is saved.")] = _INDEX.commit_every,
    quiet: opt.Quiet = False,
) -> None:
    """Make a search index of clean pages, or update one.

    A page that is in the index already (by page_id, else by URL) is replaced. Dropped and failed pages are left out.
    Exit code 1 if some lines were no records, or records without page_id and URL.

    Examples:

        webwinnow index clean.jsonl -o index
        webwinnow index -o index --remove https://example.org/old --remove site:spam.example
    """
    if not inputs and not remove:
        raise SettingsError("nothing to index: give records of webwinnow clean, or --remove")
    settings = IndexSettings(memory=memory * MB, commit_every=commit_every, replicas=with_replicas)
    stops = opt.stop_list(stop_words)
    kept = (
        f"{out} has the pages up to the last save (--commit-every). The same command replaces these and adds the others"
    )
    with (
        stoppable(lambda: kept if out.is_dir() else UNCHANGED),
        shown_progress(quiet=quiet) as progress,
        spooled_tables(inputs or []) as files,
    ):
        problems = _Problems(progress.note)
        records = read_records(files, on_problem=problems.note)
        first = list(islice(records, 1))  # before a folder is made: an input without records makes none
        if problems.count and not first:
            raise InputError(f"{', '.join(inputs or [])}: no record; expected records that webwinnow clean wrote")
        with IndexFolder(out, create=True, stop_list=stops).writing(settings) as opened:
            for removed in remove or ():
                field, _, value = removed.partition(":") if removed.startswith("site:") else ("key", "", removed)
                opened.remove_where(field, value)
            total = known_page_count(files)
            done = opened.put_all(chain(first, records), total=total or None, on_progress=progress.update)
    left = {"not kept": done.not_kept, "replica" if done.replicas == 1 else "replicas": done.replicas}
    left_out = ", ".join(f"{count:,} {what}" for what, count in left.items() if count)
    apart = f" ({left_out} left out)" if left_out else ""
    summary = f"{counted(done.put, 'page')} put{apart}; {opened.pages:,} in the index"
    finish([summary], quiet=quiet)
    failures = []
    if done.unnamed:
        failures.append(
            f"{counted(done.unnamed, 'record')} left out: neither page_id nor url, no search could name them"
        )
    if problems.count:
        unread = counted(problems.count, "line or file", "lines or files")
        failures.append(f"{unread} could not be read as records")
    finish([f"webwinnow: {failure}" for failure in failures], failed=bool(failures))


class _Problems:
    """Reports the first few problems and counts them all."""

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.count = 0

    def note(self, problem: str) -> None:
        self.count += 1
        if self.count <= SHOWN_PROBLEMS:
            self.report(problem)


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
