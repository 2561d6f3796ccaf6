"""Whole sites with truth, as `cleaning.combined` sees them.

News sites with the text of each page, shop and reference sites with the values that must be kept.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from training.labels import block_labels
from training.pages import words_of
from webwinnow.blocks import cut
from webwinnow.pagemodel import PageEvidence, PageModel
from webwinnow.parsing import parse
from webwinnow.site.blocktable import BlockRows, BlockTable

__all__ = ["RECORDS", "WRITTEN", "Site", "SitePage", "fold_of", "load_sites", "table_of"]

WRITTEN, RECORDS = "sites-news", "sites-swde"
FIRST_HALF = ("bbc.co.uk", "thenation.com", "nymag.com")
"""Publishers of one of two folds."""
_YEAR = re.compile(r"/\d{4}$")


@dataclass(frozen=True, slots=True, eq=False)
class SitePage:
    """A page: its evidence, the words of its blocks, the true text, and the blocks that spell each true value."""

    page_id: str
    evidence: PageEvidence
    said: list[list[str]]
    truth: list[str]
    label: NDArray[np.float32]
    spelled: list[list[tuple[int, ...]]]


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A site of one of the two files."""

    kind: str
    name: str
    fold: int
    pages: list[SitePage]


def publisher(site: str) -> str:
    """The publisher of a news site, without the year."""
    return _YEAR.sub("", site).removeprefix("www.").removeprefix("news.")


def fold_of(kind: str, site: str, number: int) -> int:
    """The fold of a site: by publisher, or alternating."""
    return int(publisher(site) in FIRST_HALF) if kind == WRITTEN else number % 2


def load_sites(data: Path, models: dict[int, PageModel], most: int) -> Iterator[Site]:
    """All sites, at most `most` pages each, scored by the page model of their fold, which has not seen them."""
    for kind in (WRITTEN, RECORDS):
        rows = defaultdict(list)
        for row in pq.read_table(data / f"{kind}.parquet").to_pylist():
            rows[row["site"]].append(row)
        for number, (name, own) in enumerate(sorted(rows.items())):
            fold = fold_of(kind, name, number)
            yield Site(kind, name, fold, [_page(row, models[fold]) for row in own[:most]])


def _page(row: dict[str, str], model: PageModel) -> SitePage:
    tree = parse(row["html"], url=row["url"] or "")
    evidence = PageEvidence.of(tree, model)
    blocks = cut(tree)
    said = [words_of(blocks.text(b)) for b in evidence.said.tolist()]
    truth = words_of(row.get("text") or "")
    values = [value for found in json.loads(row.get("attributes") or "{}").values() for value in found]
    return SitePage(
        row["page_id"],
        evidence,
        said,
        truth,
        block_labels(said, truth) if truth else np.zeros(len(said), np.float32),
        _spelled(said, [words_of(value) for value in values if words_of(value)]),
    )


def _spelled(said: list[list[str]], values: list[list[str]]) -> list[list[tuple[int, ...]]]:
    """For each value, its spellings: consecutive blocks whose words contain it."""
    flat = [word for words in said for word in words]
    block = [b for b, words in enumerate(said) for _ in words]
    places = defaultdict(list)
    for place, word in enumerate(flat):
        places[word].append(place)
    return [
        sorted({
            tuple(sorted(set(block[place : place + len(value)])))
            for place in places[value[0]]
            if flat[place : place + len(value)] == value
        })
        for value in values
    ]  # fmt: skip


def table_of(pages: list[SitePage]) -> BlockTable:
    """The table of the site's blocks, from these pages."""
    rows = [BlockRows.of_page(number + 1, page.evidence) for number, page in enumerate(pages)]
    return BlockTable.of(BlockRows.merge(rows))
