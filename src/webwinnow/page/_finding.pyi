from collections.abc import Collection, Iterable

import numpy as np
from numpy.typing import NDArray

def first_found(text: str, words: Iterable[bytes]) -> int: ...
def marked_attributes(
    text: str,
    word: bytes,
    end: int,
    most: int,
    starts: NDArray[np.int32],
    name: NDArray[np.uint8],
    marking: Collection[int],
) -> list[int]: ...
