import numpy as np
from numpy.typing import NDArray

def align(
    tag: NDArray[np.uint64],
    style: NDArray[np.uint64],
    content: NDArray[np.uint64],
    other_tag: NDArray[np.uint64],
    other_style: NDArray[np.uint64],
    other_content: NDArray[np.uint64],
) -> NDArray[np.int32]: ...
def grouped(group: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def pages_of(item: NDArray[np.int64], page: NDArray[np.int64], items: int) -> NDArray[np.int64]: ...
