"""`ModelTable`: models keyed by site in one Parquet file, for as many sites as a crawl has. Needs `parquet`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from webwinnow.errors import MissingExtra, ModelError
from webwinnow.site.folder import ModelFolder
from webwinnow.site.knowledge import SiteKnowledge

__all__ = ["ModelTable", "open_models"]

GROUP_MODELS: Final = 16
"""Models in a row group: what is read at once to find one."""


class ModelTable:
    """Models by the name of their site, in a Parquet file with the columns `site` (ascending) and `model`."""

    def __init__(self, path: Path) -> None:
        _needs_pyarrow()
        import pyarrow.parquet as pq  # noqa: PLC0415 (an optional extra)

        self.path = path
        try:
            self._table = pq.ParquetFile(path, memory_map=True, pre_buffer=False)
            _check_columns(self._table.schema_arrow)
            groups = range(self._table.num_row_groups)
            self._first = [self._sites(group)[0] for group in groups]
            if None in self._first:
                raise ValueError("a site has no name")
        except (OSError, ValueError, KeyError, IndexError, NotImplementedError) as error:
            raise ModelError(f"{path} is no table of models; make one with: webwinnow models pack ({error})") from None
        if self._first != sorted(self._first):
            raise ModelError(f"{path} is damaged: its sites are not in order; pack the models again")

    def written(self, site: str) -> int | None:
        """When the table was opened for a site that it knows: it does not change while it is open."""
        return 0 if self._place(site) is not None else None

    def find(self, site: str) -> SiteKnowledge | None:
        """The model of a site; None for a site that the table does not know."""
        place = self._place(site)
        if place is None:
            return None
        model = self._read(self._column(place[0], "model")[place[1]], site)
        if model.site != site:
            raise ModelError(f"{self.path} has the model of {model.site!r} for {site!r}; learn the site again")
        return model

    def models(self, on_damaged: Callable[[str], None] | None = None) -> Iterator[SiteKnowledge]:
        """All models, by site; one that cannot be read is told and passed over, or raises if nobody listens."""
        for group in range(self._table.num_row_groups):
            for site, packed in zip(self._sites(group), self._column(group, "model"), strict=True):
                try:
                    model = self._read(packed, site)
                except ModelError as error:
                    if on_damaged is None:
                        raise
                    on_damaged(str(error))
                    continue
                yield model

    def _read(self, packed: Any, site: str) -> SiteKnowledge:
        return SiteKnowledge.from_bytes(packed.as_py() or b"", f"{self.path}: {site}")

    def _place(self, site: str) -> tuple[int, int] | None:
        """The row group of a site, and its row there."""
        group = bisect_right(self._first, site) - 1
        if group < 0 or site not in (sites := self._sites(group)):
            return None
        return group, sites.index(site)

    def _sites(self, group: int) -> list[str]:
        sites: list[str] = self._column(group, "site").to_pylist()
        return sites

    def _column(self, group: int, name: str) -> Any:
        try:
            return self._table.read_row_group(group, columns=[name], use_threads=False).column(name)
        except (OSError, ValueError) as error:
            raise ModelError(f"{self.path} is damaged ({error}); pack the models again") from None

    @classmethod
    def pack(cls, folder: ModelFolder, path: Path) -> int:
        """Write the models of a folder into a new table; returns how many."""
        _needs_pyarrow()
        import pyarrow as pa  # noqa: PLC0415 (an optional extra)
        import pyarrow.parquet as pq  # noqa: PLC0415

        found = sorted((SiteKnowledge.load(file).site, file) for file in folder.models())
        kinds: dict[str, pa.DataType] = {"site": pa.large_string(), "model": pa.large_binary()}
        schema = pa.schema(kinds)
        part = path.with_name(f".{path.name}.part")
        try:
            with pq.ParquetWriter(part, schema, compression="zstd", use_dictionary=False) as out:
                for at in range(0, len(found), GROUP_MODELS):
                    rows = found[at : at + GROUP_MODELS]
                    columns = {"site": [site for site, _ in rows], "model": [file.read_bytes() for _, file in rows]}
                    out.write_table(pa.table(columns, schema=schema))
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return len(found)


def _check_columns(schema: Any) -> None:
    """`ValueError` where a table of something else has our columns, or has them not."""
    import pyarrow as pa  # noqa: PLC0415 (an optional extra)

    texts, packed = (pa.string(), pa.large_string()), (pa.binary(), pa.large_binary())
    for name, kinds in (("site", texts), ("model", packed)):
        if name not in schema.names or schema.field(name).type not in kinds:
            raise ValueError(f"it has no column {name} of {kinds[0]}")


def open_models(path: Path) -> ModelFolder | ModelTable:
    """The models that lie at a path: a folder, or a table in a file."""
    return ModelTable(path) if path.is_file() else ModelFolder(path)


def _needs_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401, PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra("a table of models", "parquet") from error
