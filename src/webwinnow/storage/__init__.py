"""Files and messages between processes: model files, atomic writes, SQLite, Parquet, frames. Imports nothing above."""

from __future__ import annotations

from typing import TYPE_CHECKING

from webwinnow.lazy import lazy_names

if TYPE_CHECKING:
    from webwinnow.storage.atomic import atomic_file, atomic_folder, scratch_folder, write_file
    from webwinnow.storage.database import open_database, read_note, transaction, write_note
    from webwinnow.storage.frames import read_frame, write_all, write_frame
    from webwinnow.storage.modelfile import (
        Array,
        ArrayTable,
        ModelFile,
        ModelFormat,
        SavedModel,
        is_within,
        pack_arrays,
        read_arrays,
    )
    from webwinnow.storage.parquetreader import ParquetReader, UnreadableValue

__all__ = [
    "Array",
    "ArrayTable",
    "ModelFile",
    "ModelFormat",
    "ParquetReader",
    "SavedModel",
    "UnreadableValue",
    "atomic_file",
    "atomic_folder",
    "is_within",
    "open_database",
    "pack_arrays",
    "read_arrays",
    "read_frame",
    "read_note",
    "scratch_folder",
    "transaction",
    "write_all",
    "write_file",
    "write_frame",
    "write_note",
]

__getattr__ = lazy_names(
    __name__,
    {
        "atomic": "atomic_file atomic_folder scratch_folder write_file",
        "database": "open_database read_note transaction write_note",
        "frames": "read_frame write_all write_frame",
        "modelfile": "Array ArrayTable ModelFile ModelFormat SavedModel is_within pack_arrays read_arrays",
        "parquetreader": "ParquetReader UnreadableValue",
    },
)
