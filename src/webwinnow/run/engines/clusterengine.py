"""A run on a cluster. The driver has a store with an index of the pages, as a local run has. Trees, models and finished
parts are files in the store's folder, which all machines of the cluster must reach.

    files --read, parse--> trees/N.parquet --index--> plan --learn large sites--> models --clean--> parts, in the store

Files are written atomically, under names that the plan gives them. A task may therefore be done twice, and a killed run
continues with the files that are there, on this engine or another.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol
from zlib import crc32

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from webwinnow.errors import InputError, WebwinnowError
from webwinnow.progress import Progress
from webwinnow.run.engines.batches import DONE, MODELS, PARTED_TREES, TREES, batch_of, values
from webwinnow.run.engines.batchjobs import (
    EVERY_KEY,
    build_part,
    chosen_trees,
    clean_part,
    learn_site,
    parse_records,
    with_parts,
)
from webwinnow.run.inputs import PROBLEMS_SHOWN, known_page_count, list_files
from webwinnow.run.outputparts import Counts
from webwinnow.run.pagestore import SIGN, CollectionStore, PageRow, part_checksum, part_path, write_part
from webwinnow.run.parsedcollection import ModelOrder, SiteModelBuilt
from webwinnow.run.plan import Plan, ReadTask, read_tasks
from webwinnow.run.settings import CollectionSettings, RunSettings
from webwinnow.run.unpacking import InputProblem, ReadLimits
from webwinnow.run.workerjobs import SiteLearned
from webwinnow.storage.atomic import atomic_file, write_file

BatchFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
_INDEX: Final = [*(name for name in TREES.names if name != "packed"), "size"]
_PROBLEMS: Final = "webwinnow.problems"
_FILE: Final = TREES.append(pa.field("size", pa.int64()))
_ERROR_LINE: Final = re.compile(r"[\w.]*(?:Error|Exception|Refused|Extra): .")
"""The line of a Python traceback with the error."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of TREES, and what to do with each.

    Parts of the `files` pass through `choose`, which gives batches of the schema `middle`. A group is all rows with the
    same value in the column `by`; there are about `about` groups. `do` gives DONE.
    """

    files: Sequence[str]
    choose: BatchFunction
    middle: pa.Schema
    by: str
    do: BatchFunction
    about: int


class Cluster(Protocol):
    """What an engine must offer: functions over record batches, called for each number or each group."""

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""

    def tasks(self, count: int, do: BatchFunction) -> Iterator[dict[str, Any]]:
        """Call `do` for each number below `count` in its own task, as a batch with a column `id`; collect rows."""

    def groups(self, grouping: Grouping) -> Iterator[dict[str, Any]]:
        """Call `do` for each group; collect rows."""


class ClusterEngine:
    """Parses, cleans and learns on a cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster

    def parse_all(
        self,
        inputs: Sequence[str | Path],
        store: CollectionStore,
        settings: CollectionSettings,
        limits: ReadLimits,
        on_problem: Callable[[str], None],
        progress: Progress,
    ) -> None:
        """Parse every page into a file of trees, and add its row to the store."""
        _drop_damaged_trees(store)
        if store.marked("parsed") is not None:
            for problem in store.marked("problems") or ():
                on_problem(InputProblem(problem))
            return
        if store.marked("cores") is None:
            store.mark("cores", str(self.cluster.cores))  # the same tasks if the run is resumed elsewhere
        files = list_files(inputs, on_problem=on_problem, limits=limits, columns=settings.columns)
        tasks = read_tasks(files, int(store.marked("cores") or 1))
        store.mark("tasks", len(tasks))
        _trees(store.folder).mkdir(exist_ok=True)
        waiting = [number for number in range(len(tasks)) if not _tree_file(store.folder, number).exists()]
        total = known_page_count(inputs) if len(waiting) == len(tasks) else None
        done = 0
        progress("parse", 0, total)
        do = partial(_parse, tasks=tasks, waiting=waiting, settings=settings, limits=limits, folder=store.folder)
        for row in self.cluster.tasks(len(waiting), do) if waiting else ():
            done += row["pages"]
            progress("parse", done, total)
        problems = [problem for number in range(len(tasks)) for problem in _keep_rows(store, number)]
        for problem in problems:
            on_problem(InputProblem(problem))
        if problems and not store.page_count():
            raise InputError("nothing could be read: " + "; ".join(problems[:PROBLEMS_SHOWN]))
        store.mark("problems", problems)
        store.mark_parsed()

    def clean_all(self, store: CollectionStore, settings: RunSettings, progress: Progress) -> int:
        """Clean every page into parts; returns the number of sites."""
        plan = Plan.of(store.places())
        total = store.page_count()
        for part in range(len(plan)):
            if not store.has_part(part):
                _note_whole_part(store, part)
        finished = frozenset(part for part in range(len(plan)) if store.has_part(part))
        done = sum(plan.pages[part] for part in finished)
        progress("clean", done, total)
        if len(finished) == len(plan):
            return plan.sites
        if settings.learns:
            self._learn(store, plan, settings)
        files = _files(store.folder)
        do = partial(_clean, settings=settings, folder=store.folder, large=dict(plan.large))
        parted = partial(with_parts, plan=plan, done=finished)
        parts = Grouping(files, parted, PARTED_TREES, "part", do, len(plan) - len(finished))
        for row in self.cluster.groups(parts):
            if not store.has_part(row["number"]):
                _note_part(store, row["number"])
                done += row["pages"]
                progress("clean", done, total)
        return plan.sites

    def _learn(self, store: CollectionStore, plan: Plan, settings: RunSettings) -> None:
        """Learn the sites that are too large for one part."""
        waiting = {site: part for site, part in plan.large if not _note_file(store.folder, part).exists()}
        if not waiting:
            return
        last_keys = {site: store.last_key(site, settings.learn_pages) for site in waiting}
        choose = partial(chosen_trees, last_keys=last_keys)
        do = partial(learn_and_keep, settings=settings, folder=store.folder, parts=waiting)
        deque(self.cluster.groups(Grouping(_files(store.folder), choose, TREES, "site", do, len(waiting))), maxlen=0)
        note_unlearned(store.folder, waiting)

    def build_models(
        self, store: CollectionStore, settings: CollectionSettings, order: ModelOrder
    ) -> Iterator[SiteModelBuilt]:
        """Build the model of every site. The pages to learn a large site from come together."""
        plan = Plan.of(store.places())
        (store.folder / "built").mkdir(exist_ok=True)
        last_keys = {site: store.last_key(site, settings.learn_pages) for site, _ in plan.large}
        chosen = partial(_chosen_with_parts, plan=plan, last_keys=last_keys)
        do = partial(_build_part, settings=settings, order=order, folder=store.folder)
        seen: set[int] = set()
        for row in self.cluster.groups(Grouping(_files(store.folder), chosen, PARTED_TREES, "part", do, len(plan))):
            if row["number"] not in seen:  # an engine may do a task twice
                seen.add(row["number"])
                yield from _built(_built_file(store.folder, row["number"]))


def failed_task(engine: str, error: BaseException) -> WebwinnowError:
    """The error of a task that an engine has given up, without tracebacks."""
    lines = [line.strip() for line in str(error).splitlines() if _ERROR_LINE.match(line.strip())]
    cause = lines[-1] if lines else _first_line(error)
    return WebwinnowError(f"{engine} gave up a task: {cause}; fix that and repeat the command (clean: with --resume)")


def no_cluster(engine: str, error: BaseException) -> WebwinnowError:
    """The error where a cluster cannot be started or reached."""
    return WebwinnowError(f"{engine} cannot be started or reached: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


# The tasks


def _parse(
    batches: Iterator[pa.RecordBatch],
    *,
    tasks: list[ReadTask],
    waiting: list[int],
    settings: CollectionSettings,
    limits: ReadLimits,
    folder: Path,
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for at in values(batch, "id"):
            problems: list[str] = []
            pages = 0
            with (
                atomic_file(_tree_file(folder, waiting[at]), durable=False) as file,
                pq.ParquetWriter(file, _FILE, compression="zstd", use_dictionary=False) as out,
            ):
                for trees in parse_records(tasks[waiting[at]].pages(limits, problems.append), settings):
                    sizes = pc.binary_length(trees.column("packed"))  # type: ignore[call-overload]
                    out.write_batch(trees.append_column("size", sizes))
                    pages += trees.num_rows
                out.add_key_value_metadata({_PROBLEMS: json.dumps(problems)})
            checksum = crc32(_tree_file(folder, waiting[at]).read_bytes())
            write_file(_checksum_file(folder, waiting[at]), str(checksum).encode(), durable=False)
            yield batch_of(DONE, [(waiting[at], pages)])


def learn_and_keep(
    batches: Iterator[pa.RecordBatch], *, settings: RunSettings, folder: Path, parts: Mapping[str, int]
) -> Iterator[pa.RecordBatch]:
    """Learn a large site and store its model by the number of the site's first part."""
    site, learned = learn_site(batches, settings)
    part = parts[site]
    if learned is not None:
        write_file(_model_file(folder, part), learned.model, durable=False)
    _write_note(folder, part, site, learned)
    yield batch_of(DONE, [(part, 0)])


def note_unlearned(folder: Path, parts: Mapping[str, int]) -> None:
    """Note the large sites that no task has learned, since none of their pages could be read."""
    for site, part in parts.items():
        if not _note_file(folder, part).exists():
            _write_note(folder, part, site, None)


def _write_note(folder: Path, part: int, site: str, learned: SiteLearned | None) -> None:
    repeats = [] if learned is None else [(pages, text, site) for pages, text in learned.repeats]
    note = {"learned": learned is not None, "repeats": repeats}
    write_file(_note_file(folder, part), json.dumps(note).encode(), durable=False)


def _chosen_with_parts(
    batches: Iterator[pa.RecordBatch], *, plan: Plan, last_keys: Mapping[str, int]
) -> Iterator[pa.RecordBatch]:
    return with_parts(chosen_trees(batches, last_keys, EVERY_KEY), plan, together=True)


def _build_part(
    batches: Iterator[pa.RecordBatch], *, settings: CollectionSettings, order: ModelOrder, folder: Path
) -> Iterator[pa.RecordBatch]:
    held = list(batches)
    number = held[0].column("part")[0].as_py()
    path = _built_file(folder, number)
    with atomic_file(path, durable=False) as file, pa.ipc.new_stream(file, MODELS) as out:  # type: ignore[arg-type]
        for built in build_part(held, settings, order):
            out.write_batch(batch_of(MODELS, [built]))
    yield batch_of(DONE, [(number, sum(batch.num_rows for batch in held))])


def _clean(
    batches: Iterator[pa.RecordBatch], *, settings: RunSettings, folder: Path, large: Mapping[str, int]
) -> Iterator[pa.RecordBatch]:
    held = list(batches)
    number = held[0].column("part")[0].as_py()
    models = models_for(held, settings, folder, large)
    cleaned = clean_part(held, settings, models)
    if any(large[site] == number for site in models):  # the first part of a large site has its repeats
        repeats = json.loads(_note_file(folder, number).read_bytes())["repeats"]
        cleaned.counts.add(Counts(repeats=[(pages, text, site) for pages, text, site in repeats]))
    checksum = write_part(folder, number, cleaned.lines, cleaned.rejected, cleaned.rows)
    note = {"counts": cleaned.counts.to_plain(), "checksum": checksum}
    write_file(_counts_file(folder, number), json.dumps(note).encode(), durable=False)
    yield batch_of(DONE, [(number, sum(batch.num_rows for batch in held))])


def models_for(
    trees: list[pa.RecordBatch], settings: RunSettings, folder: Path, large: Mapping[str, int]
) -> dict[str, str | None]:
    """The model files of the large sites among these trees; None for one that could not be learned."""
    if not settings.learns:
        return {}
    sites = {site for batch in trees for site in values(batch, "site")}
    return {site: _model_of(folder, large[site]) for site in sites & large.keys()}


# The files of a run


def _trees(folder: Path) -> Path:
    return folder / "trees"


def _tree_file(folder: Path, task: int) -> Path:
    return _trees(folder) / f"{task:08d}.parquet"


def _checksum_file(folder: Path, task: int) -> Path:
    """The checksum of a file of trees; written after it."""
    return _tree_file(folder, task).with_suffix(".crc")


def _files(folder: Path) -> list[str]:
    return [str(path) for path in sorted(_trees(folder).glob("*.parquet")) if pq.read_metadata(path).num_rows]


def _model_file(folder: Path, part: int) -> Path:
    return folder / "models" / f"{part:08d}.npz"


def _note_file(folder: Path, part: int) -> Path:
    """The note on a large site, by its first part; written when the site was learned."""
    return folder / "models" / f"{part:08d}.json"


def _model_of(folder: Path, part: int) -> str | None:
    return str(_model_file(folder, part)) if json.loads(_note_file(folder, part).read_bytes())["learned"] else None


def _built_file(folder: Path, part: int) -> Path:
    """The models of the sites of a part."""
    return folder / "built" / f"{part:08d}.arrows"


def _built(path: Path) -> Iterator[SiteModelBuilt]:
    with path.open("rb") as file, pa.ipc.open_stream(file) as batches:
        for batch in batches:
            yield from (SiteModelBuilt(**row) for row in batch.to_pylist())
    path.unlink()


def _counts_file(folder: Path, part: int) -> Path:
    """The counts of a part; the last of its files to be written."""
    return part_path(folder, part).with_suffix(".counts")


def _note_part(store: CollectionStore, part: int) -> None:
    store.note_part(part, **json.loads(_counts_file(store.folder, part).read_bytes()))


def _note_whole_part(store: CollectionStore, part: int) -> None:
    """Note a part that was finished before the driver was killed, unless it is damaged."""
    if _counts_file(store.folder, part).exists():
        note = json.loads(_counts_file(store.folder, part).read_bytes())
        if note["checksum"] == part_checksum(store.folder, part):
            store.note_part(part, **note)


def _drop_damaged_trees(store: CollectionStore) -> None:
    """Remove files of trees that are not what a task wrote, to parse their pages again."""
    damaged = []
    for task in range(store.marked("tasks") or 0):
        path = _tree_file(store.folder, task)
        try:
            is_whole = int(_checksum_file(store.folder, task).read_bytes()) == crc32(path.read_bytes())
        except FileNotFoundError:  # killed before the checksum was written
            is_whole = False
        if not is_whole:
            path.unlink(missing_ok=True)
            damaged.append(task)
    if damaged:
        store.parse_again(())


def _keep_rows(store: CollectionStore, task: int) -> list[str]:
    """Add the rows of a file of trees to the store; returns the problems of reading."""
    with pq.ParquetFile(_tree_file(store.folder, task)) as table:
        for batch in table.iter_batches(columns=_INDEX, use_threads=False):
            for site, ordinal, url, page_id, fetched_at, key, content, error, size in zip(
                *(column.to_pylist() for column in batch.columns), strict=True
            ):
                ref = None if size is None else (task, size)
                store.add_page(
                    PageRow(ordinal, site, url, page_id, key + SIGN, content, ref, error, fetched_at=fetched_at)
                )
        store.commit()
        found: list[str] = json.loads((table.schema_arrow.metadata or {}).get(_PROBLEMS.encode(), b"[]"))
        return found
