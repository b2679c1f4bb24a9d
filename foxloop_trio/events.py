"""The events of a run: what the consumer sees, one object per occurrence, and their plain JSON.

Every run ends with exactly one of `Done`, `Blocked` and `Aborted`. `event_to_json` and `event_from_json` are inverse; absent
optional fields are left out of the JSON. Instants are seconds since 1970 in Python and whole milliseconds (`…_ms`) in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final, Literal, get_args

import attrs

from .actions import Action, CheckLine, CheckResult, Effect, EffectState, Money
from .actions._nouns import check_lines
from .actions._valid import LATEST_INSTANT, all_of, flag, instant, of, one_of, optional_text, text, whole
from .errors import UsageError

BlockReason = Literal[
    "max-steps",
    "repeated-call",
    "repeated-failure",
    "check-failed",
    "model-error",
    "gate-deny",
    "gate-mismatch",
    "gate-error",
    "approval-unavailable",
    "approval-denied",
    "approval-error",
    "approval-expired",
    "trail-failed",
    "budget",
    "browser-lost",
    "guard",
]
BLOCK_REASONS: Final[tuple[BlockReason, ...]] = get_args(BlockReason)

ResultReason = Literal[
    "invalid-args", "unknown-tool", "tool-error", "failed", "gate-deny", "skipped", "timeout", "in-doubt", "guarded"
]
RESULT_REASONS: Final[tuple[ResultReason, ...]] = get_args(ResultReason)


LimitName = Literal[
    "max_steps",
    "tokens",
    "tool_calls",
    "seconds",
    "cost",
    "planner_seconds",
    "tool_seconds",
    "approval_seconds",
    "expires_at",
]
"""Which limit stopped a run: an option of `Loop`, a field of `Budget`, or the expiry of the request that waited for a human."""
LIMIT_NAMES: Final[tuple[LimitName, ...]] = get_args(LimitName)


@attrs.frozen(kw_only=True)
class PlannedCall:
    """A tool call as the planner wrote it; `args` is its raw argument text."""

    id: str = attrs.field(validator=text)
    name: str = attrs.field(validator=text)
    args: str = attrs.field(validator=text)

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "args": self.args}


@attrs.frozen(kw_only=True)
class InFlight:
    """The call that was running when the run was stopped, and what is known of its effect."""

    call_id: str = attrs.field(validator=text)
    name: str = attrs.field(validator=text)
    effect: Effect = attrs.field(validator=of(Effect))

    def to_json(self) -> dict[str, Any]:
        return {"call_id": self.call_id, "name": self.name, "effect": self.effect.to_json()}


def _to_milliseconds(seconds: Any) -> Any:
    """Rounded to what JSON keeps, so that the way there and back changes nothing; the validator says what is no instant."""
    if isinstance(seconds, float) and abs(seconds) <= LATEST_INSTANT:
        return round(seconds * 1000) / 1000
    return seconds


def _calls(calls: Iterable[PlannedCall]) -> tuple[PlannedCall, ...]:
    return tuple(calls)


@attrs.frozen(kw_only=True)
class Plan:
    """The planner replied."""

    type: ClassVar[Literal["plan"]] = "plan"
    step: int = attrs.field(validator=whole)
    text: str | None = attrs.field(validator=optional_text)
    calls: tuple[PlannedCall, ...] = attrs.field(converter=_calls, validator=all_of(PlannedCall))
    provider: str | None = attrs.field(default=None, validator=optional_text)
    tier: str | None = attrs.field(default=None, validator=optional_text)
    repairs: tuple[str, ...] = attrs.field(default=(), validator=all_of(str))
    problem: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen(kw_only=True)
class ToolCall:
    """A call is about to be examined. `args` is the parsed JSON, or the raw text when it is not JSON."""

    type: ClassVar[Literal["tool-call"]] = "tool-call"
    step: int = attrs.field(validator=whole)
    id: str = attrs.field(validator=text)
    name: str = attrs.field(validator=text)
    args: Any


@attrs.frozen(kw_only=True)
class GateDecision:
    """The gate answered. `action` is the action that was submitted; `reason` is set for deny only."""

    type: ClassVar[Literal["decision"]] = "decision"
    step: int = attrs.field(validator=whole)
    id: str = attrs.field(validator=text)
    via: Literal["check", "redeem"] = attrs.field(validator=one_of(("check", "redeem")))
    decision: Literal["allow", "ask", "deny"] = attrs.field(validator=one_of(("allow", "ask", "deny")))
    action: Action = attrs.field(validator=of(Action))
    reason: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen(kw_only=True)
class ApprovalNeeded:
    """A human must decide. `expires_at` is wall-clock seconds since 1970."""

    type: ClassVar[Literal["approval-needed"]] = "approval-needed"
    step: int = attrs.field(validator=whole)
    id: str = attrs.field(validator=text)
    request_id: str = attrs.field(validator=text)
    action: Action = attrs.field(validator=of(Action))
    expires_at: float = attrs.field(converter=_to_milliseconds, validator=instant)
    detail: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen(kw_only=True)
class ToolResult:
    """A call ended without stopping the run. `reason` is set when it is not ok."""

    type: ClassVar[Literal["tool-result"]] = "tool-result"
    step: int = attrs.field(validator=whole)
    id: str = attrs.field(validator=text)
    name: str = attrs.field(validator=text)
    ok: bool = attrs.field(validator=flag)
    summary: str = attrs.field(validator=text)
    reason: ResultReason | None = attrs.field(default=None, validator=one_of(RESULT_REASONS, optional=True))
    detail: str | None = attrs.field(default=None, validator=optional_text)
    data: Any = None


@attrs.frozen(kw_only=True)
class Check:
    """A completion claim was examined."""

    type: ClassVar[Literal["check"]] = "check"
    step: int = attrs.field(validator=whole)
    ok: bool = attrs.field(validator=flag)
    checks: tuple[CheckLine, ...] = attrs.field(default=(), converter=check_lines, validator=all_of(CheckLine))
    problem: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen(kw_only=True)
class Done:
    """The check passed: the run's good end."""

    type: ClassVar[Literal["done"]] = "done"
    step: int = attrs.field(validator=whole)
    summary: str = attrs.field(validator=text)
    check: CheckResult = attrs.field(validator=of(CheckResult))
    settled: bool = attrs.field(default=False, validator=flag)


@attrs.frozen(kw_only=True)
class Blocked:
    """The run was stopped, by a limit, a refusal or a failure. `message` is for the host program; `limit` names the limit."""

    type: ClassVar[Literal["blocked"]] = "blocked"
    step: int = attrs.field(validator=whole)
    reason: BlockReason = attrs.field(validator=one_of(BLOCK_REASONS))
    message: str = attrs.field(validator=text)
    in_flight: InFlight | None = attrs.field(default=None, validator=of(InFlight, optional=True))
    limit: LimitName | None = attrs.field(default=None, validator=one_of(LIMIT_NAMES, optional=True))


@attrs.frozen(kw_only=True)
class Aborted:
    """The host stopped the run, and nothing of it acts any more."""

    type: ClassVar[Literal["aborted"]] = "aborted"
    step: int = attrs.field(validator=whole)
    in_flight: InFlight | None = attrs.field(default=None, validator=of(InFlight, optional=True))


LoopEvent = Plan | ToolCall | GateDecision | ApprovalNeeded | ToolResult | Check | Done | Blocked | Aborted
StopEvent = Done | Blocked | Aborted
STOP_EVENTS: Final = frozenset({Done, Blocked, Aborted})


@attrs.frozen(kw_only=True)
class Outcome:
    """How a run ended, in one value."""

    status: Literal["done", "blocked", "aborted"]
    step: int
    reason: BlockReason | None = None
    summary: str | None = None
    message: str | None = None
    check: CheckResult | None = None
    settled: bool = False
    in_flight: InFlight | None = None
    limit: LimitName | None = None


def outcome_of(event: StopEvent) -> Outcome:
    """The outcome that a stop event stands for."""
    match event:
        case Done():
            return Outcome(status="done", step=event.step, summary=event.summary, check=event.check, settled=event.settled)
        case Blocked():
            return Outcome(
                status="blocked",
                step=event.step,
                reason=event.reason,
                message=event.message,
                in_flight=event.in_flight,
                limit=event.limit,
            )
        case Aborted():
            return Outcome(status="aborted", step=event.step, in_flight=event.in_flight)


def event_to_json(event: LoopEvent) -> dict[str, Any]:
    """The event as plain JSON with its `type` first. `ToolResult.data` and `ToolCall.args` are taken as they are."""
    plain: dict[str, Any] = {"type": event.type, "step": event.step}
    match event:
        case Plan():
            plain["text"] = event.text
            plain["calls"] = [call.to_json() for call in event.calls]
            _add(plain, provider=event.provider, tier=event.tier, problem=event.problem)
            if event.repairs:
                plain["repairs"] = list(event.repairs)
        case ToolCall():
            plain |= {"id": event.id, "name": event.name, "args": event.args}
        case GateDecision():
            plain |= {"id": event.id, "via": event.via, "decision": event.decision}
            _add(plain, reason=event.reason)
            plain["action"] = event.action.to_json()
        case ApprovalNeeded():
            plain |= {"id": event.id, "request_id": event.request_id, "action": event.action.to_json()}
            plain["expires_at_ms"] = round(event.expires_at * 1000)
            _add(plain, detail=event.detail)
        case ToolResult():
            plain |= {"id": event.id, "name": event.name, "ok": event.ok, "summary": event.summary}
            _add(plain, reason=event.reason, detail=event.detail, data=event.data)
        case Check():
            plain |= {"ok": event.ok, "checks": [line.to_json() for line in event.checks]}
            _add(plain, problem=event.problem)
        case Done():
            plain |= {"summary": event.summary, "check": event.check.to_json()}
            if event.settled:
                plain["settled"] = True
        case Blocked():
            plain |= {"reason": event.reason, "message": event.message}
            _add(plain, limit=event.limit)
            _add_in_flight(plain, event.in_flight)
        case Aborted():
            _add_in_flight(plain, event.in_flight)
    return plain


def event_from_json(obj: Mapping[str, Any]) -> LoopEvent:
    """The event that `event_to_json` wrote.

    Raises UsageError, naming the type or the field, for anything else.
    """
    if not isinstance(obj, Mapping):
        raise UsageError(f"not an event: {type(obj).__name__}; expected a JSON object")
    kind = obj.get("type")
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is None:
        raise UsageError(f"not an event: type {kind!r}; expected one of {', '.join(_READERS)}")
    fields = {key: value for key, value in obj.items() if key != "type"}
    try:
        return reader(fields)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as fault:
        raise UsageError(f"not a {kind!r} event: {fault}") from fault


def _add(plain: dict[str, Any], **optional: Any) -> None:
    plain.update({key: value for key, value in optional.items() if value is not None})


def _add_in_flight(plain: dict[str, Any], in_flight: InFlight | None) -> None:
    if in_flight is not None:
        plain["in_flight"] = in_flight.to_json()


def _action(plain: Mapping[str, Any]) -> Action:
    fields = dict(plain)
    amount = fields.pop("amount", None)
    return Action(**fields, amount=Money(**amount) if amount is not None else None)


def _check_result(plain: Mapping[str, Any]) -> CheckResult:
    return CheckResult(ok=plain["ok"], checks=_lines(plain["checks"]), problem=plain.get("problem"))


def _lines(plain: Any) -> tuple[CheckLine, ...]:
    return tuple(CheckLine(**line) for line in plain)


def _in_flight(fields: dict[str, Any]) -> dict[str, Any]:
    plain = fields.pop("in_flight", None)
    if plain is not None:
        state: EffectState = plain["effect"]["state"]
        effect = Effect(state=state, done=plain["effect"].get("done"))
        fields["in_flight"] = InFlight(call_id=plain["call_id"], name=plain["name"], effect=effect)
    return fields


def _plan(fields: dict[str, Any]) -> Plan:
    calls = tuple(PlannedCall(**call) for call in fields["calls"])
    return Plan(**{**fields, "calls": calls, "repairs": tuple(fields.get("repairs", ()))})


def _decision(fields: dict[str, Any]) -> GateDecision:
    return GateDecision(**{**fields, "action": _action(fields["action"])})


def _approval(fields: dict[str, Any]) -> ApprovalNeeded:
    expires_at = fields.pop("expires_at_ms") / 1000
    return ApprovalNeeded(**{**fields, "action": _action(fields["action"]), "expires_at": expires_at})


_READERS: dict[str, Callable[[dict[str, Any]], LoopEvent]] = {
    "plan": _plan,
    "tool-call": lambda fields: ToolCall(**fields),
    "decision": _decision,
    "approval-needed": _approval,
    "tool-result": lambda fields: ToolResult(**fields),
    "check": lambda fields: Check(**{**fields, "checks": _lines(fields["checks"])}),
    "done": lambda fields: Done(**{**fields, "check": _check_result(fields["check"])}),
    "blocked": lambda fields: Blocked(**_in_flight(fields)),
    "aborted": lambda fields: Aborted(**_in_flight(fields)),
}
