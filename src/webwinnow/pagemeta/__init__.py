"""What a page says of itself: title, author, date, language, site name, description; its own hints first.

Each field asks its sources in one order: JSON-LD, metas (Open Graph, Dublin Core, citation, parsely), microdata and
`rel=author` in the body, then what stands where a byline stands. No rule is about a single site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from webwinnow.pagemeta.author import authors
from webwinnow.pagemeta.day import day
from webwinnow.pagemeta.hints import Hints
from webwinnow.pagemeta.spelling import line
from webwinnow.pagetree import PageTree

__all__ = ["Metadata", "metadata"]

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?=$|[-_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page says of itself; None where it does not say."""

    title: str | None = None
    author: str | None = None
    """Several names are joined by `; `."""
    date: str | None = None
    """When the page was published, `YYYY-MM-DD`."""
    language: str | None = None
    """As the page declares it: two or three letters, lower-case."""
    site_name: str | None = None
    description: str | None = None


def metadata(tree: PageTree) -> Metadata:
    """Read what a page says of itself out of its tree."""
    hints = Hints(tree)
    return Metadata(
        title=hints.title,
        author=authors(hints),
        date=day(hints),
        language=_language(hints),
        site_name=hints.site_name,
        description=_description(hints),
    )


def _language(hints: Hints) -> str | None:
    for said in (hints.head.language, *hints.metas("og:locale", "dc.language", "dcterms.language")):
        declared = _LANGUAGE_TAG.match(said)
        if declared:
            return declared[0].lower()
    return None


def _description(hints: Hints) -> str | None:
    for said in hints.metas("description", "og:description", "dc.description", "twitter:description"):
        return said
    return next((said for thing in hints.things if (said := line(thing.get("description")))), None)
