"""A date out of what people and programs write: `2015-03-04T10:00Z`, `March 4th, 2015`, `4. März 2015`, `4.3.2015`."""

from __future__ import annotations

import datetime
import re
from functools import lru_cache

__all__ = ["EARLIEST_YEAR", "LATEST_YEAR", "date_in", "date_of_url", "names_day"]

EARLIEST_YEAR = 1990
LATEST_YEAR = 2049
"""Years outside are nonsense on a web page. A bound by the clock would give other output for the same page one day."""
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
"""Months in English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian; beginnings count."""
_SHORTEST_MONTH = 3

_ANY_YEAR = re.compile(r"(?:19|20)\d\d")
_BEFORE_YEAR, _AFTER_YEAR = 24, 10
"""How far from its year a date can stretch: `30th of September, 2015`, `2015 / 03 / 04`."""
_YEAR = r"((?:19|20)\d\d)"
_DAY = r"(\d{1,2})(?:st|nd|rd|th|er|\.|º)?"
_WORD = r"([^\W\d_]{3,12})"
_YEAR_FIRST = re.compile(rf"(?<!\d){_YEAR}\s?[-/.年]\s?(\d{{1,2}})\s?[-/.月]\s?(\d{{1,2}})(?!\d)")
_STAMP = re.compile(rf"(?<!\d){_YEAR}([01]\d)([0-3]\d)(?!\d)")
_DAY_FIRST = re.compile(rf"(?<!\d){_DAY}(?:\s+(?:of|de)\s+|[\s-]+){_WORD}\.?,?(?:\s+de\s+|[\s,-]+){_YEAR}(?!\d)")
_MONTH_FIRST = re.compile(rf"{_WORD}\.?\s*{_DAY},?\s+{_YEAR}(?!\d)", re.IGNORECASE)
_NUMBERS = re.compile(rf"(?<![\d/.-])(\d{{1,2}})([/.-])(\d{{1,2}})\2{_YEAR}(?![\d/-])")
_LETTERS = re.compile(r"[^\W\d_]{3,12}")
_IN_URL = re.compile(r"/((?:19|20)\d\d)[/-](\d{1,2})[/-](\d{1,2})(?=[/_-]|$)|[/-]((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")


def date_in(text: str, *, month_first: bool = True) -> str | None:
    """The first date in a text as `YYYY-MM-DD`; `month_first` says how to read 4/3/2015 where both ways are dates."""
    for year in _ANY_YEAR.finditer(text):
        around = text[max(0, year.start() - _BEFORE_YEAR) : year.end() + _AFTER_YEAR]
        found = [
            (match.start(), date)
            for pattern, read in _READERS
            for match in pattern.finditer(around)
            if (date := read(match, month_first)) is not None
        ]
        if found:
            return min(found)[1]
    return None


def date_of_url(url: str) -> str | None:
    """The day that an address names: `/2015/03/04/`, `/2015-03-04-title`."""
    for match in _IN_URL.finditer(url):
        year, month, day = (int(part) for part in match.groups() if part is not None)
        date = _iso(year, month, day)
        if date is not None:
            return date
    return None


def names_day(text: str) -> bool:
    """Whether a text names a month and holds a number, as a date does, with its year or without."""
    return any(map(str.isdigit, text)) and any(_month(word) is not None for word in _LETTERS.findall(text))


@lru_cache(maxsize=1024)
def _month(word: str) -> int | None:
    """The month that a word names; a beginning that fits two months names none."""
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


def _year_first(match: re.Match[str], _: bool) -> str | None:
    return _iso(int(match[1]), int(match[2]), int(match[3]))


def _day_first(match: re.Match[str], _: bool) -> str | None:
    return _iso(int(match[3]), _month(match[2]), int(match[1]))


def _named_month_first(match: re.Match[str], _: bool) -> str | None:
    return _iso(int(match[3]), _month(match[1]), int(match[2]))


def _numbers(match: re.Match[str], month_first: bool) -> str | None:
    one, sign, other, year = int(match[1]), match[2], int(match[3]), int(match[4])
    ways = [(one, other), (other, one)] if month_first and sign == "/" else [(other, one), (one, other)]
    return next(filter(None, (_iso(year, month, day) for month, day in ways)), None)


_READERS = (
    (_YEAR_FIRST, _year_first),
    (_MONTH_FIRST, _named_month_first),
    (_DAY_FIRST, _day_first),
    (_NUMBERS, _numbers),
    (_STAMP, _year_first),
)
