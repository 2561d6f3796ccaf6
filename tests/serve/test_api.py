"""The REST service: a real server, real requests."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow.parquet as pq
import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner
from webserver import Reply, WebServer

from webwinnow.cli.app import app
from webwinnow.record.fields import json_schema
from webwinnow.serve.context import bytes_in


def test_a_page_comes_back_as_its_record(server: Any, make_page: Callable[[int], str]) -> None:
    answer = server.client.post("/page", json={"html": make_page(1), "url": "http://other.example/1"})
    assert answer.status_code == 200
    record = answer.json()
    jsonschema.validate(record, json_schema())
    assert record["title"].startswith("Report 1")
    assert record["site"] == "other.example"
    assert "About us" not in record["text"]


def test_the_stop_words_of_the_server_are_those_of_pages_and_jobs(
    make_server: Callable[..., Any], make_crawl: Callable[[int], bytes], tmp_path: Path
) -> None:
    html = "<html lang=en><p>The river and the bridge are the river and the bridge of the old town.</p>"
    (tmp_path / "stop.tsv").write_text("river\t5\nbridge\t4\n", encoding="utf-8")
    server = make_server("--stop-words", str(tmp_path / "stop.tsv"))
    record = server.client.post("/page", json={"html": html, "method": "none"}).json()
    assert "the" in record["keywords"]
    assert {"river", "bridge"}.isdisjoint(record["keywords"])
    pages = b"".join(line.replace(b"<p>", b"<p>The river. ") + b"\n" for line in make_crawl(4).splitlines())
    job = server.wait(server.hand_in(pages)["id"])["id"]
    records = [json.loads(line) for line in server.client.get(f"/jobs/{job}/records").text.splitlines()]
    assert all("river" not in record["keywords"] and "the" in record["keywords"] for record in records)
    assert server.client.get("/search", params={"job": job, "q": "river"}).json()["hits"] == []
    assert server.client.get("/search", params={"job": job, "q": "the"}).json()["hits"]


def test_renderings_are_in_the_record_if_asked_for(server: Any) -> None:
    html = "<article><h1>A title</h1><p>Some words that are long enough to be the text of a page.</p></article>"
    record = server.client.post("/page", json={"html": html, "method": "none", "also": ["markdown", "html"]}).json()
    assert record["markdown"].startswith("# A title")
    assert "<p>" in record["html"]


def test_inspect_lists_every_block_with_its_reason(server: Any, make_page: Callable[[int], str]) -> None:
    answer = server.client.post("/inspect", json={"html": make_page(2)}).json()
    assert {decision["kept"] for decision in answer["decisions"]} == {True, False}
    assert all(decision["reason"] and decision["xpath"].startswith("/") for decision in answer["decisions"])


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"html": "x", "method": "magic"}, 422, "magic"),
        ({"html": "x", "task": "magic"}, 422, "magic"),
        ({"html": "x", "site_by": "magic"}, 422, "site_by"),
        ({"html": "x", "more": 1}, 422, "more"),
        ({"html": 3}, 422, "html"),
        ({}, 422, "html"),
        ({"html": "x" * 300_001}, 413, "longer"),
    ],
)
def test_a_wrong_request_gets_a_message_that_names_the_error(
    server: Any, body: dict[str, Any], status: int, word: str
) -> None:
    answer = server.client.post("/page", json=body)
    assert answer.status_code == status
    assert word in answer.json()["error"]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"html": "' + b"x" * 100, b"null"])
def test_a_body_that_is_no_json_is_refused(server: Any, body: bytes) -> None:
    answer = server.client.post("/page", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "html", ["", "\0", "<div>" * 50_000, "<table>" * 3_000, '<a href="javascript:alert(1)">x</a>', "\U0001f33e" * 10]
)
def test_hostile_pages_get_a_record(server: Any, html: str) -> None:
    answer = server.client.post("/page", json={"html": html})
    assert answer.status_code == 200
    jsonschema.validate(answer.json(), json_schema())


def test_a_lone_surrogate_is_no_failure_of_the_server(server: Any) -> None:
    answer = server.client.post("/page", content=b'{"html": "<p>\\ud800 words</p>"}')
    assert answer.status_code in (200, 422)


def test_a_job_leaves_the_bytes_that_clean_writes(
    server: Any, done: dict[str, Any], make_crawl: Callable[..., bytes], tmp_path: Path
) -> None:
    (tmp_path / "in.jsonl").write_bytes(make_crawl(12))
    result = CliRunner().invoke(app, ["clean", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out.jsonl"), "-q"])
    assert result.exit_code == 0
    answer = server.client.get(f"/jobs/{done['id']}/records")
    assert answer.content == (tmp_path / "out.jsonl").read_bytes()
    assert "attachment" in answer.headers["content-disposition"]


def test_a_job_sums_up_what_it_did(done: dict[str, Any]) -> None:
    assert done["summary"]["pages"] == 12
    assert done["summary"]["kept"] + done["summary"]["dropped"] + done["summary"]["failed"] == 12
    assert all(trouble is None for trouble in done["steps"].values()), done["steps"]


def test_records_come_as_parquet_too(server: Any, done: dict[str, Any]) -> None:
    answer = server.client.get(f"/jobs/{done['id']}/records", params={"format": "parquet"})
    rows = pq.read_table(BytesIO(answer.content)).to_pylist()
    assert [row["page_id"] for row in rows] == [
        json.loads(line)["page_id"] for line in server.client.get(f"/jobs/{done['id']}/records").text.splitlines()
    ]


def test_what_was_left_out_comes_with_reasons(server: Any, done: dict[str, Any]) -> None:
    lines = server.client.get(f"/jobs/{done['id']}/rejected").text.splitlines()
    assert lines
    assert all(json.loads(line)["reason"] for line in lines)


def test_the_pages_are_clustered(server: Any, done: dict[str, Any]) -> None:
    lines = server.client.get(f"/jobs/{done['id']}/clusters").text.splitlines()
    assert len(lines) == 12
    answer = server.client.get(f"/jobs/{done['id']}/clusters", params={"format": "html"})
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_the_clean_pages_can_be_searched(server: Any, done: dict[str, Any]) -> None:
    found = server.client.get("/search", params={"job": done["id"], "q": '"report 7"'}).json()
    assert found["hits"][0]["url"] == "http://news.example/7.html"
    assert found["hits"][0]["snippet"]["text"]
    wrong = server.client.get("/search", params={"job": done["id"], "q": "-report"})
    assert wrong.status_code == 422


def test_queries_are_completed_and_what_is_no_field_is_named(server: Any, done: dict[str, Any]) -> None:
    suggested = server.client.get("/suggest", params={"job": done["id"], "q": "repo"}).json()
    assert "report" in suggested
    found = server.client.get("/search", params={"job": done["id"], "q": "titel:report"}).json()
    assert found["unknown"] == ["titel"]


def test_a_job_crawls_a_url_that_is_sent_as_json(
    make_server: Callable[..., Any], make_page: Callable[[int], str]
) -> None:
    with WebServer(answer=lambda asked: make_page(7) if asked.path == "/" else Reply(b"", status=404)) as site:
        url = f"http://127.0.0.1:{site.port}/"
        server = make_server("--allow-private")
        answer = server.client.post("/jobs", json={"crawl": url, "crawl_pages": 1})
        assert answer.status_code == 201
        state = server.wait_for_records(answer.json()["id"])
    (line,) = server.client.get(f"/jobs/{state['id']}/records").text.splitlines()
    assert json.loads(line)["url"] == url
    both, none = {"crawl": url, "folder": "crawl.jsonl"}, {"crawl": url, "crawl_pages": 0}
    for wrong in ({"crawl": "ftp://a.example/"}, both, none):
        assert server.client.post("/jobs", json=wrong).status_code == 422


def test_the_report_can_ask_the_server_nothing(server: Any, done: dict[str, Any]) -> None:
    answer = server.client.get("/inspect", params={"job": done["id"]})
    assert answer.headers["content-type"].startswith("text/html")
    assert "connect-src" not in answer.headers["content-security-policy"]
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_pages_can_be_listed_in_the_request(server: Any, make_page: Callable[[int], str]) -> None:
    pages = [{"url": f"http://listed.example/{n}", "html": make_page(n)} for n in range(3)]
    answer = server.client.post("/jobs", json={"pages": pages, "name": "three pages", "method": "page"})
    assert answer.status_code == 201
    state = server.wait_for_records(answer.json()["id"])
    assert state["summary"]["pages"] == 3
    records = server.client.get(f"/jobs/{state['id']}/records").text.splitlines()
    assert {json.loads(line)["method"] for line in records} == {"page"}


def test_learned_sites_serve_single_pages(
    server: Any, make_crawl: Callable[..., bytes], make_page: Callable[[int], str]
) -> None:
    state = server.wait(server.hand_in(make_crawl(12, "learned.example"), where="/sites")["id"])
    assert state["status"] == "done", state
    sites = server.client.get("/sites").json()
    assert [(site["site"], site["pages"]) for site in sites] == [("learned.example", 12)]
    more = server.wait(server.hand_in(make_crawl(15, "learned.example"), where="/sites", update=True)["id"])
    assert (more["status"], more["summary"]["updated"], more["summary"]["redesigned"]) == ("done", 1, [])
    page = {"html": make_page(40), "url": "http://learned.example/40"}
    with_model = server.client.post("/page", json=page).json()
    assert "All rights reserved" not in with_model["text"]
    assert "nothing is known" not in (with_model["reason"] or "")
    assert "nothing is known" in server.client.post("/page", json=page | {"models": False}).json()["reason"]
    assert server.client.get("/sites/learned.example").json()["pages"] == 15
    assert server.client.delete("/sites/learned.example").status_code == 204
    assert server.client.get("/sites").json() == []
    assert "nothing is known" in server.client.post("/page", json=page).json()["reason"]


def test_a_job_that_is_over_can_be_removed(server: Any) -> None:
    state = server.wait(server.hand_in(b"\0" * 100, "noise.bin")["id"])
    assert server.client.delete(f"/jobs/{state['id']}").status_code == 200
    assert server.client.get(f"/jobs/{state['id']}").status_code == 404
    assert not (server.folder / "jobs" / state["id"]).exists()


def test_a_file_that_is_no_crawl_fails_with_a_word(server: Any) -> None:
    state = server.wait(server.hand_in(b"\x00\x01\x02" * 100, "noise.bin")["id"])
    assert state["status"] == "failed"
    assert state["error"]


def test_unknown_things_are_not_found(server: Any) -> None:
    for path in ("/jobs/0000000000000000", "/jobs/x/records", "/search?job=x&q=y", "/inspect?job=x", "/sites/x", "/no"):
        answer = server.client.get(path)
        assert answer.status_code == 404, path
        assert answer.json()["error"]


def test_health_and_metrics_report_the_state_of_the_service(server: Any, done: dict[str, Any]) -> None:
    assert server.client.get("/health").json()["status"] == "ok"
    families = {family.name: family for family in text_string_to_metric_families(server.client.get("/metrics").text)}
    assert families["webwinnow_requests"].samples
    counted = {sample.labels["status"]: sample.value for sample in families["webwinnow_jobs"].samples}
    assert counted["done"] >= 1


def test_the_log_names_jobs_and_never_what_pages_say(server: Any, done: dict[str, Any]) -> None:
    server.client.post("/page", json={"html": "<p>a-very-secret-word in a page</p>", "url": "http://secret.example/"})
    server.client.get("/search", params={"job": done["id"], "q": "another-secret"})
    log = server.log.read_text()
    assert f"job {done['id']} done" in log
    assert "secret" not in log


def test_a_damaged_model_does_not_hide_the_others(
    make_server: Callable[..., Any], make_crawl: Callable[..., bytes]
) -> None:
    server = make_server()
    assert server.wait(server.hand_in(make_crawl(4, "one.example"), where="/sites")["id"])["status"] == "done"
    models = next(server.folder.rglob("*.model.npz")).parent
    (models / "other.example-0000000000000000.model.npz").write_bytes(b"no model")
    assert [site["site"] for site in server.client.get("/sites").json()] == ["one.example"]


def test_the_disk_is_measured_while_files_come_and_go(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"12345")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            (tmp_path / "jobs").mkdir()
            (tmp_path / "jobs" / "passing").write_bytes(b"")
            shutil.rmtree(tmp_path / "jobs")

    worker = threading.Thread(target=churn)
    worker.start()
    try:
        assert {bytes_in(tmp_path) for _ in range(2_000)} == {5}
    finally:
        stop.set()
        worker.join()


def test_messages_do_not_name_folders_of_the_server(server, inputs):
    state = server.wait(server.hand_in(b"not gzip at all", "broken.warc.gz")["id"])
    assert state["status"] == "failed"
    assert "broken.warc.gz" in state["error"]
    said = [state["error"], *state["problems"], *filter(None, state["steps"].values())]
    missing = server.client.post("/jobs", json={"folder": "no/such/crawl.jsonl"})
    linked = server.client.post("/jobs", json={"folder": "out/passwd"})
    said += [missing.json()["error"], linked.json()["error"], server.client.get("/").text]
    for text in said:
        assert str(server.folder) not in text
        assert str(inputs) not in text
        assert "/tmp" not in text
