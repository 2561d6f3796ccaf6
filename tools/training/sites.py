"""Sites with truth: the folds of news sites by publisher, and the blocks that spell the true values of a page."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from webwinnow.page.urls import SiteKey

__all__ = ["fold_of", "publisher", "site_of", "spellings"]

NEWS = "sites-news"
FIRST_HALF = ("bbc.co.uk", "thenation.com", "nymag.com")
"""Publishers of one of two folds."""
_YEAR = re.compile(r"/\d{4}$")


def publisher(site: str) -> str:
    """The publisher of a news site, without the year."""
    return _YEAR.sub("", site).removeprefix("www.").removeprefix("news.")


def site_of(source: str, row: dict[str, Any]) -> str:
    """The unit of folds: the publisher of a news page, the registrable domain of any other."""
    if source == NEWS:
        return publisher(row["site"])
    return SiteKey(by="domain").of(row["url"] or "")


def fold_of(source: str, site: str, number: int) -> int:
    """The fold of a site: by publisher, or alternating."""
    return int(publisher(site) in FIRST_HALF) if source == NEWS else number % 2


def spellings(said: list[list[str]], values: list[list[str]]) -> list[list[tuple[int, ...]]]:
    """For each value, its spellings: consecutive blocks whose words contain it."""
    flat = [word for words in said for word in words]
    block = [b for b, words in enumerate(said) for _ in words]
    places = defaultdict(list)
    for place, word in enumerate(flat):
        places[word].append(place)
    return [
        sorted({
            tuple(sorted(set(block[place : place + len(value)])))
            for place in places[value[0]]
            if flat[place : place + len(value)] == value
        })
        for value in values
    ]  # fmt: skip
