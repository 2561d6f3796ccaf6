import numpy as np
from numpy.typing import NDArray

def nearest(parent: NDArray[np.int32], marked: NDArray[np.bool_]) -> NDArray[np.int32]: ...
def cut_runs(
    tag: NDArray[np.uint16],
    parent: NDArray[np.int32],
    parts: NDArray[np.bool_],
    run_owner: NDArray[np.int32],
    run_before: NDArray[np.int32],
) -> tuple[NDArray[np.int64], NDArray[np.int32]]: ...
def topmost(parent: NDArray[np.int32], marked: NDArray[np.bool_]) -> NDArray[np.int32]: ...
def path_keys(
    parent: NDArray[np.int32], style: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]: ...
def kept_around(
    parent: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    says: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    visible: NDArray[np.bool_],
) -> NDArray[np.bool_]: ...
def permalinks(
    text: str,
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    tag: NDArray[np.uint16],
    end: NDArray[np.int32],
    linked: NDArray[np.bool_],
    link: int,
) -> tuple[list[int], list[int]]: ...
