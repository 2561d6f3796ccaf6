"""SQLite files that keep the state of a run, so that a killed run can be resumed.

All are opened the same way: write-ahead log, a busy timeout, a format version in `PRAGMA user_version`, and a table
`about` of named JSON values. A statement outside of `transaction` is committed at once. A disk that is full or fails is
an `OSError`, as for every other file; a damaged database is an `InputError`.
"""

from __future__ import annotations

import errno
import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from webwinnow.errors import InputError

_ABOUT = "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);"
SHOWN_CHARACTERS = 200
"""Characters of a reason that are shown: SQLite quotes values that it cannot decode."""
_DISK_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY")
"""Beginnings of the names of SQLite's errors that are not the file's fault."""


class Database(sqlite3.Connection):
    """A connection to a file whose errors name the file, with the `advice` of `open_database` if it is damaged."""

    path: Path
    advice: str

    def execute(self, *given: Any) -> sqlite3.Cursor:
        """Execute a statement."""
        found: sqlite3.Cursor = self.cursor(_Cursor).execute(*given)
        return found

    def executemany(self, *given: Any) -> sqlite3.Cursor:
        """Execute a statement for each row."""
        found: sqlite3.Cursor = self.cursor(_Cursor).executemany(*given)
        return found

    def executescript(self, *given: Any) -> sqlite3.Cursor:
        """Execute statements."""
        found: sqlite3.Cursor = self.cursor(_Cursor).executescript(*given)
        return found

    def reported(self, error: sqlite3.Error) -> Exception:
        """The error to raise instead of one of SQLite."""
        if (getattr(error, "sqlite_errorname", None) or "").startswith(_DISK_ERRORS):
            return OSError(errno.EIO, str(error), str(self.path))
        return self.damaged(error)

    def damaged(self, reason: object) -> InputError:
        """The error of a file that cannot be used."""
        return InputError(f"{self.path} cannot be used ({str(reason)[:SHOWN_CHARACTERS]}); {self.advice}")


def _reporting(name: str) -> Any:
    """The method of a cursor with this name, whose errors are those of the `Database`."""
    plain = getattr(sqlite3.Cursor, name)

    def called(cursor: _Cursor, *given: Any) -> Any:
        try:
            return plain(cursor, *given)
        except sqlite3.Error as error:
            raise cursor.connection.reported(error) from None

    return called


class _Cursor(sqlite3.Cursor):
    connection: Database
    execute, executemany, executescript = map(_reporting, ("execute", "executemany", "executescript"))
    fetchone, fetchall, __next__ = map(_reporting, ("fetchone", "fetchall", "__next__"))


def open_database(
    path: Path, schema: str, *, version: int, advice: str, durable: bool = False, exclusive: bool = False
) -> Database:
    """Open a database, and create its tables if it is new.

    - `schema`: statements that create the tables; `version`: of their format.
    - `advice`: what the user can do about a file that cannot be used; it ends every error message.
    - `durable`: sync at every commit. Otherwise a commit survives the death of the process, and after a power failure
      the last ones may be missing, but the file stays consistent.
    - `exclusive`: keep the file locked while it is open, so that a second run in the same folder is an error.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None, timeout=1.0 if exclusive else 30.0, factory=Database)
    except sqlite3.Error as error:
        raise InputError(f"{path} cannot be used ({error}); {advice}") from None
    connection.path, connection.advice = path, advice
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
    except BaseException:
        connection.close()
        raise
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
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back where the disk fails
            connection.execute("ROLLBACK")
        raise


def write_note(connection: sqlite3.Connection, name: str, value: Any) -> None:
    """Store a JSON value under a name."""
    connection.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (name, json.dumps(value)))


def read_note(connection: Database, name: str) -> Any:
    """The value that was stored under a name, or None."""
    row = connection.execute("SELECT value FROM about WHERE name = ?", (name,)).fetchone()
    return None if row is None else json.loads(row[0])
