"""`ModelFormat`: the one format of model files, and named arrays as `.npz` files.

A model file is a zip archive. Its first entry, `header.json`, is `{"kind", "version", "about"}`: what the file is, the
version of its format, and plain JSON metadata. Every other entry is a numpy array (`NAME.npy`). Nothing is ever
unpickled. Sizes are checked in the archive's directory before anything is decompressed, and array headers before
anything is allocated, so a hostile file is an error, not a crash. What the arrays mean is checked by each reader.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import sys
import tokenize
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Final, Self, get_args, get_origin, get_type_hints

import numpy as np
from msgspec import ValidationError
from numpy.typing import NDArray

from webwinnow.errors import ModelError, SettingsError
from webwinnow.storage.atomic import write_file

LARGEST_ARRAY: Final = 1 << 30
"""Bytes of one array of a model file. No real model comes close: a larger array is damage or an attack."""
LARGEST_MODEL: Final = 1 << 31
"""Bytes of all arrays of a model file, decompressed."""
MOST_RATIO: Final = 100
"""Decompressed bytes per byte of the file, above `RATIO_FLOOR`. Ours: models compress by 2 to 10, a bomb by 1,000."""
RATIO_FLOOR: Final = 1 << 26
LARGEST_HEADER: Final = 1 << 25
"""Bytes of the metadata. Ours: two million names of features, of 16 bytes each."""
HEADER_FLOOR: Final = 1 << 20
"""Bytes of metadata above which `MOST_RATIO` is checked for it alone."""
MOST_VALUES: Final = 4_000_000
"""Values of the metadata: an empty list takes 3 bytes there and 64 in memory. Ours: see `LARGEST_HEADER`."""
VALUES_PER_BYTE: Final = 4
"""Values of the metadata per byte of the file, above `VALUES_FLOOR`. Ours: a model of words has one in 20 bytes."""
VALUES_FLOOR: Final = 100_000
MOST_ENTRIES: Final = 10_000
HEADER: Final = "header.json"
_SUFFIX: Final = ".npy"

Array = NDArray[Any]

_UNREADABLE: Final = (
    *(ValueError, LookupError, TypeError, AttributeError, OSError, EOFError, OverflowError, MemoryError, RuntimeError),
    *(zipfile.BadZipFile, zlib.error, struct.error, SyntaxError, tokenize.TokenError, SettingsError, ValidationError),
)
"""What reading a foreign or damaged file may raise."""


@dataclass(frozen=True, slots=True)
class Column:
    """What a column of a table may contain: `Annotated[NDArray[np.int32], Column(index="rows")]`.

    - `rows`: what it has a value for; columns of the same rows have the same length. "" is the table itself.
    - `each`: the number of values for each of them.
    - `index`: what the values are numbers of, from 0 or `least`; `before`: only of rows before their own.
    - `among`: the column that the values, except 0, are among.
    - `least`, `most`: the range of the values.
    - `ascending`: whether each value is larger than the one before.
    """

    rows: str = "rows"
    each: int = 1
    index: str | None = None
    before: bool = False
    among: str | None = None
    least: float | None = None
    most: float | None = None
    ascending: bool = False

    def fits(self, found: Array, sizes: Mapping[str, int], columns: Mapping[str, Array]) -> bool:
        """Whether an array is such a column, given how many rows of each name there are."""
        least, most = self.least, self.most
        if self.index is not None:
            least, most = self.least or 0, sizes[self.index] - 1
        if self.before and not np.all(found < np.arange(len(found))):
            return False
        if self.ascending and not np.all(found[1:] > found[:-1]):
            return False
        if self.among is not None and not np.isin(found[found != 0], columns[self.among]).all():
            return False
        return bool((least is None or np.all(found >= least)) and (most is None or np.all(found <= most)))


_PLAIN = Column()


class ArrayTable:
    """Base of dataclasses of arrays, which model files store by the names and dtypes of their array fields."""

    __slots__ = ()
    NOT_STORED: ClassVar[tuple[str, ...]] = ()

    @classmethod
    @cache
    def declared(cls) -> Mapping[str, tuple[np.dtype[Any], Column]]:
        """The dtype of each array field and what it may contain, from its annotation."""
        found = {}
        for name, hint in get_type_hints(cls, include_extras=True).items():
            column = next((one for one in get_args(hint)[1:] if isinstance(one, Column)), None)
            kind = _element(hint if column is None else get_args(hint)[0])
            if kind is not None and name not in cls.NOT_STORED:
                found[name] = np.dtype(kind), column or _PLAIN
        return found

    @classmethod
    @cache
    def dtypes(cls) -> Mapping[str, np.dtype[Any]]:
        """The dtype of each array field."""
        return {name: dtype for name, (dtype, _) in cls.declared().items()}

    @classmethod
    def checked(cls, columns: Mapping[str, Array], **others: Any) -> Self:
        """A table from the arrays of a file. Raises `ValueError` where one is not as it was declared."""
        sizes = {"": 1}
        for name, (_, column) in cls.declared().items():
            if len(columns[name]) != column.each * sizes.setdefault(column.rows, len(columns[name]) // column.each):
                raise ValueError(f"{name} has {len(columns[name]):,} values")
        for name, (_, column) in cls.declared().items():
            if not column.fits(columns[name], sizes, columns):
                raise ValueError(f"{name} has impossible values")
        return cls(**columns, **others)

    @classmethod
    def empty(cls) -> Self:
        """A table without rows."""
        return cls(**{name: np.zeros(0, dtype) for name, dtype in cls.dtypes().items()})

    def columns(self, prefix: str = "") -> dict[str, Array]:
        """The arrays by name."""
        return {prefix + name: getattr(self, name) for name in self.dtypes()}


def _element(hint: Any) -> Any:
    """The type of an array's elements, from its annotation; None for what is no array."""
    origin = get_origin(hint)
    if origin is np.ndarray:
        return get_args(get_args(hint)[1])[0]
    return get_args(hint)[0] if origin is NDArray else None  # NDArray is a type alias of its own since numpy 2.5


@dataclass(frozen=True, slots=True)
class ModelFile:
    """The contents of a model file: its metadata and its arrays, which are read-only."""

    about: dict[str, Any]
    arrays: dict[str, Array]

    def typed(self, dtypes: Mapping[str, Any], prefix: str = "") -> dict[str, Array]:
        """The one-dimensional arrays `prefix + name` of these dtypes, by name; `ValueError` where one does not fit."""
        found = {}
        for name, dtype in dtypes.items():
            array = self.arrays[prefix + name]
            if array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{prefix + name} is a {array.ndim}-dimensional array of {array.dtype}")
            found[name] = array
        return found

    def table(self, kind: type[ArrayTable], prefix: str) -> dict[str, Array] | None:
        """The arrays of a table that was stored with a prefix; None where the file has none of them."""
        names = {prefix + name for name in kind.dtypes()}
        return self.typed(kind.dtypes(), prefix) if names & self.arrays.keys() else None


@dataclass(frozen=True, slots=True)
class ModelFormat:
    """One kind of model file. `advice` ends every error message: what to do about a file that cannot be used."""

    kind: str
    version: int
    advice: str

    def pack(self, about: Mapping[str, Any], arrays: Mapping[str, Array]) -> bytes:
        """Metadata and arrays as the bytes of a file; equal input gives equal bytes."""
        header = {"kind": self.kind, "version": self.version, "about": about}
        return pack_arrays(arrays, json.dumps(header, sort_keys=True).encode())

    @contextmanager
    def reading(self, data: bytes, name: str) -> Iterator[ModelFile]:
        """Unpack a file for the body of a `with`; errors of the file and of the body's checks are `ModelError`s.

        `name` is what messages call the file. The body raises `ValueError` for contents that do not fit together.
        """
        try:
            arrays, header = _read_archive(io.BytesIO(data), LARGEST_ARRAY, LARGEST_MODEL)
            yield ModelFile(self._checked(header, name), arrays)
        except _UNREADABLE as error:
            reason = str(error) or type(error).__name__
            raise ModelError(f"{name} is not a webwinnow {self.kind} or is damaged ({reason}); {self.advice}") from None

    def load(self, path: Path | str) -> bytes:
        """The bytes of a file; `ModelError` where it is missing, unreadable or too large to be a model."""
        try:
            with Path(path).open("rb") as file:
                size = os.fstat(file.fileno()).st_size  # read() allocates what it is asked for
                data = file.read(min(size, LARGEST_MODEL) + 1)
        except FileNotFoundError:
            raise ModelError(f"{path}: no such file; expected a webwinnow {self.kind} ({self.advice})") from None
        except OSError as error:
            raise ModelError(f"{path} cannot be read as a webwinnow {self.kind} ({error.strerror})") from None
        if len(data) > LARGEST_MODEL:
            raise ModelError(
                f"{path} has more than {LARGEST_MODEL:,} bytes, which no webwinnow {self.kind} has; {self.advice}"
            )
        return data

    def _checked(self, header: bytes | None, name: str) -> dict[str, Any]:
        """The metadata of a header whose kind and version are ours."""
        if header is None:
            raise ValueError("it has no header; files of older versions of webwinnow have none")
        found = json.loads(header.decode())
        if b"\\ud" in header.lower():  # also a character beyond 16 bits
            json.dumps(found, ensure_ascii=False).encode()  # no output can contain a lone surrogate
        if not isinstance(found, dict) or not isinstance(found.get("about"), dict):
            raise ValueError("its header is incomplete")
        kind, version = found.get("kind"), found.get("version")
        if kind != self.kind:
            raise ValueError(f"it is of kind {str(kind)[:40]!r}")
        if not isinstance(version, int) or isinstance(version, bool) or version < 1:
            raise ValueError("it has no format version")
        if version > self.version:
            raise ModelError(
                f"{name} has format {version}, this webwinnow reads up to {self.version}; upgrade webwinnow"
            )
        if version < self.version:
            raise ModelError(f"{name} has the old format {version}, this webwinnow reads {self.version}; {self.advice}")
        about: dict[str, Any] = found["about"]
        return about


class SavedModel(ABC):
    """A model with a file of its own format."""

    file_format: ClassVar[ModelFormat]

    @abstractmethod
    def to_bytes(self) -> bytes:
        """The model as the bytes of a file; equal models give equal bytes."""

    @classmethod
    @abstractmethod
    def from_bytes(cls, data: bytes, name: str = "the model") -> Self:
        """Read the result of `to_bytes`; everything is validated. Raises `ModelError`."""

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        write_file(path, self.to_bytes())

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model from a file. Raises `ModelError`."""
        return cls.from_bytes(cls.file_format.load(path), str(path))


def pack_arrays(arrays: Mapping[str, Array], header: bytes | None = None) -> bytes:
    """Named arrays as the bytes of a `.npz` archive; equal arrays give equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        if header is not None:
            archive.writestr(zipfile.ZipInfo(HEADER), header, zipfile.ZIP_DEFLATED)
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.save(entry, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(name + _SUFFIX), entry.getvalue(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def read_arrays(
    path: Path, names: Iterable[str], *, largest: int = LARGEST_ARRAY, padded: Collection[str] = ()
) -> dict[str, Array]:
    """Some arrays of a `.npz` file, read-only. Raises `ValueError` where it is no such file or misses one.

    `padded` arrays are texts, each as long as the longest: one long text makes them compress by more than `MOST_RATIO`,
    which is not checked for them up to `LARGEST_ARRAY`.
    """
    try:
        return _read_archive(path, largest, largest, frozenset(names), frozenset(name + _SUFFIX for name in padded))[0]
    except _UNREADABLE as error:
        raise ValueError(str(error) or type(error).__name__) from None


def is_within(indexes: Array, size: int, lowest: int = 0) -> bool:
    """Whether all indexes are in `lowest:size`."""
    return not len(indexes) or bool(indexes.min() >= lowest and indexes.max() < size)


def _read_archive(
    source: io.BytesIO | Path,
    largest: int,
    most: int,
    wanted: frozenset[str] | None = None,
    padded: frozenset[str] = frozenset(),
) -> tuple[dict[str, Array], bytes | None]:
    """The wanted arrays of an archive, all by default, and its header if it has one."""
    with zipfile.ZipFile(source) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        if len(names) < len(entries) or len(entries) > MOST_ENTRIES:
            raise ValueError(f"it has {len(entries):,} entries with {len(names):,} names")
        if wanted is not None:
            entries = [archive.getinfo(name + _SUFFIX) for name in sorted(wanted)]
        size = sum(entry.file_size for entry in entries)
        if size > most:
            raise ValueError(f"its arrays have more than {most:,} bytes")
        packed = source.stat().st_size if isinstance(source, Path) else source.getbuffer().nbytes
        size -= sum(
            entry.file_size for entry in entries if entry.filename in padded and entry.file_size <= LARGEST_ARRAY
        )
        if size > RATIO_FLOOR and size > MOST_RATIO * packed:
            raise ValueError(f"its arrays have more than {MOST_RATIO} times the bytes of the file")
        header, arrays = None, {}
        for entry in entries:
            if entry.file_size > (LARGEST_HEADER if entry.filename == HEADER else largest):
                raise ValueError(f"{entry.filename} has {entry.file_size:,} bytes")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError(f"{entry.filename} is compressed by method {entry.compress_type}")
            if entry.filename == HEADER:
                if HEADER_FLOOR < entry.file_size > MOST_RATIO * packed:
                    raise ValueError(f"its metadata has more than {MOST_RATIO} times the bytes of the file")
                header = _checked_header(archive.read(entry), packed)
            else:
                arrays[entry.filename.removesuffix(_SUFFIX)] = _array(archive.read(entry), entry.filename)
    return arrays, header


def _checked_header(header: bytes, packed: int) -> bytes:
    """The metadata of a file of `packed` bytes. Raises `ValueError` if it has more values than a model has."""
    values = sum(map(header.count, (b",", b"[", b"{")))  # at least as many as there are
    if values > min(MOST_VALUES, max(VALUES_FLOOR, VALUES_PER_BYTE * packed)):
        raise ValueError(f"its metadata has {values:,} values")
    return header


def _array(data: bytes, name: str) -> Array:
    """The array of a `.npy` file, as a view of its bytes; the size that its header claims must be the size it has."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, is_fortran, dtype = read(stream)
    except (ValueError, KeyError, TypeError, AttributeError, SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"{name} is not an array ({error})") from None
    size, start = math.prod(shape), stream.tell()
    if dtype.kind not in "biufU" or not dtype.itemsize:
        raise ValueError(f"{name} has elements of type {dtype}")
    if any(length < 0 for length in shape) or size * dtype.itemsize != len(data) - start:
        raise ValueError(f"{name} has another size than its header says")
    if dtype.kind == "U" and size:
        letters = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder), offset=start)
        # numpy makes strings of those beyond Unicode that end in a SystemError; no output can contain a lone surrogate
        if letters.max() > sys.maxunicode or (letters >> 11 == 0xD800 >> 11).any():
            raise ValueError(f"{name} has characters that do not exist")
    found: Array = np.frombuffer(data, dtype, size, start) if size else np.zeros(0, dtype)
    found = found.reshape(shape, order="F" if is_fortran else "C")
    found.flags.writeable = False
    return found
