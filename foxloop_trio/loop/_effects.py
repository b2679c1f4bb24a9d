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

Answers and effects live for one exchange, and nobody writes into one.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar

import attrs

from ..actions import Action, ApprovalRequest, CheckResult, Decision, Effect, Money, Permit, ToolContext, ToolOutput
from ..events import LimitName, LoopEvent
from ..guarding import Said
from ..ports import ChatReply, Message
from ..tools import Tool
from ._budget import TokenUse

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

GuardMoment = Literal["on_run_start", "before_model", "after_model", "before_tool", "after_tool"]
PermitEnd = Literal["settle", "release"]
StopCause = Literal["abort", "cancelled", "left", "error"]
"""abort: `run.abort()`; cancelled: Trio cancelled us from outside; left: the consumer left; error: the consumer, or we, raised."""

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
"""No record: what a run without a trail has to say to it."""


# What the driver answers


@attrs.define
class Ok:
    value: Any = None


OK: Final = Ok()
YES: Final = Ok(True)


@attrs.define(kw_only=True)
class ToolEnd:
    """How a tool ended: what it returned or raised (if it did), and what is known of its effect."""

    output: ToolOutput | None = None
    effect: Effect | None = None
    error: str | None = None
    shown: str | None = None
    """From a trail: the text that the planner had read, instead of one made of `output`."""
    seen: str | None = None
    """From a trail: the digest of what a read had seen."""
    words: str | None = None
    """From a trail: what the planner had been told of a limit that was another one then."""


@attrs.define
class Raised:
    message: str
    error: str
    refused: bool = False
    tool: ToolEnd | None = None


@attrs.define
class Limit:
    which: LimitName
    tool: ToolEnd | None = None


@attrs.define
class Stop:
    cause: StopCause
    tool: ToolEnd | None = None


@attrs.define
class TrailFailed:
    message: str


@attrs.define
class Interrupted:
    """The run ended in this call before it had a result, and another run goes on from there (only when resumed).

    `domain` is the host that the call was allowed on, if it was; `skipped` the words of a result that it had after all.
    """

    effect: Effect
    domain: str = ""
    skipped: str | None = None


Answer = Ok | Raised | Limit | Stop | TrailFailed | Interrupted


# What the engine asks for


class EngineEffect(Generic[T_co]):
    """Base of the effects; the parameter is the type of an `Ok` answer's value."""

    __slots__ = ()


@attrs.define
class Turn(EngineEffect[bool]):
    """May this begin now? Answers a pause, abort, a lost peer and time, *before* a counter moves.

    The value is False only for kind "tool": the permit was held for long and is no longer valid. `expires_at` (wall-clock
    seconds) is when what it is about lapses, paused or not.
    """

    kind: Literal["planner", "approval", "tool"]
    permit: Permit | None = None
    expires_at: float | None = None


@attrs.frozen(kw_only=True)
class SettleCall:
    """One call of the reply before, for a host's `settle`: what was asked for and what came of it."""

    name: str
    args: Any
    ok: bool
    summary: str
    data: Any
    check: CheckResult | None


@attrs.frozen(kw_only=True)
class SettleInput:
    """What a host's `settle` is given: the goal, the step of the request it races, and the calls of the reply before it."""

    goal: str
    step: int
    results: tuple[SettleCall, ...]


@attrs.frozen(kw_only=True)
class Settled:
    """The host's own verdict came before the planner's reply, and it passed."""

    summary: str
    check: CheckResult


@attrs.frozen(kw_only=True)
class Unreadable:
    """From a trail: a reply that could not be read, why, and what it had used and cost."""

    problem: str
    use: TokenUse
    cost: Money | None


@attrs.define
class AskPlanner(EngineEffect[ChatReply | Settled | Unreadable]):
    """Ask the planner; with `settle`, beside the host's own look at what the last calls did. A reply wins a tie."""

    messages: list[Message]
    settle: SettleInput | None = None
    last_check: CheckResult | None = None


@attrs.define
class RunSettle(EngineEffect[str | None]):
    input: SettleInput


@attrs.define
class Retry(EngineEffect[bool]):
    """Whether the host lets the planner try another way after this deny reason."""

    reason: str


@attrs.define
class AskGuards(EngineEffect[Said]):
    """Ask all guards, in their order, at one moment of the run; `args` are what their method of that name takes.

    They own what they are given. What they said is on record as a ``loop.guard`` note before it holds; no note, nothing said.
    """

    moment: GuardMoment
    args: tuple[Any, ...]


@attrs.define
class Redact(EngineEffect[dict[str, Any]]):
    """The copy of the arguments that events and trail may hold."""

    tool: Tool
    args: Any


@attrs.define
class Prepare(EngineEffect[dict[str, Any]]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.define
class Domain(EngineEffect[str]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.define
class Describe(EngineEffect[str]):
    tool: Tool
    args: dict[str, Any]
    ctx: ToolContext


@attrs.define
class GateCheck(EngineEffect[Decision]):
    action: Action
    store_request: bool = True


@attrs.define
class GateRedeem(EngineEffect[Decision]):
    token: str
    action: Action


@attrs.define
class AskHuman(EngineEffect[object]):
    request: ApprovalRequest


@attrs.define
class RunTool(EngineEffect[ToolEnd | ToolOutput]):
    """Run a tool under a permit, with `args`, which are a copy of the permit's and this call's alone.

    A bare `ToolOutput` is what it returned, when there is nothing else to say of how it ended.
    """

    call_id: str
    tool: Tool
    permit: Permit
    args: dict[str, Any]
    ctx: ToolContext


@attrs.frozen(kw_only=True)
class CheckInput:
    """What a host's completion check is given; `last_check` is the verdict of the newest tool result, if it had one."""

    goal: str
    summary: str
    last_check: CheckResult | None


@attrs.define
class RunCheck(EngineEffect[CheckResult]):
    input: CheckInput


@attrs.define
class ClosePermit(EngineEffect[None]):
    """`settle`: the action was, or may have been, done. `release`: it certainly was not."""

    permit: Permit
    how: PermitEnd


@attrs.define
class Note(EngineEffect[None]):
    """An entry of the trail that is no event. `essential` notes stop the run when they cannot be written."""

    kind: str
    data: Mapping[str, Any]
    essential: bool = True


@attrs.define
class Emit(EngineEffect[None]):
    """An event: recorded, handed over, and answered when the consumer comes back. `record` is for the trail only."""

    event: LoopEvent
    record: Mapping[str, Any] = NOTHING


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


class CallInterrupted(Unwind):
    def __init__(self, answer: Interrupted) -> None:
        self.answer = answer


class TrailLost(Unwind):
    def __init__(self, answer: TrailFailed) -> None:
        self.answer = answer


Asked = EngineEffect[Any] | LoopEvent
"""What the engine yields: an effect; or an event by itself, which stands for the `Emit` that says it and nothing besides."""

Steps = Generator[Asked, Answer, T]


def as_effect(asked: Asked) -> EngineEffect[Any]:
    """The effect that is asked for, also by a bare event."""
    return asked if isinstance(asked, EngineEffect) else Emit(asked)


def perform(effect: EngineEffect[T] | LoopEvent) -> Steps[T]:
    """Yield one effect and give back its value, typed; any other answer unwinds as the matching exception."""
    value: T = taken((yield effect))
    return value


def taken(answer: Answer) -> Any:
    """The value of an `Ok`; any other answer unwinds as the matching exception.

    ``taken((yield effect))`` is ``yield from perform(effect)`` without a generator of its own: for what comes in every step. Where
    the answer has no value, ``if (answer := (yield effect)) is not OK: taken(answer)`` is the same without a call.
    """
    if type(answer) is Ok:
        return answer.value
    raise _unwinding(answer)


def _unwinding(answer: Answer) -> Unwind:
    match answer:
        case Raised():
            return StepRaised(answer)
        case Limit():
            return LimitReached(answer)
        case Stop():
            return Stopped(answer)
        case TrailFailed():
            return TrailLost(answer)
        case Interrupted():
            return CallInterrupted(answer)
        case _:
            raise AssertionError(f"the driver answered {answer!r}, which the engine does not know")
