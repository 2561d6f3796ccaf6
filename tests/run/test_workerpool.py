"""Worker processes: each job gets one answer, whatever happens to the workers."""

from __future__ import annotations

import pytest

from webwinnow import childprocess
from webwinnow.errors import WebwinnowError
from webwinnow.run.settings import CollectionSettings
from webwinnow.run.workerjobs import (
    RESULT_OF,
    CleanStored,
    LearnSite,
    ParsedPage,
    ParsePage,
    Shared,
    SiteToClean,
    decode_task,
    encode_task,
)
from webwinnow.run.workerpool import Task, WorkerPool


@pytest.mark.parametrize(
    ("jobs", "shared"),
    [
        ([ParsePage("http://a.example/", b"x", None, "a", "1"), ParsePage("", b"")], Shared()),
        ([LearnSite([(0, 5), (5, 7)])], Shared("/spool")),
        ([CleanStored(0, "u", None, (0, 9), None)], Shared("/spool", (SiteToClean("a", [(0, 9)], None),))),
    ],
    ids=lambda given: type(given[0]).__name__ if isinstance(given, list) else "",
)
def test_a_task_is_plain_values_between_processes(jobs, shared):
    code, context, items = encode_task(jobs, shared)
    assert type(code) is int
    assert {type(item) for item in (context, *items)} == {tuple}
    assert decode_task((code, context, items)) == (jobs, shared)


def test_each_job_type_has_an_answer_type():
    assert RESULT_OF[ParsePage] is ParsedPage
    assert len(RESULT_OF) == 6


def test_pool_answers_each_item_once_when_every_worker_dies_on_one(tmp_path):
    pages = [ParsePage("http://a.example/", b"<p>x")] * 5
    with WorkerPool(CollectionSettings(jobs=2, page_seconds=30.0)) as pool:
        pool.submit(Task("good", pages))
        pool.submit(Task("bad", [CleanStored(0, "u", None, (0, 1), None)], Shared("/dev/null")))
        answers = list(pool.answers())
    assert sorted((answer.task.about, answer.at) for answer in answers) == [
        ("bad", 0),
        *(("good", k) for k in range(5)),
    ]
    assert [answer.error is None for answer in answers if answer.task.about == "good"] == [True] * 5


def test_a_worker_that_cannot_start_once_does_the_next_task(monkeypatch):
    pages = [ParsePage("http://a.example/", b"<p>x")]
    with WorkerPool(CollectionSettings(jobs=1, page_seconds=30.0)) as pool:
        with monkeypatch.context() as broken:
            broken.setattr(childprocess.sys, "executable", "/bin/false")
            pool.submit(Task("first", pages))
            with pytest.raises(WebwinnowError, match="cannot start"):
                pool.answer()
        pool.submit(Task("second", pages))
        answered = pool.answer()
    assert (answered.task.about, answered.error) == ("second", None)
