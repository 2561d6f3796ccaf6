"""Pages with truth, read as the model reads them, with the label of each block."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from training.labels import block_labels
from training.linear import rows_of
from training.sites import publisher
from webwinnow.pagemodel.featureschema import TOKEN_BITS
from webwinnow.pagemodel.reading import GENRES, Reading, head_tokens, read
from webwinnow.pagetree import PageTree
from webwinnow.parsing import parse
from webwinnow.records import PageRecord
from webwinnow.urls import SiteKey

__all__ = ["NEWS", "SINGLE", "LabelledPage", "load", "word_f1"]

SINGLE, NEWS = "pages-wcxb", "sites-news"
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledPage:
    """One page: `source` is its file, `site` the unit of folds (registrable domain; publisher of news)."""

    page_id: str
    url: str
    source: str
    site: str
    genre: int
    truth: str
    tree: PageTree
    reading: Reading
    label: NDArray[np.float32]
    rows: sparse.csr_matrix
    tokens: tuple[NDArray[np.int64], NDArray[np.int64]]
    block_words: list[list[str]]

    @property
    def words(self) -> NDArray[np.float64]:
        """Words of each block."""
        return self.reading.words.astype(np.float64)

    def f1(self, keep: NDArray[np.bool_]) -> tuple[float, float, float]:
        """Word F1, precision and recall of the kept blocks."""
        kept = Counter(word for b in np.flatnonzero(keep).tolist() for word in self.block_words[b])
        return _f1(kept, Counter(words_of(self.truth)))


def words_of(text: str) -> list[str]:
    """The words that the scorer counts."""
    return _WORD.findall((text or "").lower())


def word_f1(text: str, truth: str) -> tuple[float, float, float]:
    """Word F1, precision and recall as computed by `score_pages.py`."""
    return _f1(Counter(words_of(text)), Counter(words_of(truth)))


def _f1(found: Counter[str], truth: Counter[str]) -> tuple[float, float, float]:
    both = (found & truth).total()
    if not both:
        return 0.0, 0.0, 0.0
    precision, recall = both / found.total(), both / truth.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def load(data: Path, *, news: bool = True) -> list[LabelledPage]:
    """All pages of the single-page file, and those of the news sites."""
    pages = []
    domain = SiteKey(by="domain")
    for source in (SINGLE, NEWS) if news else (SINGLE,):
        for row in pq.read_table(data / f"{source}.parquet").to_pylist():
            url = row["url"] or ""
            site = publisher(row["site"]) if source == NEWS else domain.of(PageRecord(url=url, body=b""))
            tree = parse(row["html"], url=url)
            reading = read(tree)
            said = [words_of(reading.blocks.text(b)) for b in reading.said.tolist()]
            pages.append(
                LabelledPage(
                    page_id=row["page_id"],
                    url=url,
                    source=source,
                    site=site,
                    genre=GENRES.index(row.get("page_type", "article")),
                    truth=row["text"] or "",
                    tree=tree,
                    reading=reading,
                    label=block_labels(said, words_of(row["text"])),
                    rows=rows_of(reading),
                    tokens=_tokens(reading),
                    block_words=said,
                )
            )
    return pages


def _tokens(reading: Reading) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct tokens of the head, and those of the names of elements."""
    names = np.flatnonzero(np.bincount(reading.node_ids, minlength=1 << TOKEN_BITS))
    return head_tokens(reading.blocks.tree.head), names
