"""Dates told from today: "tomorrow", "in two weeks", "next Friday", "the last Monday of October". English; pure."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from ._calendar import FoundDate, calendar_dates, day_in, month_of
from ._folding import composed, folded

__all__ = ["find_date", "relative_date", "whole_date"]

_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_ORDINALS: Final = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5, "last": -1,
}  # fmt: skip
_NUMBERS: Final = {
    "a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip

_WEEKDAY: Final = "(?P<weekday>" + "|".join(_WEEKDAYS) + r")\b"
_NTH = re.compile(
    rf"\b(?:the\s+)?(?P<nth>{'|'.join(_ORDINALS)})\s+{_WEEKDAY}\s+(?:of|in)\s+"
    r"(?:(?P<which>this|next)\s+month\b|(?P<month>[^\W\d_]{3,10})\b\.?(?:\s*,?\s+(?P<year>\d{4})(?!\w))?)"
)
_NEAR = re.compile(r"\b(?:the\s+)?(?:(?P<after>day\s+after\s+tomorrow)|(?P<tomorrow>tomorrow)|(?P<today>today|tonight))\b")
_IN = re.compile(rf"\bin\s+(?P<count>\d{{1,5}}|{'|'.join(_NUMBERS)})\s+(?P<unit>day|week)s?\b")
_DAY = re.compile(rf"\b(?:(?P<which>this|next|coming)\s+)?{_WEEKDAY}")
_BARE = re.compile(_WEEKDAY)


def relative_date(text: str, today: date) -> FoundDate | None:
    """The first date told from `today` in `text`, which must be composed (NFC)."""
    text = folded(text)
    for pattern, read in ((_NTH, _nth_weekday), (_NEAR, _near), (_IN, _in), (_DAY, _next_weekday)):
        for match in pattern.finditer(text):
            if (found := read(match, today)) is not None:
                return FoundDate(found.isoformat(), match.start(), match.end())
            if pattern is _NTH:
                return None  # a fifth Friday that does not exist is no other Friday
    return None


def find_date(text: str, today: date, *, day_first: bool = False) -> FoundDate | None:
    """A calendar date if there is one, else a relative one."""
    text = composed(text)
    return next(calendar_dates(text, today, day_first=day_first), None) or relative_date(text, today)


def whole_date(text: str, today: date, *, day_first: bool = False) -> str | None:
    """The date when `text` is nothing else. A lone weekday is none: it may as well be an option's name."""
    text = composed(text).strip()
    found = find_date(text, today, day_first=day_first)
    if found is None or text[: found.start].strip() or text[found.end :].strip(" .") or _BARE.fullmatch(folded(text)):
        return None
    return found.iso


def _nth_weekday(match: re.Match[str], today: date) -> date | None:
    year, month = today.year, today.month
    if match["which"] == "next":
        year, month = (year + 1, 1) if month == 12 else (year, month + 1)
    elif match["month"]:
        named = month_of(match["month"])
        if named is None:
            return None
        month = named
        year = int(match["year"]) if match["year"] else year + (named < today.month)
    weekday, nth = _WEEKDAYS.index(match["weekday"]), _ORDINALS[match["nth"]]
    days = [day for number in range(1, 32) if (day := day_in(year, month, number)) is not None and day.weekday() == weekday]
    if nth < 0:
        return days[-1] if days else None
    return days[nth - 1] if nth <= len(days) else None


def _near(match: re.Match[str], today: date) -> date | None:
    return _later(today, 2 if match["after"] else 1 if match["tomorrow"] else 0)


def _in(match: re.Match[str], today: date) -> date | None:
    count = _NUMBERS.get(match["count"])
    days = count if count is not None else int(match["count"])
    return _later(today, days * (7 if match["unit"] == "week" else 1))


def _next_weekday(match: re.Match[str], today: date) -> date | None:
    ahead = (_WEEKDAYS.index(match["weekday"]) - today.weekday()) % 7
    return _later(today, ahead if ahead or match["which"] == "this" else 7)


def _later(today: date, days: int) -> date | None:
    try:
        return today + timedelta(days=days)
    except OverflowError:
        return None
