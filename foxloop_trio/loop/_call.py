"""One call on its way: what was read of it, the permit that it holds, and what came of it. Pure; the engine's alone."""

from __future__ import annotations

import hashlib
from typing import Any, Final

import attrs

from ..actions import Action, Effect, Permit, ToolOutput, unchecked
from ..canonical import canonical_json
from ..events import PlannedCall, ResultReason
from ..tools import Tool
from ._effects import ToolEnd
from ._repair import NOT_JSON

ARGUMENT_DEPTH: Final = 32
"""The gate refuses an action that is nested deeper (gate specification, section 3)."""


@attrs.define
class Call:
    """One call on its way: what the planner wrote, what it means, and what events and trail may show of it."""

    planned: PlannedCall
    args: Any
    """The parsed arguments; NOT_JSON when they are none."""
    shown: Any
    """The arguments for events and trail: these, or what `redact` made of them, or the raw text when it is not JSON."""
    plain: bool = False
    """Whether the arguments are certainly JSON as the gate takes it, having been read in the plain way."""
    tool: Tool | None = None
    in_history: bool = True
    """Whether the assistant message holds it, so that the planner must get an answer to it."""
    remarks: str = ""
    """What guards that rewrote it want the planner to read in front of its result."""
    permit: Permit | None = None
    """The permit that it was given last, and the action that this allows."""
    allowed: Action | None = None
    started: bool = False
    """Whether its tool was begun under that permit."""
    end: ToolEnd | ToolOutput | None = None
    """How its tool ended, once it has; the result is not on record yet."""
    noted: bool = False
    """Whether its effect is on record, or goes there with the next write."""

    def open(self, permit: Permit) -> None:
        """It holds this permit from here on."""
        self.permit, self.allowed = permit, permit.action
        self.started = self.noted = False
        self.end = None

    @property
    def key(self) -> str:
        """The canonical arguments, by which calls are the same, however they are spaced and ordered."""
        return self.planned.args if self.args is NOT_JSON else canonical_json(self.args, max_depth=ARGUMENT_DEPTH)


@attrs.define(kw_only=True)
class Ran:
    """What came of a call: the words for the planner, and why it is not ok when it is not."""

    output: ToolOutput
    reason: ResultReason | None = None
    detail: str | None = None
    effect: Effect | None = None
    shown: str | None = None
    """The text that the planner had read, when it comes from a trail."""
    seen: str | None = None
    """For a read: a digest of what it saw."""
    blocked: bool = False
    """A guard rewrote the call to one that does not fit."""
    interrupted: str | None = None
    """For a call that an earlier run left without a result: the host that it was allowed on, or the empty text."""


_ran = unchecked(Ran)


def failed(reason: ResultReason, summary: str, *, detail: str | None = None, effect: Effect | None = None) -> Ran:
    """A failed result in our own words; the detail goes along as outside text."""
    return Ran(output=ToolOutput(ok=False, summary=summary, untrusted=detail), reason=reason, detail=detail, effect=effect)


def returned(end: ToolEnd | ToolOutput) -> Ran:
    """What came of a call whose tool returned something."""
    if type(end) is ToolOutput:
        return _ran(output=end, reason=None if end.ok else "failed")
    assert isinstance(end, ToolEnd)
    assert end.output is not None
    return _ran(output=end.output, reason=None if end.output.ok else "failed", effect=end.effect, shown=end.shown)


def digest_of(output: ToolOutput) -> str:
    """A digest of what a read saw."""
    return hashlib.sha256(f"{output.summary}\0{output.untrusted or ''}".encode("utf-8", "surrogatepass")).hexdigest()
