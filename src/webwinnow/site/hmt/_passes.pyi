import numpy as np
from numpy.typing import NDArray

def upward(
    parent: NDArray[np.int32], evidence: NDArray[np.float64], transition: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
def downward(
    parent: NDArray[np.int32],
    beta: NDArray[np.float64],
    root: NDArray[np.float64],
    transition: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def expected_counts(
    parent: NDArray[np.int32],
    beta: NDArray[np.float64],
    posterior: NDArray[np.float64],
    transition: NDArray[np.float64],
) -> NDArray[np.float64]: ...
def viterbi(
    parent: NDArray[np.int32],
    evidence: NDArray[np.float64],
    root: NDArray[np.float64],
    transition: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.float64]]: ...
