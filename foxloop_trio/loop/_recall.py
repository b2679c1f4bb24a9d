"""Driving the engine with what a trail recorded: the answers that each effect had, and the first place where it goes another way.

Pure. The engine asks, and `Recall.answer` reads the answer off the entries that follow: a decision's action is what `prepare` and
`domain` had given, a result is what the tool had returned, a stop is answered where the engine asks next. `Emit` and `Note` are
compared with the entries themselves. When the entries are used up, `Exhausted` says so, and whoever resumes goes on live.

What no record can hold is not compared: times, versions, ids of machines, values that the trail or a tool's `redact` masked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from ..actions import Action, Allow, Ask, CheckLine, CheckResult, Deny, Effect, Money, ToolOutput, closed_permit
from ..errors import UsageError
from ..events import event_to_json
from ..ports import ChatReply, Usage
from ._budget import TokenUse
from ._effects import (
    OK,
    YES,
    Answer,
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

STOPS: Final = frozenset({"loop.done", "loop.blocked", "loop.aborted"})
ASIDE: Final = frozenset({"loop.late-tool", "loop.settle-error", "loop.permit-error"})
"""Notes of the driver; the engine knows nothing of them."""
UNCOMPARED: Final = frozenset({"run", "work_ms", "human_ms", "versions", "boot", "resumes", "repairs", "estimated"})
"""Fields that differ from run to run, or that reading a recorded reply again cannot give (its repairs are made)."""
WITHHELD: Final = "[withheld: "


@attrs.frozen(kw_only=True)
class Recorded:
    """One entry of a run, as far as a recall needs it. `seq` is its place in the trail."""

    seq: int
    kind: str
    data: Mapping[str, Any]


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

    `seq` is the entry's place in the trail (None when the engine went on where the trail had stopped), `path` the field that
    differs, `recorded` and `got` its two values, `message` all of it in a sentence, with the versions when they differ too.
    """

    run: str
    seq: int | None
    kind: str
    path: str
    recorded: Any
    got: Any
    message: str

    def __bool__(self) -> bool:
        return False


class Differs(Exception):
    def __init__(self, recorded: Recorded | None, path: str, was: Any, got: Any) -> None:
        super().__init__(path)
        self.recorded, self.path, self.was, self.got = recorded, path, was, got


class Exhausted(Exception):
    """The entries are used up; the engine waits for an answer to this effect."""

    def __init__(self, effect: EngineEffect[Any]) -> None:
        self.effect = effect


class Recall:
    """The entries of one run and of the runs that it resumes, and how far the engine has come in them."""

    def __init__(self, entries: Sequence[Recorded], *, masked: bool, options: bool = True) -> None:
        """`masked`: the run's tools hide values, so that texts cannot be compared. `options`: whether they must be the same."""
        self.entries = [entry for entry in entries if entry.kind not in ASIDE]
        self._masked = masked
        self._skipped = UNCOMPARED | ({"args_digest"} if masked else set()) | (set() if options else {"options"})
        self._at = 0
        self._call: str | None = None
        self._cost = 0

    @property
    def compared(self) -> int:
        return self._at

    def answer(self, effect: EngineEffect[Any]) -> Answer:
        """What this effect was answered with; raises Differs or Exhausted."""
        entry = self.entries[self._at] if self._at < len(self.entries) else None
        if entry is None:
            raise Exhausted(effect)
        if isinstance(effect, Emit):
            return self._emitted(effect, entry)
        if isinstance(effect, Note):
            self._compare(entry, effect.kind, effect.data)
            return OK
        if isinstance(effect, ClosePermit):
            return OK
        stop = self._stopped(effect, entry)
        if stop is not None:
            return stop
        if entry.kind == "loop.tool-result" and entry.data.get("reason") == "in-doubt" and not isinstance(effect, Turn):
            return Interrupted(_effect(entry) or Effect(state="unknown"), str(_record(entry).get("interrupted") or ""))
        return self._value(effect, entry)

    # What was said

    def _emitted(self, effect: Emit, entry: Recorded) -> Answer:
        plain = event_to_json(effect.event)
        kind = f"loop.{plain.pop('type')}"
        if entry.kind == "loop.blocked" and entry.data.get("reason") == "trail-failed" and kind != entry.kind:
            return TrailFailed(str(entry.data.get("message")))
        self._compare(entry, kind, {**plain, "record": dict(effect.record)})
        if kind == "loop.tool-call":
            self._call = str(plain["id"])
        # A stop that came while the consumer held this event.
        later = self.entries[self._at] if self._at < len(self.entries) else None
        if later is not None and kind not in STOPS:
            if later.kind == "loop.aborted":
                return Stop(later.data["record"].get("cause", "abort"))
            if _limit(later) == "seconds" and kind != "loop.check":
                return Limit("seconds")
        return OK

    def _compare(self, entry: Recorded, kind: str, data: Mapping[str, Any]) -> None:
        if entry.kind != kind:
            raise Differs(entry, "kind", entry.kind, kind)
        if not (self._masked and kind in ("loop.observation", "loop.start")):
            difference = _first_difference(entry.data, data, "", self._skipped)
            if difference is not None:
                raise Differs(entry, *difference)
        self._at += 1

    # What it was told

    def _stopped(self, effect: EngineEffect[Any], entry: Recorded) -> Answer | None:
        """The stop that came next, when this is where the engine could have met it."""
        noted = entry if entry.kind == "loop.effect" else None
        end = self._after(1) if noted is not None else entry
        if end is None:
            return None
        tool = None
        if noted is not None:
            state = noted.data["state"]
            if isinstance(effect, Turn) and state != "not-started":
                return None  # it began after this turn
            tool = ToolEnd(effect=Effect(state=state, done=noted.data.get("done")), error=noted.data.get("error"))
            late = noted.data.get("late")
            if late is not None:
                tool.output = ToolOutput(ok=late["ok"], summary=late["summary"])
        if end.kind == "loop.aborted":
            return Stop(end.data["record"].get("cause", "abort"), tool)
        limit = _limit(end)
        if limit == "seconds" or (limit == "planner_seconds" and isinstance(effect, AskPlanner)):
            return Limit(limit, tool)
        if noted is not None and end.kind == "loop.tool-result" and isinstance(effect, RunTool):
            return Limit("approval_seconds" if effect.tool.human else "tool_seconds", tool)
        return None

    def _value(self, effect: EngineEffect[Any], entry: Recorded) -> Answer:
        blocked = entry.data.get("reason") if entry.kind == "loop.blocked" else None
        message = str(entry.data.get("message", ""))
        match effect:
            case Turn(kind=kind):
                if blocked == "browser-lost":
                    return Raised(message, "BrowserError")
                if kind == "approval" and blocked == "approval-expired":
                    return Limit(_limit(entry) or "expires_at")
                again = entry.kind == "loop.decision" and entry.data["via"] == "check"
                lapsed = blocked == "gate-deny" and message.startswith("expired: ")
                return Ok(False) if kind == "tool" and (again or lapsed) else YES
            case AskPlanner():
                if blocked == "model-error":
                    return Raised(message, "PlannerError")
                return self._reply(entry)
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
                return self._decision(effect.action, entry)
            case Retry():
                learned = entry.kind == "loop.tool-result" and entry.data.get("reason") == "gate-deny"
                return Ok(learned or message.endswith(" denials in a row)"))
            case AskHuman():
                if blocked == "approval-expired":
                    return Limit(_limit(entry) or "expires_at")
                return Raised(message, "Exception") if blocked == "approval-error" else Ok(None if blocked else "recalled")
            case RunTool():
                return self._result(effect, entry)
            case RunCheck():
                self._expect(entry, "loop.check")
                return Ok(_verdict(entry.data))
            case _:
                raise AssertionError(f"a recall cannot answer {effect!r}")

    def _reply(self, entry: Recorded) -> Answer:
        if entry.kind == "loop.check":
            return Ok(Settled(summary=_record(entry)["summary"], check=_verdict(entry.data)))
        self._expect(entry, "loop.plan")
        data, record = entry.data, _record(entry)
        used = record["usage"]
        if data.get("problem") is not None:
            use = TokenUse(
                input_tokens=used["input_tokens"], output_tokens=used["output_tokens"], estimated=bool(used.get("estimated"))
            )
            return Ok(Unreadable(problem=data["problem"], use=use))
        cost = None
        total = record.get("cost")
        if total is not None:
            cost, self._cost = Money(value=total["value"] - self._cost, currency=total["currency"]), total["value"]
        calls = [
            {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["args"]}}
            for call in data["calls"]
        ]
        usage = Usage(input_tokens=used["input_tokens"], output_tokens=used["output_tokens"], cost=cost)
        message = {"role": "assistant", "content": data["text"], **({"tool_calls": calls} if calls else {})}
        return Ok(ChatReply(message=message, usage=usage, provider=data.get("provider"), tier=data.get("tier")))

    def _prepared(self, effect: Prepare | Domain, entry: Recorded) -> Answer:
        """What `prepare` or `domain` gave, out of the action that was then judged; or that it raised."""
        call = self._call if effect.ctx.step or self._call else "first_read"
        result = entry.kind == "loop.tool-result" and entry.data["id"] == call
        if result and entry.data.get("reason") == "invalid-args":
            if isinstance(effect, Domain) and effect.tool.prepare is not None and entry.data.get("detail") is None:
                return Raised(str(entry.data["summary"]), "Refuse", refused=True)
            detail = entry.data.get("detail")
            return Raised(str(detail if detail is not None else entry.data["summary"]), "Exception", refused=detail is None)
        for later in self.entries[self._at :]:
            if later.kind == "loop.decision" and later.data["id"] == call:
                action = later.data["action"]
                return Ok(dict(action["args"])) if isinstance(effect, Prepare) else Ok(action["domain"])
        if call == "first_read" and entry.kind != "loop.tool-call":
            return Raised("it was skipped", "Exception")
        return Ok(effect.args) if isinstance(effect, Prepare) else Ok("unknown")

    def _decision(self, action: Action, entry: Recorded) -> Answer:
        if entry.kind == "loop.tool-result" and entry.data.get("reason") == "skipped":
            # The budget of calls was used up here, and a larger one was given since. The call stays what the planner was told.
            return Interrupted(Effect(state="not-started"), "", skipped=str(entry.data["summary"]))
        self._expect(entry, "loop.decision")
        record = _record(entry)
        rule = record.get("rule_id")
        match entry.data["decision"]:
            case "allow":
                allowed = record["allowed"]
                amount = allowed.get("amount")
                given = Action(
                    tool=allowed["tool"],
                    args=allowed["args"],
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
            case _:
                return Ok(Deny(reason=record["reason"], message=record["message"], rule_id=rule))

    def _result(self, effect: RunTool, entry: Recorded) -> Answer:
        self._expect(entry, "loop.tool-result")
        data, record = entry.data, _record(entry)
        known = _effect(entry)
        if data.get("reason") == "tool-error":
            detail = data.get("detail")
            words = str(detail if detail is not None else data["summary"])
            return Raised(words, "Exception", refused=detail is None, tool=ToolEnd(effect=known))
        check = record.get("check")
        output = ToolOutput(
            ok=data["ok"],
            summary=data["summary"],
            data=data.get("data"),
            check=_verdict(check) if check is not None else None,
            stop_batch=bool(record.get("stop_batch")),
        )
        return Ok(ToolEnd(output=output, effect=known, shown=record["shown"], seen=record.get("seen")))

    # The entries

    def verdict(self, call_id: str) -> tuple[Any, str] | None:
        """Why a call was refused, when its arguments are masked and cannot be checked again; None when it was not."""
        for index in range(self._at, len(self.entries)):
            entry = self.entries[index]
            if entry.kind == "loop.tool-call" and entry.data["id"] == call_id:
                verdict = _record(entry).get("verdict")
                result = self.entries[index + 1] if index + 1 < len(self.entries) else None
                words = str(result.data.get("summary", "")) if result is not None else ""
                return None if verdict in (None, "ok") else (verdict, words)
        return None

    def _after(self, count: int) -> Recorded | None:
        at = self._at + count
        return self.entries[at] if at < len(self.entries) else None

    def _expect(self, entry: Recorded, kind: str) -> None:
        if entry.kind != kind:
            raise Differs(entry, "kind", entry.kind, kind)


def _record(entry: Recorded) -> Mapping[str, Any]:
    record = entry.data.get("record")
    return record if isinstance(record, Mapping) else {}


def _effect(entry: Recorded) -> Effect | None:
    effect = _record(entry).get("effect")
    return Effect(state=effect["state"], done=effect.get("done")) if effect is not None else None


def _limit(entry: Recorded) -> Any:
    return entry.data.get("limit") if entry.kind == "loop.blocked" else None


def _verdict(plain: Mapping[str, Any]) -> CheckResult:
    return CheckResult(ok=plain["ok"], checks=[CheckLine(**line) for line in plain["checks"]], problem=plain.get("problem"))


def _first_difference(was: Any, got: Any, path: str, skipped: frozenset[str]) -> tuple[str, Any, Any] | None:
    """The first field that differs, by its path, with both values. What was masked equals anything."""
    if isinstance(was, Mapping) and was.keys() == {"$redacted"}:
        return None
    if isinstance(was, str) and isinstance(got, str) and (was == got or WITHHELD in was or "•••" in was):
        return None
    if isinstance(was, Mapping) and isinstance(got, Mapping):
        for key in [*was, *(key for key in got if key not in was)]:
            if key not in skipped:
                here = f"{path}.{key}" if path else str(key)
                found = _first_difference(was.get(key), got.get(key), here, skipped)
                if found is not None:
                    return found
        return None
    if isinstance(was, list) and isinstance(got, list | tuple) and len(was) == len(got):
        for index, (one, other) in enumerate(zip(was, got, strict=True)):
            found = _first_difference(one, other, f"{path}[{index}]", skipped)
            if found is not None:
                return found
        return None
    return None if was == got and isinstance(was, bool) == isinstance(got, bool) else (path, was, got)


# Finding a run among the entries of a trail


@attrs.frozen(kw_only=True)
class RecordedRun:
    """The entries of one run and of those that it goes on from, without what a resumed run had left behind."""

    run: str
    start: Mapping[str, Any]
    entries: tuple[Recorded, ...]
    masked: bool

    @property
    def stop(self) -> Recorded | None:
        return self.entries[-1] if self.entries and self.entries[-1].kind in STOPS else None

    def seconds(self) -> tuple[float, float]:
        """Seconds of work and of people, as the last event's record has them."""
        for entry in reversed(self.entries):
            record = _record(entry)
            if "work_ms" in record:
                return record["work_ms"] / 1000, record["human_ms"] / 1000
        return 0.0, 0.0

    @property
    def has_open_call(self) -> bool:
        """Whether a call got no result."""
        return _open_call(self.entries) >= 0

    def open_end(self) -> RecordedRun:
        """Without the stop, and without what is left of a call that got no result, so that the engine can go on from there."""
        entries = list(self.entries)
        if entries and entries[-1].kind in STOPS:
            entries.pop()
        entries = entries[: _open_call(entries) + 1] if _open_call(entries) >= 0 else entries
        return attrs.evolve(self, entries=tuple(entries))

    def in_doubt(self) -> Interrupted:
        """What is known of the call that got no result."""
        at = _open_call(self.entries)
        after = self.entries[at + 1 :] if at >= 0 else ()
        effects = [entry.data for entry in after if entry.kind == "loop.effect"]
        allowed = [entry.data for entry in after if entry.kind == "loop.decision" and entry.data["decision"] == "allow"]
        domain = str(allowed[-1]["action"]["domain"]) if allowed else ""
        if effects:
            return Interrupted(Effect(state=effects[-1]["state"], done=effects[-1].get("done")), domain)
        return Interrupted(Effect(state="unknown" if allowed else "not-started"), domain)


def _open_call(entries: Sequence[Recorded]) -> int:
    """The place of the last `tool-call` when no result followed it; -1 when one did, or there was none."""
    for at in range(len(entries) - 1, -1, -1):
        if entries[at].kind == "loop.tool-result":
            return -1
        if entries[at].kind == "loop.tool-call":
            return at
    return -1


def find_run(entries: Iterable[Any], run: str | None) -> RecordedRun:
    """The entries of one run: of `run`, or of the last one. Takes `Entry` objects or mappings like them.

    Raises UsageError when there is no such run, or its beginning is missing.
    """
    by_run: dict[str, list[Recorded]] = {}
    for entry in entries:
        kind, data = entry["kind"], entry["data"]
        if isinstance(kind, str) and kind.startswith("loop.") and isinstance(data, Mapping) and isinstance(data.get("run"), str):
            by_run.setdefault(data["run"], []).append(Recorded(seq=entry["seq"], kind=kind, data=data))
    if not by_run:
        raise UsageError("there is no run in these entries; give those of a trail that a Loop wrote")
    wanted = run if run is not None else list(by_run)[-1]
    if wanted not in by_run:
        raise UsageError(f"there is no run {wanted!r} in these entries; there are: {', '.join(by_run)}")
    return _whole_run(by_run, wanted, frozenset())


def _whole_run(by_run: Mapping[str, list[Recorded]], run: str, seen: frozenset[str]) -> RecordedRun:
    own = by_run.get(run, [])
    if not own or own[0].kind != "loop.start" or run in seen:
        raise UsageError(f"the beginning of run {run!r} is not in these entries; give the whole trail")
    start = own[0].data
    masked = str(start.get("goal", "")).startswith(WITHHELD)
    before = start.get("resumes")
    if not isinstance(before, str):
        return RecordedRun(run=run, start=start, entries=tuple(own), masked=masked)
    earlier = _whole_run(by_run, before, seen | {run}).open_end()
    return RecordedRun(run=run, start=start, entries=(*earlier.entries, *own[1:]), masked=masked or earlier.masked)
