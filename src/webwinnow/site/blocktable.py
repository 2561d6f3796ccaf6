"""Statistics of a site's blocks: on how many pages a text occurs, and what blocks a path has.

A path (`PageEvidence.path`) is the styles of an element and of the two around it, without positions, so the items of a
list share theirs. A finer key is a path right after a text that pages repeat ("Height", then 6-9): that text
distinguishes the value from the other cells of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.evidence import PageEvidence
from webwinnow.judge.reading import GENRES
from webwinnow.site._mapping import pages_of
from webwinnow.storage.modelfile import Array, ArrayTable, Column

LOGIT_SCALE = 1_000
"""Log odds are summed as integers, so that sums do not depend on their order."""
LONG_BLOCK = 25
"""Words of a block that is prose."""
LABELLED_SHARE = 0.3
"""A label on this share of the pages, or more, names a field of the site's records; not every page has to have it."""
LABELLED_SURE, LABELLED_WORDS, LABELLED_LIKELY = 0.4, 12, -850
"""A block counts as the value of a field if it is labelled with this certainty, has at most this many words, and has at
least these log odds (thousandths; probability 0.3), which the contents of a box of related stories do not reach."""
COPY = 0.5
"""A page is a copy of another if they share at least this part of the prose of the shorter one."""
WHOLE_COPY, COPIED_WORDS, COPIED_BLOCKS = 0.8, 6, 3
"""So it is if they share this part of the longer one, counted in blocks of so many words or more, and so many blocks:
the paragraphs of some articles are short."""
MOST_COMPARED, TEXTS_AT_ONCE = 1_000, 4_096
"""Pages of a site among which copies are looked for, and texts at a time: time and memory grow with their squares."""
VARIED_BELOW = 0.5
"""A path is varied if two pages have the same text there less often than this, the more the less often."""
LABEL_EXCUSES = 0.5
"""The part of its share of other pages that does not count against a text after a label: "Genre", then "Drama"."""

Keys = NDArray[np.uint64]
Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageTable(ArrayTable):
    """Rows of some pages: page j has the fingerprint `page_key[j]` and the rows where `page == j`."""

    page_key: Annotated[Keys, Column("pages")]
    page: NDArray[Any]

    @classmethod
    def merge(cls, parts: list[Self]) -> Self:
        """All rows in one table, pages ordered by key: the same for any order of the parts."""
        if not parts:
            return cls.empty()
        columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in cls.dtypes()}
        order = np.argsort(columns["page_key"], kind="stable")
        place = np.empty(len(order), columns["page"].dtype)
        place[order] = np.arange(len(order))
        first = np.repeat(np.cumsum([0, *(len(part.page_key) for part in parts[:-1])]), [len(p.page) for p in parts])
        page = place[columns.pop("page") + first]
        by_page = np.argsort(page, kind="stable")
        found = {"page_key": columns.pop("page_key")[order], "page": page[by_page]}
        for name, (_, column) in cls.declared().items():
            if column.rows == "pages" and name in columns:
                found[name] = columns.pop(name).reshape(-1, column.each)[order].ravel()
        return cls(**found, **{name: column[by_page] for name, column in columns.items()})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockRows(PageTable):
    """The blocks of some pages."""

    page_genre: Annotated[NDArray[np.int64], Column("pages", each=len(GENRES))]
    """Millionths."""
    page: Annotated[NDArray[np.int64], Column(index="pages")]
    text: Keys
    path: Keys
    words: NDArray[np.int64]
    logit: NDArray[np.int64]

    @classmethod
    def of_page(cls, key: int, evidence: PageEvidence) -> BlockRows:
        """The rows of one page."""
        return cls(
            page_key=np.array([key], np.uint64),
            page_genre=np.rint(evidence.genre_probability * 1e6).astype(np.int64),
            page=np.zeros(len(evidence), np.int64),
            text=evidence.text,
            path=evidence.path,
            words=evidence.words.astype(np.int64),
            logit=np.rint(evidence.logit * LOGIT_SCALE).astype(np.int64),
        )

    def of_pages(self, chosen: NDArray[np.bool_]) -> BlockRows:
        """The rows of the chosen pages."""
        rows, place = chosen[self.page], np.cumsum(chosen) - 1
        columns = {name: getattr(self, name)[rows] for name in ("text", "path", "words", "logit")}
        genre = self.page_genre.reshape(-1, len(GENRES))[chosen].ravel()
        return BlockRows(page_key=self.page_key[chosen], page_genre=genre, page=place[self.page[rows]], **columns)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SiteEvidence:
    """Evidence from the other pages of a site about each block of one page.

    `share`: share of the other pages with the same text; where each page fills the block's path with another text, only
    those that have it there count (the team of a player, which is in the menu of all teams too). `supported`: 0 to 1,
    by the number of pages that have the text. `certain`: 0 to 1, how certain such a text is the site's own: many pages
    have it, or it is in a path whose other texts are repeated too. `known`: 0 to 1, how well the block's path is known,
    by the number of pages that have it; `mean`: the page model's mean log odds there; `fixed`: the share of its blocks
    that other pages repeat, times `known`; `field`: 0 to 1, how far each page has one block there, with a text of its
    own.
    `labelled`: 0 to 1, how far the block is what follows a label: one value per page that differs between pages.
    `records`: the probability that the site is one of records (`cleaning.combined`).
    """

    share: NDArray[np.float64]
    supported: NDArray[np.float64]
    certain: NDArray[np.float64]
    known: NDArray[np.float64]
    mean: NDArray[np.float64]
    fixed: NDArray[np.float64]
    field: NDArray[np.float64]
    labelled: NDArray[np.float64]
    records: float = 0.0


KNOWN_AT = 3.0
"""Number of pages at which a path is half known, and a text half certain to be the site's."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BlockTable(ArrayTable):
    """Counts of a site's blocks: texts of more than one page; paths with their pages, blocks, blocks whose text is
    repeated, sum of log odds and sum of the other pages that have a block's text at the same path; texts at a path
    (`placed_`) of more than one page; paths after a label (`after_`) with their pages, blocks, pairs of blocks with
    equal text and sum of log odds; and totals of the site (`whole`).
    """

    text_key: Annotated[Keys, Column("text", ascending=True)]
    text_pages: Annotated[Counts, Column("text")]
    path_key: Annotated[Keys, Column("path", ascending=True)]
    path_pages: Annotated[Counts, Column("path")]
    path_blocks: Annotated[Counts, Column("path")]
    path_fixed: Annotated[Counts, Column("path")]
    path_logit: Annotated[Counts, Column("path")]
    path_same: Annotated[Counts, Column("path")]
    placed_key: Annotated[Keys, Column("placed", ascending=True)]
    placed_pages: Annotated[Counts, Column("placed")]
    after_key: Annotated[Keys, Column("after", ascending=True)]
    after_pages: Annotated[Counts, Column("after")]
    after_blocks: Annotated[Counts, Column("after")]
    after_same: Annotated[Counts, Column("after")]
    after_logit: Annotated[Counts, Column("after")]
    whole: Annotated[Floats, Column("", each=len(GENRES) + 3, least=0)]
    """Mean probability of each genre; then per page the words of probable prose and the probable labelled values; then
    the number of pages, copies left out."""

    @property
    def pages(self) -> int:
        """How many pages were counted: those of the site without copies of others."""
        return int(self.whole[-1])

    @classmethod
    def of(cls, rows: BlockRows) -> BlockTable:
        """Count the rows of a site. Copies of pages are left out: an article that is published twice is no template."""
        rows = rows.of_pages(~copies(rows))
        pages = len(rows.page_key)
        text, of_text = np.unique(rows.text, return_inverse=True)
        text_pages = pages_of(of_text, rows.page, len(text))
        repeated = (text_pages > 1)[of_text]
        path, of_path = np.unique(rows.path, return_inverse=True)
        placed, of_placed = np.unique(_placed(rows.text, rows.path), return_inverse=True)
        placed_pages = pages_of(of_placed, rows.page, len(placed))
        places = _after_labels(rows, of_text, repeated)
        on_pages, blocks, same = _lookups(
            places["key"], [places[name] for name in ("pages", "blocks", "same")], places["of"]
        )
        labelled = _labelled(on_pages, blocks, same, pages)
        return cls(
            text_key=text[text_pages > 1],
            text_pages=text_pages[text_pages > 1],
            path_key=path,
            path_pages=pages_of(of_path, rows.page, len(path)),
            path_blocks=np.bincount(of_path, minlength=len(path)),
            path_fixed=np.bincount(of_path[repeated], minlength=len(path)),
            path_logit=_summed(of_path, rows.logit, len(path)),
            path_same=_summed(of_path, placed_pages[of_placed] - 1, len(path)),
            placed_key=placed[placed_pages > 1],
            placed_pages=placed_pages[placed_pages > 1],
            **{f"after_{name}": found for name, found in places.items() if name != "of"},
            whole=_whole(rows, of_path, text_pages[of_text], labelled),
        )

    def ask(self, evidence: PageEvidence, *, learned: bool) -> SiteEvidence:
        """Evidence of the other pages about a page's blocks; `learned`: the page, or its copy, is among them."""
        own = 1 if learned else 0
        others = max(self.pages - own, 1)
        text_pages = self.pages_that_say(evidence.text)
        elsewhere = _elsewhere(text_pages, learned)
        alone = evidence.logit
        scaled = np.rint(alone * LOGIT_SCALE).astype(np.int64) * own
        # of each path
        path, of_path = np.unique(evidence.path, return_inverse=True)
        counts = self.path_pages, self.path_blocks, self.path_fixed, self.path_logit, self.path_same
        pages, all_blocks, all_fixed, logit, all_same = _lookups(self.path_key, counts, path)
        mine = np.bincount(of_path, minlength=len(path)) * own
        mine_fixed = np.bincount(of_path, weights=text_pages > 1, minlength=len(path)) * own
        blocks = np.maximum(all_blocks - mine, 0).astype(np.float64)
        on_pages = np.maximum(pages - own, 0).astype(np.float64)
        known = _known(on_pages)
        mean_there = (logit - _summed(of_path, scaled, len(path))) / np.maximum(blocks, 1) / LOGIT_SCALE
        repeated = np.clip((all_fixed - mine_fixed) / np.maximum(blocks, 1), 0, 1)
        fixed = known * repeated
        placed_pages = lookup(self.placed_key, self.placed_pages, _placed(evidence.text, evidence.path), missing=1)
        mine_same = np.bincount(of_path, weights=placed_pages - 1, minlength=len(path)) * own
        same = (all_same - 2 * mine_same) / np.maximum(blocks * max(others - 1, 1), 1)
        varied = known * np.clip(1 - same / VARIED_BELOW, 0, 1)
        times = np.where(on_pages > 0, blocks / np.maximum(on_pages, 1), 1.0)
        field = known * (on_pages / others) * np.maximum(1 - fixed, varied) / np.maximum(times, 1.0)
        # of each block
        mean = np.where((blocks > 0)[of_path], mean_there[of_path], alone)
        here = _elsewhere(placed_pages, learned) / others
        share = np.minimum(elsewhere / others, 1.0)
        share -= varied[of_path] * np.maximum(share - here, 0)
        labelled, after_known, after_mean = self._ask_labels(evidence, alone, scaled, others, own)
        supported = _known(elsewhere)
        return SiteEvidence(
            share=share,
            supported=supported,
            certain=np.maximum(supported, repeated[of_path]),
            known=np.maximum(known[of_path], after_known),
            mean=mean + after_known * (after_mean - mean),
            fixed=fixed[of_path] * (1 - labelled),
            field=field[of_path],
            labelled=labelled,
        )

    def _ask_labels(
        self, evidence: PageEvidence, alone: Floats, mine: NDArray[np.int64], others: int, own: int
    ) -> tuple[Floats, Floats, Floats]:
        """How far each block is a labelled value, how well its path after the label is known, and its mean there.

        `alone` are the log odds of the blocks, `mine` their part of the sums of the site.
        """
        after = _after(evidence.text, evidence.path, np.ones(len(evidence), np.bool_))
        counts = self.after_pages, self.after_blocks, self.after_same, self.after_logit
        on_pages, all_blocks, same, logit = _lookups(self.after_key, counts, after)
        has = all_blocks > 0
        pages, blocks = np.where(has, on_pages - own, 0), np.where(has, all_blocks - own, 0)
        labelled = _labelled(pages, blocks, same, others)
        mean = np.where(blocks > 0, (logit - mine) / np.maximum(blocks, 1) / LOGIT_SCALE, alone)
        return labelled, _known(np.maximum(pages, 0)), mean

    def pages_that_say(self, text: Keys) -> NDArray[np.int64]:
        """On how many pages each text occurs; 1 for a text that was not found on two."""
        return lookup(self.text_key, self.text_pages, text, missing=1)


def copies(rows: BlockRows) -> NDArray[np.bool_]:
    """Which pages are copies of another with a lower key: the same article under another URL, or a part of it.

    They share several paragraphs of probable prose (a single one may be a field of two records), or nearly all of their
    probable content.
    """
    part, shared = _similar(rows, LONG_BLOCK, np.minimum)
    alike = (shared > 1) & (part >= COPY)
    part, shared = _similar(rows, COPIED_WORDS, np.maximum)
    alike |= (shared >= COPIED_BLOCKS) & (part >= WHOLE_COPY)
    found = np.zeros(len(rows.page_key), np.bool_)
    for k in np.flatnonzero(np.tril(alike, -1).any(axis=1)).tolist():
        found[k] = bool((alike[k, :k] & ~found[:k]).any())
    return found


def _similar(
    rows: BlockRows, least_words: int, size_of: Callable[[Floats, Floats], Floats]
) -> tuple[Floats, NDArray[np.float32]]:
    """The share of the words, by the size of two pages, that they have in common, and in how many blocks.

    Only blocks of probable content with `least_words` or more count. Blocks that more than two pages
    and half of the site have are not compared: those are the site's.
    """
    pages = len(rows.page_key)
    prose = (rows.words >= least_words) & (rows.logit > 0)
    _, first, of_text = np.unique(rows.text[prose], return_index=True, return_inverse=True)
    text, page = np.divmod(np.unique(of_text * pages + rows.page[prose]), max(pages, 1))
    on_pages = np.bincount(text, minlength=len(first))
    words = np.where(on_pages <= max(pages / 2, 2), rows.words[prose][first], 0).astype(np.float32)
    size, is_shared = np.bincount(page, words[text], pages), (on_pages > 1) & (words > 0)
    shared, blocks = _common(np.cumsum(is_shared)[text] - 1, page, is_shared[text], words[is_shared], pages)
    sizes: Floats = size[: len(shared)].astype(np.float64)
    return shared / np.maximum(size_of(sizes[:, None], sizes[None, :]), 1.0), blocks


def _common(
    text: NDArray[np.int64], page: NDArray[np.int64], chosen: NDArray[np.bool_], words: NDArray[np.float32], pages: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The words and the number of the chosen texts that each two pages have in common; `text` is in order."""
    compared = min(pages, MOST_COMPARED)
    chosen = chosen & (page < compared)
    text, page = text[chosen], page[chosen]
    shared, count = np.zeros((2, compared, compared), np.float32)
    for start in range(0, len(words), TEXTS_AT_ONCE):
        weight = words[start : start + TEXTS_AT_ONCE]
        first, last = text.searchsorted((start, start + len(weight)))
        said = np.zeros((len(weight), compared), np.float32)
        said[text[first:last] - start, page[first:last]] = 1
        shared += said.T @ (said * weight[:, None])
        count += said.T @ said
    return shared, count


def _elsewhere(pages: NDArray[np.int64], learned: bool) -> NDArray[np.float64]:
    """On how many other pages something is, given on how many it is; 1 stands for none if this page is no part."""
    return np.maximum(pages - 1 if learned else pages - (pages == 1), 0).astype(np.float64)


def _known(pages: NDArray[Any]) -> NDArray[np.float64]:
    """How well something is known that so many pages have."""
    found: NDArray[np.float64] = pages / (pages + KNOWN_AT)
    return found


def _summed(item: NDArray[np.int64], value: NDArray[np.int64], items: int) -> NDArray[np.int64]:
    sums = np.zeros(items, np.int64)
    np.add.at(sums, item, value)
    return sums


def lookup(keys: Keys, values: Array, wanted: Keys, missing: float = 0) -> Array:
    """The values of some keys, given keys ascending; `missing` for a key that is not among them."""
    return _lookups(keys, (values,), wanted, missing)[0]


def _lookups(keys: Keys, columns: Sequence[Array], wanted: Keys, missing: float = 0) -> list[Array]:
    """The values of some keys in each of some columns, as `lookup` finds them."""
    if not len(keys):
        return [np.full(len(wanted), missing, values.dtype) for values in columns]
    at = np.minimum(keys.searchsorted(wanted), len(keys) - 1)
    is_known = keys[at] == wanted
    return [np.where(is_known, values[at], missing) for values in columns]


def _placed(text: Keys, path: Keys) -> Keys:
    """A key of each text at its path."""
    keys: Keys = text * _ODD + path
    return keys


def _after(text: Keys, path: Keys, follows: NDArray[np.bool_]) -> Keys:
    """A key of each block's path and the text before it; `follows` is false for the first block of a page."""
    before = np.zeros(len(text), np.uint64)
    before[1:] = text[:-1]
    keys: Keys = np.where(follows, before, 0) * _ODD + path
    return keys


def _after_labels(rows: BlockRows, of_text: NDArray[np.int64], repeated: NDArray[np.bool_]) -> dict[str, NDArray[Any]]:
    """Counts of the paths that follow a label on more than one page, by key; `of` is each row's key."""
    first = np.ones(len(rows.page), np.bool_)
    first[1:] = rows.page[1:] != rows.page[:-1]
    of_row = _after(rows.text, rows.path, ~first)
    labels = np.zeros(len(rows.page), np.bool_)
    labels[1:] = repeated[:-1]
    key, place = np.unique(of_row[labels & ~first], return_inverse=True)
    page, text, logit = (column[labels & ~first] for column in (rows.page, of_text, rows.logit))
    on_pages = pages_of(place, page, len(key))
    pairs, times = np.unique(place * (int(of_text.max(initial=0)) + 1) + text, return_counts=True)
    same = _summed(pairs // (int(of_text.max(initial=0)) + 1), times * (times - 1), len(key))
    often = on_pages > 1
    return {
        "key": key[often],
        "pages": on_pages[often],
        "blocks": np.bincount(place, minlength=len(key))[often],
        "same": same[often],
        "logit": _summed(place, logit, len(key))[often],
        "of": of_row,
    }


def _labelled(
    on_pages: NDArray[np.int64], blocks: NDArray[np.int64], same: NDArray[np.int64], pages: int
) -> NDArray[np.float64]:
    """How far a path after a label has one value per page that differs between pages. `same`: equal pairs of blocks."""
    known = _known(np.maximum(on_pages, 0))
    varied = 1 - np.clip(same / np.maximum(blocks * (blocks + 1.0), 1), 0, 1)
    spread = np.minimum(on_pages / (LABELLED_SHARE * max(pages, 1)), 1)
    found: NDArray[np.float64] = known * varied * spread / np.maximum(blocks / np.maximum(on_pages, 1), 1)
    return found


def _whole(
    rows: BlockRows, of_path: NDArray[np.int64], text_pages: NDArray[np.int64], labelled: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Totals of the site: mean genre; words of probable prose that no other page has; probable labelled values.

    Prose has several paragraphs: a single one (a description, a plot) may as well be a field of a record.
    """
    pages = max(len(rows.page_key), 1)
    genre = rows.page_genre.reshape(-1, len(GENRES)).sum(axis=0) / pages / 1e6
    _, place, times = np.unique(of_path * pages + rows.page, return_inverse=True, return_counts=True)
    prose = (rows.words >= LONG_BLOCK) & (text_pages == 1) & (rows.logit > 0) & (times[place] > 1)
    values = (labelled >= LABELLED_SURE) & (rows.words <= LABELLED_WORDS) & (2 * text_pages < pages)
    values &= rows.logit >= LABELLED_LIKELY
    totals = [rows.words[prose].sum() / pages, values.sum() / pages, len(rows.page_key)]
    return np.round(np.concatenate((genre, totals)), 6)
