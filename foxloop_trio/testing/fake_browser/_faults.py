"""Faults that a test plans: what goes wrong, at which call of which method, in which phase of it.

Phases of a call: ``before`` (it has come, nothing was done), ``started`` (acts only: `page.started` was told, nothing is changed
yet), ``after`` (all is done, nothing is answered).
"""

from __future__ import annotations

from typing import Any, Final, Literal

import attrs

from ...errors import UsageError
from ...wire import METHODS

__all__ = ["Cut", "Delay", "Duplicate", "Fail", "Fault", "FaultPlan", "Phase", "Refuse"]

Phase = Literal["before", "started", "after"]
PHASES: Final = ("before", "started", "after")


@attrs.frozen(kw_only=True)
class Delay:
    """It stays in that phase for so long, in seconds; for ever with `math.inf`."""

    phase: Phase
    seconds: float


@attrs.frozen(kw_only=True)
class Cut:
    """The connection is lost in that phase. `back`: whether the browser may be attached to again."""

    phase: Phase
    back: bool


@attrs.frozen(kw_only=True)
class Refuse:
    """The page refuses the act; `answer` is what it says, `started` whether something was dispatched before."""

    answer: dict[str, Any]
    started: bool


@attrs.frozen(kw_only=True)
class Fail:
    """It is answered with an error."""

    code: str


@attrs.frozen(kw_only=True)
class Duplicate:
    """Its answer is sent twice."""


Fault = Delay | Cut | Refuse | Fail | Duplicate


@attrs.define
class _Planned:
    method: str
    left: int | None
    """How many calls from now; None: each."""
    fault: Fault


class FaultPlan:
    """What is planned and has not happened yet."""

    def __init__(self) -> None:
        self._planned: list[_Planned] = []

    def add(self, method: str, fault: Fault, call: int | None) -> None:
        """At the `call`-th call of `method` from now (1: the next), or at each (None). Raises UsageError for what cannot come."""
        entry = METHODS.get(method)
        if entry is None or entry.kind != "request":
            raise UsageError(f"there is no call {method!r}; there are {', '.join(sorted(METHODS))}")
        if call is not None and call < 1:
            raise UsageError(f"call counts from 1 (the next one), or is None for each; it is {call!r}")
        if isinstance(fault, Delay | Cut):
            if fault.phase not in PHASES or (fault.phase == "started" and method != "page.act"):
                raise UsageError(
                    f"{method} has no phase {fault.phase!r}; only page.act has 'started', all have 'before' and 'after'"
                )
            if isinstance(fault, Delay) and not fault.seconds >= 0:
                raise UsageError(f"a delay must be 0 seconds or more, not {fault.seconds!r}")
        self._planned.append(_Planned(method, call, fault))

    def take(self, method: str) -> list[Fault]:
        """Those of the call that has just come, in the order of planning."""
        due: list[Fault] = []
        for planned in list(self._planned):
            if planned.method != method:
                continue
            if planned.left is None:
                due.append(planned.fault)
            elif planned.left == 1:
                due.append(planned.fault)
                self._planned.remove(planned)
            else:
                planned.left -= 1
        return due
