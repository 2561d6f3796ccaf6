"""Which task reads what: files of about one size each, and shares of a file where there are fewer files than cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from webwinnow.errors import InputError
from webwinnow.io.inputs import PageFile
from webwinnow.io.unpacking import ReadLimits
from webwinnow.records import PageRecord

__all__ = ["ReadTask", "read_tasks"]

TASK_BYTES: Final = 16_000_000
"""Files are read together up to so many bytes."""
SHARE_BYTES: Final = 100_000
"""A share of a file is no smaller."""
SHARE_RUN: Final = 16
"""Pages of a file that stay together when tasks share it."""
TASKS_A_CORE: Final = 4
_POSITION_BITS = 32
"""An ordinal is the number of the file and the position of the page in it: no task needs to know what others read."""


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Numbered files for one task to read; of one that `shares` tasks share, every so many-th run of pages."""

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
            except InputError as error:  # a file that changed since it was looked at
                note(str(error))


def read_tasks(files: Iterable[PageFile], cores: int) -> list[ReadTask]:
    """Tasks for all files, some `TASKS_A_CORE` a core if there is enough to read."""
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
    """A task in as many as keep the cores busy: several files are parted, a single one is shared.

    Each who shares a file reads all of it and parses its own pages, so there is no more than one share a core: that
    takes as long as if one task read it for all.
    """
    if len(task.files) > 1:
        step = -(-len(task.files) // -(-TASKS_A_CORE * cores // tasks))
        return [ReadTask(task.files[at : at + step]) for at in range(0, len(task.files), step)]
    shares = max(1, min(-(-cores // tasks), _size(task.files[0][1]) // SHARE_BYTES))
    return [replace(task, share=share, shares=shares) for share in range(shares)]


def _size(file: PageFile) -> int:
    path = Path(file.path)
    return path.stat().st_size if path.exists() else 0
