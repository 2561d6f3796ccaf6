"""The day of publication: what the page's address says, then what the page declares, then what it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from webwinnow.dates import date_in, date_of_url
from webwinnow.markup import TAG_CODE
from webwinnow.pagemeta.hints import Hints
from webwinnow.pagemeta.spelling import line

__all__ = ["day"]

_PUBLISHED = (
    *("article:published_time", "datepublished", "parsely-pub-date", "sailthru.date", "cxenseparse:publishtime"),
    *("citation_publication_date", "citation_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date"),
    *(
        "og:published_time",
        "og:publish_date",
        "publish_date",
        "published",
        "pubdate",
        "date",
        "datecreated",
        "uploaddate",
    ),
)
_MODIFIED = ("article:modified_time", "datemodified", "og:updated_time", "dcterms.modified", "last-modified")
MAX_TIMES = 20
LONGEST_MARKED = 200
"""Characters; an element marked as a date that holds more is a list or an article."""
BEFORE_TITLE = 300
"""Characters up to the title's end among which a byline's date stands if none stands after it."""


def day(hints: Hints) -> str | None:
    """When the page was published, `YYYY-MM-DD`."""
    month_first = hints.head.language.lower() in ("", "en", "en-us", "en_us", "en-ca")
    for source in SOURCES:
        for said in source(hints):
            found = date_in(said, month_first=month_first)
            if found is not None:
                return found
    return None


def _things(key: str) -> Callable[[Hints], Iterator[str]]:
    def source(hints: Hints) -> Iterator[str]:
        return (line(thing.get(key)) for thing in hints.things)

    return source


def _metas(*names: str) -> Callable[[Hints], Iterator[str]]:
    def source(hints: Hints) -> Iterator[str]:
        return hints.metas(*names)

    return source


def _address(hints: Hints) -> Iterator[str]:
    for url in (hints.tree.url, hints.head.canonical):
        found = date_of_url(url or "")
        if found:
            yield found


def _times(hints: Hints) -> Iterator[str]:
    """`<time>` elements: those after the first heading before the others."""
    tree = hints.tree
    nodes = np.flatnonzero(tree.tag == TAG_CODE["time"])[:MAX_TIMES].tolist()
    top = hints.headings[0][0] if hints.headings else 0
    for node in sorted(nodes, key=lambda node: node < top):
        yield tree.attribute(node, "datetime") or hints.text(node)


def _marks(hints: Hints) -> Iterator[str]:
    """Elements marked as a date by their class."""
    for node, _, _ in hints.marked("date"):
        text = hints.text(node)
        if len(text) <= LONGEST_MARKED:
            yield text


def _after_title(hints: Hints) -> Iterator[str]:
    yield "\n".join(hints.after_title)


def _before_title(hints: Hints) -> Iterator[str]:
    end = hints.title_end
    yield "\n".join(hints.runs_from(max(0, end - BEFORE_TITLE), BEFORE_TITLE, end))


def _other_metas(hints: Hints) -> Iterator[str]:
    """Metas of any name that speaks of publishing: `w-published-date`, `dcterms.published`."""
    return hints.metas(*dict.fromkeys(name for name, _ in hints.head.metas if "publi" in name))


SOURCES: tuple[Callable[[Hints], Iterator[str]], ...] = (
    _address,  # the writer's own day; the others may be a day off in another time zone
    _metas(*_PUBLISHED),
    _things("datePublished"),
    _other_metas,
    _times,
    _after_title,
    _marks,
    _before_title,
    _things("dateModified"),
    _metas(*_MODIFIED),
)
