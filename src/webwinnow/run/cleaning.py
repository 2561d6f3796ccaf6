"""Clean a collection: parse every page, clean site by site, find replicas, join the parts of the output.

    pages --parse--> store (spool, index) --site by site--> parts, sketches --replicas, join--> output

Each input page gives one record. Records are in the order (site, input ordinal), however many workers there are.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from webwinnow.errors import SettingsError
from webwinnow.run.inputs import STDIN
from webwinnow.run.outputparts import Counts, clean_all, with_values
from webwinnow.run.outputs import (
    LINK_FORMATS,
    PAGE_FORMATS,
    STDOUT,
    OutputFormat,
    check_apart,
    check_output,
    output_format,
    write_lines,
    write_output,
)
from webwinnow.run.pagestore import part_lines
from webwinnow.run.parsedcollection import OpenOptions, ParsedCollection
from webwinnow.run.settings import RunSettings
from webwinnow.run.stages import Stages
from webwinnow.run.summary import Summary
from webwinnow.run.unpacking import ReadLimits
from webwinnow.storage.encoding import from_json

if TYPE_CHECKING:
    from webwinnow.run.engines.clusterengine import ClusterEngine


def run(
    inputs: Sequence[str | Path],
    out: str | Path,
    settings: RunSettings,
    *,
    format: str | None = None,
    shard_pages: int | None = None,
    rejected: str | Path | None = None,
    resume: bool = False,
    resumable: bool = True,
    read_limits: ReadLimits | None = None,
    engine: ClusterEngine | None = None,
    **options: Unpack[OpenOptions],
) -> Summary:
    """Clean a collection. The output appears complete at the end, or not at all; `resume` continues a killed run.

    With `shard_pages` the output is a folder of files with that many records each. Unless it is `resumable`, a run that
    stops leaves nothing, and its working files are temporary.
    `engine` is a cluster (`webwinnow.run.engines`); without one, worker processes of this machine do the work. Raises
    `SettingsError` for categories that were learned from pages cleaned in another way.
    """
    started = time.monotonic()
    wanted = output_format(out, format, links=settings.links is not None)
    if wanted in (LINK_FORMATS if settings.links is None else PAGE_FORMATS):
        raise SettingsError(
            f"{wanted} is for {'links' if settings.links is None else 'pages'}; expected another format"
        )
    again = resume and is_unfinished(out, options.get("tmp"))
    check_output(out, wanted, shards=shard_pages is not None, again=again)
    if rejected is not None:
        check_output(rejected, "jsonl")
    check_apart(inputs, out, rejected)
    Stages.of(settings).check(is_cluster=engine is not None)
    problems: list[str] = []
    report = options.get("on_problem")

    def note(problem: str) -> None:
        problems.append(problem)
        if report is not None:
            report(problem)

    with ParsedCollection.open(
        inputs,
        settings,
        read_limits=read_limits,
        folder=_checked_folder(out, options.get("tmp"), inputs, resume=resume) if resumable else None,
        identity=run_identity(inputs, settings) | {"engine": "workers" if engine is None else "cluster"},
        resume=resume,
        engine=engine,
        **options | {"on_problem": note},
    ) as collection:
        summary = clean_collection(
            collection, settings, out, wanted, shard_pages=shard_pages, rejected=rejected, again=again, engine=engine
        )
        collection.store.finish()
    return replace(summary, seconds=time.monotonic() - started, problems=tuple(problems))


def clean_collection(
    collection: ParsedCollection,
    settings: RunSettings,
    out: str | Path,
    format: OutputFormat,
    *,
    shard_pages: int | None = None,
    rejected: str | Path | None = None,
    again: bool = False,
    engine: ClusterEngine | None = None,
) -> Summary:
    """Clean a collection that was parsed with the same settings, and write its records.

    `again`: a run that was killed may have written the output folder already.
    """
    store, progress = collection.store, collection.progress
    if engine is None:
        sites = clean_all(store, collection.pool, settings, progress)
    else:
        sites = engine.clean_all(store, settings, progress)
    stages, counts, parts = Stages.of(settings), Counts.of(store), store.parts()
    joined = stages.joined(store, progress)

    def paths(*, rejected: bool = False) -> Iterator[Path]:
        for done, (number, _) in enumerate(parts, start=1):
            yield store.part_path(number, rejected=rejected)
            progress("write", done, len(parts))

    lines = with_values(part_lines(paths()), joined.values())
    if format == "jsonl":
        write_lines(lines, out, shard_size=shard_pages, again=again)
    else:
        write_output(map(from_json, lines), out, format, fields=stages.fields, shard_size=shard_pages, again=again)
    if rejected is not None:
        write_lines(part_lines(paths(rejected=True)), rejected)
    if not settings.site_by.has_sites:
        sites = len(set(store.site_names()))
    return Summary(store.page_count(), sites, counts, {name: found.finding() for name, found in joined.items()})


def run_identity(inputs: Sequence[str | Path], settings: RunSettings) -> dict[str, Any]:
    """What must be the same to resume a run."""
    return {
        "inputs": [_identity(given) for given in inputs],
        "models": None if settings.models is None else _identity(settings.models),
        "settings": settings.result_settings(),
    }


def _checked_folder(out: str | Path, tmp: Path | None, inputs: Sequence[str | Path], *, resume: bool) -> Path | None:
    """The folder of the run; `SettingsError` if it cannot be resumed and should be."""
    folder = run_folder(out, tmp)
    if resume and folder is None:
        raise SettingsError(f"a run that writes to {out} cannot be resumed; give a file with -o")
    if resume and any(str(given) == STDIN for given in inputs):
        raise SettingsError("a run that reads standard input cannot be resumed; give files")
    return folder


def run_folder(out: str | Path, tmp: Path | None = None) -> Path | None:
    """The working folder of a run, which `resume` reads; None for a run that cannot be resumed and leaves nothing."""
    path = Path(out).absolute()
    if str(out) == STDOUT or (path.exists() and not path.is_file() and not path.is_dir()):
        return None
    if tmp is None:
        return path.with_name(f".{path.name}.webwinnow-run")
    return tmp / f"webwinnow-run-{hashlib.sha256(os.fsencode(path)).hexdigest()[:16]}"


def is_unfinished(out: str | Path, tmp: Path | None = None) -> bool:
    """Whether a run with this output can be resumed."""
    folder = run_folder(out, tmp)
    return folder is not None and (folder / "index.sqlite").exists()


def _identity(given: str | Path) -> list[str]:
    """The path of an input with a hash of the names, sizes and times of its files."""
    path = Path(given)
    if str(given) == STDIN or not path.exists():
        return [str(given)]
    about = hashlib.sha256()
    for file in [path] if path.is_file() else _files(path):
        try:
            status = file.stat()
        except OSError:  # a dangling link: not read, but its name is part of what the folder has
            status = file.lstat()
        about.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return [str(path.absolute()), about.hexdigest()]


def _files(folder: Path) -> Iterator[Path]:
    """All files of a folder except hidden ones, in a fixed order."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))
