"""Promises of docs/explanation/cancellation.md that no other module holds: held events, pauses, limits by name, leases."""

from __future__ import annotations

from typing import Any, get_args

import pytest
import trio

from foxloop_trio.actions import CheckResult, Money, ToolOutput
from foxloop_trio.browser import browser_tools
from foxloop_trio.events import LimitName
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Budget, Loop
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.testing import FakeBrowser, PageData, SweepVisit, cancel_at_every_checkpoint


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


class Logged:
    """A run of two calls, the second one approved by a human, whose parts note when they are called. Each takes `takes` seconds.

    `reached` is set when the part named in `watch` is called for that time, counted from 1.
    """

    def __init__(
        self, parts: Any, *, takes: float = 0.0, check: bool = True, watch: tuple[str, int] = ("", 0), **options: Any
    ) -> None:
        self.log: list[tuple[str, float]] = []
        self.watch = watch
        self.reached = trio.Event()
        self.takes = takes
        self.started = trio.current_time()
        gate = parts.StubGate("allow", "ask")
        inner, self.check_ok = gate.check, check

        async def gate_check(action: Any, **more: Any) -> Any:
            self.note("gate")
            return await inner(action, **more)

        gate.check = gate_check
        replies = scripted_planner([parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b")), parts.FINISH])

        async def plan(messages: Any, tools: Any) -> Any:
            await self.step("planner")
            return await replies.chat(messages, tools=tools)

        self.bench = parts.Bench(
            planner=function_planner(plan), gate=gate, tools=[parts.save_note([], run=self.save)], on_approval=self.approve,
            check=self.check, sink=parts.MemorySink(), **options,
        )  # fmt: skip

    def now(self) -> float:
        return trio.current_time() - self.started

    def note(self, name: str) -> None:
        self.log.append((name, self.now()))
        if (name, [called for called, _ in self.log].count(name)) == self.watch:
            self.reached.set()

    async def step(self, name: str) -> None:
        self.note(name)
        await trio.sleep(self.takes)

    async def save(self, args: Any, ctx: Any) -> ToolOutput:
        await self.step("tool")
        return ToolOutput(ok=True, summary="Saved.")

    async def approve(self, request: Any) -> str:
        await self.step("human")
        return "t"

    async def check(self, claim: Any) -> CheckResult:
        await self.step("check")
        return CheckResult(ok=self.check_ok)


TYPES = [
    "plan", "tool-call", "decision", "tool-result",
    "plan", "tool-call", "decision", "approval-needed", "decision", "tool-result",
    "plan", "check", "done",
]  # fmt: skip
"""The events of an undisturbed `Logged` run."""


async def test_the_undisturbed_run_gives_all_events_and_calls_all_parts(parts: Any, autojump_clock: Any) -> None:
    """What the tests below cut."""
    logged = Logged(parts)
    assert [event.type for event in await logged.bench.run()] == TYPES
    assert {name for name, _ in logged.log} == {"planner", "gate", "tool", "human", "check"}


@pytest.mark.parametrize("at", range(len(TYPES) - 1))
async def test_an_abort_while_an_event_is_held_lets_nothing_begin(parts: Any, at: int, autojump_clock: Any) -> None:
    """Whichever event it is, the next one is `aborted`, and nobody is called in between."""
    logged = Logged(parts)
    events = 0
    called = -1

    def each(run: Any, event: Any) -> None:
        nonlocal events, called
        if events == at:
            called = len(logged.log)
            run.abort()
        events += 1

    seen = await logged.bench.run(each=each)
    assert [event.type for event in seen] == [*TYPES[: at + 1], "aborted"]
    assert logged.log[called:] == []
    assert logged.bench.sink.kinds[-1] == "loop.aborted"


@pytest.mark.parametrize("at", range(len(TYPES) - 1))
async def test_time_that_runs_out_while_an_event_is_held_lets_nothing_begin(parts: Any, at: int, autojump_clock: Any) -> None:
    """But for two: a passing check that is on record is `done`, and `approval-needed` is held on a human's time."""
    logged = Logged(parts, budget=Budget(seconds=10))
    events = 0
    called = -1

    async def each(run: Any, event: Any) -> None:
        nonlocal events, called
        if events == at:
            called = len(logged.log)
            await trio.sleep(11)
        events += 1

    seen = await logged.bench.run(each=each)
    if TYPES[at] in ("check", "approval-needed"):
        assert [event.type for event in seen] == TYPES
        return
    assert [event.type for event in seen] == [*TYPES[: at + 1], "blocked"]
    assert (seen[-1].reason, seen[-1].limit) == ("budget", "seconds")
    assert logged.log[called:] == []


async def test_time_that_runs_out_while_a_failing_check_is_held_ends_the_run(parts: Any, autojump_clock: Any) -> None:
    """The twin of the passing one."""
    logged = Logged(parts, check=False, budget=Budget(seconds=10))

    async def each(run: Any, event: Any) -> None:
        if event.type == "check":
            await trio.sleep(11)

    seen = await logged.bench.run(each=each)
    assert [event.type for event in seen[-2:]] == ["check", "blocked"]
    assert seen[-1].limit == "seconds"


@pytest.mark.parametrize(
    ("what", "turn", "then"),
    [("planner", 1, "tool"), ("tool", 1, "planner"), ("human", 1, "tool"), ("check", 1, None), ("tool", 2, "planner")],
)
async def test_what_is_in_flight_when_a_run_is_paused_ends_and_the_next_thing_waits(
    parts: Any, what: str, turn: int, then: str | None, autojump_clock: Any
) -> None:
    """Paused in the middle of it: it takes its ten seconds, its event is seen, and what follows begins when the pause is over."""
    logged = Logged(parts, takes=10, watch=(what, turn))
    seen: list[tuple[str, float]] = []
    times: dict[str, float] = {}

    async def hold() -> None:
        await logged.reached.wait()
        await trio.sleep(3)
        assert logged.bench.last.statistics().waiting_for is not None
        times["paused"] = logged.now()
        logged.bench.last.pause()
        await trio.sleep(100)
        times["unpaused"] = logged.now()
        logged.bench.last.unpause()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hold)
        await logged.bench.run(each=lambda run, event: seen.append((event.type, logged.now())))
    assert [event for event, _ in seen] == TYPES
    begun = next(at for name, at in reversed(logged.log) if name == what and at < times["paused"])
    assert begun + 10 in [at for _, at in seen], "what was in flight ended in its own time"
    if then is not None:
        assert [at for _, at in logged.log if times["paused"] < at < times["unpaused"] and at != begun + 10] == []
        assert next(at for name, at in logged.log if name == then and at > begun) == times["unpaused"]


def endless(parts: Any) -> Any:
    """A planner that saves one note after the other, for five cents each."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        function = {"name": "save_note", "arguments": f'{{"text": "{len(messages)}"}}'}
        calls = [{"id": f"c{len(messages)}", "type": "function", "function": function}]
        usage = Usage(input_tokens=10, output_tokens=10, cost=Money(value=5, currency="EUR"))
        return ChatReply(message={"role": "assistant", "content": None, "tool_calls": calls}, usage=usage)

    return function_planner(plan)


STOPPED_BY: dict[LimitName, str] = {
    "max_steps": "max-steps",
    "tokens": "budget",
    "tool_calls": "budget",
    "seconds": "budget",
    "cost": "budget",
    "planner_seconds": "budget",
    "approval_seconds": "approval-expired",
    "expires_at": "approval-expired",
}


def test_every_limit_that_ends_a_run_is_known_here() -> None:
    """`tool_seconds` fails the call and not the run."""
    assert {*STOPPED_BY, "tool_seconds"} == set(get_args(LimitName))


@pytest.mark.parametrize("limit", STOPPED_BY)
async def test_a_run_that_a_limit_stops_names_the_limit(parts: Any, limit: LimitName, autojump_clock: Any) -> None:
    """In the event, in the outcome and in the trail."""
    options: dict[str, Any] = {"planner": endless(parts), "sink": parts.MemorySink()}
    match limit:
        case "max_steps":
            options["max_steps"] = 2
        case "tokens" | "tool_calls":
            options["budget"] = Budget(**{limit: 2})
        case "cost":
            options["budget"] = Budget(cost=Money(value=10, currency="EUR"))
        case "seconds" | "planner_seconds":
            options |= {"planner": function_planner(forever), "budget": Budget(**{limit: 2})}
        case "approval_seconds":
            options |= {"gate": parts.StubGate("ask"), "on_approval": forever, "budget": Budget(approval_seconds=2)}
        case "expires_at":
            options |= {"gate": parts.StubGate("ask"), "on_approval": forever}
    bench = parts.Bench(**options)
    last = (await bench.run())[-1]
    assert (last.reason, last.limit) == (STOPPED_BY[limit], limit)
    assert bench.outcome.limit == limit
    assert bench.sink.data("loop.blocked")[0]["limit"] == limit


PAGE: PageData = {"controls": [{"role": "checkbox", "label": "Terms"}]}


@pytest.mark.parametrize("how", ["cancel", "abort"])
async def test_the_lease_of_a_tab_ends_with_a_run_that_is_stopped_anywhere(how: str, autojump_clock: Any) -> None:
    """Around a run that looks and acts in a page, stopped at each of its checkpoints."""
    current: Any = None
    session: Any = None

    async def order() -> None:
        nonlocal current, session
        current = None
        async with FakeBrowser({"http://shop.test/": PAGE}) as session:
            tab = await session.open_tab("http://shop.test/")
            async with session.lease(tab):
                tools = browser_tools(tab)
                gate, host = create_gate(tools=tools)
                for scope in ("read", "fill"):
                    await host.add_grant(scope=scope, domains=["shop.test"])
                acts = [{"name": "act", "args": {"control_id": "0:1", "op": "check"}}, {"name": "finish", "args": {"summary": ""}}]
                planner = scripted_planner([{"calls": [{"name": "snapshot", "args": {}}]}, {"calls": acts}])
                loop = Loop(planner=planner, gate=gate, tools=tools, check=lambda claim: CheckResult(ok=True))
                async with loop.run("Accept the terms.") as current:
                    async for _ in current:
                        pass

    def check(visit: SweepVisit) -> None:
        if session is not None:
            assert session.statistics().leased == ()
        if current is not None:
            assert current.outcome is not None
            assert current.outcome.status == "done" or visit.stopped

    options = {"stop": lambda: current.abort() if current is not None else None} if how == "abort" else {}
    report = await cancel_at_every_checkpoint(order, check=check, **options)
    assert report.checkpoints >= 100
