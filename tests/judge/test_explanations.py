"""Explanations of block scores, in words with numbers."""

from __future__ import annotations

import numpy as np
import pytest

import webwinnow
from webwinnow import PageRecord, clean_page, parse
from webwinnow.judge.explanations import LEAST_PUSH

WORDS = "harvest wind miller stone river bread grain field winter sheaf barn straw wheel flour sack".split()


def page(n: int) -> PageRecord:
    chance = np.random.default_rng(n)
    story = "".join(f"<p>{' '.join(chance.choice(WORDS, 30)).capitalize()}.</p>" for _ in range(5))
    menu = "".join(f"<li><a href=/{name}>{name}</a></li>" for name in ("News", "Sport", "Weather", "Contact"))
    html = (
        f"<body><nav><ul>{menu}</ul></nav><article><h1>Story {n} of the mill</h1>{story}</article>"
        "<div class=promise><p>Subscribe to our paper today and read about the mill every morning.</p></div>"
    )
    return PageRecord(url=f"http://mill.example/{n}", body=html.encode(), ordinal=n)


PAGES = [page(n) for n in range(12)]
SITE = webwinnow.learn(PAGES, "mill.example")


@pytest.mark.parametrize("method", ["page", "combined"])
def test_causes_come_strongest_first_and_only_if_asked_for(method):
    clean = clean_page(parse(PAGES[0].body), method)
    assert all(not decision.because for decision in clean.decisions())
    for decision in clean.decisions(explain=True):
        sizes = [abs(cause.push) for cause in decision.because]
        assert sizes == sorted(sizes, reverse=True)
        assert min(sizes, default=1.0) >= LEAST_PUSH


def test_links_are_named_with_their_share():
    clean = clean_page(parse(PAGES[0].body), "page")
    menu = next(decision for decision in clean.decisions(explain=True) if decision.text == "Weather")
    assert any(says.startswith("links: 100% of its words") and push < 0 for push, says in menu.because)


def test_combined_explains_the_evidence_of_the_site():
    causes = {decision.text: decision.because for decision in SITE.clean(PAGES[3]).decisions(explain=True)}
    promise = causes["Subscribe to our paper today and read about the mill every morning."]
    assert any(says == "the site says this on 100% of its other pages" and push < -1 for push, says in promise)
    assert not any("the site says this" in says for _, says in causes["Story 3 of the mill"])
    assert any("this place" in says for _, says in causes["Story 3 of the mill"])


def test_without_a_site_combined_explains_the_page_alone():
    tree = parse(PAGES[0].body)
    alone = [decision.because for decision in clean_page(tree, "page").decisions(explain=True)]
    assert [decision.because for decision in clean_page(tree, "combined").decisions(explain=True)] == alone


@pytest.mark.parametrize("method", ["none", "repeated", "sst", "cst"])
def test_methods_without_explanations_return_none(method):
    clean = clean_page(parse(PAGES[0].body), method, SITE)
    assert all(not decision.because for decision in clean.decisions(explain=True))


def test_pages_that_say_nothing_have_no_causes():
    assert list(clean_page(parse("")).decisions(explain=True)) == []
