import numpy as np
from numpy.typing import NDArray

from webwinnow.page._structures import DataTables

def flowing_text(
    text: str,
    text_start: NDArray[np.int32],
    text_end: NDArray[np.int32],
    run_start: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    run_before: NDArray[np.int32],
    tag: NDArray[np.uint16],
    parent: NDArray[np.int32],
    end: NDArray[np.int32],
    flags: NDArray[np.uint8],
    kept: NDArray[np.bool_],
    kept_runs: NDArray[np.bool_],
    attr_text: str,
    attr_node: NDArray[np.int32],
    attr_name: NDArray[np.uint8],
    attr_start: NDArray[np.int32],
    tables: DataTables,
    does: NDArray[np.uint16],
    limits: tuple[int, ...],
    names: tuple[int, ...],
    may_have_signs: bool,
) -> str | None: ...
