"""Noticing that a planner asks for the same call again and again. Pure."""

from __future__ import annotations

from typing import Final

SAME_CALL_LIMIT: Final = 3
"""The third identical call in a row stops the run before it is examined: two runs happened (loop specification 11.1)."""


class RepeatTracker:
    """Counts identical calls in a row. Calls are the same when name and canonical arguments are, so spacing does not hide one."""

    def __init__(self) -> None:
        self._last: tuple[str, str] | None = None
        self._count = 0

    def third_in_a_row(self, name: str, args: str) -> bool:
        """Take note of one call, by its name and canonical arguments; True when it is the third identical one in a row."""
        key = (name, args)
        self._count = self._count + 1 if key == self._last else 1
        self._last = key
        return self._count >= SAME_CALL_LIMIT
