r"""Words and the other features of text mining: tokens, stop words, links, images, shingles.

A word is a run of letters, digits, underscores and combining marks with at least one letter or digit: `\w+` with the
marks that Python's `\w` lacks and Hindi needs. Words are NFKC-normalised and case-folded. Where a run is split:

- Hyphens separate: `state-of-the-art` is four words. Soft hyphens and other invisible characters are removed.
- An apostrophe separates (elision): `l'été` is `l`, `été`. It is kept in English contractions, which stop lists contain
  (`don't`, `we'll`), and between Cyrillic or Hebrew letters, where it is a letter (`п'ять`). A final `'s` is removed:
  `Ann's` is `ann`. Each of `’ ‘ ʼ ´` counts as `'`.
- Scripts without blanks between words (Han, kana, Thai, Lao, Khmer, Burmese) become overlapping bigrams or, on request,
  Chinese words. No result depends on what is installed.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from stop_words import LANGUAGE_MAPPING, get_stop_words
from xxhash import xxh3_64_intdigest

from webwinnow.errors import InputError, MissingExtra, SettingsError
from webwinnow.lazy import lazy_pattern
from webwinnow.page._words import name_hash
from webwinnow.settings import Settings, setting

CjkSegmentation = Literal["bigrams", "jieba"]

# No word contains "@" or ":", so a link or an image is never mistaken for a word.
LINK_PREFIX = "@href:"
IMAGE_PREFIX = "@img:"

SHINGLE_SIZE = 5  # words; ours: long enough to be rarely shared by chance, short enough to survive an edit


# Words


def words(text: str, *, cjk: CjkSegmentation = "bigrams") -> list[str]:
    """Return the words of `text` in order, as the module defines them.

    `cjk="jieba"` splits Han into Chinese words and needs the extra `cjk`, whether or not `text` contains any; other
    scripts without blanks stay bigrams.
    """
    segment = _segmentation(cjk)
    separated = _separated(text)
    runs = separated.split()
    if not separated.isascii() and _UNSPACED.search(separated):
        runs = [word for run in runs for word in ((run,) if run.isascii() else _segmented(run, segment))]
    if "_" in separated:
        runs = [run for run in runs if run.strip("_")]
    return runs


# In folded text an apostrophe separates words unless it is kept; a final 's is removed with it.
_APOSTROPHE_LOOKALIKES = "’‘´"  # and ʼ, later
_END = r"(?![\w']|[^\x00-\x7f])"
_CONTRACTION = rf"(?<=[a-z\u00df-\u024f\u1e00-\u1eff]')(?:t|d|m|ll|re|ve){_END}"
_CYRILLIC_OR_HEBREW = r"[\u0400-\u052f\u05d0-\u05ea]"
_KEPT = rf"{_CONTRACTION}|(?<={_CYRILLIC_OR_HEBREW}'){_CYRILLIC_OR_HEBREW}"
_SEPARATING_APOSTROPHE = lazy_pattern(rf"'(?!{_KEPT})(?:(?<=[^\W_]')s{_END})?")

# The frequent punctuation beyond ASCII on English pages is blanked first: then most of them are ASCII. The trade mark
# signs must go before NFKC makes letters of them ("Acme™" is not "acmetm"), the zero width space before the invisible
# characters: it ends words in Khmer and Thai.
_BLANKED_FIRST = "™℠\u200b\u00a0“”–—…•®©→"

_DOTTED_I = re.compile("i\u0307+")  # the folded Turkish İ

# Default_Ignorable_Code_Point of the Unicode Character Database, which NFKC_Casefold drops too.
_INVISIBLE = lazy_pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200c-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)

# Python sorts the marks on one letter in quadratic time, so a page could stall a crawl. The limit is that of the
# Stream-Safe Text Format (UAX #15, section 13). Long runs of punctuation are shortened too, which does no harm.
_LONG_MARKS = lazy_pattern(r"([^\w\x00-\x7f]{30})[^\w\x00-\x7f]+")

# ASCII outside words becomes a blank; the bytes of all other characters are kept.
_ASCII_TO_BLANK = bytes(b if b >= 0x80 or chr(b).isalnum() or chr(b) in "_'" else 0x20 for b in range(256))

# Blocks of the scripts without blanks between words; non-letters have been removed before.
_HAN_RANGES = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA_RANGES = "\u3041-\u312f\u31a0-\u31ff\U0001b000-\U0001b16f"
_SOUTH_EAST_ASIAN_RANGES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_HAN_RUN = lazy_pattern(f"([{_HAN_RANGES}]+)")
_UNSPACED = lazy_pattern(f"[{_HAN_RANGES}{_KANA_RANGES}{_SOUTH_EAST_ASIAN_RANGES}]")

# Beyond ASCII, once separators are blanks, what is not `\w` is a mark.
_MARK = r"[^\w\x00-\x7f]"
_HAS_MARK = lazy_pattern(_MARK)
_STRAY_MARKS = lazy_pattern(rf"(?<![^\W_])(?<!{_MARK}){_MARK}+")  # not on a letter or digit
_UNSPACED_LETTER = lazy_pattern(rf"(?=\w){_UNSPACED.pattern}{_MARK}*")
_UNSPACED_RUN = lazy_pattern(f"((?:{_UNSPACED_LETTER.pattern})+)")


def _separated(text: str) -> str:
    """Return `text` folded, with only blanks between the words.

    A few passes in C. The last one is over bytes, since `str.translate` is fast only for ASCII.
    """
    text = _folded(text)
    if not text.isascii():
        text = _separator_beyond_ascii().sub(" ", text)
        if _HAS_MARK.search(text):
            text = _STRAY_MARKS.sub(" ", text)
    if "'" in text:
        text = _SEPARATING_APOSTROPHE.sub(" ", text)
    return text.encode().translate(_ASCII_TO_BLANK).decode()


def _folded(text: str) -> str:
    """Return `text` normalised: NFKC, case-folded, nothing invisible, one kind of apostrophe."""
    if not text.isascii():
        for lookalike in _APOSTROPHE_LOOKALIKES:
            text = text.replace(lookalike, "'")
        for sign in _BLANKED_FIRST:
            text = text.replace(sign, " ")
    if text.isascii():
        return text.lower()
    text = _LONG_MARKS.sub(r"\1", _INVISIBLE.sub("", text))
    text = _nfkc(_DOTTED_I.sub("i", _nfkc(text).casefold()))
    return text.replace("ʼ", "'")  # in the text, or from NFKC of the Afrikaans ŉ


def _nfkc(text: str) -> str:
    return text if unicodedata.is_normalized("NFKC", text) else unicodedata.normalize("NFKC", text)


@functools.cache
def _separator_beyond_ascii() -> re.Pattern[str]:
    """Return the pattern of characters beyond ASCII that are not part of a word.

    `re` has no class for combining marks; collecting them takes 12 ms, so that is done on first use.
    """
    marks = [code for code in range(0x300, 0x20000) if unicodedata.category(chr(code)) in ("Mn", "Mc")]
    ranges = ""
    for _, group in groupby(enumerate(marks), key=lambda ranked: ranked[1] - ranked[0]):
        codes = [code for _, code in group]
        ranges += f"{chr(codes[0])}-{chr(codes[-1])}"
    return re.compile(rf"[^\w\x00-\x7f{ranges}]")


def _segmentation(cjk: CjkSegmentation) -> Callable[[str], Iterable[str]]:
    if cjk == "bigrams":
        return _bigrams
    if cjk != "jieba":
        raise SettingsError(f"cjk is {cjk!r}; expected 'bigrams' or 'jieba'")
    try:
        import rjieba  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtra("Chinese word segmentation", "cjk") from error

    def chinese_words(run: str) -> Iterator[str]:
        for i, piece in enumerate(_HAN_RUN.split(run)):
            yield from rjieba.cut(piece) if i % 2 else _bigrams(piece)

    return chinese_words


def _segmented(run: str, segment: Callable[[str], Iterable[str]]) -> Iterator[str]:
    """Yield the words of a run that may mix scripts with and without blanks: `iphone手机`."""
    for i, piece in enumerate(_UNSPACED_RUN.split(run)):
        if i % 2:
            yield from segment(piece)
        elif piece:
            yield piece


def _bigrams(run: str) -> list[str]:
    """Return each letter (with its marks) joined to the next; a single letter alone."""
    letters = _UNSPACED_LETTER.findall(run)
    return [first + second for first, second in pairwise(letters)] if len(letters) > 1 else letters


# Stop words

DEFAULT_LANGUAGE = "en"
"""The language of a page that does not say it, for stop words."""
LARGEST_STOP_LIST = 1_000_000
"""Bytes of a file of stop words."""
_OTHER_CODES = {"no": "nb", "nn": "nb", "iw": "he", "in": "id"}  # the Norwegian list covers both; old ISO codes


def stop_words(language: str) -> frozenset[str]:
    """Return the stop words of `language`, a code of ISO 639-1 or a longer tag (`en`, `en-GB`, `pt_BR`).

    The lists are those of the package `stop-words`, normalised as by `words`. A language without a list has no stop
    words. Entries of several words are omitted, because their parts (above all Vietnamese syllables) may be meaningful.
    """
    code = language.strip().lower().replace("_", "-").partition("-")[0]
    code = _OTHER_CODES.get(code, code)
    return _stop_list(code) if code in LANGUAGE_MAPPING else frozenset()


@functools.cache
def _stop_list(code: str) -> frozenset[str]:
    entries = (_separated(entry).split() for entry in get_stop_words(code, cache=False))
    return frozenset(entry[0] for entry in entries if len(entry) == 1)


@dataclass(frozen=True, slots=True)
class StopList:
    """Which words are left out as stop words: by default the built-in list of each page's language.

    An `own` list, normalised as by `words`, replaces the built-in lists in every language: what `webwinnow lists
    stopwords` derives is in the languages of the collection. Entries of several words are omitted, as in those lists.
    The parts of a contraction (`don't`: `don`, `t`) are stop words too, because pages are split there.
    """

    own: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if self.own is not None:
            entries = [found[0] for found in map(words, self.own) if len(found) == 1]
            object.__setattr__(self, "own", tuple(sorted({part for word in entries for part in _with_parts(word)})))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a file with one word per line, as `webwinnow lists stopwords` writes it; what follows a tab is ignored.

        Raises `InputError`.
        """
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST_STOP_LIST + 1)
            lines = data.decode("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: no list of stop words ({error}); expected one word per line, in UTF-8") from None
        if len(data) > LARGEST_STOP_LIST:
            raise InputError(f"{path}: a list of stop words may have {LARGEST_STOP_LIST:,} bytes, this has more")
        found = cls(tuple(line.partition("\t")[0] for line in lines))
        if not found.own:
            raise InputError(f"{path}: has no word; expected one per line, as webwinnow lists stopwords writes them")
        return found

    @classmethod
    def from_plain(cls, plain: Any) -> Self:
        """Read what `dataclasses.asdict` made of a list. Raises `ValueError`."""
        own = plain["own"] if isinstance(plain, dict) and plain.keys() == {"own"} else 0
        if own is not None and not (isinstance(own, list | tuple) and all(isinstance(word, str) for word in own)):
            raise ValueError("its stop words are not a list of words")
        return cls(None if own is None else tuple(own))

    def of(self, language: str | None) -> frozenset[str]:
        """The stop words of a page in this language."""
        return stop_words(language or DEFAULT_LANGUAGE) if self.own is None else frozenset(self.own)

    def keys(self, language: str | None) -> npt.NDArray[np.uint64]:
        """The hashes of the stop words and of the parts of contractions, ascending."""
        return _stop_keys(self, language or DEFAULT_LANGUAGE if self.own is None else "")


@functools.lru_cache(maxsize=64)
def stop_list_of(own: tuple[str, ...] | None) -> StopList:
    """The stop list with these words; None for the built-in lists."""
    return StopList(own)


def _with_parts(word: str) -> list[str]:
    return [word, *word.split("'")] if "'" in word else [word]


@functools.lru_cache(maxsize=64)
def _stop_keys(stops: StopList, language: str) -> npt.NDArray[np.uint64]:
    pieces = {piece for word in stops.of(language) for piece in word.split("'")}
    keys = np.sort(np.array([name_hash(piece) for piece in pieces], np.uint64))
    keys.flags.writeable = False
    return keys


# Links and images as features

_URL = re.compile(r"(?:([a-z][a-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_URL_EDGE = "".join(map(chr, range(0x21)))  # C0 controls and the blank, as the URL standard strips them


def link_feature(href: str) -> str:
    """Return the feature of a link (Thesis 4.2.2): host in lower case, path and query, without scheme and fragment.

    The query is kept, since many sites distinguish their pages by nothing else. A relative link stays relative: resolve
    it first to compare pages of several folders. Other schemes (`mailto:`) are kept; `data:` is hashed.
    """
    scheme, host, path, query = _url_parts(href)
    if scheme == "data":
        return f"{LINK_PREFIX}{_hashed_data(href)}"
    if scheme not in ("", "http", "https"):
        return f"{LINK_PREFIX}{scheme}:{host}{path}{query}"
    return f"{LINK_PREFIX}{host}{path or '/' if host else path}{query}"


def image_feature(src: str) -> str:
    """Return the feature of an image (Thesis 4.2.2): its file name without query, or the host if there is no path.

    The same image in several folders or on several hosts is one feature. A `data:` image is hashed.
    """
    scheme, host, path, _ = _url_parts(src)
    if scheme == "data":
        return f"{IMAGE_PREFIX}{_hashed_data(src)}"
    return f"{IMAGE_PREFIX}{path.rstrip('/').rpartition('/')[2] or host}"


def _url_parts(url: str) -> tuple[str, str, str, str]:
    """Split as in RFC 3986, appendix B: any string can be split."""
    url = url.strip(_URL_EDGE).replace("\t", "").replace("\n", "").replace("\r", "")
    scheme, host, path, query = _URL.match(url).groups(default="")  # type: ignore[union-attr]  # matches any string
    return scheme.lower(), host.lower(), path, query


def _hashed_data(url: str) -> str:
    return f"data:{word_hash(url.strip(_URL_EDGE)):016x}"


# Hashes


def word_hash(word: str) -> int:
    """Return the 64-bit hash (xxh3) of a word or feature, the same on every machine."""
    return xxh3_64_intdigest(word.encode("utf-8", "surrogatepass"))


def shingles(tokens: Sequence[str], size: int = SHINGLE_SIZE) -> npt.NDArray[np.uint64]:
    """Return the hash of each `size` consecutive tokens, in order; fewer tokens than `size` are one shingle."""
    if size < 1:
        raise SettingsError(f"the size of shingles is {size}; expected 1 or more")
    count = max(len(tokens) - size + 1, min(len(tokens), 1))
    hashes = (word_hash(" ".join(tokens[start : start + size])) for start in range(count))
    return np.fromiter(hashes, dtype=np.uint64, count=count)


# Stop lists derived from a collection


@dataclass(frozen=True, slots=True, kw_only=True)
class StopListSettings(Settings):
    """When a word of a collection is a stop word (DocView 3.2).

    The paper chooses "the terms with high term frequency in a lot of documents" and gives no numbers. Ours: a page
    counts for a word that occurs in it `min_term_frequency` times; such pages must be at least `min_page_share` of the
    collection and `min_pages`. On the 1,237 mixed pages of pages-wcxb the defaults give some 210 words, 50 of them not
    in the generic English list (time, data, based, business); a share of 0.1 adds topics (industry, technology).

    Counts are exact up to `exact_words` different words (some 50 MB). Beyond that, lossy counting (Manku and Motwani,
    VLDB 2002) drops rare words: it may undercount a word by `max_missed_share` of the pages but loses no stop word.
    """

    min_page_share: float = 0.15
    min_term_frequency: Annotated[int, setting("Times that a word occurs in a page that counts.", least=1)] = 2
    min_pages: Annotated[int, setting("Pages that count for a stop word, at least.", least=1)] = 10
    exact_words: Annotated[int, setting("Different words that are counted exactly.", least=1)] = 500_000
    max_missed_share: float = 0.015

    def validate(self) -> None:
        """Raise `SettingsError` if a stop word could be missed."""
        if not 0 < self.max_missed_share < self.min_page_share <= 1:
            raise SettingsError(
                f"min_page_share is {self.min_page_share} and max_missed_share is {self.max_missed_share}; "
                "expected 0 < max_missed_share < min_page_share <= 1"
            )


class StopWord(NamedTuple):
    """A word of a derived stop list and the number of pages that count for it.

    The true number is in `pages .. pages + missed`; `missed` is 0 if all words are counted exactly.
    """

    word: str
    pages: int
    missed: int


class StopListBuilder:
    """Counts pages one at a time and derives the stop words of the pages so far."""

    def __init__(self, settings: StopListSettings | None = None) -> None:
        self.settings = settings or StopListSettings()
        self.pages = 0
        self._counts: Counter[str] = Counter()
        self._missed: dict[str, int] = {}  # only words that may have been dropped before
        self._settled = 0  # the first words of _counts, whose _missed is known; Counter keeps the order of arrival
        self._dropped = 0  # no word outside _counts was on more pages than this
        self._drop_above = self.settings.exact_words

    @property
    def words_held(self) -> int:
        return len(self._counts)

    def add(self, page: str | Iterable[str]) -> None:
        """Count one page, given as text or as its words."""
        least = self.settings.min_term_frequency
        frequencies = Counter(words(page) if isinstance(page, str) else page)
        self._counts.update([word for word, frequency in frequencies.items() if frequency >= least])
        self.pages += 1
        if len(self._counts) > self._drop_above:
            self._drop_rare()

    def stop_list(self) -> list[StopWord]:
        """Return the stop words of the pages so far, those on most pages first, ties in alphabetical order.

        After words were dropped, this includes words that fall short by no more than their `missed`.
        """
        self._settle()
        found = [
            StopWord(word, pages, self._missed.get(word, 0))
            for word, pages in self._counts.items()
            if self._meets_settings(pages + self._missed.get(word, 0))
        ]
        return sorted(found, key=lambda stop: (-stop.pages, stop.word))

    def _meets_settings(self, pages: int) -> bool:
        return pages >= self.settings.min_pages and pages / self.pages >= self.settings.min_page_share

    def _settle(self) -> None:
        """Set `_missed` of the words that were added since words were last dropped."""
        if self._dropped:
            newcomers = islice(self._counts, self._settled, None)
            self._missed.update(dict.fromkeys(newcomers, self._dropped))
        self._settled = len(self._counts)

    def _drop_rare(self) -> None:
        """Drop the words that are on no more than `max_missed_share` of the pages."""
        self._settle()
        self._dropped = int(self.settings.max_missed_share * self.pages)
        missed = self._missed
        self._counts = Counter(
            {word: pages for word, pages in self._counts.items() if pages + missed.get(word, 0) > self._dropped}
        )
        self._missed = {word: pages for word, pages in missed.items() if word in self._counts}
        self._settled = len(self._counts)
        self._drop_above = max(self.settings.exact_words, 2 * len(self._counts))
