"""Which refusals of the gate a planner may learn from instead of the run ending. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from ..errors import BadOptionsError


def _function(_: object, __: object, value: Any) -> None:
    if not callable(value):
        raise BadOptionsError(f"Denials.retry must be callable with a deny reason, not {type(value).__name__}")


def _count(_: object, __: object, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise BadOptionsError(f"Denials.limit must be a whole number of 1 or more, not {value!r}")


@attrs.frozen(kw_only=True)
class Denials:
    """`retry(reason)` says whether the planner gets a failed result for this deny reason and may try another way.

    It is asked for denials of `gate.check` only: a human's no, and a denial at redeem, always end the run. After `limit` such
    denials in a row the run ends all the same. Raises BadOptionsError for anything that is no function or no whole number.
    """

    retry: Callable[[str], object] = attrs.field(validator=_function)
    limit: int = attrs.field(default=3, validator=_count)
