"""Content blocks (DocView 3 and 4): the markup tag tree, the weight of its blocks and features, the type of the page.

Method `docview` cleans a page by its type, from the page alone, as its authors describe it.

The paper names TABLE, TR, TD, P and DIV "and so on" as containers, B, I, STRONG and H1 as weighty; the other tags of
2003 and those of HTML 5 are added here. Its thresholds and forces are in `docview.settings`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from webwinnow.judge.verdict import Reason, Verdict, keep_by_reason
from webwinnow.methods import _view
from webwinnow.methods.registry import Method
from webwinnow.methods.viewsettings import DOCVIEW, OURS, ViewSettings, filled, forces
from webwinnow.page._words import word_spans
from webwinnow.page.markup import ATTRIBUTE_CODE, CUSTOM_TAG, HIDDEN, TAG_CODE
from webwinnow.page.page import Page
from webwinnow.page.tree import PageTree, Words
from webwinnow.page.words import stop_list_of
from webwinnow.site.learned import LearnedSite

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]

CONTAINER_TAGS: frozenset[str] = frozenset(
    "#root body table caption thead tbody tfoot tr td th p div center blockquote pre ul ol li dir menu dl dt dd form "
    "fieldset address".split()
)
"""The containers of 2003 (DocView 3.1), with BODY and the virtual root."""
HEADING_TAGS: frozenset[str] = frozenset(f"h{level}" for level in range(1, 7))
"""A departure (setting `headings`): headings are blocks too, besides being weighty. Algorithm 1 passes force on from
leaves alone; the parent of a heading is mostly no leaf, and the force of the heading would be lost."""
MODERN_CONTAINER_TAGS: frozenset[str] = frozenset(
    "main article section header footer nav aside figure figcaption details summary dialog search hgroup".split()
)
"""Containers that HTML 5 added."""

MARGINAL_TAGS: frozenset[str] = frozenset("header footer nav aside menu form dialog search address".split())
MARGINAL_ROLES: frozenset[str] = frozenset(
    "banner navigation contentinfo complementary search menu menubar dialog".split()
)
"""Containers around the central area of a page (DocView 4.1), by their meaning in HTML 5 and ARIA."""

GUIDING_TAGS: frozenset[str] = MARGINAL_TAGS - {"aside", "address"}
GUIDING_ROLES: frozenset[str] = MARGINAL_ROLES - {"complementary"}
"""Those whose links lead through the site; what is beside the content may be about the same topic."""


def tag_mask(tags: frozenset[str]) -> Mask:
    """For each tag code whether it is one of these; the last entry is for tags without a code."""
    mask = np.zeros(CUSTOM_TAG + 1, np.bool_)
    mask[[TAG_CODE[tag] for tag in tags]] = True
    return mask


CONTAINER_CODES = tag_mask(CONTAINER_TAGS | MODERN_CONTAINER_TAGS)
"""Which nodes are content blocks, by the code of their tag."""
_WITH_HEADINGS = tag_mask(CONTAINER_TAGS | MODERN_CONTAINER_TAGS | HEADING_TAGS)
_MARGINAL, _GUIDING = tag_mask(MARGINAL_TAGS), tag_mask(GUIDING_TAGS)
_LEVEL = np.zeros(CUSTOM_TAG + 1, np.uint8)
_LEVEL[[TAG_CODE[f"h{level}"] for level in range(1, 7)]] = range(1, 7)

TYPES: tuple[str, ...] = ("topic", "hub", "image")
TOPIC, HUB, IMAGE = range(3)
SMALLEST_IMAGE = 48
"""Images declared narrower or lower, in pixels, are icons and do not count (ours)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TagTree:
    """The markup tag tree (DocView 3.1): a page's content blocks in page order; block 0 is the virtual root.

    `node[b]` is the container, `parent[b]` the block around it (-1 for none); the blocks inside are `b + 1:end[b]`.
    Text, links and images belong to the nearest container: `of_node`, `of_run` and `block_of_word`; `in_link` is the
    link around each node, or -1. Word w of the page has the hash `word_key[w]`, is `word_start[w]:word_end[w]` of the
    tree's text and in run `word_run[w]`. The counts of a block exclude the blocks inside.
    """

    tree: PageTree
    node: NDArray[np.int32]
    parent: NDArray[np.int32]
    of_node: NDArray[np.int32]
    of_run: NDArray[np.int32]
    end: NDArray[np.int64]
    in_link: NDArray[np.int32]
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
    def of(cls, tree: PageTree, shown: Mask | None = None, settings: ViewSettings = OURS) -> TagTree:
        """The tag tree of a page; `shown` are the runs whose words count, by default the visible ones."""
        if shown is None or bool((shown == tree.visible_runs).all()):
            words = tree.words
        else:
            words = Words(*word_spans(tree.text, tree.run_start, shown & tree.written_runs))
        holds = _WITH_HEADINGS if settings.headings else CONTAINER_CODES
        node, parent, of_node, of_run, last, in_link = _view.containers(
            tree.tag, tree.parent, tree.end, tree.run_owner, holds, TAG_CODE["a"]
        )
        of_word, terms, link_terms = _view.attached(words.run, of_run, in_link, tree.run_owner, len(node))
        images = np.bincount(of_node[shown_images(tree)], minlength=len(node))
        shares = settings.hub_share, settings.image_share
        return cls(
            tree=tree,
            node=node,
            parent=parent,
            of_node=of_node,
            of_run=of_run,
            end=last,
            in_link=in_link,
            word_key=words.key,
            word_run=words.run,
            word_start=words.start,
            word_end=words.end,
            block_of_word=of_word,
            terms=terms,
            link_terms=link_terms,
            images=images,
            type=_view.block_types(terms, link_terms, images, *shares, TOPIC, HUB, IMAGE),  # 3.1
        )

    @property
    def leaf(self) -> Mask:
        """The blocks without blocks inside."""
        leaves = np.ones(len(self), np.bool_)
        leaves[self.parent[1:]] = False
        return leaves

    def around(self, block: NDArray[np.int32]) -> Mask:
        """Some blocks and all blocks around one of them."""
        held = np.concatenate(([0], np.cumsum(np.bincount(block, minlength=len(self)))))
        found: Mask = held[self.end] > held[:-1]
        return found


def shown_images(tree: PageTree) -> NDArray[np.int64]:
    """The visible images of a page that are no icons."""
    sizes = ATTRIBUTE_CODE["width"], ATTRIBUTE_CODE["height"], SMALLEST_IMAGE
    attributes = tree.attr_node, tree.attr_name, tree.attr_start, tree.attr_text
    return _view.shown_images(tree.tag, tree.flags, HIDDEN, TAG_CODE["img"], *attributes, *sizes)


# How much a block weighs, and how much a feature (3.2: force, Algorithm 1, equation 2)

MOST_EMPHASISED = 0.7
"""A block with a larger share of its text in weighty tags emphasises nothing (ours), except headings."""
SHORT_BLOCK = 12
"""Unless it has no more terms than this: a line in bold is a heading in all but name (ours)."""
_HEADING_FORCE = 2.0


@cache
def force_codes(changes: str) -> Floats:
    """The force of a tag by its code, 0 for one that is not weighty; `changes` as in `ViewSettings.force`."""
    found = forces(changes)
    codes = np.zeros(CUSTOM_TAG + 1)
    codes[[TAG_CODE[tag] for tag in found]] = list(found.values())
    return codes


def block_force(blocks: TagTree, wanted: Mask, settings: ViewSettings = OURS) -> Floats:
    """The force of each block (Algorithm 1, lines 4 to 9): the sum over its weighty tags, 1 where it has none.

    Only tags with a word among `wanted` count, and none with pseudo-weighty information (3.2 filters it without saying
    how; ours): tags in a hub or an image block, and emphasis of nearly all of a long block.
    """
    tree = blocks.tree
    words = blocks.word_start, blocks.block_of_word, wanted
    nodes = tree.tag, tree.text_start, tree.text_end, blocks.of_node
    rules = MOST_EMPHASISED, SHORT_BLOCK, _HEADING_FORCE
    return _view.tag_forces(*nodes, force_codes(settings.force), *words, blocks.type, TOPIC, *rules)


def block_weights(parent: NDArray[np.int32], force: Floats, inside: Mask, settings: ViewSettings = OURS) -> Floats:
    """The weight of each block (Algorithm 1): leaves take their force and pass some on to parent and siblings.

    `parent[b] < b` is the block around block b, -1 for none; `inside` are the blocks of the tree, with all around
    one of them. The others weigh 0. `pforce`, which the paper does not define, is `force ** passed_on`. Its claim that
    forces follow from weights excludes 1 for that power. A list of 200 items in bold would weigh 10^17 times the rest,
    so our own records limit force and what is received to `most`.
    """
    own = np.log(np.minimum(np.maximum(force, 1.0), settings.most))
    logs = _view.shared_force(parent, own, inside, settings.passed_on, float(np.log(settings.most)))
    highest = float(logs.max(initial=0.0))
    weight: Floats = np.exp(logs if highest <= MOST_LOG else logs - (highest - MOST_LOG))
    return weight


MOST_LOG = 80.0
"""Natural logarithm of the highest weight of a block; beyond it all weights of the page are scaled down."""


@dataclass(frozen=True, slots=True, eq=False)
class FeatureVector:
    """The features of a page by ascending `key` (hashes of words), their weights, and the first word of each."""

    key: NDArray[np.uint64]
    weight: Floats
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)

    def weight_of(self, keys: NDArray[np.uint64]) -> Floats:
        """The weights of some features; 0 for those that the page does not have."""
        if not len(self.key):
            return np.zeros(len(keys))
        at = np.minimum(np.searchsorted(self.key, keys), len(self.key) - 1)
        return np.where(self.key[at] == keys, self.weight[at], 0.0)


def feature_vector(blocks: TagTree, wanted: Mask, language: str, settings: ViewSettings = OURS) -> FeatureVector:
    """The weight of each feature among the wanted words (equation 2): `sum of BWeight_j BTf_ij`, of length 1.

    BWeight is that of Algorithm 1 over the blocks with a wanted word; stop words are no features.
    """
    inside = _view.blocks_around(blocks.block_of_word, wanted, blocks.end)
    weight = block_weights(blocks.parent, block_force(blocks, wanted, settings), inside, settings)
    stops = stop_list_of(settings.stop_words).keys(language)
    keys, total, first = _view.feature_sums(blocks.word_key, blocks.block_of_word, wanted, weight, stops)
    length = float(np.sqrt(np.square(total).sum()))
    return FeatureVector(keys, total / length if length else total, first)


# The type of a page (4.1): topic, hub or image, from its central area

CENTRAL_SHARE = 0.6
"""The search for the central area goes on inside a block while one block in it has this share of its weight (ours)."""
LINK_COUNTS = 0.5
"""Weight of a term in anchor text there, against 1: what surrounds the central area is mostly links (4.1)."""
IMAGE_COUNTS = 10.0
"""Weight of an image there: the terms of the longest caption (setting `image_share`)."""
LINKED_HEADING = 0.8
"""A heading with a larger share of its terms in a link to another page announces that page (ours)."""
TEASER_TERMS = 120
"""Terms under such a heading that count as its teaser; longer text is content (ours)."""


def may_be_images(images: int, terms: int, settings: ViewSettings = OURS) -> bool:
    """Whether an area with these numbers of images and terms mainly shows pictures.

    4.1 applies "the same rule" as for hubs. We take that to be the rule of 3.1 for a block, over the central area.
    """
    return images > settings.page_image_share * terms and terms <= settings.image_terms


def page_type(
    blocks: TagTree, central: Mask, images: int, settings: ViewSettings = OURS, *, thread: bool = False
) -> int:
    """`TOPIC`, `HUB` or `IMAGE`, from the words of the central area and the number of its images.

    As published (4.1), a page is tested for a hub first. By our own settings it is tested for images first, since the
    few words of a gallery are mostly links, and teasers count with the hub blocks (see `teasers`). On a page known to
    be a `thread` of posts, headings that link elsewhere name the author, and there are no teasers.
    """
    announced = _teasers(blocks, central) if settings.teasers and not thread else []
    terms, leading = _view.leading_words(blocks.type, HUB, blocks.block_of_word, central, announced)
    is_hub = leading > settings.page_hub_share * terms
    if may_be_images(images, terms, settings) and not (is_hub and settings.first_test == "hub"):
        return IMAGE
    return HUB if is_hub else TOPIC


def central_blocks(blocks: TagTree) -> Mask:
    """The blocks of the central area, found by the page's structure alone.

    The paper finds it "by the attributes of the content blocks in most cases". Ours: no part that is marked as
    surroundings; of the rest the block with the most weight, and inside it again, as long as one block dominates.
    """
    outer = _inside(blocks.tree, _MARGINAL, MARGINAL_ROLES)[blocks.node]
    says = blocks.terms - (1 - LINK_COUNTS) * blocks.link_terms + IMAGE_COUNTS * blocks.images
    running = np.concatenate(([0.0], np.cumsum(np.where(outer, 0.0, says))))
    end = blocks.end
    held = running[end] - running[:-1]
    at = 0
    while len(inside := np.flatnonzero(blocks.parent[at : end[at]] == at) + at):
        heaviest = int(inside[np.argmax(held[inside])])
        if held[heaviest] < CENTRAL_SHARE * held[at] or held[heaviest] == 0:
            break
        at = heaviest
    inner = np.zeros(len(blocks), np.bool_)
    inner[at : end[at]] = True
    return inner & ~outer


def guiding_nodes(tree: PageTree) -> Mask:
    """The nodes in parts that tag or role mark as leading through the site: menus, page headers and footers."""
    return _inside(tree, _GUIDING, GUIDING_ROLES)


def _inside(tree: PageTree, tags: Mask, roles: frozenset[str]) -> Mask:
    role = ATTRIBUTE_CODE["role"]
    attributes = tree.attr_node, tree.attr_name, role, tree.attr_start, tree.attr_text
    return _view.inside_marked(tree.tag, tree.parent, tags, *attributes, roles)


def teasers(blocks: TagTree, central: Mask) -> Mask:
    """The words under a heading that links elsewhere, and the heading's own.

    Only headings with a word of the central area under them count. Modern lists give each entry some sentences: by 4.1
    alone they would be topic pages. The text under a heading ends at the next heading of its rank or above.
    """
    found = np.zeros(len(blocks.word_key), np.bool_)
    for start, end in _teasers(blocks, central):
        found[start:end] = True
    return found


def _teasers(blocks: TagTree, central: Mask) -> list[tuple[int, int]]:
    tree = blocks.tree
    counts = blocks.terms, blocks.link_terms, blocks.word_start
    rules = LINKED_HEADING, TEASER_TERMS
    linked = _view.linked_headings(
        tree.tag,
        _LEVEL,
        blocks.node,
        tree.text_start,
        *counts,
        central,
        *rules,
        tree.end,
        blocks.in_link,
        TAG_CODE["a"],
    )
    return [(start, end) for link, start, end in linked if _leads_elsewhere(tree, link)]


def _leads_elsewhere(tree: PageTree, link: int) -> bool:
    """Whether the link of a heading points at another page of the site.

    A link to the page itself does not; one to another site is a source or an offer, described on this page.
    """
    href = (tree.attribute(link, "href") or "").partition("#")[0] if link >= 0 else ""
    target = tree.resolve(href) if href else None
    if target is None or target in (tree.url.partition("#")[0], tree.head.canonical):
        return False
    return bool(target) and _host(target) == _host(tree.url)


def _host(url: str) -> str:
    return url.partition("://")[2].partition("/")[0].removeprefix("www.").lower()


# Cleaning by the type of the page (4.2)


def clean(page: Page, _model: LearnedSite | None, settings: ViewSettings) -> Verdict:
    """Method `docview`: keep the topic blocks of a topic page, the central area of a hub, and the images of an image
    page with their text.

    What is kept stays in its place, so two pages of one template give two topic content pages of one template.
    """
    tree, settings = page.tree, filled(settings, DOCVIEW)
    blocks = TagTree.of(tree, None, settings)
    central = central_blocks(blocks)
    found = page_type(blocks, central[blocks.block_of_word], int(blocks.images[central].sum()), settings)
    images = None
    if found == TOPIC:
        kept, removed = Reason.TOPIC_BLOCK, Reason.HUB_BLOCK
        reason = np.array([kept, removed, Reason.IMAGE_BLOCK])[blocks.type]
    else:
        kept, removed = Reason.CENTRAL, Reason.MARGINAL
        keep = central if found == HUB else _around_images(blocks, central)
        reason = np.where(keep, kept, removed)
        if found == IMAGE:
            images = _and_above(tree, shown_images(tree), keep[blocks.of_node])
    none = np.zeros(0, np.float32)
    verdict = keep_by_reason(tree, DOCVIEW, reason[blocks.of_run], (kept,), removed, none, add=images)
    kept_words = verdict.keep_runs[blocks.word_run]
    inside = blocks.around(blocks.block_of_word[kept_words])
    weight = block_weights(blocks.parent, block_force(blocks, kept_words, settings), inside, settings)[blocks.of_node]
    return replace(verdict, score=verdict.keep.astype(np.float32), weight=weight.astype(np.float32))


METHOD = Method(
    "docview",
    "keep blocks by the type of the page (DocView 4.2), judged by the page alone",
    clean,
    settings=ViewSettings,
)


def _around_images(blocks: TagTree, central: Mask) -> Mask:
    """The central blocks with images, and the text around each: blocks with the same parent, and in or below them."""
    pictured = np.flatnonzero(central & (blocks.images > 0))
    near = np.zeros(len(blocks), np.bool_)
    near[pictured] = True
    near[blocks.parent[pictured[blocks.parent[pictured] >= 0]]] = True
    beside = near | np.append(False, near[blocks.parent[1:]])
    found: Mask = central & (near | (beside & (blocks.type != HUB)))
    return found


def _and_above(tree: PageTree, nodes: NDArray[np.int64], allowed: Mask) -> Mask:
    """Those of the nodes that are allowed, and all nodes around them."""
    counts = np.zeros(len(tree) + 1, np.int64)
    counts[nodes[allowed[nodes]] + 1] = 1
    running = np.cumsum(counts)
    found: Mask = running[tree.end] > running[: len(tree)]
    return found
