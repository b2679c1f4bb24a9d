"""Date pickers: which day is which control, and how to turn a page (page reference, 15 and 21.24). Pure.

A day that is labelled with its number only is told by the month and year that the same picker shows: in its selects, in the name
of the section, on a control, in a heading or as a line of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from typing import Final

from .._snapshot import Control, Snapshot
from ._calendar import calendar_date, day_in, month_of
from ._folding import composed, folded
from ._page import selected

__all__ = ["days_shown", "turner"]

Month = tuple[int, int]

_BARE = re.compile(r"\s*(\d{1,2})(?:st|nd|rd|th|\.)?\s*\Z")
_MONTH_YEAR = re.compile(r"(?<!\w)(?:(?P<m1>[^\W\d_]{3,10})\.?\s*,?\s*(?P<y1>\d{4})|(?P<y2>\d{4})\s+(?P<m2>[^\W\d_]{3,10}))(?!\w)")
_YEAR = re.compile(r"\s*(\d{4})\s*\Z")
_DAY_ROLES: Final = frozenset({"button", "gridcell", "link", "option"})

_BACK = re.compile(r"\b(?:prev|previous|back|earlier)\b|[\u2039\u00ab\u2190\u25c0\u25c2\u276e]|\A\s*<+\s*\Z")
_ON = re.compile(r"\b(?:next|forward|later)\b|[\u203a\u00bb\u2192\u25b6\u25b8\u276f]|\A\s*>+\s*\Z")


def days_shown(page: Snapshot, frame: int, today: date) -> list[tuple[Control, str]]:
    """The days that the picker in that frame offers, as controls and ISO dates, in page order."""
    inside = [control for control in page.controls if control.dialog and control.frame == frame]
    named = [(control, iso) for control in inside if (iso := calendar_date(control.label, today)) is not None]
    return named or list(_numbered(page, inside, today))


def turner(page: Snapshot, frame: int, *, back: bool) -> Iterator[Control]:
    """The picker's controls that turn to an earlier page, or to a later one, in page order."""
    pattern = _BACK if back else _ON
    for control in page.controls:
        if control.dialog and control.frame == frame and pattern.search(folded(composed(control.label))):
            yield control


def _numbered(page: Snapshot, inside: Sequence[Control], today: date) -> Iterator[tuple[Control, str]]:
    cells = [(control, int(match[1])) for control in inside if control.role in _DAY_ROLES and (match := _BARE.match(control.label))]
    for group in _by_section(cells):
        month = _month_year(group[0][0].section, today) or _shown_month(page, inside, today)
        if month is None:
            continue
        for control, number in _of_the_month(group):
            day = day_in(*month, number)
            if day is not None:
                yield control, day.isoformat()


def _by_section(cells: Sequence[tuple[Control, int]]) -> Iterator[list[tuple[Control, int]]]:
    """Two months beside each other are two groups when their sections have names."""
    groups: dict[str, list[tuple[Control, int]]] = {}
    for control, number in cells:
        groups.setdefault(control.section, []).append((control, number))
    yield from groups.values()


def _of_the_month(cells: Sequence[tuple[Control, int]]) -> Sequence[tuple[Control, int]]:
    """Without the last days of the month before and the first of the month after, which fill up the weeks."""
    ones = [at for at, (_, number) in enumerate(cells) if number == 1]
    if not ones:
        return cells
    return cells[ones[0] : ones[1] if len(ones) > 1 else None]


def _shown_month(page: Snapshot, inside: Sequence[Control], today: date) -> Month | None:
    """The first place that shows exactly one month."""
    chosen = _chosen_month(inside)
    if chosen is not None:
        return chosen
    places: tuple[Iterable[str], ...] = (
        (control.section for control in inside),
        (control.label for control in inside),
        page.headings,
        page.text.splitlines(),
    )
    for texts in places:
        months = {month for text in texts if (month := _month_year(text, today)) is not None}
        if len(months) == 1:
            return months.pop()
    return None


def _chosen_month(inside: Sequence[Control]) -> Month | None:
    """By a select of months and one of years."""
    labels = [label.strip() for control in inside for label in selected(control)]
    months = [month for label in labels if (month := month_of(label)) is not None]
    years = [int(match[1]) for label in labels if (match := _YEAR.match(label))]
    return (years[0], months[0]) if len(months) == len(years) == 1 else None


def _month_year(text: str, today: date) -> Month | None:
    """The month that a text names, unless it names a day of it."""
    if calendar_date(text, today) is not None:
        return None
    for match in _MONTH_YEAR.finditer(folded(composed(text))):
        month = month_of(match["m1"] or match["m2"])
        if month is not None:
            return int(match["y1"] or match["y2"]), month
    return None
