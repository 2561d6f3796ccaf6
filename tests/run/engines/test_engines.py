"""The same input through every engine: the same bytes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from changedmodule import changed

from webwinnow.methods.registry import method_names
from webwinnow.run.cleaning import run
from webwinnow.run.learning import learn_sites
from webwinnow.run.settings import CollectionSettings, RunSettings

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

ENDLESS = """
import os, pathlib
_parse = parse

def parse(html, *given, **options):
    while len(html) > 1_000_000:
        pathlib.Path({hangs!r}).write_text(str(os.getpid()))
        _parse(html, *given, **options)
    return _parse(html, *given, **options)
"""
"""A parser that does not come to an end with a large page, and notes its process."""
JUDGED = """
import math, pathlib
_kill_if_late = _Worker.kill_if_late

def _kill_if_endless(worker, now):
    process, hangs = worker.process, pathlib.Path({hangs!r})
    if process is None or not hangs.exists() or hangs.read_text() != str(process.pid):
        return math.inf
    return _kill_if_late(worker, now)

_Worker.kill_if_late = _kill_if_endless
"""
"""A clock for the process with the large page only: on a busy machine others may take long, too."""


def engine_of(name, request):
    return request.getfixturevalue({"ray": "ray_cluster", "spark": "spark_session"}[name])


@pytest.fixture(scope="module")
def local(crawl, tmp_path_factory):
    """The output of a local run with one worker, by method."""
    known = {}

    def cleaned(method):
        if method not in known:
            folder = tmp_path_factory.mktemp("local")
            settings = RunSettings(method=method, rejected=True, jobs=1)
            summary = run(crawl, folder / "out.jsonl", settings, rejected=folder / "rejected.jsonl")
            known[method] = folder, summary
        return known[method]

    return cleaned


def assert_same(local, crawl, out: Path, settings: RunSettings, engine=None):
    folder, wanted = local(settings.method)
    summary = run(crawl, out, settings, rejected=out.with_name("rejected.jsonl"), engine=engine)
    assert out.read_bytes() == (folder / "out.jsonl").read_bytes()
    assert out.with_name("rejected.jsonl").read_bytes() == (folder / "rejected.jsonl").read_bytes()
    assert (summary.pages, summary.sites, summary.counts) == (wanted.pages, wanted.sites, wanted.counts)
    assert summary.findings == wanted.findings
    assert summary.problems == wanted.problems


@pytest.mark.parametrize("method", ["combined", "sst", "page"])
def test_two_workers_write_what_one_writes(local, crawl, tmp_path, method):
    assert_same(local, crawl, tmp_path / "out.jsonl", RunSettings(method=method, rejected=True, jobs=2))


@pytest.mark.parametrize("engine", ["ray", "spark"])
@pytest.mark.parametrize("method", method_names())
def test_a_cluster_writes_what_one_worker_writes(local, crawl, tmp_path, method, engine, request):
    settings = RunSettings(method=method, rejected=True)
    assert_same(local, crawl, tmp_path / "out.jsonl", settings, engine_of(engine, request))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_models_of_a_folder_clean_the_same_on_a_cluster(crawl, tmp_path, webwinnow, engine, request):
    assert webwinnow("learn", crawl[2], "-o", tmp_path / "models", "-q").returncode == 1  # some pages are invalid
    settings = RunSettings(models=str(tmp_path / "models"), jobs=2)
    run(crawl, tmp_path / "local.jsonl", settings)
    run(crawl, tmp_path / "out.jsonl", settings, engine=engine_of(engine, request))
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "local.jsonl").read_bytes()


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_cluster_learns_the_models_that_workers_learn(crawl, tmp_path, engine, request):
    settings = CollectionSettings(learn_pages=100, jobs=2)
    for inputs, update in ((crawl[:2], None), (crawl[2:], 3)):
        wanted = learn_sites(inputs, tmp_path / "local", settings, update=update)
        found = learn_sites(inputs, tmp_path / "out", settings, update=update, engine=engine_of(engine, request))
        assert found == wanted
    local, out = (
        {path.name: path.read_bytes() for path in (tmp_path / name).rglob("*.npz")} for name in ("local", "out")
    )
    assert out == local
    assert wanted.updated


@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_a_page_that_never_ends_fails_alone_on_a_cluster(make_pages, webwinnow, tmp_path, engine):
    if engine == "spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("there is no Java here")
    pytest.importorskip({"ray": "ray", "spark": "pyspark"}[engine])
    pages = make_pages("a.example", 40)
    pages[5]["html"] = "<p>" + "<b>x</b>" * 200_000
    path, out = tmp_path / "crawl.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    endless, judged = (code.format(hangs=str(tmp_path / "hangs")) for code in (ENDLESS, JUDGED))
    variables = os.environ | changed(tmp_path, "webwinnow.page.parsing", endless, workerpool=judged)
    done = webwinnow("clean", path, "-o", out, "--engine", engine, "--jobs", 2, "--page-seconds", 1.5, env=variables)
    assert done.returncode == 1, done.stderr
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["page_id"] for record in records] == [f"a.example/{n}" for n in range(40)]
    assert [record["page_id"] for record in records if record["outcome"] == "failed"] == ["a.example/5"]
    assert "longer than 1.5 s" in records[5]["reason"]
    assert "kept 39, dropped 0, failed 1" in done.stderr


def test_functions_in_a_users_own_spark_job_give_the_records_of_a_run(make_pages, spark_session, tmp_path):
    from webwinnow.run.engines.spark import clean_pages

    pages = make_pages("large.example", 800) + [page for n in range(9) for page in make_pages(f"s{n}.example", n)]
    pages.append({"url": "http://odd.example/", "page_id": "odd", "html": ""})
    path = tmp_path / "crawl.jsonl"
    path.write_text("".join(json.dumps(page) + "\n" for page in pages), encoding="utf-8")
    run([path], tmp_path / "out.jsonl", RunSettings(replicas=None))
    wanted = {json.loads(line)["page_id"]: json.loads(line) for line in (tmp_path / "out.jsonl").open()}
    frame = spark_session.cluster.session.read.json(str(path))
    found = [row.asDict() for row in clean_pages(frame, folder=tmp_path / "work").collect()]
    assert len(found) == len(wanted) == len(pages)
    for record in found:
        assert {name: value for name, value in record.items() if name in wanted[record["page_id"]]} == (
            wanted[record["page_id"]]
        )
