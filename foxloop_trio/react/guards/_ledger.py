"""What a budget has used and what is promised: the books behind `BudgetGuard`, which several runs may share.

An amount is reserved before it is spent and settled, or released, after. A reservation is visible to everyone at once, so the sum
of what is used and promised never passes a limit, whoever asks first. Within one Trio run nothing can come between the look at the
books and the entry, since nothing here waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, get_args

import attrs

from ...errors import BadOptionsError

Kind = Literal["turns", "tool_calls", "tokens", "cost"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

HOUR: Final = 3600.0
DAY: Final = 86400.0
SLICES: Final = 256
"""Into how many slices a window is cut at most: what was used within one is dropped together, when the last of it is old enough."""


def whole_limit(owner: str, name: str, value: object) -> int | None:
    """A whole number of 0 or more, or None. Raises ValueError for anything else: floats are no amounts (R66)."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise BadOptionsError(f"{owner}: {name} must be a whole number of 0 or more, or None, not {value!r}")
    return value


@attrs.frozen
class Hit:
    """A limit that is in the way: its name, and the two numbers."""

    limit: str
    used: float
    allowed: float

    def to_json(self) -> dict[str, Any]:
        return {"limit": self.limit, "used": self.used, "allowed": self.allowed}


@attrs.define(eq=False)
class _Book:
    """One limit of one kind: for good, or for a window of seconds that slides."""

    name: str
    kind: Kind
    limit: int | None
    window: float | None = None
    used: int = 0
    reserved: int = 0
    slices: deque[list[float]] = attrs.Factory(deque)
    """[first instant, last instant, amount] of what was used, oldest first."""

    def slide(self, now: float) -> None:
        if self.window is None:
            return
        while self.slices and self.slices[0][1] <= now - self.window:
            self.used -= int(self.slices.popleft()[2])

    def spend(self, amount: int, now: float) -> None:
        self.used += amount
        if self.window is None or not amount:
            return
        if self.slices and now - self.slices[-1][0] < self.window / SLICES:
            newest = self.slices[-1]
            newest[1], newest[2] = max(newest[1], now), newest[2] + amount
        else:
            self.slices.append([now, now, amount])


class Ledger:
    """The books of one budget.

    `turns`, `tool_calls`, `tokens`, `cost`: what may be used in all, as whole numbers (`cost` in micro-units of one currency); None
    is no limit. `per_hour` and `per_day`: the same as mappings, for the last hour and the last day on `wall_clock` (seconds since
    1970). Give one ledger to several `BudgetGuard`s and their runs share it. A clock that goes back frees nothing.

    Raises ValueError, as BadOptionsError, for what is negative, no whole number, or no kind.
    """

    def __init__(
        self,
        *,
        turns: int | None = None,
        tool_calls: int | None = None,
        tokens: int | None = None,
        cost: int | None = None,
        per_hour: Mapping[str, int] | None = None,
        per_day: Mapping[str, int] | None = None,
        wall_clock: Callable[[], float] = time.time,
    ) -> None:
        limits: dict[Kind, int | None] = {"turns": turns, "tool_calls": tool_calls, "tokens": tokens, "cost": cost}
        self._books = [_Book(kind, kind, whole_limit("Ledger", kind, limit)) for kind, limit in limits.items()]
        for name, window, given in (("per_hour", HOUR, per_hour), ("per_day", DAY, per_day)):
            for kind, limit in (given or {}).items():
                if kind not in KINDS:
                    raise BadOptionsError(f"Ledger: {name} limits {', '.join(KINDS)}, not {kind!r}")
                known: Any = kind
                if limit is None:
                    raise BadOptionsError(f"Ledger: {name}[{kind!r}] must be a whole number of 0 or more, not None")
                self._books.append(_Book(f"{kind} {name}", known, whole_limit("Ledger", f"{name}[{kind!r}]", limit), window))
        self._clock = wall_clock
        self._now = float("-inf")
        self._windows = any(book.window is not None for book in self._books)

    def spent(self, kind: Kind, *, beyond: bool = False) -> Hit | None:
        """A limit of this kind that is used up: used ≥ limit; with `beyond`, only one that was passed."""
        for book in self._of(kind):
            if book.limit is not None and (book.used > book.limit if beyond else book.used + book.reserved >= book.limit):
                return Hit(book.name, book.used + (0 if beyond else book.reserved), book.limit)
        return None

    def short(self, kind: Kind, amount: int) -> Hit | None:
        """A limit that this amount more, on top of what is used and promised, would pass."""
        for book in self._of(kind):
            if book.limit is not None and book.used + book.reserved + amount > book.limit:
                return Hit(book.name, book.used + book.reserved, book.limit)
        return None

    def near(self, kind: Kind, share: float) -> list[Hit]:
        """The limits of this kind of which at least this share is used."""
        return [Hit(book.name, book.used, book.limit) for book in self._of(kind) if _near(book.used, book.limit, share)]  # type: ignore[arg-type]

    def reserve(self, kind: Kind, amount: int) -> None:
        for book in self._of(kind):
            book.reserved += amount

    def settle(self, kind: Kind, reserved: int, used: int) -> None:
        """What was reserved is replaced by what was used."""
        for book in self._of(kind):
            book.reserved -= reserved
            book.spend(used, self._now)

    def used(self, kind: Kind) -> int:
        return next(book.used for book in self._books if book.kind == kind)

    def reserved(self, kind: Kind) -> int:
        return next(book.reserved for book in self._books if book.kind == kind)

    def statistics(self) -> dict[str, Any]:
        """Each limit that is set, by name: used, reserved, allowed."""
        return {
            book.name: {"used": book.used, "reserved": book.reserved, "allowed": book.limit}
            for kind in KINDS
            for book in self._of(kind)
            if book.limit is not None
        }

    def _of(self, kind: Kind) -> list[_Book]:
        if self._windows:
            self._now = max(self._now, self._clock())
        books = [book for book in self._books if book.kind == kind]
        for book in books:
            book.slide(self._now)
        return books


def _near(used: int, limit: int | None, share: float) -> bool:
    return limit is not None and limit > 0 and used >= limit * share - 1e-9
