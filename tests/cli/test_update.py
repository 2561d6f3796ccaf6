"""`learn --update`, over several epochs, and models packed into one file."""

from __future__ import annotations

import re

import pytest

from webwinnow.site.modelstore import ModelFolder


def redesigned(page):
    return page | {"html": page["html"].replace("<ul class=menu>", "<section class=top><ul>").replace("<main>", "<td>")}


@pytest.fixture
def months(make_pages, write_crawl):
    pages = make_pages("a.example", 30)
    other = make_pages("b.example", 8)
    return [
        write_crawl(pages[:10] + other, "october.jsonl"),
        write_crawl(pages[5:20] + other, "november.jsonl"),
        write_crawl(pages[20:], "december.jsonl"),
    ]


def test_epochs_join_to_the_model_of_all_pages(webwinnow, months, tmp_path):
    assert webwinnow("learn", months[0], "-o", tmp_path / "m", "-q").returncode == 0
    done = webwinnow("learn", months[1], "-o", tmp_path / "m", "--update")
    assert done.returncode == 0, done.stderr
    assert "1 site got a new epoch, 1 had no new page, 0 were redesigned" in done.stderr
    done = webwinnow("learn", months[2], "-o", tmp_path / "m", "--update")
    assert "1 site got a new epoch, 0 had no new page, 0 were redesigned" in done.stderr
    assert webwinnow("learn", *months, "-o", tmp_path / "whole", "-q").returncode == 0
    updated, whole = ModelFolder(tmp_path / "m"), ModelFolder(tmp_path / "whole")
    for site in ("a.example", "b.example"):
        assert updated.model_path(site).read_bytes() == whole.model_path(site).read_bytes()
    assert len(updated.epochs(updated.model_path("a.example"))) == 3
    assert webwinnow("models", "merge", tmp_path / "m", "-o", tmp_path / "merged").returncode == 0
    merged = ModelFolder(tmp_path / "merged")
    assert merged.model_path("a.example").read_bytes() == whole.model_path("a.example").read_bytes()


def test_a_redesigned_site_is_reported(webwinnow, months, make_pages, write_crawl, tmp_path):
    assert webwinnow("learn", months[0], "-o", tmp_path / "m", "-q").returncode == 0
    new = write_crawl([redesigned(page) for page in make_pages("a.example", 12)], "new.jsonl")
    done = webwinnow("learn", new, "-o", tmp_path / "m", "--update")
    assert done.returncode == 0, done.stderr
    assert "a.example looks redesigned" in done.stderr
    assert "1 was redesigned" in done.stderr
    folder = ModelFolder(tmp_path / "m")
    assert folder.find("a.example").pages == 12
    assert len(folder.epochs(folder.model_path("a.example"))) == 1


def test_an_update_reports_a_site_whose_files_are_damaged(webwinnow, months, tmp_path):
    assert webwinnow("learn", months[0], "-o", tmp_path / "m", "-q").returncode == 0
    folder = ModelFolder(tmp_path / "m")
    model, sums = folder.model_path("b.example"), folder.sums_path("b.example")
    whole = model.read_bytes(), sums.read_bytes()
    other = folder.sums_path("a.example").read_bytes()
    for found, message in (
        ((b"PK", whole[1]), "b.example could not be learned: .* is damaged"),
        ((None, whole[1]), "b.example could not be learned: .* is missing; learn the site again without --update"),
        ((whole[0], b"PK"), "b.example could not be learned: .* is damaged"),
        ((whole[0], other), "has the sums of 'a.example', not of 'b.example'; learn the site again"),
    ):
        for path, content in zip((model, sums), found, strict=True):
            path.unlink(missing_ok=True)
            if content is not None:
                path.write_bytes(content)
        done = webwinnow("learn", months[0], "-o", tmp_path / "m", "--update")
        assert done.returncode == 1
        assert re.search(message, done.stderr), done.stderr
    assert webwinnow("learn", months[0], "-o", tmp_path / "m").returncode == 0
    assert (model.read_bytes(), sums.read_bytes()) == whole


def test_two_learners_do_not_share_a_folder(webwinnow, months, tmp_path):
    models, other = tmp_path / "m", tmp_path / "other"
    assert webwinnow("learn", months[0], "-o", other, "-q").returncode == 0
    with ModelFolder(models, make=True).writing():
        for command in (("learn", months[1], "--update"), ("learn", months[1]), ("models", "merge", other)):
            done = webwinnow(*command, "-o", models)
            assert done.returncode == 2
            assert "another process writes models into" in done.stderr
    assert webwinnow("learn", months[1], "-o", models, "--update", "-q").returncode == 0


def test_update_without_sums_is_refused(webwinnow, months, tmp_path):
    done = webwinnow("learn", months[0], "-o", tmp_path / "m", "--update", "--no-sums")
    assert done.returncode == 2
    assert "--no-sums" in done.stderr


def test_a_packed_table_cleans_as_its_folder_does(webwinnow, months, tmp_path):
    pytest.importorskip("pyarrow")
    assert webwinnow("learn", months[0], "-o", tmp_path / "m", "-q").returncode == 0
    done = webwinnow("models", "pack", tmp_path / "m", "-o", tmp_path / "m.parquet")
    assert "2 models packed" in done.stderr
    for name, models in (("folder", "m"), ("table", "m.parquet")):
        given = ("clean", months[1], "-o", tmp_path / f"{name}.jsonl", "--models", tmp_path / models, "-q")
        assert webwinnow(*given).returncode == 0
    assert (tmp_path / "table.jsonl").read_bytes() == (tmp_path / "folder.jsonl").read_bytes()
    shown = webwinnow("models", "show", tmp_path / "m.parquet").stdout
    assert shown == webwinnow("models", "show", tmp_path / "m").stdout
    assert "a.example: 10 pages" in shown
