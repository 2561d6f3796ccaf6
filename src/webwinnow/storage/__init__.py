"""Files on disk and messages between processes: model files, atomic writes, SQLite, frames. Imports nothing above."""

from __future__ import annotations

from webwinnow.storage.atomic import atomic_file, atomic_folder, write_file
from webwinnow.storage.database import open_database, read_note, transaction, write_note
from webwinnow.storage.frames import read_frame, write_frame
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

__all__ = [
    "Array",
    "ArrayTable",
    "ModelFile",
    "ModelFormat",
    "SavedModel",
    "atomic_file",
    "atomic_folder",
    "is_within",
    "open_database",
    "pack_arrays",
    "read_arrays",
    "read_frame",
    "read_note",
    "transaction",
    "write_file",
    "write_frame",
    "write_note",
]
