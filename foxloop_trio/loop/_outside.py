"""What a run talks to: everything outside of it, in one place. Pure."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from ..actions import CheckResult
from ..ports import Approver, Environment, Gate, Planner, TrailSink, WallClock
from ._budget import Budget
from ._effects import CheckInput, SettleInput

SettleHook = Callable[[SettleInput], Awaitable[str | None]]
CompletionCheck = Callable[[CheckInput], CheckResult | Awaitable[CheckResult]]


@attrs.frozen(kw_only=True)
class Ports:
    """What a run talks to."""

    planner: Planner
    gate: Gate
    definitions: list[dict[str, Any]]
    on_approval: Approver | None
    trail: TrailSink | None
    check: CompletionCheck | None
    settle: SettleHook | None
    retry: Callable[[str], object] | None
    environments: tuple[Environment, ...]
    wall_clock: WallClock
    budget: Budget
    cancel_grace: float
    trail_timeout: float
