"""The folder of a collection."""

from __future__ import annotations

import io
import shutil

import pytest

from webwinnow.collection.pagestore import CollectionStore, PageRow
from webwinnow.errors import SettingsError


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
