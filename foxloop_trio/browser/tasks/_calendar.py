"""Calendar dates in a text: "2026-10-09", "October 9th, 2026", "9. Oktober", "10/9/2026". Pure; `today` is given.

English, French, German and Spanish names of months are known, whole or cut short to three letters or more. A date that cannot be
(31 April) is none. A missing year is this year, or the next one when that day is over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Final

import attrs

from ._folding import composed, folded

__all__ = ["FoundDate", "calendar_date", "calendar_dates", "day_in", "month_of"]

_MONTHS: Final = (
    "january janvier januar janner enero",
    "february fevrier februar feber febrero",
    "march mars marz maerz marzo",
    "april avril abril",
    "may mai mayo",
    "june juin juni junio",
    "july juillet juli julio",
    "august aout agosto",
    "september septembre septiembre setiembre",
    "october octobre oktober octubre",
    "november novembre noviembre",
    "december decembre dezember diciembre",
)


def _abbreviations() -> dict[str, int]:
    """Month by each beginning of a month's name; beginnings that two months share are none."""
    found: dict[str, int] = {}
    whole: dict[str, int] = {}
    for number, names in enumerate(_MONTHS, start=1):
        for name in names.split():
            whole[name] = number
            for length in range(3, len(name) + 1):
                part = name[:length]
                found[part] = number if found.get(part, number) == number else 0
    # "set" is a word of most goals, and "sept" is how September is cut short.
    found["set"] = 0
    return {part: number for part, number in {**found, **whole}.items() if number}


_MONTH_BY_WORD: Final = _abbreviations()
_MONTH: Final = "(?:" + "|".join(sorted(_MONTH_BY_WORD, key=lambda word: (-len(word), word))) + r")(?![^\W\d_])\.?"
_ENDS: Final = r"(?![\w/])"
_STARTS: Final = r"(?<![\w/])"
_ISO_ENDS: Final = r"(?:t\d{1,2}:\d\d[\d:.]*(?:z|[+-]\d\d:?\d\d)?)?(?![\w/-])"
"""A time of day may follow; it belongs to the date's place."""

_DATE: Final = re.compile(
    rf"{_STARTS}(?P<y1>\d{{4}})-(?P<m1>\d{{1,2}})-(?P<d1>\d{{1,2}}){_ISO_ENDS}"
    rf"|{_STARTS}(?P<m2>{_MONTH})(?:\s+|(?<=\.))(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?![\w/])(?:\s*,?\s*(?P<y2>\d{{4}}){_ENDS})?"
    rf"|{_STARTS}(?P<d3>\d{{1,2}})(?:st|nd|rd|th|er)?\.?\s*(?:(?:of|de)\s+)?(?P<m3>{_MONTH})"
    rf"(?:\s*,?\s*(?:del?\s+)?(?P<y3>\d{{4}}){_ENDS})?"
    rf"|{_STARTS}(?P<a4>\d{{1,2}})/(?P<b4>\d{{1,2}})/(?P<y4>\d{{4}}){_ENDS}"
    rf"|{_STARTS}(?<!\.)(?P<d5>\d{{1,2}})\.\s?(?P<m5>\d{{1,2}})\.\s?(?P<y5>\d{{4}}){_ENDS}"
)


@attrs.frozen
class FoundDate:
    """An ISO date, and where it stands in the text."""

    iso: str
    start: int
    end: int


def calendar_date(text: str, today: date, *, day_first: bool = False) -> str | None:
    """The first calendar date in `text`, as ISO; None when there is none. `day_first`: 10/9/2026 is in September."""
    found = next(calendar_dates(composed(text), today, day_first=day_first), None)
    return None if found is None else found.iso


def calendar_dates(text: str, today: date, *, day_first: bool = False) -> Iterator[FoundDate]:
    """All of them, with their places. `text` must be composed (NFC), or the places are off."""
    for match in _DATE.finditer(folded(text)):
        if (found := _read(match, today, day_first)) is not None:
            yield FoundDate(found.isoformat(), match.start(), match.end())


def day_in(year: int, month: int, day: int) -> date | None:
    """That day, or None when the calendar has none."""
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None


def month_of(word: str) -> int | None:
    """1 to 12 for a month's name, whole or cut short, in any case and with accents."""
    return _MONTH_BY_WORD.get(folded(composed(word)).rstrip("."))


def _read(match: re.Match[str], today: date, day_first: bool) -> date | None:
    if match["y1"]:
        return day_in(int(match["y1"]), int(match["m1"]), int(match["d1"]))
    if match["y4"]:
        first, second = int(match["a4"]), int(match["b4"])
        month, day = (second, first) if day_first or first > 12 else (first, second)
        return day_in(int(match["y4"]), month, day)
    if match["y5"]:
        return day_in(int(match["y5"]), int(match["m5"]), int(match["d5"]))
    named = match["m2"] or match["m3"]
    month = _MONTH_BY_WORD[named.rstrip(".")]
    day, year = int(match["d2"] or match["d3"]), match["y2"] or match["y3"]
    if year:
        return day_in(int(year), month, day)
    this = day_in(today.year, month, day)
    return this if this is not None and this >= today else day_in(today.year + 1, month, day)
