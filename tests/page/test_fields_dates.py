from __future__ import annotations

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webwinnow.page.datelines import EARLIEST_YEAR, LATEST_YEAR, date_in, date_of_url, names_day

DAYS = st.dates(datetime.date(EARLIEST_YEAR, 1, 1), datetime.date(LATEST_YEAR, 12, 31))


@pytest.mark.parametrize(
    "text",
    [
        "2019-05-06",
        "2019-05-06T10:00:00+02:00",
        "2019/5/6",
        "2019.05.06",
        "20190506",
        "20190506T101112",
        "2019年5月6日",
        "May 6, 2019",
        "May 6th 2019",
        "6 May 2019",
        "6th of May, 2019",
        "06-May-2019",
        "Mon, 06 May 2019 10:00:00 GMT",
        "Posted on May 6, 2019 by Ann",
        "05/06/2019",
        "6.5.2019",
        "06-05-2019",
        "6. Mai 2019",
        "6 mai 2019",
        "6 de mayo de 2019",
        "6 maggio 2019",
        "6 de maio de 2019",
        "6 mei 2019",
        "6 maja 2019",
        "6 мая 2019",
        "6 MAY 2019",
    ],
)
def test_date_is_read_in_many_spellings(text: str):
    assert date_in(text) == "2019-05-06"


@pytest.mark.parametrize(
    "text",
    ["", "May 2019", "2019", "2019-13-45", "31 February 2019", "1985-01-01", "2099-01-01", "12345678901", "6 Foo 2019"],
)
def test_what_is_no_day_of_the_web_is_refused(text: str):
    assert date_in(text) is None


def test_day_that_could_be_a_month_is_read_as_the_page_reads_it():
    assert (date_in("4/3/2015"), date_in("4/3/2015", month_first=False)) == ("2015-04-03", "2015-03-04")


@pytest.mark.parametrize("month_first", [True, False])
def test_number_above_twelve_is_the_day(month_first: bool):
    assert date_in("25/12/2019", month_first=month_first) == date_in("12/25/2019", month_first=month_first)


def test_first_of_several_dates_wins():
    assert date_in("Published 6 May 2019, updated 2020-01-01") == "2019-05-06"


def test_beginning_that_fits_two_months_names_none():
    assert date_in("3 jui 2019") is None
    assert date_in("3 juil. 2019") == "2019-07-03"


@pytest.mark.parametrize(
    ("url", "day"),
    [
        ("https://a.test/2015/03/04/title", "2015-03-04"),
        ("https://a.test/2015/3/4", "2015-03-04"),
        ("https://a.test/news/2015-03-04-title.html", "2015-03-04"),
        ("https://a.test/2015/03/title", None),
        ("https://a.test/2015/13/04/", None),
        ("https://a.test/1915/03/04/", None),
        ("", None),
    ],
)
def test_day_is_read_from_a_url(url: str, day: str | None):
    assert date_of_url(url) == day


def test_month_with_a_number_names_a_day():
    assert names_day("Sep 16")
    assert names_day("Updated 3. März")
    assert not names_day("April Jones")
    assert not names_day("Level 42")


@given(DAYS)
def test_every_day_is_found_again_in_what_programs_write(day: datetime.date):
    spellings = ("%Y-%m-%d", "%Y/%m/%d", "%d %B %Y", "%B %d, %Y", "%b %d %Y", "%d.%m.%Y", "%m/%d/%Y", "%Y%m%d")
    for spelling in spellings:
        assert date_in(f"x {day.strftime(spelling)} x") == day.isoformat()
    assert date_of_url(day.strftime("http://a.test/%Y/%m/%d/x")) == day.isoformat()


@given(st.text() | st.text("0123456789-/., JFMASONDanebrpyulgctovd"))
def test_a_date_is_a_day_within_bounds_or_none(text: str):
    for found in (date_in(text), date_of_url(text)):
        assert found is None or EARLIEST_YEAR <= datetime.date.fromisoformat(found).year <= LATEST_YEAR
