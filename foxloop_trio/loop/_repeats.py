"""Noticing that a planner goes in circles: the same call again and again, or two calls in turn. Pure."""

from __future__ import annotations

from collections import deque
from typing import Any, Final

from ..canonical import canonical_json
from ._reply import ARGUMENT_DEPTH, NOT_JSON

SAME_CALL_LIMIT: Final = 3
"""The third identical call in a row stops the run before it is examined: two runs happened (loop specification 11.1)."""
PAIR_WINDOW: Final = 6
"""A B A B A B among calls that are not reads stops the run before the sixth is examined (11.2)."""


Asked = tuple[str, Any, str]
"""One call as the tracker remembers it: its name, parsed arguments and raw text."""


def same(call: Asked, other: Asked) -> bool:
    """Same name and same canonical arguments, so spacing hides no repetition. Most calls differ, and that is seen at once."""
    name, args, raw = call
    if name != other[0] or args != other[1]:
        return False
    if args is NOT_JSON:
        return raw == other[2]
    # Python takes 1 and True for equal; JSON does not.
    return _text(args) == _text(other[1])


class RepeatTracker:
    """Sees every call before it is examined and every read's result after it.

    A read that saw another page than the same read before it is no repetition: polling a page that changes is work (ruling 10).
    """

    def __init__(self) -> None:
        self._last: Asked | None = None
        self._count = 0
        self._seen: str | None = None
        self._acts: deque[Asked] = deque(maxlen=PAIR_WINDOW)

    def hit(self, name: str, args: Any, raw: str, *, read: bool) -> str | None:
        """Take note of one call, by its name, parsed arguments and raw text; words for the host when it goes too far, else None."""
        call = (name, args, raw)
        last, acts = self._last, self._acts
        # Arguments that differ, as they nearly always do, are seen to differ before anything else is compared.
        if last is None or args != last[1] or not same(call, last):
            self._last, self._count, self._seen = call, 1, None
        else:
            self._count += 1
            if self._count >= SAME_CALL_LIMIT:
                return f"{name} was called three times in a row with the same arguments"
        if not read:
            acts.append(call)
            if len(acts) == PAIR_WINDOW and args == acts[-3][1] and self._is_pair():
                return f"{acts[0][0]} and {acts[1][0]} were called in turn, three times each"
        return None

    def saw(self, seen: str) -> None:
        """The last call was a read, and this is a digest of what it saw."""
        if self._seen is not None and seen != self._seen:
            self._count = 1
        self._seen = seen

    def interrupted(self) -> None:
        """The last call came to nothing, since the run was interrupted: to ask for it once more is no repetition."""
        self._count -= 1

    def _is_pair(self) -> bool:
        if not same(self._acts[-1], self._acts[-3]):
            return False
        a, b, *later = self._acts
        return all(same(call, b if index % 2 else a) for index, call in enumerate(later)) and not same(a, b)


def _text(args: Any) -> str:
    return canonical_json(args, max_depth=ARGUMENT_DEPTH)
