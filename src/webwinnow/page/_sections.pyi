import numpy as np
from numpy.typing import NDArray

def outline_roles(
    tag: NDArray[np.uint16],
    roles: NDArray[np.uint8],
    attr_node: NDArray[np.int32],
    attr_name: NDArray[np.uint8],
    attr_start: NDArray[np.int32],
    attr_text: str,
    code: int,
    level: int,
) -> NDArray[np.uint8]: ...
def outline(
    parent: NDArray[np.int32],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    role: NDArray[np.uint8],
    text: str,
    owner: NDArray[np.int32],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    words: NDArray[np.int32],
    beside: int,
) -> tuple[NDArray[np.uint8], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
def raised(
    level: NDArray[np.uint8],
    heading: NDArray[np.int32],
    end: NDArray[np.int32],
    code: NDArray[np.int32],
    figure: NDArray[np.int32],
    shown: NDArray[np.bool_],
    words: NDArray[np.int32],
    probability: NDArray[np.float64],
    hidden_above: float,
) -> NDArray[np.float64]: ...
def pictures_beside(
    parent: NDArray[np.int32],
    tag: NDArray[np.uint16],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    keep: NDArray[np.bool_],
    is_picture: NDArray[np.bool_],
    start: NDArray[np.int32],
    words: NDArray[np.int32],
    kept_blocks: NDArray[np.bool_],
    few: int,
    codes: tuple[int, int, int],
) -> tuple[NDArray[np.int32], NDArray[np.bool_], NDArray[np.bool_]]: ...
def add_wrappers(
    parent: NDArray[np.int32],
    end: NDArray[np.int32],
    tag: NDArray[np.uint16],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    keep: NDArray[np.bool_],
    is_picture: NDArray[np.bool_],
    wraps: NDArray[np.bool_],
    removed: NDArray[np.bool_],
    others: NDArray[np.bool_],
) -> None: ...
def headings_like(
    level: NDArray[np.uint8],
    heading: NDArray[np.int32],
    end: NDArray[np.int32],
    shown: NDArray[np.bool_],
    start: NDArray[np.int32],
    stop: NDArray[np.int32],
    text: str,
    openings: bytes,
    most: int,
) -> list[tuple[int, int, int]]: ...
