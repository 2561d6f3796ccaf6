"""Which task reads which files, and which cleans which pages: in output order, cut into parts of bounded size.

The workers of this machine and clusters have one plan, with parts of different sizes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final

from webwinnow.errors import InputError
from webwinnow.page.records import PageRecord
from webwinnow.run.inputs import PageFile
from webwinnow.run.unpacking import ReadLimits

LOCAL_PAGES: Final = 64
"""Pages in a part of a local run at most."""
PART_PAGES: Final = 512
PART_BYTES: Final = 16_000_000
"""Pages in a part of a run on a cluster, and bytes of their packed trees, except for one page that is larger."""


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
    def of(cls, places: Iterable[tuple[str, int, int]], most: int = PART_PAGES, most_bytes: float = PART_BYTES) -> Plan:
        """Plan pages, given as (site, ordinal, bytes) in output order, in parts of at most so many pages and bytes."""
        starts: list[tuple[str, int]] = []
        pages: list[int] = []
        large: list[tuple[str, int]] = []
        sites, room = 0, (0, 0.0)
        for site, group in groupby(places, key=itemgetter(0)):
            sites += 1
            ordinals, sizes = array("q"), array("q")
            for _, ordinal, size in group:
                ordinals.append(ordinal)
                sizes.append(size)
            cuts = list(_cuts(sizes, most, most_bytes))
            if len(cuts) > 1:
                large.append((site, len(starts)))
                room = (0, 0.0)
            if len(cuts) == 1 and len(sizes) <= room[0] and sum(sizes) <= room[1]:
                pages[-1] += len(sizes)
                room = (room[0] - len(sizes), room[1] - sum(sizes))
                continue
            for first, end in cuts:
                starts.append((site, ordinals[first]))
                pages.append(end - first)
            if len(cuts) == 1:
                room = (most - len(sizes), most_bytes - sum(sizes))
        return cls(starts, pages, large, sites)

    def __len__(self) -> int:
        return len(self.starts)

    def part_of(self, site: str, ordinal: int) -> int:
        """The part that a page belongs to."""
        return bisect_right(self.starts, (site, ordinal)) - 1

    def groups(self) -> Iterator[tuple[str | None, range]]:
        """The parts that belong together, in order: those of a large site, with its name, or one of small sites."""
        names = {first: site for site, first in self.large}
        part = 0
        while part < len(self):
            site, end = names.get(part), part + 1
            while site is not None and end < len(self) and self.starts[end][0] == site:
                end += 1
            yield site, range(part, end)
            part = end


def _cuts(sizes: array[int], most: int, most_bytes: float) -> Iterator[tuple[int, int]]:
    """(first, end) of each part of a site."""
    first, size = 0, 0
    for at, own in enumerate(sizes):
        if at > first and (at - first == most or size + own > most_bytes):
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
