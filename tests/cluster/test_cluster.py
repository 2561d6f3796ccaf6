"""The command `webwinnow cluster`."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from webwinnow.cli.app import app
from webwinnow.errors import WebwinnowError

TOPICS = {
    "cats": "cat kitten whiskers purring paws litter meow feline claws basket",
    "cars": "engine wheel gearbox brake diesel motor clutch driver garage piston",
    "bread": "flour yeast oven crust dough loaf bakery rye sourdough kneading",
}


def topic_pages(pages_each=12):
    """Two sites with the same boilerplate on every page, with stories on three topics."""
    pages = []
    for t, (topic, words) in enumerate(TOPICS.items()):
        known = words.split()
        for number in range(pages_each):
            site = f"{'ab'[number % 2]}.example"
            menu = "".join(f"<li><a href='/{k}'>{site} department {k} offers</a>" for k in "xyz")
            said = [" ".join(known[(number * 3 + k * j) % len(known)] for k in range(7)) for j in (1, 2, 3)]
            body = "".join(f"<p>{text}</p>" for text in said)
            html = (
                f"<!doctype html><title>{topic.title()} {number}</title><body><ul class=menu>{menu}</ul>"
                f"<main><h1>{known[number % len(known)]}</h1>{body}</main><footer>About the company {site}</footer>"
            )
            url = f"http://{site}/{t}/{number}"
            pages.append({"url": url, "page_id": f"{topic}/{number}", "html": html, "topic": topic})
    return pages


@pytest.fixture
def cluster(tmp_path):
    """The command in this process: exit code, stderr, and the error it ended with."""

    def run(*arguments):
        return CliRunner().invoke(app, ["cluster", *map(str, arguments), "--jobs", "1"])

    return run


def test_pages_fall_into_their_topics_with_names_and_a_page_to_browse(webwinnow, write_crawl, records, tmp_path):
    out = tmp_path / "clusters.jsonl"
    pages = topic_pages()
    pages.append({"url": "http://a.example/empty", "page_id": "empty", "html": "<title>nothing</title>"})
    done = webwinnow("cluster", write_crawl(pages), "-k", 3, "-o", out, "--label", "topic", "--jobs", 2)
    assert done.returncode == 0, done.stderr
    found = {record["page_id"]: record for record in records(out)}
    assert len(found) == len(pages)
    assert list(records(out)[0]) == ["page_id", "url", "cluster", "name", "similarity", "date", "reason"]
    assert found["empty"]["cluster"] is None
    assert found["empty"]["reason"] == "no features to compare"
    for topic, words in TOPICS.items():
        own = [record for name, record in found.items() if name.startswith(topic)]
        assert len({record["cluster"] for record in own}) == 1
        assert set(own[0]["name"].replace(",", "").split()) <= set(words.split())
        assert all(0 < record["similarity"] <= 1 for record in own)
    assert "F 1.000, purity 1.000" in done.stderr
    assert "1 page has no features to compare and is in no cluster" in done.stderr
    html = (tmp_path / "clusters.jsonl.html").read_text(encoding="utf-8")
    assert all(f">Cats {number}</a>" in html for number in range(12))
    assert "1 page in no cluster" in html


def test_a_feature_file_gives_the_clusters_of_its_pages(cluster, write_crawl, records, tmp_path):
    crawl, features = write_crawl(topic_pages()), tmp_path / "f.npz"
    done = CliRunner().invoke(app, ["features", str(crawl), "-o", str(features), "--jobs", "1", "--weighting", "topic"])
    assert done.exit_code == 0, done.output
    outs = [tmp_path / "pages.jsonl", tmp_path / "rows.jsonl"]
    for given, out in zip((crawl, features), outs, strict=True):
        assert cluster(given, "-k", 3, "-o", out, "--no-report").exit_code == 0
    one, two = map(records, outs)
    assert [(r["page_id"], r["cluster"], r["similarity"]) for r in one] == [
        (r["page_id"], r["cluster"], r["similarity"]) for r in two
    ]
    assert two[0]["url"] is None
    assert not list(tmp_path.glob("*.html"))
    scored = cluster(
        features, "-k", 3, "-o", tmp_path / "c.jsonl", "--no-report", "--label", "topic", "--labels", crawl
    )
    assert "F 1.000" in scored.stderr


def test_the_same_bytes_with_the_same_seed_and_a_suggested_number(cluster, write_crawl, tmp_path):
    crawl = write_crawl(topic_pages(8))
    written = []
    for name in ("one.csv", "two.csv"):
        done = cluster(crawl, "-o", tmp_path / name, "--seed", 4)
        assert done.exit_code == 0, done.output
        assert "suggested" in done.stderr
        written.append([(tmp_path / f"{name}{end}").read_bytes() for end in ("", ".html")])
    assert written[0] == written[1]
    rows = list(csv.DictReader(written[0][0].decode().splitlines()))
    assert len(rows) == 24
    assert len({row["cluster"] for row in rows}) == 3


def test_the_hierarchy_is_cut_and_the_clusters_are_written_as_json(cluster, write_crawl, records, tmp_path):
    pages = topic_pages(8)
    for number, page in enumerate(pages):
        page["html"] = page["html"].replace("<title>", f"<meta name=date content=2015-0{1 + number % 3}-01><title>")
    out, topics = tmp_path / "c.jsonl", tmp_path / "topics.json"
    done = cluster(write_crawl(pages), "-k", 3, "-o", out, "--groups", 2, "--topics", topics, "--no-report")
    assert done.exit_code == 0, done.output
    lines = records(out)
    assert {line["group"] for line in lines} == {1, 2}
    assert len({(line["cluster"], line["group"], line["group_name"]) for line in lines}) == 3
    assert {line["date"] for line in lines} == {"2015-01-01", "2015-02-01", "2015-03-01"}
    found = json.loads(topics.read_text())
    assert [one["pages"] for one in found["clusters"]] == [8, 8, 8]
    assert [merge["group"] for merge in found["merges"]] == [4, 5]
    assert found["over_time"]["periods"] == ["2015-01-01", "2015-02-01", "2015-03-01"]
    assert sum(map(sum, found["over_time"]["pages"].values())) == 24


def test_pages_between_dense_clusters_are_outliers(cluster, write_crawl, records, tmp_path):
    pages = topic_pages(12)
    strays = "kitten engine flour whiskers gearbox yeast paws brake oven"
    pages.append({"url": "http://a.example/stray", "page_id": "stray", "html": f"<title>All</title><p>{strays}"})
    done = cluster(
        write_crawl(pages), "-o", tmp_path / "c.jsonl", "--algorithm", "hdbscan", "--min-pages", 5, "--no-report"
    )
    assert done.exit_code == 0, done.output
    found = {line["page_id"]: line for line in records(tmp_path / "c.jsonl")}
    assert found["stray"]["reason"] == "an outlier: similar to no cluster"
    assert "1 page is an outlier, in no cluster" in done.stderr
    more = ("--algorithm", "hdbscan", "--min-pages", 5, "-k", 8, "--no-report")
    done = cluster(write_crawl(pages), "-o", tmp_path / "c.jsonl", *more)
    assert "fewer than 8 clusters: hdbscan found no more" in done.stderr


def test_a_number_of_clusters_that_does_not_stand_out_is_reported(cluster, write_crawl, tmp_path):
    rng = np.random.default_rng(0)
    said = [" ".join(f"word{chr(97 + k)}" for k in rng.choice(26, 8, replace=False)) for _ in range(60)]
    pages = [{"url": f"http://a.example/{n}", "html": f"<p>{text}"} for n, text in enumerate(said)]
    done = cluster(write_crawl(pages), "-o", tmp_path / "c.jsonl", "--no-report")
    assert "no number of clusters from 2 to 20 stands out; -k gives one that suits you" in done.stderr


def test_lines_go_to_stdout_and_the_page_where_it_is_asked_for(cluster, write_crawl, tmp_path):
    page = tmp_path / "map.html"
    done = cluster(write_crawl(topic_pages(4)), "-k", 2, "-o", "-", "--report", page, "-q", "--weighting", "tfidf")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("\n") == 12
    assert done.stderr == ""
    assert page.exists()


def test_a_page_that_failed_has_a_line_and_the_exit_code_says_so(cluster, write_crawl, records, tmp_path):
    crawl, out = write_crawl(topic_pages(4)), tmp_path / "c.jsonl"
    with crawl.open("a") as lines:
        lines.write("no json\n")
    done = cluster(crawl, "-k", 2, "-o", out)
    assert done.exit_code == 1
    failed = [record for record in records(out) if record["cluster"] is None]
    assert len(failed) == 1
    assert "no JSON" in failed[0]["reason"]
    assert len(records(out)) == 13


def test_pages_that_say_the_same_and_a_single_page_are_one_cluster(cluster, write_crawl, records, tmp_path):
    same = {"html": "<p>the same engine and gearbox</p>"}
    alike = [{"url": f"http://h{k}.example/", "page_id": str(k), **same} for k in range(8)]
    for pages in (alike, alike[:1]):
        done = cluster(write_crawl(pages), "-o", tmp_path / "c.jsonl", "--weighting", "tfidf", "--no-report")
        assert done.exit_code == 0, done.output
        assert {record["cluster"] for record in records(tmp_path / "c.jsonl")} == {1}
    done = cluster(write_crawl(alike), "-k", 3, "-o", tmp_path / "c.jsonl", "--weighting", "tfidf", "--no-report")
    assert "2 of 3 clusters got no page" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-k", "9"], "9 clusters of 6 pages with features"),
        (["--start", "best"], "k-means"),
        (["--weighting", "none"], "no weighting"),
        (["--label", "brand"], "no page with a 'brand'"),
        (["--labels", "x.jsonl"], "give --label"),
        (["--report", "nowhere/map.html"], "nowhere does not exist"),
        (["--format", "markdown"], "jsonl, csv or parquet"),
    ],
)
def test_invalid_input_is_reported(cluster, write_crawl, tmp_path, arguments, said):
    done = cluster(write_crawl(topic_pages(2)), "-o", tmp_path / "c.jsonl", *arguments)
    assert isinstance(done.exception, WebwinnowError)
    assert re.search(re.escape(said), str(done.exception))
    assert not (tmp_path / "c.jsonl").exists()


def test_a_broken_feature_file_and_one_beside_pages_are_refused(cluster, write_crawl, tmp_path):
    (tmp_path / "f.npz").write_bytes(b"no features")
    assert "not a feature file" in str(cluster(tmp_path / "f.npz", "-o", tmp_path / "c.jsonl").exception)
    both = cluster(tmp_path / "f.npz", write_crawl(topic_pages(2)), "-o", tmp_path / "c.jsonl")
    assert "one feature file or pages" in str(both.exception)
