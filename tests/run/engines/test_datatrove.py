"""The datatrove blocks in real datatrove pipelines."""

from __future__ import annotations

import json

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("datatrove")


def records(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_reader_cleaner_and_writer_give_the_records_of_a_run(crawl, tmp_path):
    from datatrove.executor import LocalPipelineExecutor

    from webwinnow.run.cleaning import run
    from webwinnow.run.engines.datatrove import PageCleaner, PageReader, RecordWriter
    from webwinnow.run.settings import RunSettings

    run(crawl, tmp_path / "whole.jsonl", RunSettings())
    excluded = RecordWriter(str(tmp_path / "excluded"))
    steps = [PageReader(crawl), PageCleaner(exclusion_writer=excluded), RecordWriter(str(tmp_path / "out"))]
    LocalPipelineExecutor(pipeline=steps, tasks=1, logging_dir=str(tmp_path / "logs")).run()
    whole = records(tmp_path / "whole.jsonl")
    kept = [record for record in whole if record["outcome"] == "kept"]
    out = records(tmp_path / "out" / "00000.jsonl")
    unnamed = {"page_id", "replica_of"}  # a page without an id is named by its file and position

    def summary(found):
        return [{name: value for name, value in record.items() if name not in unnamed} for record in found]

    assert summary(out) == summary(kept)
    assert len(records(tmp_path / "excluded" / "00000.jsonl")) == len(whole) - len(kept)


def test_tasks_share_the_files_and_models_clean_alike(crawl, webwinnow, tmp_path):
    from datatrove.executor import LocalPipelineExecutor

    from webwinnow.run.cleaning import run
    from webwinnow.run.engines.datatrove import PageCleaner, PageReader, RecordWriter
    from webwinnow.run.settings import RunSettings

    assert webwinnow("learn", *crawl, "-o", tmp_path / "models", "-q").returncode in (0, 1)
    run(crawl, tmp_path / "whole.jsonl", RunSettings(models=str(tmp_path / "models"), replicas=None))
    settings = RunSettings(jobs=1, replicas=None)
    steps = [PageReader(crawl), PageCleaner(settings, models=tmp_path / "models"), RecordWriter(str(tmp_path / "out"))]
    LocalPipelineExecutor(pipeline=steps, tasks=3, logging_dir=str(tmp_path / "logs")).run()
    out = sorted((r["url"], r["text"]) for path in (tmp_path / "out").iterdir() for r in records(path))
    kept = [record for record in records(tmp_path / "whole.jsonl") if record["outcome"] == "kept"]
    assert out == sorted((record["url"], record["text"]) for record in kept)


def test_the_cleaner_takes_documents_of_other_readers(make_pages, tmp_path):
    from datatrove.data import Document

    from webwinnow.run.engines.datatrove import PageCleaner

    pages = make_pages("a.example", 6)
    given = (Document(text=page["html"], id=str(n), metadata={"url": page["url"]}) for n, page in enumerate(pages))
    found = list(PageCleaner().run(given))
    assert [document.id for document in found] == [str(n) for n in range(6)]
    assert all("section 1" not in document.text for document in found)
    assert found[2].text.startswith("Story 2")


def test_the_layout_of_a_rendered_page_reaches_the_cleaner():
    from datatrove.data import Document

    from webwinnow.run.engines.datatrove import _pages

    given = [
        Document(text="<p>Text", id=str(n), metadata={"layout": layout}) for n, layout in enumerate((b"PK", "wide"))
    ]
    assert [page.layout for page in _pages(given, {})] == [b"PK", None]
