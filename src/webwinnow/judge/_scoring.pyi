import numpy as np
from numpy.typing import NDArray

def block_features(
    parent: NDArray[np.int32],
    marks: NDArray[np.uint32],
    flags: NDArray[np.uint8],
    tree: NDArray[np.int32],
    owner: NDArray[np.int32],
    group: NDArray[np.int32],
    counts: NDArray[np.int32],
    text_key: NDArray[np.uint64],
    level: NDArray[np.uint8],
    linear: NDArray[np.float64],
    heading_score: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None: ...
def block_words(
    text: str,
    run_start: NDArray[np.int32],
    first_run: NDArray[np.int64],
    run_owner: NDArray[np.int32],
    marks: NDArray[np.uint32],
    title: NDArray[np.uint64],
    summary: NDArray[np.uint64],
    data_map: NDArray[np.uint8],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32]]: ...
def context_features(
    parent: NDArray[np.int32],
    tree: NDArray[np.int32],
    owner: NDArray[np.int32],
    group: NDArray[np.int32],
    text_key: NDArray[np.uint64],
    level: NDArray[np.uint8],
    weight: NDArray[np.int32],
    probability: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None: ...
def forest_sums(
    columns: NDArray[np.float32], feature: NDArray[np.int16], border: NDArray[np.float32], leaves: NDArray[np.int16]
) -> NDArray[np.int32]: ...
def distinct_sums(ids: NDArray[np.int32], table: NDArray[np.int16]) -> tuple[int, NDArray[np.int64]]: ...
def linear_scores(
    names: NDArray[np.float64],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int32],
    words: NDArray[np.int16],
    headings: NDArray[np.int16],
    shift: int,
    before: NDArray[np.int64],
    scale: float,
    bias: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def name_scores(
    parent: NDArray[np.int32],
    owner: NDArray[np.int32],
    nearest: NDArray[np.int32],
    ids: NDArray[np.int32],
    offsets: NDArray[np.int32],
    near: NDArray[np.int16],
    mid: NDArray[np.int16],
    far: NDArray[np.int16],
) -> NDArray[np.float64]: ...
def node_marks(tag: NDArray[np.uint16], parent: NDArray[np.int32]) -> NDArray[np.uint32]: ...
def node_tokens(
    tag: NDArray[np.uint16],
    attr_node: NDArray[np.int32],
    attr_name: NDArray[np.uint8],
    naming: NDArray[np.bool_],
    attr_start: NDArray[np.int32],
    attr_text: str,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def outline(
    parent: NDArray[np.int32],
    style: NDArray[np.uint64],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    owner: NDArray[np.int32],
    block_start: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...
def shingle_map(text: str) -> NDArray[np.uint8]: ...
def word_keys(text: str) -> NDArray[np.uint64]: ...
def best_cut(probability: NDArray[np.float64], words: NDArray[np.int32], square: float) -> tuple[float, float]: ...
def heading_rows(
    tag: NDArray[np.uint16], parent: NDArray[np.int32], levels: NDArray[np.uint8], owner: NDArray[np.int32]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
