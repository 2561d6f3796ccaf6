"""`Verdict`: for each node and each text run of a page whether it is kept, and why. Cleaning changes nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from webwinnow.page._nodes import kept_around
from webwinnow.page.tree import PageTree
from webwinnow.site.learned import LearnedSite
from webwinnow.site.styletree import PageFeatures


class Reason(IntEnum):
    """Why something is kept or removed: a code and its text. New reasons are added at the end."""

    text: str

    def __new__(cls, code: int, text: str = "") -> Reason:
        made = int.__new__(cls, code)
        made._value_ = code
        made.text = text
        return made

    KEPT = 0, "kept: visible"
    HIDDEN = 1, "hidden: browsers do not show it"
    REPEATED = 2, "repeated: the site says the same on many of its pages"
    MEANINGFUL = 3, "kept: meaningful, this part varies over the site"
    POSSIBLY = 4, "kept: possibly meaningful, the site's tree does not have this part"
    NOISY = 5, "noisy: the site builds and fills this part alike on its pages"
    LOCALLY_NOISY = 6, "locally noisy: every page has these words here"
    WEIGHTY = 7, "kept: its words tell this page from the site's others"
    LIGHT = 8, "of little weight: its words stand here on many of the site's pages"
    CONTENT = 9, "kept: likely main content"
    UNLIKELY = 10, "unlikely: probably not main content"
    NO_CONTENT = 11, "no main content: nothing on the page reads like it"
    POSTS = 12, "posts: readers wrote it; --comments keeps it"
    KEPT_POSTS = 13, "kept: readers wrote it, and --comments was given"
    TOPIC_BLOCK = 14, "kept: a topic block, text with few links"
    HUB_BLOCK = 15, "hub: a block of links"
    IMAGE_BLOCK = 16, "image: a block of images"
    CENTRAL = 17, "kept: in the central area of the page"
    MARGINAL = 18, "marginal: around the central area of the page"
    HEADING = 19, "kept: the heading of what stays"
    TEMPLATE = 20, "template: this pagelet stands on other pages too"
    INFORMATIVE = 21, "kept: informative block, its words tell pages apart"
    REDUNDANT = 22, "redundant block: its words stand on many of the site's pages"
    NOISY_ITEM = 23, "noisy item: a nepotistic link or an advertisement"
    TASK = 24, "kept: the task wants this kind"
    WHOLE = 25, "kept: it belongs to what is kept beside it"
    HEADS_NOTHING = 26, "heading: nothing is kept that it heads"
    OF_TABLE = 27, "kept: part of a table that is kept"
    WITH_TABLE = 28, "removed with its table, row or column"
    OF_LIST = 29, "kept: part of a list that is kept"
    WITH_LIST = 30, "removed with its list"
    LABEL = 31, "kept: the label of a value that is kept"
    LABELS_NOTHING = 32, "label: its value is removed"
    PICTURE_BESIDE = 33, "picture: the text beside it is removed"
    DECORATION = 34, "picture: a logo, an icon, a spacer, an avatar or a button"
    WITHOUT_WHOLE = 35, "removed with what it belongs to"
    OF_RECORD = 36, "kept: part of a record that is kept"
    WITH_RECORDS = 37, "removed with its records"
    TEASER = 38, "tail: links to other pages behind the article or between its paragraphs"
    FURTHER = 39, "tail: another article behind the first"
    OVERLAY = 40, "overlay: in a fixed box over the page, such as a consent banner"
    UNSEEN = 41, "unseen: the browser shows it nowhere"
    COVERED = 42, "covered: something else is drawn over it"
    KEEP_SELECTED = 43, "kept: a selector of --keep"
    REMOVE_SELECTED = 44, "removed: a selector of --drop"
    NO_TABLES = 45, "table: --no-tables"
    EMPTY = 46, "empty: a box or a frame without text or picture"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Verdict:
    """The decision on one page, as arrays beside its tree.

    `keep` and `reason` describe nodes, `keep_runs` and `run_reason` text runs: one line of an element may be removed
    while the next is kept. `weight` is the weight of a node in weighted features, `score` the number that decided (both
    1 where a method has no degrees). `kind` is a code of `kinds.KINDS`: posts, or content until kinds are recognised
    (`kinds.with_kinds`); `kind_score` is the probability of that kind. `note` is a remark on the whole page for the
    record's `reason`. `genre` and `confidence`, the expected word F1, are set by methods that know them. `post_runs`
    are readers' posts that are kept beside the main content; a record contains them separately. `removed_features`
    marks features that are removed although their node or run is kept, of all visible ones (`page_features`).
    """

    method: str
    keep: NDArray[np.bool_]
    keep_runs: NDArray[np.bool_]
    reason: NDArray[np.uint8]
    run_reason: NDArray[np.uint8]
    score: NDArray[np.float32]
    weight: NDArray[np.float32]
    kind: NDArray[np.uint8]
    note: str | None = None
    genre: str | None = None
    confidence: float | None = None
    post_runs: NDArray[np.bool_] | None = None
    kind_score: NDArray[np.float32] | None = None
    removed_features: NDArray[np.bool_] | None = None

    def keeps_words(self, tree: PageTree, runs: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Which of the visible words of a page (`word_spans`), whose runs are given, are kept."""
        kept: NDArray[np.bool_] = (self.keep_runs & self.keep[tree.run_owner])[runs]
        return kept if self.removed_features is None else kept & ~self.removed_features[: len(runs)]

    def keeps_features(self, tree: PageTree, found: PageFeatures) -> NDArray[np.bool_]:
        """Which of the features of a page (`page_features`) are kept: words by run, links and images by node."""
        runs = tree.words.run
        others: NDArray[np.bool_] = self.keep[found.owner[len(runs) :]]
        if self.removed_features is not None:
            others = others & ~self.removed_features[len(runs) :]
        return np.concatenate((self.keeps_words(tree, runs), others))

    def reduced(self, tree: PageTree) -> PageTree:
        """The page without the words that are removed from kept runs."""
        if self.removed_features is None:
            return tree
        _, runs, begin, end = tree.words
        removed = self.removed_features[: len(runs)]
        return tree.without_text(_spans(tree, removed, runs, begin, end)) if removed.any() else tree


def _spans(
    tree: PageTree,
    removed: NDArray[np.bool_],
    runs: NDArray[np.int32],
    begin: NDArray[np.int32],
    end: NDArray[np.int32],
) -> list[tuple[int, int]]:
    """The spans of text of removed words: neighbours in one run together, with the punctuation attached to them.

    Words of scripts without spaces overlap; characters of a word that is kept stay.
    """
    spans, text = [], tree.text
    joins = removed[1:] & removed[:-1] & (runs[1:] == runs[:-1])
    first = np.flatnonzero(removed & ~np.append(False, joins)).tolist()
    last = np.flatnonzero(removed & ~np.append(joins, False)).tolist()
    for one, other in zip(first, last, strict=True):
        run = runs[one]
        lowest = int(end[one - 1] if one and runs[one - 1] == run else tree.run_start[run])
        highest = int(begin[other + 1] if other + 1 < len(runs) and runs[other + 1] == run else tree.run_start[run + 1])
        start, stop = max(int(begin[one]), lowest), min(int(end[other]), highest)
        while start > lowest and not text[start - 1].isspace():
            start -= 1
        while stop < highest and not text[stop].isspace():
            stop += 1
        if start < stop:
            spans.append((start, stop))
    return spans


def keep_visible(tree: PageTree, method: str = "none", note: str | None = None) -> Verdict:
    """Method `none`: keep what is visible. Methods without evidence do the same under their own name, with a note."""
    keep = tree.visible
    keep_runs = keep[tree.run_owner]
    return Verdict(
        method=method,
        keep=keep,
        keep_runs=keep_runs,
        reason=np.where(keep, Reason.KEPT, Reason.HIDDEN).astype(np.uint8),
        run_reason=np.where(keep_runs, Reason.KEPT, Reason.HIDDEN).astype(np.uint8),
        score=np.ones(len(tree), np.float32),
        weight=np.ones(len(tree), np.float32),
        kind=np.zeros(len(tree), np.uint8),
        note=note,
    )


def keep_by_reason(
    tree: PageTree,
    method: str,
    reason_of_run: NDArray[np.integer],
    kept: tuple[int, ...],
    removed: int,
    score: NDArray[np.float32],
    *,
    weight: NDArray[np.float32] | None = None,
    add: NDArray[np.bool_] | None = None,
    drop: NDArray[np.bool_] | None = None,
) -> Verdict:
    """The verdict that keeps the visible runs whose reason is one of `kept`.

    Nodes without text of their own have the reason `kept[0]` or `removed`. `add` and `drop` are nodes to keep or to
    remove besides; the weights are 1 and 0 unless given.
    """
    run_reason = np.where(tree.visible_runs, reason_of_run, Reason.HIDDEN).astype(np.uint8)
    keep_runs = np.isin(run_reason, kept)
    keep = keep_around(tree, keep_runs)
    if add is not None:
        keep |= add
    if drop is not None:
        keep &= ~drop
    reason = np.where(keep, kept[0], np.where(tree.visible, removed, Reason.HIDDEN)).astype(np.uint8)
    owners, first = np.unique(tree.run_owner, return_index=True)
    reason[owners] = run_reason[first]
    return Verdict(
        method=method,
        keep=keep,
        keep_runs=keep_runs,
        reason=reason,
        run_reason=run_reason,
        score=score,
        weight=keep.astype(np.float32) if weight is None else weight,
        kind=np.zeros(len(tree), np.uint8),
    )


def keep_around(tree: PageTree, keep_runs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes around kept text, hidden or not, and visible nodes without text (pictures, rules) inside those."""
    return kept_around(tree.parent, tree.run_owner, tree.written_runs, keep_runs, tree.visible)


def without_site(model: LearnedSite | None, needed: int) -> str | None:
    """Why there is no evidence from the site: it was not learned, or from too few pages. None where there is."""
    if model is None:
        return "nothing is known of this site; the page was cleaned without it"
    if model.pages < needed:
        return f"too few pages of this site to see what repeats ({model.pages}, needed {needed})"
    return None
