"""`experiment sites --crawl`: a pruned crawl against a fixed depth, on servers on loopback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sitepages import pages_of
from siteweb import SiteWeb, site_web, texts_of
from typer.testing import CliRunner
from webserver import WebServer

from webwinnow.cli.app import app
from webwinnow.crawl.guard import AddressGuard, Route
from webwinnow.crawl.settings import CrawlSettings
from webwinnow.papers.sites.crawl import CrawlComparison, CrawlRun, CrawlTrialSettings, SiteCrawl, compare_crawls
from webwinnow.run.inputs import open_pages

SAMPLE = Path(__file__).parents[3] / "samples" / "docs.warc.gz"
DOCS = Path(os.environ.get("WEBWINNOW_DATA") or "no-data") / "sites-docs.parquet"


@pytest.fixture(scope="module")
def web() -> SiteWeb:
    """Two sites of each of two topics."""
    pages: dict[str, list] = {}
    for page in open_pages([SAMPLE], on_problem=lambda _: None):
        pages.setdefault(page.url.split("/")[2].split(".")[0], []).append(page)
    texts = {name: texts_of(pages[name], 300) for name in ("glfw", "sqlite")}
    return site_web(texts, {"glfw": 2, "sqlite": 2}, hubs=3, below=8)


@pytest.fixture(scope="module")
def data(web: SiteWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [
        {"url": url, "html": html, "site": host, "label": web.topics[host]}
        for url, html in web.pages.items()
        if (host := url.split("/")[2])
    ]
    path = tmp_path_factory.mktemp("data") / "sites.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_pages_and_time_of_both_crawls_are_reported(web: SiteWeb, data: Path, tmp_path: Path) -> None:
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


def test_time_and_accuracy_of_sites_mine_are_reported_by_number_of_seeds(
    web: SiteWeb, data: Path, tmp_path: Path
) -> None:
    pytest.importorskip("ahocorasick_rs")
    terms = tmp_path / "terms.txt"
    terms.write_text("[glfw]\nwindow\ncallback\nmonitor\n[sqlite]\ndatabase\ntable\nindex\n")
    with WebServer(web.pages) as server:
        network = ["--delay", "0", "--allow", "127.0.0.1", "--resolve", server.route()]
        command = ["experiment", "sites", "--data", str(data), "--label", "label", "-o", str(tmp_path), "--crawl"]
        given = ["--seed-counts", "2", "--thesaurus", str(terms), "--set", "rules.first_pages=5", "--pages", "30"]
        done = CliRunner().invoke(app, [*command, *given, *network, "--quiet"])
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "siteseeds.json").read_text())
    rows = {row["way"]: row for row in found["rows"]}
    assert list(rows) == [
        "depth 0 to 2, superpage",
        "depth 0 to 2, multiscale",
        "first 5 pages, multiscale",
        "depth 0 to 2, multiscale, thesaurus",
        "first 5 pages, multiscale, thesaurus",
        "mine",
        "mine, pruned as published",
        "mine, thesaurus",
    ]
    fixed, mined = rows["depth 0 to 2, multiscale"], rows["mine"]
    assert {row["seeds"] for row in rows.values()} == {2}
    assert (fixed["read"], fixed["right"], fixed["accuracy"]) == (2, 2, 1.0)
    assert rows["first 5 pages, multiscale"]["pages"] == 10
    assert fixed["pages"] == 2 * 29  # the start page, about.html, 3 hubs and 24 pages below
    assert 0 < mined["pages"] < fixed["pages"]
    assert 0 <= mined["found_right"] <= mined["found"] <= mined["read"] <= 2
    assert all(rows[way]["downloading"] > 0 and rows[way]["classifying"] > 0 for way in ("mine", "mine, thesaurus"))
    assert rows["first 5 pages, multiscale"]["downloading"] is None
    assert "| 2 | mine, thesaurus |" in (tmp_path / "siteseeds.md").read_text()
    page = (tmp_path / "siteseeds.html").read_text()
    assert "Seconds of downloading by number of seeds" in page
    assert "Accuracy by pages read of each site" in page
    assert not list(tmp_path.glob("**/*.warc.gz"))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--seed-counts", "many", "--crawl"], "expected numbers as in 5,8,11"),
        (["--seed-counts", "2"], "and --crawl"),
        (["--seed-counts", "4", "--crawl"], "4 seeds of 4 sites with 2 topics"),
    ],
)
def test_senseless_numbers_of_seeds_are_refused(data: Path, tmp_path: Path, given: list[str], said: str) -> None:
    command = ["experiment", "sites", "--data", str(data), "--label", "label", "-o", str(tmp_path), "--quiet"]
    done = CliRunner().invoke(app, [*command, *given])
    assert done.exit_code != 0
    assert said in done.output + str(done.exception)


def test_what_is_saved_is_counted_by_hand() -> None:
    sites = [SiteCrawl("a", "x", "x", 0.9, 30, failed=False), SiteCrawl("b", "y", "x", 0.8, 10, failed=False)]
    fixed = CrawlRun("fixed", tuple(sites), crawling=10.0, judging=0.0, classifying=2.0, received=100)
    few = SiteCrawl("a", "x", "x", 0.9, 8, failed=False), SiteCrawl("b", "y", "y", 0.8, 2, failed=False)
    pruned = CrawlRun("pruned", few, crawling=4.0, judging=1.0, classifying=2.0, received=40, spotted=3)
    found = CrawlComparison("data", "multiscale", 1.0, fixed, pruned)
    assert (found.saved("pages"), found.saved("crawling"), found.saved("seconds")) == (0.75, 0.6, 0.5)
    assert (fixed.accuracy, pruned.accuracy) == (0.5, 1.0)
    report = "\n".join(found.report().summary)
    assert "saves 75.0 % of the pages, 60.0 % of the time of crawling" in report
    assert "1: b (x)" in report
    assert (fixed.spotting, pruned.spotting) == (0.0, 1.5)  # equation 15: three new sites, two to begin with
    assert "| 150 % |" in report


@pytest.mark.slow
@pytest.mark.skipif(not DOCS.is_file(), reason="WEBWINNOW_DATA names no folder with sites-docs")
def test_pruning_reads_fewer_pages_of_the_documentation_sites_with_at_most_one_more_error(tmp_path: Path) -> None:
    with WebServer(pages_of(DOCS).pages) as server:
        guard = AddressGuard(allow=("127.0.0.1/32",), routes=(Route.parse(server.route()),))
        found = compare_crawls(DOCS, tmp_path, CrawlSettings(delay=0.0, guard=guard), CrawlTrialSettings(pages=200))
    assert found.fixed.pages > 2500
    assert found.pruned.pages < 0.5 * found.fixed.pages
    assert len(found.pruned.errors) <= len(found.fixed.errors) + 1
