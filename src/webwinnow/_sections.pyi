import numpy as np
from numpy.typing import NDArray

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
def beside(
    parent: NDArray[np.int32],
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    start: NDArray[np.int32],
    nodes: NDArray[np.int32],
) -> NDArray[np.int32]: ...
