"""Stores of site models: `ModelFolder`, one file per site with its sums by epoch; `ModelTable`, one Parquet file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from xxhash import xxh3_64_hexdigest

from webwinnow.errors import InputError, MissingExtra, ModelError, SettingsError
from webwinnow.platforms import locked_folder
from webwinnow.site.learned import LearnedSite
from webwinnow.storage.atomic import atomic_file, write_file
from webwinnow.storage.parquetreader import ParquetReader

MODEL_SUFFIX = ".model.npz"
SUMS_SUFFIX = ".sums.npz"
"""The newest epoch."""
EARLIER_SUFFIX = ".sums"
"""The folder of the earlier epochs of a site: numbered files, the oldest lowest."""
LONGEST_NAME = 80
_NOT_IN_NAME = re.compile(r"[^a-z0-9.]+")


class ModelFolder:
    """Models by the name of their site. A folder to read has at least one model; `make` creates a folder to write."""

    def __init__(self, path: Path, *, make: bool = False) -> None:
        if make and path.exists() and not path.is_dir():
            raise ModelError(f"{path} is a file; expected a folder for models, or the name of a new one")
        if make:
            path.mkdir(parents=True, exist_ok=True)
        elif not path.is_dir() or not any(path.glob(f"*{MODEL_SUFFIX}")):
            raise ModelError(f"{path} is not a folder of models; make one with: webwinnow learn INPUT -o FOLDER")
        self.path = path

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the folder for the block. Raises `SettingsError` if another process writes models into it."""
        with locked_folder(self.path) as is_ours:
            if not is_ours:
                raise SettingsError(f"another process writes models into {self.path}; wait for it")
            yield

    def model_path(self, site: str) -> Path:
        """The file of a site's model."""
        return self.path / (_file_name(site) + MODEL_SUFFIX)

    def sums_path(self, site: str) -> Path:
        """The file of a site's newest sums."""
        return self.path / (_file_name(site) + SUMS_SUFFIX)

    def written(self, site: str) -> int | None:
        """When the model of a site was written, in nanoseconds; None for an unknown site."""
        try:
            return self.model_path(site).stat().st_mtime_ns
        except OSError:
            return None

    def find(self, site: str) -> LearnedSite | None:
        """The model of a site; None for an unknown site."""
        path = self.model_path(site)
        if not path.exists():
            return None
        model = LearnedSite.load(path)
        if model.site != site:
            raise ModelError(f"{path} is the model of {model.site!r}, not of {site!r}; learn the site again")
        return model

    def models(self) -> Iterator[Path]:
        """The files of all models, by name."""
        return iter(sorted(self.path.glob(f"*{MODEL_SUFFIX}")))

    def epochs(self, model: Path) -> list[Path]:
        """The files of a model's sums, one per epoch, oldest first; none if they were not stored."""
        earlier = _beside(model, EARLIER_SUFFIX)
        numbered = sorted(earlier.glob("*.npz"), key=_number) if earlier.is_dir() else []
        newest = _beside(model, SUMS_SUFFIX)
        return [*numbered, *([newest] if newest.exists() else [])]

    def sums(self) -> Iterator[tuple[str, list[Path]]]:
        """The files of the sums of all sites, by name. Raises `ModelError` for a model without sums."""
        for path in self.models():
            found = self.epochs(path)
            if not found:
                raise ModelError(f"{path} has no sums beside it to merge; learn the site again without --no-sums")
            yield path.name, found

    def save(self, site: str, model: bytes, sums: bytes | None = None) -> None:
        """Write a packed model, and its sums if given. Earlier epochs are removed."""
        path = self.model_path(site)
        _forget_earlier(path)
        write_file(path, model)
        if sums is None:
            self.sums_path(site).unlink(missing_ok=True)
        else:
            write_file(self.sums_path(site), sums)

    def save_epoch(self, site: str, model: bytes, sums: bytes, most: int) -> None:
        """Write a packed model with a new epoch; the sums of the `most` newest epochs are kept.

        The new sums are written last: as long as they are missing, the same update makes the same model again.
        """
        path, newest = self.model_path(site), self.sums_path(site)
        write_file(path, model)
        known = self.epochs(path)
        if newest.exists() and most > 1:
            earlier = _beside(path, EARLIER_SUFFIX)
            earlier.mkdir(exist_ok=True)
            newest.replace(earlier / f"{_number(known[-2]) + 1 if len(known) > 1 else 1}.npz")
        for old in known[: max(len(known) - most + 1, 0)]:
            if old != newest:
                old.unlink()
        write_file(newest, sums)

    def remove(self, model: Path) -> None:
        """Remove a model and all its sums."""
        _forget_earlier(model)
        _beside(model, SUMS_SUFFIX).unlink(missing_ok=True)
        model.unlink(missing_ok=True)


def _beside(model: Path, suffix: str) -> Path:
    return model.with_name(model.name.removesuffix(MODEL_SUFFIX) + suffix)


def _forget_earlier(model: Path) -> None:
    earlier = _beside(model, EARLIER_SUFFIX)
    if earlier.is_dir():
        shutil.rmtree(earlier)


def _number(epoch: Path) -> int:
    return int(epoch.stem) if epoch.stem.isdecimal() else 0


def _file_name(site: str) -> str:
    """A safe file name for a site: the safe part of its name, and a hash of the whole."""
    safe = _NOT_IN_NAME.sub("-", site.lower())[:LONGEST_NAME].strip("-.") or "site"
    return f"{safe}-{xxh3_64_hexdigest(site.encode('utf-8', 'replace'))}"


GROUP_MODELS: Final = 16
"""Models in a row group: what is read at once to find one."""


class ModelTable:
    """Models by the name of their site, in a Parquet file with the columns `site` and `model`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._table = ParquetReader(path, "a table of models")
            _check_columns(self._table)
            self._group_of: dict[str, int] = {}
            for group, (site,) in self._table.rows(["site"]):
                if not isinstance(site, str):
                    raise ValueError("a site has no name")
                self._group_of[site] = group
        except (InputError, ValueError) as error:
            raise ModelError(
                f"{path} is not a table of models; make one with: webwinnow models pack ({error})"
            ) from None

    def written(self, site: str) -> int | None:
        """0 for a known site, None for an unknown one: a table does not change while it is open."""
        return 0 if site in self._group_of else None

    def find(self, site: str) -> LearnedSite | None:
        """The model of a site; None for an unknown site."""
        if site not in self._group_of:
            return None
        packed = dict(self._rows([self._group_of[site]])).get(site)
        model = self._read(packed, site)
        if model.site != site:
            raise ModelError(f"{self.path} has the model of {model.site!r} for {site!r}; learn the site again")
        return model

    def models(self, on_damaged: Callable[[str], None] | None = None) -> Iterator[LearnedSite]:
        """All models, by site. A damaged one is reported to `on_damaged` and skipped, or raises where that is None."""
        for site, packed in self._rows(None):
            try:
                model = self._read(packed, site)
            except ModelError as error:
                if on_damaged is None:
                    raise
                on_damaged(str(error))
                continue
            yield model

    def _read(self, packed: bytes | None, site: str) -> LearnedSite:
        return LearnedSite.from_bytes(packed or b"", f"{self.path}: {site}")

    def _rows(self, groups: list[int] | None) -> Iterator[tuple[str, bytes | None]]:
        try:
            for _, (site, packed) in self._table.rows(["site", "model"], groups=groups):
                yield site, packed
        except InputError as error:
            raise ModelError(f"{self.path} is damaged ({error}); pack the models again") from None

    @classmethod
    def pack(cls, folder: ModelFolder, path: Path) -> int:
        """Write the models of a folder into a new table; returns how many."""
        with atomic_file(path) as file:
            return cls.pack_into(folder, file)

    @classmethod
    def pack_into(cls, folder: ModelFolder, file: BinaryIO) -> int:
        """Write the models of a folder as a table into an open file; returns how many."""
        _needs_pyarrow()
        import pyarrow as pa  # noqa: PLC0415 (an optional extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        found = sorted((LearnedSite.load(model).site, model) for model in folder.models())
        kinds: dict[str, pa.DataType] = {"site": pa.large_string(), "model": pa.large_binary()}
        schema = pa.schema(kinds)
        with pq.ParquetWriter(file, schema, compression="zstd", use_dictionary=False) as out:
            for at in range(0, len(found), GROUP_MODELS):
                rows = found[at : at + GROUP_MODELS]
                columns = {"site": [site for site, _ in rows], "model": [model.read_bytes() for _, model in rows]}
                out.write_table(pa.table(columns, schema=schema))
        return len(found)


def _check_columns(table: ParquetReader) -> None:
    """`ValueError` where the table lacks our columns."""
    for name, kind in (("site", "text"), ("model", "bytes")):
        found = [column for column in table.columns if column.name == name]
        if len(found) != 1 or not getattr(found[0], f"is_{kind}"):
            raise ValueError(f"it has no column {name} of {kind}")


def open_models(path: Path) -> ModelFolder | ModelTable:
    """The models at a path: a folder, or a table in a file."""
    return ModelTable(path) if path.is_file() else ModelFolder(path)


def _needs_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("a table of models", "parquet") from error
