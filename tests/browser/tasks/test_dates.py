"""Dates: in a goal, told from today, and in fields (page reference, section 10)."""

import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.browser.tasks._calendar import calendar_date, month_of
from foxloop_trio.browser.tasks._formats import read_field_date, write_field_date
from foxloop_trio.browser.tasks._relative import find_date, whole_date

TODAY = datetime.date(2026, 9, 1)  # a Tuesday
MONTHS = "January February March April May June July August September October November December".split()  # noqa: SIM905
DAYS = st.dates(min_value=datetime.date(1000, 1, 1), max_value=datetime.date(9999, 12, 31))
FORMATS = [
    sign.join(parts)
    for sign in "./-"
    for parts in (("DD", "MM", "YYYY"), ("MM", "DD", "YYYY"), ("YYYY", "MM", "DD"), ("YYYY", "DD", "MM"))
    if parts[1] != "YYYY" and parts[2] != "MM"
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-10-09", "2026-10-09"),
        ("on 2026-1-9 please", "2026-01-09"),
        ("October 9", "2026-10-09"),
        ("october 9th, 2027", "2027-10-09"),
        ("Oct. 9 2027", "2027-10-09"),
        ("9 October", "2026-10-09"),
        ("9th October 2027", "2027-10-09"),
        ("9. Oktober 2027", "2027-10-09"),
        ("1er février 2027", "2027-02-01"),
        ("1er fevrier", "2027-02-01"),
        ("3 de marzo de 2027", "2027-03-03"),
        ("3 marzo, 2027", "2027-03-03"),
        ("15 août", "2027-08-15"),
        ("3. März", "2027-03-03"),
        ("24 déc. 2026", "2026-12-24"),
        ("10/9/2026", "2026-10-09"),
        ("from 2026-10-09 to 2026-10-12", "2026-10-09"),
    ],
)
def test_calendar_dates_are_found_in_four_languages(text, expected):
    """Page reference 10.1: accents and case do not count, the first one in the text is taken."""
    assert calendar_date(text, TODAY) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10th of March", "2027-03-10"),
        ("9.10.2026", "2026-10-09"),
        ("2026-10-09T10:30", "2026-10-09"),
        ("2026-10-09T10:30:00Z", "2026-10-09"),
        ("2026-10-09 10:30", "2026-10-09"),
        ("25/12/2026", "2026-12-25"),
    ],
)
def test_more_spellings_are_dates_too(text, expected):
    """Page reference 10.1, [+]: the baseline finds none of these."""
    assert calendar_date(text, TODAY) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("September 1", "2026-09-01"), ("August 31", "2027-08-31"), ("31 Aug", "2027-08-31"), ("29 Feb", None)]
)
def test_a_missing_year_is_this_one_or_the_next(text, expected):
    """Today itself stays; a day that neither year has is none."""
    assert calendar_date(text, TODAY) == expected


@pytest.mark.parametrize(
    "text",
    [
        "31 April 2026", "2026-13-01", "2026-02-30", "13/13/2026", "0000-01-01", "room 2026-10-091", "v1.2.3.2026", "Mark 12",
        "set 5", "Saturday", "12/2026", "1/2/3/2026", "2026-10-09-11", "maybe 5", "the 5th", "decide 3", "32 October", "",
    ],
)  # fmt: skip
def test_what_is_no_date_is_none(text):
    """Impossible days, and numbers that are part of something else."""
    assert calendar_date(text, TODAY) is None


def test_an_impossible_date_does_not_hide_the_next_one():
    """Our choice."""
    assert calendar_date("31 April or 2 May 2027", TODAY) == "2027-05-02"


def test_the_longest_name_of_a_month_wins_and_one_of_two_months_is_none():
    """ "jui" is June and July in French."""
    assert [month_of(word) for word in ("juin", "juil", "juillet", "jun", "mai", "Mär", "jui", "marx", "set")] == [
        6, 7, 7, 6, 5, 3, None, None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow", "2026-09-02"),
        ("the day after tomorrow", "2026-09-03"),
        ("today", "2026-09-01"),
        ("tonight", "2026-09-01"),
        ("in 3 days", "2026-09-04"),
        ("in a week", "2026-09-08"),
        ("in two weeks", "2026-09-15"),
        ("in ten days", "2026-09-11"),
        ("Friday", "2026-09-04"),
        ("next Friday", "2026-09-04"),
        ("coming Tuesday", "2026-09-08"),
        ("Tuesday", "2026-09-08"),
        ("this Tuesday", "2026-09-01"),
        ("1st Friday of next month", "2026-10-02"),
        ("the first Friday of this month", "2026-09-04"),
        ("last Monday of October", "2026-10-26"),
        ("second Tuesday in March", "2027-03-09"),
        ("fourth Thursday of November 2027", "2027-11-25"),
        ("fifth Tuesday of this month", "2026-09-29"),
    ],
)
def test_relative_dates_are_told_from_today(text, expected):
    """Page reference 10.2."""
    found = find_date(f"come {text} please", TODAY)
    assert found is not None
    assert found.iso == expected


@pytest.mark.parametrize("text", ["Sat", "fifth Friday of this month", "first Friday of spring", "weekday", "in days", "yesterday"])
def test_what_has_no_day_is_none(text):
    """Abbreviations of weekdays are none, and a fifth Friday that does not exist is no other Friday."""
    assert find_date(text, TODAY) is None


def test_a_day_beyond_the_calendar_is_none():
    """The year 9999 is the last one."""
    assert find_date("in 500 weeks", datetime.date(9999, 12, 1)) is None


def test_a_calendar_date_goes_before_a_relative_one():
    """Resolution of 10.2."""
    assert find_date("tomorrow or 2026-10-09", TODAY).iso == "2026-10-09"


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (" 2026-10-09 ", True),
        ("tomorrow", True),
        ("next Friday", True),
        ("Friday", False),
        ("by tomorrow", False),
        ("2026-10-09 or later", False),
    ],
)
def test_only_a_text_that_is_nothing_else_is_wholly_a_date(text, whole):
    """A lone weekday may be the name of an option."""
    assert (whole_date(text, TODAY) is not None) is whole


@pytest.mark.parametrize(
    ("date_format", "written"),
    [
        ("DD/MM/YYYY", "09/10/2026"), ("MM/DD/YYYY", "10/09/2026"), ("DD.MM.YYYY", "09.10.2026"), ("YYYY-MM-DD", "2026-10-09"),
        ("YYYY/MM/DD", "2026/10/09"), (None, "2026-10-09"), ("DD/DD/YYYY", "2026-10-09"), ("<b>", "2026-10-09"),
    ],
)  # fmt: skip
def test_a_date_is_written_as_the_field_wants_it(date_format, written):
    """Zero padded; ISO without a format, or with one that is none."""
    assert write_field_date("2026-10-09", date_format) == written


@pytest.mark.parametrize(
    ("text", "date_format", "expected"),
    [
        ("09/10/2026", "DD/MM/YYYY", "2026-10-09"),
        ("9.10.2026", "DD/MM/YYYY", "2026-10-09"),
        ("31/02/2026", "DD/MM/YYYY", None),
        ("9 October 2026", "DD/MM/YYYY", "2026-10-09"),
        ("Fri, October 9, 2026", None, "2026-10-09"),
        ("10/09/2026", None, "2026-10-09"),
        ("", "DD/MM/YYYY", None),
    ],
)
def test_a_date_is_read_back_in_the_fields_own_order(text, date_format, expected):
    """Page reference 10.3: an impossible one is none; without three numbers a calendar date in the text counts."""
    assert read_field_date(text, date_format, TODAY) == expected


@given(DAYS, st.sampled_from(FORMATS))
@settings(max_examples=200, deadline=None)
def test_what_is_written_into_a_field_reads_as_the_same_day(day, date_format):
    """Each format there is, each day there is."""
    assert read_field_date(write_field_date(day.isoformat(), date_format), date_format, TODAY) == day.isoformat()


@given(DAYS, st.booleans())
@settings(max_examples=200, deadline=None)
def test_a_day_is_the_same_in_every_spelling(day, day_first):
    """With its year; the slashed one by the locale."""
    month = (
        ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"]
    )[day.month - 1]
    slashed = f"{day.day}/{day.month}/{day.year:04}" if day_first else f"{day.month}/{day.day}/{day.year:04}"
    for text in (day.isoformat(), f"{month} {day.day}, {day.year:04}", f"{day.day}. {month[:4]} {day.year:04}", slashed):
        assert calendar_date(f"(on {text})", TODAY, day_first=day_first) == day.isoformat(), text


@given(st.dates(datetime.date(2020, 1, 1), datetime.date(2040, 1, 1)))
@settings(max_examples=100, deadline=None)
def test_a_weekday_is_always_within_the_next_seven_days(today):
    """Strictly after today, "this" may be today."""
    for number, name in enumerate(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")):
        found = datetime.date.fromisoformat(find_date(name, today).iso)
        assert found.weekday() == number
        assert 1 <= (found - today).days <= 7
        assert 0 <= (datetime.date.fromisoformat(find_date(f"this {name}", today).iso) - today).days <= 6


@given(st.text(max_size=80), st.dates())
@settings(max_examples=200, deadline=None)
def test_no_text_breaks_the_search_for_a_date(text, today):
    """And what is found is a day of the calendar."""
    found = find_date(text, today)
    assert found is None or datetime.date.fromisoformat(found.iso).isoformat() == found.iso
