"""`PageRows`: the feature vectors of a collection as mining takes them, from memory or from a file of `features`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from webwinnow.errors import InputError, MissingExtra
from webwinnow.storage import read_arrays

try:
    import scipy.sparse as sp
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("webwinnow.mining", "mining") from None

__all__ = ["PageRows"]

LARGEST_ARRAY = 1 << 34
"""Bytes of one array of a feature file; larger ones are not unpacked."""


class Features(Protocol):
    """What `webwinnow.vectors` makes: a CSR matrix as arrays, with the names of its rows and columns."""

    @property
    def data(self) -> NDArray[np.float64]: ...
    @property
    def indices(self) -> NDArray[np.int32]: ...
    @property
    def indptr(self) -> NDArray[np.int64]: ...
    @property
    def page_ids(self) -> list[str]: ...
    @property
    def vocabulary(self) -> list[str]: ...


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """A row a page (`matrix`, CSR), a column a feature; `page_ids` name the rows, `vocabulary` the columns."""

    matrix: Any
    page_ids: list[str]
    vocabulary: list[str]

    @classmethod
    def of(cls, features: Features) -> Self:
        """The rows of a `FeatureMatrix`."""
        shape = (len(features.page_ids), len(features.vocabulary))
        matrix = sp.csr_matrix((features.data, features.indices, features.indptr), shape=shape)
        return cls(matrix, features.page_ids, features.vocabulary)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rows of an `.npz` that `webwinnow features` wrote. `InputError` where it is none or does not fit."""
        try:
            names = ("data", "indices", "indptr", "shape", "page_ids", "vocabulary")
            found = read_arrays(path, names, largest=LARGEST_ARRAY)
            data, indices, indptr, shape, page_ids, vocabulary = (found[name] for name in names)
            matrix = _checked(data, indices, indptr, shape, page_ids, vocabulary)
        except ValueError as error:
            raise InputError(
                f"{path}: not a feature file ({error}); expected an .npz that `webwinnow features` wrote"
            ) from error
        return cls(matrix, page_ids.tolist(), vocabulary.tolist())


def _checked(
    data: NDArray[Any],
    indices: NDArray[Any],
    indptr: NDArray[Any],
    shape: NDArray[Any],
    page_ids: NDArray[Any],
    vocabulary: NDArray[Any],
) -> Any:
    """The matrix, where sizes, offsets and indices fit together; `ValueError` where not."""
    for name, column, kinds in (
        ("data", data, "f"),
        ("indices", indices, "iu"),
        ("indptr", indptr, "iu"),
        ("shape", shape, "iu"),
        ("page_ids", page_ids, "U"),
        ("vocabulary", vocabulary, "U"),
    ):
        if column.ndim != 1 or column.dtype.kind not in kinds:
            raise ValueError(f"{name} is {column.ndim}-dimensional of {column.dtype}")
    pages, columns = len(page_ids), len(vocabulary)
    if shape.tolist() != [pages, columns]:
        raise ValueError(f"shape says {shape.tolist()}, there are {pages} pages and {columns} features")
    if len(indptr) != pages + 1 or indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("indptr does not part the data into rows")
    if len(indices) != len(data) or (len(indices) and not 0 <= indices.min() <= indices.max() < columns):
        raise ValueError("indices name no column")
    if not np.isfinite(data).all():
        raise ValueError("data holds values that are no numbers")
    return sp.csr_matrix((data, indices, indptr), shape=(pages, columns))
