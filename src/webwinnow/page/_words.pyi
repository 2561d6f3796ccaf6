from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

def blank_runs(text: str, starts: NDArray[np.int32]) -> NDArray[np.bool_]: ...
def folded_text(
    text: str,
    starts: NDArray[np.int32],
    owner: NDArray[np.int32],
    before: NDArray[np.int32],
    wanted: NDArray[np.bool_],
    parent: NDArray[np.int32],
    parting: NDArray[np.bool_],
) -> bytes: ...
def image_hashes(
    text: str, starts: NDArray[np.int32], which: NDArray[np.int64], image_feature: Callable[[str], str]
) -> NDArray[np.uint64]: ...
def link_hashes(
    text: str, starts: NDArray[np.int32], which: NDArray[np.int64], link_feature: Callable[[str], str]
) -> NDArray[np.uint64]: ...
def name_hash(name: str) -> int: ...
def run_words(text: str, starts: NDArray[np.int32], counted: NDArray[np.bool_]) -> NDArray[np.int64]: ...
def word_spans(
    text: str, starts: NDArray[np.int32], counted: NDArray[np.bool_]
) -> tuple[NDArray[np.uint64], NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]: ...
