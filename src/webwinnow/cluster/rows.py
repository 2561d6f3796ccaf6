"""The feature vectors of a collection, and their file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from webwinnow.classify.classifiers import check_csr
from webwinnow.errors import InputError, MissingExtra
from webwinnow.features.vectors import FeatureMatrix
from webwinnow.storage.modelfile import read_arrays

try:
    import scipy.sparse as sp
except ImportError:  # pragma: no cover - an installation without the extra
    raise MissingExtra("clustering", "mining") from None

from webwinnow.cluster.phrases import PhraseCollector, PhraseRows

LARGEST_ARRAY: Final = 1 << 34
"""Bytes of one array of a feature file; larger ones are not unpacked."""
_KINDS: Final = {"data": "f", "indices": "iu", "indptr": "iu", "shape": "iu", "page_ids": "U", "vocabulary": "U"}
_NAMES: Final = ("page_ids", "vocabulary")


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """One row per page (`matrix`, CSR), one column per feature, with names: `page_ids` and `vocabulary`.

    `sites` and `phrases` of the pages, where they are known, serve the names of clusters.
    """

    matrix: Any
    page_ids: list[str]
    vocabulary: list[str]
    sites: list[str] | None = None
    phrases: PhraseRows | None = None

    @classmethod
    def of(
        cls, features: FeatureMatrix, sites: list[str] | None = None, phrases: PhraseCollector | None = None
    ) -> Self:
        shape = (len(features.page_ids), len(features.vocabulary))
        matrix = sp.csr_matrix((features.data, features.indices, features.indptr), shape=shape)
        names = dict(zip(features.keys.tolist(), features.vocabulary, strict=False))
        found = None if phrases is None else phrases.rows(names)
        return cls(matrix, features.page_ids, features.vocabulary, sites, found)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The rows of an `.npz` that `webwinnow features` wrote. `InputError` if it is damaged or something else."""
        try:
            arrays = read_arrays(path, _KINDS, largest=LARGEST_ARRAY, padded=_NAMES)
            for name, kinds in _KINDS.items():
                if arrays[name].ndim != 1 or arrays[name].dtype.kind not in kinds:
                    raise ValueError(f"{name} is {arrays[name].ndim}-dimensional of {arrays[name].dtype}")
            data, indices, indptr, given, page_ids, vocabulary = (arrays[name] for name in _KINDS)
            shape = (len(page_ids), len(vocabulary))
            if tuple(given.tolist()) != shape:
                raise ValueError(f"shape is {given.tolist()}, there are {shape[0]} pages and {shape[1]} features")
            check_csr(data, indices, indptr, shape)
        except ValueError as error:
            raise InputError(
                f"{path}: not a feature file ({error}); expected an .npz that `webwinnow features` wrote"
            ) from error
        matrix = sp.csr_matrix((data, indices, indptr), shape=shape)
        return cls(matrix, page_ids.tolist(), vocabulary.tolist())
