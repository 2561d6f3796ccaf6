"""The folder of a collection."""

from __future__ import annotations

import io
import shutil
import sqlite3

import pytest

from webwinnow import platforms
from webwinnow.errors import InputError, SettingsError
from webwinnow.run.pagestore import CollectionStore, PageRow
from webwinnow.run.settings import CollectionSettings


def test_a_run_killed_as_it_removes_its_folder_leaves_nothing_to_resume(tmp_path, monkeypatch):
    """Leftover files are set aside and deleted when the next run begins."""
    folder = tmp_path / "run"

    def killed(*_, **__):
        raise KeyboardInterrupt

    store = CollectionStore(folder, {}, resume=False)
    store.add_page(PageRow(0, "a.example", "http://a.example/", None, error="x"))
    store.commit()
    with monkeypatch.context() as killing, pytest.raises(KeyboardInterrupt):
        killing.setattr(shutil, "rmtree", killed)
        store.finish()
    assert not folder.exists()
    assert [path.name for path in tmp_path.iterdir()] == ["run.over"]
    with CollectionStore(folder, {}, resume=True) as again:
        assert again.page_count() == 0
        assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("ends", [False, True])
def test_a_run_that_begins_or_ends_as_another_begins_keeps_its_folder(tmp_path, monkeypatch, ends, resume):
    """The second run has opened the lock file before the first moves the folder away, and locks it after that."""
    folder, lock, runs = tmp_path / "run", platforms.lock_file, []
    CollectionStore(folder, {}, resume=False).close()

    def first_run(file, *, wait):
        if not runs:
            runs.append(None)
            runs[0] = CollectionStore(folder, {}, resume=False)
            if ends:
                runs[0].finish()
        return lock(file, wait=wait)

    monkeypatch.setattr(platforms, "lock_file", first_run)
    with pytest.raises(SettingsError, match="another run is active"):
        CollectionStore(folder, {}, resume=resume)
    assert folder.exists() is not ends
    if not ends:
        runs[0].add_page(PageRow(0, "a.example", "http://a.example/", None, error="x"))
        runs[0].finish()
    assert not folder.exists()


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_killed_before_it_has_its_lock_is_started_again(tmp_path, monkeypatch, resume):
    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as killing, pytest.raises(KeyboardInterrupt):
        killing.setattr(CollectionStore, "_locked", killed)
        CollectionStore(tmp_path / "run", {}, resume=False)
    with CollectionStore(tmp_path / "run", {}, resume=resume) as store:
        assert store.page_count() == 0


def test_a_folder_that_is_no_run_is_left_alone(tmp_path):
    for name in ("run", "run.over"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "letter").write_text("x")
        with pytest.raises(SettingsError, match="no folder of a webwinnow run"):
            CollectionStore(tmp_path / "run", {}, resume=False)
        assert (tmp_path / name / "letter").read_text() == "x"


class Reluctant(io.FileIO):
    """A file that takes a few bytes at a time, as a disk does that is nearly full."""

    def write(self, data):
        return super().write(data[:10])


def test_a_page_that_the_disk_takes_in_parts_is_stored_whole(tmp_path):
    pages = [bytes([k]) * 95 for k in range(5)]
    with CollectionStore(tmp_path / "run", {}, resume=False) as store:
        store._spool.close()
        store._spool = Reluctant(store.spool_path, "a+b")
        for k, page in enumerate(pages):
            store.add_page(PageRow(k, "a.example", f"http://a.example/{k}", None), page)
        store.commit()
        assert [store.read(row.ref) for row in store.pages_of("a.example")] == pages


PARTS = 3


def finished_run(folder):
    """A run with a page per part, all parsed and cleaned."""
    with CollectionStore(folder, {}, resume=False) as store:
        for k in range(PARTS):
            store.add_page(PageRow(k, "a.example", f"http://a.example/{k}", str(k)), bytes([k]) * 50)
        store.commit()
        store.mark_parsed()
        for k in range(PARTS):
            store.add_part(k, [b"line %d\n" % k], [b"rejected %d\n" % k], {"all_words": k}, [b"sketch %d" % k])


def resumed(folder):
    """The parts, the pages and whether all were parsed, as a run that is resumed sees them."""
    with CollectionStore(folder, {}, resume=True) as store:
        parts = [part for part, _ in store.parts()]
        return parts, [row.ordinal for row in store.pages_of("a.example")], store.marked("parsed") is not None


def test_a_run_without_damage_is_resumed_with_all_its_parts(tmp_path):
    finished_run(tmp_path / "run")
    assert resumed(tmp_path / "run") == ([0, 1, 2], [0, 1, 2], True)


@pytest.mark.parametrize("name", ["00000001.jsonl", "00000001.rejected.jsonl", "00000001.rows"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "doubled", "another", "removed"])
def test_a_damaged_file_of_a_part_costs_that_part(tmp_path, name, damage):
    finished_run(tmp_path / "run")
    file = tmp_path / "run" / "parts" / name
    content = file.read_bytes()
    match damage:
        case "flipped":
            file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
        case "cut":
            file.write_bytes(content[:-1])
        case "doubled":
            file.write_bytes(content * 2)
        case "another":
            file.write_bytes(file.with_name(name.replace("1", "2", 1)).read_bytes())
        case "removed":
            file.unlink()
    assert resumed(tmp_path / "run") == ([0, 2], [0, 1, 2], True)


def test_bytes_that_move_from_a_file_of_a_part_to_the_next_are_noticed(tmp_path):
    finished_run(tmp_path / "run")
    parts = tmp_path / "run" / "parts"
    moved = (parts / "00000001.jsonl").read_bytes()
    (parts / "00000001.jsonl").write_bytes(b"")
    (parts / "00000001.rejected.jsonl").write_bytes(moved + (parts / "00000001.rejected.jsonl").read_bytes())
    assert resumed(tmp_path / "run")[0] == [0, 2]


@pytest.mark.parametrize(
    "change",
    ["site = 'b.example'", "url = 'http://b.example/'", "key = 5", "content = 'x'", "offset = 0", "error = 'x'"],
)
def test_a_damaged_row_of_a_page_is_made_again(tmp_path, change):
    finished_run(tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "index.sqlite") as index:
        index.execute(f"UPDATE pages SET {change} WHERE ordinal = 1")
    assert resumed(tmp_path / "run") == ([], [0, 2], False)
    assert not any((tmp_path / "run" / "parts").iterdir())


def test_a_row_that_is_lost_is_made_again(tmp_path):
    finished_run(tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "index.sqlite") as index:
        index.execute("DELETE FROM pages WHERE ordinal = 1")
    assert resumed(tmp_path / "run") == ([], [0, 2], False)


@pytest.mark.parametrize("change", ["counts = '{}'", "part = 7"])
def test_a_damaged_row_of_a_part_costs_that_part(tmp_path, change):
    finished_run(tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "index.sqlite") as index:
        index.execute(f"UPDATE parts SET {change} WHERE part = 1")
    assert resumed(tmp_path / "run")[0] == [0, 2]


@pytest.mark.parametrize("value", ["{", "[" * 100_000, b"\xff"])
def test_a_damaged_note_is_refused(tmp_path, value):
    finished_run(tmp_path / "run")
    with sqlite3.connect(tmp_path / "run" / "index.sqlite") as index:
        index.execute("UPDATE about SET value = CAST(? AS TEXT) WHERE name = 'identity'", (value,))
    with pytest.raises(InputError, match="leave out --resume"):
        resumed(tmp_path / "run")


def test_damage_anywhere_in_the_index_is_repaired_or_refused(tmp_path):
    finished_run(tmp_path / "run")
    whole = (tmp_path / "run" / "index.sqlite").read_bytes()
    for at in range(0, len(whole), 97):
        folder = tmp_path / str(at)
        shutil.copytree(tmp_path / "run", folder)
        (folder / "index.sqlite").write_bytes(whole[:at] + bytes([whole[at] ^ 0x20]) + whole[at + 1 :])
        try:
            parts, pages, is_parsed = resumed(folder)
        except (InputError, SettingsError):
            continue
        assert set(parts) <= {0, 1, 2}
        assert pages == [0, 1, 2] or not (is_parsed or parts)


def test_any_number_of_pages_may_be_asked_for(tmp_path):
    with CollectionStore(tmp_path / "run", {}, resume=False) as store:
        for k in range(3):
            store.add_page(PageRow(k, "a.example", f"http://a.example/{k}", None, key=k, content=k), b"page")
        store.commit()
        assert len(store.chosen_of("a.example", 10**30)) == 3
        assert store.last_key("a.example", 10**30) == 2**64 - 1


@pytest.mark.parametrize("jobs", [-1, 10**9, 10**30])
def test_more_workers_than_any_machine_serves_are_refused(jobs):
    with pytest.raises(SettingsError, match="jobs is"):
        CollectionSettings(jobs=jobs)
