from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

def spread(
    first_run: NDArray[np.int64],
    said: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    visible: Mask,
    probability: NDArray[np.float64],
    keep: Mask,
    posts: Mask,
    whole: NDArray[np.uint8] | None,
    headed: Mask | None,
    stays: Mask | None,
    goes: Mask | None,
    below: Mask | None,
    teasers: Mask | None,
    further: Mask | None,
    repeated: Mask | None,
    reasons: tuple[int, ...],
) -> tuple[Mask, Mask, NDArray[np.uint8], NDArray[np.float32]]: ...
def node_reasons(
    keep: Mask, visible: Mask, beside: Mask | None, decoration: Mask | None, reasons: tuple[int, ...]
) -> NDArray[np.uint8]: ...
def link_shares(
    parent: NDArray[np.int32],
    tag: NDArray[np.uint16],
    link: int,
    run_start: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    written: Mask,
    first_run: NDArray[np.int64],
    said: NDArray[np.int32],
) -> NDArray[np.float64]: ...
def may_be_stamps(
    text: str, start: NDArray[np.int32], stop: NDArray[np.int32], wanted: Mask, days: tuple[str, ...]
) -> tuple[Mask, Mask]: ...
def whole_reasons(
    keep: Mask,
    alone: Mask,
    pooled_in: Mask,
    label: Mask,
    level: NDArray[np.uint8],
    owner: NDArray[np.int32],
    table_of: NDArray[np.int32],
    record_of: NDArray[np.int32],
    list_of: NDArray[np.int32],
    reasons: tuple[int, ...],
) -> NDArray[np.uint8]: ...
def framed(
    parent: NDArray[np.int32],
    tag: NDArray[np.uint16],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    attr_node: NDArray[np.int32],
    attr_name: NDArray[np.uint8],
    attr_start: NDArray[np.int32],
    attr_text: str,
    names: tuple[str, ...],
    nodes: NDArray[np.int32],
    most: int,
) -> list[tuple[dict[str, str], list[tuple[int, dict[str, str]]]]]: ...
def ascii_words(name: str, most: int) -> list[str]: ...
def pool_records(
    record_of: NDArray[np.int32],
    field_of: NDArray[np.int32],
    records: NDArray[np.int32],
    groups: NDArray[np.int32],
    probability: NDArray[np.float64],
    words: NDArray[np.int32],
    text: NDArray[np.uint64],
    share: NDArray[Any] | None,
    lower: float,
    field_lower: float,
    sure: float,
    said: float,
) -> NDArray[np.float64]: ...
