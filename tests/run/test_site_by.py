"""`--site-by none` and `--site-by all`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def crawl(write_crawl, make_pages) -> Path:
    """Pages of two sites, alternating."""
    first, second = make_pages("b.example", 4), make_pages("a.example", 4)
    return write_crawl([page for pair in zip(first, second, strict=True) for page in pair])


@pytest.mark.parametrize("method", ["combined", "repeated", "sst"])
def test_without_sites_each_page_is_cleaned_as_if_alone(webwinnow, records, crawl, tmp_path, method):
    out = tmp_path / "out.jsonl"
    assert (
        webwinnow("clean", crawl, "-o", out, "--site-by", "none", "--method", method, "--no-replicas").returncode == 0
    )
    page = tmp_path / "page.html"
    for record, given in list(zip(records(out), records(crawl), strict=True))[2:4]:
        page.write_text(given["html"], encoding="utf-8")
        alone = webwinnow("page", page, "--url", given["url"], "--method", method, "--format", "json")
        expected = json.loads(alone.stdout)
        ours = {name: record[name] for name in expected if name not in ("page_id", "site")}
        assert ours == {name: value for name, value in expected.items() if name in ours}


def test_without_sites_records_are_in_input_order_and_name_the_host(webwinnow, records, crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", crawl, "-o", out, "--site-by", "none", "--jobs", 2)
    assert [record["url"] for record in records(out)] == [page["url"] for page in records(crawl)]
    assert [record["site"] for record in records(out)] == ["b.example", "a.example"] * 4
    assert "8 pages of 2 sites" in done.stderr


def test_a_failed_page_without_a_site_names_its_host_too(webwinnow, records, write_crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    crawl = write_crawl([{"url": "http://a.example/1", "html": None}])
    assert webwinnow("clean", crawl, "-o", out, "--site-by", "none", "--rejected", tmp_path / "r.jsonl").returncode == 1
    assert [record["site"] for record in records(out)] == ["a.example"]
    assert [record["site"] for record in records(tmp_path / "r.jsonl")] == ["a.example"]


def test_all_pages_can_be_one_site(webwinnow, records, crawl, tmp_path):
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", crawl, "-o", out, "--site-by", "all")
    assert {record["site"] for record in records(out)} == {""}
    assert "8 pages of 1 site" in done.stderr


@pytest.mark.parametrize(
    "words",
    [["learn"], ["inspect"], ["sites", "train", "--label", "url"], ["clean", "--models", "models"]],
    ids=lambda words: words[0],
)
def test_commands_that_need_sites_reject_none(webwinnow, crawl, tmp_path, words):
    assert webwinnow("learn", crawl, "-o", tmp_path / "models").returncode == 0
    options = [tmp_path / word if word == "models" else word for word in words]
    out = tmp_path / ("out.html" if words == ["inspect"] else "out.npz")
    done = webwinnow(*options, crawl, "-o", out, "--site-by", "none")
    assert done.returncode == 2
    assert "--site-by none has no sites" in done.stderr


def test_features_without_sites_are_plain_counts(webwinnow, crawl, tmp_path):
    for weighting in ("cst", "tfidf"):
        out = tmp_path / f"{weighting}.npz"
        done = webwinnow("features", crawl, "-o", out, "--site-by", "none", "--weighting", weighting)
        assert done.returncode == 0, done.stderr
    assert (np.load(tmp_path / "cst.npz")["data"] >= 1).all()
