"""Regular expressions whose time is bounded before they run.

Python's engine tries all ways in which a pattern can match, and cannot be stopped. So a pattern is looked at when it is made: the
number of ways is a polynomial in the length of the text, or the pattern is refused; and a text for which it would be too many
steps is not looked at, so the answer is "cannot tell". That is decided by counting, never by a clock, so it is always the same.
Pure.
"""

from __future__ import annotations

import re
from re import _compiler, _parser  # type: ignore[attr-defined]  # the only way to the standard library's own parse
from re import _constants as op  # type: ignore[attr-defined]
from typing import Any, Final

import attrs

from ....errors import BadOptionsError

TEXT_LIMIT: Final = 65_536
"""Bytes of UTF-8 of the longest text that is looked at (section 7)."""
STEPS: Final = 100_000
"""Steps of the longest match: about a millisecond of CPython's engine, which takes some 10 ns for each (section 7)."""
MOST_WAYS: Final = 1000

ONE_CHARACTER: Final = frozenset({op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN, op.CATEGORY, op.RANGE})


@attrs.frozen
class Ways:
    """In how many ways a part can match a text of n characters: at most ``factor * n ** degree``."""

    degree: int = 0
    factor: int = 1

    def times(self, other: Ways) -> Ways:
        return Ways(self.degree + other.degree, self.factor * other.factor)

    def plus(self, other: Ways) -> Ways:
        return Ways(max(self.degree, other.degree), self.factor + other.factor)


class BoundedPattern:
    """A pattern that must match a whole text. Raises ValueError, as BadOptionsError, when its time cannot be bounded."""

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str):
            raise BadOptionsError(f"matches: a pattern is text, not {pattern!r}")
        try:
            self._whole = re.compile(pattern)
            tree = _parser.parse(pattern)
        except (re.error, RecursionError, OverflowError) as fault:
            raise BadOptionsError(f"matches: {pattern!r} is no regular expression: {fault}") from fault
        self._pattern = pattern
        self._ways = self._of(tree)
        self._inner, self._inner_ways = self._inside(tree)

    def __repr__(self) -> str:
        return f"<BoundedPattern {self._pattern!r}>"

    def full_match(self, text: str) -> bool | None:
        """Whether the whole text matches; None when that cannot be told in time."""
        size = len(text)
        if size > TEXT_LIMIT or (size > TEXT_LIMIT // 4 and len(text.encode("utf-8", "surrogatepass")) > TEXT_LIMIT):
            return None
        if self._inner is not None and self._dots_take(text) and _affordable(self._inner_ways, size, searched=True):
            return self._inner.search(text) is not None
        return self._whole.fullmatch(text) is not None if _affordable(self._ways, size) else None

    def _inside(self, tree: Any) -> tuple[re.Pattern[str] | None, Ways]:
        """What stands between two times ``.*``: it is searched for, which costs a round less for each of them."""
        if len(tree) < 3 or not (_is_anything(tree[0]) and _is_anything(tree[-1])):
            return None, Ways()
        inner = tree[1:-1]
        return _compiler.compile(inner), self._of(inner)

    def _dots_take(self, text: str) -> bool:
        """Whether ``.*`` takes all of this text."""
        return bool(self._whole.flags & re.DOTALL) or "\n" not in text

    def _of(self, items: Any) -> Ways:
        ways = Ways()
        for kind, value in items:
            ways = ways.times(self._one(kind, value))
            if ways.factor > MOST_WAYS:
                raise self._refused("it can match in too many ways")
        return ways

    def _one(self, kind: Any, value: Any) -> Ways:
        if kind in ONE_CHARACTER or kind is op.AT:
            return Ways()
        if kind is op.SUBPATTERN:
            return self._of(value[-1])
        if kind is op.BRANCH:
            ways = self._of(value[1][0])
            for branch in value[1][1:]:
                ways = ways.plus(self._of(branch))
            return ways
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeated(*value)
        raise self._refused(f"{str(kind).lower().replace('_', ' ')} (look-around, back reference or atomic group) is not supported")

    def _repeated(self, least: int, most: Any, body: Any) -> Ways:
        ways = self._of(body)
        narrowest, widest = body.getwidth()
        if most is op.MAXREPEAT:
            if ways != Ways() or narrowest != widest or not narrowest:
                raise self._refused("something of changing length is repeated without end; use a set such as [ab]* instead")
            return Ways(1)
        if ways == Ways() and narrowest == widest:
            return Ways(0, int(most) - least + 1)
        total = Ways(0, 1) if least == 0 else Ways(0, 0)
        power = Ways()
        for count in range(1, int(most) + 1):
            power = power.times(ways)
            if count >= least:
                total = total.plus(power)
            if total.factor > MOST_WAYS or power.factor > MOST_WAYS or power.degree > 8:
                raise self._refused("it can match in too many ways")
        return total

    def _refused(self, why: str) -> BadOptionsError:
        return BadOptionsError(f"matches: the time of {self._pattern!r} cannot be bounded: {why}")


def _affordable(ways: Ways, size: int, *, searched: bool = False) -> bool:
    """Each way is walked once; a search begins at each character."""
    degree = ways.degree + (1 if searched else 0)
    return bool(ways.factor * max(1, size) ** max(1, degree) <= STEPS)


def _is_anything(item: Any) -> bool:
    kind, value = item
    return kind in (op.MAX_REPEAT, op.MIN_REPEAT) and value[:2] == (0, op.MAXREPEAT) and list(value[2]) == [(op.ANY, None)]
