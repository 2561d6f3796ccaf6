import numpy as np
from numpy.typing import NDArray

class Walk:
    def __init__(
        self,
        path: NDArray[np.uint64],
        path_child: NDArray[np.int32],
        style: NDArray[np.uint64],
        start: NDArray[np.int32],
        position: NDArray[np.int32],
        style_child: NDArray[np.int32],
        kind: NDArray[np.uint8],
    ) -> None: ...
    def down(
        self,
        parent: NDArray[np.int32],
        style: NDArray[np.uint64],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
    ) -> NDArray[np.int32]: ...
