"""Driving the engine with what a trail recorded: the answers that each effect had, and the first place where it goes another way.

Pure. The engine asks, and `Recall.answer` reads the answer off the entries that follow: a decision's action is what `prepare` and
`domain` had given, a result is what the tool had returned, a stop is answered where the engine asks next. `Emit` and `Note` are
compared with the entries themselves. When the entries are used up, `Exhausted` says so, and whoever resumes goes on live.

What no record can hold is not compared: times, versions, ids of machines, values that the trail or a tool's `redact` masked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from ..actions import Action, Allow, Ask, CheckLine, CheckResult, Deny, Effect, Money, ToolOutput, closed_permit
from ..events import event_to_json
from ..guarding import Said
from ..ports import ChatReply, Usage
from ._budget import TokenUse
from ._effects import (
    OK,
    YES,
    Answer,
    AskGuards,
    AskHuman,
    AskPlanner,
    ClosePermit,
    Describe,
    Domain,
    Emit,
    EngineEffect,
    GateCheck,
    GateRedeem,
    Interrupted,
    Limit,
    Note,
    Ok,
    Prepare,
    Raised,
    Redact,
    Retry,
    RunCheck,
    RunTool,
    Settled,
    Stop,
    ToolEnd,
    TrailFailed,
    Turn,
    Unreadable,
)
from ._engine import FIRST_READ_ID
from ._guarded import Guards, said_from_json
from ._recorded import REDACTED, STOPS, Recorded, RecordedRun, effect_of, is_guard_note, mapping_of, record_of, unfit
from ._redaction import MASK, WITHHELD

UNCOMPARED: Final = frozenset(
    {"run", "versions", "boot", "resumes", "repairs", "record.work_ms", "record.human_ms", "record.usage.estimated"}
)
"""Paths of fields that differ from run to run, or that reading a recorded reply again cannot give (its repairs are made)."""
ROOM: Final = frozenset(
    {"options.max_steps", "options.budget", "options.cancel_grace", "options.trail_timeout", "options.on_approval"}
)
"""Options that a run may go on with otherwise: they give room, and change nothing about what was done."""


@attrs.frozen(kw_only=True)
class Replayed:
    """The engine went the recorded way, from `loop.start` to the last entry. `entries` is how many were compared.

    `finished` is False when the trail ends before the run does. Truthy.
    """

    run: str
    entries: int
    finished: bool

    def __bool__(self) -> bool:
        return True


@attrs.frozen(kw_only=True)
class Difference:
    """The first place where the engine went another way than the trail. Falsy.

    `seq` is the entry's place in the trail, `kind` its kind, `path` the field that differs, `recorded` and `got` its two values
    (None when there is none), `message` all of it in a sentence, with the versions when they differ too.
    """

    run: str
    seq: int
    kind: str
    path: str
    recorded: Any
    got: Any
    message: str

    def __bool__(self) -> bool:
        return False


class Differs(Exception):
    def __init__(self, recorded: Recorded, path: str, was: Any, got: Any) -> None:
        super().__init__(path)
        self.recorded, self.path, self.was, self.got = recorded, path, was, got


class Exhausted(Exception):
    """The entries are used up; the engine waits for an answer to this effect."""

    def __init__(self, effect: EngineEffect[Any]) -> None:
        self.effect = effect


class Recall:
    """The entries of one run and of the runs that it resumes, and how far the engine has come in them."""

    def __init__(self, recorded: RecordedRun, *, going_on: bool, guards: Guards | None = None) -> None:
        """`going_on`: the engine goes on after the entries, with options that may give more room, and from a call that is open.
        `guards` are the engine's."""
        self._guards = guards
        self.entries: Sequence[Recorded] = recorded.entries
        self._going_on = going_on
        self._masked = recorded.masked
        self._lenient = len(recorded.entries) if going_on else recorded.earlier
        self._skipped = UNCOMPARED | (ROOM if going_on else set())
        if recorded.masked:
            self._skipped |= {"record.args_digest"}
        if recorded.redacted:
            self._skipped |= {"record.shown"}
        self._open = going_on and recorded.has_open_call
        self._at = 0
        self._call: str | None = None
        self._cost = 0

    @property
    def compared(self) -> int:
        return self._at

    @property
    def last(self) -> Recorded:
        """The entry that was reached."""
        return self.entries[min(self._at, len(self.entries) - 1)]

    @property
    def ended(self) -> bool:
        return self._at >= len(self.entries)

    @property
    def has_first_read(self) -> bool:
        """Whether the first read was tried, as far as the entries go."""
        first = next((entry for entry in self.entries[1:] if entry.kind != "loop.guard"), None)
        return first is None or first.kind == "loop.tool-call"

    def answer(self, effect: EngineEffect[Any]) -> Answer:
        """What this effect was answered with.

        Raises Differs or Exhausted, and UsageError for an entry that cannot be read.
        """
        entry = self._after(0)
        if entry is not None and self._began_anew(effect, entry):
            entry = self._after(0)
        if entry is None:
            raise Exhausted(effect)
        try:
            return self._answer(effect, entry)
        except KeyError as fault:
            raise unfit(self.last, f"the field {fault} is missing") from fault
        except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError, RecursionError) as fault:
            raise unfit(self.last, f"{type(fault).__name__}: {fault}") from fault

    def _answer(self, effect: EngineEffect[Any], entry: Recorded) -> Answer:
        if isinstance(effect, Emit):
            return self._emitted(effect, entry)
        if isinstance(effect, Note):
            return self._noted(effect, entry)
        if isinstance(effect, ClosePermit):
            return OK
        if _is_trail_failed(entry):
            return _on_the_way_to_a_lost_record(effect)
        noted = entry if entry.kind == "loop.effect" else None
        end = self._after(1) if noted is not None else entry
        if noted is not None and end is None and not (isinstance(effect, Turn) and noted.data["state"] != "not-started"):
            raise Exhausted(effect)  # how the call ended is not on record any more
        stop = self._stopped(effect, noted, end) if end is not None else None
        return stop if stop is not None else self._value(effect, entry, end)

    def _began_anew(self, effect: EngineEffect[Any], entry: Recorded) -> bool:
        """Take up what the guards said when a run went on from here: it holds from here on."""
        at_start = (isinstance(effect, AskGuards) and effect.moment == "on_run_start") or (
            isinstance(effect, Note) and effect.data.get("moment") == "on_run_start"
        )
        if self._at == 0 or at_start or not is_guard_note(entry, "on_run_start"):
            return False
        if self._guards is None:
            raise Differs(entry, "kind", entry.kind, None)
        try:
            self._guards.take_up(said_from_json(entry.data))
        except (KeyError, TypeError, AttributeError, ValueError) as fault:
            raise unfit(entry, f"{type(fault).__name__}: {fault}") from fault
        self._at += 1
        return True

    # What was said

    def _emitted(self, effect: Emit, entry: Recorded) -> Answer:
        plain = event_to_json(effect.event)
        kind = f"loop.{plain.pop('type')}"
        if _is_trail_failed(entry) and plain.get("reason") != "trail-failed":
            return TrailFailed(str(entry.data.get("message")))
        self._compare(entry, kind, {**plain, "record": dict(effect.record)})
        later = self._after(0)
        if later is not None and self._began_anew(effect, later):
            later = self._after(0)
        if kind == "loop.tool-call":
            self._call = str(plain["id"])
            gap = self._gap(later) if later is not None else None
            if gap is not None:
                return gap
            if later is None and self._open:
                raise Exhausted(effect)
        # A stop that came while the consumer held this event.
        if later is not None and kind not in STOPS and "in_flight" not in later.data:
            if later.kind == "loop.aborted":
                return _stop(later, None)
            if _limit(later) == "seconds":
                return Limit("seconds")
        return OK

    def _noted(self, effect: Note, entry: Recorded) -> Answer:
        if entry.kind != effect.kind:
            if not effect.essential:
                return OK  # it could not be written
            if _is_trail_failed(entry):
                return TrailFailed(str(entry.data.get("message")))
        self._compare(entry, effect.kind, effect.data)
        later = self._after(0)
        # An abort is seen once the note is on record; after the last note of a run it changes nothing.
        if later is not None and later.kind == "loop.aborted" and effect.kind != "loop.effect":
            return _stop(later, None)
        return OK

    def _compare(self, entry: Recorded, kind: str, data: Mapping[str, Any]) -> None:
        if entry.kind != kind:
            raise Differs(entry, "kind", entry.kind, kind)
        if not (self._masked and kind == "loop.observation"):
            difference = self._difference(entry.data, data, "")
            if difference is not None:
                raise Differs(entry, *difference)
        self._at += 1

    def _difference(self, was: Any, got: Any, path: str) -> tuple[str, Any, Any] | None:
        """The first field that differs, by its path, with both values. What was masked equals anything."""
        if self._masked and isinstance(was, str) and (WITHHELD in was or MASK in was):
            return None
        if self._masked and isinstance(got, str) and REDACTED in got:
            return None
        if isinstance(was, Mapping) and isinstance(got, Mapping):
            for key in [*was, *(key for key in got if key not in was)]:
                here = f"{path}.{key}" if path else str(key)
                if here not in self._skipped:
                    found = self._difference(was.get(key), got.get(key), here)
                    if found is not None:
                        return found
            return None
        if isinstance(was, list) and isinstance(got, list | tuple) and len(was) == len(got):
            for index, (one, other) in enumerate(zip(was, got, strict=True)):
                found = self._difference(one, other, f"{path}[{index}]")
                if found is not None:
                    return found
            return None
        return None if was == got and isinstance(was, bool) == isinstance(got, bool) else (path, was, got)

    # What it was told

    def _gap(self, later: Recorded) -> Interrupted | None:
        """What a run that went on from here made of a call that had no result."""
        if later.kind != "loop.tool-result" or later.data.get("id") != self._call:
            return None
        record, reason = record_of(later), later.data.get("reason")
        if reason == "in-doubt" and "interrupted" in record:
            effect = effect_of(later, mapping_of(later, record.get("effect"), "record.effect"))
            return Interrupted(effect, str(record["interrupted"]))
        if reason == "skipped" and self._at < self._lenient:
            # The budget of calls was used up here, and a larger one was given since. The call stays what the planner was told.
            return Interrupted(Effect(state="not-started"), "", skipped=str(later.data["summary"]))
        return None

    def _stopped(self, effect: EngineEffect[Any], noted: Recorded | None, end: Recorded) -> Answer | None:
        """The stop that came next, when this is where the engine could have met it."""
        flight = end.data.get("in_flight")
        if flight is not None and not isinstance(effect, RunTool):
            return None  # a tool began before it
        tool = None
        if noted is not None:
            state = noted.data["state"]
            if isinstance(effect, Turn) and state != "not-started":
                return None  # it began after this turn
            tool = ToolEnd(effect=effect_of(noted, noted.data), error=noted.data.get("error"))
            late = noted.data.get("late")
            if late is not None:
                tool.output = ToolOutput(ok=late["ok"], summary=late["summary"])
        elif flight is not None:
            tool = ToolEnd(effect=effect_of(end, flight["effect"]))
        if end.kind == "loop.aborted" or (noted is not None and _is_trail_failed(end)):  # a stop whose record was lost
            return _stop(end, tool)
        limit = _limit(end)
        if limit == "seconds" or (limit == "planner_seconds" and isinstance(effect, AskPlanner)):
            return Limit(limit, tool)
        if noted is not None and end.kind == "loop.tool-result" and isinstance(effect, RunTool):
            return Limit("approval_seconds" if effect.tool.human else "tool_seconds", self._timed_out(end, tool))
        return None

    def _timed_out(self, result: Recorded, tool: ToolEnd | None) -> ToolEnd:
        tool = tool or ToolEnd(effect=_effect(result))
        if self._at < self._lenient:
            tool.words = self._summary(result)  # the limit was another one
        return tool

    def _value(self, effect: EngineEffect[Any], entry: Recorded, end: Recorded | None) -> Answer:
        """`entry` comes next, and `end` after a note of an effect."""
        blocked = end.data.get("reason") if end is not None and end.kind == "loop.blocked" else None
        message = str(end.data.get("message", "")) if end is not None else ""
        match effect:
            case Turn(kind=kind):
                if blocked == "browser-lost":
                    return Raised(message, "BrowserError")
                if kind == "approval" and blocked == "approval-expired":
                    return Limit(_limit(end) or "expires_at")
                again = end is not None and end.kind == "loop.decision" and end.data["via"] == "check"
                lapsed = blocked == "gate-deny" and message.startswith("expired: ")
                # Leave for the first read that had lapsed: the run goes on without it.
                gone = end is not None and end.kind in ("loop.observation", "loop.guard") and entry.kind == "loop.effect"
                return Ok(False) if kind == "tool" and (again or lapsed or gone) else YES
            case AskPlanner():
                if blocked == "model-error":
                    return Raised(message, "PlannerError")
                return self._reply(entry)
            case AskGuards():
                return Ok(_said(effect, entry))
            case Redact(args=args):
                return Ok(args)  # they are in the trail as they may be shown
            case Prepare() | Domain():
                return self._prepared(effect, entry)
            case Describe():
                if blocked == "approval-error":
                    return Raised(message, "Exception")
                return Ok(entry.data.get("detail") or "")
            case GateCheck() | GateRedeem():
                if blocked == "gate-error":
                    return Raised(message, "GateError")
                return self._decision(entry)
            case Retry():
                learned = entry.kind == "loop.tool-result" and entry.data.get("reason") == "gate-deny"
                return Ok(learned or message.endswith(" denials in a row)"))
            case AskHuman():
                if blocked == "approval-expired":
                    return Limit(_limit(end) or "expires_at")
                if blocked == "approval-error":
                    return Raised(message, "Exception")
                return Ok(None if blocked == "approval-denied" else "recalled")
            case RunTool():
                return self._result(effect, entry)
            case RunCheck():
                self._expect(entry, "loop.check")
                return Ok(_verdict(entry.data))
            case _:
                raise AssertionError(f"a recall cannot answer {effect!r}")

    def _reply(self, entry: Recorded) -> Answer:
        if entry.kind == "loop.check":
            return Ok(Settled(summary=str(record_of(entry)["summary"]), check=_verdict(entry.data)))
        self._expect(entry, "loop.plan")
        data, record = entry.data, record_of(entry)
        used = mapping_of(entry, record["usage"], "record.usage")
        inbound, outbound, cost = used["input_tokens"], used["output_tokens"], self._cost_of(record)
        if data.get("problem") is not None:
            use = TokenUse(input_tokens=inbound, output_tokens=outbound, estimated=bool(used.get("estimated")))
            return Ok(Unreadable(problem=str(data["problem"]), use=use, cost=cost))
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["args"]}}
            for call in data["calls"]
        ]
        usage = Usage(input_tokens=inbound, output_tokens=outbound, cost=cost)
        message = {"role": "assistant", "content": data["text"], **({"tool_calls": calls} if calls else {})}
        return Ok(ChatReply(message=message, usage=usage, provider=data.get("provider"), tier=data.get("tier")))

    def _cost_of(self, record: Mapping[str, Any]) -> Money | None:
        """What this reply had cost, out of the sum that is on record."""
        total = record.get("cost")
        if total is None or record.get("cost_unknown"):
            return None
        cost, self._cost = Money(value=total["value"] - self._cost, currency=total["currency"]), total["value"]
        return cost

    def _prepared(self, effect: Prepare | Domain, entry: Recorded) -> Answer:
        """What `prepare` or `domain` gave, out of the action that was then judged; or that it raised."""
        call = self._call if effect.ctx.step or self._call else FIRST_READ_ID
        result = entry.kind == "loop.tool-result" and entry.data.get("id") == call
        if result and entry.data.get("reason") == "invalid-args":
            if isinstance(effect, Domain) and effect.tool.prepare is not None and entry.data.get("detail") is None:
                return Raised(self._summary(entry), "Refuse", refused=True)
            detail = entry.data.get("detail")
            return Raised(str(detail) if detail is not None else self._summary(entry), "Exception", refused=detail is None)
        for later in self.entries[self._at :]:
            if later.kind == "loop.observation":
                break
            if later.kind == "loop.decision" and later.data.get("id") == call:
                action = later.data["action"]
                return Ok(self._args(action["args"])) if isinstance(effect, Prepare) else Ok(str(action["domain"]))
        if call == FIRST_READ_ID and entry.kind != "loop.tool-call":
            return Raised("it was skipped", "Exception")
        return Ok(effect.args) if isinstance(effect, Prepare) else Ok("unknown")

    def _decision(self, entry: Recorded) -> Answer:
        self._expect(entry, "loop.decision")
        record = record_of(entry)
        rule = record.get("rule_id")
        match entry.data["decision"]:
            case "allow":
                allowed = mapping_of(entry, record["allowed"], "record.allowed")
                amount = allowed.get("amount")
                given = Action(
                    tool=allowed["tool"],
                    args=self._args(allowed["args"]),
                    domain=allowed["domain"],
                    scope=allowed["scope"],
                    amount=Money(**amount) if amount is not None else None,
                )
                return Ok(Allow(grant_id=record["grant_id"], permit=closed_permit(given), rule_id=rule))
            case "ask":
                expires_at = record["expires_at_ms"] / 1000
                return Ok(
                    Ask(grant_id=record["grant_id"], request_id=record.get("request_id"), expires_at=expires_at, rule_id=rule)
                )
            case "deny":
                return Ok(Deny(reason=record["reason"], message=record["message"], rule_id=rule))
            case other:
                raise ValueError(f"the decision is {other!r:.80}")

    def _args(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping):
            return dict(value)
        if self._masked and isinstance(value, str) and WITHHELD in value:
            return {}
        raise TypeError("the arguments are no object")

    def _result(self, effect: RunTool, entry: Recorded) -> Answer:
        self._expect(entry, "loop.tool-result")
        data, record = entry.data, record_of(entry)
        known = _effect(entry)
        if data.get("reason") == "timeout":  # the note of its effect could not be written
            return Limit("approval_seconds" if effect.tool.human else "tool_seconds", self._timed_out(entry, None))
        if data.get("reason") == "tool-error":
            detail = data.get("detail")
            words = str(detail) if detail is not None else self._summary(entry)
            return Raised(words, "Exception", refused=detail is None, tool=ToolEnd(effect=known))
        if not isinstance(data["ok"], bool) or not isinstance(data["summary"], str):
            raise TypeError("ok or summary is none")
        check = record.get("check")
        output = ToolOutput(
            ok=data["ok"],
            summary=self._summary(entry),
            data=data.get("data"),
            check=_verdict(check) if check is not None else None,
            stop_batch=bool(record.get("stop_batch")),
        )
        shown, seen = record["shown"], record.get("seen")
        if not isinstance(shown, str) or not isinstance(seen, str | None):
            raise TypeError("record.shown or record.seen is no text")
        return Ok(ToolEnd(output=output, effect=known, shown=shown, seen=seen))

    def _summary(self, result: Recorded) -> str:
        """A result's summary, without the remarks of guards that stand in front of it."""
        summary = str(result.data["summary"])
        for entry in reversed(self.entries[: self._at]):
            if entry.kind == "loop.tool-call":
                break
            if is_guard_note(entry, "before_tool", self._call):
                remarks = mapping_of(entry, entry.data["said"], "said").get("remarks", ())
                return summary.removeprefix("\n".join((*remarks, "")))
        return summary

    # For calls whose arguments are masked

    def examined(self, call_id: str) -> bool:
        """Whether this call was looked at, or ended the run because it was one too many of its kind."""
        entry = self._after(0)
        return entry is None or entry.kind != "loop.blocked"

    def verdict(self, call_id: str) -> tuple[Any, str] | None:
        """Why a call was refused, when its arguments are masked and cannot be checked again; None when it was not."""
        entry, result = self._after(0), self._after(1)
        if entry is None or entry.kind != "loop.tool-call":
            return None
        verdict = record_of(entry).get("verdict")
        words = str(result.data.get("summary", "")) if result is not None else ""
        return None if verdict in (None, "ok") else (verdict, words)

    # The entries

    def _after(self, count: int) -> Recorded | None:
        at = self._at + count
        return self.entries[at] if at < len(self.entries) else None

    def _expect(self, entry: Recorded, kind: str) -> None:
        if entry.kind != kind:
            raise Differs(entry, "kind", entry.kind, kind)


def _is_trail_failed(entry: Recorded) -> bool:
    return entry.kind == "loop.blocked" and entry.data.get("reason") == "trail-failed"


def _said(effect: AskGuards, entry: Recorded) -> Said:
    """What the guards said, which their note tells: it comes next. Where they said nothing there is none."""
    call = effect.args[0] if effect.moment in ("before_tool", "after_tool") else None
    if not is_guard_note(entry, effect.moment, call.id if call is not None else None):
        return Said()
    return said_from_json(entry.data, call if effect.moment == "before_tool" else None)


def _on_the_way_to_a_lost_record(effect: EngineEffect[Any]) -> Answer:
    """Anything that leads to the next record, which is the one that was lost."""
    match effect:
        case Turn():
            return YES
        case Redact(args=args) | Prepare(args=args):
            return Ok(args)
        case Domain():
            return Ok("unknown")
        case Describe():
            return Ok("")
        case AskGuards():
            return Ok(Said())
        case _:
            return Raised("what it gave could not be put on record", "TrailError")


def _stop(end: Recorded, tool: ToolEnd | None) -> Stop:
    record = record_of(end)
    if tool is None and record.get("error") is not None:
        tool = ToolEnd(error=str(record["error"]))
    return Stop(record.get("cause", "abort"), tool)


def _effect(entry: Recorded) -> Effect | None:
    effect = record_of(entry).get("effect")
    return effect_of(entry, mapping_of(entry, effect, "record.effect")) if effect is not None else None


def _limit(entry: Recorded | None) -> Any:
    return entry.data.get("limit") if entry is not None and entry.kind == "loop.blocked" else None


def _verdict(plain: Mapping[str, Any]) -> CheckResult:
    return CheckResult(ok=plain["ok"], checks=[CheckLine(**line) for line in plain["checks"]], problem=plain.get("problem"))
