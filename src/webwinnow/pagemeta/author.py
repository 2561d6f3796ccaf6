"""The authors: names from JSON-LD, metas and bylines. Addresses are no names, the site's own for want of others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice, pairwise

from webwinnow.dates import names_day
from webwinnow.markup import ATTRIBUTE_CODE
from webwinnow.pagemeta.hints import Hints
from webwinnow.pagemeta.spelling import squeezed

__all__ = ["authors"]

MAX_AUTHORS = 50
LONGEST_NAME = 100
"""Characters; what is longer is a sentence about somebody."""
LONGEST_MARKED = 300
"""Characters; an element marked as the author's that holds more is a list or the page."""
_BYLINE = re.compile(
    r"^(?:about\s+|the\s+)?(?:authors?|autore?|auteur)\b\s*:?\s*|^(?:\w+\s+){0,2}?by\b\s*:?\s*", re.IGNORECASE
)
"""What stands before a name: `By`, `Written by`, `Author:`."""
_PARTICLE = re.compile(r"^(?:Von|Par|Por|Di|Door|Przez)\s+")
"""`By` in other languages; inside a name, or small, it is a part of the name: Ludwig von Mises."""
_STARTS_BYLINE = re.compile(r"(?:\w+\s+)?by\b|(?:von|par|por|di|door|przez)\b", re.IGNORECASE)
_WITH_CAPITAL = re.compile(r"[^\W\d_a-zß-ÿ]")
_META_NAMES = (
    *("author", "article:author", "parsely-author", "sailthru.author", "cxenseparse:author", "citation_author"),
    *("dc.creator", "dcterms.creator", "dc.contributor.author", "creator", "byl", "og:author"),
)
_ADDRESS = re.compile(r"^(?:https?:|www\.|@)|^\S+@\S+$|://", re.IGNORECASE)
_NOBODY = frozenset(
    "admin administrator editor editors staff author authors user guest webmaster anonymous unknown none null".split()
)
"""Accounts and labels, not names."""
_TURNED = re.compile(r"^([^,]+), ([^,]+)$")
_BETWEEN_NAMES = re.compile(r"\s*(?:[;|]|,\s+(?:and|und|et|y|e)\s+|,|\s(?:and|und|et|&)\s)\s*")
_CLASS, _ITEMPROP, _REL = (ATTRIBUTE_CODE[name] for name in ("class", "itemprop", "rel"))
_MOST_WORDS = 8
_LONGEST_BYLINE = 5
"""Runs of text in a marked element, among which a name may stand."""


def authors(hints: Hints) -> str | None:
    """The authors' names, joined by `; `."""
    second_best = ""
    for source in SOURCES:
        names = list(dict.fromkeys(name for found in islice(source(hints), MAX_AUTHORS) for name in _people(found)))
        good = [name for name in names if not hints.is_site(name) and squeezed(name) not in _NOBODY]
        if good:
            return "; ".join(good)
        second_best = second_best or "; ".join(names)
    return second_best or None


def _people(found: str) -> Iterator[str]:
    """The names in one text; several only where each of them has a first and a last name."""
    found = _BYLINE.sub("", found).strip(" ,;|·•-–—:")
    if not 1 < len(found) <= LONGEST_NAME or _ADDRESS.search(found) or not any(map(str.isalpha, found)):
        return
    if names_day(found):
        return
    several = [name for name in _BETWEEN_NAMES.split(found) if name]
    if len(several) > 1 and all(2 <= name.count(" ") + 1 <= 3 for name in several):
        yield from several
    else:
        yield found


def _from_things(hints: Hints) -> Iterator[str]:
    for thing in hints.things:
        found = [name for key in ("author", "creator") for name in hints.named(thing.get(key)) if name]
        if found:
            yield from found
            return


def _from_metas(hints: Hints) -> Iterator[str]:
    for meta in _META_NAMES:
        found = [name for said in hints.metas(meta) for name in _people(said)]
        if found:
            turned = meta.startswith(("citation", "dc"))
            yield from (_TURNED.sub(r"\2 \1", name) for name in found) if turned else found
            return


def _from_card(hints: Hints) -> Iterator[str]:
    """The first pair of a Twitter card: `Written by` and a name; other pairs hold numbers."""
    for said in hints.metas("twitter:data1"):
        if not _holds_digit(said):
            yield said
            return


def _from_marks(hints: Hints) -> Iterator[str]:
    """Elements marked as the author's: by `rel`, by `itemprop`, by a class that names it, by one that hints at it."""
    marked = list(hints.marked("uthor"))
    for wanted in (_is_rel, _is_property, _is_name, _is_hint):
        for node, code, value in marked:
            if wanted(code, value.lower()):
                for name in _first_name(hints, node):
                    yield name
                    return


def _first_name(hints: Hints, node: int) -> Iterator[str]:
    tree = hints.tree
    if tree.text_end[node] - tree.text_start[node] > LONGEST_MARKED:
        return
    for run in hints.runs_from(int(tree.text_start[node]), _LONGEST_BYLINE, int(tree.text_end[node])):
        said = _PARTICLE.sub("", run)
        if not (" " in said and _holds_digit(said)) and any(squeezed(name) not in _NOBODY for name in _people(said)):
            yield said
            return


def _holds_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _is_rel(code: int, value: str) -> bool:
    return code == _REL and "author" in value.split()


def _is_property(code: int, value: str) -> bool:
    return code == _ITEMPROP and "author" in value.split()


def _is_name(code: int, value: str) -> bool:
    return code == _CLASS and "name" in value and "author" in value and "comment" not in value


def _is_hint(code: int, value: str) -> bool:
    return code == _CLASS and "comment" not in value


def _from_text(hints: Hints) -> Iterator[str]:
    """A run of text shortly after the title that begins with `By`: the name is in it, or in the next one."""
    for run, following in pairwise([*hints.after_title, ""]):
        by = _STARTS_BYLINE.match(run)
        if by:
            name = run[by.end() :].lstrip(" :") or following
            if _WITH_CAPITAL.match(name) and name.count(" ") < _MOST_WORDS and not _holds_digit(name):
                yield name
                return


SOURCES: tuple[Callable[[Hints], Iterator[str]], ...] = (
    _from_things,
    _from_metas,
    _from_card,
    _from_marks,
    _from_text,
)
