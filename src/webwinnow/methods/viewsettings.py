"""`ViewSettings`: every parameter of the DocView paper, for its cleaning method and for the records of all methods."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import inf
from typing import Any

from webwinnow.methods.settings import MethodSettings, setting, share, stop_words, yes_or_no
from webwinnow.page.markup import TAG_CODE

DOCVIEW = "docview"
"""The name of the paper's cleaning method."""

FORCE: dict[str, float] = {
    **{"h1": 4.0, "h2": 3.0, "h3": 2.5, "h4": 2.0, "h5": 1.5, "h6": 1.5},
    **{"b": 1.5, "strong": 1.5, "big": 1.5, "mark": 1.5},
    **{"i": 1.2, "em": 1.2, "u": 1.2, "dfn": 1.2, "blink": 1.2, "font": 1.1},
}
"""The force of each weighty tag (DocView 3.2). Ours: headings by rank, then bold, slanted; FONT may only colour."""

_OURS_AND_PUBLISHED: dict[str, tuple[Any, Any]] = {
    "most": (8.0, inf),
    "headings": (True, False),
    "first_test": ("image", "hub"),
    "image_terms": (60.0, inf),
    "teasers": (True, False),
    "grouped": (True, False),
    "menus": (False, True),
    "searched": (30, inf),
    "sentences": (5, 15),
    "abstract_share": (0.2, 1.0),
}
"""The two values of each setting for which we depart from the paper."""


VIEW_ONLY = frozenset(
    "keywords sentences abstract_share sentence_keywords summary_sentences title_keywords similarity grouped menus "
    "searched".split()
)
"""Settings that only change keywords, abstract and relevant links of a record."""
_RECORD_ONLY = VIEW_ONLY | {"published"}


def forces(changes: str) -> dict[str, float]:
    """The force of each weighty tag, given the changes to `FORCE`: `h1=6,b=2,i=0`. Raises `ValueError`."""
    pairs = (pair.partition("=") for pair in changes.split(",") if pair.strip())
    found = FORCE | {tag.strip().lower(): float(force) for tag, _, force in pairs}
    if any(tag not in TAG_CODE or not 0 <= force < inf for tag, force in found.items()):
        raise ValueError(f"{changes!r} names no tag, or no force")
    return found


def _read_forces(text: str) -> str:
    forces(text)
    return text


def _count(default: int | None, help: str) -> Any:
    return setting(default, help, "0 or more", int, lambda v: v >= 0)


def _number(default: float | None, help: str, least: int = 0) -> Any:
    return setting(default, help, f"{least} or more", float, lambda v: v >= least)


def _flag(help: str) -> Any:
    return setting(None, help, "true or false", yes_or_no, lambda v: v in (True, False))


def _are_forces(text: str) -> bool:
    try:
        return len(forces(text)) > 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSettings(MethodSettings):
    """Settings of method `docview`, and of the DocView that every method gives; letters are the paper's.

    A setting that is None has the paper's value or ours, as `published` says: see `filled`.
    """

    published: bool | None = _flag(
        "for each setting below that is none, use the paper's value (true) or ours (false); none: the paper's for "
        "method docview, ours for the records of other methods"
    )
    keywords: int = _count(10, "keywords of a record (lambda; the paper leaves it to the user)")
    sentences: int = _count(None, "most sentences of the abstract (delta): 15, or 5 (ours)")
    abstract_share: float = share(
        None,
        "most of the text that the abstract has, but one sentence: 1, or 0.2 (ours); 1 where `sentences` is given",
    )
    sentence_keywords: int = _count(15, "keywords that weigh the sentences of the abstract (theta)")
    summary_sentences: int = _count(2, "sentences of the summary (not in the paper)")
    title_keywords: int = _count(2, "keywords that replace a placeholder as the title (one or two)")
    similarity: float = share(0.3, "a block of links is relevant above this cosine with the topic (beta; value ours)")
    hub_share: float = share(0.5, "a block is a hub above this share of its terms in links (value ours)")
    image_share: float = _number(0.1, "a block is an image block above this number of images per term (value ours)")
    page_hub_share: float = share(0.5, "a page is a hub above this share of its central terms in hubs (value ours)")
    page_image_share: float = _number(
        0.2, "a page is an image page above this number of central images per central term (value ours)"
    )
    force: str = setting(
        "", "changes to the forces of weighty tags (values ours)", "h1=4,b=1.5", _read_forces, _are_forces
    )
    passed_on: float = share(
        0.5, "a leaf of force f multiplies its parent and siblings by f to this power (pforce; value ours)"
    )
    most: float = _number(None, "highest force, and highest product that a block receives: inf, or 8 (ours)", 1)
    headings: bool = _flag("headings are blocks of their own: false, or true (ours)")
    first_test: str = setting(
        None,
        "the type that a page is tested for first: hub, or image (ours)",
        "hub or image",
        str,
        ("hub", "image").__contains__,
    )
    image_terms: float = _number(None, "an image page has no more central terms than this: inf, or 60 (ours)")
    teasers: bool = _flag("text under a heading that links to another page counts as hub text: false, or true (ours)")
    grouped: bool = _flag("relevant links: link blocks with one parent are judged together: false, or true (ours)")
    menus: bool = _flag("relevant links: also from menus and from what the site repeats: true, or false (ours)")
    searched: float = _number(
        None, "paragraphs and items searched for the abstract, those with most keywords: inf, or 30 (ours)", 1
    )

    stop_words: tuple[str, ...] | None = stop_words()

    def for_features(self, method: str) -> dict[str, Any]:
        """The settings that change a page's text or features, as plain values; the others only change its record."""
        return {name: value for name, value in asdict(filled(self, method)).items() if name not in _RECORD_ONLY}


@lru_cache(maxsize=64)
def filled(settings: ViewSettings, method: str) -> ViewSettings:
    """The settings for a cleaning method: no value is None."""
    published = method == DOCVIEW if settings.published is None else settings.published
    if settings.sentences is not None and settings.abstract_share is None:
        settings = replace(settings, abstract_share=1.0)
    values = {name: pair[published] for name, pair in _OURS_AND_PUBLISHED.items() if getattr(settings, name) is None}
    return replace(settings, published=published, **values)


OURS = filled(ViewSettings(), "")
"""The settings of records of all methods but the paper's."""
