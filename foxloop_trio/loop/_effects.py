"""What the engine wants done, and what it can be told: the two alphabets of the protocol between `_engine` and `_runner`.

Theory: the engine is a synchronous generator. It yields one effect at a time, receives exactly one answer, and goes on. The
driver only ever *sends* answers; it never throws into the generator and never closes one that may still yield. So the same
engine can be driven by Trio, by a test's hand, or by a recorded trail.

===============  ==========================================================================================
answer           meaning
===============  ==========================================================================================
``Ok``           done; the value has the type that the effect promises
``Raised``       what was called raised; its text, its class, and whether it was a `Refuse` (trusted words)
``Limit``        a time limit cut it; *which* one
``Stop``         the run is being stopped; by what
``TrailFailed``  the record could not be written (answers `Emit` and `Note` only)
===============  ==========================================================================================

After `Stop` or `TrailFailed` the engine yields nothing but `Note`, `ClosePermit` and one `Emit` of a stop event.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, Generic, Literal, TypeVar

import attrs

from ..actions import Action, ApprovalRequest, CheckResult, Decision, Effect, Permit, ToolContext, ToolOutput
from ..events import LoopEvent
from ..ports import ChatReply, Message
from ..tools import Tool

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

LimitName = Literal["seconds", "planner-seconds", "tool-seconds", "approval-expired", "step-seconds"]
StopCause = Literal["abort", "cancelled", "left", "error"]
"""abort: `run.abort()`; cancelled: Trio cancelled us from outside; left: the consumer left; error: the consumer, or we, raised."""


# What the driver answers


@attrs.frozen
class Ok:
    value: Any = None


@attrs.frozen(kw_only=True)
class ToolEnd:
    """How a tool ended: what it returned or raised (if it did), and what is known of its effect."""

    output: ToolOutput | None = None
    effect: Effect | None = None
    error: str | None = None


@attrs.frozen
class Raised:
    message: str
    error: str
    refused: bool = False
    tool: ToolEnd | None = None


@attrs.frozen
class Limit:
    which: LimitName
    tool: ToolEnd | None = None


@attrs.frozen
class Stop:
    cause: StopCause
    tool: ToolEnd | None = None


@attrs.frozen
class TrailFailed:
    message: str


Answer = Ok | Raised | Limit | Stop | TrailFailed


# What the engine asks for


class EngineEffect(Generic[T_co]):
    """Base of the effects; the parameter is the type of an `Ok` answer's value."""

    __slots__ = ()


@attrs.frozen
class Turn(EngineEffect[bool]):
    """May this begin now? Answers abort, a lost peer and time, *before* a counter moves.

    The value is False only for kind "tool": the permit was held for long and is no longer valid.
    """

    kind: Literal["planner", "approval", "tool"]
    tool: Tool | None = None
    permit: Permit | None = None


@attrs.frozen
class AskPlanner(EngineEffect[ChatReply]):
    messages: list[Message]


@attrs.frozen
class Prepare(EngineEffect[dict[str, Any]]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.frozen
class Domain(EngineEffect[str]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.frozen
class Describe(EngineEffect[str]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.frozen
class GateCheck(EngineEffect[Decision]):
    action: Action
    store_request: bool = True


@attrs.frozen
class GateRedeem(EngineEffect[Decision]):
    token: str
    action: Action


@attrs.frozen
class AskHuman(EngineEffect[object]):
    request: ApprovalRequest


@attrs.frozen
class RunTool(EngineEffect[ToolEnd]):
    call_id: str
    tool: Tool
    permit: Permit
    ctx: ToolContext


@attrs.frozen(kw_only=True)
class CheckInput:
    """What a host's completion check is given; `last_check` is the verdict of the newest tool result, if it had one."""

    goal: str
    summary: str
    last_check: CheckResult | None


@attrs.frozen
class RunCheck(EngineEffect[CheckResult]):
    input: CheckInput


@attrs.frozen
class ClosePermit(EngineEffect[None]):
    """`settle`: the action was, or may have been, done. `release`: it certainly was not."""

    permit: Permit
    how: Literal["settle", "release"]


@attrs.frozen
class Note(EngineEffect[None]):
    """An entry of the trail that is no event. `essential` notes stop the run when they cannot be written."""

    kind: str
    data: Mapping[str, Any]
    essential: bool = True


@attrs.frozen
class Emit(EngineEffect[None]):
    """An event: recorded, handed over, and answered when the consumer comes back. `record` is for the trail only."""

    event: LoopEvent
    record: Mapping[str, Any] = attrs.field(factory=dict)


# How an answer other than `Ok` unwinds the engine


class Unwind(Exception):
    """Base of the engine's inner exceptions; none of them leaves the generator."""


class StepRaised(Unwind):
    def __init__(self, answer: Raised) -> None:
        self.answer = answer


class LimitReached(Unwind):
    def __init__(self, answer: Limit) -> None:
        self.answer = answer


class Stopped(Unwind):
    def __init__(self, answer: Stop) -> None:
        self.answer = answer


class TrailLost(Unwind):
    def __init__(self, answer: TrailFailed) -> None:
        self.answer = answer


Steps = Generator[EngineEffect[Any], Answer, T]


def perform(effect: EngineEffect[T]) -> Steps[T]:
    """Yield one effect and give back its value, typed; any other answer unwinds as the matching exception."""
    answer = yield effect
    match answer:
        case Ok(value=value):
            result: T = value
            return result
        case Raised():
            raise StepRaised(answer)
        case Limit():
            raise LimitReached(answer)
        case Stop():
            raise Stopped(answer)
        case TrailFailed():
            raise TrailLost(answer)
