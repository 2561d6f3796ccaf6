"""The folder of a collection."""

from __future__ import annotations

import io
import shutil

import pytest

from webwinnow import platforms
from webwinnow.errors import SettingsError
from webwinnow.run.pagestore import CollectionStore, PageRow
from webwinnow.run.settings import CollectionSettings


def test_a_run_killed_as_it_removes_its_folder_leaves_nothing_to_resume(tmp_path, monkeypatch):
    folder = tmp_path / "run"

    def killed(*_, **__):
        raise KeyboardInterrupt

    store = CollectionStore(folder, {}, resume=False)
    store.add_page(PageRow(0, "a.example", "http://a.example/", None, error="x"))
    store.commit()
    with monkeypatch.context() as killing, pytest.raises(KeyboardInterrupt):
        killing.setattr(shutil, "rmtree", killed)
        store.finish()
    assert not (folder / "index.sqlite").exists()
    with CollectionStore(folder, {}, resume=True) as again:
        assert again.page_count() == 0


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
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "letter").write_text("x")
    with pytest.raises(SettingsError, match="no folder of a webwinnow run"):
        CollectionStore(tmp_path / "run", {}, resume=False)
    assert (tmp_path / "run" / "letter").read_text() == "x"


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
