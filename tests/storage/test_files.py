"""Tests of atomic writes, databases and frames."""

from __future__ import annotations

import io
import os
import sqlite3
from pathlib import Path

import pytest

from webwinnow.errors import InputError
from webwinnow.storage.atomic import atomic_file, atomic_folder, write_file
from webwinnow.storage.database import open_database, read_note, transaction, write_note
from webwinnow.storage.encoding import LONG_BYTES, read_frame, write_frame

SCHEMA = "CREATE TABLE page (url TEXT PRIMARY KEY)"


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_appears_when_it_is_complete(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a"
    with atomic_file(path, durable=durable) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_error_leaves_the_file_of_before(tmp_path: Path, error: type[BaseException]) -> None:
    path = tmp_path / "a"
    write_file(path, b"old")
    with pytest.raises(error), atomic_file(path) as file:
        file.write(b"new")
        raise error
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_files_are_synced_unless_they_are_scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    write_file(tmp_path / "a", b"", durable=False)
    assert not synced
    write_file(tmp_path / "b", b"")
    assert len(synced) == 2


def test_a_folder_appears_when_it_is_complete(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as folder:
        (folder / "a").write_bytes(b"a")
        assert not (tmp_path / "out").exists()
    with pytest.raises(OSError, match="full"), atomic_folder(tmp_path / "other") as folder:
        raise OSError("full")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def opened(path: Path, *, version: int = 1, exclusive: bool = False) -> sqlite3.Connection:
    return open_database(path, SCHEMA, version=version, advice="start again", exclusive=exclusive)


def test_a_database_keeps_rows_and_notes(tmp_path: Path) -> None:
    first = opened(tmp_path / "a.sqlite")
    write_note(first, "seeds", {"b": 1, "a": [2]})
    with transaction(first):
        first.execute("INSERT INTO page VALUES ('u')")
    first.close()
    again = opened(tmp_path / "a.sqlite")
    assert read_note(again, "seeds") == {"a": [2], "b": 1}
    assert read_note(again, "none") is None
    assert again.execute("SELECT url FROM page").fetchall() == [("u",)]
    assert again.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    again.close()


def test_a_transaction_that_fails_writes_nothing(tmp_path: Path) -> None:
    base = opened(tmp_path / "a.sqlite")
    with pytest.raises(KeyError), transaction(base):
        base.execute("INSERT INTO page VALUES ('u')")
        raise KeyError
    assert not base.execute("SELECT * FROM page").fetchall()
    base.close()


def test_another_format_is_refused(tmp_path: Path) -> None:
    opened(tmp_path / "a.sqlite").close()
    with pytest.raises(InputError, match="has format 1, this webwinnow reads 2; start again"):
        opened(tmp_path / "a.sqlite", version=2)
    old = sqlite3.connect(tmp_path / "old.sqlite")
    old.execute("CREATE TABLE about (name TEXT)")
    old.close()
    with pytest.raises(InputError, match="has format 0"):
        opened(tmp_path / "old.sqlite")


def test_what_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_bytes(b"hello" * 1000)
    with pytest.raises(InputError, match=r"cannot be used .file is not a database.; start again"):
        opened(tmp_path / "a.sqlite")
    with pytest.raises(InputError, match=r"cannot be used .unable to open"):
        opened(tmp_path / "none" / "a.sqlite")


def test_an_exclusive_database_is_opened_once(tmp_path: Path) -> None:
    first = opened(tmp_path / "a.sqlite", exclusive=True)
    with pytest.raises(InputError, match=r"cannot be used .database is locked."):
        opened(tmp_path / "a.sqlite", exclusive=True)
    first.close()
    opened(tmp_path / "a.sqlite", exclusive=True).close()


class Trickle(io.BytesIO):
    """A pipe that takes and gives at most three bytes at a time."""

    def write(self, data: object) -> int:
        return super().write(bytes(data)[:3])  # type: ignore[call-overload]

    def read(self, size: int | None = -1) -> bytes:
        return super().read(min(size or 0, 3))


@pytest.mark.parametrize("kind", [io.BytesIO, Trickle])
def test_frames_come_back(kind: type[io.BytesIO]) -> None:
    long = b"x" * LONG_BYTES
    messages = [("page", 1, b"\0" * 100, None), {"a": [1.5]}, "", (), (2, [(long, "b"), (None, b"c", long[1:])])]
    stream = kind()
    for message in messages:
        write_frame(stream, message)
    stream.seek(0)
    assert [read_frame(stream) for _ in messages] == messages
    with pytest.raises(EOFError):
        read_frame(stream)


def test_a_view_of_bytes_comes_back_as_bytes() -> None:
    stream = io.BytesIO()
    write_frame(stream, [memoryview(b"body")[1:], memoryview(b"")])
    stream.seek(0)
    assert read_frame(stream) == [b"ody", b""]


@pytest.mark.parametrize("body", [b"body", memoryview(b"body")])
def test_a_frame_cut_short_is_the_end(body: bytes | memoryview) -> None:
    stream = io.BytesIO()
    write_frame(stream, ("page", body))
    for size in range(len(stream.getvalue())):
        with pytest.raises(EOFError):
            read_frame(io.BytesIO(stream.getvalue()[:size]))


def test_a_frame_of_impossible_length_is_the_end() -> None:
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(b"\xff" * 100))


def test_a_long_string_of_impossible_length_is_the_end() -> None:
    stream = io.BytesIO()
    write_frame(stream, (memoryview(b"body"),))
    whole = stream.getvalue()
    with pytest.raises(EOFError):
        read_frame(io.BytesIO(whole[:-12] + b"\xff" * 12))
