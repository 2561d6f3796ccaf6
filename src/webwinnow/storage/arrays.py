"""Arrays whose type, lengths and range are declared once, for what callers give and for what model files have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Arrays = dict[str, NDArray[Any]]
Casting = Literal["equiv", "same_kind"]
Array = TypeVar("Array", bound=NDArray[Any])


class Held(NamedTuple):
    """What an array holds: its lengths, its type, and the range of its numbers.

    A length may be the name of a size, which is given or that of the first array that has it; so may `high`, which is
    then not reached. A number that equals `usual` is not stored.
    """

    shape: tuple[int | str, ...]
    dtype: DTypeLike = np.float64
    low: float = 0.0
    high: float | str = np.inf
    usual: float | None = None

    def checked(self, name: str, given: Any, sizes: dict[str, int], casting: Casting = "same_kind") -> NDArray[Any]:
        """A read-only copy of what was given, of this type; `ValueError` if it does not fit."""
        found = np.asarray(given)
        shape = tuple(size if isinstance(size, int) else sizes.get(size, -1) for size in self.shape)
        if found.shape != shape:
            raise ValueError(f"{name} of shape {found.shape}: expected {shape}")
        if found.size and not np.can_cast(found.dtype, self.dtype, casting):
            raise ValueError(f"{name} of type {found.dtype}: expected {np.dtype(self.dtype)}")
        high = sizes[self.high] - 1 if isinstance(self.high, str) else self.high
        if not ((found >= self.low) & (found <= high)).all():
            raise ValueError(f"{name} has other numbers than {self.low:g} to {high:g}")
        return frozen(np.array(found, self.dtype))


def checked(
    given: Mapping[str, Any],
    declared: Mapping[str, Held],
    prefix: str = "",
    *,
    casting: Casting = "equiv",
    **sizes: int,
) -> Arrays:
    """The arrays `prefix + name` that are declared, by name; `ValueError` if one does not fit.

    Arrays of files have the declared type; those of callers may be cast to it (`same_kind`).
    """
    arrays = {
        name: np.array([held.usual], held.dtype)
        if held.usual is not None and prefix + name not in given
        else given[prefix + name]
        for name, held in declared.items()
    }
    for name, held in declared.items():
        for size, length in zip(held.shape, np.shape(arrays[name]), strict=False):
            if isinstance(size, str):
                sizes.setdefault(size, length)
    return {name: held.checked(prefix + name, arrays[name], sizes, casting) for name, held in declared.items()}


class Stored:
    """Base of dataclasses that model files store: first their `PARTS`, each with its prefix, then their `ARRAYS`.

    An array of one number is a plain number in the object. Sizes that are fields, such as `topics`, are given by the
    reader of a file.
    """

    __slots__ = ()
    PARTS: ClassVar[Mapping[str, tuple[type[Stored], str]]] = {}
    ARRAYS: ClassVar[Mapping[str, Held]] = {}

    def to_arrays(self, prefix: str = "") -> Arrays:
        """What was learned, as named arrays."""
        found: Arrays = {}
        for part, (_, inner) in self.PARTS.items():
            found |= getattr(self, part).to_arrays(prefix + inner)
        for name, held in self.ARRAYS.items():
            value = getattr(self, name)
            if held.usual is None or value != held.usual:
                found[prefix + name] = np.array(value, held.dtype, ndmin=len(held.shape))
        return found

    @classmethod
    def from_arrays(cls, arrays: Arrays, prefix: str = "", **sizes: int) -> Self:
        """Read the result of `to_arrays`; `ValueError` if it does not fit."""
        parts = {name: kind.from_arrays(arrays, prefix + inner, **sizes) for name, (kind, inner) in cls.PARTS.items()}
        found = checked(arrays, cls.ARRAYS, prefix, casting="equiv", **sizes)
        values = {name: found[name].item() if held.shape == (1,) else found[name] for name, held in cls.ARRAYS.items()}
        fields: Mapping[str, Any] = getattr(cls, "__dataclass_fields__", {})
        return cls(**parts, **values, **{name: size for name, size in sizes.items() if name in fields})


def frozen(array: Array) -> Array:
    """Make an array read-only."""
    array.flags.writeable = False
    return array
