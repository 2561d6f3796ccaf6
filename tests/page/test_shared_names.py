"""The title of a page whose site is known: the one that distinguishes it from the site's other pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from webwinnow import learn, parse
from webwinnow.cli.app import app
from webwinnow.judge.evidence import PageEvidence, page_with
from webwinnow.page.hints import page_names
from webwinnow.page.metadata import metadata
from webwinnow.site.learned import LearnedSite
from webwinnow.site.sums import BLOCKS, SiteSums

NAMES = ("ls", "copying", "move files", "rm", "dd", "sort", "join", "split", "tail", "head")


def titles(page: str, names: tuple[str, ...] = NAMES) -> list[str | None]:
    """The titles of the pages of a site, made of one page with @ for the name of each."""
    trees = [parse(page.replace("@", name) + f"<p>text of {name}", url=f"http://x.org/{name}") for name in names]
    model = learn(trees)
    return [model.clean(tree).view.title for tree in trees]


@pytest.mark.parametrize(
    "page",
    [
        "<title>@ - Coreutils Manual</title><h1>Coreutils Manual</h1><h2>@</h2>",
        "<title>Coreutils Manual | @</title><h1>Coreutils Manual</h1>",
        "<title>Coreutils Manual</title><h1>@</h1>",
        "<title>Coreutils Manual</title><h1>Coreutils Manual</h1><h2>Contents</h2><h2>@</h2>",
        "<title>Coreutils Manual</title><h2>Contents</h2><h3>@</h3>",
        '<meta property="og:title" content="Coreutils Manual"><title>@ / Coreutils Manual</title>',
        "<title>GNU - Coreutils Manual - @ - Version 9</title>",
    ],
)
def test_the_title_is_the_part_or_heading_that_other_pages_do_not_have(page: str) -> None:
    assert titles(page) == list(NAMES)


def test_without_a_model_of_the_site_the_head_and_its_heading_agree_as_before() -> None:
    page = "<title>ls - Coreutils Manual</title><h1>Coreutils Manual</h1>"
    assert metadata(parse(page)).title == "Coreutils Manual"


def test_a_site_whose_pages_all_have_one_title_keeps_it() -> None:
    assert titles("<title>Manual</title><h1>Manual</h1><h2>Contents</h2>") == ["Manual"] * len(NAMES)


def test_names_of_two_pages_are_no_evidence() -> None:
    assert titles("<title>Manual</title><h1>Manual</h1><h2>@</h2>", NAMES[:2]) == ["Manual", "Manual"]


def test_a_name_of_few_of_many_pages_stays() -> None:
    trees = [parse(f"<title>{'News' if k < 3 else f'Story {k}'}</title><h1>Site</h1><h2>h{k}</h2>") for k in range(20)]
    model = LearnedSite.learn(trees, parts=frozenset({BLOCKS}))
    assert metadata(trees[0], model.shares_name).title == "News"
    assert model.shares_name("SITE")
    assert not model.shares_name("Story 7")


def test_names_are_titles_their_parts_and_headings() -> None:
    one = page_names(parse("<title>a b | c</title><h1>H <a href=#x>#</a></h1><h3>i</h3>"))
    other = page_names(parse("<title>AB | C</title><h1>h</h1><h2>I</h2>"))
    assert len(one) == 5
    assert np.array_equal(one, other)


def test_names_survive_files_and_merging() -> None:
    trees = [parse(f"<title>p{k} - Site</title><p>{k}") for k in range(6)]
    whole, left, right = (SiteSums("s", frozenset({BLOCKS})) for _ in range(3))
    for k, tree in enumerate(trees):
        whole.add(tree)
        evidence = PageEvidence.from_bytes(PageEvidence.of(tree).to_bytes())
        (left if k % 2 else right).add(page_with(tree, evidence))
    merged = SiteSums.merge([SiteSums.from_bytes(right.to_bytes()), left])
    assert merged.to_bytes() == whole.to_bytes()
    model = LearnedSite.from_bytes(LearnedSite.of(merged).to_bytes())
    assert model.to_bytes() == LearnedSite.of(whole).to_bytes()
    assert model.shares_name("Site")
    assert not model.shares_name("p1")


def test_clean_writes_the_title_that_distinguishes_a_page(tmp_path: Path) -> None:
    rows = [
        {"url": f"http://x.org/{k}", "html": f"<title>{n} - Manual</title><h1>Manual</h1><p>{f'about {n} ' * 30}"}
        for k, n in enumerate(NAMES)
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    out = tmp_path / "out.jsonl"
    result = CliRunner().invoke(app, ["clean", str(tmp_path / "in.jsonl"), "-o", str(out), "--jobs", "1"])
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["title"] for line in out.read_text().splitlines()] == list(NAMES)
