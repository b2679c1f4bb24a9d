"""What a call of several acts has done so far: the one list by which its effect is told, also when it is stopped in the middle."""

from __future__ import annotations

from typing import Any

from ...actions import EffectState
from .._act import ActResult
from .._tab import Report

__all__ = ["Steps", "step_of"]

Step = dict[str, Any]


def step_of(op: str, control: str) -> Step:
    """One act, as it stands in a report."""
    return {"op": op, "control": control}


class Steps:
    """`report` is told ``partial`` with the acts that were done as soon as there is one, ``unknown`` while one is under way, and
    ``done`` when `of` acts are done (None: that is for the caller to say).

    An act that found things as they should be says ``already``; one that the page did not do to its end, ``effect``.
    """

    def __init__(self, report: Report, *, of: int | None = None) -> None:
        self._report = report
        self._of = of
        self._done: list[Step] = []

    @property
    def done(self) -> list[Step]:
        """What was done, in order."""
        return [dict(step) for step in self._done]

    def during(self, step: Step) -> Report:
        """What `Tab.act` is given to report that act by."""
        return lambda state, done: self._tell(state, step)

    def ended(self, step: Step, result: ActResult) -> None:
        """The act has its result."""
        if result.effect != "not-started":
            already = {"already": True} if not result.started else {}
            self._done.append({**_with_effect(step, result.effect), **already})
        self._tell("not-started", step)

    def _tell(self, state: EffectState, step: Step) -> None:
        """The effect of one act, as the effect of the whole so far: one that did not begin leaves what was done before."""
        done = [*self._done, *([] if state == "not-started" else [_with_effect(step, state)])]
        in_doubt = any(entry.get("effect") == "unknown" for entry in done)
        whole = len(done) == self._of and not any("effect" in entry for entry in done)
        self._report("unknown" if in_doubt else "done" if whole else "partial" if done else "not-started", done or None)


def _with_effect(step: Step, state: EffectState) -> Step:
    return dict(step) if state == "done" else {**step, "effect": state}
