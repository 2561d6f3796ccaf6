"""`TagTree`, the markup tag tree (DocView 3.1): a page's containers, what is attached to each, and its type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import word_spans
from webwinnow.docview._view import attached, block_types, containers
from webwinnow.docview._view import shown_images as _shown_images
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, HIDDEN, TAG_CODE
from webwinnow.pagetree import PageTree

CONTAINER_TAGS: frozenset[str] = frozenset(
    "#root body table caption thead tbody tfoot tr td th p div center blockquote pre ul ol li dir menu dl dt dd form "
    "fieldset address h1 h2 h3 h4 h5 h6".split()
)
"""The containers of 2003 (DocView 3.1), with BODY and the virtual root, which cannot be avoided.

A departure: headings are blocks too, besides being weighty. Algorithm 1 lets force go out from leaves alone; a heading
mostly stands directly in a container that is none, and its force would be lost.
"""
MODERN_CONTAINER_TAGS: frozenset[str] = frozenset(
    "main article section header footer nav aside figure figcaption details summary dialog search hgroup".split()
)
"""Containers that HTML 5 added."""

FORCE: dict[str, float] = {
    "h1": 4.0,
    "h2": 3.0,
    "h3": 2.5,
    "h4": 2.0,
    "h5": 1.5,
    "h6": 1.5,
    "b": 1.5,
    "strong": 1.5,
    "big": 1.5,
    "mark": 1.5,
    "i": 1.2,
    "em": 1.2,
    "u": 1.2,
    "dfn": 1.2,
    "blink": 1.2,
    "font": 1.1,
}
"""The force of each weighty tag (DocView 3.2). Ours: headings by rank, then bold, slanted; FONT may only colour."""

MARGINAL_TAGS: frozenset[str] = frozenset("header footer nav aside menu form dialog search address".split())
"""Containers that stand around the central area of a page (DocView 4.1), by what HTML 5 says of them."""
MARGINAL_ROLES: frozenset[str] = frozenset(
    "banner navigation contentinfo complementary search menu menubar dialog".split()
)
"""ARIA roles that say the same."""

GUIDING_TAGS: frozenset[str] = MARGINAL_TAGS - {"aside", "address"}
GUIDING_ROLES: frozenset[str] = MARGINAL_ROLES - {"complementary"}
"""Those of them whose links lead through the site; what stands beside the content may be about the same."""


def tag_mask(tags: frozenset[str]) -> NDArray[np.bool_]:
    """Whether a tag is one of these, by its code; the last place stands for tags without a code."""
    mask = np.zeros(CUSTOM_TAG + 1, np.bool_)
    mask[[TAG_CODE[tag] for tag in tags]] = True
    return mask


CONTAINER_CODES = tag_mask(CONTAINER_TAGS | MODERN_CONTAINER_TAGS)
"""Which nodes are content blocks, by the code of their tag."""
FORCE_CODES = np.zeros(CUSTOM_TAG + 1)
"""The force of a tag by its code; 0 for one that is not weighty."""
for _tag, _force in FORCE.items():
    FORCE_CODES[TAG_CODE[_tag]] = _force


TYPES: tuple[str, ...] = ("topic", "hub", "image")
TOPIC, HUB, IMAGE = range(3)
HUB_SHARE = 0.5
"""A block with a larger share of its terms in anchor text is a hub (3.1 names no value; ours: more links than not)."""
IMAGE_SHARE = 0.1
"""A block with more images than this share of its terms is an image block (3.1 names no value; ours: a picture with a
caption of up to nine words)."""
SMALLEST_IMAGE = 48
"""Images whose page says that they are narrower or lower, in pixels, are icons and do not count (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TagTree:
    """A page's content blocks in page order, as parallel arrays; block 0 is the virtual root.

    `node[b]` is the container, `parent[b]` the block around it (-1 for none); the blocks inside are `b + 1:end[b]`.
    Text, links and images belong to the nearest container: `of_node`, `of_run` and `block_of_word` say which. Word w
    of the page has the hash `word_key[w]`, stands at `word_start[w]:word_end[w]` of the tree's text and belongs to run
    `word_run[w]`. The counts of a block are of what is attached to it, without what belongs to the blocks inside.
    """

    tree: PageTree
    node: NDArray[np.int32]
    parent: NDArray[np.int32]
    of_node: NDArray[np.int32]
    of_run: NDArray[np.int32]
    end: NDArray[np.int64]
    in_link: NDArray[np.int32]
    """For each node the link that it stands in; -1 for none."""
    word_key: NDArray[np.uint64]
    word_run: NDArray[np.int32]
    word_start: NDArray[np.int32]
    word_end: NDArray[np.int32]
    block_of_word: NDArray[np.int32]
    terms: NDArray[np.int64]
    link_terms: NDArray[np.int64]
    images: NDArray[np.int64]
    type: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.node)

    @classmethod
    def of(cls, tree: PageTree, shown: NDArray[np.bool_] | None = None) -> TagTree:
        """The tag tree of a page; `shown` are the runs whose words count, by default the visible ones."""
        if shown is None:
            shown = tree.visible[tree.run_owner]
        node, parent, of_node, of_run, last, in_link = containers(
            tree.tag, tree.parent, tree.end, tree.run_owner, CONTAINER_CODES, TAG_CODE["a"]
        )
        key, run, start, end = word_spans(tree.text, tree.run_start, shown)
        of_word, terms, link_terms = attached(run, of_run, in_link, tree.run_owner, len(node))
        images = np.bincount(of_node[shown_images(tree)], minlength=len(node))
        return cls(
            tree=tree,
            node=node,
            parent=parent,
            of_node=of_node,
            of_run=of_run,
            end=last,
            in_link=in_link,
            word_key=key,
            word_run=run,
            word_start=start,
            word_end=end,
            block_of_word=of_word,
            terms=terms,
            link_terms=link_terms,
            images=images,
            type=block_types(terms, link_terms, images, HUB_SHARE, IMAGE_SHARE, TOPIC, HUB, IMAGE),  # 3.1
        )

    @property
    def leaf(self) -> NDArray[np.bool_]:
        """The blocks that hold no other."""
        leaves = np.ones(len(self), np.bool_)
        leaves[self.parent[1:]] = False
        return leaves

    def around(self, block: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Some blocks and all that stand around one of them."""
        held = np.concatenate(([0], np.cumsum(np.bincount(block, minlength=len(self)))))
        found: NDArray[np.bool_] = held[self.end] > held[:-1]
        return found


def shown_images(tree: PageTree) -> NDArray[np.int64]:
    """The visible images of a page that are no icons."""
    return _shown_images(
        tree.tag,
        tree.flags,
        HIDDEN,
        TAG_CODE["img"],
        tree.attr_node,
        tree.attr_name,
        tree.attr_start,
        tree.attr_text,
        ATTRIBUTE_CODE["width"],
        ATTRIBUTE_CODE["height"],
        SMALLEST_IMAGE,
    )
