"""The host's own fast look at what the last calls did: a second small generator, driven beside the planner. Pure.

It ends with a passing verdict or with nothing; whatever else happens (no summary, a failing verdict, an exception) the planner's
reply decides, and no event says so.
"""

from __future__ import annotations

from ..actions import CheckResult
from ._effects import (
    CheckInput,
    RunCheck,
    RunSettle,
    Settled,
    SettleInput,
    Steps,
    perform,
)


def settling(given: SettleInput, *, has_check: bool, last_check: CheckResult | None) -> Steps[Settled | None]:
    """Ask the host's `settle`; when it names a summary, obtain the verdict as for any claim (loop specification 9 and 7.4)."""
    summary = yield from perform(RunSettle(given))
    if not summary:
        return None
    verdict = last_check
    if has_check:
        verdict = yield from perform(RunCheck(CheckInput(goal=given.goal, summary=summary, last_check=last_check)))
    return Settled(summary=summary, check=verdict) if verdict is not None and verdict.ok else None
