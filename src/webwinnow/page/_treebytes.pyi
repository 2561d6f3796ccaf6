import numpy as np
from numpy.typing import NDArray

from webwinnow.page.tree import PageTree

def is_sound(tree: PageTree, tags: int, custom_tag: int, attributes: int) -> bool: ...
def pack_numbers(columns: list[NDArray[np.int32]], bases: list[int]) -> bytes: ...
def unpack_numbers(
    data: bytes, at: int, counts: list[int], bases: list[int]
) -> tuple[list[NDArray[np.int32]], int]: ...
