"""Hard limits: what hangs and can be cancelled is cut at its deadline, what cannot is waited for and named, and the event says
which limit it was (rulings 7, 8, 39 and 43; GB-L1, GB-L3, GB-L5, GB-L12).

Human time is kept apart from work time; the sums here are exact, since all of it runs on a mock clock.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, ToolOutput
from foxloop_trio.errors import BrowserError
from foxloop_trio.loop import Budget, Denials
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply

STEP = 30.0
"""Seconds for one gate answer, `prepare`, `domain`, `describe`, check, `denials.retry` or `ready` (ruling 7)."""


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


async def stubborn(*args: Any, **kwargs: Any) -> Any:
    """Hangs for 60 s whatever anybody says."""
    with trio.CancelScope(shield=True):
        await trio.sleep(60)


class Never:
    """A browser that never says whether it is there."""

    async def ready(self) -> None:
        await trio.sleep_forever()


def saving(parts: Any, **options: Any) -> Any:
    tools = [parts.save_note([], **options.pop("tool", {}))]
    return parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, parts.FINISH, tools=tools, **options)


def hanging_gate(parts: Any, hang: Any, where: str) -> Any:
    gate = parts.StubGate("ask") if where == "redeem" else parts.StubGate(hang)
    gate.redeem_answers = [hang] if where == "redeem" else []
    return gate


def hanging(parts: Any, where: str, hang: Any = forever, **options: Any) -> Any:
    """A bench that hangs at the named wait, in its first step."""

    async def approve(request: Any) -> str:
        return "t"

    options.setdefault("sink", parts.MemorySink())
    match where:
        case "planner":
            return parts.Bench(planner=function_planner(hang), **options)
        case "check":
            return parts.Bench(parts.FINISH, parts.FINISH, check=hang, **options)
        case "gate" | "redeem":
            return saving(parts, gate=hanging_gate(parts, hang, where), on_approval=approve, **options)
        case "human":
            return saving(parts, gate=parts.StubGate("ask"), on_approval=hang, **options)
        case "ready":
            peer = Never()
            peer.ready = hang  # type: ignore[method-assign]
            return saving(parts, tool={"environment": peer}, **options)
        case "retry":
            return saving(
                parts, gate=parts.StubGate(parts.Deny(reason="no-grant", message="m")), denials=Denials(retry=hang), **options
            )
        case "describe":
            return saving(parts, tool={"describe": hang}, gate=parts.StubGate("ask"), on_approval=approve, **options)
        case "human tool":
            return saving(parts, tool={"run": hang, "human": True, "scope": "read"}, **options)
        case "tool":
            return saving(parts, tool={"run": hang}, **options)
        case _:
            return saving(parts, tool={where: hang}, **options)


async def timed(bench: Any, **options: Any) -> tuple[list[Any], float]:
    start = trio.current_time()
    events = await bench.run(**options)
    return events, trio.current_time() - start


CUTS: dict[str, tuple[str, str]] = {
    "ready": ("blocked browser-lost", "browser took longer than 30 s"),
    "prepare": ("tool-result invalid-args", "prepare of save_note took longer than 30 s"),
    "domain": ("tool-result invalid-args", "domain of save_note took longer than 30 s"),
    "gate": ("blocked gate-error", "gate took longer than 30 s"),
    "redeem": ("blocked gate-error", "gate took longer than 30 s"),
    "describe": ("blocked approval-error", "describe of save_note took longer than 30 s"),
    "retry": ("blocked gate-deny", "no-grant: m"),
    "check": ("check", "check took longer than 30 s"),
}


@pytest.mark.parametrize("where", CUTS)
async def test_each_single_step_that_hangs_is_cut_at_thirty_seconds_and_named(parts: Any, where: str, autojump_clock: Any) -> None:
    """Rulings 7 and 43: as if that step had raised, and the words say which step it was."""
    words, message = CUTS[where]
    seen: dict[str, float] = {}

    def each(run: Any, event: Any) -> None:
        seen.setdefault(parts.told([event])[0], trio.current_time() - start)
        if hasattr(event, "checks"):
            event = event.checks[0]
        said.append(getattr(event, "message", None) or getattr(event, "detail", None) or getattr(event, "evidence", None))

    said: list[Any] = []
    start = trio.current_time()
    await hanging(parts, where, max_steps=1).run(each=each)
    assert seen[words] == STEP
    assert message in said


async def test_a_permit_whose_validity_nobody_tells_is_cut_each_time_and_then_given_up(parts: Any, autojump_clock: Any) -> None:
    """`permit.valid` hangs: after 30 s the leave counts as lapsed and is asked for anew, three times, then the run is blocked."""

    class Ledger(parts.StubLedger):  # type: ignore[misc,name-defined]
        async def still_allows(self, permit_id: str) -> bool:
            await trio.sleep_forever()
            raise AssertionError

    async def hold(run: Any, event: Any) -> None:
        if event.type == "decision":
            await trio.sleep(2)

    gate = parts.StubGate()
    gate.ledger = Ledger()
    notes: list[str] = []
    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=[parts.save_note(notes)], gate=gate)
    events, took = await timed(bench, each=hold)
    assert (events[-1].reason, took, notes) == ("gate-deny", 3 * (2 + STEP), [])
    assert gate.ledger.closed == [("p1", "release"), ("p2", "release"), ("p3", "release")]


LIMITS: dict[str, tuple[Any, str, str | None, float]] = {
    "planner": (Budget(planner_seconds=4), "blocked budget", "planner_seconds", 4),
    "tool": (Budget(tool_seconds=6), "tool-result timeout", None, 6),
    "human": (Budget(approval_seconds=8), "blocked approval-expired", "approval_seconds", 8),
    "human tool": (Budget(approval_seconds=9, tool_seconds=1), "tool-result timeout", None, 9),
}


@pytest.mark.parametrize("where", LIMITS)
async def test_each_limit_of_the_budget_cuts_its_own_wait_and_is_named(parts: Any, where: str, autojump_clock: Any) -> None:
    """Ruling 7: planner ends the run, tool fails the call, approval counts as no answer; a human tool has the human limit."""
    budget, words, limit, seconds = LIMITS[where]
    at: dict[str, float] = {}
    start = trio.current_time()
    bench = hanging(parts, where, budget=budget, max_steps=1)
    events = await bench.run(each=lambda run, event: at.setdefault(parts.told([event])[0], trio.current_time() - start))
    assert at[words] == seconds
    cut = events[[parts.told([event])[0] for event in events].index(words)]
    if limit is not None:
        assert (cut.limit, bench.outcome.limit) == (limit, limit)
    else:
        assert f"{seconds}" in cut.summary
        assert bench.sink.data("loop.effect")[0]["state"] == "unknown"


async def test_an_approval_is_cut_by_the_nearer_of_its_limit_and_the_requests_expiry(parts: Any, autojump_clock: Any) -> None:
    """GB-L5: and the event says which of the two it was."""
    for expires_at, limit, seconds in ((5.0, "expires_at", 5.0), (50.0, "approval_seconds", 8.0)):
        bench = hanging(parts, "human", budget=Budget(approval_seconds=8))
        bench.gate.expires_at = expires_at
        events, took = await timed(bench)
        assert (events[-1].reason, events[-1].limit, took) == ("approval-expired", limit, seconds)


WORK = ["planner", "tool", "gate", "redeem", "prepare", "domain", "describe", "check", "ready", "retry"]


@pytest.mark.parametrize("where", WORK)
async def test_the_runs_own_seconds_cut_what_any_other_limit_would_cut_later(parts: Any, where: str, autojump_clock: Any) -> None:
    """GB-L1: at exactly the deadline, and `limit` says that it was the run's work time."""
    bench = hanging(parts, where, budget=Budget(seconds=7, planner_seconds=20, tool_seconds=20))
    events, took = await timed(bench)
    assert (parts.told(events)[-1], events[-1].limit, took) == ("blocked budget", "seconds", 7.0)
    assert events[-1].message == "seconds: the run's work time is used up (7 s)"
    assert bench.last.statistics().work_seconds == 7.0


@pytest.mark.parametrize(("budget", "limit"), [({"seconds": 5}, "seconds"), ({"planner_seconds": 5}, "planner_seconds")])
async def test_a_settle_that_hangs_beside_a_planner_that_hangs_is_cut_with_it(
    parts: Any, budget: Any, limit: str, autojump_clock: Any
) -> None:
    """GB-L16: one limit for the race; both have ended before the event."""
    ended: list[str] = []
    turns: list[int] = []

    async def hang(name: str) -> Any:
        try:
            await trio.sleep_forever()
        finally:
            ended.append(name)

    async def settle(given: Any) -> Any:
        return await hang("settle")

    async def plan(messages: Any, tools: Any) -> Any:
        turns.append(1)
        if len(turns) > 1:
            await hang("planner")
        function = {"name": "save_note", "arguments": '{"text": "a"}'}
        return ChatReply(message={"content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]})

    bench = parts.Bench(planner=function_planner(plan), settle=settle, budget=Budget(**budget))
    events, took = await timed(bench)
    assert (parts.told(events)[-1], events[-1].limit, took) == ("blocked budget", limit, 5.0)
    assert sorted(ended) == ["planner", "settle"]


@pytest.mark.parametrize("kind", ["loop.start", "loop.plan", "loop.decision", "loop.tool-result", "loop.done"])
async def test_a_trail_that_hangs_is_cut_at_trail_timeout_whatever_the_runs_seconds(
    parts: Any, kind: str, autojump_clock: Any
) -> None:
    """GB-L12 and ruling 3: only `trail_timeout` cuts the queue; the message names it."""

    class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if kind == self.hang and not self.hung:
                self.hung = True
                await trio.sleep_forever()
            await super().append(actor=actor, kind=kind, data=data)

    sink = Sink()
    sink.hang, sink.hung = kind, False
    bench = saving(parts, sink=sink, trail_timeout=3, budget=Budget(seconds=2))
    events, took = await timed(bench)
    assert (parts.told(events)[-1], took) == ("blocked trail-failed", 3.0)
    assert "trail_timeout" in events[-1].message
    assert sink.kinds[-1] == "loop.blocked"


# What cannot be cancelled


@pytest.mark.parametrize("stop", ["abort", "seconds", "tool_seconds"])
async def test_a_shielded_tool_is_waited_for_named_in_the_statistics_and_then_in_the_trail(
    parts: Any, stop: str, autojump_clock: Any
) -> None:
    """GB-L3, ruling 1: the event comes when the tool has ended, and the note says how late that was."""
    budget = {"abort": Budget(), "seconds": Budget(seconds=10), "tool_seconds": Budget(tool_seconds=10)}[stop]
    bench = hanging(parts, "tool", stubborn, budget=budget, cancel_grace=4, max_steps=1)
    events: list[Any] = []
    async with trio.open_nursery() as nursery, bench.loop.run("g") as run:

        async def read() -> None:
            async for event in run:
                events.append((trio.current_time() - start, event))

        start = trio.current_time()
        nursery.start_soon(read)
        await trio.sleep(10)
        if stop == "abort":
            run.abort()
        await trio.sleep(25)
        statistics = run.statistics()
        assert (statistics.waiting_for, statistics.waiting_since) == ("tool save_note", start)
        assert [event.type for _, event in events] == ["plan", "tool-call", "decision"]
        await trio.sleep(60)
    assert bench.sink.data("loop.late-tool") == [{"step": 1, "id": "call_1", "name": "save_note", "late_ms": 50_000, "run": run.id}]
    assert events[3][0] == 60.0
    assert parts.told([events[3][1]]) == {
        "abort": ["aborted"], "seconds": ["blocked budget"], "tool_seconds": ["tool-result timeout"],
    }[stop]  # fmt: skip


@pytest.mark.parametrize("where", ["planner", "gate", "prepare", "domain", "check", "human", "describe"])
async def test_any_other_wait_that_shields_itself_is_waited_for_and_named(parts: Any, where: str, autojump_clock: Any) -> None:
    """Nothing of the run still acts when `aborted` is said."""
    bench = hanging(parts, where, stubborn)
    events: list[Any] = []
    start = trio.current_time()
    async with trio.open_nursery() as nursery, bench.loop.run("g") as run:

        async def read() -> None:
            async for event in run:
                events.append(event)

        nursery.start_soon(read)
        await trio.sleep(10)
        run.abort()
        await trio.sleep(20)
        assert run.statistics().waiting_for == {
            "planner": "planner", "gate": "gate", "prepare": "prepare of save_note", "domain": "domain of save_note",
            "check": "check", "human": "human", "describe": "describe of save_note",
        }[where]  # fmt: skip
        assert run.statistics().waiting_since == start
        assert "aborted" not in [event.type for event in events]
        await trio.sleep(40)
    assert events[-1].type == "aborted"
    assert run.statistics().waiting_for is None


async def test_a_tool_in_a_thread_is_waited_for_and_what_it_returned_is_on_record(parts: Any) -> None:
    """GB-L3: a thread cannot be stopped by anyone. Real clock: the thread is released once the abort is in."""
    go = threading.Event()
    started = trio.Event()

    async def run_it(args: Any, ctx: Any) -> ToolOutput:
        def work() -> None:
            trio.from_thread.run_sync(started.set)
            assert go.wait(10)

        await trio.to_thread.run_sync(work)
        return ToolOutput(ok=True, summary="Worked.")

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=run_it)], sink=parts.MemorySink(), cancel_grace=0
    )
    events: list[Any] = []
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery, bench.loop.run("g") as run:

            async def read() -> None:
                async for event in run:
                    events.append(event)

            nursery.start_soon(read)
            await started.wait()
            run.abort()
            await trio.testing.wait_all_tasks_blocked()
            assert run.statistics().waiting_for == "tool save_note"
            assert [event.type for event in events] == ["plan", "tool-call", "decision"]
            go.set()
    assert events[-1].type == "aborted"
    assert events[-1].in_flight.effect.state == "done"
    assert bench.sink.kinds[-3:] == ["loop.late-tool", "loop.effect", "loop.aborted"]
    assert bench.sink.data("loop.effect")[0]["late"]["summary"] == "Worked."


# Two clocks


async def test_human_time_and_work_time_are_summed_apart_in_statistics_and_trail(parts: Any, autojump_clock: Any) -> None:
    """Ruling 7 and 8: the wait for a yes, a held approval-needed, a human tool and a pause are a person's; all else is work."""

    async def approve(request: Any) -> str:
        await trio.sleep(200)
        return "t"

    async def ask(args: Any, ctx: Any) -> ToolOutput:
        await trio.sleep(1000)
        return ToolOutput(ok=True, summary="Blue.")

    async def save(args: Any, ctx: Any) -> ToolOutput:
        await trio.sleep(3)
        return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=True))

    async def prepare(args: Any, ctx: Any) -> Any:
        await trio.sleep(2)
        return args

    script = [parts.reply({"name": "ask", "args": {}}), parts.reply(parts.call(text="a")), parts.FINISH]

    async def plan(messages: Any, tools: Any) -> Any:
        await trio.sleep(1)
        return await bench.planner.chat(messages, tools=tools)

    human = parts.save_note([], name="ask", parameters={"type": "object"}, scope="read", human=True, run=ask)
    bench = parts.Bench(
        *script, planner=function_planner(plan), tools=[human, parts.save_note([], run=save, prepare=prepare)],
        gate=parts.StubGate("allow", "ask"), on_approval=approve, sink=parts.MemorySink(),
    )  # fmt: skip
    async with trio.open_nursery() as nursery:

        async def hold(run: Any, event: Any) -> None:
            if event.type == "approval-needed":
                await trio.sleep(30)
                assert run.statistics().human_seconds == 1000 + 30  # while it is still held
            if event.type == "tool-result" and event.name == "save_note":
                await trio.sleep(5)
                run.pause()
                nursery.start_soon(go_on, run)

        async def go_on(run: Any) -> None:
            await trio.sleep(70)
            run.unpause()

        events = await bench.run(each=hold)
    assert events[-1].type == "done"
    statistics = bench.last.statistics()
    assert statistics.human_seconds == 1000 + 30 + 200 + 70
    assert statistics.work_seconds == 3 * 1 + 2 + 3 + 5
    times = [(kind, data["record"]["work_ms"], data["record"]["human_ms"]) for kind, data in bench.sink.entries if "record" in data]
    assert times[0] == ("loop.plan", 1000, 0)
    assert [row for row in times if row[0] == "loop.tool-result"] == [
        ("loop.tool-result", 1000, 1_000_000), ("loop.tool-result", 7000, 1_230_000),
    ]  # fmt: skip
    assert times[-1] == ("loop.done", 13_000, 1_300_000)


async def test_human_time_takes_nothing_from_the_runs_seconds_and_work_time_after_it_does(parts: Any, autojump_clock: Any) -> None:
    """The deadline moves by what the human took, to the second."""

    async def approve(request: Any) -> str:
        await trio.sleep(500)
        return "t"

    bench = saving(parts, tool={"run": forever}, gate=parts.StubGate("ask"), on_approval=approve, budget=Budget(seconds=7))
    events, took = await timed(bench)
    assert (parts.told(events)[-1], took) == ("blocked budget", 507.0)
    statistics = bench.last.statistics()
    assert (statistics.work_seconds, statistics.human_seconds) == (7.0, 500.0)


async def test_a_browser_that_is_gone_is_said_in_its_own_words(parts: Any) -> None:
    """Ruling 9 and 40: `ready` raises, and no planner call is made."""

    class Gone:
        async def ready(self) -> None:
            raise BrowserError("the browser went away", code="browser-lost")

    bench = saving(parts, tool={"environment": Gone()})
    events = await bench.run()
    assert (parts.told(events), events[0].message, bench.planner.seen) == (
        ["blocked browser-lost"], "the browser went away", [],
    )  # fmt: skip
