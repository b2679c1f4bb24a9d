"""Dates in fields: written in the format that a field shows, and read back from it. Pure."""

from __future__ import annotations

import re
from datetime import date

from ._calendar import calendar_date, day_in

__all__ = ["read_field_date", "write_field_date"]

_PARTS = re.compile(r"(DD|MM|YYYY)([./-])(DD|MM)([./-])(YYYY|DD)\Z")
_THREE = re.compile(r"(?<!\d)(\d{1,4})\D(\d{1,4})\D(\d{1,4})(?!\d)")


def _order(date_format: str | None) -> tuple[str, ...] | None:
    match = _PARTS.match(date_format or "")
    if match is None or len({match[1], match[3], match[5]}) < 3:
        return None
    return match[1], match[3], match[5]


def write_field_date(iso: str, date_format: str | None) -> str:
    """The date in the field's format, zero padded; ISO when the field has none, or one that is no format of three parts."""
    if date_format is None or _order(date_format) is None:
        return iso
    year, month, day = iso.split("-")
    parts = {"YYYY": year, "MM": month, "DD": day}
    return re.sub("YYYY|MM|DD", lambda part: parts[part[0]], date_format)


def read_field_date(text: str, date_format: str | None, today: date) -> str | None:
    """The date that a field shows: its first three numbers in the order of its format, else a calendar date in the text."""
    order = _order(date_format)
    match = _THREE.search(text) if order is not None else None
    if order is None or match is None:
        return calendar_date(text, today)
    part = dict(zip(order, (int(number) for number in match.groups()), strict=True))
    found = day_in(part["YYYY"], part["MM"], part["DD"])
    return None if found is None else found.isoformat()
