"""Which task reads which files, and which cleans which pages: in output order, cut into parts of bounded size."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

import pyarrow as pa

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.run.engines.batches import values
from webwinnow.run.inputs import PageFile
from webwinnow.run.unpacking import ReadLimits

PART_PAGES: Final = 512
PART_BYTES: Final = 16_000_000
"""Pages in a part, and bytes of their packed trees, except for one page that is larger."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a run in the order (site, ordinal): where each begins, its number of pages, and the large sites.

    A site that fits into a part is complete in one. A larger site has parts of its own and is learned before it is
    cleaned. Therefore no task has more pages than a part.
    """

    starts: list[tuple[str, int]]
    pages: list[int]
    large: list[tuple[str, int]]
    """Sites of several parts, with the number of the first."""
    sites: int

    @classmethod
    def of(cls, places: Iterable[tuple[str, int, int]]) -> Plan:
        """Plan pages, given as (site, ordinal, bytes) in output order."""
        starts: list[tuple[str, int]] = []
        pages: list[int] = []
        large: list[tuple[str, int]] = []
        sites, room = 0, (0, 0)
        for site, group in groupby(places, key=itemgetter(0)):
            sites += 1
            ordinals, sizes = array("q"), array("q")
            for _, ordinal, size in group:
                ordinals.append(ordinal)
                sizes.append(size)
            cuts = list(_cuts(sizes))
            if len(cuts) > 1:
                large.append((site, len(starts)))
                room = (0, 0)
            if len(cuts) == 1 and len(sizes) <= room[0] and sum(sizes) <= room[1]:
                pages[-1] += len(sizes)
                room = (room[0] - len(sizes), room[1] - sum(sizes))
                continue
            for first, end in cuts:
                starts.append((site, ordinals[first]))
                pages.append(end - first)
            if len(cuts) == 1:
                room = (PART_PAGES - len(sizes), PART_BYTES - sum(sizes))
        return cls(starts, pages, large, sites)

    def __len__(self) -> int:
        return len(self.starts)

    def part_of(self, site: str, ordinal: int) -> int:
        """The part that a page belongs to."""
        return bisect_right(self.starts, (site, ordinal)) - 1

    def spread(
        self, batches: Iterable[pa.RecordBatch], done: frozenset[int] = frozenset(), *, together: bool = False
    ) -> Iterator[pa.RecordBatch]:
        """TREES with the number of their `part`, without parts that are done.

        With `together` all trees of a large site go to its first part.
        """
        first = dict(self.large) if together else {}
        for batch in batches:
            places = zip(values(batch, "site"), values(batch, "ordinal"), strict=True)
            parts = [first[site] if site in first else self.part_of(site, ordinal) for site, ordinal in places]
            wanted = pa.array([part not in done for part in parts], pa.bool_())
            yield batch.append_column("part", pa.array(parts, pa.int64())).filter(wanted)


def _cuts(sizes: array[int]) -> Iterator[tuple[int, int]]:
    """(first, end) of each part of a site."""
    first, size = 0, 0
    for at, own in enumerate(sizes):
        if at > first and (at - first == PART_PAGES or size + own > PART_BYTES):
            yield first, at
            first, size = at, 0
        size += own
    yield first, len(sizes)


# Reading

TASK_BYTES: Final = 16_000_000
"""Bytes of the files that one task reads."""
SHARE_BYTES: Final = 100_000
"""The least bytes of a share of a file."""
SHARE_RUN: Final = 16
"""Consecutive pages of a file in one share."""
TASKS_A_CORE: Final = 4
_POSITION_BITS = 32
"""An ordinal is the number of the file and the position of the page in it, so tasks need not know each other."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Numbered files for one task to read; of a file that `shares` tasks share, every `shares`-th run of pages."""

    files: tuple[tuple[int, PageFile], ...]
    share: int = 0
    shares: int = 1

    def pages(self, limits: ReadLimits, on_problem: Callable[[str], None]) -> Iterator[PageRecord]:
        """The pages, with ordinals that order them as `open_pages` does."""
        note = on_problem if self.share == 0 else lambda _: None
        for number, file in self.files:
            try:
                for position, page in enumerate(file.read(limits, note)):
                    if position // SHARE_RUN % self.shares == self.share:
                        yield replace(page, ordinal=number << _POSITION_BITS | position)
            except InputError as error:  # a file that changed since it was listed
                note(str(error))


def read_tasks(files: Iterable[PageFile], cores: int) -> list[ReadTask]:
    """Tasks for all files, about `TASKS_A_CORE` per core if there is enough to read."""
    tasks: list[ReadTask] = []
    held: list[tuple[int, PageFile]] = []
    size = 0
    for number, file in enumerate(files):
        own = _size(file)
        if held and size + own > TASK_BYTES:
            tasks.append(ReadTask(tuple(held)))
            held, size = [], 0
        held.append((number, file))
        size += own
    if held:
        tasks.append(ReadTask(tuple(held)))
    return [part for task in tasks for part in _shared(task, cores, len(tasks))]


def _shared(task: ReadTask, cores: int, tasks: int) -> list[ReadTask]:
    """Split a task to keep the cores busy: between files, or into shares of a single file.

    Every task that shares a file reads all of it and parses its own pages, so there is at most one share per core.
    """
    if len(task.files) > 1:
        step = -(-len(task.files) // -(-TASKS_A_CORE * cores // tasks))
        return [ReadTask(task.files[at : at + step]) for at in range(0, len(task.files), step)]
    shares = max(1, min(-(-cores // tasks), _size(task.files[0][1]) // SHARE_BYTES))
    return [replace(task, share=share, shares=shares) for share in range(shares)]


def _size(file: PageFile) -> int:
    path = Path(file.path)
    return path.stat().st_size if path.exists() else 0
