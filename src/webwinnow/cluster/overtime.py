"""Clusters over time: how many pages of each cluster are of each day, month or year."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from webwinnow.cluster.clustering import Labels

DAY, MONTH, YEAR = 10, 7, 4
"""Characters of a date (2015-06-30) that name its day, month or year."""
MOST_PERIODS: Final = 36
"""Dates of more days are counted by month, of more months by year."""
MOST_YEARS: Final = 200
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


class OverTime(NamedTuple):
    """`pages[t, c]` is the number of pages of cluster c in `periods[t]`: days, months or years without a gap of years.

    `undated` pages in clusters have no date.
    """

    periods: tuple[str, ...]
    pages: NDArray[np.int64]
    undated: int


def over_time(label: Labels, dates: Sequence[str | None], clusters: int) -> OverTime:
    """Count the dated pages of each cluster. The periods are the finest of which there are at most `MOST_PERIODS`."""
    known = [
        (date[:DAY], cluster)
        for date, cluster in zip(dates, label.tolist(), strict=True)
        if cluster >= 0 and date is not None and _DATE.match(date)
    ]
    length = next((n for n in (DAY, MONTH) if len({date[:n] for date, _ in known}) <= MOST_PERIODS), YEAR)
    found = sorted({date[:length] for date, _ in known})
    if length == YEAR and found and int(found[-1]) - int(found[0]) < MOST_YEARS:
        found = [f"{year:04}" for year in range(int(found[0]), int(found[-1]) + 1)]
    place = {period: t for t, period in enumerate(found)}
    pages = np.zeros((len(found), clusters), np.int64)
    for date, cluster in known:
        pages[place[date[:length]], cluster] += 1
    return OverTime(tuple(found), pages, int((label >= 0).sum()) - len(known))
