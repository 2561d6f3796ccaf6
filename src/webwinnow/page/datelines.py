"""Dates in text, in whatever notation: `date_in`, `dates_in`, `date_of_url`; `byline_dates`: those of bylines."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

# Dates in text: `2015-03-04T10:00Z`, `March 4th, 2015`, `4. März 2015`, `4.3.2015`

EARLIEST_YEAR = 1990
LATEST_YEAR = 2049
"""Other years are implausible on a web page. `metadata` also refuses days after the page was fetched."""
_MONTHS = tuple(
    names.split()
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
        "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
        "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    )
)
"""Months in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian; prefixes count."""
_SHORTEST_MONTH = 3

_ANY_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_YEAR, _AFTER_YEAR = 24, 10
"""How far a date extends around its year: `30th of September, 2015`, `2015 / 03 / 04`."""
_YEAR = r"((?:19|20)\d\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_WORD = r"([^\W\d_]{3,12})"
_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}\s?[-/.年]\s?(\d{{1,2}})\s?[-/.月]\s?(\d{{1,2}})(?!\d)")
_STAMP = re.compile(rf"(?<!\d){_YEAR}([01]\d)([0-3]\d)(?!\d)")
_DAY_FIRST = re.compile(rf"(?<!\d){_DAY}(?:\s+(?:of|de)\s+|[\s-]+){_WORD}\.?,?(?:\s+de\s+|[\s,-]+){_YEAR}(?!\d)")
_MONTH_FIRST = re.compile(rf"{_WORD}\.?\s*{_DAY},?\s+{_YEAR}(?!\d)", re.IGNORECASE)
NUMBERS = re.compile(rf"(?<![\d/.-])(\d{{1,2}})([/.-])(\d{{1,2}})\2{_YEAR}(?![\d/-])")
_LETTERS = re.compile(r"[^\W\d_]{3,12}")
SLASHED = re.compile(rf"(?<![\d/])(\d{{1,2}})/(\d{{1,2}})/{_YEAR}(?![\d/])")
MONTHS = 12
_MONTH_IN_URL = re.compile(rf"/{_YEAR}/{_WORD}/(\d{{1,2}})(?=[/_-]|$)")
_IN_URL = re.compile(r"/((?:19|20)\d\d)/(\d{1,2})/(\d{1,2})(?=[/_-]|$)|[/-]((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")


class FoundDate(NamedTuple):
    """A date in a text: where it starts and ends, and the day as `YYYY-MM-DD`."""

    start: int
    end: int
    day: str


def date_in(text: str, *, month_first: bool = True) -> str | None:
    """Return the first date in a text as `YYYY-MM-DD`; `month_first` decides 4/3/2015 if both readings are dates."""
    return next((found.day for found in dates_in(text, month_first=month_first)), None)


def dates_in(text: str, *, month_first: bool = True) -> Iterator[FoundDate]:
    """Yield the dates in a text, one for each year that is part of a date."""
    for year in _ANY_YEAR.finditer(text):
        start = max(0, year.start() - _BEFORE_YEAR)
        around = text[start : year.end() + _AFTER_YEAR]
        found = [
            FoundDate(start + match.start(), start + match.end(), date)
            for pattern, read in _READERS
            for match in pattern.finditer(around)
            if match.start() <= year.start() - start < match.end() and (date := read(match, month_first)) is not None
        ]
        if found:
            yield min(found)


def date_of_url(url: str) -> str | None:
    """Return the date in a URL: `/2015/03/04/`, `/2015-03-04-title`, `/2015/march/04/`."""
    for match in _IN_URL.finditer(url):
        year, month, day = (int(part) for part in match.groups() if part is not None)
        date = _iso(year, month, day)
        if date is not None:
            return date
    named = (_iso(int(match[1]), _month(match[2]), int(match[3])) for match in _MONTH_IN_URL.finditer(url))
    return next(filter(None, named), None)


def has_digit(text: str) -> bool:
    """Whether a text contains a digit."""
    return any(map(str.isdigit, text))


def names_day(text: str) -> bool:
    """Whether a text has a month's name and a number, as a date has, with its year or without."""
    return has_digit(text) and any(_month(word) is not None for word in _LETTERS.findall(text))


@lru_cache(maxsize=1024)
def _month(word: str) -> int | None:
    """Return the month that a word or its prefix names; None if a prefix fits two months."""
    word = word.casefold()
    fitting = {
        number
        for language in _MONTHS
        for number, name in enumerate(language, 1)
        if name == word or (len(word) >= _SHORTEST_MONTH and name.startswith(word))
    }
    return fitting.pop() if len(fitting) == 1 else None


def _iso(year: int, month: int | None, day: int) -> str | None:
    if month is None or not EARLIEST_YEAR <= year <= LATEST_YEAR:
        return None
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _read_numbers(match: re.Match[str], month_first: bool) -> str | None:
    one, sign, other, year = int(match[1]), match[2], int(match[3]), int(match[4])
    readings = [(one, other), (other, one)] if month_first and sign == "/" else [(other, one), (one, other)]
    return next(filter(None, (_iso(year, month, day) for month, day in readings)), None)


_READERS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], bool], str | None]], ...] = (
    (_YEAR_FIRST, lambda match, _: _iso(int(match[1]), int(match[2]), int(match[3]))),
    (_MONTH_FIRST, lambda match, _: _iso(int(match[3]), _month(match[1]), int(match[2]))),
    (_DAY_FIRST, lambda match, _: _iso(int(match[3]), _month(match[2]), int(match[1]))),
    (NUMBERS, _read_numbers),
    (_STAMP, lambda match, _: _iso(int(match[1]), int(match[2]), int(match[3]))),
)


# The date of a byline: not a day that a sentence mentions, and a day of an update only above the text

IN_SENTENCE = 3
"""Words in lower case before a date, from which on the line is a sentence that mentions a day."""
SENTENCE_WORDS, PROSE_WORDS = 6, 20
"""Words of a line with a full stop that is a sentence, and of one that is running text, at least. A date in them counts
in a dateline only: `BERLIN, 5 May 2023 (dpa) - The ...`."""
SUMMARY_WORDS = 60
"""Words of running text between a title and its byline, at most."""
_UPDATED = re.compile(r"updat|modif|edited|revis|chang|last|aktual|geändert|©|copyright", re.IGNORECASE)
_STARTS_PUBLISHED = re.compile(r"\W*(?:\w+\W+)?(?:publi|posted|written|veröffentlicht)", re.IGNORECASE)
_LOWER = re.compile(r"(?<!\w)[^\W\d_A-Z]\w+")
_OF_BYLINES = frozenset("published posted updated modified last edited on by at in and the of min minutes read".split())
_DATELINE = re.compile(r"\W*|[^\W\da-z][^.;:]{0,40}[,(–—-]\s*(?:\w+\.?,?\s+)?")
_BETWEEN_DAYS = re.compile(r"\s*(?:[-–—]|to|until|through|bis)\s*")
_SENTENCE_MARK = re.compile("[，。]")


def byline_dates(lines: Sequence[str]) -> Iterator[str]:
    """Yield the dates of lines that are not sentences, as written; days of an update, if above all prose, come last.

    Both days of a period are skipped: an event has them.
    """
    text, updates = "\n".join(lines), []
    dates = list(dates_in(text))
    if not dates:
        return
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    prose = end_of_byline(lines)
    for k, found in enumerate(dates):
        start = starts[bisect_right(starts, found.start) - 1]
        end = text.find("\n", found.end)
        before, after = text[start : found.start], text[found.end : end if end >= 0 else len(text)]
        is_period = any(
            _BETWEEN_DAYS.fullmatch(text[a.end : b.start]) for a, b in pairwise(dates[max(k - 1, 0) : k + 2])
        )
        if is_period or _is_sentence(before, after):
            continue
        if not _UPDATED.search(before):
            yield text[found.start : found.end]
        elif found.start < starts[prose]:
            updates.append(text[found.start : found.end])
    yield from updates


def is_update(text: str) -> bool:
    """Whether a text before a date says that it is the day of an update, or of a copyright."""
    return _UPDATED.search(text) is not None


def end_of_byline(lines: Sequence[str]) -> int:
    """The number of lines up to the text of the page; a summary may be above its byline."""
    words = 0
    for k, line in enumerate(lines):
        said = line.count(" ") + 1
        words += said if said >= PROSE_WORDS else 0
        if words > SUMMARY_WORDS:
            return k
    return len(lines)


def _is_sentence(before: str, after: str) -> bool:
    """Whether a line with a date, between these two texts, is a sentence that mentions a day."""
    if _STARTS_PUBLISHED.match(before):
        return False
    lower = sum(word not in _OF_BYLINES for word in _LOWER.findall(before))
    if lower >= IN_SENTENCE or _SENTENCE_MARK.search(before) or after.endswith("。"):
        return True
    words = before.count(" ") + after.count(" ") + 3
    is_stopped = words >= SENTENCE_WORDS and (after.endswith(".") or after.startswith(". "))
    return (words >= PROSE_WORDS or is_stopped) and not _DATELINE.fullmatch(before)
