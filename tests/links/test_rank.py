"""The command `webwinnow rank`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

PAGES = 12


def linked_crawl(make_pages):
    """Every page has a menu link to the imprint; a recommendation leads from each page to the next, and to page 3."""
    pages = make_pages("a.example", PAGES)
    for number, page in enumerate(pages):
        box = (
            '<aside class="related-posts"><h3>Related posts</h3><ul>'
            f'<li><a href="/p/{(number + 1) % PAGES}">Why the story of number {number} goes on here</a></li>'
            f'<li><a href="/p/3">What story {number} has to do with the third</a></li></ul></aside>'
        )
        page["html"] = page["html"].replace("/s0", "/p/7").replace("</main>", "</main>" + box)
    return pages


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_links(path, links):
    path.write_text("".join(json.dumps(link) + "\n" for link in links), encoding="utf-8")
    return path


def link(source, target, kept=True, **more):
    return {"source": f"http://{source}", "target": f"http://{target}", "kept": kept} | more


def test_menu_pages_fall_and_recommended_pages_rise(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(linked_crawl(make_pages))
    done = webwinnow("rank", crawl, "-o", tmp_path / "ranks.jsonl", "--jobs", 1)
    assert done.returncode == 0, done.stderr
    rows = {row["url"].rpartition("/")[2]: row for row in lines_of(tmp_path / "ranks.jsonl")}
    assert len(rows) == PAGES
    menu, recommended = rows["7"], rows["3"]
    assert (menu["links_in_before"], menu["links_in_after"]) == (11, 1)
    assert (recommended["links_in_before"], recommended["links_in_after"]) == (11, 11)
    for score in ("pagerank", "authority"):
        assert menu[f"{score}_after"] < menu[f"{score}_before"] / 2
        assert recommended[f"{score}_after"] > recommended[f"{score}_before"]
        assert max(rows.values(), key=lambda row: row[f"{score}_after"]) is recommended
    assert next(iter(rows)) == "3"
    assert sum(row["pagerank_after"] for row in rows.values()) == pytest.approx(1.0, abs=1e-9)
    assert sum(row["hub_after"] ** 2 for row in rows.values()) == pytest.approx(1.0, abs=1e-9)
    assert "12 pages, 32 links between them, 22 of them after cleaning" in done.stderr
    fell = done.stderr.partition("fell most:")[2].splitlines()[1]
    assert fell.endswith("http://a.example/p/7")


def test_links_give_the_same_scores_as_their_pages(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl(linked_crawl(make_pages))
    assert webwinnow("links", crawl, "-o", tmp_path / "links.parquet", "--all", "-q").returncode == 0
    for given, out in ((crawl, "a.jsonl"), (tmp_path / "links.parquet", "b.jsonl")):
        done = webwinnow("rank", given, "-o", tmp_path / out, "-q")
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()


def test_csv_and_parquet_have_the_same_scores(webwinnow, tmp_path):
    links = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "b/1"), link("b/1", "a/2", kept=False)])
    for ending in ("jsonl", "csv", "parquet"):
        done = webwinnow("rank", links, "-o", tmp_path / f"r.{ending}", "--algorithm", "pagerank", "-q")
        assert done.returncode == 0, done.stderr
    rows = lines_of(tmp_path / "r.jsonl")
    assert list(rows[0]) == ["url", "site", "links_in_before", "links_in_after", "pagerank_before", "pagerank_after"]
    assert pq.read_table(tmp_path / "r.parquet").to_pylist() == rows
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        assert [float(row["pagerank_after"]) for row in csv.DictReader(file)] == [row["pagerank_after"] for row in rows]


def test_damping_0_makes_all_pages_equal(webwinnow, tmp_path):
    links = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "a/1"), link("a/3", "a/1")])
    done = webwinnow("rank", links, "-o", "-", "-q", "--damping", 0, "--algorithm", "pagerank")
    assert {json.loads(line)["pagerank_after"] for line in done.stdout.splitlines()} == {0.333333333333}


def test_sites_are_ranked_by_the_links_between_them(webwinnow, tmp_path):
    """Both pages of a link to b, which links to c: one link from a to b, none within a."""
    links = [
        link("a/1", "b/1"),
        link("a/2", "b/2"),
        link("a/1", "a/2"),
        link("b/1", "c/1"),
        link("c/1", "b/1", kept=False),
    ]
    done = webwinnow("rank", write_links(tmp_path / "l.jsonl", links), "-o", "-", "--by", "site", "--targets")
    rows = {row["site"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert {site: (row["links_in_before"], row["links_in_after"]) for site, row in rows.items()} == {
        "a": (0, 0),
        "b": (2, 1),
        "c": (1, 1),
    }
    assert "3 sites, 3 links between them, 2 of them after cleaning" in done.stderr


def test_links_within_a_site_are_left_out_on_request(webwinnow, tmp_path):
    links = [link("a/1", "a/2"), link("a/2", "b/1"), link("b/1", "a/2")]
    given = write_links(tmp_path / "l.jsonl", links)
    done = webwinnow("rank", given, "-o", "-", "--between-sites", "--algorithm", "hits")
    rows = {row["url"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert rows["http://a/2"]["links_in_before"] == 1
    assert rows["http://a/1"]["hub_before"] == 0


def test_only_pages_are_ranked_unless_targets_are_asked_for(webwinnow, tmp_path):
    given = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "a/1"), link("a/2", "out/1")])
    for option, count in ((), 2), (("--targets",), 3):
        done = webwinnow("rank", given, "-o", "-", "-q", *option)
        assert len(done.stdout.splitlines()) == count


def test_hits_of_a_query_weighs_the_neighbourhood_of_its_pages(webwinnow, tmp_path):
    """Without a root the clique of x wins; around b/1 only its neighbours have a weight. PageRank ignores the root."""
    clique = [link(f"x/{i}", f"x/{j}") for i in range(4) for j in range(4) if i != j]
    links = write_links(tmp_path / "l.jsonl", [*clique, link("a/1", "b/1"), link("b/1", "a/1")])
    (tmp_path / "root.txt").write_text("http://B:80/1#top\n\nhttp://nowhere/1\n")
    plain, focused = (webwinnow("rank", links, "-o", "-", *root) for root in ((), ("--root", tmp_path / "root.txt")))
    authority = [
        {row["url"] for row in map(json.loads, done.stdout.splitlines()) if row["authority_after"] > 1e-6}
        for done in (plain, focused)
    ]
    assert authority == [{f"http://x/{i}" for i in range(4)}, {"http://a/1", "http://b/1"}]
    ranks = [[json.loads(line)["pagerank_after"] for line in done.stdout.splitlines()] for done in (plain, focused)]
    assert ranks[0] == ranks[1]
    assert "1 of 2 root pages are not in the input, such as http://nowhere/1" in focused.stderr


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("http://nowhere/1\n", "1 of 1 root pages are not in the input, such as http://nowhere/1; expected URLs"),
        ("\n", "is empty; expected one URL per line"),
        (None, "cannot be read"),
    ],
)
def test_a_root_without_pages_is_refused(webwinnow, tmp_path, root, message):
    links = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "a/1")])
    if root is not None:
        (tmp_path / "root.txt").write_text(root)
    done = webwinnow("rank", links, "-o", tmp_path / "o.jsonl", "--root", tmp_path / "root.txt")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "o.jsonl").exists()


def test_iterations_and_neighbourhood_can_be_limited(webwinnow, tmp_path):
    """With --near 0, no page that links to the root is weighed."""
    links = write_links(tmp_path / "l.jsonl", [link(f"a/{k}", f"a/{k + 1}") for k in range(5)] + [link("a/5", "b/0")])
    (tmp_path / "root.txt").write_text("http://a/2")
    short = webwinnow("rank", links, "-o", "-", "--rounds", 2, "--algorithm", "pagerank")
    assert "have not converged" in short.stderr
    rough = webwinnow("rank", links, "-o", "-", "--tolerance", 1, "--algorithm", "pagerank")
    assert "have not converged" not in rough.stderr
    exact = webwinnow("rank", links, "-o", "-", "--algorithm", "pagerank")
    assert len({done.stdout for done in (short, rough, exact)}) == 3
    hubs = [
        {row["url"] for row in map(json.loads, done.stdout.splitlines()) if row["hub_after"]}
        for done in (webwinnow("rank", links, "-o", "-", "--root", tmp_path / "root.txt", "--near", k) for k in (0, 1))
    ]
    assert hubs == [{"http://a/2"}, {"http://a/1", "http://a/2"}]


def test_pages_without_links_between_them_are_refused(webwinnow, write_crawl, make_pages, tmp_path):
    done = webwinnow("rank", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "o.jsonl")
    assert done.returncode == 2
    assert "there is no link between the 4 pages to rank; with --targets" in done.stderr


def test_one_page_alone_is_refused_in_the_singular(webwinnow, write_crawl, make_pages, tmp_path):
    done = webwinnow("rank", write_crawl(make_pages("a.example", 1)), "-o", tmp_path / "o.jsonl")
    assert done.returncode == 2
    assert "there is only one page to rank; with --targets" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--damping", 1), "damping is 1.0: expected at least 0 and less than 1"),
        (("--algorithm", "simrank"), "simrank"),
        (("--format", "markdown"), "scores are written as jsonl, csv, parquet, not markdown"),
    ],
)
def test_senseless_options_are_refused(webwinnow, tmp_path, options, message):
    links = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "a/1")])
    done = webwinnow("rank", links, "-o", tmp_path / "o", *options)
    assert done.returncode == 2
    assert message in done.stderr


def test_removed_links_that_are_missing_are_mentioned(webwinnow, tmp_path):
    links = write_links(tmp_path / "l.jsonl", [link("a/1", "a/2"), link("a/2", "a/1")])
    done = webwinnow("rank", links, "-o", tmp_path / "o.jsonl")
    assert "cleaning removed no link" in done.stderr


def test_a_page_that_cannot_be_read_is_exit_code_1_and_ranked_by_its_links(
    webwinnow, write_crawl, make_pages, tmp_path
):
    pages = linked_crawl(make_pages)
    del pages[3]["html"]
    done = webwinnow("rank", write_crawl(pages), "-o", tmp_path / "ranks.jsonl")
    assert done.returncode == 1
    assert "1 page failed" in done.stderr
    assert lines_of(tmp_path / "ranks.jsonl")[0]["url"] == "http://a.example/p/3"


def test_same_bytes_with_one_and_two_workers(webwinnow, write_crawl, make_pages, tmp_path):
    crawl = write_crawl([*linked_crawl(make_pages), *make_pages("b.example", 70)])
    for jobs in (1, 2):
        assert webwinnow("rank", crawl, "-o", tmp_path / f"{jobs}.jsonl", "--jobs", jobs, "-q").returncode == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_scores_are_those_of_the_graph_by_hand(webwinnow, tmp_path):
    """Four pages; without the removed links, 1 and 2 link to each other and 3 and 4 to nothing."""
    links = [link("a/1", "a/2"), link("a/2", "a/1"), link("a/3", "a/1", kept=False), link("a/4", "a/3", kept=False)]
    done = webwinnow("rank", write_links(tmp_path / "l.jsonl", links), "-o", "-", "--algorithm", "pagerank")
    found = {row["url"]: row["pagerank_after"] for row in map(json.loads, done.stdout.splitlines())}
    move = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [1 / 4] * 4, [1 / 4] * 4])
    known = np.linalg.solve(np.eye(4) - 0.85 * move.T, np.full(4, 0.15 / 4))
    assert list(found.values()) == pytest.approx([known[int(url[-1]) - 1] for url in found], abs=1e-11)
