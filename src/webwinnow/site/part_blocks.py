"""Part `blocks`: the page model's scores of a site's blocks, their texts and their places (`blocktable`)."""

from __future__ import annotations

from typing import Any, Self

from webwinnow.judge.evidence import PageEvidence, evidence_of
from webwinnow.page.page import Page
from webwinnow.site.blocktable import BlockRows, BlockTable
from webwinnow.site.parts import Part


class BlockPart(Part):
    """The rows of all blocks; a page is added by its evidence alone, too."""

    NAME, ABOUT, RANK = "blocks", "table of blocks", 40
    SUMS, MODEL = BlockRows, BlockTable

    def __init__(self, settings: Any = None) -> None:
        super().__init__(settings)
        self.rows: list[BlockRows] = []

    def add(self, page: Page) -> None:
        self.add_evidence(evidence_of(page), page.fingerprint)

    def add_evidence(self, evidence: PageEvidence, key: int) -> None:
        """Add a page by what the page model found on it."""
        self.rows.append(BlockRows.of_page(key, evidence))

    def merge(self, other: Self) -> None:
        self.rows += other.rows

    def sums(self) -> BlockRows:
        return BlockRows.merge(self.rows)

    def take(self, sums: BlockRows) -> None:
        self.rows.append(sums)

    def finish(self) -> BlockTable | None:
        rows = self.sums()
        return BlockTable.of(rows) if len(rows.page_key) > 1 else None


PART = BlockPart
