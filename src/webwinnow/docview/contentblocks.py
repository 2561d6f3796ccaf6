"""`TagTree`, the markup tag tree (DocView 3.1): a page's containers, what is attached to each, and its type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from webwinnow._words import name_hash, word_spans
from webwinnow.cleaning.verdict import (
    CENTRAL_REASON,
    HUB_BLOCK_REASON,
    IMAGE_BLOCK_REASON,
    MARGINAL_REASON,
    TOPIC_BLOCK_REASON,
    Verdict,
    keep_by_reason,
)
from webwinnow.docview._view import (
    attached,
    block_types,
    blocks_around,
    containers,
    feature_sums,
    inside_marked,
    leading_words,
    linked_headings,
    shared_force,
    tag_forces,
)
from webwinnow.docview._view import shown_images as _shown_images
from webwinnow.errors import SettingsError
from webwinnow.markup import ATTRIBUTE_CODE, CUSTOM_TAG, HIDDEN, TAG_CODE
from webwinnow.pagetree import PageTree
from webwinnow.words import stop_words

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


MOST_EMPHASISED = 0.7
"""A block of which weighty tags hold a larger share emphasises nothing (ours); headings are meant to."""
SHORT_BLOCK = 12
"""Unless it has no more than so many terms: a line in bold is a heading in all but name (ours)."""
_HEADING_FORCE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightSettings:
    """How force is handed on.

    - `passed_on`: a leaf of force f multiplies the weights of its parent and siblings by `f ** passed_on`. Algorithm 1
      calls this `pforce` and does not define it; ours.
    - `most`: force, and the product of what a block is handed, go no higher (ours: a list of 200 items in bold would
      weigh 10^30 times the rest). `inf` for Algorithm 1 as published.
    """

    passed_on: float = 0.5
    most: float = 8.0

    def __post_init__(self) -> None:
        if not 0 <= self.passed_on <= 1:
            raise SettingsError(f"passed_on is {self.passed_on}: expected 0 to 1")
        if not self.most >= 1:
            raise SettingsError(f"most is {self.most}: expected 1 or more")


def block_force(blocks: TagTree, wanted: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The force of each block (Algorithm 1, lines 4 to 9): the sum over its weighty tags, 1 where it has none.

    Only tags with a word among `wanted` count, and none with pseudo-weighty information (3.2 filters it and does not
    say how; ours): what stands in a hub or an image block, and emphasis of nearly all of a long block.
    """
    tree = blocks.tree
    return tag_forces(
        tree.tag,
        tree.text_start,
        tree.text_end,
        blocks.of_node,
        FORCE_CODES,
        blocks.word_start,
        blocks.block_of_word,
        wanted,
        blocks.type,
        TOPIC,
        MOST_EMPHASISED,
        SHORT_BLOCK,
        _HEADING_FORCE,
    )


def block_weights(
    parent: NDArray[np.int32],
    force: NDArray[np.float64],
    inside: NDArray[np.bool_],
    settings: WeightSettings | None = None,
) -> NDArray[np.float64]:
    """The weight of each block (Algorithm 1): leaves take their force and hand some on to parent and siblings.

    `parent[b] < b` is the block around block b, -1 for none; `inside` are the blocks of the tree, with all that stand
    around one of them. The others have no part and weigh 0.
    """
    settings = settings or WeightSettings()
    own = np.log(np.minimum(np.maximum(force, 1.0), settings.most))
    weight: NDArray[np.float64] = np.exp(
        shared_force(parent, own, inside, settings.passed_on, float(np.log(settings.most)))
    )
    return weight


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVector:
    """The features of a page by ascending `key` (hashes of words), their weights, and where each occurs first."""

    key: NDArray[np.uint64]
    weight: NDArray[np.float64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def weight_of(self, keys: NDArray[np.uint64]) -> NDArray[np.float64]:
        """The weights of some features; 0 for those that the page has not."""
        if not len(self.key):
            return np.zeros(len(keys))
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.weight[at], 0.0)


def feature_vector(
    blocks: TagTree, wanted: NDArray[np.bool_], language: str, settings: WeightSettings | None = None
) -> FeatureVector:
    """The weight of each feature among the wanted words (equation 2): `sum of BWeight_j BTf_ij`, of length 1.

    BWeight is that of Algorithm 1 over the blocks that hold a wanted word; stop words are no features.
    """
    inside = blocks_around(blocks.block_of_word, wanted, blocks.end)
    weight = block_weights(blocks.parent, block_force(blocks, wanted), inside, settings)
    keys, total, first = feature_sums(blocks.word_key, blocks.block_of_word, wanted, weight, stop_keys(language))
    length = float(np.sqrt(np.square(total).sum()))
    return FeatureVector(keys, total / length if length else total, first)


@cache
def stop_keys(language: str) -> NDArray[np.uint64]:
    """The hashes of the stop words of a language, ascending."""
    pieces = {piece for word in stop_words(language) for piece in word.split("'")}
    return np.sort(np.array([name_hash(piece) for piece in pieces], np.uint64))


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
