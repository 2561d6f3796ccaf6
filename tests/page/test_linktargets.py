"""Targets of links, by the structure of URLs alone."""

from __future__ import annotations

import pytest

from webwinnow.page.linktargets import TARGETS, LinkTargets, Target
from webwinnow.page.urls import resolve

URL = "https://www.mill.example/grain/rye/sowing.html?page=2"


def target(href: str, url: str = URL) -> Target:
    return LinkTargets(url).of(href, resolve(url, href))


@pytest.mark.parametrize(
    ("href", "what"),
    [
        ("#top", "fragment"),
        ("#", "script"),
        ("javascript:void(0)", "script"),
        ("mailto:miller@mill.example", "mail"),
        ("/", "home"),
        ("/grain/", "up"),
        ("/grain/rye/", "up"),
        ("../index.html", "up"),
        ("harvest.html", "beside"),
        ("/grain/wheat/", "section"),
        ("/about", "inside"),
        ("https://shop.mill.example/", "relative_site"),
        ("https://other.example/", "outside"),
        (URL, "here"),
        ("https://[broken", "script"),
    ],
)
def test_a_link_is_classified_by_its_url(href: str, what: str) -> None:
    assert target(href).what == what
    assert what in TARGETS


def test_a_share_link_is_distinguished_from_one_that_leaves() -> None:
    assert target("https://social.example/share?u=https%3A%2F%2Fwww.mill.example%2Fgrain").carrying
    assert not target("https://social.example/mill").carrying


def test_a_page_that_differs_in_numbers_only_is_another_page_of_the_same() -> None:
    assert target("/grain/rye/sowing.html?page=3").numbered
    assert not target("/grain/rye/sowing.html?sort=3").numbered


def test_words_of_a_url_have_their_position() -> None:
    words = target("https://other.example/share/this?via=mill").words
    assert {"p:share", "p:this", "q:via", "h:other"} <= set(words)


def test_an_overlong_url_is_cut() -> None:
    assert len(target("/" + "a/" * 5000 + "?" + "b=c&" * 5000).words) < 50


@pytest.mark.parametrize(
    ("href", "shares"),
    [
        ("https://share.example/?u=https%3A%2F%2Fwww.mill.example%2Fgrain%2Frye%2Fsowing.html&t=Rye", True),
        ("https://share.example/post?url=http://mill.example/grain/rye/sowing.html", True),
        ("https://share.example/?u=https%3A%2F%2Fwww.mill.example%2Fgrain%2Fbarley.html", False),
        ("https://archive.example/web/2024/https://www.mill.example/grain/rye/sowing.html", False),
        ("https://shop.example/?utm_source=mill.example", False),
        ("/grain/rye/sowing.html?u=https://www.mill.example/grain/rye/sowing.html", False),
    ],
)
def test_a_link_shares_the_page_if_it_passes_its_url_to_another_host(href: str, shares: bool) -> None:
    assert target(href, "https://www.mill.example/grain/rye/sowing.html").shares is shares
