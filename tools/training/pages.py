"""Pages with truth, read as the model reads them, with the label of each block."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from scipy import sparse

from training.docs import CONTENT, PAGES, content_labels
from training.labels import block_labels, segment_labels
from training.linear import rows_of
from training.readpages import LABELS, read_rows
from training.sites import site_of
from webwinnow.judge.featureschema import MARK, TOKEN_BITS
from webwinnow.judge.reading import GENRES, Reading, head_tokens, read
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree

__all__ = ["DOCS", "MORE", "NEWS", "READ", "SINGLE", "LabelledPage", "load", "word_f1"]

SINGLE, NEWS, MORE, DOCS = "pages-wcxb", "sites-news", "pages-more", "sites-docs"
READ = "read"
"""Source of pages whose blocks were labelled by reading, whatever their file."""
PAGE_WEIGHT = {
    SINGLE: 1.0,
    NEWS: 0.3,
    DOCS: 0.3,
    READ: 1.0,
    "fundus": 0.6,
    "harvest": 1.0,
    "readability": 1.0,
    "zh": 1.0,
    "fixtures": 0.5,
    "trafilatura": 0.4,
    "recipe": 0.3,
    "product": 0.5,
}
"""Weight of a page by its file, or by its set of pages-more: 22 news sites have 543 pages; segments are less than a
whole truth."""
GENRE_OF = {"recipe": "article"}
"""The genre of types of pages that are none; pages without a type have none."""
FOUND = 0.5
"""Share of the words of a truth that the labelled blocks have, at least; otherwise the text is elsewhere."""
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_CJK}]|[^\W{_CJK}]+")
_SCORED = re.compile(r"\w+")
_NO_LETTER = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelledPage:
    """One page: `source` is its file, `part` its set of pages-more, `site` the unit of folds (registrable domain;
    publisher of news). A page has a whole truth, or segments: then the label of most blocks is NaN.
    """

    page_id: str
    url: str
    source: str
    part: str
    site: str
    genre: int | None
    truth: str | None
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
        return _f1(kept, Counter(words_of(self.truth or "")))

    @property
    def weight(self) -> float:
        """The weight of the page relative to a single page."""
        return PAGE_WEIGHT[self.part]


def words_of(text: str) -> list[str]:
    """The words that `score_more.py` counts: Han, kana and Hangul characters are words."""
    return _WORD.findall((text or "").lower())


def word_f1(text: str, truth: str) -> tuple[float, float, float]:
    """Word F1, precision and recall as computed by `score_pages.py`."""
    return _f1(*(Counter(_SCORED.findall((of or "").lower())) for of in (text, truth)))


def _f1(found: Counter[str], truth: Counter[str]) -> tuple[float, float, float]:
    both = (found & truth).total()
    if not both:
        return 0.0, 0.0, 0.0
    precision, recall = both / found.total(), both / truth.total()
    return 2 * precision * recall / (precision + recall), precision, recall


def load(data: Path, *, news: bool = True, more: bool = True, by_reading: Path | None = LABELS) -> list[LabelledPage]:
    """All single pages, those of the news sites, those of pages-more that may be used for training, and some of
    sites-docs; and the pages of `by_reading`, a file of labels by reading, without their other labels.
    """
    own: list[dict[str, Any]] = []
    if by_reading is not None:
        own, failed = read_rows(data, by_reading)
        if failed:
            print(f"{len(failed)} labels by reading do not match their pages: {', '.join(failed)}", file=sys.stderr)
    known = {row["page_id"] for row in own}
    others = (one for one in _rows(data, news=news, more=more) if one[1]["page_id"] not in known)
    rows = chain(others, ((READ, row) for row in own))
    return [page for source, row in rows if (page := _labelled(source, row)) is not None]


def _rows(data: Path, *, news: bool, more: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for source in (SINGLE, *([NEWS] if news else []), *([MORE] if more else [])):
        used = [("use", "=", "train")] if source == MORE else None
        for row in pq.read_table(data / f"{source}.parquet", filters=used).to_pylist():
            yield source, row
    if more:
        table = pq.read_table(data / f"{DOCS}.parquet", columns=["site"])["site"].to_pylist()
        rows = pq.read_table(data / f"{DOCS}.parquet")
        for site in CONTENT:
            of_site = [k for k, name in enumerate(table) if name == site]
            for k in of_site[:: max(len(of_site) // PAGES, 1)][:PAGES]:
                yield DOCS, rows.slice(k, 1).to_pylist()[0]


def _labelled(source: str, row: dict[str, Any]) -> LabelledPage | None:
    """The page with its labels; None for one that does not have its truth, or has no content."""
    url = row["url"] or ""
    tree = parse(row["html"], url=url)
    reading = read(tree)
    texts = [reading.blocks.text(b) for b in reading.said.tolist()]
    said = [words_of(text) for text in texts]
    if source == READ:
        label: NDArray[np.float32] | None = row["content"][reading.said].astype(np.float32)
        if not row["content"].any():
            return None
    elif not row.get("text"):
        label = content_labels(reading, row["site"]) if source == DOCS else _by_segments(reading, texts, row)
        if label is None or not (label == 1).any():
            return None
    else:
        truth = words_of(row["text"])
        label = block_labels(said, truth)
        if source == MORE and label @ reading.words < FOUND * len(truth):
            return None
    kind = {NEWS: "article", DOCS: "documentation"}.get(source) or row["page_type"]
    return LabelledPage(
        page_id=row["page_id"],
        url=url,
        source=source,
        part=row["set"] if source == MORE else source,
        site=site_of(source, row),
        genre=None if kind is None else GENRES.index(GENRE_OF.get(kind, kind)),
        truth=row.get("text"),
        tree=tree,
        reading=reading,
        label=label,
        rows=rows_of(reading),
        tokens=_tokens(reading),
        block_words=said,
    )


def _by_segments(reading: Reading, texts: list[str], row: dict[str, Any]) -> NDArray[np.float32]:
    """Labels by the segments of a page. Navigation and footers are no content where the segments do not say it."""
    wanted, unwanted = (
        [_plain(segment) for segment in json.loads(row[key] or "[]")] for key in ("must_have", "must_not_have")
    )
    label = segment_labels([_plain(text) for text in texts], wanted, unwanted)
    outside = (reading.marks[reading.owner] & (MARK["nav"] | MARK["footer"])) != 0
    label[outside & np.isnan(label)] = 0.0
    return label


def _plain(text: str) -> str:
    return _NO_LETTER.sub("", text.lower())


def _tokens(reading: Reading) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct tokens of the head, and those of the names of elements."""
    names = np.flatnonzero(np.bincount(reading.node_ids, minlength=1 << TOKEN_BITS))
    return head_tokens(reading.blocks.tree.head), names
