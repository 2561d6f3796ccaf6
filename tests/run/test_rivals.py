"""The rival methods in the commands `clean`, `learn`, `templates`, `items`."""

from __future__ import annotations

import json

import pytest


def linked(pages: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same pages, each with a link to the next."""
    urls = [page["url"] for page in pages]
    return [
        page
        | {"html": page["html"].replace("</main>", f"<p><a href='{after}'>onward from {page['url']}</a></p></main>")}
        for page, after in zip(pages, urls[1:] + urls[:1], strict=True)
    ]


def apart(pages: list[dict[str, str]]) -> list[dict[str, str]]:
    """The same pages, no two of which share a word of their stories."""
    return [page | {"html": page["html"].replace("word", f"page{n}word")} for n, page in enumerate(pages)]


@pytest.mark.parametrize(
    ("method", "options"), [("template", []), ("segments", ["--set", "segments.by=sections"]), ("items", [])]
)
def test_a_crawl_is_cleaned(webwinnow, make_pages, write_crawl, records, tmp_path, method, options):
    crawl = write_crawl(apart(make_pages("a.example", 8)))
    out = tmp_path / "out.jsonl"
    done = webwinnow("clean", crawl, "-o", out, "--method", method, *options)
    assert done.returncode == 0, done.stderr
    found = records(out)
    assert len(found) == 8
    assert all("word" in record["text"] and record["method"] == method for record in found)
    if method != "items":
        assert not any("section" in record["text"] for record in found)


@pytest.mark.parametrize("method", ["template", "segments", "items"])
def test_the_same_bytes_come_out_whatever_the_workers(webwinnow, make_pages, write_crawl, tmp_path, method):
    crawl = write_crawl([*make_pages("a.example", 70), *make_pages("b.example", 5)])
    for jobs in (1, 3):
        webwinnow("clean", crawl, "-o", tmp_path / f"{jobs}.jsonl", "--method", method, "--jobs", jobs, "-q")
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "3.jsonl").read_bytes()


@pytest.mark.parametrize("method", ["template", "segments"])
def test_kept_models_clean_as_learning_does(webwinnow, make_pages, write_crawl, tmp_path, method):
    crawl = write_crawl(make_pages("a.example", 8))
    webwinnow("learn", crawl, "-o", tmp_path / "m", "-q")
    webwinnow("clean", crawl, "-o", tmp_path / "now.jsonl", "--method", method, "-q")
    webwinnow("clean", crawl, "-o", tmp_path / "kept.jsonl", "--method", method, "--models", tmp_path / "m", "-q")
    assert (tmp_path / "now.jsonl").read_bytes() == (tmp_path / "kept.jsonl").read_bytes()


def test_one_page_is_cleaned_by_items(webwinnow, make_pages, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(make_pages("a.example", 1)[0]["html"])
    done = webwinnow("page", file, "--method", "items", "--explain")
    assert done.returncode == 0, done.stderr
    assert "word0" in done.stdout


def test_templates_of_a_collection_are_listed_and_dropped(webwinnow, make_pages, write_crawl, records, tmp_path):
    """a.example's pages are linked, b.example's are not: only a's menu is a template of the collection."""
    crawl = write_crawl([*linked(make_pages("a.example", 5)), *make_pages("b.example", 5)])
    listed = tmp_path / "templates.jsonl"
    done = webwinnow("lists", "templates", crawl, "-o", listed)
    assert done.returncode == 0, done.stderr
    assert "templates on 5 of 10 pages" in done.stderr
    found = records(listed)
    assert found[0]["pages"] == 5
    assert {site for line in found for site in line["sites"]} == {"a.example"}
    assert any("a.example section 0" in line["text"] for line in found)
    out = tmp_path / "out.jsonl"
    assert (
        webwinnow(
            "clean", crawl, "-o", out, "--method", "template", "--set", f"template.found={listed}", "-q"
        ).returncode
        == 0
    )
    for record in records(out):
        assert ("section" in record["text"]) == (record["site"] == "b.example")
        assert "word" in record["text"]


def test_local_detection_needs_no_links(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("b.example", 5))
    assert webwinnow("lists", "templates", crawl, "-o", "-", "-q").stdout == ""
    shown = webwinnow("lists", "templates", crawl, "-o", "-", "-q", "--detection", "local").stdout.splitlines()
    assert {json.loads(line)["pages"] for line in shown} == {5}


def few_links(count: int) -> list[dict[str, str]]:
    """Pages with a menu of two links, in pairs that link to each other, and a story."""
    menu = "<div><a href='/x'>Exhibits</a> <a href='/y'>Yearbook</a></div>"
    return [
        {
            "url": f"http://a.example/{n}",
            "html": f"{menu}<p>fish{n} bird{n} goat{n} <a href='/{n ^ 1}'>other of {n}</a></p>",
        }
        for n in range(count)
    ]


def test_parameters_of_template_are_set_from_the_command_line(webwinnow, write_crawl, records, tmp_path):
    """With k = 3 a page of three links is one pagelet; with k = 2 the menu is one, on four pages."""
    crawl, out = write_crawl(few_links(4)), tmp_path / "out.jsonl"
    found = {}
    for pairs in ([], ["template.links=2"], ["template.links=2", "template.pages=5"]):
        options = [word for pair in pairs for word in ("--set", pair)]
        done = webwinnow("clean", crawl, "-o", out, "--method", "template", *options, "-q")
        assert done.returncode == 0, done.stderr
        found[tuple(pairs)] = ["Exhibits" in record["text"] for record in records(out)]
    assert list(found.values()) == [[True] * 4, [False] * 4, [True] * 4]


def test_a_list_of_templates_is_applied_with_its_own_parameters(webwinnow, write_crawl, records, tmp_path):
    """The list has the pagelets of k = 2; pairs of pages are linked, so that a template of three pages is global in
    none.
    """
    crawl, listed, out = write_crawl(few_links(4)), tmp_path / "t.jsonl", tmp_path / "out.jsonl"
    assert webwinnow("lists", "templates", crawl, "-o", listed, "-q").returncode == 0
    assert records(listed) == []
    assert webwinnow("lists", "templates", crawl, "-o", listed, "--set", "template.links=2", "-q").returncode == 0
    assert [line["pages"] for line in records(listed)] == [2, 2]
    assert records(listed)[0]["pagelets"] == {"links": 2, "shingle": 5, "hashes": 4}
    done = webwinnow("clean", crawl, "-o", out, "--method", "template", "--set", f"template.found={listed}", "-q")
    assert done.returncode == 0, done.stderr
    assert not any("Exhibits" in record["text"] for record in records(out))
    pairs = ["--set", "template.links=2", "--set", "template.pages=3"]
    assert webwinnow("lists", "templates", crawl, "-o", listed, *pairs, "-q").returncode == 0
    assert records(listed) == []
    local = webwinnow("lists", "templates", crawl, "-o", "-", *pairs, "--detection", "local", "-q")
    assert [json.loads(line)["pages"] for line in local.stdout.splitlines()] == [4]


def test_a_page_that_cannot_be_read_is_counted_and_the_others_listed(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl([*linked(make_pages("a.example", 4)), {"url": "http://a.example/without-html"}])
    done = webwinnow("lists", "templates", crawl, "-o", tmp_path / "t.jsonl")
    assert done.returncode == 1
    assert "templates on 4 of 5 pages; 1 page failed" in done.stderr


def test_a_list_of_templates_that_is_not_there_is_refused(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("a.example", 4))
    done = webwinnow(
        "clean", crawl, "-o", tmp_path / "o", "--method", "template", "--set", f"template.found={tmp_path / 'no.jsonl'}"
    )
    assert done.returncode == 2
    assert "no.jsonl" in done.stderr
    assert not (tmp_path / "o").exists()


def test_the_rules_of_items_are_shown(webwinnow):
    shown = webwinnow("methods", "items", "--rules", "image")
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("# image: ")
    assert "then the image is an advertisement" in shown.stdout
    assert "the link is" not in shown.stdout


PAGE = """<body><nav><a href="/news/">Latest news</a> <a href="/sport/">Latest sport</a></nav>
<p>The mayor spoke of the <a href="http://paper.example.com/flood">flood of last year</a> for an hour.</p>
<a href="http://x.example.net/"><img src="/img/special-prize.gif" alt="Win a prize"></a>
<img src="/img/mayor.jpg" alt="The mayor"></body>"""
LABELS = {
    ("link", "/news/"): "nepotistic",
    ("link", "http://www.site{n}.example/sport/"): "nepotistic",
    ("link", "http://paper.example.com/flood"): "editorial",
    ("image", "/img/special-prize.gif"): "ad",
    ("image", "/img/mayor.jpg"): "other",
}


@pytest.fixture
def labels(tmp_path):
    """Labels of five pages of five sites: the even pages as files, the others as text."""
    lines = []
    for n in range(5):
        (tmp_path / f"page{n}.html").write_text(PAGE)
        page = {"path": f"page{n}.html"} if n % 2 else {"html": PAGE}
        for (kind, item), label in LABELS.items():
            row = {"url": f"http://www.site{n}.example/a", "kind": kind, "item": item.format(n=n), "label": label}
            lines.append(json.dumps(page | row) + "\n")
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(lines))
    return file


def test_items_are_learned_from_labels_and_used(webwinnow, labels, tmp_path):
    trees = tmp_path / "trees.npz"
    done = webwinnow("learn-items", labels, "-o", trees, "--leaf-items", 2)
    assert done.returncode == 0, done.stderr
    assert (
        "link: 15 on 5 pages, 5 sites (10 nepotistic and 5 editorial); on sites left out accuracy 1.000" in done.stderr
    )
    assert "image: 10 on 5 pages, 5 sites (5 ad and 5 other)" in done.stderr
    own = ["--method", "items", "--set", f"items.trees={trees}", "--url", "http://www.other.example/b"]
    shown = webwinnow("page", tmp_path / "page1.html", *own, "--format", "markdown").stdout
    assert "[flood of last year](http://paper.example.com/flood)" in shown
    assert "Latest" not in shown
    assert "mayor.jpg" in shown
    assert "prize" not in shown
    rules = webwinnow("methods", "items", "--rules", "all", "--set", f"items.trees={trees}").stdout
    assert "# image: 10 on 5 pages" in rules
    assert rules.count("If ") == 4


def test_equal_labels_give_equal_trees(webwinnow, labels, tmp_path):
    for name in ("a.npz", "b.npz"):
        webwinnow("learn-items", labels, "-o", tmp_path / name, "-q")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": "picture"}, "row 1: kind is 'picture'; expected link or image"),
        ({"label": "ad"}, "row 1: label is 'ad'; expected editorial or nepotistic for a link"),
        (
            {"item": "/weather/"},
            "row 1: the page has no visible link with the URL '/weather/'; its first: /news/, /sport/",
        ),
        ({"url": None}, "row 1: expected item and url (of the page), and either html or path"),
        ({"path": "page1.html"}, "row 1: expected item and url (of the page), and either html or path"),
        ({"html": None, "path": "none.html"}, "row 1: the page cannot be read"),
    ],
)
def test_a_bad_label_is_refused_with_its_row(webwinnow, labels, tmp_path, change, message):
    first, *rest = labels.read_text().splitlines(keepends=True)
    labels.write_text(json.dumps(json.loads(first) | change) + "\n" + "".join(rest))
    done = webwinnow("learn-items", labels, "-o", tmp_path / "trees.npz")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "trees.npz").exists()


def test_labels_of_one_sort_are_refused(webwinnow, labels, tmp_path):
    rows = [line for line in labels.read_text().splitlines(keepends=True) if "editorial" not in line]
    labels.write_text("".join(rows))
    done = webwinnow("learn-items", labels, "-o", tmp_path / "trees.npz")
    assert done.returncode == 2
    assert "every labelled link is 'nepotistic'; expected some of each of editorial and nepotistic" in done.stderr


def test_an_unknown_segmentation_is_refused(webwinnow, make_pages, write_crawl, tmp_path):
    crawl = write_crawl(make_pages("a.example", 4))
    done = webwinnow("clean", crawl, "-o", tmp_path / "o", "--method", "segments", "--set", "segments.by=frames")
    assert done.returncode == 2
    assert "expected tables or sections" in done.stderr


def test_parameters_of_segments_are_set_from_the_command_line(webwinnow, make_pages, write_crawl, records, tmp_path):
    """Tables of entropy 0 (a story) and 1 (the menu): only a threshold of 1 keeps the menu, which only a rule that asks
    for all words, or a single step, chooses.
    """
    menu = "<table><tr><td>News Weather Contact</table>"
    pages = [{"url": f"http://a.example/{n}", "html": f"{menu}<table><tr><td>fish{n} bird{n}"} for n in range(4)]
    crawl = write_crawl(pages)
    found = {}
    for name, options in {
        "own": [],
        "all words": ["--set", "segments.features=1"],
        "fixed": ["--set", "segments.threshold=0.99"],
        "one step": ["--set", "segments.step=1", "--set", "segments.features=0.99"],
    }.items():
        out = tmp_path / "out.jsonl"
        done = webwinnow("clean", crawl, "-o", out, "--method", "segments", *options, "-q")
        assert done.returncode == 0, done.stderr
        found[name] = "Weather" in records(out)[0]["text"]
    assert found == {"own": False, "all words": True, "fixed": False, "one step": True}


@pytest.mark.parametrize("pair", ["segments.step=0.125", "segments.step=0", "segments.gain=2"])
def test_parameters_of_segments_out_of_range_are_refused(webwinnow, make_pages, write_crawl, tmp_path, pair):
    done = webwinnow("clean", write_crawl(make_pages("a.example", 4)), "-o", tmp_path / "o", "--set", pair)
    assert done.returncode == 2
    assert "expected a " in done.stderr
