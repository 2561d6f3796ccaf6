"""The process of a job: its steps over one collection."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from webserver import Reply, WebServer

from webwinnow.errors import InputError
from webwinnow.run.workerjobs import ParsePage
from webwinnow.run.workerpool import Task, WorkerPool
from webwinnow.serve.jobprocess import STEPS, JobSteps


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts the pages that go to workers to be parsed, by URL."""
    counted: Counter[str] = Counter()
    submit = WorkerPool.submit

    def counting(pool: WorkerPool, task: Task) -> None:
        counted.update(job.url for job in task.jobs if isinstance(job, ParsePage))
        submit(pool, task)

    monkeypatch.setattr(WorkerPool, "submit", counting)
    return counted


def job_folder(folder: Path, crawl: bytes, **options: Any) -> Path:
    (folder / "input").mkdir(parents=True)
    pages = folder / "input" / "crawl.jsonl"
    pages.write_bytes(crawl)
    job = {"id": "0" * 16, "kind": "clean", "name": "crawl", "created": 0.0, "inputs": [str(pages)], "options": options}
    (folder / "job.json").write_text(json.dumps(job))
    return folder


@pytest.mark.parametrize("method", ["combined", "page"])
def test_a_job_parses_each_page_once(
    tmp_path: Path, make_crawl: Callable[..., bytes], parsed: Counter[str], method: str
) -> None:
    folder = job_folder(tmp_path / "job", make_crawl(12), method=method)
    with JobSteps(folder, tmp_path / "models") as job:
        job.do()
    assert job.progress.steps == dict.fromkeys(STEPS["clean"])
    assert len(parsed) == 12
    assert set(parsed.values()) == {1}
    assert not (folder / "collection").exists()


def test_a_job_that_is_continued_does_not_parse_again(
    tmp_path: Path, make_crawl: Callable[..., bytes], parsed: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = job_folder(tmp_path / "job", make_crawl(12))

    def killed(_: JobSteps) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as killing, pytest.raises(KeyboardInterrupt), JobSteps(folder, tmp_path / "m") as job:
        killing.setitem(STEPS["clean"], "inspect", killed)
        job.do()
    with JobSteps(folder, tmp_path / "m") as job:
        job.do()
    assert job.progress.steps == dict.fromkeys(STEPS["clean"])
    assert set(parsed.values()) == {1}


def crawl_folder(folder: Path, url: str, **options: Any) -> Path:
    (folder / "input").mkdir(parents=True)
    job = {"id": "0" * 16, "kind": "clean", "name": url, "created": 0.0, "options": {"crawl": url} | options}
    inputs = [str(folder / "input" / "crawl.warc.gz")]
    (folder / "job.json").write_text(json.dumps(job | {"inputs": inputs, "private": True}))
    return folder


def test_a_job_crawls_its_url_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STEPS, "clean", {"clean": JobSteps.clean})
    page = "<!doctype html><title>Page</title><p>" + "The harbour was built by merchants from another town. " * 9
    with WebServer(answer=lambda asked: page + ("<a href=/two>Two</a>" if asked.path == "/" else asked.path)) as server:
        folder = crawl_folder(tmp_path / "job", f"http://127.0.0.1:{server.port}/", crawl_pages=5)
        with JobSteps(folder, tmp_path / "models") as job:
            job.do()
    assert job.progress.steps == {"crawl": None, "clean": None}
    assert job.progress.summary["pages"] == 2


def test_a_job_whose_url_cannot_be_fetched_fails_with_the_reason(tmp_path: Path) -> None:
    with WebServer(answer=lambda _: Reply(b"", status=404)) as server:
        folder = crawl_folder(tmp_path / "job", f"http://127.0.0.1:{server.port}/")
        with JobSteps(folder, tmp_path / "models") as job, pytest.raises(InputError, match="no page could be fetched"):
            job.do()
