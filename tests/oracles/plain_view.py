"""The loops of a DocView, in plain Python: the reference for the compiled versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from plain_nodes import nearest

_PIXELS = "px"
_SHORT = 2
"""Number of digits of the size of an icon."""

Mask = NDArray[np.bool_]
Places = NDArray[np.int32]
Keys = NDArray[np.uint64]
Weights = NDArray[np.float64]
Counts = NDArray[np.int64]


def containers(
    tag: NDArray[np.uint16], parent: Places, end: Places, run_owner: Places, holds: Mask, link: int
) -> tuple[Places, Places, Places, Places, Counts, Places]:
    """The blocks of a page: node, parent, block of each node, block of each run, end; and the link around each node.

    `holds` has, for the code of each tag, whether such nodes are blocks; its last entry is for all higher codes. The
    root is a block.
    """
    contains = holds[np.minimum(tag, len(holds) - 1)]
    contains[0] = True
    number = np.cumsum(contains, dtype=np.int32) - np.int32(1)
    of_node = number[nearest(parent, contains)]
    node = np.flatnonzero(contains).astype(np.int32)
    above = of_node[parent[node]]
    above[0] = -1
    last = np.searchsorted(node, end[node]).astype(np.int64)
    return node, above, of_node, of_node[run_owner], last, nearest(parent, tag == link)


def attached(
    word_run: Places, of_run: Places, in_link: Places, run_owner: Places, blocks: int
) -> tuple[Places, Counts, Counts]:
    """The block of each word, and for each block its number of words and of words in links."""
    of_word = of_run[word_run]
    linked = in_link[run_owner[word_run]] >= 0
    return of_word, np.bincount(of_word, minlength=blocks), np.bincount(of_word[linked], minlength=blocks)


def shown_images(
    tag: NDArray[np.uint16],
    flags: NDArray[np.uint8],
    hidden: int,
    image: int,
    attr_node: Places,
    attr_name: NDArray[np.uint8],
    attr_start: Places,
    attr_text: str,
    width: int,
    height: int,
    smallest: int,
) -> Counts:
    """The visible images, without those whose width or height is written as a number of pixels below `smallest`.

    The number has two digits, with or without `px`.
    """
    images = ((flags & hidden) == 0) & (tag == image)
    sized = np.flatnonzero((attr_name == width) | (attr_name == height))
    length = attr_start[sized + 1] - attr_start[sized]
    at = sized[images[attr_node[sized]] & ((length <= _SHORT) | (length == _SHORT + len(_PIXELS)))]
    for k in at.tolist():
        value = attr_text[attr_start[k] : attr_start[k + 1]].strip().removesuffix(_PIXELS)
        if value.isascii() and value.isdigit() and int(value) < smallest:
            images[attr_node[k]] = False
    return np.flatnonzero(images).astype(np.int64)


def block_types(
    terms: Counts,
    link_terms: Counts,
    images: Counts,
    hub_share: float,
    image_share: float,
    topic: int,
    hub: int,
    image: int,
) -> NDArray[np.uint8]:
    """Hub, image or topic by the shares of terms in links and of images, in this order."""
    found = np.where(images > image_share * terms, image, topic)
    return np.where(link_terms > hub_share * terms, hub, found).astype(np.uint8)


def tag_forces(
    tag: NDArray[np.uint16],
    text_start: Places,
    text_end: Places,
    of_node: Places,
    force_of_tag: Weights,
    word_start: Places,
    block_of_word: Places,
    wanted: Mask,
    kind: NDArray[np.uint8],
    topic: int,
    most: float,
    short: int,
    heading: float,
) -> Weights:
    """The force of each block: the sum over its weighty tags that count, 1 where there are none.

    A tag counts if it contains a wanted word in a block of type `topic`, and is a heading (its force is `heading` or
    more) or is not in a block of more than `short` terms of which weighty tags contain more than the share `most`.
    """
    blocks = len(kind)
    force = force_of_tag[np.minimum(tag, len(force_of_tag) - 1)]
    weighty = np.flatnonzero(force)
    force = force[weighty]
    starts = word_start[wanted]
    words = np.searchsorted(starts, text_end[weighty]) - np.searchsorted(starts, text_start[weighty])
    of_tag = of_node[weighty]
    terms = np.bincount(block_of_word[wanted], minlength=blocks)
    emphasised = np.bincount(of_tag, weights=words, minlength=blocks)
    flooded = (emphasised > most * terms) & (terms > short)
    honest = (words > 0) & (kind[of_tag] == topic) & ((force >= heading) | ~flooded[of_tag])
    total = np.bincount(of_tag[honest], weights=force[honest], minlength=blocks)
    return np.where(total > 0, total, 1.0)


def shared_force(parent: Places, force: Weights, inside: Mask, passed_on: float, most: float) -> Weights:
    """The logarithm of each block's weight by Algorithm 1, given those of the forces; minus infinity outside.

    A leaf among the blocks `inside` has its own force, and passes weight to its parent and its siblings. A block
    receives at most `most`.
    """
    leaf = inside.copy()
    held = inside & (parent >= 0)
    leaf[parent[held]] = False
    own = np.where(leaf, force, 0.0)
    handed = passed_on * own
    passed = np.bincount(parent[held], weights=handed[held], minlength=len(parent))  # line 13: weight from children
    among = np.where(parent >= 0, passed[parent], 0.0) - handed  # lines 14 to 16: siblings, not the leaf itself
    return np.where(inside, own + np.minimum(passed + among, most), -np.inf)  # lines 1 to 3 and 12


def blocks_around(block_of_word: Places, wanted: Mask, end: Counts) -> Mask:
    """The blocks that contain a wanted word, and all their ancestors."""
    held = np.concatenate(([0], np.cumsum(np.bincount(block_of_word[wanted], minlength=len(end)))))
    found: Mask = held[end] > held[:-1]
    return found


def feature_sums(
    word_key: Keys, block_of_word: Places, wanted: Mask, weight: Weights, stops: Keys
) -> tuple[Keys, Weights, Counts]:
    """The distinct wanted words without stop words: ascending keys, the sums of their blocks' weights, first places."""
    at = np.flatnonzero(wanted)
    keys, first, inverse = np.unique(word_key[at], return_index=True, return_inverse=True)
    total = np.bincount(inverse, weights=weight[block_of_word[at]], minlength=len(keys)).astype(np.float64)
    content = ~np.isin(keys, stops)
    return keys[content], total[content], at[first[content]].astype(np.int64)


def heaviest(
    text: str,
    weight: Weights,
    first: Counts,
    word_start: Places,
    word_end: Places,
    shortest: int,
    looked_at: int,
    most: int,
) -> NDArray[np.intp]:
    """The features of the most weight, to nine places, heaviest first, then in page order; no more than `most`.

    Those of fewer than `shortest` characters are dropped; then, of the first `looked_at`, numbers.
    """
    order = np.lexsort((first, -np.round(weight, 9)))
    length = word_end[first[order]] - word_start[first[order]]
    order = order[length >= shortest][:looked_at]
    words = [not text[word_start[at] : word_end[at]].isdecimal() for at in first[order].tolist()]
    return order[np.array(words, np.bool_)][:most]


def likely_runs(
    kept: Mask, likely: NDArray[np.float32], run_owner: Places, word_run: Places, least: float, share: float
) -> Mask:
    """The kept runs whose owner has probability `least` or more, if they have `share` of the kept words; else all."""
    sure = kept & (likely[run_owner] >= np.float32(least))
    enough = np.count_nonzero(sure[word_run]) >= share * np.count_nonzero(kept[word_run])
    return sure if enough else kept


def text_units(tag: NDArray[np.uint16], line_break: int, node: Places, run_before: Places, of_run: Places) -> Counts:
    """For each run the number of its unit of text: runs that no block (`node`) and no line break splits."""
    parts = tag == line_break
    parts[node] = True
    opened = np.cumsum(parts)[np.maximum(run_before, 1) - 1]
    changes = (opened[1:] != opened[:-1]) | (of_run[1:] != of_run[:-1])
    return np.concatenate(([0], np.cumsum(changes)))[: len(run_before)].astype(np.int64)


def keyword_units(
    unit: Counts, kept: Mask, word_run: Places, word_key: Keys, keyword: Keys, most: int
) -> NDArray[np.intp]:
    """The kept runs of the units of text with most keywords (ascending): at most `most` units."""
    at = np.flatnonzero(kept[word_run])
    if not len(keyword) or not len(at):
        return np.zeros(0, np.intp)
    hits = np.isin(word_key[at], keyword)
    count = np.bincount(unit[word_run[at[hits]]], minlength=int(unit[-1]) + 1)
    if np.count_nonzero(count) > most:
        count[np.argsort(-count, kind="stable")[most:]] = 0
    return np.flatnonzero(kept & (count > 0)[unit])


def topic_root(parent: Places, leaves: NDArray[np.intp]) -> int:
    """The block that exactly embeds all leaves of the topic content tree: their lowest common ancestor.

    Leaves come in page order; then the first and the last have the same lowest common ancestor as all.
    """
    above, block = set(), int(leaves[0])
    while block >= 0:
        above.add(block)
        block = int(parent[block])
    block = int(leaves[-1])
    while block not in above:
        block = int(parent[block])
    return block


def paragraphs(parent: Places, leaves: NDArray[np.intp]) -> Counts:
    """For each leaf its paragraph: the child of the topic root that contains it, or the root itself."""
    root = topic_root(parent, leaves)
    sons = np.flatnonzero(parent == root)
    at = np.searchsorted(sons, leaves, side="right") - 1
    return np.where(at >= 0, sons[at], root) if len(sons) else np.full(len(leaves), root, np.int64)


def paragraph_sizes(
    block_of_word: Places, word_run: Places, kept: Mask, parent: Places, block: Places
) -> tuple[Counts, Counts]:
    """The number of the paragraph of each of the given blocks, and the kept terms of each paragraph of the page.

    The blocks of kept words are the leaves of the topic content tree; each of the given blocks is one, too.
    """
    if not len(block):
        raise ValueError("expected one block or more")
    terms = np.bincount(block_of_word[kept[word_run]], minlength=len(parent))
    terms[block] = np.maximum(terms[block], 1)
    leaves = np.flatnonzero(terms)
    names, paragraph = np.unique(paragraphs(parent, leaves), return_inverse=True)
    sizes = np.bincount(paragraph, weights=terms[leaves], minlength=len(names)).astype(np.int64)
    return paragraph[np.searchsorted(leaves, block)].astype(np.int64), sizes


def keyword_sums(key: Keys, sentence: Places, sentences: int, keyword: Keys, weight: Weights) -> Weights:
    """The sum of the weights of the keywords (ascending) in each sentence, each counted once.

    Word w of the sentences, in order, has the hash `key[w]` and is in `sentence[w]`.
    """
    if not len(keyword):
        return np.zeros(sentences)
    which = np.minimum(np.searchsorted(keyword, key), len(keyword) - 1)
    hits = keyword[which] == key
    pairs = np.unique(sentence[hits].astype(np.int64) * len(keyword) + which[hits])
    found = np.bincount(pairs // len(keyword), weights=weight[pairs % len(keyword)], minlength=sentences)
    return found.astype(np.float64)


def quotas(sizes: Counts, available: Counts, wanted: int) -> Counts:
    """The number of sentences that each paragraph contributes: by its size, at most as many as it has.

    The paper says "according to the size of each paragraph"; here each sentence goes to the paragraph
    with the most terms per sentence (the d'Hondt rule).
    """
    if int(available.sum()) <= wanted:
        return available.copy()
    turn = np.arange(1, wanted + 1)
    claim = np.where(turn <= available[:, None], sizes[:, None] / turn, -1.0).ravel()
    first = np.argsort(-claim, kind="stable")[:wanted]
    return np.bincount(first // max(wanted, 1), minlength=len(sizes))


def by_quota(weight: Weights, paragraph: Counts, size: Counts, most: int) -> list[int]:
    """The heaviest sentences of each paragraph by its quota, `most` in all, in page order."""
    available = np.bincount(paragraph, minlength=len(size))
    given = quotas(size, available, most)
    order = np.lexsort((np.arange(len(weight)), -weight, paragraph))
    first = np.concatenate(([0], np.cumsum(available)))[paragraph[order]]
    rank = np.arange(len(order)) - first
    found: list[int] = np.sort(order[rank < given[paragraph[order]]]).tolist()
    return found


def linked_headings(
    tag: NDArray[np.uint16],
    level_of_tag: NDArray[np.uint8],
    node: Places,
    text_start: Places,
    terms: Counts,
    link_terms: Counts,
    word_start: Places,
    central: Mask,
    linked: float,
    longest: int,
    node_end: Places,
    in_link: Places,
    link: int,
) -> list[tuple[int, int, int]]:
    """The headings with more than the share `linked` of their terms in links: link, first word, word after the last.

    The link is the first in the heading, or else the link around the heading (`in_link`).

    The part under a heading ends at the next of its rank or above, or after `longest` words. Only headings with a
    word of the central area under them are returned.
    """
    level = level_of_tag[np.minimum(tag[node], len(level_of_tag) - 1)]
    headings = np.flatnonzero((level > 0) & (terms > 0))
    starts = np.searchsorted(word_start, text_start[node[headings]])
    after = np.array(_next_of_rank(level[headings].tolist(), [*starts.tolist(), len(word_start)]), np.int64)
    after = np.minimum(after, starts + longest)
    found = []
    for b, start, end in zip(headings.tolist(), starts.tolist(), after.tolist(), strict=True):
        if link_terms[b] > linked * terms[b] and central[start:end].any():
            links = np.flatnonzero(tag[node[b] : node_end[node[b]]] == link) + node[b]
            found.append((int(links[0] if len(links) else in_link[node[b]]), start, end))
    return found


def _next_of_rank(levels: list[int], starts: list[int]) -> list[int]:
    """Where the part under each heading ends: at the next heading of its rank or above."""
    ends = [starts[-1]] * len(levels)
    open_headings: list[int] = []
    for h, level in enumerate(levels):
        while open_headings and levels[open_headings[-1]] >= level:
            ends[open_headings.pop()] = starts[h]
        open_headings.append(h)
    return ends


def similar_blocks(
    parent: Places,
    kind: NDArray[np.uint8],
    hub: int,
    offered: Mask,
    block_of_word: Places,
    word_key: Keys,
    key: Keys,
    weight: Weights,
    stops: Keys,
    least: float,
    grouped: bool,
) -> Mask:
    """The offered leaves of type `hub` whose terms are similar to a topic (cosine), `grouped` with their siblings'.

    The topic has the features `key`, ascending, of these weights; stop words do not count.
    """
    none = np.zeros(len(parent), np.bool_)
    leaf = np.ones(len(parent), np.bool_)
    leaf[parent[1:]] = False
    unit = np.where(leaf & (kind == hub) & offered, parent if grouped else np.arange(len(parent)), -1)
    at = np.flatnonzero(unit[block_of_word] >= 0)
    if not len(key):
        return none
    of_word, word = unit[block_of_word[at]], word_key[at]
    place = np.minimum(np.searchsorted(key, word), len(key) - 1)
    said = np.where(key[place] == word, weight[place], 0.0)
    dot = np.bincount(of_word, weights=said, minlength=len(parent))
    at = np.flatnonzero((dot[of_word] > least) & ~np.isin(word, stops))  # no length is below 1
    if not len(at):
        return none
    keys, which = np.unique(word[at], return_inverse=True)
    pairs, count = np.unique(of_word[at].astype(np.int64) * len(keys) + which, return_counts=True)
    length = np.sqrt(np.bincount(pairs // len(keys), weights=np.square(count), minlength=len(parent)))
    cosine = np.divide(dot, length, out=np.zeros_like(dot), where=length > 0)  # the topic's own length is 1
    like = (length > 0) & (np.rint(cosine * 1e6) / 1e6 > least)
    found: Mask = (unit >= 0) & like[unit]
    return found


def inside_marked(
    tag: NDArray[np.uint16],
    parent: Places,
    tags: Mask,
    attr_node: Places,
    attr_name: NDArray[np.uint8],
    role: int,
    attr_start: Places,
    attr_text: str,
    names: frozenset[str],
) -> Mask:
    """The nodes in elements with one of the tags, given by code, or with one of the roles."""
    marked = tags[np.minimum(tag, len(tags) - 1)]
    for k in np.flatnonzero(attr_name == role).tolist():
        if attr_text[attr_start[k] : attr_start[k + 1]].strip().lower() in names:
            marked[attr_node[k]] = True
    found: Mask = nearest(parent, marked) >= 0
    return found


def kept_and_shown(
    keep_runs: Mask, keep: Mask, run_owner: Places, flags: NDArray[np.uint8], hidden: int
) -> tuple[Mask, Mask]:
    """The kept runs whose owner is kept; and those together with the visible ones."""
    kept = keep_runs & keep[run_owner]
    return kept, kept | ((flags & hidden) == 0)[run_owner]


def leading_words(
    kind: NDArray[np.uint8], hub: int, block_of_word: Places, central: Mask, teasers: list[tuple[int, int]]
) -> tuple[int, int]:
    """The number of central words, and of those in blocks of type `hub` or in teasers."""
    leading = kind[block_of_word] == hub
    for start, end in teasers:
        leading[start:end] = True
    return int(central.sum()), int((leading & central).sum())


def folded_units(text: str, run_start: Places, unit: Counts, runs: NDArray[np.intp]) -> tuple[list[str], list[int]]:
    """The text of each unit of the given runs, white space folded; and the index of its first run."""
    of_run = unit[runs]
    first = [0, *(np.flatnonzero(of_run[1:] != of_run[:-1]) + 1).tolist()] if len(runs) else []
    parts = [text[a:b] for a, b in zip(run_start[runs].tolist(), run_start[runs + 1].tolist(), strict=True)]
    return [" ".join("".join(parts[a:b]).split()) for a, b in pairwise([*first, len(runs)])], first


def ended_sentences(segments: Iterable[str], number: list[int], separator: str) -> list[tuple[int, str]]:
    """Sentences with the number of their paragraph, from segments of paragraphs with `separator` between two of them.

    A single capital and a full stop (`M. Dupont`) end no sentence.
    """
    ended: list[tuple[int, str]] = []
    at, held = 0, ""
    for found in segments:
        if found == separator:
            if held:
                ended.append((number[at], held))
                held = ""
            at += 1
            continue
        sentence = f"{held} {found}".strip() if held else found.strip()
        if sentence[-1:] == "." and sentence[-2:-1].isupper() and sentence[-3:-2] in ("", " "):
            held = sentence
        elif sentence:
            ended.append((number[at], sentence))
            held = ""
    if held:
        ended.append((number[at], held))
    return ended


def offered_blocks(
    guiding: Mask, node: Places, kept: Mask, run_reason: NDArray[np.uint8], repeated: int, of_run: Places
) -> Mask:
    """The blocks whose node is not guiding, and which have no kept run and no run removed as `repeated`."""
    offered = ~guiding[node]
    offered[of_run[kept | (run_reason == repeated)]] = False
    return offered


def distinct_sentences(
    ended: list[tuple[int, str]], is_sentence: Callable[[str], bool], least_words: int, lines: bool
) -> dict[str, int]:
    """The distinct texts that read like sentences, with the first paragraph of each.

    With `lines` any text of `least_words` words does; one that also ends in `.`, `!` or `?` always does.
    """
    found: dict[str, int] = {}
    for paragraph, sentence in ended:
        long = sentence.count(" ") + 1 >= least_words
        if (long and (lines or sentence.endswith((".", "!", "?")))) or is_sentence(sentence):
            found.setdefault(sentence, paragraph)
    return found
