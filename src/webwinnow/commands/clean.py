"""The run itself: read and parse every page into the store, clean site by site, find replicas, then join the parts.

    pages --parse--> store (spool, index) --site by site--> parts, sketches --replicas, join--> output

Each input page ends as exactly one record; records come in the order (site, input ordinal), whatever the workers did.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from webwinnow.collection.foundreplicas import RunReplicas, replicas_in
from webwinnow.collection.outputparts import clean_all
from webwinnow.collection.pagestore import CollectionStore
from webwinnow.collection.parsedpages import parse_all
from webwinnow.collection.settings import RunSettings
from webwinnow.collection.summary import Counts, Summary
from webwinnow.collection.workerpool import WorkerPool
from webwinnow.errors import SettingsError
from webwinnow.io import check_apart, check_output, open_pages, output_format, read_parts, write_output
from webwinnow.io.inputs import STDIN
from webwinnow.io.outputs import STDOUT, OutputFormat, write_lines
from webwinnow.io.rows import Fields
from webwinnow.io.unpacking import ReadLimits
from webwinnow.progress import Progress

__all__ = ["Engine", "Parser", "run"]


class Parser(Protocol):
    """Who does the first stage of a run in the place of this machine's workers."""

    def parse_all(
        self,
        inputs: Sequence[str | Path],
        store: CollectionStore,
        settings: RunSettings,
        limits: ReadLimits,
        note: Callable[[str], None],
        tell: Progress,
    ) -> None:
        """Stage 1: parse every page; the store gets a row of each."""


class Engine(Parser, Protocol):
    """Who does the first two stages."""

    def clean_all(self, store: CollectionStore, settings: RunSettings, tell: Progress) -> int:
        """Stage 2: clean every page into parts of the store; returns the number of sites."""


def run(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    *,
    format: str | None = None,
    rejected: str | Path | None = None,
    resume: bool = False,
    tmp: Path | None = None,
    read_limits: ReadLimits | None = None,
    engine: Engine | None = None,
    on_progress: Progress | None = None,
    on_problem: Callable[[str], None] | None = None,
) -> Summary:
    """Clean a collection. The output appears whole at the end, or not at all; a killed run goes on with `resume`.

    `engine` is a cluster (`webwinnow.engines`); without, worker processes of this machine do the work.
    """
    started = time.monotonic()
    wanted = output_format(out, format)
    check_output(out, wanted)
    if rejected is not None:
        check_output(rejected, "jsonl")
    check_apart(inputs, out, rejected)
    problems: list[str] = []

    def note(problem: str) -> None:
        problems.append(problem)
        if on_problem is not None:
            on_problem(problem)

    pages = open_pages(inputs, on_problem=note, limits=read_limits)
    folder, is_passing = _run_folder(out, tmp, inputs, resume=resume)
    identity = {
        "engine": "workers" if engine is None else "cluster",
        "inputs": [_identity(given) for given in inputs],
        "models": None if settings.models is None else _identity(settings.models),
        "settings": settings.result_settings(),
    }
    tell = on_progress or (lambda _stage, _done, _total: None)
    try:
        with CollectionStore(folder, identity, resume=resume) as store:
            if engine is None:
                with WorkerPool(
                    settings.workers,
                    settings.to_plain(),
                    page_seconds=settings.page_seconds,
                    memory=settings.worker_memory,
                ) as pool:
                    parse_all(pages, store, pool, settings, tell)
                    sites = clean_all(store, pool, settings, tell)
            else:
                engine.parse_all(inputs, store, settings, read_limits or ReadLimits(), note, tell)
                sites = engine.clean_all(store, settings, tell)
            replicas = None if settings.replicas is None else replicas_in(store, settings.replicas, tell)
            counts = _join(store, out, wanted, rejected, replicas, tell, settings.fields)
            total = store.page_count()
            if not settings.site_by.has_sites:
                sites = len(set(store.site_names()))
            found = None if replicas is None else replicas.found(store)
            store.finish()
    finally:
        if is_passing:
            shutil.rmtree(folder.parent, ignore_errors=True)
    return Summary(total, sites, counts, found, time.monotonic() - started, tuple(problems))


def _run_folder(out: str | Path, tmp: Path | None, inputs: Sequence[str | Path], *, resume: bool) -> tuple[Path, bool]:
    """The run's private folder, and whether it goes whatever happens: what cannot be resumed leaves nothing behind.

    One that goes is the only thing in a folder made for it, which goes with it.
    """
    path = Path(out).absolute()
    if str(out) == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
        if resume:
            raise SettingsError(f"a run that writes to {out} cannot be resumed; give a file with -o")
        return Path(tempfile.mkdtemp(prefix="webwinnow-", dir=tmp)) / "run", True
    if resume and any(str(given) == STDIN for given in inputs):
        raise SettingsError("a run that reads standard input cannot be resumed; give files")
    if tmp is None:
        return path.with_name(f".{path.name}.webwinnow-run"), False
    return tmp / f"webwinnow-run-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}", False


def _identity(given: str | Path) -> list[Any]:
    """What tells an input from a changed one."""
    path = Path(given)
    if str(given) == STDIN or not path.exists():
        return [str(given)]
    files = [path] if path.is_file() else _files(path)
    about = hashlib.sha256()
    for file in files:
        status = file.stat()
        about.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return [str(path.absolute()), about.hexdigest()]


def _files(folder: Path) -> Iterator[Path]:
    """All files of a folder but hidden ones, in a fixed order."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


# Stage 3: parts to the output


def _join(
    store: CollectionStore,
    out: str | Path,
    format: OutputFormat,
    rejected: str | Path | None,
    replicas: RunReplicas | None,
    tell: Progress,
    fields: Fields,
) -> Counts:
    """Write the parts one after the other to where the user wants them; returns what they counted."""
    counts = Counts()
    numbers: list[int] = []
    for number, counted in store.parts():
        numbers.append(number)
        counts.add(Counts.from_plain(counted))

    def paths(*, left_out: bool = False) -> Iterator[Path]:
        for done, number in enumerate(numbers, start=1):
            yield store.part_path(number, rejected=left_out)
            tell("write", done, len(numbers))

    if format == "jsonl":
        lines = _lines(paths())
        write_lines(lines if replicas is None else replicas.named_lines(lines, store), out)
    else:
        records = read_parts(paths())
        write_output(records if replicas is None else replicas.named(records, store), out, format, fields=fields)
    if rejected is not None:
        write_lines(_lines(paths(left_out=True)), rejected)
    return counts


def _lines(paths: Iterator[Path]) -> Iterator[bytes]:
    for path in paths:
        with path.open("rb") as file:
            yield from file
