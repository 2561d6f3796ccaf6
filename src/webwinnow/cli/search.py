"""`webwinnow index` and `webwinnow search`: find clean pages again."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from webwinnow.cli.progress import shown_progress
from webwinnow.errors import InputError, SettingsError
from webwinnow.io.tablefiles import read_records
from webwinnow.search import Hit, IndexFolder, IndexSettings, SearchSettings
from webwinnow.search import search as found_in
from webwinnow.search.query import Within

__all__ = ["index", "search"]

PROBLEMS_SHOWN = 5
"""Lines that are no records, of which each is told; of more, only how many."""


class WithinOption(StrEnum):
    """The values of `--in`."""

    two_level = "two-level"
    abstract = "abstract"
    full = "full"


_WITHIN: dict[WithinOption, Within] = {
    WithinOption.two_level: "two-level",
    WithinOption.abstract: "abstract",
    WithinOption.full: "full",
}


def index(
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RECORDS...", help="Records that webwinnow clean wrote: JSONL (packed or not), Parquet."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the index; made if it is not there.")] = ...,  # type: ignore[assignment]
    remove: Annotated[
        list[str] | None, typer.Option(help="Take out a page by page_id or URL, or all of a site by site:NAME.")
    ] = None,
    replicas: Annotated[bool, typer.Option("--replicas", help="Take pages that are replicas of others too.")] = False,
    memory: Annotated[
        int, typer.Option(help="Megabytes that each level fills before it writes a part.")
    ] = IndexSettings().memory // 1_000_000,
    commit_every: Annotated[
        int, typer.Option(help="Pages after which what is there outlives a kill.")
    ] = IndexSettings().commit_every,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no summary.")] = False,
) -> None:
    """Make a search index of clean pages, or bring one up to date.

    A page that is there already (by page_id, else by URL) is put in its place. Dropped and failed pages are left out.
    Exit code 1 if some lines were no records.

    Examples:

        webwinnow index clean.jsonl -o index

        webwinnow index -o index --remove https://example.org/old --remove site:spam.example
    """
    if not inputs and not remove:
        raise SettingsError("nothing to index: give records of webwinnow clean, or --remove")
    settings = IndexSettings(memory=memory * 1_000_000, commit_every=commit_every, replicas=replicas)
    with shown_progress(quiet=quiet) as progress:
        problems = _Problems(progress.note)
        records = read_records(inputs or [], on_problem=problems.note)
        first = list(islice(records, 1))  # before there is a folder: what holds no record makes none
        if problems.count and not first:
            raise InputError(f"{', '.join(inputs or [])}: no record; expected records that webwinnow clean wrote")
        with IndexFolder(out, create=True).writing(settings) as opened:
            for told in remove or ():
                field, _, value = told.partition(":") if told.startswith("site:") else ("key", "", told)
                opened.remove_where(field, value)
            done = opened.put_all(chain(first, records), on_progress=progress.update)
    if not quiet:
        left = [
            f"{done.not_kept:,} not kept" if done.not_kept else "",
            f"{done.replicas:,} replicas" * bool(done.replicas),
        ]
        told = f" ({', '.join(part for part in left if part)} left out)" if any(left) else ""
        sys.stderr.write(f"{done.put:,} pages put{told}; {opened.pages:,} in the index\n")
    if problems.count:
        sys.stderr.write(f"webwinnow: {problems.count:,} lines or files could not be read as records\n")
        raise typer.Exit(1)


class _Problems:
    """Tells the first few problems and counts them all."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.count = 0

    def note(self, problem: str) -> None:
        self.count += 1
        if self.count <= PROBLEMS_SHOWN:
            self.tell(problem)


def search(
    folder: Annotated[Path, typer.Argument(metavar="INDEX", help="A folder that webwinnow index made.")],
    query: Annotated[str, typer.Argument(help='Words, "phrases", -words that must not be there.')],
    within: Annotated[
        WithinOption, typer.Option("--in", help="Abstracts first, then full texts; or one of the two.")
    ] = WithinOption.two_level,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many results.")] = 10,
    offset: Annotated[int, typer.Option(min=0, help="How many results to pass over.")] = 0,
    site: Annotated[str | None, typer.Option(help="Only pages of this site.")] = None,
    type: Annotated[str | None, typer.Option(help="Only topic, hub or image pages.")] = None,
    genre: Annotated[str | None, typer.Option(help="Only pages of this genre (article, product, ...).")] = None,
    category: Annotated[str | None, typer.Option(help="Only pages of this category.")] = None,
    lang: Annotated[str | None, typer.Option(help="Only pages in this language (en, de, ...).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a result, one a line.")] = False,
) -> None:
    """Search an index.

    Examples:

        webwinnow search index "frost resistant apples"

        webwinnow search index '"site style tree" -css' --site example.org --json | jq .url
    """
    told = {"site": site, "type": type, "genre": genre, "category": category, "lang": lang}
    settings = SearchSettings(
        within=_WITHIN[within],
        limit=limit,
        offset=offset,
        filters={name: value for name, value in told.items() if value},
    )
    result = found_in(IndexFolder(folder), query, settings)
    if as_json:
        for hit in result.hits:
            sys.stdout.write(json.dumps(asdict(hit), ensure_ascii=False) + "\n")
        return
    console = Console(highlight=False, soft_wrap=True)
    for number, hit in enumerate(result.hits, start=offset + 1):
        _show(console, number, hit)
    console.print(Text(f"{result.count:,} pages in {1000 * result.seconds:.1f} ms", style="dim"))


def _show(console: Console, number: int, hit: Hit) -> None:
    about = " · ".join(told for told in (hit.site, hit.genre, hit.date, hit.lang) if told)
    console.print(Text(f"{number}. ") + Text(_printable(hit.title or hit.url or hit.key), style="bold"))
    console.print(Text(f"   {_printable(hit.url or hit.key)}", style="cyan"))
    if about:
        console.print(Text(f"   {_printable(about)}", style="dim"))
    said = Text(_printable(hit.snippet.text))
    for start, end in hit.snippet.marks:
        said.stylize("bold", start, end)
    console.print(Text("   ") + said)


def _printable(text: str) -> str:
    """Text with nothing in it that a terminal would obey, of the same length."""
    return "".join(character if character.isprintable() else " " for character in text)
