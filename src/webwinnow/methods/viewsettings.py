"""`ViewSettings`: every parameter of the DocView paper, for its cleaning method and for the records of all methods."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import inf
from typing import Annotated, Any, Literal

from webwinnow.errors import SettingsError
from webwinnow.methods.settings import StopWords
from webwinnow.page.markup import TAG_CODE
from webwinnow.settings import Setting, Settings, setting, share

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


def _count(help: str, *options: str) -> Setting:
    return setting(help, *options, least=0)


def _number(help: str, least: int = 0) -> Setting:
    return setting(help, least=least)


_PAPERS_OR_OURS: Any = None
"""The default of a setting for which `filled` takes the paper's value or ours: there it is not None."""
_FORCES = "h1=4,b=1.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewSettings(Settings):
    """Settings of method `docview`, and of the DocView that every method gives; letters are the paper's.

    A setting that is None has the paper's value or ours, as `published` says: see `filled`.
    """

    published: Annotated[
        bool | None,
        setting(
            "for each setting below that is none, use the paper's value (true) or ours (false); none: the paper's for "
            "method docview, ours for the records of other methods"
        ),
    ] = None
    keywords: Annotated[
        int, _count("Keywords of a record (lambda; the paper leaves it to the user).", "--keywords")
    ] = 10
    sentences: Annotated[
        int, _count("Sentences in the abstract of a record, at most (delta): 15, or 5 (ours).", "--sentences")
    ] = _PAPERS_OR_OURS
    abstract_share: Annotated[
        float,
        share(
            "most of the text that the abstract has, but one sentence: 1, or 0.2 (ours); 1 where `sentences` is given"
        ),
    ] = _PAPERS_OR_OURS
    sentence_keywords: Annotated[int, _count("keywords that weigh the sentences of the abstract (theta)")] = 15
    summary_sentences: Annotated[int, _count("sentences of the summary (not in the paper)")] = 2
    title_keywords: Annotated[int, _count("keywords that replace a placeholder as the title (one or two)")] = 2
    similarity: Annotated[
        float, share("a block of links is relevant above this cosine with the topic (beta; value ours)")
    ] = 0.3
    hub_share: Annotated[float, share("a block is a hub above this share of its terms in links (value ours)")] = 0.5
    image_share: Annotated[
        float, _number("a block is an image block above this number of images per term (value ours)")
    ] = 0.1
    page_hub_share: Annotated[
        float, share("a page is a hub above this share of its central terms in hubs (value ours)")
    ] = 0.5
    page_image_share: Annotated[
        float, _number("a page is an image page above this number of central images per central term (value ours)")
    ] = 0.2
    force: Annotated[str, setting("changes to the forces of weighty tags (values ours)", expected=_FORCES)] = ""
    passed_on: Annotated[
        float, share("a leaf of force f multiplies its parent and siblings by f to this power (pforce; value ours)")
    ] = 0.5
    most: Annotated[float, _number("highest force, and highest product that a block receives: inf, or 8 (ours)", 1)] = (
        _PAPERS_OR_OURS
    )
    headings: Annotated[bool, setting("headings are blocks of their own: false, or true (ours)")] = _PAPERS_OR_OURS
    first_test: Annotated[
        Literal["hub", "image"], setting("the type that a page is tested for first: hub, or image (ours)")
    ] = _PAPERS_OR_OURS
    image_terms: Annotated[float, _number("an image page has no more central terms than this: inf, or 60 (ours)")] = (
        _PAPERS_OR_OURS
    )
    teasers: Annotated[
        bool, setting("text under a heading that links to another page counts as hub text: false, or true (ours)")
    ] = _PAPERS_OR_OURS
    grouped: Annotated[
        bool, setting("relevant links: link blocks with one parent are judged together: false, or true (ours)")
    ] = _PAPERS_OR_OURS
    menus: Annotated[
        bool, setting("relevant links: also from menus and from what the site repeats: true, or false (ours)")
    ] = _PAPERS_OR_OURS
    searched: Annotated[
        float, _number("paragraphs and items searched for the abstract, those with most keywords: inf, or 30 (ours)", 1)
    ] = _PAPERS_OR_OURS
    stop_words: StopWords = None

    def validate(self) -> None:
        """Raise `SettingsError` if `force` cannot be read."""
        try:
            forces(self.force)
        except ValueError:
            raise SettingsError(f"force is {self.force!r}: expected {_FORCES}") from None

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
