"""Which task cleans what: pages in output order, cut into parts of bounded size."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

import pyarrow as pa

from webwinnow.engines.batches import values

__all__ = ["PART_BYTES", "PART_PAGES", "Plan"]

PART_PAGES: Final = 512
PART_BYTES: Final = 16_000_000
"""Pages in a part of a run on a cluster, and bytes of their packed trees, at most, but for one page that is larger."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a run in the order (site, ordinal): where each begins, how many pages it has, and large sites.

    A site that fits into a part is whole in one. A larger one has parts of its own and is learned before it is cleaned;
    so no task ever has more than a part's worth of a site, and none has a site's pages to count.
    """

    starts: list[tuple[str, int]]
    pages: list[int]
    large: list[tuple[str, int]]
    """Sites of several parts, with the number of the first."""
    sites: int

    @classmethod
    def of(cls, places: Iterable[tuple[str, int, int]]) -> Plan:
        """Plan pages that are given as (site, ordinal, bytes) in output order."""
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
        """TREES with the number of their `part`, those of parts that are done left out.

        With `together` all trees of a large site go to its first part.
        """
        first = dict(self.large) if together else {}
        for batch in batches:
            places = zip(values(batch, "site"), values(batch, "ordinal"), strict=True)
            parts = [first[site] if site in first else self.part_of(site, ordinal) for site, ordinal in places]
            wanted = pa.array([part not in done for part in parts], pa.bool_())
            yield batch.append_column("part", pa.array(parts, pa.int64())).filter(wanted)


def _cuts(sizes: array[int]) -> Iterator[tuple[int, int]]:
    """Where the pages of a site are cut: (first, end) of each piece."""
    first, size = 0, 0
    for at, own in enumerate(sizes):
        if at > first and (at - first == PART_PAGES or size + own > PART_BYTES):
            yield first, at
            first, size = at, 0
        size += own
    yield first, len(sizes)
