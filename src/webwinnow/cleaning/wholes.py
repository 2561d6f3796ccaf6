"""Wholes: tables, records, lists and sections are kept or removed together (thesis 6.1b, the logical segmentation).

Everything is a probability of the blocks with text, so that one cut decides: `pooled` gives the blocks of a whole the
probability of the whole, before the cut of the page is chosen. `completed` gives the parts that others depend on (the
heading of a section, the label of a value, the header of a table) the highest probability among those, after the cut is
chosen, so that they stay exactly where something of theirs stays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from webwinnow._nodes import nearest
from webwinnow._sections import raised
from webwinnow._structures import pool_lists, pool_tables
from webwinnow.blocks import Blocks
from webwinnow.markup import CUSTOM_TAG, TAG_CODE
from webwinnow.pagemodel import PageContext, PageEvidence
from webwinnow.site.blocktable import LABEL_EXCUSES, LABELLED_SURE, SiteEvidence
from webwinnow.structures import CLOSE, COLON, NO_LINK, pair_bits

_HEADINGS = np.zeros(CUSTOM_TAG + 1, np.bool_)
_HEADINGS[[TAG_CODE[f"h{level}"] for level in range(1, 7)]] = True
HIDDEN_ABOVE = 0.5
"""Hidden text is kept only above this probability, wherever the cut of the page is."""
SAID_OFTEN = 0.5
"""A text on at least this share of the site's pages belongs to the site, and not to the page."""
BELOW_HEADLINE = 0.8
"""The share of the page's content that is below its headline, at least."""

LOWER = 2.0
"""Log odds below its table or list at which a row, a column or an item is foreign to it, and judged alone."""
FEW = 0.25
"""A table or list is the site's if the share of its parts that the site does not repeat is lower than this."""
PLAIN, SHORT_ITEM, NO_LINKS = 1.0, 15.0, 0.1
"""Log odds that a list gains if its items have at most so many words on average, and at most this share of it is links:
the page model judges each item alone, and too low. Such lists of 200 pages each of dragnet, cleaneval and L3S were
content 1.0 to 1.5 log odds more often than the mean of their items says."""
LABEL_SHARE = 0.3
"""The share of the site's pages that have a label, at least; not every page has every field."""


def pooled(
    page: PageContext, probability: NDArray[np.float64], asked: SiteEvidence | None = None
) -> NDArray[np.float64]:
    """The probability of each block, with that of its whole where the whole is one decision."""
    structures, owner = page.structures, page.blocks.owner[page.evidence.said]
    counted = np.ones(len(probability), np.bool_)
    if asked is not None:
        counted = asked.share * (1 - LABEL_EXCUSES * asked.labelled) < SAID_OFTEN
    table, listed = structures.table_of[owner], structures.list_of[owner]
    if structures.tables.shape[1]:
        weight = np.ones(len(probability))
        probability = pool_tables(
            structures.cell_of[owner],
            table,
            structures.tables,
            structures.cells,
            probability,
            weight,
            counted,
            LOWER,
            FEW,
        )
    if structures.lists.shape[1]:
        probability = pool_lists(
            np.where(table >= 0, -1, listed),
            structures.item_of[owner],
            structures.lists,
            probability,
            np.maximum(page.evidence.words, 1).astype(np.float64),
            counted,
            page.sections.level > 0,
            LOWER,
            FEW,
            PLAIN,
            SHORT_ITEM,
            NO_LINKS,
        )
    return probability


def labels(page: PageContext, asked: SiteEvidence | None = None) -> NDArray[np.bool_]:
    """Which blocks are the label of the block that follows.

    A label is short and close to its value, and ends with a colon; or the site repeats it, and what follows differs.
    Those in tables are cells of their rows, and are left out.
    """
    said = page.evidence.said
    found = pair_bits(page.blocks, said)
    label = (found & (CLOSE | COLON)) == CLOSE | COLON
    if asked is not None:
        sure = (found & (CLOSE | NO_LINK)) == CLOSE | NO_LINK
        sure[:-1] &= (asked.share[:-1] >= LABEL_SHARE) & (asked.labelled[1:] >= LABELLED_SURE)
        label |= sure
    label &= page.structures.table_of[page.blocks.owner[said]] < 0
    return label


def completed(
    page: PageContext,
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


def sectioned(
    page: PageContext, probability: NDArray[np.float64], asked: SiteEvidence | None = None
) -> NDArray[np.float64]:
    """The probabilities, with those of headings, introductions, code and captions from what they belong to."""
    if not len(probability):
        return probability
    found = page.sections
    tree, blocks, said = page.tree, page.blocks, page.evidence.said
    shown = tree.visible[tree.run_owner[blocks.first_run[said]]]
    columns = found.level, found.heading, found.end, found.code, found.figure
    whole = raised(*columns, shown, page.evidence.words, probability, HIDDEN_ABOVE)
    top = headline(page, probability, asked)
    if top is not None:
        lines = found.lines(top)
        text = (found.level == 0) & (shown | (whole >= HIDDEN_ABOVE))
        whole[lines] = whole[text].max(initial=0.0)
        above = found.heading[top]
        while above >= 0:  # the name of the site, or of a part of it
            whole[above] = probability[above]
            above = found.heading[above]
        same = np.flatnonzero(page.evidence.text[:top] == page.evidence.text[top])
        whole[same] = 0.0
    return whole


def headline(page: PageContext, probability: NDArray[np.float64], asked: SiteEvidence | None = None) -> int | None:
    """The first block of the page's headline: of the best candidates the last that most of the content is below."""
    content = np.cumsum(probability * page.evidence.words)
    lowest = BELOW_HEADLINE * content[-1]
    for candidates in page.headlines:
        good = [
            k
            for k in candidates
            if content[-1] - content[k] >= lowest and (asked is None or asked.share[k] < SAID_OFTEN)
        ]
        if good:
            return good[-1]
    return None


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
