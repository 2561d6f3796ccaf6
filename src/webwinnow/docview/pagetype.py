"""The type of a page (DocView 4.1): topic, hub or image, from what its central area holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from webwinnow.cleaning.verdict import (
    CENTRAL_REASON,
    HUB_BLOCK_REASON,
    IMAGE_BLOCK_REASON,
    MARGINAL_REASON,
    TOPIC_BLOCK_REASON,
    Verdict,
    keep_by_reason,
)
from webwinnow.docview._view import inside_marked, leading_words, linked_headings
from webwinnow.docview.tagtree import (
    GUIDING_ROLES,
    GUIDING_TAGS,
    HUB,
    IMAGE,
    MARGINAL_ROLES,
    MARGINAL_TAGS,
    TOPIC,
    TagTree,
    shown_images,
    tag_mask,
)
from webwinnow.docview.weights import block_force, block_weights
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, TAG_CODE
from webwinnow.pagetree import PageTree

PAGE_HUB_SHARE = 0.5
"""A page with a larger share of its central terms in hub blocks is a hub (4.1 names no value; ours: more than half)."""
PAGE_IMAGE_SHARE, IMAGE_PAGE_TERMS = 0.2, 60
"""A page with more central images than this share of its central terms is an image page (4.1 names no value; ours: a
picture for every five terms), unless it has so many terms that they say something themselves."""
CENTRAL_SHARE = 0.6
"""The central area is looked for inside a block as long as one block in it has so much of its weight (ours)."""
LINK_COUNTS = 0.5
"""Weight of a term in anchor text there, against 1: what surrounds the central area is mostly links (4.1)."""
IMAGE_COUNTS = 10.0
"""Weight of an image there: the terms of the longest caption (`IMAGE_SHARE`)."""
LINKED_HEADING = 0.8
"""A heading with a larger share of its terms in a link to elsewhere announces what stands there (ours)."""
TEASER_TERMS = 120
"""Terms under such a heading that count as its teaser; whoever says more says it here (ours)."""

_MARGINAL, _GUIDING = tag_mask(MARGINAL_TAGS), tag_mask(GUIDING_TAGS)
_LEVEL = np.zeros(CUSTOM_TAG + 1, np.uint8)
for _level in range(1, 7):
    _LEVEL[TAG_CODE[f"h{_level}"]] = _level


def may_be_images(images: int, terms: int) -> bool:
    """Whether an area of so many images and terms shows pictures rather than says something."""
    return images > PAGE_IMAGE_SHARE * terms and terms <= IMAGE_PAGE_TERMS


def page_type(blocks: TagTree, central: NDArray[np.bool_], images: int, *, thread: bool = False) -> int:
    """`TOPIC`, `HUB` or `IMAGE`, from the words of the central area and the number of its images.

    A departure from 4.1: teasers count with the hub blocks (see `teasers`), and images are asked first, since what few
    words a gallery has are mostly links. On a page that is known to be a `thread` of posts, headings that link
    elsewhere name who writes, and there are no teasers.
    """
    announced = [] if thread else _teasers(blocks, central)
    terms, leading = leading_words(blocks.type, HUB, blocks.block_of_word, central, announced)
    if may_be_images(images, terms):
        return IMAGE
    return HUB if leading > PAGE_HUB_SHARE * terms else TOPIC


def central_blocks(blocks: TagTree) -> NDArray[np.bool_]:
    """The blocks of the central area, found by the page's structure alone.

    The paper finds it "by the attributes of the content blocks in most cases". Ours: no part that is marked as
    surroundings; of the rest the block that holds most, and most of that, as long as there is such a one.
    """
    tree = blocks.tree
    outer = _inside(tree, _MARGINAL, MARGINAL_ROLES)[blocks.node]
    says = blocks.terms - (1 - LINK_COUNTS) * blocks.link_terms + IMAGE_COUNTS * blocks.images
    weight = np.where(outer, 0.0, says)
    running = np.concatenate(([0.0], np.cumsum(weight)))
    end = blocks.end
    held = running[end] - running[:-1]
    at, found = 0, 0
    while True:
        inside = np.flatnonzero(blocks.parent[at : end[at]] == at) + at
        if not len(inside):
            break
        heaviest = int(inside[np.argmax(held[inside])])
        if held[heaviest] < CENTRAL_SHARE * held[found] or held[heaviest] == 0:
            break
        at = found = heaviest
    inner = np.zeros(len(blocks), np.bool_)
    inner[found : end[found]] = True
    return inner & ~outer


def guiding_nodes(tree: PageTree) -> NDArray[np.bool_]:
    """The nodes in parts that tag or role mark as leading through the site: menus, heads and feet of pages."""
    return _inside(tree, _GUIDING, GUIDING_ROLES)


def _inside(tree: PageTree, tags: NDArray[np.bool_], names: frozenset[str]) -> NDArray[np.bool_]:
    """The nodes in elements that have one of these tags or roles."""
    return inside_marked(
        tree.tag,
        tree.parent,
        tags,
        tree.attr_node,
        tree.attr_name,
        ATTRIBUTE_CODE["role"],
        tree.attr_start,
        tree.attr_text,
        names,
    )


def teasers(blocks: TagTree, central: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The words that stand under a heading which links elsewhere, those of the heading among them.

    Only headings with a word of the central area under them are looked at.

    Lists of today give each entry some sentences: for 4.1 alone they would be topic pages. What stands under a heading
    ends at the next of its rank or above.
    """
    found = np.zeros(len(blocks.word_key), np.bool_)
    for start, end in _teasers(blocks, central):
        found[start:end] = True
    return found


def _teasers(blocks: TagTree, central: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where the words of each teaser begin and end."""
    tree = blocks.tree
    linked = linked_headings(
        tree.tag,
        _LEVEL,
        blocks.node,
        tree.text_start,
        blocks.terms,
        blocks.link_terms,
        blocks.word_start,
        central,
        LINKED_HEADING,
        TEASER_TERMS,
        tree.end,
        blocks.in_link,
        TAG_CODE["a"],
    )
    return [(start, end) for link, start, end in linked if _leads_elsewhere(tree, link)]


def _leads_elsewhere(tree: PageTree, link: int) -> bool:
    """Whether the link of a heading points at another page of the site.

    A heading's link to itself does not; one to another site is a source or an offer, and what is told of it stands
    here.
    """
    href = (tree.attribute(link, "href") or "").partition("#")[0] if link >= 0 else ""
    target = tree.resolve(href) if href else None
    if target is None or target in (tree.url.partition("#")[0], tree.head.canonical):
        return False
    return bool(target) and _host(target) == _host(tree.url)


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0].removeprefix("www.").lower()


METHOD = "docview"


def clean(tree: PageTree) -> Verdict:
    """Method `docview` (4.2): keep the topic blocks of a topic page, the central area of a hub, and the images of an
    image page with their text.

    What is kept stays in its place, so two pages of one template give two topic content pages of one template.
    """
    blocks = TagTree.of(tree)
    central = central_blocks(blocks)
    found = page_type(blocks, central[blocks.block_of_word], int(blocks.images[central].sum()))
    if found == TOPIC:
        reasons = np.array([TOPIC_BLOCK_REASON, HUB_BLOCK_REASON, IMAGE_BLOCK_REASON])[blocks.type]
        kept, removed, images = TOPIC_BLOCK_REASON, HUB_BLOCK_REASON, None
    else:
        keep = central if found == HUB else _around_images(blocks, central)
        reasons = np.where(keep, CENTRAL_REASON, MARGINAL_REASON)
        kept, removed = CENTRAL_REASON, MARGINAL_REASON
        images = _and_above(tree, shown_images(tree), keep[blocks.of_node]) if found == IMAGE else None
    none = np.zeros(0, np.float32)
    verdict = keep_by_reason(tree, METHOD, reasons[blocks.of_run], (kept,), removed, none, add=images)
    kept_words = verdict.keep_runs[blocks.word_run]
    inside = blocks.around(blocks.block_of_word[kept_words])
    weight = block_weights(blocks.parent, block_force(blocks, kept_words), inside)
    return replace(verdict, score=verdict.keep.astype(np.float32), weight=weight[blocks.of_node].astype(np.float32))


def _around_images(blocks: TagTree, central: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The central blocks with images, and the text around each: blocks with the same parent, and in or below them."""
    pictured = np.flatnonzero(central & (blocks.images > 0))
    near = np.zeros(len(blocks), np.bool_)
    near[pictured] = True
    near[blocks.parent[pictured[blocks.parent[pictured] >= 0]]] = True
    beside = near | np.append(False, near[blocks.parent[1:]])
    found: NDArray[np.bool_] = central & (near | (beside & (blocks.type != HUB)))
    return found


def _and_above(tree: PageTree, nodes: NDArray[np.int64], allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Some of the allowed nodes and all that stand around them."""
    counts = np.zeros(len(tree) + 1, np.int64)
    counts[nodes[allowed[nodes]] + 1] = 1
    running = np.cumsum(counts)
    found: NDArray[np.bool_] = running[tree.end] > running[: len(tree)]
    return found
