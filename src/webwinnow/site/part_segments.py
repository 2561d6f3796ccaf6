"""Part `segments`: the words of a site's tables and sections, with their entropies (`segmenttable`)."""

from __future__ import annotations

from typing import Any, Self

from webwinnow.page.page import Page
from webwinnow.site.parts import Part
from webwinnow.site.segmenttable import NO_WORDS, SegmentRows, SegmentTable


class SegmentPart(Part):
    """The rows of all pages without the stop words of method `segments`."""

    NAME, ABOUT, READS, RANK = "segments", "segments", "segments", 60
    SUMS, MODEL = SegmentRows, SegmentTable

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        stops = None if settings is None else settings.stop_list
        self.stops = NO_WORDS if stops is None or stops.own is None else stops.keys(None)
        self.rows: list[SegmentRows] = []

    def add(self, page: Page) -> None:
        self.rows.append(SegmentRows.of_page(page.fingerprint, page.tree, self.stops))

    def merge(self, other: Self) -> None:
        self.rows += other.rows

    def sums(self) -> SegmentRows:
        return SegmentRows.merge(self.rows)

    def take(self, sums: SegmentRows) -> None:
        self.rows.append(sums)

    def finish(self) -> SegmentTable:
        return SegmentTable.of(self.sums(), self.stops)


PART = SegmentPart
