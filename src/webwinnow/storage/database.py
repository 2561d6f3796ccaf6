"""SQLite files that keep the state of a run, so that a killed run can be resumed.

All are opened the same way: write-ahead log, a busy timeout, a format version in `PRAGMA user_version`, and a table
`about` of named JSON values. A statement outside of `transaction` is committed at once.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from webwinnow.errors import InputError

_ABOUT = "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);"


def open_database(
    path: Path, schema: str, *, version: int, advice: str, durable: bool = False, exclusive: bool = False
) -> sqlite3.Connection:
    """Open a database, and create its tables if it is new.

    - `schema`: statements that create the tables; `version`: of their format.
    - `advice`: what the user can do about a file that cannot be used; it ends every error message.
    - `durable`: sync at every commit. Otherwise a commit survives the death of the process, and after a power failure
      the last ones may be missing, but the file stays consistent.
    - `exclusive`: keep the file locked while it is open, so that a second run in the same folder is an error.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=1.0 if exclusive else 30.0)
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be used ({error}); {advice}") from None
    try:
        connection.execute(f"PRAGMA locking_mode = {'EXCLUSIVE' if exclusive else 'NORMAL'}")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
        if exclusive:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if not found and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            connection.executescript(f"BEGIN; {_ABOUT} {schema}; PRAGMA user_version = {version}; COMMIT")
            found = version
    except sqlite3.Error as error:
        connection.close()
        raise InputError(f"{path} cannot be used ({error}); {advice}") from None
    if found != version:
        connection.close()
        raise InputError(f"{path} has format {found}, this webwinnow reads {version}; {advice}")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block writes as a whole, or nothing of it where the block raises."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def write_note(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Store a JSON value under a name."""
    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))


def read_note(connection: sqlite3.Connection, name: str) -> Any:
    """The value that was stored under a name, or None."""
    row = connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    return None if row is None else json.loads(row[0])
