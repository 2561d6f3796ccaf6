"""Wholes: tables, records, lists and sections are kept or removed together (thesis 6.1b, the logical segmentation).

Everything is a probability of the blocks with text, so that one cut decides: `pooled` gives the blocks of a whole the
probability of the whole, before the cut of the page is chosen. `completed` gives the parts that others depend on (the
heading of a section, the label of a value, the header of a table) the highest probability among those, after the cut is
chosen, so that they stay exactly where something of theirs stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge._judging import pool_records
from webwinnow.judge.evidence import PageEvidence, evidence_of, headlines_of, owner_of, sections_of, shown_of
from webwinnow.judge.reading import GENRES
from webwinnow.judge.verdict import Reason, Verdict, keep_around
from webwinnow.page._nodes import nearest
from webwinnow.page._sections import raised
from webwinnow.page._structures import pool_lists, pool_tables
from webwinnow.page.blocks import Blocks
from webwinnow.page.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.structures import CLOSE, COLON, NO_LINK, WHOLE_TITLE, WRITTEN_TITLE, offered, pair_bits
from webwinnow.settings import Settings, setting
from webwinnow.site.blocktable import LABEL_EXCUSES, LABELLED_SURE, SiteEvidence

_HEADINGS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_HEADINGS[[TAG_CODE[f"h{level}"] for level in range(1, 7)]] = True
WRITTEN, _OF_ITEMS = (
    np.array([GENRES.index(genre) for genre in genres.split()])
    for genres in ("article documentation forum", "product collection listing")
)
HIDDEN_ABOVE = 0.5
"""Hidden text is kept only above this probability, wherever the cut of the page is."""
SAID_OFTEN = 0.5
"""A text on at least this share of the site's pages belongs to the site, and not to the page."""
BELOW_HEADLINE = 0.8
"""The share of the page's content that is below its headline, at least."""
ABOVE_HEADLINE = 0.05
"""Text above a headline that the title confirms is no content of a written page if it has at most this share of the
page's. On pages of records it often is: the price, the name of the firm."""
AROUND_CODE = 5
"""Blocks on each side of code that its probability follows. With 1, 3 and 5, documentation of pages-wcxb (held out) has
word F1 0.9339, 0.9342 and 0.9361, without code 0.9340; other genres change by 0.0001 at most."""
LEFT = 0.5
"""The site's evidence empties a section if it leaves less than this share of its probable content."""

LOWER = 2.0
"""Log odds below its table, list or group at which a row, column, item or record is foreign, and judged alone."""
FEW = 0.25
"""A table or list is the site's if the share of its parts that the site does not repeat is lower than this."""
PLAIN, SHORT_ITEM, NO_LINKS = 1.0, 15.0, 0.1
"""Log odds that a list gains if its items have at most so many words on average, and at most this share of it is links:
the page model judges each item alone, and too low. Such lists of 200 pages each of dragnet, cleaneval and L3S were
content 1.0 to 1.5 log odds more often than the mean of their items says. Not on pages of items (products, listings),
where they are facets and badges."""
FIELD_LOWER = 1.5
"""Log odds below its group at which a field of records, such as a byline, is judged alone."""
SURE = 0.5
"""From this probability on, a field of a record is content whatever the other records are."""
RECORD_SAID = 0.1
"""What this share of the site's pages have does not count in a record, or list, that has mostly other words."""
OF_GOODS = np.zeros(len(GENRES))
OF_GOODS[[GENRES.index(genre) for genre in ("product", "collection", "listing")]] = -2.0, 0.7, 0.7
"""Log odds that records with links and prices gain on a page of each genre: they are the page if it is a list of goods,
and beside it if it is a product. On pages-wcxb (held out) 1 of 53 groups of such records on product pages is content,
where the page model says one in ten; on collections it says 0.25 of their words, and 0.37 are."""
LEAST_SHIFT = 0.1
"""Fewer log odds are not worth looking for prices."""
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?[$€£¥₹]|\d[.,]\d\d\s?(?:zł|kr|Kč)")
LABEL_SHARE = 0.3
"""The share of the site's pages that have a label, at least; not every page has every field."""
MOST = 0.5
"""The part of a whole that another method keeps, at least, so that all of it is kept; the part of a list that is on
this page only, at least, so that it is the page's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholesSettings(Settings):
    """Wholes in methods that judge block by block; `page` and `combined` have `page.wholes`."""

    complete: Annotated[
        bool,
        setting(
            "keep or remove tables, lists, labels and headings as wholes after any method; published methods do not"
        ),
    ] = False


def pooled(page: Page, probability: NDArray[np.float64], asked: SiteEvidence | None = None) -> NDArray[np.float64]:
    """The probability of each block, with that of its whole where the whole is one decision."""
    structures, owner = page.structures, owner_of(page)
    counted = np.ones(len(probability), np.bool_)
    if asked is not None:
        counted = ~repeated(asked)
        probability = unthinned(page, unemptied(page, probability, asked), asked)
    if structures.tables.shape[1]:
        probability = pool_tables(
            structures.cell_of[owner],
            structures.table_of[owner],
            structures.tables,
            structures.cells,
            probability,
            evidence_of(page).text,
            counted,
            LOWER,
            FEW,
        )
    if structures.lists.shape[1]:
        probability = pool_lists(
            _outside_tables(page, structures.list_of),
            structures.item_of[owner],
            structures.lists,
            probability,
            np.maximum(evidence_of(page).words, 1.0),
            counted,
            sections_of(page).level > 0,
            LOWER,
            FEW,
            PLAIN * (1 - float(evidence_of(page).genre_probability[_OF_ITEMS].sum())),
            SHORT_ITEM,
            NO_LINKS,
        )
    if structures.groups.shape[1]:
        probability = in_records(page, probability, None if asked is None else asked.share)
        probability = beside_goods(page, probability)
    return probability


def _outside_tables(page: Page, of_nodes: NDArray[np.int32]) -> NDArray[np.int32]:
    """The list or record of each block (-1 for none), without those of blocks in data tables."""
    found: NDArray[np.int32] = of_nodes[owner_of(page)]
    if page.structures.tables.shape[1]:
        found[page.structures.table_of[owner_of(page)] >= 0] = -1
    return found


def repeated(asked: SiteEvidence) -> NDArray[np.bool_]:
    """Which blocks the site repeats: half of its pages have the text, and it is no value after a label."""
    found: NDArray[np.bool_] = asked.share * (1 - LABEL_EXCUSES * asked.labelled) >= SAID_OFTEN
    return found


def in_records(page: Page, probability: NDArray[np.float64], share: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The probabilities, where all fields of repeated records have that of their group.

    A record that is `LOWER`, or a field (a column of the records) that is `FIELD_LOWER`, is judged alone. A text that
    is the same in all records, such as that of a button, and what is sure to be content keep their own probability.
    What the site repeats (`share` of its pages) counts only in records that it repeats as a whole.
    """
    structures, owner = page.structures, owner_of(page)
    return pool_records(
        _outside_tables(page, structures.record_of),
        structures.field_of[owner],
        structures.records,
        structures.groups,
        probability,
        evidence_of(page).words,
        evidence_of(page).text,
        share,
        LOWER,
        FIELD_LOWER,
        SURE,
        RECORD_SAID,
    )


def beside_goods(page: Page, probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities, where groups of records of which most have a link and a price move by `OF_GOODS`."""
    shift = float(OF_GOODS @ evidence_of(page).genre_probability)
    if abs(shift) < LEAST_SHIFT:
        return probability
    tree, structures = page.tree, page.structures
    found = np.array([match.start() for match in _PRICE.finditer(tree.text)], np.int64)
    priced = structures.record_of[tree.run_owner[np.searchsorted(tree.run_start, found, side="right") - 1]]
    has_price = np.zeros(structures.records.shape[1], np.bool_)
    has_price[priced[priced >= 0]] = True
    node, group, _ = structures.records
    links = np.concatenate(([0], np.cumsum(tree.tag == TAG_CODE["a"])))
    is_goods = has_price & (links[tree.end[node]] > links[node])
    of_goods = np.bincount(group, is_goods, structures.groups.shape[1]) >= MOST * structures.groups[1]
    record = _outside_tables(page, structures.record_of)
    moved = (record >= 0) & of_goods[group[record]]
    if not moved.any():
        return probability
    odds = np.exp(shift)
    return np.where(moved, probability * odds / (1 + probability * (odds - 1)), probability)


def labels(page: Page, asked: SiteEvidence | None = None) -> NDArray[np.bool_]:
    """Which blocks are the label of the block that follows.

    A label is short and close to its value, and ends with a colon; or the site repeats it, and what follows differs.
    Those in tables are cells of their rows, and are left out.
    """
    said = evidence_of(page).said
    found = pair_bits(page.blocks, said)
    label: NDArray[np.bool_] = (found & (CLOSE | COLON)) == CLOSE | COLON
    if asked is not None:
        sure = (found & (CLOSE | NO_LINK)) == CLOSE | NO_LINK
        sure[:-1] &= (asked.share[:-1] >= LABEL_SHARE) & (asked.labelled[1:] >= LABELLED_SURE)
        label |= sure
    if page.structures.tables.shape[1]:
        label &= page.structures.table_of[owner_of(page)] < 0
    return label


def completed(
    page: Page,
    probability: NDArray[np.float64],
    asked: SiteEvidence | None = None,
    label: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probability of each block, where parts that belong to others have the highest of those.

    A label (`labels`) has that of its value. It does not depend on the cut: what is kept at a lower cut contains what
    is kept at a higher one.
    """
    whole = probability.copy()
    for k in np.flatnonzero(labels(page, asked) if label is None else label)[::-1].tolist():
        whole[k] = whole[k + 1]
    return sectioned(page, whole, asked)


def sectioned(page: Page, probability: NDArray[np.float64], asked: SiteEvidence | None = None) -> NDArray[np.float64]:
    """The probabilities, with those of headings, introductions, code and captions from what they belong to."""
    if not len(probability):
        return probability
    found = sections_of(page)
    blocks, said, shown = page.blocks, evidence_of(page).said, shown_of(page)
    columns = found.level, found.heading, found.end, found.code, found.figure
    words = evidence_of(page).words if asked is None else np.where(repeated(asked), 0, evidence_of(page).words)
    whole = raised(*columns, shown, words, probability, HIDDEN_ABOVE)
    top, is_confirmed = headline(page, probability, asked)
    if top is None:
        return whole
    lines = found.lines(top)
    whole[lines] = whole[(found.level == 0) & (shown | (whole >= HIDDEN_ABOVE))].max(initial=0.0)
    whole[offered(blocks, said, evidence_of(page).words, lines.stop)] = whole[top]
    if (
        is_confirmed
        and evidence_of(page).genre_probability[WRITTEN].sum() >= 0.5
        and (asked is None or asked.records < 0.5)
    ):
        above = (whole[:top] * evidence_of(page).words[:top]).sum()
        if above <= ABOVE_HEADLINE * float(whole @ evidence_of(page).words):
            whole[:top] = 0.0  # a date, the path of the page, the name of the site: the text begins with the headline
            return whole
    whole[:top][evidence_of(page).text[:top] == evidence_of(page).text[top]] = 0.0
    return whole


def with_code(code: NDArray[np.int32], probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities, where code (`Sections.code`) is at least as probable as the text around it.

    On either side the most probable of the next `AROUND_CODE` blocks counts: names of files and buttons are between.
    """
    if not (code >= 0).any():
        return probability
    found, starts = probability.copy(), np.flatnonzero(np.diff(code, prepend=-2))
    text = np.where(code < 0, probability, 0.0)
    for first, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(code)], strict=True):
        if code[first] >= 0:
            before, after = text[max(first - AROUND_CODE, 0) : first], text[stop : stop + AROUND_CODE]
            least = min(before.max(initial=0.0), after.max(initial=0.0))
            found[first:stop] = np.where(found[first:stop] > 0, np.maximum(found[first:stop], least), 0.0)
    return found


def headline(
    page: Page, probability: NDArray[np.float64], asked: SiteEvidence | None = None
) -> tuple[int | None, bool]:
    """The first block of the page's headline, and whether the title confirms it.

    Of the best candidates it is the last that most of the content is below. A heading that the site repeats is one only
    if it is the whole title.
    """
    content = (probability * evidence_of(page).words).cumsum()
    lowest = BELOW_HEADLINE * content[-1]
    for grade, candidates in enumerate(headlines_of(page)):
        good = [
            k
            for k in candidates
            if content[-1] - content[k] >= lowest
            and (grade == WHOLE_TITLE or asked is None or asked.share[k] < SAID_OFTEN)
        ]
        if good:
            return good[-1], grade <= WRITTEN_TITLE
    return None, False


def unemptied(page: Page, probability: NDArray[np.float64], asked: SiteEvidence) -> NDArray[np.float64]:
    """The probabilities from page and site, where the site does not empty what the page model is confident about.

    Of a section, and of the page, the text that the page model keeps and the site does not repeat has its probability
    from the page model again if the site's evidence leaves less than half of it.
    """
    alone, words, heading = evidence_of(page).probability, evidence_of(page).words, sections_of(page).heading + 1
    sure = (alone >= 0.5) & (asked.share < SAID_OFTEN)
    for group in (heading, np.zeros_like(heading)):
        before = np.bincount(group, alone * words * sure)
        left = np.bincount(group, np.minimum(probability, alone) * words * sure)
        emptied = left < LEFT * before
        if emptied.any():
            probability = np.where(sure & emptied[group], np.maximum(probability, alone), probability)
    return probability


def unthinned(page: Page, probability: NDArray[np.float64], asked: SiteEvidence) -> NDArray[np.float64]:
    """The probabilities from page and site, where the site does not take items out of a list that is the page's own.

    Of a list that is mostly text of this page alone, and not mostly links, other pages may have some items too: two
    recipes need salt, two books have the same publisher. Its items are at least as probable as the page model thinks.
    """
    structures, words = page.structures, evidence_of(page).words
    count = structures.lists.shape[1]
    if not count:
        return probability
    listed = structures.list_of[owner_of(page)]
    is_new = asked.share < RECORD_SAID
    own = np.bincount(listed + 1, words * is_new, count + 1) >= MOST * np.bincount(listed + 1, words, count + 1)
    own[0] = False
    own[1:] &= 2 * structures.lists[3] <= structures.lists[2]
    found: NDArray[np.float64] = np.maximum(probability, np.where(own[listed + 1], evidence_of(page).probability, 0.0))
    return found


def with_wholes(page: Page, verdict: Verdict) -> Verdict:
    """The verdict of any method with tables, lists, labels and headings as wholes: what most of a whole has, all has.

    Words that browsers do not show stay as they are.
    """
    tree, blocks, said = page.tree, page.blocks, evidence_of(page).said
    of_run = blocks.of_run()
    any_kept = np.bincount(of_run, weights=verdict.keep_runs, minlength=len(blocks)) > 0
    before, shown = any_kept[said], shown_of(page)
    after = completed(page, pooled(page, before.astype(np.float64))) >= MOST
    added, gone = (np.zeros(len(blocks), np.bool_) for _ in range(2))
    added[said] = after & ~before & shown
    gone[said] = before & ~after & shown
    if not (added | gone).any():
        return verdict
    keep_runs = (verdict.keep_runs & ~gone[of_run]) | added[of_run]
    around, was_around = keep_around(tree, keep_runs), keep_around(tree, verdict.keep_runs)
    run_reason, reason = verdict.run_reason.copy(), verdict.reason.copy()
    run_reason[added[of_run]] = Reason.WHOLE
    run_reason[gone[of_run]] = Reason.WITHOUT_WHOLE
    keep = (verdict.keep | (around & ~was_around)) & ~(was_around & ~around)
    reason[keep & ~verdict.keep] = Reason.WHOLE
    reason[verdict.keep & ~keep] = Reason.WITHOUT_WHOLE
    return replace(verdict, keep=keep, keep_runs=keep_runs, reason=reason, run_reason=run_reason)


def headed(
    blocks: Blocks,
    evidence: PageEvidence,
    probability: NDArray[np.float64],
    repeated: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probabilities, with a heading as probable as the block that follows it: content keeps its headings.

    A heading that half of the site's pages have (`repeated`) is excepted: it belongs to a box.
    """
    tree = blocks.tree
    around = nearest(tree.parent, _HEADINGS[np.minimum(tree.tag, CUSTOM_TAG)])
    heads = around[blocks.owner[evidence.said]] >= 0
    if repeated is not None:
        heads = heads & ~repeated
    raised = probability.copy()
    raised[:-1] = np.where(heads[:-1], np.maximum(probability[:-1], probability[1:]), probability[:-1])
    return raised
