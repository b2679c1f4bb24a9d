"""`virtual_wall_clock`: wall time that follows Trio's clock, so that a mock clock moves both."""

from __future__ import annotations

import math
from typing import Final, final

import trio

from ..errors import BadOptionsError

__all__ = ["VirtualWallClock", "virtual_wall_clock"]

START: Final = 1_700_000_000.0
"""14 November 2023, 22:13:20 UTC: an instant that cannot be taken for 0 nor for the present."""


@final
class VirtualWallClock:
    """Called, it gives seconds since 1970. Made by `virtual_wall_clock`."""

    def __init__(self, start: float) -> None:
        self._start = start
        self._zero: float | None = _trio_time()

    def __repr__(self) -> str:
        return f"<VirtualWallClock from {self._start}>"

    def __call__(self) -> float:
        """`start` plus the seconds of Trio's clock since it was made. Raises RuntimeError outside a Trio run."""
        now = trio.current_time()
        if self._zero is None:
            self._zero = now
        return self._start + (now - self._zero)


def virtual_wall_clock(start: float = START) -> VirtualWallClock:
    """Wall time for `wall_clock=` and `now=`: `start` seconds since 1970 now, and from then on in step with `trio.current_time()`.

    Under `autojump_clock` a sleep of an hour moves it by exactly an hour and takes no time. Made outside a Trio run, it starts
    when it is first read. One clock is for one Trio run, since each run's clock begins anew. Raises BadOptionsError when `start`
    is no finite number.
    """
    if isinstance(start, bool) or not isinstance(start, int | float) or not math.isfinite(start):
        raise BadOptionsError(f"start must be a number of seconds since 1970, not {start!r}")
    return VirtualWallClock(float(start))


def _trio_time() -> float | None:
    try:
        return trio.current_time()
    except RuntimeError:
        return None
