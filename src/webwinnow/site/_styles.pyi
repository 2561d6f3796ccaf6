from typing import Any

import numpy as np
from numpy.typing import NDArray

def element_keys(
    parent: NDArray[np.int32],
    style: NDArray[np.uint64],
    alive: NDArray[np.bool_],
    leaf_height: int,
    least_height: int,
) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int32], NDArray[np.uint8]]: ...
def leaves_around(
    parent: NDArray[np.int32], key: NDArray[np.uint64], kind: NDArray[np.uint8], owner: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]: ...
def sums_by_key(
    key: NDArray[np.uint64], value: NDArray[np.float64]
) -> tuple[NDArray[np.uint64], NDArray[np.float64]]: ...

class Pairs:
    def __init__(self, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> None: ...
    def rows(self, one: NDArray[np.uint64], other: NDArray[np.uint64]) -> NDArray[np.int64]: ...

class Paths:
    def __init__(
        self,
        element: NDArray[np.int64],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        child: NDArray[np.int64],
    ) -> None: ...
    def walk(
        self,
        parent: NDArray[np.int32],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        held: NDArray[np.int32],
    ) -> NDArray[np.int32]: ...

class StyleSums:
    def add(
        self,
        parent: NDArray[np.int32],
        style: NDArray[np.uint64],
        shape: NDArray[np.uint64],
        key: NDArray[np.uint64],
        sequence: NDArray[np.uint64],
        position: NDArray[np.int32],
        kind: NDArray[np.uint8],
        owner: NDArray[np.int32],
        feature: NDArray[np.uint64],
    ) -> None: ...
    def element_columns(self) -> tuple[NDArray[Any], ...]: ...
    def style_columns(self) -> tuple[NDArray[Any], ...]: ...
    def feature_columns(self) -> tuple[NDArray[Any], ...]: ...
