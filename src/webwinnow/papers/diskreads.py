"""What queries read of an index on disk (DocView 7.3, Figure 6), measured by the kernel, not estimated.

A new process opens an index whose files were dropped from the page cache and searches for a group of terms:

- `read`: the bytes that the kernel fetched from disk for it (`read_bytes` of `/proc/self/io`). They include what the
  kernel reads ahead, which for a small index may be all of it. Where the kernel reports no byte, as for files in memory
  (tmpfs), there is no number but the reason.
- `touched`: the bytes of the pages of index files that the search used: their accessed bits are cleared, and those that
  are set afterwards are counted (`/proc/self/clear_refs`, `smaps`). This is what a disk without reading ahead reads.
- `shown`: the same, for the stored pages that a list of ten results shows.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np

from webwinnow.errors import InputError
from webwinnow.progress import Progress
from webwinnow.search.level import Clause, Level, Narrowing

GROUP = 100
"""Query terms in a group (DocView 7.3)."""
SHOWN_RESULTS = 10
NOTHING_READ = "the kernel reported no reads: the files are in memory, or stay in its cache"
_PROCESS = Path("/proc/self")
_NEEDED = ("io", "smaps", "clear_refs")
_EVICTING = 64 << 20
"""Bytes used after clearing accessed bits, so that the processor's cache of page tables has no entry of the index."""
_PAGE = 4096
_MAPPING = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r\S+ \S+ \S+ \S+ +(/.*)$")


class DiskReads(NamedTuple):
    """The bytes of one group; see the module."""

    read: int
    touched: int
    shown: int


def disk_reads(
    levels: Mapping[str, Path],
    terms: Sequence[str],
    baseline: str,
    *,
    groups: int,
    seed: int,
    on_progress: Progress,
) -> dict[str, Any]:
    """Measure indexes with the same groups of random terms: means over the groups, by index.

    `ratios` are Figure 6: for each group what an index touches, divided by what the index `baseline` touches. `reason`
    says why a measure is missing.
    """
    missing = [name for name in _NEEDED if not (_PROCESS / name).exists()]
    if missing or not hasattr(os, "posix_fadvise"):
        return {"reason": "this system does not report what a process reads from disk", "groups": 0}
    draw = np.random.default_rng(seed)
    sample = [[terms[k] for k in draw.integers(len(terms), size=GROUP).tolist()] for _ in range(groups)]
    found: dict[str, list[DiskReads]] = {name: [] for name in levels}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as processes:
        for done, group in enumerate(sample, start=1):
            for name, path in levels.items():
                drop_cached(path)
                found[name].append(processes.submit(read_for, path, group).result())
            on_progress("disk", done, groups)
    means = {
        name: {part: mean(getattr(one, part) for one in reads) for part in DiskReads._fields}
        for name, reads in found.items()
    }
    return {
        "reason": None if all(read["read"] for read in means.values()) else NOTHING_READ,
        "groups": groups,
        "terms": GROUP,
        "bytes": means,
        "ratios": {
            name: [one.touched / max(base.touched, 1) for one, base in zip(reads, found[baseline], strict=True)]
            for name, reads in found.items()
        },
    }


def drop_cached(folder: Path) -> None:
    """Write the files of a folder to disk and remove them from the page cache, unless a process has them mapped."""
    for path in folder.iterdir():
        file = os.open(path, os.O_RDONLY)
        try:
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(file)


def read_for(path: Path, terms: Sequence[str]) -> DiskReads:
    """Open an index, search its texts for each term, and load the best pages; run it in a new process."""
    before = bytes_read()
    level = Level(path)
    _matches(level, terms)
    read = bytes_read() - before
    for start, end, _ in _mapped(path):
        ctypes.string_at(start, end - start)  # now each page is present, and the next use of it sets its bit
    clear_accessed()
    matches = _matches(level, terms)
    touched = accessed(path)
    clear_accessed()
    for found in matches:
        level.stored(found)
    return DiskReads(read, touched, accessed(path))


def _matches(level: Level, terms: Sequence[str]) -> list[list[tuple[float, Any]]]:
    return [level.match([Clause((term,), "may")], Narrowing(), SHOWN_RESULTS, ("body",))[1] for term in terms]


def bytes_read() -> int:
    """The bytes that the kernel has fetched from disk for this process so far."""
    try:
        return int((_PROCESS / "io").read_text().split("read_bytes:")[1].split()[0])
    except (OSError, IndexError, ValueError):
        raise InputError("this system does not report the bytes that a process reads from disk") from None


def clear_accessed() -> None:
    """Clear the accessed bits of all memory of this process."""
    (_PROCESS / "clear_refs").write_text("1")
    used = bytearray(_EVICTING)
    for at in range(0, _EVICTING, _PAGE):
        used[at] = 1


def accessed(folder: Path) -> int:
    """The bytes of the mapped files of a folder on pages that were used since `clear_accessed`."""
    return sum(used for _, _, used in _mapped(folder))


def _mapped(folder: Path) -> Iterator[tuple[int, int, int]]:
    """The readable mappings of the files of a folder: start, end, and bytes on accessed pages."""
    inside: tuple[int, int] | None = None
    for line in (_PROCESS / "smaps").read_text().splitlines():
        found = _MAPPING.match(line)
        if found is not None:
            is_inside = Path(found[3]).parent == folder.resolve()
            inside = (int(found[1], 16), int(found[2], 16)) if is_inside else None
        elif inside is not None and line.startswith("Referenced:"):
            yield *inside, int(line.split()[1]) << 10
            inside = None
