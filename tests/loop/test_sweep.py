"""The cancellation contract, at every checkpoint of a whole run: planner, settle, approval, two tools, the real gate, a trail.

`Scene.run` is the run; `assert_contract` is what must hold wherever it was stopped, by a cancel from outside or by `abort()`. The
planted faults at the end are wrappers around the loop or its parts, each of which breaks one promise: the sweep must find it.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import Any, Literal

import attrs
import pytest
import trio

from foxloop_trio.actions import Allow, CheckResult, Permit, ToolOutput
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.ports import ChatReply
from foxloop_trio.testing import SweepReport, SweepVisit, cancel_at_every_checkpoint, seeded_ids, virtual_wall_clock
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

LEAST = 78
"""Checkpoints that a sweep over this run must have visited. Measured: 89, with each seed."""
How = Literal["cancel", "abort", "abort, then cancel"]
STOPS = ("loop.done", "loop.blocked", "loop.aborted")
GOOD = CheckResult(ok=True)
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": False}

SCRIPT: list[list[tuple[str, str]]] = [
    [("save_note", "a")],  # allowed at once
    [("save_note", "b"), ("send_note", "b")],  # a batch; the second one needs a yes
    [("send_note", "c")],  # the same again; then settle ends the run while the planner still thinks
]


@attrs.define
class Started:
    """One tool that was started, and what is known of it."""

    name: str
    text: str
    ended: bool = False
    state: str = "unknown"


class Scene:
    """All parts of one run, made anew for each. `log` says in one list who was called, and where the stop came."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.tools: list[Started] = []
        self.seen: list[list[Any]] = []
        self.clock = virtual_wall_clock()
        self.ids = seeded_ids(1)
        self.memory = MemoryTrail(now=self.clock, ids=self.ids)
        self.permits: list[Permit] = []
        self.events: list[Any] = []
        self.loop: Any = None
        self.current: Any = None
        self.gate: Any = None
        self.host: Any = None

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        """The planner. It notes the call before its first checkpoint: a call that was begun is a call."""
        self.log.append("planner")
        self.seen.append(list(messages))
        await trio.sleep(2)
        turn = len(self.seen) - 1
        calls = [
            {"id": f"c{turn}.{number}", "type": "function", "function": {"name": name, "arguments": f'{{"text": "{text}"}}'}}
            for number, (name, text) in enumerate(SCRIPT[turn])
        ]
        return ChatReply(message={"role": "assistant", "content": None, "tool_calls": calls})

    async def settle(self, given: Any) -> str | None:
        self.log.append("settle")
        await trio.sleep(1)
        return "Sent the notes." if given.results[-1].args == {"text": "c"} else None

    async def check(self, given: Any) -> CheckResult:
        self.log.append("check")
        await trio.lowlevel.checkpoint()
        return GOOD

    async def approve(self, request: Any) -> str | None:
        self.log.append("approve")
        await trio.sleep(3)
        token: str = await self.host.approve(request.request_id)
        return token

    def tool(self, name: str, scope: Any) -> Any:
        async def run(args: dict[str, Any], ctx: Any) -> ToolOutput:
            mine = Started(name=name, text=args["text"])
            self.tools.append(mine)
            self.log.append(f"tool {name}")

            def report(state: Any) -> None:
                mine.state = state
                ctx.report_effect(state)

            report("not-started")
            try:
                await trio.sleep(1)
                report("partial")
                await trio.lowlevel.checkpoint()
                report("done")
            finally:
                mine.ended = True
            return ToolOutput(ok=True, summary="Done.", check=GOOD)

        return Tool(name=name, description="Does it.", parameters=TEXT, scope=scope, domain="notes.local", run=run)

    async def append(self, *, actor: str, kind: str, data: Any) -> None:
        """The trail."""
        await self.memory.append(actor=actor, kind=kind, data=data)

    async def check_action(self, action: Any, **options: Any) -> Any:
        return self._kept(await self.gate.check(action, **options))

    async def redeem(self, token: str, action: Any) -> Any:
        return self._kept(await self.gate.redeem(token, action))

    def _kept(self, decision: Any) -> Any:
        if isinstance(decision, Allow):
            self.permits.append(decision.permit)
        return decision

    async def prepare(self) -> None:
        """Everything up to the run itself."""
        tools = [self.tool("save_note", "fill"), self.tool("send_note", "submit")]
        self.gate, self.host = create_gate(tools=tools, now=self.clock, ids=self.ids)
        with trio.CancelScope(shield=True):
            await self.host.add_grant(scope="fill", domains=["notes.local"], approval="never")
            await self.host.add_grant(scope="submit", domains=["notes.local"])
        self.loop = Loop(
            planner=self, gate=GateOf(self), tools=tools, on_approval=self.approve, settle=self.settle, check=self.check,
            trail=self, ids=self.ids, wall_clock=self.clock,
        )  # fmt: skip

    async def run(self) -> Any:
        """The thing under test."""
        await self.prepare()
        async with self.opened() as run:
            self.current = run
            async for event in run:
                self.events.append(event)
        return self.current.outcome.status

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Any]:
        async with self.loop.run("Send the notes") as run:
            yield run

    def stopped(self) -> None:
        self.log.append("STOP")

    def abort(self) -> None:
        """`abort()` on the run, if it is there; before that there is nothing to stop and the run goes its way."""
        if self.current is not None:
            self.log.append("STOP")
            self.current.abort()


@attrs.frozen
class GateOf:
    """The planner side of the scene's gate, which also remembers each permit."""

    scene: Scene

    async def check(self, action: Any, **options: Any) -> Any:
        return await self.scene.check_action(action, **options)

    async def redeem(self, token: str, action: Any) -> Any:
        return await self.scene.redeem(token, action)


def answered(messages: list[Any]) -> None:
    """Each assistant message is followed by one answer to each of its calls, in order, and by no other."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            given, wanted = message["tool_call_id"], waiting.pop(0) if waiting else "no call"
            assert given == wanted, f"{given} is answered where {wanted} waits"
        else:
            assert waiting == [], f"calls without an answer: {waiting}"
            waiting = [call["id"] for call in message.get("tool_calls", ())]
    assert waiting == [], f"calls without an answer: {waiting}"


def after_the_stop(scene: Scene) -> list[str]:
    return scene.log[scene.log.index("STOP") + 1 :] if "STOP" in scene.log else []


async def assert_contract(scene: Scene, visit: SweepVisit, how: How) -> None:
    """What holds wherever the run was stopped."""
    begun = [word for word in after_the_stop(scene) if word == "planner" or word.startswith("tool ")]
    assert begun == [], f"begun after the stop: {begun}"
    for messages in scene.seen:
        answered(messages)
    _assert_trail(scene)
    for tool in scene.tools:
        assert tool.ended, f"{tool.name} still runs"
    for permit in scene.permits:
        assert not permit.alive, f"{permit!r} was left open"
    if scene.current is not None:
        assert scene.current.outcome is not None, "the run has no outcome"
        assert scene.current.statistics().waiting_for is None
        async with scene.loop.run("the next one, which raises BusyError unless the loop is free"):
            pass
    _assert_end(scene, visit, how)


def _assert_trail(scene: Scene) -> None:
    entries = scene.memory.entries()
    if scene.current is None:
        assert entries == []
        return
    assert isinstance(verify_entries(entries, key=scene.memory.key), Verified)
    kinds = [entry.kind for entry in entries]
    data = [(entry.kind, entry.data) for entry in entries]
    stops = [kind for kind in kinds if kind in STOPS]
    assert len(stops) == 1, f"{len(stops)} stop records: {stops}"
    assert kinds[-1] == stops[0], f"{kinds[-1]} stands after the stop record"
    results = Counter(entry["id"] for kind, entry in data if kind == "loop.tool-result")
    assert all(count == 1 for count in results.values()), f"results twice: {results}"
    effects = {entry["id"]: entry for kind, entry in data if kind == "loop.effect"}
    assert len(effects) == kinds.count("loop.effect"), "an effect stands twice"
    allowed = [entry["id"] for kind, entry in data if kind == "loop.decision" and entry["decision"] == "allow"]
    for call in allowed:
        assert call in results or call in effects, f"{call} was allowed, and nothing is known of its end"
    started = allowed[: len(scene.tools)]  # tools start in the order in which they are allowed
    for call, tool in zip(started, scene.tools, strict=True):
        if call in effects:
            assert effects[call]["state"] == tool.state, f"{call} is {tool.state}, on record as {effects[call]['state']}"
    for call in allowed[len(scene.tools) :]:
        assert effects[call]["state"] == "not-started"


def _assert_end(scene: Scene, visit: SweepVisit, how: How) -> None:
    outcome = scene.current.outcome.status if scene.current is not None else None
    if not visit.stopped:
        assert outcome == "done", outcome
    if visit.cancelled:
        assert how != "abort", "an abort raised Cancelled"
        assert outcome in (None, "aborted", "done"), outcome
    else:
        # A cancel that came when there was nothing left to wait for, an abort, or a stop before there was a run to abort.
        assert scene.events[-1].type == outcome
        assert outcome == "done" or (outcome == "aborted" and how != "cancel"), f"neither cancelled nor done, but {outcome}"
    if outcome == "done":
        assert scene.current.outcome.settled
        assert [(tool.name, tool.text) for tool in scene.tools] == [call for reply in SCRIPT for call in reply]


Make = Callable[[], Scene]


async def sweep(make: Make, how: How, *, strict: bool = True, **options: Any) -> tuple[SweepReport, list[Scene]]:
    """Stop a fresh scene at each of its checkpoints and hold it to the contract."""
    scenes: list[Scene] = []

    async def fn() -> Any:
        scenes.append(make())
        return await scenes[-1].run()

    def stop() -> None:
        if scenes:  # at point 1 there is none yet
            scenes[-1].stopped() if how == "cancel" else scenes[-1].abort()

    options |= {"on_stop": stop} if how == "cancel" else {"stop": stop}
    report = await cancel_at_every_checkpoint(
        fn, check=lambda visit: assert_contract(scenes[-1], visit, how), strict=strict, **options
    )
    return report, scenes


# The loop


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("how", ["cancel", "abort"])
async def test_stopped_at_any_checkpoint_the_run_keeps_the_contract(how: How, seed: int, autojump_clock: Any) -> None:
    """No planner call, no tool start, one stop record, one result a call, the effect on record, nothing left, Cancelled passes."""
    report, scenes = await sweep(Scene, how, seed=seed)
    print(f"{how}, seed {seed}: {report!r}")
    assert report.ok
    assert report.checkpoints >= LEAST
    ends = Counter(scene.current.outcome.status for scene in scenes if scene.current is not None)
    assert ends["aborted"] >= LEAST - 15
    assert ends["done"] >= 1
    assert {tool.state for scene in scenes for tool in scene.tools} == {"not-started", "partial", "done"}


@pytest.mark.parametrize("after", [1, 2, 4])
@pytest.mark.parametrize("how", ["cancel", "abort, then cancel"])
async def test_a_cancel_on_top_of_a_stop_breaks_no_promise(how: How, after: int, autojump_clock: Any) -> None:
    """A second cancel, or one right after `abort()`, comes into the middle of the loop's own clean-up."""
    report, _ = await sweep(Scene, how, again_after=after)
    assert report.ok
    assert report.checkpoints >= LEAST


# Planted faults


class Swallows(Scene):
    """The run's Cancelled ends here, as if the run had come to its end."""

    async def run(self) -> Any:
        try:
            return await super().run()
        except trio.Cancelled:
            return "fine"


class ActsAfterwards(Scene):
    """A tool is started once more on the way out."""

    async def run(self) -> Any:
        try:
            return await super().run()
        finally:
            if "STOP" in self.log and self.tools:
                self.log.append(f"tool {self.tools[-1].name}")


class AsksAfterwards(Scene):
    """The planner is asked for a last word while the run winds up."""

    async def append(self, *, kind: str, **entry: Any) -> None:
        await super().append(kind=kind, **entry)
        if kind == "loop.aborted":
            with contextlib.suppress(IndexError):
                await self.chat([], tools=[])


class ForgetsTheStop(Scene):
    """No record of the end."""

    async def append(self, *, kind: str, **entry: Any) -> None:
        if kind != "loop.aborted":
            await super().append(kind=kind, **entry)


class StopsTwice(Scene):
    """Two records of the end."""

    async def append(self, *, kind: str, **entry: Any) -> None:
        await super().append(kind=kind, **entry)
        if kind == "loop.aborted":
            await super().append(kind=kind, **entry)


class ForgetsTheEffect(Scene):
    """What the running tool did is not on record."""

    async def append(self, *, kind: str, **entry: Any) -> None:
        if kind != "loop.effect":
            await super().append(kind=kind, **entry)


class LeavesATask(Scene):
    """Something of the run goes on in the background."""

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncIterator[Any]:
        async with super().opened() as run:
            yield run
        trio.lowlevel.spawn_system_task(trio.sleep, 0.5, name="still there")

    async def run(self) -> Any:
        try:
            return await super().run()
        except trio.Cancelled:
            trio.lowlevel.spawn_system_task(trio.sleep, 0.5, name="still there")
            raise


class StaysBusy(Scene):
    """The loop takes no other run."""

    async def run(self) -> Any:
        try:
            return await super().run()
        finally:
            self.loop._acquire()


class HidesAnError(Scene):
    """The clean-up fails, and its error takes the place of Cancelled."""

    async def run(self) -> Any:
        try:
            return await super().run()
        finally:
            if "STOP" in self.log:
                raise RuntimeError("the clean-up failed")


class DropsAnAnswer(Scene):
    """The planner is shown a call that nobody answered."""

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        return await super().chat([message for message in messages if message.get("tool_call_id") != "c1.0"], tools=tools)


class LosesALeave(Scene):
    """A permit is handed out twice, and only one of the two is ever closed."""

    async def check_action(self, action: Any, **options: Any) -> Any:
        self.permits += [found.permit for found in [await self.gate.check(action, **options)] if hasattr(found, "permit")]
        return await super().check_action(action, **options)


PLANTED = [
    (Swallows, "swallowed", "then returned 'fine'"),
    (ActsAfterwards, "check", "begun after the stop: ['tool "),
    (AsksAfterwards, "check", "begun after the stop: ['planner'"),
    (ForgetsTheStop, "check", "0 stop records"),
    (StopsTwice, "check", "2 stop records"),
    (ForgetsTheEffect, "check", "nothing is known of its end"),
    (LeavesATask, "leaked-task", "still there"),
    (StaysBusy, "check", "BusyError"),
    (HidesAnError, "error", "the clean-up failed"),
    (DropsAnAnswer, "check", "answered where c1.0 waits"),
    (LosesALeave, "check", "was left open"),
]


@pytest.mark.parametrize(
    ("make", "kind", "words", "how"),
    [(*planted, "cancel") for planted in PLANTED]
    + [(*planted, "abort") for planted in PLANTED if planted[0] in (StopsTwice, StaysBusy)],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_the_sweep_catches_each_planted_fault(make: Make, kind: str, words: str, how: How, autojump_clock: Any) -> None:
    """A sweep that cannot fail shows nothing: one broken promise each, by its kind and in its words."""
    report, _ = await sweep(make, how, strict=False)
    caught = [violation for violation in report.violations if violation.kind == kind and words in violation.message]
    assert caught, repr(report)
