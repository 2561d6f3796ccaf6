from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Places = NDArray[np.int32]
Keys = NDArray[np.uint64]
Weights = NDArray[np.float64]
Counts = NDArray[np.int64]

def containers(
    tag: NDArray[np.uint16], parent: Places, end: Places, run_owner: Places, holds: Mask, link: int
) -> tuple[Places, Places, Places, Places, Counts, Places]: ...
def attached(
    word_run: Places, of_run: Places, in_link: Places, run_owner: Places, blocks: int
) -> tuple[Places, Counts, Counts]: ...
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
) -> Counts: ...
def block_types(
    terms: Counts,
    link_terms: Counts,
    images: Counts,
    hub_share: float,
    image_share: float,
    topic: int,
    hub: int,
    image: int,
) -> NDArray[np.uint8]: ...
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
) -> Weights: ...
def shared_force(parent: Places, force: Weights, inside: Mask, passed_on: float, most: float) -> Weights: ...
def blocks_around(block_of_word: Places, wanted: Mask, end: Counts) -> Mask: ...
def feature_sums(
    word_key: Keys, block_of_word: Places, wanted: Mask, weight: Weights, stops: Keys
) -> tuple[Keys, Weights, Counts]: ...
def heaviest(
    text: str,
    weight: Weights,
    first: Counts,
    word_start: Places,
    word_end: Places,
    shortest: int,
    looked_at: int,
    most: int,
) -> NDArray[np.intp]: ...
def likely_runs(
    kept: Mask, likely: NDArray[np.float32], run_owner: Places, word_run: Places, least: float, share: float
) -> Mask: ...
def text_units(
    tag: NDArray[np.uint16], line_break: int, node: Places, run_before: Places, of_run: Places
) -> Counts: ...
def keyword_units(
    unit: Counts, kept: Mask, word_run: Places, word_key: Keys, keyword: Keys, most: int
) -> NDArray[np.intp]: ...
def paragraph_sizes(
    block_of_word: Places, word_run: Places, kept: Mask, parent: Places, block: Places
) -> tuple[Counts, Counts]: ...
def keyword_sums(key: Keys, sentence: Places, sentences: int, keyword: Keys, weight: Weights) -> Weights: ...
def by_quota(weight: Weights, paragraph: Counts, size: Counts, most: int) -> list[int]: ...
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
) -> list[tuple[int, int, int]]: ...
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
) -> Mask: ...
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
) -> Mask: ...
def kept_and_shown(
    keep_runs: Mask, keep: Mask, run_owner: Places, flags: NDArray[np.uint8], hidden: int
) -> tuple[Mask, Mask]: ...
def leading_words(
    kind: NDArray[np.uint8], hub: int, block_of_word: Places, central: Mask, teasers: list[tuple[int, int]]
) -> tuple[int, int]: ...
def folded_units(text: str, run_start: Places, unit: Counts, runs: NDArray[np.intp]) -> tuple[list[str], list[int]]: ...
def ended_sentences(segments: Iterable[str], number: list[int], parted: str) -> list[tuple[int, str]]: ...
def offered_blocks(
    guiding: Mask, node: Places, kept: Mask, run_reason: NDArray[np.uint8], repeated: int, of_run: Places
) -> Mask: ...
def distinct_sentences(
    ended: list[tuple[int, str]], is_sentence: Callable[[str], bool], least_words: int, lines: bool
) -> dict[str, int]: ...
