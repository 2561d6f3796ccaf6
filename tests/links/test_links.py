"""The command `webwinnow links`, and `--task`."""

from __future__ import annotations

import csv
import json
import re
from xml.etree import ElementTree

import pyarrow.parquet as pq

RELATED = """<aside class="related-posts"><h3>Related posts</h3><ul>
<li><a href="/p/{one}">Why the story of number {one} is told again</a></li>
<li><a href="/p/{two}#end">What became of story {two} in the end</a></li></ul></aside>"""


def crawl_of(make_pages, count=12):
    pages = make_pages("a.example", count)
    for number, page in enumerate(pages):
        page["html"] = page["html"].replace(
            "</main>", "</main>" + RELATED.format(one=(number + 1) % count, two=(number + 2) % count)
        )
    return pages


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_recommendations_count_and_menus_do_not(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    done = webwinnow("links", crawl, "-o", tmp_path / "links.jsonl", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    edges = lines_of(tmp_path / "links.jsonl")
    assert list(edges[0]) == ["source", "target", "anchor", "kind", "score", "kept", "page_id", "site"]
    assert all(edge["kept"] for edge in edges)
    targets = {edge["target"] for edge in edges if edge["source"] == "http://a.example/p/0"}
    assert targets == {"http://a.example/p/1", "http://a.example/p/2"}
    assert "12 pages of 1 site" in done.stderr


def test_all_links_are_listed_with_whether_they_count(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    assert webwinnow("links", crawl, "-o", tmp_path / "links.jsonl", "--all", "-q").returncode == 0
    edges = lines_of(tmp_path / "links.jsonl")
    menu = [edge for edge in edges if edge["target"].startswith("http://a.example/s")]
    assert len(menu) == 12 * 6
    assert not any(edge["kept"] for edge in menu)
    assert all(edge["kind"].endswith("-directory") for edge in menu)


def test_same_bytes_with_one_and_two_workers(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages, 80) + make_pages("b.example", 3))
    for jobs in (1, 2):
        assert webwinnow("links", crawl, "-o", tmp_path / f"{jobs}.jsonl", "--all", "--jobs", jobs).returncode == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_parquet_and_csv_hold_the_same_links(webwinnow, write_crawl, make_pages, tmp_path):
    pages = crawl_of(make_pages)
    pages[0]["html"] = pages[0]["html"].replace("Why the", "=1+1 the")
    crawl = write_crawl(pages)
    for ending in ("jsonl", "parquet", "csv"):
        assert webwinnow("links", crawl, "-o", tmp_path / f"links.{ending}", "-q").returncode == 0
    edges = lines_of(tmp_path / "links.jsonl")
    assert pq.read_table(tmp_path / "links.parquet").to_pylist() == edges
    with (tmp_path / "links.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["target"] for row in rows] == [edge["target"] for edge in edges]
    assert rows[0]["kept"] == "true"
    assert next(row["anchor"] for row in rows if "1+1" in row["anchor"]).startswith("'=1+1")


def test_a_page_that_cannot_be_read_is_exit_code_1_and_the_rest_is_there(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    with crawl.open("a") as lines:
        lines.write("no json\n")
    done = webwinnow("links", crawl, "-o", tmp_path / "links.jsonl")
    assert done.returncode == 1
    assert lines_of(tmp_path / "links.jsonl")


def test_clean_for_a_task_keeps_what_the_task_wants(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    (tmp_path / "mine.toml").write_text('keeps = ["page-recommendation"]', encoding="utf-8")
    texts = {}
    for task in ("content", "structure", tmp_path / "mine.toml"):
        out = tmp_path / "out.jsonl"
        assert webwinnow("clean", crawl, "-o", out, "--task", task, "-q").returncode == 0
        texts[str(task)] = lines_of(out)[0]["text"]
    content, structure, mine = texts.values()
    assert "is told again" not in content
    assert "is told again" in structure
    assert "section 3" not in structure
    assert mine == structure


def test_content_is_the_default_and_changes_nothing(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    assert webwinnow("clean", crawl, "-o", tmp_path / "a.jsonl", "-q").returncode == 0
    assert webwinnow("clean", crawl, "-o", tmp_path / "b.jsonl", "--task", "content", "-q").returncode == 0
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_an_unknown_task_is_exit_2(webwinnow, write_crawl, make_pages, tmp_path):
    for name in ("clean", "links"):
        done = webwinnow(name, write_crawl(make_pages("a.example", 2)), "-o", tmp_path / "o.jsonl", "--task", "cooking")
        assert done.returncode == 2
        assert "there is no task 'cooking'" in done.stderr


def test_the_summary_counts_links_by_kind(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(crawl_of(make_pages))
    done = webwinnow("links", crawl, "-o", tmp_path / "links.jsonl")
    kept = sum(edge["kept"] for edge in lines_of(tmp_path / "links.jsonl"))
    assert f"  kept: {kept} links (page-recommendation {kept})" in done.stderr
    (kinds,) = re.findall(r"  removed: 72 links \((.*)\)", done.stderr)
    counts = [
        int(kind.removeprefix("global").removeprefix("hybrid").removeprefix("-directory "))
        for kind in kinds.split(", ")
    ]
    assert sum(counts) == 72
    assert counts == sorted(counts, reverse=True)


def test_links_are_written_as_a_graph_and_as_an_edge_list(webwinnow, write_crawl, make_pages, tmp_path):
    pages = crawl_of(make_pages, 4)
    pages[0]["html"] = pages[0]["html"].replace("Why the story", "Why & how the <story")
    crawl = write_crawl(pages)
    assert webwinnow("links", crawl, "-o", tmp_path / "links.jsonl", "-q").returncode == 0
    edges = [(edge["source"], edge["target"]) for edge in lines_of(tmp_path / "links.jsonl")]
    assert webwinnow("links", crawl, "-o", tmp_path / "links.graphml", "-q").returncode == 0
    graph = ElementTree.parse(tmp_path / "links.graphml").getroot()
    space = "{http://graphml.graphdrawing.org/xmlns}"
    assert [(edge.get("source"), edge.get("target")) for edge in graph.iter(f"{space}edge")] == edges
    nodes = [node.get("id") for node in graph.iter(f"{space}node")]
    assert sorted(nodes) == sorted({url for edge in edges for url in edge})
    sites = {node.get("id"): node.findtext(f"{space}data") for node in graph.iter(f"{space}node")}
    assert {sites[source] for source, _ in edges} == {"a.example"}
    done = webwinnow("links", crawl, "-o", "-", "--format", "edges", "-q")
    assert [tuple(line.split("\t")) for line in done.stdout.splitlines()] == edges


def test_formats_of_pages_and_of_links_are_not_mixed_up(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(make_pages("a.example", 2))
    for command, format in (("links", "markdown"), ("clean", "graphml")):
        done = webwinnow(command, crawl, "-o", tmp_path / "out", "--format", format)
        assert done.returncode == 2
        assert "expected another format" in done.stderr
