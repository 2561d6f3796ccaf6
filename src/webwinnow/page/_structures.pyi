import numpy as np
from numpy.typing import NDArray

class DataTables:
    def __init__(
        self,
        tag: NDArray[np.uint16],
        parent: NDArray[np.int32],
        end: NDArray[np.int32],
        style: NDArray[np.uint64],
        text: str,
        text_start: NDArray[np.int32],
        text_end: NDArray[np.int32],
        attr_text: str,
        attr_node: NDArray[np.int32],
        attr_name: NDArray[np.uint8],
        attr_start: NDArray[np.int32],
        roles: NDArray[np.uint8],
        limits: tuple[int, int, int],
        names: tuple[int, int, int],
    ) -> None: ...
    def take(self, count: int) -> bool: ...
    def has_data(self, table: int) -> bool: ...
    def cells(self, table: int, absent: NDArray[np.bool_]) -> NDArray[np.int32]: ...

def find_structures(
    found: DataTables,
    run_start: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    run_before: NDArray[np.int32],
    bits: NDArray[np.uint8],
    limits: tuple[int, int, int, int],
) -> tuple[
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
]: ...
def pool_tables(
    cell: NDArray[np.int32],
    table: NDArray[np.int32],
    tables: NDArray[np.int32],
    cells: NDArray[np.int32],
    probability: NDArray[np.float64],
    text: NDArray[np.uint64],
    counted: NDArray[np.bool_],
    lower: float,
    few: float,
) -> NDArray[np.float64]: ...
def pool_lists(
    list_of: NDArray[np.int32],
    item: NDArray[np.int32],
    lists: NDArray[np.int32],
    probability: NDArray[np.float64],
    weight: NDArray[np.float64],
    counted: NDArray[np.bool_],
    heading: NDArray[np.bool_],
    lower: float,
    few: float,
    plain: float,
    most_words: float,
    no_links: float,
) -> NDArray[np.float64]: ...
def neighbours(
    text: str,
    run_start: NDArray[np.int32],
    run_owner: NDArray[np.int32],
    first_run: NDArray[np.int64],
    said: NDArray[np.int32],
    owner: NDArray[np.int32],
    tag: NDArray[np.uint16],
    parent: NDArray[np.int32],
    roles: NDArray[np.uint8],
    most_chars: int,
    most_words: int,
) -> NDArray[np.uint8]: ...
