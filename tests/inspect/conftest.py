"""A small site, reports on it, and a browser to read them with."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from webwinnow.inspect.inspector import report_html
from webwinnow.inspect.sitereport import SiteReport
from webwinnow.page.parsing import parse
from webwinnow.page.tree import PageTree
from webwinnow.record.sitemodel import SiteModel, learn

METHODS = ("combined", "sst", "repeated", "none")
WORDS = "river stone market winter letter garden engine window history music paper field copper bridge valley".split()


def prose(chance: random.Random, words: int) -> str:
    return " ".join(f"{chance.choice(WORDS)}{chance.randrange(400)}" for _ in range(words)).capitalize() + "."


def article(number: int, paragraphs: int = 4) -> str:
    """A page of a site with the same text above and below each article."""
    chance = random.Random(number)
    said = "".join(
        f"<p>{prose(chance, 40)} <a href='/topic/{k}'>{prose(chance, 2)}</a> {prose(chance, 20)}</p>"
        for k in range(paragraphs)
    )
    return f"""<!doctype html><html lang=en><title>Report {number}: {prose(chance, 4)}</title><body>
      <div class=top><ul class=menu><li><a href=/>Home</a><li><a href=/news>News</a><li><a href=/about>About us</a>
      <li><a href=/help>Help</a></ul></div>
      <div class=main><h1>{prose(chance, 5)}</h1>{said}<p hidden>not shown {number}</p></div>
      <div class=foot><p>All rights reserved by the example company, which was founded in another century.</p>
      <img src=/logo.png alt='The logo'></div>"""


def address(number: int) -> str:
    return f"http://news.example/{number}.html"


@pytest.fixture(scope="session")
def page() -> Callable[..., str]:
    """Makes the HTML of a page of the site."""
    return article


@pytest.fixture(scope="session")
def trees() -> list[PageTree]:
    return [parse(article(number), url=address(number)) for number in range(12)]


@pytest.fixture(scope="session")
def model(trees: list[PageTree]) -> SiteModel:
    return learn(trees, "news.example")


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory, model: SiteModel, trees: list[PageTree]) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(report_html([SiteReport.of(model, trees, METHODS)], METHODS), encoding="utf-8")
    return path
