"""Random runs: tools, hooks, gate, human and trail that behave badly at random, stopped at random; what must hold of every run.

Everything of a scene comes from its seed: the parts that it has, what each of them does when it is asked, when and how the run is
stopped, and the order in which Trio runs its tasks. A scene that broke a promise is run again with `faults_of(parts, seed)`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import random
from collections import Counter
from typing import Any, Literal

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio.actions import CheckResult, Deny, ToolContext, ToolOutput
from foxloop_trio.loop import Budget, Denials, Loop
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.testing._sweep import fixed_task_order
from foxloop_trio.tools import Tool

SCENES = 60
"""In the default run; under a second."""
MANY_SCENES = 3_000
BATCH = 250
TRAIL_TIMEOUT = 5.0
WRITES = (0.0, 0.0, 0.25, 0.5)
"""Seconds that the trail may take for an entry: so few that all records of an end fit into `TRAIL_TIMEOUT`."""
STOP_TYPES = ("done", "blocked", "aborted")
STOPS = tuple(f"loop.{name}" for name in STOP_TYPES)
SHOWN = {"loop.plan", "loop.tool-call", "loop.decision", "loop.approval-needed", "loop.tool-result", "loop.check", *STOPS}
"""Entries of the trail that are events."""
GOOD = CheckResult(ok=True)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING = {"type": "object", "properties": {}}

Way = Literal["plain", "raise", "swallow", "group", "shield", "report", "report-raise", "nursery"]
WAYS: tuple[Way, ...] = ("raise", "swallow", "group", "shield", "report", "report-raise", "nursery")
"""What a tool may do beside just taking its time, as more than half of them do."""


class Left(Exception):
    """Raised by the consumer."""


@attrs.define
class Started:
    """A tool that began: for which call, and what it said of its effect last."""

    text: str
    state: str | None = None


class Scene:
    """One random run. The parts talk to the loop; `faults` collects at once what can only be seen while it goes on."""

    def __init__(self, parts: Any, seed: int) -> None:
        self.parts = parts
        self.random = random.Random(seed)
        self.faults: list[str] = []
        self.stopped = False
        self.running = 0
        self.started: list[Started] = []
        self.requests: list[list[Any]] = []
        self.permits: list[Any] = []
        self.events: list[Any] = []
        self.ended = "to its end"
        self.sink = self.make_sink()
        self.gate = self.make_gate()
        self.budget = self.make_budget()
        self.loop = self.make_loop()
        self.run = self.loop.run("goal")

    # Chance

    def chance(self, of_one: float) -> bool:
        return self.random.random() < of_one

    async def nap(self, *seconds: float) -> None:
        """A checkpoint, or some time."""
        await trio.sleep(self.random.choice(seconds or (0.0, 0.0, 0.5, 1.0, 2.0)))

    # Parts

    def make_sink(self) -> Any:
        if self.chance(0.1):
            return None
        fail_at = {self.random.randrange(40)} if self.chance(0.15) else set()
        hang_at = {self.random.randrange(40)} if self.chance(0.1) else set()
        nap = self.nap

        class Sink(self.parts.MemorySink):  # type: ignore[misc,name-defined]
            async def append(self, *, actor: str, kind: str, data: Any) -> None:
                await nap(*WRITES)
                await super().append(actor=actor, kind=kind, data=data)

        return Sink(fail_at=fail_at, hang_at=hang_at)

    def make_gate(self) -> Any:
        gate = self.parts.StubGate()
        allow = gate.allow

        def remembered(action: Any) -> Any:
            decision = allow(action)
            self.permits.append(decision.permit)
            return decision

        async def still_allows(permit_id: str) -> bool:
            await self.nap()
            return self.chance(0.7)

        async def check(action: Any, *, store_request: bool = True) -> Any:
            with trio.CancelScope(shield=self.chance(0.2)):  # a gate may answer although it is too late
                await self.nap()
            drawn = self.random.random()
            answer: Any = "allow" if drawn < 0.8 else "ask" if drawn < 0.95 else Deny(reason="no-grant", message="m")
            return await gate._answer(RuntimeError("the gate broke") if drawn > 0.99 else answer, action)

        gate.allow, gate.check, gate.ledger.still_allows = remembered, check, still_allows
        return gate

    def make_budget(self) -> dict[str, Any]:
        chances: list[tuple[str, float, list[int]]] = [
            ("seconds", 0.15, [5, 15, 30]),
            ("tool_seconds", 0.3, [1, 2]),
            ("planner_seconds", 0.05, [1]),
            ("approval_seconds", 0.2, [2]),
            ("tool_calls", 0.15, [0, 2, 4, 8]),
            ("tokens", 0.05, [0, 4, 4000]),
        ]
        return {name: self.random.choice(values) for name, of_one, values in chances if self.chance(of_one)}

    def make_tool(self, name: str, scope: Any, *, human: bool = False) -> Tool:
        options: dict[str, Any] = {}
        if self.chance(0.2):
            options["prepare"] = self.prepare
        if self.chance(0.2):
            options["describe"] = self.describe
        if self.chance(0.2):
            options["redact"] = lambda args: {**args, "text": "*"}
        return Tool(
            name=name, description="d", parameters=TEXT, scope=scope, domain="notes.local", run=self.act, human=human, **options
        )

    def make_loop(self) -> Loop:
        tools = [
            self.make_tool("read", "read"),
            self.make_tool("fill", "fill"),
            self.make_tool("submit", "submit"),
            self.make_tool("ask", "read", human=True),
            Tool(name="look", description="d", parameters=NOTHING, scope="read", domain="notes.local", run=self.look),
        ]
        options: dict[str, Any] = {
            "settle": self.settle if self.chance(0.6) else None,
            "check": self.check if self.chance(0.5) else None,
            "on_approval": self.approve if self.chance(0.9) else None,
            "first_read": "look" if self.chance(0.3) else None,
            "denials": Denials(retry=lambda reason: True, limit=self.random.choice([1, 2, 3])) if self.chance(0.5) else None,
            "max_steps": self.random.choice([2, 5, 12]),
            "max_calls_per_turn": self.random.choice([1, 3, 6]),
        }
        return Loop(
            planner=self,
            gate=self.gate,
            tools=tools,
            trail=self.sink,
            budget=Budget(**self.budget),
            wall_clock=trio.current_time,
            trail_timeout=TRAIL_TIMEOUT,
            cancel_grace=2,
            **options,
        )

    # What the loop calls

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        if self.stopped:
            self.faults.append("the planner was asked after the stop")
        self.requests.append(list(messages))
        await self.nap()
        drawn = self.random.random()
        if drawn < 0.02:
            raise ValueError("no model")
        if drawn < 0.06:
            return ChatReply(message={"content": 5})
        names = ["read", "read", "fill", "fill", "submit"]
        if self.chance(0.3):
            names += ["ask", "look", "finish", "nope"]
        calls = [self.a_call(self.random.choice(names), number) for number in range(self.random.choice([1, 1, 2, 3, 6]))]
        usage = Usage(input_tokens=1, output_tokens=1) if self.chance(0.5) else None
        content = "words" if self.chance(0.5) else None
        return ChatReply(message={"role": "assistant", "content": content, "tool_calls": calls}, usage=usage)

    def a_call(self, name: str, number: int) -> dict[str, Any]:
        mark = f"{len(self.requests)}.{number}"
        args = {"finish": {"summary": "s"}, "look": {}}.get(name, {"text": mark})
        raw = "{bad" if self.chance(0.05) else json.dumps(args)
        call_id = self.random.choice([f"c{mark}"] * 5 + ["dup", None])
        return {"id": call_id, "type": "function", "function": {"name": name, "arguments": raw}}

    async def act(self, args: dict[str, Any], ctx: ToolContext) -> ToolOutput:
        if self.stopped:
            self.faults.append("a tool began after the stop")
        if self.running:
            self.faults.append("two tools at once")
        self.running += 1
        started = Started(args["text"])
        self.started.append(started)
        try:
            await self.behave("plain" if self.chance(0.6) else self.random.choice(WAYS), started, ctx)
        finally:
            self.running -= 1
        return ToolOutput(
            ok=self.chance(0.9),
            summary=self.random.choice("ab"),
            check=GOOD if self.chance(0.5) else None,
            stop_batch=self.chance(0.1),
        )

    async def behave(self, way: Way, started: Started, ctx: ToolContext) -> None:
        """What a tool does before it returns."""

        def report(state: Any) -> None:
            started.state = state
            ctx.report_effect(state)

        async def fail_when_cancelled() -> None:
            try:
                await trio.sleep(3)
            except trio.Cancelled:
                raise ValueError("clean-up failed") from None

        match way:
            case "plain":
                await self.nap()
                await self.nap()
            case "raise":
                await self.nap()
                raise ValueError("the tool's error")
            case "swallow":
                with contextlib.suppress(trio.Cancelled):  # as no tool should
                    await trio.sleep(3)
            case "group":
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(fail_when_cancelled)
                    nursery.start_soon(trio.sleep, 2)
            case "shield":
                with trio.CancelScope(shield=True):
                    await self.nap(1, 7)
                if self.chance(0.5):
                    await trio.lowlevel.checkpoint()
            case "report":
                for state in ("not-started", "partial", "done"):
                    report(state)
                    await self.nap()
            case "report-raise":
                report("partial")
                try:
                    await trio.sleep(3)
                finally:
                    report("done")
                    raise ValueError("the tool's error")
            case "nursery":
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(self.nap)
                    nursery.start_soon(trio.sleep, 2)

    async def look(self, args: Any, ctx: Any) -> ToolOutput:
        await self.nap()
        return ToolOutput(ok=self.chance(0.8), summary="seen", check=GOOD if self.chance(0.5) else None)

    async def prepare(self, args: dict[str, Any], ctx: Any) -> dict[str, Any]:
        await self.nap()
        if self.chance(0.1):
            raise ValueError("not prepared")
        return args

    async def describe(self, args: Any, ctx: Any) -> str:
        await self.nap()
        return "words for a person"

    async def settle(self, given: Any) -> str | None:
        await self.nap()
        if self.chance(0.2):
            raise ValueError("not settled")
        return "settled" if self.chance(0.1) else None

    async def check(self, claim: Any) -> CheckResult:
        await self.nap()
        if self.chance(0.1):
            raise ValueError("not checked")
        return CheckResult(ok=self.chance(0.5))

    async def approve(self, request: Any) -> str:
        await self.nap(1, 3)
        if self.chance(0.1):
            raise ValueError("not approved")
        return "token"

    # The run, and who disturbs it

    async def play(self) -> None:
        """Read the run; leave it, raise in it, dawdle in it, abort, cancel or pause it, as chance will have it."""
        leave_at = self.random.choice([None, None, None, None, self.random.randrange(1, 20)])
        leave_how = self.random.choice(["break", "raise"])
        async with trio.open_nursery() as nursery:
            with trio.CancelScope() as scope:
                nursery.start_soon(self.disturb, scope)
                try:
                    await self.read(leave_at, leave_how)
                except Left:
                    self.ended = "left by raising"
                except BaseException as fault:
                    if not scope.cancel_called or not only_cancelled(fault):
                        self.faults.append(f"{fault!r} left the stream")
                        return
                    self.ended = "cancelled"
                    raise
            nursery.cancel_scope.cancel()

    async def read(self, leave_at: int | None, leave_how: str) -> None:
        async with self.run as run:
            async for event in run:
                self.events.append(event)
                if self.chance(0.05):
                    await trio.sleep(2)  # longer than leave is taken for fresh
                if len(self.events) != leave_at or event.type in STOP_TYPES:
                    continue
                self.stopped = True
                if leave_how == "raise":
                    raise Left
                self.ended = "left"
                break

    async def disturb(self, scope: trio.CancelScope) -> None:
        if self.chance(0.25):
            return
        await trio.sleep(self.random.random() * self.random.choice([3, 20, 60]))
        for _ in range(self.random.choice([1, 1, 2, 3])):
            match self.random.choice(["abort", "cancel", "pause"]):
                case "abort":
                    self.stopped = self.stopped or self.run.outcome is None
                    self.run.abort()
                case "cancel":
                    self.stopped = True
                    scope.cancel()
                case _:
                    self.run.pause()
                    await self.nap(1)
                    self.run.unpause()
            await self.nap(0, 0.5, 1)


def only_cancelled(fault: BaseException) -> bool:
    if isinstance(fault, BaseExceptionGroup):
        return all(only_cancelled(inner) for inner in fault.exceptions)
    return isinstance(fault, trio.Cancelled)


# What must hold


def judge(scene: Scene) -> list[str]:
    """Every promise that the scene broke."""
    faults = [*scene.faults, *judge_end(scene), *judge_requests(scene)]
    sink = scene.sink
    if sink is not None and not sink.fail_at and not sink.hang_at:
        faults += [*judge_order(scene), *judge_calls(scene), *judge_effects(scene), *judge_numbers(scene)]
    return sorted(set(faults))


def judge_end(scene: Scene) -> list[str]:
    """One end, with nothing left open."""
    run, events = scene.run, scene.events
    faults = []
    if run.outcome is None:
        faults.append("the run has no outcome")
    ends = [event for event in events if event.type in STOP_TYPES]
    if scene.ended == "to its end" and len(ends) != 1:
        faults.append(f"{len(ends)} stop events")
    if ends and events[-1] is not ends[0]:
        faults.append("events after the stop event")
    if scene.loop._busy:
        faults.append("the loop is not free")
    if scene.running:
        faults.append("a tool runs on")
    if any(permit.alive for permit in scene.permits):
        faults.append("a permit is open")
    closed = [permit_id for permit_id, _ in scene.gate.ledger.closed]
    if len(set(closed)) != len(closed):
        faults.append("a permit was closed twice")
    statistics = run.statistics()
    if statistics.waiting_for is not None:
        faults.append("something is still waited for")
    if min(statistics.work_seconds, statistics.human_seconds) < -1e-9:
        faults.append("negative seconds")
    if statistics.tool_runs > scene.budget.get("tool_calls", statistics.tool_runs):
        faults.append("more tool calls than the budget has")
    return faults


def judge_requests(scene: Scene) -> list[str]:
    """Each call that a planner reads back has its answer right behind it, in order, and ids are unique."""
    faults = []
    for messages in scene.requests:
        waiting: list[str] = []
        ids: list[str] = []
        for message in messages:
            if message["role"] == "tool":
                if waiting[:1] != [message["tool_call_id"]]:
                    faults.append("an answer without its call")
                waiting = waiting[1:]
                continue
            if waiting:
                faults.append("a call without an answer")
            waiting = [call["id"] for call in message.get("tool_calls", ())]
            ids += waiting
        if waiting:
            faults.append("a call without an answer")
        if len(set(ids)) != len(ids):
            faults.append("an id twice")
    return faults


def judge_order(scene: Scene) -> list[str]:
    """Every event is on record before it is seen, at most one more and the end are besides, and the end is last and once."""
    kinds = scene.sink.kinds
    ends = [kind for kind in kinds if kind in STOPS]
    faults = []
    if len(ends) != 1 or kinds[-1] != ends[0]:
        faults.append(f"stop records {ends}, last {kinds[-1:]}")
    elif scene.run.outcome is not None and ends[0] != f"loop.{scene.run.outcome.status}":
        faults.append("the record of the end and the outcome differ")
    seen = [f"loop.{event.type}" for event in scene.events]
    written = [kind for kind in kinds if kind in SHOWN]
    if written[: len(seen)] != seen:
        faults.append("trail and events differ")
    if len(written) > len(seen) + 2:
        faults.append("more on record than was seen")
    return faults


def notes_by_leave(scene: Scene) -> dict[str, tuple[list[str], list[str]]]:
    """For each allowed call its effects on record: of each leave that lapsed and was asked for anew, and of the last one."""
    allowed = Counter(entry["id"] for entry in scene.sink.data("loop.decision") if entry["decision"] == "allow")
    effects: dict[str, list[str]] = {call_id: [] for call_id in allowed}
    for note in scene.sink.data("loop.effect"):
        effects.setdefault(note["id"], []).append(note["state"])
    lapsed = {call_id: allowed[call_id] - 1 for call_id in effects}
    return {call_id: (states[: lapsed[call_id]], states[lapsed[call_id] :]) for call_id, states in effects.items()}


def judge_calls(scene: Scene) -> list[str]:
    """Whatever was allowed has a result or a note of its effect, and no call has two of one kind."""
    allowed = Counter(entry["id"] for entry in scene.sink.data("loop.decision") if entry["decision"] == "allow")
    results = Counter(entry["id"] for entry in scene.sink.data("loop.tool-result"))
    faults = [f"{call_id} has {count} results" for call_id, count in results.items() if count > 1]
    for call_id, (lapsed, last) in notes_by_leave(scene).items():
        if lapsed != ["not-started"] * (allowed[call_id] - 1):
            faults.append(f"{call_id} was allowed {allowed[call_id]} times, with {lapsed} of those that lapsed")
        if len(last) > 1:
            faults.append(f"{call_id} has {len(last)} effects")
        if not last and not results[call_id]:
            faults.append(f"{call_id} was allowed and has no end")
    if allowed.total() < scene.run.statistics().tool_runs:
        faults.append("more tool runs than were allowed")
    return faults


def judge_effects(scene: Scene) -> list[str]:
    """The note of an effect says what the tool said last, and that it did not begin only when it did not."""
    texts = {
        entry["id"]: entry["args"]["text"]
        for entry in scene.sink.data("loop.tool-call")
        if isinstance(entry["args"], dict) and "text" in entry["args"]
    }
    faults = []
    for call_id, (_, last) in notes_by_leave(scene).items():
        text = texts.get(call_id)
        if text is None or text == "*" or "•" in text or len(last) != 1:
            continue  # nothing to tell it by: a look, or hidden
        begun = [started for started in scene.started if started.text == text]
        [state] = last
        if not begun and state != "not-started":
            faults.append(f"{state}, of a tool that never began")
        elif len(begun) == 1 and begun[0].state is None and state == "not-started":
            faults.append("not-started, of a tool that began")
        elif len(begun) == 1 and begun[0].state not in (None, state):
            faults.append(f"{state}, of a tool that said {begun[0].state}")
    return faults


def judge_numbers(scene: Scene) -> list[str]:
    """The clocks never go back, and the tokens on record are those of the statistics."""
    faults = []
    records = [entry["record"] for _, entry in scene.sink.entries if "record" in entry]
    if any(later["work_ms"] + later["human_ms"] < now["work_ms"] + now["human_ms"] for now, later in itertools.pairwise(records)):
        faults.append("the clocks went back")
    tokens = [entry["record"]["tokens"] for entry in scene.sink.data("loop.plan")]
    if tokens and tokens[-1] != scene.run.statistics().tokens:
        faults.append("the tokens differ")
    return faults


# The tests


def faults_of(parts: Any, seed: int) -> tuple[list[str], Scene]:
    """One scene in a Trio of its own."""

    async def main() -> Scene:
        scene = Scene(parts, seed)
        await scene.play()
        return scene

    with fixed_task_order(seed):
        scene = trio.run(main, clock=trio.testing.MockClock(autojump_threshold=0))
    return judge(scene), scene


def broken(parts: Any, seeds: range) -> dict[int, list[str]]:
    found = {seed: faults_of(parts, seed)[0] for seed in seeds}
    return {seed: faults for seed, faults in found.items() if faults}


def test_a_random_run_ends_once_says_only_what_is_true_and_leaves_nothing_open(parts: Any) -> None:
    """However its parts behave and however it is stopped."""
    assert broken(parts, range(SCENES)) == {}


@pytest.mark.long
@pytest.mark.parametrize("first", range(SCENES, MANY_SCENES, BATCH))
def test_many_random_runs_end_once_say_only_what_is_true_and_leave_nothing_open(parts: Any, first: int) -> None:
    """The same, over many more seeds."""
    assert broken(parts, range(first, min(first + BATCH, MANY_SCENES))) == {}


def test_the_random_runs_reach_every_end_and_every_kind_of_record(parts: Any) -> None:
    """A fuzz that never gets anywhere would find nothing."""
    scenes = [faults_of(parts, seed)[1] for seed in range(2 * SCENES)]
    assert {scene.run.outcome.status for scene in scenes if scene.run.outcome is not None} == set(STOP_TYPES)
    assert {scene.ended for scene in scenes} == {"to its end", "left", "left by raising", "cancelled"}
    kinds = {kind for scene in scenes if scene.sink is not None for kind in scene.sink.kinds}
    assert kinds >= SHOWN | {"loop.start", "loop.observation", "loop.effect"}
    assert sum(len(scene.started) for scene in scenes) > len(scenes)


def test_a_scene_is_the_same_each_time(parts: Any) -> None:
    """So that a seed which broke a promise can be looked at."""

    def story(seed: int) -> Any:
        scene = faults_of(parts, seed)[1]
        kinds = scene.sink.kinds if scene.sink is not None else []
        return [event.type for event in scene.events], kinds, scene.ended, [attrs.astuple(one) for one in scene.started]

    assert [story(seed) for seed in range(20)] == [story(seed) for seed in range(20)]
