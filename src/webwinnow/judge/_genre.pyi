import numpy as np
from numpy.typing import NDArray

def forest_row(
    row: NDArray[np.float32], feature: NDArray[np.int16], border: NDArray[np.float32], leaves: NDArray[np.int16]
) -> NDArray[np.int64]: ...
def page_features(features: NDArray[np.float32], words: NDArray[np.int32]) -> NDArray[np.float32]: ...
