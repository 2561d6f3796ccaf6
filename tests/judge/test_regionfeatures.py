"""Numbers of removed regions: names of the site and the author, dates, the headline, links that occur again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from webwinnow.judge.reading import read
from webwinnow.judge.regionfeatures import FEATURES, read_regions
from webwinnow.judge.removedregions import removed_regions, text_free_regions
from webwinnow.judge.verdict import keep_visible
from webwinnow.page.parsing import parse

URL = "https://www.valleymill.example/grain/rye/sowing.html"
PAGE = """<!doctype html><title>Sowing rye in autumn - The Mill</title><meta name="author" content="Ada Miller">
<body><div class="menu"><a href="/a">One</a> <a href="/b">Two</a> <a href="/c">Three</a> <a href="/d">Four</a></div>
<main><p class="name">Valley Mill</p><h1>KEPT Sowing rye in autumn</h1><p class="by">by Ada Miller, 3 May 2024</p>
<p>KEPT Rye is sown late, when the barley is in and the nights grow cold.</p></main>
<div class="foot"><a href="/a">One</a> <a rel="nofollow" href="https://else.example/">Elsewhere</a></div>
<div class="banner"><img src="/banner.png"></div>"""


def numbers(page: str = PAGE) -> dict[str, dict[str, float]]:
    """The numbers of each region, by the first word of its text; only blocks with the word KEPT are kept."""
    tree = parse(page, url=URL)
    keep = np.array(["KEPT" in tree.run(r) for r in range(tree.run_count)], np.bool_)
    verdict = replace(keep_visible(tree), keep_runs=keep, keep=np.zeros(len(tree), np.bool_))
    cut = removed_regions(tree, verdict)
    cut = cut.followed_by(text_free_regions(tree, cut))
    features = read_regions(cut, read(tree), verdict).features
    assert np.isfinite(features).all()
    return {
        (text.split() or ["-"])[0]: dict(zip(FEATURES, features[:, r].tolist(), strict=True))
        for r, text in enumerate(cut.texts())
    }


def test_the_name_of_the_site_is_recognised_in_its_host() -> None:
    found = numbers()
    assert found["Valley"]["names_site"] == found["Valley"]["says_site"] == 1.0
    assert found["by"]["names_site"] == found["by"]["says_site"] == 0.0


def test_the_name_of_the_author_is_that_of_the_head() -> None:
    found = numbers()
    assert found["by"]["says_author"] == 1.0
    assert found["Valley"]["says_author"] == 0.0


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("3 May 2024", 1),
        ("May 3, 2024", 1),
        ("2024-05-03 and 03.05.2024", 2),
        ("3. Mai 2024", 1),
        ("in 2024", 0),
        ("call 555-1234", 0),
    ],
)
def test_dates_are_counted(text: str, dates: int) -> None:
    [found] = numbers(f"<body><p>KEPT</p><p>{text}</p>").values()
    assert found["dates"] == pytest.approx(np.log1p(dates))


def test_the_place_relative_to_the_headline() -> None:
    found = numbers()
    assert found["by"]["before_title"] == 0.0
    assert found["by"]["since_title"] == pytest.approx(np.log1p(1))
    assert found["Valley"]["before_title"] == 1.0


def test_a_page_without_a_title_has_no_headline() -> None:
    [found] = numbers("<body><p>KEPT</p><p>Removed</p>").values()
    assert found["since_title"] == -1.0


def test_links_that_occur_again_and_links_of_advertisers() -> None:
    page = PAGE.replace('class="foot"><a href="/a">One', 'class="foot"><a href="/a">Again')
    found = numbers(page)
    assert found["One"]["repeated_links"] == 0.25
    assert found["One"]["most_links"] == 1.0
    assert found["Again"]["repeated_links"] == found["Again"]["paid_links"] == 0.5
    assert found["Again"]["menus_before"] == pytest.approx(np.log1p(1))
    assert found["One"]["menus_before"] == 0.0
    assert found["-"]["repeated_links"] == 0.0
