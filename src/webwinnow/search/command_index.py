"""`webwinnow index`: an index of clean pages, made and updated."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, islice
from pathlib import Path
from typing import Annotated

import typer

from webwinnow.cli import options as opt
from webwinnow.cli.terminal import UNCHANGED, finish, shown_progress, stoppable
from webwinnow.counted import counted
from webwinnow.errors import InputError, SettingsError
from webwinnow.run.inputs import known_page_count
from webwinnow.run.tablefiles import read_records, spooled_tables
from webwinnow.search.index import IndexFolder, IndexSettings

PANEL = "Search"

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
