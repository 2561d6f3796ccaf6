"""`metadata`: the fields of a page from its hints; names in bylines, and dates in whatever notation."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

from webwinnow.page._finding import first_found
from webwinnow.page.bylines import is_interface, is_name, signed_name
from webwinnow.page.datelines import (
    MONTHS,
    NUMBERS,
    SLASHED,
    byline_dates,
    date_in,
    date_of_url,
    end_of_byline,
    has_digit,
    is_update,
    names_day,
)
from webwinnow.page.hints import Hints, line, squeezed
from webwinnow.page.markup import ATTRIBUTE_CODE, TAG_CODE
from webwinnow.page.tree import PageTree

Source = Callable[[Hints], Iterator[str]]

_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?=$|[-_])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """What a page declares about itself; None for fields that it does not declare."""

    title: str | None = None
    author: str | None = None
    """Several names are joined by `; `."""
    date: str | None = None
    """The date of publication, `YYYY-MM-DD`."""
    language: str | None = None
    """As the page declares it: two or three lower-case letters."""
    site_name: str | None = None
    description: str | None = None


def metadata(tree: PageTree, is_shared: Callable[[str], bool] | None = None, *, fetched: str | None = None) -> Metadata:
    """Return what a page declares about itself; `is_shared` says which names many pages of its site have.

    A page is not published after it was `fetched`, an ISO 8601 time or day; without it, not after today.
    """
    return fields_of(Hints(tree, is_shared, fetched))


def fields_of(hints: Hints) -> Metadata:
    """The fields of a page from its hints."""
    date = day(hints)
    return Metadata(
        title=hints.title,
        author=authors(hints, is_dated=date is not None),
        date=date,
        language=_language(hints),
        site_name=hints.site_name,
        description=_description(hints),
    )


def _language(hints: Hints) -> str | None:
    for declared in (hints.head.language, *hints.metas("og:locale", "dc.language", "dcterms.language")):
        tag = _LANGUAGE_TAG.match(declared)
        if tag:
            return tag[0].lower()
    return None


def _description(hints: Hints) -> str | None:
    for text in hints.metas("description", "og:description", "dc.description", "twitter:description"):
        return text
    return next((text for thing in hints.things if (text := line(thing.get("description")))), None)


# Authors: names from JSON-LD, metas and bylines. Addresses are not names; the site's own name is a last resort.

MAX_AUTHORS = 50
LONGEST_NAME = 100
"""Characters; a longer text is a sentence about somebody."""
LONGEST_MARKED_AUTHOR = 300
"""Characters; a longer element marked as the author's is a list or the page."""
_BYLINE = re.compile(
    r"^(?:about\s+)?(?:the\s+)?(?:authors?|autore?|auteur)\b\s*:?\s*|^(?:\w+\s+){0,2}?by\b\s*:?\s*", re.IGNORECASE
)
"""Words before a name: `By`, `Written by`, `Author:`, `About the author`."""
_PARTICLE = re.compile(r"^(?:Von|Par|Por|Di|Door|Przez)\s+")
"""`By` in other languages; inside a name, or in lower case, it is part of the name: Ludwig von Mises."""
_STARTS_BYLINE = re.compile(
    r"(?:(?:written|posted|published|authored|edited|reported|story|words|text)\s+)?by\b|(?:von|par|por|di|door|przez)\b",
    re.IGNORECASE,
)
"""Not any word and `by`: shops and lists are `Sort by`, `Shop by`, `Trusted by`."""
_STARTS_THREAD = re.compile(r"thread starter\W*", re.IGNORECASE)
_SIGNED = (b"Written by", b"Text by", b"Article by", b"Story by")
"""How an article is signed at its end."""
_AUTHOR_LABEL = re.compile(
    r"(?:\b(?:by|von|par|por|door|da|di|av|af|przez)|autore?|auteur|author|автор)\W*$", re.IGNORECASE
)
_NOT_OF_PAGE = re.compile(r"author(?:i[sz]|it)|comment|review(?!ed|er)|testimonial|quote|related", re.IGNORECASE)
"""Classes of authors of something else, and of authority: `authorized-dealer`, `review-card__author`."""
_WITH_CAPITAL = re.compile(r"[^\W\d_a-zß-ÿ]")
_META_NAMES = (
    *("author", "article:author", "parsely-author", "sailthru.author", "cxenseparse:author", "citation_author"),
    *("dc.creator", "dcterms.creator", "dc.contributor.author", "creator", "byl", "og:author"),
)
_ADDRESS = re.compile(r"^(?:https?:|www\.|@)|^\S+@\S+$|://", re.IGNORECASE)
_ACCOUNTS = frozenset(
    "admin administrator author authors user guest webmaster unknown none null undefined 佚名 匿名".split()
)
_NOBODY = _ACCOUNTS | frozenset("editor editors staff anonymous".split())
"""Accounts and labels, not names; those that sign an article are a last resort."""
_LAST_NAME_FIRST = re.compile(r"^([^,]+), ([^,]+)$")
_BETWEEN_NAMES = re.compile(r"\s*(?:[;|]|,\s+(?:and|und|et|y|e)\s+|,|\s(?:and|und|et|&)\s)\s*")
_CLASS, _ITEMPROP, _REL = (ATTRIBUTE_CODE[name] for name in ("class", "itemprop", "rel"))
_MOST_WORDS = 8
_AROUND_AUTHOR = 4
"""Elements around a marked one whose classes are looked at."""
_LONGEST_BYLINE = 5
"""Runs of text in a marked element that may contain a name."""
_AUTHOR_MARKS: tuple[Callable[[int, str], bool], ...] = (
    lambda code, value: code == _REL and "author" in value.split(),
    lambda code, value: code == _ITEMPROP and "author" in value.split(),
    lambda code, value: code == _CLASS and "name" in value,
    lambda code, _: code == _CLASS,
)
"""How an element is marked as the author's, most reliable first: attribute code, value in lower case."""


def authors(hints: Hints, *, is_dated: bool) -> str | None:
    """Return the authors' names, joined by `; `; the site's own name if the page is an article or has a date."""
    if hints.is_home:
        return None
    second_best = ""
    for source in _DECLARED_AUTHORS if hints.is_product else _AUTHOR_SOURCES:
        names = list(dict.fromkeys(name for found in islice(source(hints), MAX_AUTHORS) for name in _people(found)))
        good = [name for name in names if not hints.is_site(name) and squeezed(name) not in _NOBODY]
        if good:
            return "; ".join(good)
        second_best = second_best or "; ".join(name for name in names if squeezed(name) not in _ACCOUNTS)
    return (second_best or None) if hints.is_article or is_dated else None


def _people(found: str) -> Iterator[str]:
    """Yield the names in a text; several only if each has a first and a last name."""
    found = _BYLINE.sub("", found).strip(" ,;|·•-–—:")
    if not 1 < len(found) <= LONGEST_NAME or _ADDRESS.search(found) or not any(map(str.isalpha, found)):
        return
    if names_day(found) or is_interface(found):
        return
    several = [name for name in _BETWEEN_NAMES.split(found) if name]
    if len(several) > 1 and all(2 <= name.count(" ") + 1 <= 3 for name in several):
        yield from several
    else:
        yield found


def _authors_in_json_ld(hints: Hints) -> Iterator[str]:
    for thing in hints.things:
        found = [name for key in ("author", "creator") for name in hints.named(thing.get(key)) if name]
        if found:
            yield from found
            return


def _authors_in_metas(hints: Hints) -> Iterator[str]:
    for meta in _META_NAMES:
        found = [name for text in hints.metas(meta) for name in _people(text)]
        if found:
            is_turned = meta.startswith(("citation", "dc"))
            yield from (_LAST_NAME_FIRST.sub(r"\2 \1", name) for name in found) if is_turned else found
            return


def _author_in_card(hints: Hints) -> Iterator[str]:
    """Yield the first pair of a Twitter card if it is `Written by` and a name; others are prices and reading times."""
    if any(_AUTHOR_LABEL.search(label) for label in islice(hints.metas("twitter:label1"), 1)):
        yield from islice(hints.metas("twitter:data1"), 1)


def _author_marked(hints: Hints) -> Iterator[str]:
    marked = list(hints.marked("uthor"))
    for is_mark in _AUTHOR_MARKS:
        for node, code, value in marked:
            if is_mark(code, value.lower()):
                name = _name_in(hints, node)
                if name and _is_of_page(hints, node, value):
                    yield name
                    return


def _is_of_page(hints: Hints, node: int, value: str) -> bool:
    """Whether an element marked as an author's is about the page: not about a comment, a review or another page."""
    if _NOT_OF_PAGE.search(value) or (not hints.is_article and hints.in_teaser(node)):
        return False
    return not any(_NOT_OF_PAGE.search(around) for around in hints.classes_around(node, _AROUND_AUTHOR))


def _name_in(hints: Hints, node: int) -> str | None:
    tree = hints.tree
    if tree.text_end[node] - tree.text_start[node] > LONGEST_MARKED_AUTHOR:
        return None
    for run in hints.runs_from(int(tree.text_start[node]), _LONGEST_BYLINE, int(tree.text_end[node])):
        name = signed_name(run) or _PARTICLE.sub("", run)
        if " " in name and has_digit(name):
            continue
        if any(is_name(one) and squeezed(one) not in _NOBODY for one in _people(name)):
            return name
    return None


def _author_in_text(hints: Hints) -> Iterator[str]:
    """Find a run that begins with `By`, shortly after the title, or `Written by`: the name is in it, or in the next.

    Labels such as `作者：` may be anywhere in a run.
    """
    at = first_found(hints.tree.text, _SIGNED)
    below = hints.runs_from(at, 2) if at >= 0 else ()
    for run, following in pairwise([*hints.after_title, "", *below, ""]):
        if _STARTS_THREAD.fullmatch(run) and not names_day(following):
            yield following
            return
        signed = signed_name(run)
        if signed is not None and (signed or following):
            yield signed or following
            return
        by = _STARTS_BYLINE.match(run)
        if by:
            name = run[by.end() :].lstrip(" :") or following
            is_short = name.count(" ") < _MOST_WORDS and not has_digit(name)
            if _WITH_CAPITAL.match(name) and is_short and is_name(name):
                yield name
                return


_DECLARED_AUTHORS: tuple[Source, ...] = (_authors_in_json_ld, _authors_in_metas, _author_in_card)
_AUTHOR_SOURCES: tuple[Source, ...] = (*_DECLARED_AUTHORS, _author_marked, _author_in_text)

# The date of publication: in the URL, then what the page declares, then what it shows

_PUBLISHED = (
    *("article:published_time", "datepublished", "parsely-pub-date", "sailthru.date", "cxenseparse:publishtime"),
    *("citation_publication_date", "citation_date", "dc.date.issued", "dcterms.issued", "dcterms.created", "dc.date"),
    *("og:published_time", "og:publish_date", "publish_date", "published", "pubdate", "date", "datecreated"),
    "uploaddate",
)
MAX_TIMES = 20
LONGEST_MARKED_DATE = 200
"""Characters; a longer element marked as a date is a list or an article."""
BEFORE_TITLE = 300
"""Characters up to the title's end that are searched for a date if there is none after it."""
NEAR_TITLE = range(-400, 1500)
"""Characters from the title's end to its date; other marked dates are of comments, versions and releases."""
_PUBLISHED_ON = re.compile(r"\s*(?:publi|posted|veröffentlicht)", re.IGNORECASE)
BEFORE_DATE = 40


_MONTH_FIRST_IN = frozenset(("", "us", "ca", "ph", "io", "ai", "co", "tv", "me"))
"""Regions and domains: of countries where the month is first, and those that are used in every country."""


def day(hints: Hints) -> str | None:
    """Return the date of publication, `YYYY-MM-DD`."""
    if hints.is_home:
        return None
    for source in _DAY_SOURCES:
        for text in source(hints):
            found = date_in(text)
            if found is None:
                continue
            readings = (_in_order(found, text, hints), found) if NUMBERS.search(text) else (found,)
            latest = latest_day(hints.fetched)
            past = [date for date in readings if date <= latest]
            if past:
                return past[0]
    return None


def latest_day(fetched: str | None) -> str:
    """Return the last day that a page may have been published on: a day after it was fetched, or else after today.

    The day ahead is for time zones. A page that names a later day, such as that of an event or an offer, has no date
    until then; a date that was once found does not change.
    """
    known = date_in(fetched) if fetched else None
    day = datetime.date.fromisoformat(known) if known else datetime.datetime.now(datetime.UTC).date()
    return (day + datetime.timedelta(days=1)).isoformat()


def _in_order(found: str, text: str, hints: Hints) -> str:
    """Return the date of a text that may have the month first, as in 03/04/2015, or the day."""
    date = date_in(text, month_first=_month_first(hints)) or found
    return _as_named(date, hints)


def _as_named(date: str, hints: Hints) -> str:
    """Exchange day and month of a date written as 03-04-2015 if the page names that day near its title: April 3."""
    exchanged = f"{date[:5]}{date[8:]}-{date[5:7]}"
    named = {date_in(run) for run in hints.after_title if names_day(run)}
    return exchanged if exchanged in named and date not in named else date


def _month_first(hints: Hints) -> bool:
    """Whether 4/3/2015 is the third of April: as the page's other dates say, then its country, then its language."""
    for match in islice(SLASHED.finditer(hints.tree.text), MAX_TIMES):
        one, other = int(match[1]), int(match[2])
        if (one > MONTHS) != (other > MONTHS):
            return other > MONTHS
    language = next(iter((*filter(None, (hints.head.language,)), *hints.metas("og:locale"))), "")
    tag, _, region = language.lower().replace("_", "-").partition("-")
    return tag in ("", "en") and (region or hints.country) in _MONTH_FIRST_IN


def _day_in_url(hints: Hints) -> Iterator[str]:
    return filter(None, (date_of_url(url or "") for url in (hints.tree.url, hints.head.canonical)))


def _other_metas(hints: Hints) -> Iterator[str]:
    """Yield metas with `publi` in their name: `w-published-date`, `dcterms.published`."""
    return hints.metas(*dict.fromkeys(name for name, _ in hints.head.metas if "publi" in name))


def _times(hints: Hints) -> Iterator[str]:
    """Yield `<time>` elements, those after the first heading first, days of an update near the title last."""
    tree = hints.tree
    nodes = (tree.tag == TAG_CODE["time"]).nonzero()[0][:MAX_TIMES].tolist()
    if not nodes:
        return
    top = hints.headings[0][0] if hints.headings else 0
    ends = [0, *tree.text_end[nodes].tolist()]
    updates = []
    for node, last in sorted(zip(nodes, ends, strict=False), key=lambda pair: pair[0] < top):
        start = int(tree.text_start[node])
        text = tree.attribute(node, "datetime") or hints.text(node)
        if is_update(tree.text[max(last, start - BEFORE_DATE) : tree.text_end[node]]):
            if start - hints.title_end in NEAR_TITLE and _is_above_text(hints, start):
                updates.append(text)
        elif start - hints.title_end in NEAR_TITLE or not hints.in_teaser(node):
            yield text
    yield from updates


def _is_above_text(hints: Hints, start: int) -> bool:
    """Whether a place in the page's text is above its running text, where a byline is."""
    lines = hints.lines_after_title
    end = end_of_byline([line.text for line in lines])
    return end == len(lines) or start < lines[end].start


def _days_after_title(hints: Hints) -> Iterator[str]:
    if any(has_digit(run) for run in hints.after_title):  # most pages have no date here
        yield from byline_dates([line.text for line in hints.lines_after_title])


def _days_marked(hints: Hints) -> Iterator[str]:
    """Yield elements marked as dates that are near the title, or that say `published`."""
    tree = hints.tree
    for node, _, _ in hints.marked("date"):
        text, (start, end) = hints.text(node), (int(tree.text_start[node]), int(tree.text_end[node]))
        if is_update(text) and not _is_above_text(hints, start):
            continue
        if len(text) <= LONGEST_MARKED_DATE and (start - hints.title_end in NEAR_TITLE or _PUBLISHED_ON.match(text)):
            yield from byline_dates(list(hints.runs_from(start, BEFORE_TITLE, end)))


def _before_title(hints: Hints) -> Iterator[str]:
    end = hints.title_end
    return byline_dates([line.text for line in hints.lines_from(max(0, end - BEFORE_TITLE), BEFORE_TITLE, end)])


_DAY_SOURCES: tuple[Source, ...] = (
    _day_in_url,  # the author's own day; the others may be a day off in another time zone
    lambda hints: hints.metas(*_PUBLISHED),
    lambda hints: (line(thing.get("datePublished")) for thing in hints.works),
    _other_metas,
    _times,
    _days_after_title,
    _days_marked,
    _before_title,
)
