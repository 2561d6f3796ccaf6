"""The sketch of a page, by which its replicas are found: a row of fixed size, so ten million pages fit into one file.

A row contains the page's MinHash (Broder 1997) over shingles of words and hashes of its URL, site and title. The
MinHash uses one permutation (Li, Owen and Zhang 2012): the first bits of a shingle's hash select its slot, a slot
keeps its lowest hash, and an empty slot borrows from another, the same for all pages (Shrivastava 2017). The share of
slots in which two pages agree estimates the Jaccard index of their shingles. 16 bits of each lowest hash are kept.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from struct import Struct
from typing import Annotated, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from webwinnow.judge.combined import RECORD_AT
from webwinnow.judge.emptypages import why_empty
from webwinnow.judge.evidence import PageEvidence, evidence_of, page_model, shown_of
from webwinnow.judge.verdict import Verdict
from webwinnow.judge.wholes import HIDDEN_ABOVE
from webwinnow.methods.settings import StopWords
from webwinnow.page._words import word_spans
from webwinnow.page.blocks import text_of_runs
from webwinnow.page.page import Page
from webwinnow.page.parsing import language_of
from webwinnow.page.tree import PageTree
from webwinnow.page.urls import canonical
from webwinnow.page.words import stop_list_of, words
from webwinnow.replicas._sketches import lent_slots, lowest_shingles
from webwinnow.settings import METHOD, Settings, setting
from webwinnow.site.learned import LearnedSite

PERCENTAGE = 0.4
"""The share of a page's different words that is used (DocView 7.2)."""
INTERVAL = 5
"""The number of words that are hashed is a multiple of this (DocView 7.2)."""
REPLICA_METHODS = ("modern", "published")
SHINGLE_WORDS = 3
"""Words in a shingle. `webwinnow experiment replicas` measures 1 to 5; 3 leaves the widest margin (in-sample)."""
THRESHOLD = 0.7
"""Pages with this similarity are replicas. Of the labelled pairs all replicas are above and all others far below; pages
of shops that differ in a colour or a trim are on both sides (docs/replicas.md)."""
TITLES_APART = 0.9
"""Two pages of one site under different titles are replicas only with this Jaccard index."""
LEAST_WORDS = 10
"""A page with fewer words has no modern fingerprint: too many pages have just these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSettings(Settings):
    """How replicas are found.

    `modern` is MinHash over shingles, `published` the MD5 of the most frequent words (DocView 5).
    `stop_words` are for `published`, None for the list of a page's language.
    """

    GROUP: ClassVar[str] = "replicas"
    PANEL = METHOD

    method: Annotated[
        str,
        setting(
            f"Fingerprint: {' or '.join(REPLICA_METHODS)} (DocView 5).", "--fingerprint", known=lambda: REPLICA_METHODS
        ),
    ] = "modern"
    threshold: Annotated[
        float,
        setting(
            "modern: share of the shorter page's text that two near-duplicates have in common.",
            "--threshold",
            above=0,
            most=1,
        ),
    ] = THRESHOLD
    titles_apart: Annotated[
        float,
        setting(
            "modern: the same share for pages of one site with different titles.", "--titles-apart", above=0, most=1
        ),
    ] = TITLES_APART
    shingle_words: Annotated[int, setting("modern: words in a row that are hashed together.", least=1)] = SHINGLE_WORDS
    least_words: Annotated[int, setting("modern: a page with fewer words has no fingerprint.", least=1)] = LEAST_WORDS
    percentage: Annotated[
        float, setting("published: share of a page's words that is compared.", "--percentage", above=0, most=1)
    ] = PERCENTAGE
    interval: Annotated[
        int, setting("published: the number of words hashed is a multiple of this.", "--interval", least=1)
    ] = INTERVAL
    stop_words: StopWords = None


def published_fingerprint(
    words: Sequence[str],
    percentage: float = PERCENTAGE,
    interval: int = INTERVAL,
    stops: Collection[str] = frozenset(),
) -> bytes | None:
    """The MD5 (16 bytes) of the chosen words (step 6); None for a page with too few words to choose one interval.

    A departure: in the paper all pages with too few words have the fingerprint of no words, and are replicas.
    """
    chosen = chosen_words(words, percentage, interval, stops)
    if not chosen:
        return None
    text = " ".join(chosen).encode(
        "utf-8", "replace"
    )  # the paper does not say how they are joined; no word has a blank
    return hashlib.md5(text, usedforsecurity=False).digest()


def chosen_words(
    words: Sequence[str],
    percentage: float = PERCENTAGE,
    interval: int = INTERVAL,
    stops: Collection[str] = frozenset(),
) -> list[str]:
    """Steps 1 to 5: of the most frequent words (equals by the alphabet), in the order of the alphabet, the first.

    The words of a feature vector (3.2) are not stop words. Sum1, Sum2 and Sum3 are `len(vector)`, `frequent` and
    `chosen`. `Sum1 * Percentage` is cut to whole words.
    """
    vector = Counter(word for word in words if word not in stops)
    by_frequency = sorted(vector, key=lambda word: (-vector[word], word))
    frequent = int(round(len(vector) * percentage, 6))
    chosen = frequent // interval * interval
    return sorted(by_frequency[:frequent])[:chosen]


SLOTS: Final = 128
"""Slots of a MinHash: an estimate of 0.5 is off by 0.044 (one standard error)."""
_SLOT_BITS = SLOTS.bit_length() - 1
_WHOLE = np.ones(1, np.bool_)
_PLACED = Struct("<Q")
"""The columns of a sketch that `placed` sets."""

Hashes = NDArray[np.uint64]
Sketches = NDArray[np.void]
"""Rows of `sketch_type`."""


@cache
def sketch_type(method: str = "modern") -> np.dtype[np.void]:
    """The columns of a sketch.

    `exact` is 0 for a page without a fingerprint; hashes of unknown values are 0, too. `shingles` counts different
    ones. `near` is the hash of the URL without dates and versions, `path` of the URL without scheme and host, `named`
    of the canonical link. `date` is 20260131, `fetched` seconds since 1970. `ordinal` is set by the run.
    """
    slots: list[Any] = [("slots", "<u2", SLOTS)] if method == "modern" else []
    names = ("exact", "address", "near", "path", "named", "site", "title", "fetched", "ordinal")
    return np.dtype(
        [*slots, *((name, "<u8") for name in names), ("shingles", "<u4"), ("url_length", "<u4"), ("date", "<u4")]
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOrigin:
    """Where a page is from: its URL and other metadata beside its text. An unknown `language` is detected."""

    url: str = ""
    site: str = ""
    title: str | None = None
    date: str | None = None
    canonical: str | None = None
    fetched_at: str | None = None
    language: str | None = None


def sketch(text: str, origin: PageOrigin, settings: ReplicaSettings | None = None) -> np.void:
    """The row of a page with this text, cleaned or not."""
    settings = settings or ReplicaSettings()
    if settings.method == "published":
        return _published(text, origin, settings)
    return _modern(word_spans(text, np.array([0, len(text)], np.int32), _WHOLE)[0], origin, settings)


def page_sketch(
    tree: PageTree, runs: NDArray[np.bool_], origin: PageOrigin, settings: ReplicaSettings | None = None
) -> np.void:
    """The row of a page, from some of its text runs; a word that markup splits counts as two."""
    settings = settings or ReplicaSettings()
    if settings.method == "published":
        return _published(text_of_runs(tree, runs), origin, settings)
    known = tree.known_words
    if known is None or (runs & ~tree.visible_runs).any():
        return _modern(word_spans(tree.text, tree.run_start, runs & tree.written_runs)[0], origin, settings)
    return _modern(known.key[runs[known.run]], origin, settings)


def _published(text: str, origin: PageOrigin, settings: ReplicaSettings) -> np.void:
    """The row of a page; 8 of the 16 bytes of the MD5 are kept, enough for 10^8 pages."""
    row = no_sketch(settings)
    stops = stop_list_of(settings.stop_words).of(origin.language or language_of(text))
    digest = published_fingerprint(words(text), settings.percentage, settings.interval, stops)
    row["exact"] = int.from_bytes(digest[:8], "little") or 1 if digest is not None else 0
    return _with_origin(row, origin)


def _modern(found: Hashes, origin: PageOrigin, settings: ReplicaSettings) -> np.void:
    """The row of a page, given the hashes of its words."""
    row = no_sketch(settings)
    if len(found) >= settings.least_words:
        lowest, row["shingles"] = lowest_shingles(found, settings.shingle_words, _SLOT_BITS)
        row["slots"] = lent_slots(lowest, _lenders())
        row["exact"] = xxh3_64_intdigest(found.tobytes()) or 1
    return _with_origin(row, origin)


def _with_origin(row: np.void, origin: PageOrigin) -> np.void:
    """A row with the origin of its page."""
    address = canonical(origin.url, routes=True)
    row["address"] = text_hash(address)
    row["near"] = text_hash(near_address(address))
    row["path"] = text_hash(_SCHEME_AND_HOST.sub("", address))
    named = origin.canonical
    row["named"] = row["address"] if named == origin.url else text_hash(canonical(named)) if named else 0
    row["site"] = text_hash(origin.site)
    row["title"] = text_hash(" ".join(words(origin.title or "")))
    row["url_length"] = len(address)
    row["date"] = _day(origin.date)
    row["fetched"] = seconds(origin.fetched_at)
    return row


def no_sketch(settings: ReplicaSettings | None = None) -> np.void:
    """The row of a page that could not be read and is a replica of none."""
    row: np.void = np.zeros(1, sketch_type((settings or ReplicaSettings()).method))[0]
    return row


def placed(packed: bytes, site: str, ordinal: int, fetched_at: str | None, settings: ReplicaSettings) -> bytes:
    """The bytes of a sketch with the values that only the run knows; an empty sketch where there is none yet."""
    row = bytearray(packed or no_sketch(settings).tobytes())
    places: Mapping[str, Any] = sketch_type(settings.method).fields or {}
    for name, value in (("site", text_hash(site)), ("ordinal", ordinal), ("fetched", seconds(fetched_at))):
        _PLACED.pack_into(row, places[name][1], value)
    return bytes(row)


@cache
def _lenders() -> NDArray[np.int64]:
    """For each slot all slots in the order in which it borrows from them if it is empty."""
    hashes = [xxh3_64_intdigest(b"%d %d" % (slot, lender)) for slot in range(SLOTS) for lender in range(SLOTS)]
    return np.argsort(np.array(hashes, np.uint64).reshape(SLOTS, SLOTS), axis=1).astype(np.int64)


# Addresses and dates

_SCHEME_AND_HOST = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]*", re.IGNORECASE)
_YEAR = r"(?:19|20)\d\d"
_DATED = re.compile(
    rf"(?<!\d){_YEAR}(?:[-/._]?(?:1[0-2]|0?[1-9])(?:[-/._]?(?:[12]\d|3[01]|0?[1-9])(?:[T_-]?\d{{4,6}})?)?)?(?!\d)"
    r"|(?<![a-z0-9])v?\d+(?:[._]\d+)+(?![a-z0-9])|(?<![a-z0-9])v\d+(?![a-z0-9])"
)
"""Dates, time stamps and version numbers in a URL."""
_SECURE_OR_NOT = re.compile(r"^https?://(?:www\.)?")


def near_address(address: str) -> str:
    """A URL without what distinguishes versions of a page: scheme, `www.`, dates, time stamps, version numbers."""
    return _DATED.sub("*", _SECURE_OR_NOT.sub("", address.lower())).rstrip("/")


def seconds(stamp: str | None) -> int:
    """A time stamp, ISO 8601 or 14 digits, in seconds since 1970; 0 if it is not one."""
    if not stamp:
        return 0
    try:
        found = datetime.fromisoformat(stamp)
        return max(0, int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()))
    except (ValueError, OverflowError):
        return 0


def _day(date: str | None) -> int:
    """A date such as 2026-01-31 as 20260131; 0 if it is not one."""
    found = (date or "")[:10].replace("-", "")
    return int(found) if len(found) == 8 and found.isascii() and found.isdigit() else 0


def text_hash(text: str) -> int:
    """The hash of a text in a sketch; 0 for none."""
    return xxh3_64_intdigest(text.encode("utf-8", "replace")) if text else 0


SITE_PAGES: Final = 10
"""Repeated blocks are not removed on smaller sites, whose pages may all be replicas of one."""
LEAST_LEFT: Final = 0.1
"""Nor where less than this share of a page would be left: that page has replicas on most of the site."""
LEAST_CONTENT: Final = 10
"""With fewer words of main content, all text that the verdict keeps is used."""


def distinctive_runs(
    tree: PageTree, verdict: Verdict, page: Page | None = None, model: LearnedSite | None = None
) -> NDArray[np.bool_]:
    """The text runs to fingerprint, which distinguish a page from others on any site.

    A site's model is learned from its pages, so replicas on a site change what cleaning leaves of them, and a replica
    on another site is cleaned differently. So the fingerprint uses the main content by the page model alone
    (`page`), without blocks that the site repeats on many pages; without `page`, all that the verdict keeps.
    """
    if page is not None:
        blocks, evidence = page.blocks, evidence_of(page)
        kept = _content(page) & (shown_of(page) | (evidence.probability >= HIDDEN_ABOVE))
        content = int(evidence.words[kept].sum())
        if content >= LEAST_CONTENT:
            distinctive = kept & ~_repeated(evidence, model)
            chosen = np.zeros(len(blocks), np.bool_)
            chosen[evidence.said] = distinctive if evidence.words[distinctive].sum() >= LEAST_LEFT * content else kept
            return chosen.repeat(blocks.first_run[1:] - blocks.first_run[:-1])
    return verdict.keep_runs & verdict.keep[tree.run_owner]


def _content(page: Page) -> NDArray[np.bool_]:
    """The blocks that method `page` keeps without `--favor`; none on a page that it says has no main content."""
    probability, words = evidence_of(page).probability, evidence_of(page).words
    lowest, quality = page_model(page).judged(probability, words)
    kept: NDArray[np.bool_] = probability >= lowest
    return kept if why_empty(page, kept, quality) is None else np.zeros(len(probability), np.bool_)


def _repeated(evidence: PageEvidence, model: LearnedSite | None) -> NDArray[np.bool_]:
    """The blocks that the site repeats on so many pages that they belong to no record."""
    if model is None or model.pages < SITE_PAGES:
        return np.zeros(len(evidence), np.bool_)
    found: NDArray[np.bool_] = model.block_table.pages_that_say(evidence.text) >= RECORD_AT * model.pages
    return found
