"""`experiment sites --crawl`: a pruned crawl against a fixed depth, on servers on loopback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sitepages import pages_of
from siteweb import site_web, texts_of
from typer.testing import CliRunner
from webserver import WebServer

from webwinnow.cli import app
from webwinnow.crawl import AddressGuard, CrawlSettings, Route
from webwinnow.experiments.sitecrawl import CrawlComparison, CrawlRun, SiteCrawl, compare_crawls, crawl_table
from webwinnow.io import open_pages

SAMPLE = Path(__file__).parents[2] / "samples" / "docs.warc.gz"
DOCS = Path(os.environ.get("WEBWINNOW_DATA") or "no-data") / "sites-docs.parquet"


def test_pages_and_time_of_both_crawls_are_reported(tmp_path: Path) -> None:
    pages: dict[str, list] = {}
    for page in open_pages([SAMPLE], on_problem=lambda _: None):
        pages.setdefault(page.url.split("/")[2].split(".")[0], []).append(page)
    texts = {name: texts_of(pages[name], 300) for name in ("glfw", "sqlite")}
    web = site_web(texts, {"glfw": 2, "sqlite": 2}, hubs=3, below=8)
    rows = [
        {"url": url, "html": html, "site": host, "label": web.topics[host]}
        for url, html in web.pages.items()
        if (host := url.split("/")[2])
    ]
    data = tmp_path / "sites.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with WebServer(web.pages) as server:
        network = ["--delay", "0", "--allow", "127.0.0.1", "--resolve", server.route()]
        command = ["experiment", "sites", "--data", str(data), "--label", "label", "-o", str(tmp_path), "--crawl"]
        done = CliRunner().invoke(app, [*command, *network, "--quiet"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "sitecrawl.json").read_text())
    fixed, pruned = found["ways"]["depth 0 to 2"], found["ways"]["pruned"]
    assert fixed["pages"] == len(web.pages)
    assert pruned["pages"] == sum(site["pages"] for site in pruned["sites"]) < fixed["pages"]
    assert [site["topic"] for site in pruned["sites"]] == [site["label"] for site in pruned["sites"]]
    assert found["saved"]["pages"] == pytest.approx(1 - pruned["pages"] / fixed["pages"])
    assert "| pruned |" in (tmp_path / "sitecrawl.md").read_text()
    assert not list(tmp_path.glob("**/*.warc.gz"))


def test_what_is_saved_is_counted_by_hand() -> None:
    sites = [SiteCrawl("a", "x", "x", 0.9, 30, failed=False), SiteCrawl("b", "y", "x", 0.8, 10, failed=False)]
    fixed = CrawlRun("fixed", tuple(sites), crawling=10.0, judging=0.0, classifying=2.0, received=100)
    few = SiteCrawl("a", "x", "x", 0.9, 8, failed=False), SiteCrawl("b", "y", "y", 0.8, 2, failed=False)
    pruned = CrawlRun("pruned", few, crawling=4.0, judging=1.0, classifying=2.0, received=40, spotted=3)
    found = CrawlComparison("data", "multiscale", 1.0, fixed, pruned)
    assert (found.saved("pages"), found.saved("crawling"), found.saved("seconds")) == (0.75, 0.6, 0.5)
    assert (fixed.accuracy, pruned.accuracy) == (0.5, 1.0)
    assert "saves 75.0 % of the pages, 60.0 % of the time of crawling" in crawl_table(found)
    assert "1: b (x)" in crawl_table(found)
    assert (fixed.spotting, pruned.spotting) == (0.0, 1.5)  # equation 15: three new sites, two to begin with
    assert "| 150 % |" in crawl_table(found)


@pytest.mark.slow
@pytest.mark.skipif(not DOCS.is_file(), reason="WEBWINNOW_DATA names no folder with sites-docs")
def test_pruning_reads_fewer_pages_of_the_documentation_sites_with_at_most_one_more_error(tmp_path: Path) -> None:
    with WebServer(pages_of(DOCS).pages) as server:
        guard = AddressGuard(allow=("127.0.0.1/32",), routes=(Route.parse(server.route()),))
        found = compare_crawls(DOCS, tmp_path, CrawlSettings(delay=0.0, guard=guard), most=200)
    assert found.fixed.pages > 2500
    assert found.pruned.pages < 0.5 * found.fixed.pages
    assert len(found.pruned.errors) <= len(found.fixed.errors) + 1
