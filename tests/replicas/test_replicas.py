"""The command `webwinnow replicas`, and `replica_of` in the records of `webwinnow clean`."""

from __future__ import annotations

import json
import random

import pyarrow.parquet as pq
import pytest


def story(seed: int) -> str:
    chance = random.Random(seed)
    sentences = [" ".join(chance.choices([f"word{k}" for k in range(3000)], k=14)) for _ in range(20)]
    return "".join(f"<p>{sentence.capitalize()}.</p>" for sentence in sentences)


def page(site: str, number: int, body: str, **more: str) -> dict[str, str]:
    menu = "".join(f"<li><a href='/s{k}'>{site} section {k}</a>" for k in range(6))
    html = (
        f"<!doctype html><title>Tale {number}</title><body><ul class=menu>{menu}</ul>"
        f"<main><h1>Tale {number}</h1>{body}</main><footer>About {site}</footer>"
    )
    return {"url": f"http://{site}/p/{number}", "page_id": f"{site}/{number}", "html": html} | more


@pytest.fixture
def crawl(write_crawl):
    """Two sites; the first also has three tales of the second, one of them edited; one page was fetched twice."""
    pages = [page("a.example", number, story(number)) for number in range(6)]
    pages += [page("long.b.example", number, story(number)) for number in range(20, 24)]
    pages += [page("long.b.example", number, story(number)) for number in (0, 1)]
    pages.append(page("long.b.example", 2, story(2).replace("word29", "other29")))
    pages.append(page("a.example", 5, story(5), page_id="a.example/5-again", fetched_at="2020-01-01T00:00:00Z"))
    pages[5]["fetched_at"] = "2021-01-01T00:00:00Z"
    return write_crawl(pages)


STAYS = {
    "a.example/5-again": "a.example/5",
    "long.b.example/0": "a.example/0",
    "long.b.example/1": "a.example/1",
    "long.b.example/2": "a.example/2",
}


def replicas_of(lines: list[dict[str, str]]) -> dict[str, str]:
    return {line["page_id"]: line["replica_of"] for line in lines if line["replica_of"] is not None}


@pytest.mark.parametrize("clean", ["combined", "none"])
def test_one_line_per_page_with_cluster_and_kept_copy(webwinnow, records, crawl, tmp_path, clean):
    out = tmp_path / "replicas.jsonl"
    done = webwinnow("replicas", crawl, "-o", out, "--method", clean)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "replicas: 4 (3 copies, 1 version, 0 on mirrors)" in done.stderr
    lines = records(out)
    assert len(lines) == 14
    assert list(lines[0])[:4] == ["page_id", "url", "cluster", "replica_of"]
    assert replicas_of(lines) == STAYS
    cluster_of = {line["page_id"]: line["cluster"] for line in lines}
    assert all(cluster_of[replica] == cluster_of[stays] for replica, stays in STAYS.items())
    assert len(set(cluster_of.values())) == 10
    assert {line["relation"] for line in lines} == {None, "copy", "version"}


def test_clean_names_the_kept_copy_whatever_the_workers(webwinnow, records, crawl, tmp_path):
    written = []
    for jobs in (1, 2):
        out = tmp_path / f"clean{jobs}.jsonl"
        done = webwinnow("clean", crawl, "-o", out, "--jobs", jobs)
        assert "replicas: 4" in done.stderr
        assert replicas_of(records(out)) == STAYS
        written.append(out.read_bytes())
    assert written[0] == written[1]


def test_clean_without_replicas_says_nothing_of_them(webwinnow, records, crawl, tmp_path):
    out = tmp_path / "clean.jsonl"
    done = webwinnow("clean", crawl, "-o", out, "--no-replicas", "--method", "none")
    assert "replicas" not in done.stderr
    assert replicas_of(records(out)) == {}


def test_parquet_of_clean_and_of_replicas(webwinnow, crawl, tmp_path):
    for command, options in (("clean", ["--method", "none"]), ("replicas", ["--method", "none"])):
        out = tmp_path / f"{command}.parquet"
        assert webwinnow(command, crawl, "-o", out, *options).returncode == 0
        assert replicas_of(pq.read_table(out).to_pylist()) == STAYS


def test_records_of_clean_are_read_as_they_are(webwinnow, records, crawl, tmp_path):
    cleaned, out = tmp_path / "clean.jsonl.gz", tmp_path / "replicas.jsonl"
    webwinnow("clean", crawl, "-o", cleaned, "--method", "none", "--no-replicas")
    done = webwinnow("replicas", cleaned, "-o", out)
    assert done.returncode == 0, done.stderr
    assert replicas_of(records(out)) == STAYS


def test_records_with_values_of_other_types_are_compared(webwinnow, records, tmp_path):
    text = "the mill by the river grinds grain for all the villages around it"
    odd = [{"url": "\ud800"}, {"title": 7}, {"date": {}}, {"page_id": [1]}, {"reason": 3, "outcome": "failed"}]
    lines = [{"url": f"http://a.example/{n}", "outcome": "kept", "text": text} | more for n, more in enumerate(odd)]
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="ascii")
    done = webwinnow("replicas", tmp_path / "records.jsonl", "-o", tmp_path / "replicas.jsonl")
    assert done.returncode == 1, done.stderr  # a page had failed
    assert [row["reason"] for row in records(tmp_path / "replicas.jsonl")] == [None] * 4 + ["3"]


def test_pages_and_records_are_not_mixed(webwinnow, crawl, tmp_path):
    cleaned = tmp_path / "clean.jsonl"
    webwinnow("clean", crawl, "-o", cleaned, "--method", "none")
    done = webwinnow("replicas", crawl, cleaned, "-o", "-")
    assert done.returncode == 2
    assert "one or the other" in done.stderr


def test_published_fingerprint_finds_equal_pages_only(webwinnow, crawl):
    done = webwinnow("replicas", crawl, "-o", "-", "--fingerprint", "published", "-q")
    found = replicas_of([json.loads(line) for line in done.stdout.splitlines()])
    assert found.keys() == STAYS.keys() - {"long.b.example/2"}


def test_failed_and_wordless_pages_have_a_line_too(webwinnow, records, write_crawl, tmp_path):
    crawl = write_crawl([page("a.example", 1, story(1)), {"url": "http://a.example/2"}, page("a.example", 3, "")])
    out = tmp_path / "replicas.jsonl"
    done = webwinnow("replicas", crawl, "-o", out, "--method", "page")
    assert done.returncode == 1
    lines = records(out)
    assert len(lines) == 3
    assert len({line["cluster"] for line in lines}) == 3
    assert "html" in lines[1]["reason"]


@pytest.mark.parametrize("options", [["--fingerprint", "other"], ["--threshold", "2"], ["--method", "other"]])
def test_bad_settings_are_reported(webwinnow, crawl, options):
    done = webwinnow("replicas", crawl, "-o", "-", *options)
    assert done.returncode == 2
    assert "webwinnow:" in done.stderr or "Invalid value for '--threshold'" in done.stderr
