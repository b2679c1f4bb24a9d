"""From the entries of a trail to the story of one run. Pure: entries in, `Story` out.

Nothing that a trail may hold makes this fail: a run without an end, a call without a result, fields of another type, kinds of
entries that this version does not know. Each is shown as what it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from ..errors import UsageError
from ..trail import Entry, Fault, Verified
from ._blobs import Beside, Blobs
from ._building import CallInMaking, StepInMaking, effect_of, evidence, money_of
from ._nouns import Claim, Outcome, Proof, Remark, RunInfo, Span, SpanKind, Status, Story, Totals, Use
from ._rows import Row, offsets, rows_of
from ._values import items, mapping, number, text, whole

__all__ = ["Blobs", "list_runs", "proof_of", "tell_story"]

STOPS: Final[Mapping[str, Status]] = {"done": "done", "blocked": "blocked", "aborted": "aborted"}
FINISH: Final = "finish"
MAX_FOREIGN: Final = 200
"""Entries without a run that are shown in one story: enough for what belongs to it, too few to bury it."""

NOTE_WORDS: Final[Mapping[str, str]] = {
    "late-tool": "A tool went on for longer than the grace after it was stopped.",
    "settle-error": "The host's own look at the result (settle) raised an error.",
    "permit-error": "The gate's books raised an error when a permit was closed.",
    "effect": "What is known of the effect of a call.",
}
REPAIRED: Final = "trail.repaired"
REPAIRED_WORDS: Final = "The last line of the trail was cut, and was mended here; the torn bytes lie beside it."


def list_runs(entries: Iterable[Entry | Mapping[str, Any]]) -> tuple[RunInfo, ...]:
    """The runs of a trail, in the order in which they began. Reads the entries once and keeps none of them."""
    found: dict[str, RunInfo] = {}
    for row in rows_of(entries):
        if row.run is not None:
            found[row.run] = _with(found.get(row.run), row)
    return tuple(found.values())


def _with(info: RunInfo | None, row: Row) -> RunInfo:
    assert row.run is not None
    if info is None:
        info = RunInfo(id=row.run, goal=None, status="unfinished", reason=None, started_ts=row.ts, ended_ts=row.ts, entries=0)
    change: dict[str, Any] = {"entries": info.entries + 1, "ended_ts": row.ts if row.ts is not None else info.ended_ts}
    data = mapping(row.data)
    event = row.event
    if event == "start" and info.goal is None:
        change |= {"goal": text(data.get("goal")), "resumes": text(data.get("resumes"))}
    elif event in STOPS and info.status == "unfinished":
        change |= {"status": STOPS[str(event)], "reason": text(data.get("reason"))}
    return attrs.evolve(info, **change)


def proof_of(verification: Verified | Fault | None) -> Proof:
    """What a verification says, or that there was none."""
    if verification is None:
        return Proof(state="unchecked")
    if isinstance(verification, Verified):
        return Proof(state="verified", count=verification.count, head=verification.head, missing=len(verification.missing))
    return Proof(state="faulty", fault=verification)


def tell_story(
    entries: Iterable[Entry | Mapping[str, Any]],
    *,
    run: str | None = None,
    verification: Verified | Fault | None = None,
    blobs: Blobs | None = None,
) -> Story:
    """The story of one run of a trail: of `run`, or of the last one that began.

    `entries` are those of the whole trail, from its first on, so that what a `Fault` points at is found. `verification` is what
    `verify_trail` said of it; None: nobody asked. `blobs` are texts and pictures that lie beside the trail. With `run` the
    entries are read once, and only those of the run are kept.

    Raises UsageError when the trail has no run, or not this one; whatever else it may hold is shown.
    """
    if run is None:
        entries = list(entries)
        runs = list_runs(entries)
        if not runs:
            raise UsageError(f"none of the {len(entries)} entries belongs to a run of the loop, so there is nothing to show")
        run = runs[-1].id
    infos: dict[str, RunInfo] = {}
    rows: list[Row] = []
    newest: str | None = None
    foreign = left_out = 0
    for row in rows_of(entries):
        if row.run is not None:
            newest = row.run
            infos[newest] = _with(infos.get(newest), row)
            if newest == run:
                rows.append(row)
        elif newest == run:
            # An entry of nobody's run is told with the run it came after: a repair belongs to what was torn.
            foreign += 1
            if foreign <= MAX_FOREIGN:
                rows.append(row)
            else:
                left_out += 1
    if run not in infos:
        known = ", ".join(list(infos)[-5:]) or "none"
        raise UsageError(f"the trail has no run {run[:80]!r}; its last ones are: {known}")
    teller = _Teller(run, proof_of(verification), blobs)
    for row, at in zip(rows, offsets(rows), strict=True):
        teller.hear(row, at)
    return teller.story(tuple(infos.values()), left_out)


class _Teller:
    """Hears the rows of one run in order."""

    def __init__(self, run: str, proof: Proof, blobs: Blobs | None) -> None:
        self._run = run
        self._proof = proof
        self._beside = Beside(blobs)
        self._start: Mapping[str, Any] = {}
        self._steps: dict[int, StepInMaking] = {}
        self._calls: dict[str, CallInMaking] = {}
        self._spans: list[Span] = []
        self._outcome = Outcome(status="unfinished")
        self._started: Row | None = None
        self._first: Row | None = None
        self._last: Row | None = None
        self._count = 0
        self._end_ms = 0
        self._work = self._human = 0
        self._at_event = 0
        self._asked_at: int | None = None
        self._waiting: CallInMaking | None = None
        self._running: CallInMaking | None = None
        self._tokens = 0
        self._cost: Any = None
        self._input = self._output = 0
        self._estimated = False
        self._corrections = self._repairs = 0
        self._hear: dict[str, Callable[[Row, Mapping[str, Any], int], bool]] = {
            "start": self._on_start,
            "observation": self._on_observation,
            "plan": self._on_plan,
            "tool-call": self._on_call,
            "decision": self._on_decision,
            "approval-needed": self._on_approval,
            "tool-result": self._on_result,
            "effect": self._on_effect,
            "late-tool": self._on_late,
            "check": self._on_check,
            "done": self._on_stop,
            "blocked": self._on_stop,
            "aborted": self._on_stop,
        }

    def hear(self, row: Row, at: int) -> None:
        """One row. What nobody takes is shown as it is."""
        data = mapping(self._beside.whole(row.data))
        own = row.run is not None
        if own:
            self._first = self._first or row
            self._last = row
            self._count += 1
            self._end_ms = at
        event = row.event if own else None
        ended = self._outcome.status != "unfinished"
        if event is not None and not ended:
            self._measure(row, event, at)
        handler = self._hear.get(event) if event is not None else None
        if handler is None or (ended and event not in ("late-tool", "effect")) or not handler(row, data, at):
            self._remark(row, at, event)

    # Time

    def _measure(self, row: Row, event: str, at: int) -> None:
        """Whose time it was since the event before: a human's first, then the planner's or the tool's."""
        clocks = row.clocks
        if clocks is None:
            return
        work, human = max(self._work, clocks[0]), max(self._human, clocks[1])
        worked, waited = work - self._work, human - self._human
        since = self._at_event
        step = whole(mapping(row.data).get("step")) or 0
        self._work, self._human, self._at_event = work, human, at
        running, waiting, asked = self._running, self._waiting, self._asked_at
        if waited:
            if waiting is not None:
                words = f"a human was asked about {waiting.name}"
            elif running is not None:
                words, running.human_ms = f"a human was waited for at {running.name}", waited
            else:
                words = "the run was paused"
            self._span("human", since, waited, words, step)
        if waiting is not None:
            waiting.answered(event, mapping(row.data), waited)
            self._waiting = None
        elif running is not None and event in ("tool-result", *STOPS):
            running.tool_ms = worked
            self._span("tool", at - worked, worked, f"the tool {running.name} ran", step)
            self._running = None
        elif asked is not None and event in ("plan", "check", *STOPS):
            took = min(worked, at - asked)
            self._span("planner", at - took, took, "the planner was asked", step)
            if event == "plan":
                self._step(step, at).planner_ms = took
        if event in ("plan", "check"):
            self._asked_at = None

    def _span(self, kind: SpanKind, at: int, ms: int, words: str, step: int) -> None:
        if ms > 0:
            self._spans.append(Span(kind=kind, at_ms=max(0, at), ms=ms, words=words, step=step))

    # What is said

    def _on_start(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        if self._started is not None:
            return False
        self._started, self._start = row, data
        return True

    def _on_observation(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        step = self._step_of(row, at)
        step.asked = True
        self._asked_at = at
        return True

    def _on_plan(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        step = self._step_of(row, at)
        if step.answered:
            return False
        record = mapping(data.get("record"))
        usage = mapping(record.get("usage"))
        step.asked = step.answered = True
        step.text, step.problem = text(data.get("text")), text(data.get("problem"))
        step.provider, step.tier = text(data.get("provider")), text(data.get("tier"))
        step.input_tokens, step.output_tokens = whole(usage.get("input_tokens")), whole(usage.get("output_tokens"))
        step.estimated = usage.get("estimated") is True
        self._input += step.input_tokens or 0
        self._output += step.output_tokens or 0
        self._estimated = self._estimated or step.estimated
        self._tokens = max(self._tokens, whole(record.get("tokens")) or 0)
        self._cost = money_of(record.get("cost")) or self._cost
        self._corrections += step.problem is not None
        repairs = [said for repair in items(data.get("repairs")) if (said := text(repair)) is not None]
        self._repairs += len(repairs)
        for index, planned in enumerate(items(data.get("calls"))):
            plain = mapping(planned)
            call = self._new_call(text(plain.get("id")) or "", text(plain.get("name")) or "", row, step, at)
            call.read(text(plain.get("args")))
            call.repairs = [repair.partition(":")[2] for repair in repairs if repair.startswith(f"{index}:")]
        step.repairs = [repair for repair in repairs if not repair.partition(":")[0].isdecimal()]
        return True

    def _on_call(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._call_of(row, data, at)
        call.examined(data, at)
        return True

    def _on_decision(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._call_of(row, data, at)
        call.judged(data, at)
        if call.allowed:
            self._running = call
        return True

    def _on_approval(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._call_of(row, data, at)
        call.ask(data, at, row.ts or 0)
        self._waiting = call
        return True

    def _on_result(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._call_of(row, data, at)
        if call.result is not None:
            return False
        call.ended(data, at, mapping(row.data), self._beside)
        return True

    def _on_effect(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._calls.get(text(data.get("id")) or "")
        if call is None:
            return False
        call.effect = effect_of(data) or call.effect
        late = mapping(data.get("late"))
        call.late = text(late.get("summary")) or text(data.get("error")) or call.late
        return True

    def _on_late(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        call = self._calls.get(text(data.get("id")) or "")
        late_ms = whole(data.get("late_ms"))
        if call is None or late_ms is None:
            return False
        call.late_ms = late_ms
        return False  # and it is told in its place as well

    def _on_check(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        record = mapping(data.get("record"))
        id_ = text(record.get("id"))
        call = self._calls.get(id_) if id_ is not None else None
        step = self._step_of(row, at)
        summary = text(record.get("summary"))
        by_planner = call is not None or step.answered
        step.items.append(
            Claim(
                at_ms=at,
                ok=data.get("ok") is True,
                summary=summary,
                by="planner" if by_planner else "host",
                checks=evidence(data.get("checks")),
                problem=text(data.get("problem")),
                proven=self._proven(row),
            )
        )
        if call is not None:
            call.claimed = True
        return True

    def _on_stop(self, row: Row, data: Mapping[str, Any], at: int) -> bool:
        event = row.event
        assert event is not None
        check, flight = mapping(data.get("check")), mapping(data.get("in_flight"))
        self._outcome = Outcome(
            status=STOPS[event],
            step=whole(data.get("step")),
            reason=text(data.get("reason")),
            limit=text(data.get("limit")),
            cause=text(mapping(data.get("record")).get("cause")),
            message=text(data.get("message")),
            summary=text(data.get("summary")),
            settled=data.get("settled") is True,
            checks=evidence(check.get("checks")),
            problem=text(check.get("problem")),
            in_flight=text(flight.get("name")),
            effect=effect_of(mapping(flight.get("effect"))),
            proven=self._proven(row),
        )
        return True

    def _remark(self, row: Row, at: int, event: str | None) -> None:
        data = self._beside.whole(row.data)
        if row.run is not None and isinstance(data, Mapping):
            data = {key: value for key, value in data.items() if key != "run"}
        words = NOTE_WORDS.get(event) if event is not None else None
        if row.kind == REPAIRED:
            words = REPAIRED_WORDS
        remark = Remark(
            at_ms=at, seq=row.seq, ts=row.ts, actor=row.actor, kind=row.kind, known=words is not None,
            words=words, data=data, proven=self._proven(row),
        )  # fmt: skip
        self._step_of(row, at).items.append(remark)

    # Steps and calls

    def _proven(self, row: Row) -> bool:
        fault_at = self._proof.fault_at
        return fault_at is None or row.position < fault_at

    def _step_of(self, row: Row, at: int) -> StepInMaking:
        """The step that a row names, else the newest one."""
        named = whole(mapping(row.data).get("step")) if row.run is not None else None
        if named is None:
            named = next(reversed(self._steps), 0)
        step = self._step(named, at)
        step.proven = step.proven and self._proven(row)
        return step

    def _step(self, number_: int, at: int) -> StepInMaking:
        if number_ not in self._steps:
            self._steps[number_] = StepInMaking(number=number_, at_ms=at)
        return self._steps[number_]

    def _call_of(self, row: Row, data: Mapping[str, Any], at: int) -> CallInMaking:
        """The call that a row is about; one that nobody planned (a first read, or what is lost) begins here."""
        id_ = text(data.get("id")) or ""
        step = self._step_of(row, at)
        call = self._calls.get(id_)
        if call is None or (call.step != step.number and call.result is not None):
            call = self._new_call(id_, text(data.get("name")) or text(mapping(data.get("action")).get("tool")) or "", row, step, at)
        call.proven = call.proven and self._proven(row)
        return call

    def _new_call(self, id_: str, name: str, row: Row, step: StepInMaking, at: int) -> CallInMaking:
        call = CallInMaking(id=id_, name=name, step=step.number, at_ms=at, proven=self._proven(row))
        self._calls[id_] = call
        step.items.append(call)
        return call

    # The whole

    def story(self, runs: tuple[RunInfo, ...], left_out: int) -> Story:
        if left_out and self._steps:
            words = f"{left_out} more entries of other actors are not shown."
            self._steps[next(reversed(self._steps))].items.append(
                Remark(at_ms=self._end_ms, seq=None, ts=None, actor="", kind="", known=True, words=words, data=None, proven=True)
            )
        steps = tuple(step.made(self._outcome.status) for step in self._steps.values())
        calls = [item for step in steps for item in step.items if item.type == "call"]
        options = mapping(self._start.get("options"))
        totals = Totals(
            steps=sum(step.number > 0 and step.asked for step in steps),
            calls=len(calls),
            tool_runs=sum(call.ran for call in self._calls.values()),
            failed=sum(call.state == "failed" for call in calls),
            asked=sum(call.approval is not None for call in calls),
            approved=sum(call.approval is not None and call.approval.answer == "approved" for call in calls),
            corrections=self._corrections,
            repairs=self._repairs,
            input_tokens=self._input,
            output_tokens=self._output,
            estimated=self._estimated,
            cost=self._cost,
            wall_ms=self._end_ms,
            planner_ms=self._sum("planner"),
            tool_ms=self._sum("tool"),
            human_ms=self._sum("human"),
            other_ms=max(0, self._end_ms - self._sum("planner") - self._sum("tool") - self._sum("human")),
        )
        return Story(
            run=self._run,
            goal=text(self._start.get("goal")),
            outcome=self._outcome,
            proof=self._proof,
            started_ts=self._first.ts if self._first is not None else None,
            ended_ts=self._last.ts if self._last is not None else None,
            resumes=text(self._start.get("resumes")),
            options=tuple((str(name), value) for name, value in options.items() if name != "budget"),
            tools=tuple(_tool(tool) for tool in items(self._start.get("tools"))),
            versions=tuple((str(name), text(value) or "") for name, value in mapping(self._start.get("versions")).items()),
            steps=steps,
            spans=tuple(self._spans),
            uses=self._uses(options, totals),
            totals=totals,
            in_doubt=tuple(call.name for call in calls if call.state == "in-doubt"),
            entries=self._count,
            runs=runs,
        )

    def _sum(self, kind: SpanKind) -> int:
        return sum(span.ms for span in self._spans if span.kind == kind)

    def _longest(self, kind: SpanKind) -> int:
        return max((span.ms for span in self._spans if span.kind == kind), default=0)

    def _uses(self, options: Mapping[str, Any], totals: Totals) -> tuple[Use, ...]:
        """What was used, beside what was allowed. Limits of a single wait are held against the longest one."""
        budget = mapping(options.get("budget"))
        cap = money_of(budget.get("cost"))
        hit = self._outcome.limit
        tokens = max(self._tokens, totals.input_tokens + totals.output_tokens)
        uses = [
            Use(name="max_steps", unit="count", used=totals.steps, limit=number(options.get("max_steps"))),
            Use(name="tokens", unit="count", used=tokens, limit=number(budget.get("tokens")), estimated=totals.estimated),
            Use(name="tool_calls", unit="count", used=totals.tool_runs, limit=number(budget.get("tool_calls"))),
            Use(name="seconds", unit="ms", used=self._work, limit=_ms(budget.get("seconds"))),
        ]
        if totals.cost is not None or cap is not None:
            currency = (totals.cost or cap).currency  # type: ignore[union-attr]
            limit = cap.value if cap is not None and cap.currency == currency else None
            used = totals.cost.value if totals.cost is not None else 0
            uses.append(Use(name="cost", unit="money", used=used, limit=limit, currency=currency))
        kinds: tuple[tuple[str, SpanKind], ...] = (
            ("planner_seconds", "planner"), ("tool_seconds", "tool"), ("approval_seconds", "human"),
        )  # fmt: skip
        for name, kind in kinds:
            longest = _ms(budget.get(name))
            if longest is not None:
                uses.append(Use(name=name, unit="ms", used=self._longest(kind), limit=longest))
        return tuple(attrs.evolve(use, hit=True) if use.name == hit else use for use in uses)


def _tool(value: Any) -> tuple[str, str | None]:
    plain = mapping(value)
    return text(plain.get("name")) or "", text(plain.get("scope"))


def _ms(seconds: Any) -> float | None:
    found = number(seconds)
    return None if found is None else found * 1000
