"""Corners where two things meet: an error behind a cancellation, a stop while a note is written, a pause at the very last moment.

Each of these once went wrong. What they have in common is an instant at which the loop waits for one thing and another one comes.
"""

from __future__ import annotations

import gc
import hashlib
import hmac
import json
import re
import sys
import types
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, Deny, ToolOutput
from foxloop_trio.canonical import canonical_json
from foxloop_trio.errors import BusyError
from foxloop_trio.loop import Budget, _history
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply, Usage

STOPS = {"loop.done", "loop.blocked", "loop.aborted"}


def stops(sink: Any) -> list[str]:
    return [kind for kind in sink.kinds if kind in STOPS]


def sink_with(parts: Any, **before: Callable[[], Awaitable[None]]) -> Any:
    """A trail that awaits something before it takes an entry: `effect=` before a `loop.effect`, `all=` before each one."""

    class Sink(parts.MemorySink):  # type: ignore[misc]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            wait = before.get("all") or before.get(kind.removeprefix("loop.").replace("-", "_"))
            if wait is not None:
                await wait()
            await super().append(actor=actor, kind=kind, data=data)

    return Sink()


def taking(seconds: float) -> Callable[[], Awaitable[None]]:
    async def wait() -> None:
        await trio.sleep(seconds)

    return wait


def failing_when_cancelled(error: Exception) -> Callable[..., Awaitable[Any]]:
    """Waits for ever; when it is cancelled, a task of its own raises, so that what comes out is a group of both."""

    async def wait(*args: Any, **kwargs: Any) -> Any:
        async def child() -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise error

        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)
            await trio.sleep_forever()

    return wait


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


def at(seconds: float, nursery: trio.Nursery, do: Callable[[], object]) -> None:
    """Do it at this time of the test's clock, which starts at 0."""

    async def later() -> None:
        await trio.sleep_until(seconds)
        do()

    nursery.start_soon(later)


async def stopped_at(bench: Any, seconds: float, how: str, goal: str = "g") -> list[Any]:
    """The events of a run that is stopped at this time, by `abort` or by a `cancel` from outside."""
    events: list[Any] = []
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            async with bench.loop.run(goal) as bench.last:
                at(seconds, nursery, bench.last.abort if how == "abort" else scope.cancel)
                async for event in bench.last:
                    events.append(event)
        nursery.cancel_scope.cancel()
    assert scope.cancelled_caught is (how == "cancel")
    return events


# The end of a run


@pytest.mark.parametrize("half_seconds", range(1, 20))
async def test_a_run_that_is_left_while_a_record_is_written_ends_once_and_its_reader_gets_no_more_than_that_event(
    parts: Any, half_seconds: int, autojump_clock: Any
) -> None:
    """The reader's next question finds the run over, and does not drive it beside the one who leaves."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=sink_with(parts, all=taking(1)))
    seen: list[str] = []

    async def read(run: Any) -> None:
        async for event in run:
            seen.append(event.type)

    async with trio.open_nursery() as nursery, bench.loop.run("g") as run:
        nursery.start_soon(read, run)
        await trio.sleep(half_seconds / 2)
    kinds = bench.sink.kinds
    assert stops(bench.sink) == kinds[-1:]
    written = [kind.removeprefix("loop.") for kind in kinds if kind not in ("loop.start", "loop.observation", "loop.effect")]
    assert seen in (written, written[:-1])
    assert run.outcome.status == written[-1]
    assert bench.loop._busy is False
    if half_seconds == 5:
        assert seen == ["plan"]
        assert kinds == ["loop.start", "loop.observation", "loop.plan", "loop.aborted"]
        assert trio.current_time() == 4.0


async def test_a_run_that_settle_tries_to_leave_says_so_and_goes_on(parts: Any) -> None:
    """The settle hook's task is the reader's own child: waiting for the reader to end there could never end."""
    told: list[str] = []
    hung: list[bool] = []

    async def settle(given: Any) -> None:
        try:
            await run.__aexit__(None, None, None)
        except BusyError as fault:
            told.append(str(fault))

    async def late(messages: Any) -> Any:
        await trio.testing.wait_all_tasks_blocked()
        return parts.FINISH

    def watch() -> None:
        if run._idle is not None:  # waits shielded, so nothing but this ends it
            hung.append(True)
            run._idle.set()

    bench = parts.Bench(parts.reply(parts.call(text="a")), late, settle=settle)
    async with trio.open_nursery() as nursery:
        at(trio.current_time() + 2, nursery, watch)
        async with bench.loop.run("g") as run:
            events = [event async for event in run]
        nursery.cancel_scope.cancel()
    assert not hung
    assert len(told) == 1
    assert "leave it where it was opened" in told[0]
    assert parts.told(events)[-1] == "done"


# Errors behind a cancellation


async def test_the_error_of_one_tool_is_not_told_of_the_next_one(parts: Any, autojump_clock: Any) -> None:
    """What hid behind a cancellation belongs to the wait it came from."""

    async def calm(args: Any, ctx: Any) -> Any:
        await trio.sleep(3)

    tools = [
        parts.save_note([], name="first", run=failing_when_cancelled(ValueError("the first tool's error"))),
        parts.save_note([], name="second", run=calm),
    ]
    bench = parts.Bench(
        parts.reply(parts.call("first", text="a")),
        parts.reply(parts.call("second", text="a")),
        tools=tools,
        sink=parts.MemorySink(),
        budget=Budget(tool_seconds=5),
    )
    await stopped_at(bench, 6, "cancel")
    first, second = bench.sink.data("loop.effect")
    assert (first["name"], first["state"], first["error"]) == ("first", "unknown", "the first tool's error")
    assert (second["name"], second["state"]) == ("second", "unknown")
    assert "error" not in second
    assert "error" not in bench.sink.data("loop.aborted")[0]["record"]


async def test_a_settle_whose_clean_up_fails_does_not_cost_the_planners_reply(parts: Any, autojump_clock: Any) -> None:
    """It lost the race, so its error is a note and the reply counts."""

    async def late(messages: Any) -> Any:
        await trio.sleep(1)
        return parts.FINISH

    settle = failing_when_cancelled(ValueError("settle's clean-up failed"))
    bench = parts.Bench(parts.reply(parts.call(text="a")), late, settle=settle, sink=parts.MemorySink())
    events = await bench.run()
    assert parts.told(events) == ["plan", "tool-call", "decision allow", "tool-result", "plan", "check", "done"]
    assert [note["error"] for note in bench.sink.data("loop.settle-error")] == ["settle's clean-up failed"]
    assert trio.current_time() == 1.0


async def test_a_planner_whose_clean_up_fails_does_not_cost_a_settled_verdict(parts: Any, autojump_clock: Any) -> None:
    """The planner lost the race; that it was cancelled uncleanly changes nothing about what settle found."""
    fail = failing_when_cancelled(ValueError("the planner's clean-up failed"))

    async def settle(given: Any) -> str:
        await trio.sleep(1)
        return "Saved the note."

    bench = parts.Bench(parts.reply(parts.call(text="a")), fail, settle=settle, sink=parts.MemorySink())
    events = await bench.run()
    assert parts.told(events) == ["plan", "tool-call", "decision allow", "tool-result", "check", "done"]
    assert (bench.outcome.settled, bench.outcome.summary) == (True, "Saved the note.")
    assert stops(bench.sink) == ["loop.done"]
    assert trio.current_time() == 1.0


@pytest.mark.parametrize("raced", [False, True])
@pytest.mark.parametrize("how", ["abort", "cancel"])
async def test_what_a_planner_raises_when_it_is_stopped_is_on_record(
    parts: Any, how: str, raced: bool, autojump_clock: Any
) -> None:
    """The stop is what the run ends with; the error is told beside it, alone and in a race with settle."""
    fail = failing_when_cancelled(ValueError("the planner's own error"))

    async def settle(given: Any) -> None:
        await trio.sleep_forever()

    replies = [parts.reply(parts.call(text="a")), fail] if raced else [fail]
    bench = parts.Bench(*replies, settle=settle if raced else None, sink=parts.MemorySink())
    await stopped_at(bench, 1, how)
    [end] = bench.sink.data("loop.aborted")
    assert end["record"]["cause"] == ("abort" if how == "abort" else "cancelled")
    assert end["record"]["error"] == "the planner's own error"
    assert trio.current_time() == 1.0


async def test_a_trail_that_fails_while_it_is_cut_is_a_failed_trail_and_no_exception(parts: Any, autojump_clock: Any) -> None:
    """Cut by trail_timeout, it raises a group of Cancelled and its error: the error is the reason."""
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), sink=sink_with(parts, plan=failing_when_cancelled(OSError("the disk is gone")))
    )
    events = await bench.run()
    assert parts.told(events) == ["blocked trail-failed"]
    assert "the disk is gone" in events[0].message
    assert stops(bench.sink) == ["loop.blocked"]
    assert trio.current_time() == 5.0


async def test_a_trail_that_fails_while_the_run_winds_up_does_not_hide_the_cancellation(parts: Any, autojump_clock: Any) -> None:
    """The caller's scope gets its Cancelled, not the trail's group."""
    sink = sink_with(parts, aborted=failing_when_cancelled(OSError("the disk is gone")))
    bench = parts.Bench(planner=function_planner(forever), sink=sink)
    await stopped_at(bench, 1, "cancel")  # which sees to it that the cancellation arrived
    assert bench.last.outcome.status in ("aborted", "blocked")
    assert bench.loop._busy is False
    assert trio.current_time() == 6.0


# Stops while a note is written


@pytest.mark.parametrize(("how", "ended"), [("abort", 6.0), ("cancel", 6.5)])
async def test_the_one_note_of_an_effect_is_the_true_one_though_a_stop_comes_while_it_is_written(
    parts: Any, how: str, ended: float, autojump_clock: Any
) -> None:
    """A tool that was cut at its limit had said what it did; no second note says that nobody knows."""

    async def run(args: Any, ctx: Any) -> Any:
        ctx.report_effect("done", done={"sent": 1})
        await trio.sleep_forever()

    bench = parts.Bench(
        parts.reply(parts.call(text="a")),
        tools=[parts.save_note([], run=run)],
        sink=sink_with(parts, effect=taking(1)),
        budget=Budget(tool_seconds=5),
    )
    await stopped_at(bench, 5.5, how)
    assert [(note["state"], note["done"]) for note in bench.sink.data("loop.effect")] == [("done", {"sent": 1})]
    effect = bench.last.outcome.in_flight.effect
    assert (effect.state, effect.done) == ("done", {"sent": 1})
    assert bench.gate.ledger.closed == [("p1", "settle")]
    assert trio.current_time() == ended


async def test_a_cancel_while_a_failure_of_the_books_is_noted_does_not_lose_what_the_tool_did(
    parts: Any, autojump_clock: Any
) -> None:
    """The tool ran to its end, so its effect is on record as done."""

    class Ledger(parts.StubLedger):  # type: ignore[misc]
        async def settle(self, permit_id: str) -> None:
            raise OSError("the books are closed")

    gate = parts.StubGate()
    gate.ledger = Ledger()
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=gate, sink=sink_with(parts, permit_error=taking(1)))
    await stopped_at(bench, 0.5, "cancel")
    assert bench.notes == ["a"]
    assert bench.sink.kinds[-3:] == ["loop.permit-error", "loop.effect", "loop.aborted"]
    assert [note["state"] for note in bench.sink.data("loop.effect")] == ["done"]
    assert bench.last.outcome.in_flight.effect.state == "done"
    assert trio.current_time() == 1.5


@pytest.mark.parametrize("raises", [True, False], ids=["error", "value"])
async def test_a_cancel_while_a_late_tool_is_noted_does_not_lose_how_it_ended(
    parts: Any, raises: bool, autojump_clock: Any
) -> None:
    """Aborted at 1, the tool ends at 60, the cancel comes at 61 while the note of its lateness takes two seconds."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        with trio.CancelScope(shield=True):
            await trio.sleep(60)
        if raises:
            raise ValueError("the tool's own error")
        return ToolOutput(ok=True, summary="Sent after all.")

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=run)], sink=sink_with(parts, late_tool=taking(2))
    )
    async with trio.open_nursery() as nursery:
        at(1, nursery, lambda: bench.last.abort())
        await stopped_at(bench, 61, "cancel")
    assert [note["late_ms"] for note in bench.sink.data("loop.late-tool")] == [59_000]
    [note] = bench.sink.data("loop.effect")
    if raises:
        assert (note["state"], note["error"]) == ("unknown", "the tool's own error")
    else:
        assert (note["state"], note["late"]) == ("done", {"ok": True, "summary": "Sent after all."})
    assert stops(bench.sink) == ["loop.aborted"]
    assert trio.current_time() == 63.0


@pytest.mark.parametrize(("timeout", "note_until", "end"), [(5.0, 5.0, 5.25), (1.0, 1.5, 1.75)])
async def test_the_record_of_the_stop_keeps_its_share_of_the_time_when_another_write_hangs(
    parts: Any, timeout: float, note_until: float, end: float, autojump_clock: Any
) -> None:
    """Cancelled at 1: the effect's note may take all but one second, at most half, of trail_timeout; then the end is written."""
    times: dict[str, float] = {}

    async def hang() -> None:
        times["note"] = trio.current_time()
        try:
            await trio.sleep_forever()
        finally:
            times["note cut"] = trio.current_time()

    async def slow() -> None:
        await trio.sleep(0.25)

    bench = parts.Bench(
        parts.reply(parts.call(text="a")),
        tools=[parts.save_note([], run=forever)],
        sink=sink_with(parts, effect=hang, aborted=slow),
        trail_timeout=timeout,
    )
    await stopped_at(bench, 1, "cancel")
    assert times == {"note": 1.0, "note cut": note_until}
    assert stops(bench.sink) == ["loop.aborted"]
    assert trio.current_time() == end


async def test_a_stop_record_that_hangs_too_ends_with_the_trails_time_and_not_later(parts: Any, autojump_clock: Any) -> None:
    """The share is part of trail_timeout, not on top of it."""
    sink = sink_with(parts, effect=forever, aborted=forever, blocked=forever)
    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=forever)], sink=sink)
    await stopped_at(bench, 1, "cancel")
    assert stops(sink) == []
    assert trio.current_time() == 6.0


# Human time


async def test_the_time_that_a_person_takes_is_human_time_while_it_passes(parts: Any, autojump_clock: Any) -> None:
    """Statistics do not call it work until the answer is there."""
    looked: list[Any] = []

    async def approve(request: Any) -> str:
        await trio.sleep(100)
        return "token"

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, gate=parts.StubGate("ask"), on_approval=approve)
    async with trio.open_nursery() as nursery:
        at(50, nursery, lambda: looked.append(bench.last.statistics()))
        await bench.run()
    [during], after = looked, bench.last.statistics()
    assert (during.human_seconds, during.work_seconds, during.waiting_for) == (50.0, 0.0, "human")
    assert (after.human_seconds, after.work_seconds, after.waiting_for) == (100.0, 0.0, None)


async def test_the_time_that_an_approval_was_held_is_human_time_after_leaving_too(parts: Any, autojump_clock: Any) -> None:
    """In the statistics and in the stop record alike."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=parts.StubGate("ask"), on_approval=forever, sink=parts.MemorySink())
    async with bench.loop.run("g") as run:
        async for event in run:
            if event.type == "approval-needed":
                await trio.sleep(100)
                held = run.statistics()
                break
    left = run.statistics()
    assert [(seen.human_seconds, seen.work_seconds) for seen in (held, left)] == [(100.0, 0.0), (100.0, 0.0)]
    record = bench.sink.data("loop.aborted")[0]["record"]
    assert (record["cause"], record["human_ms"], record["work_ms"]) == ("left", 100_000, 0)


# Pausing


class SlowAtFirst:
    """An environment that takes a second to be ready when it is asked for the first time."""

    asked = 0

    async def ready(self) -> None:
        self.asked += 1
        await trio.sleep(1 if self.asked == 1 else 0)


def paused_bench(parts: Any, when: str, begun: list[float]) -> tuple[Any, str, float]:
    """The bench of one case, the event at which its reader dawdles, and until when."""

    async def begin(*args: Any, **kwargs: Any) -> ToolOutput:
        begun.append(trio.current_time())
        return ToolOutput(ok=True, summary="Saved.", check=parts.GOOD)

    async def approve(request: Any) -> str:
        begun.append(trio.current_time())
        return "token"

    def plan(messages: Any) -> Any:
        begun.append(trio.current_time())
        return parts.FINISH

    call = parts.reply(parts.call(text="a"))
    match when:
        case "an approval is held":
            gate = parts.StubGate("ask")
            return parts.Bench(call, parts.FINISH, gate=gate, on_approval=approve), "approval-needed", 2.0
        case "the observation is written":
            return parts.Bench(plan, sink=sink_with(parts, observation=taking(2))), "", 0.0
        case "the permit is asked about":

            class Ledger(parts.StubLedger):  # type: ignore[misc]
                async def still_allows(self, permit_id: str) -> bool:
                    if trio.current_time() < 2:
                        await trio.sleep(1)  # from 1.25 to 2.25
                    return True

            gate = parts.StubGate()
            gate.ledger = Ledger()
            return parts.Bench(call, parts.FINISH, gate=gate, tools=[parts.save_note([], run=begin)]), "decision", 1.25
        case _:
            return parts.Bench(plan, tools=[parts.save_note([], environment=SlowAtFirst())]), "", 0.0


@pytest.mark.parametrize(
    ("when", "pause_at"),
    [
        ("an approval is held", 1.5),
        ("the observation is written", 1.5),
        ("the permit is asked about", 1.5),
        ("the environment is waited for", 0.5),
    ],
)
async def test_nothing_begins_in_a_run_that_is_paused_at_the_last_moment_while(
    parts: Any, when: str, pause_at: float, autojump_clock: Any
) -> None:
    """Approver, planner and tool begin when the run goes on, at 50, and not a moment before."""
    begun: list[float] = []
    bench, dawdle, until = paused_bench(parts, when, begun)

    async with trio.open_nursery() as nursery:
        at(pause_at, nursery, lambda: bench.last.pause())
        at(50, nursery, lambda: bench.last.unpause())
        await bench.run(each=lambda run, event: trio.sleep_until(until) if event.type == dawdle else None)
    assert begun == [50.0]


# Permits


LOOK = {"name": "look", "parameters": {"type": "object", "properties": {}}, "scope": "read"}


@pytest.mark.parametrize(
    ("case", "permits", "kinds"),
    [
        ("the gate denies it then", 1, ["decision", "effect", "decision", "blocked"]),
        ("it lapses three times", 3, ["decision", "effect", "decision", "effect", "decision", "effect", "blocked"]),
        ("it was for the first read", 1, ["decision", "effect", "observation", "plan", "check", "blocked"]),
    ],
)
async def test_a_call_whose_permit_lapsed_before_it_began_is_noted_as_not_started_when(
    parts: Any, case: str, permits: int, kinds: list[str], autojump_clock: Any
) -> None:
    """Whatever was allowed has an end in the trail: a result, or the note of its effect."""
    gate = parts.StubGate("allow", Deny(reason="no-grant", message="m")) if "denies" in case else parts.StubGate()
    options: dict[str, Any] = {}
    replies = [parts.reply(parts.call(text="a"))]
    notes: list[str] = []
    if "first read" in case:
        options = {"first_read": "look", "max_steps": 1}
        replies = [parts.FINISH]
    tools = [parts.save_note(notes), parts.save_note(notes, **LOOK)]
    bench = parts.Bench(*replies, gate=gate, tools=tools, sink=parts.MemorySink(), **options)

    async def lapse(run: Any, event: Any) -> None:
        if event.type == "decision":
            gate.ledger.lapsed.add(f"p{len(gate.checked)}")
            await trio.sleep(2)

    await bench.run(each=lapse)
    assert notes == []
    assert [kind.removeprefix("loop.") for kind in bench.sink.kinds][-len(kinds) :] == kinds
    effects = bench.sink.data("loop.effect")
    assert [effect["state"] for effect in effects] == ["not-started"] * permits
    assert {effect["id"] for effect in effects} == {decision["id"] for decision in bench.sink.data("loop.decision")}
    assert gate.ledger.closed == [(f"p{number}", "release") for number in range(1, permits + 1)]


# What ports return


def hostile(cls: type, field: str, **fields: Any) -> Any:
    """An instance of a subclass that raises when one field is read."""

    def read(self: Any) -> Any:
        raise ValueError(f"nobody may read {field}")

    made: Any = object.__new__(type(f"Hostile{cls.__name__}", (cls,), {"__slots__": (), field: property(read)}))
    for name, value in fields.items():
        if name != field:
            object.__setattr__(made, name, value)
    return made


@pytest.mark.parametrize("field", ["message", "usage", "provider", "tier", "finish_reason"])
async def test_a_reply_whose_field_raises_when_it_is_read_is_an_unreadable_reply(parts: Any, field: str) -> None:
    """A subclass of ChatReply is read once, field by field, and no error of it leaves the stream."""
    message = {"role": "assistant", "content": "x", "tool_calls": None}

    async def plan(messages: Any, tools: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return hostile(ChatReply, field, message=message, usage=None, provider=None, tier=None, finish_reason=None)

    bench = parts.Bench(planner=function_planner(plan), sink=parts.MemorySink(), max_steps=2)
    events = await bench.run()
    assert parts.told(events) == ["plan", "plan", "blocked max-steps"]
    assert all(event.problem for event in events[:2])
    assert stops(bench.sink) == ["loop.blocked"]


@pytest.mark.parametrize("field", ["ok", "summary", "untrusted", "data", "check", "stop_batch"])
async def test_an_output_whose_field_raises_when_it_is_read_is_a_failed_result(parts: Any, field: str) -> None:
    """The tool ran, so its permit is used; what it says cannot be read."""

    async def run(args: Any, ctx: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return hostile(ToolOutput, field, ok=True, summary="s", untrusted=None, data=None, check=None, stop_batch=False)

    tools = [parts.save_note([], run=run)]
    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=tools, sink=parts.MemorySink(), max_steps=1)
    assert parts.told(await bench.run())[2:] == ["decision allow", "tool-result tool-error", "blocked max-steps"]
    assert bench.gate.ledger.closed == [("p1", "settle")]
    assert stops(bench.sink) == ["loop.blocked"]


@pytest.mark.parametrize("field", ["ok", "checks", "problem"])
async def test_a_verdict_whose_field_raises_when_it_is_read_is_a_failing_verdict(parts: Any, field: str) -> None:
    """A goal is not reached because nobody could read whether it is."""

    def check(claim: Any) -> Any:
        return hostile(CheckResult, field, ok=True, checks=(), problem=None)

    bench = parts.Bench(parts.FINISH, check=check, sink=parts.MemorySink(), max_steps=1)
    events = await bench.run()
    assert parts.told(events) == ["plan", "check", "blocked max-steps"]
    assert events[1].ok is False
    assert stops(bench.sink) == ["loop.blocked"]


async def test_a_hook_that_a_cancel_reaches_before_it_began_leaves_no_coroutine_that_was_never_awaited(parts: Any) -> None:
    """The coroutine that the hook made is closed."""
    began: list[bool] = []

    async def prepare(args: Any, ctx: Any) -> Any:
        began.append(True)
        return args

    class Sink(parts.MemorySink):  # type: ignore[misc]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if kind == "loop.tool-call":
                scope.cancel()  # and no checkpoint: the record is written all the same
            self.entries.append((kind, data))

    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=[parts.save_note([], prepare=prepare)], sink=Sink())
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with trio.CancelScope() as scope:
            await bench.run()
        gc.collect()
    assert scope.cancelled_caught
    assert [str(warning.message) for warning in heard] == []
    assert began == []
    assert bench.sink.kinds[-2:] == ["loop.tool-call", "loop.aborted"]


# Secrets


async def test_no_digest_of_hidden_arguments_or_of_the_goal_lets_a_short_secret_be_tried_out(parts: Any) -> None:
    """Whoever has the trail has the run's nonce too, which stands around outside text, and could try all short secrets."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="Unlocked.", untrusted="words of a page", check=parts.GOOD)

    properties = {"pin": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["pin"]}
    tool = parts.save_note([], name="unlock", parameters=parameters, run=run, redact=lambda args: {"pin": "****"})
    goal = "Unlock it with 4711"
    bench = parts.Bench(parts.reply(parts.call("unlock", pin="4711")), parts.FINISH, tools=[tool], sink=parts.MemorySink())
    await bench.run(goal)
    [call] = bench.sink.data("loop.tool-call")
    assert call["args"] == {"pin": "****"}
    assert "args_digest" not in call["record"]
    assert bench.sink.data("loop.start")[0]["goal"] == "[withheld: 19 characters]"

    trail = json.dumps(bench.sink.entries)
    assert "4711" not in re.sub("[0-9a-f]{16,}", "", trail)  # ids and digests may hold any four digits
    nonces = re.findall(r"<<<DATA ([0-9a-f]{16})>>>", trail)
    assert nonces, "the nonce is not in the trail, so the test shows nothing"
    secrets = [canonical_json({"pin": "4711"}), '{"pin": "4711"}', '{"pin":"4711"}', "4711", goal]
    tried = {hashlib.sha256(secret.encode()).hexdigest() for secret in secrets}
    tried |= {hmac.digest(nonces[0].encode(), secret.encode(), "sha256").hex() for secret in secrets}
    assert tried.isdisjoint(re.findall(r"[0-9a-f]{64}", trail))


async def test_two_calls_whose_ids_hold_a_hidden_value_keep_ids_of_their_own(parts: Any) -> None:
    """Masking an id could make two calls one, in events and in the trail."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        await trio.lowlevel.checkpoint()
        calls = [("call-101", "save_note", '{"text":"101"}'), ("call-102", "save_note", '{"text":"102"}')]
        if len(messages) > 2:
            calls = [("last", "finish", '{"summary":"s"}')]
        functions = [{"id": id_, "type": "function", "function": {"name": n, "arguments": a}} for id_, n, a in calls]
        return ChatReply(message={"role": "assistant", "content": None, "tool_calls": functions})

    tool = parts.save_note([], redact=lambda args: {"text": "***"})
    bench = parts.Bench(planner=function_planner(plan), tools=[tool], sink=parts.MemorySink())
    events = await bench.run()
    per_call = [event.id for event in events if event.type in ("tool-call", "decision", "tool-result")]
    first, second = per_call[0], per_call[3]
    assert first != second
    assert per_call == [first] * 3 + [second] * 3
    assert [planned.id for planned in events[0].calls] == [first, second]
    on_record = [data["id"] for kind, data in bench.sink.entries if kind in ("loop.tool-call", "loop.decision", "loop.tool-result")]
    assert on_record == per_call
    assert "call-10" not in json.dumps(bench.sink.entries)


# Long runs and repeated acts


class CountedHash:
    """sha256 that counts what it is given."""

    fed = 0

    def __init__(self, data: bytes = b"") -> None:
        self._hash = hashlib.sha256()
        self.update(data)

    def update(self, data: bytes) -> None:
        CountedHash.fed += len(data)
        self._hash.update(data)

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


async def test_a_step_that_is_recorded_costs_no_more_late_in_a_long_run(parts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted in bytes that are hashed and in function calls, at step 50 and at step 2,000: at most twice as much."""
    monkeypatch.setattr(_history, "hashlib", types.SimpleNamespace(sha256=CountedHash))
    counted: dict[int, tuple[int, int]] = {}
    step = called = fed = 0

    def count(frame: Any, what: str, arg: Any) -> None:
        nonlocal called
        called += what in ("call", "c_call")

    async def plan(messages: Any, tools: Any) -> ChatReply:
        # One step, from one request to the next.
        nonlocal step, called, fed
        await trio.lowlevel.checkpoint()
        sys.setprofile(None)
        if step in (50, 2000):
            counted[step] = called, CountedHash.fed - fed
        step += 1
        name, args = ("save_note", f'{{"text":"{step:05}"}}') if step <= 2000 else ("finish", '{"summary":"s"}')
        call = {"id": f"c{step:05}", "type": "function", "function": {"name": name, "arguments": args}}
        called, fed = 0, CountedHash.fed
        if step in (50, 2000):
            sys.setprofile(count)
        return ChatReply(
            message={"role": "assistant", "content": None, "tool_calls": [call]}, usage=Usage(input_tokens=1, output_tokens=1)
        )

    class Sink:
        async def append(self, **entry: Any) -> None:
            await trio.lowlevel.checkpoint()

    bench = parts.Bench(planner=function_planner(plan), sink=Sink(), max_steps=2100)
    before = sys.getprofile()
    try:
        await bench.run()
    finally:
        sys.setprofile(before)
    assert bench.outcome.status == "done"
    (early_calls, early_bytes), (late_calls, late_bytes) = counted[50], counted[2000]
    assert 0 < late_bytes <= 2 * early_bytes
    assert 0 < late_calls <= 2 * early_calls


@pytest.mark.parametrize("mode", ["reported", "late value"])
async def test_an_act_that_was_cut_but_is_known_to_be_done_is_not_done_again_before_a_fresh_look(
    parts: Any, mode: str, autojump_clock: Any
) -> None:
    """The planner reads only that it took too long, so the same call is held back until it has looked."""
    sent: list[str] = []

    async def send(args: Any, ctx: Any) -> ToolOutput:
        sent.append(args["text"])
        if mode == "reported":
            ctx.report_effect("done")
            await trio.sleep_forever()
        with trio.CancelScope(shield=True):
            await trio.sleep(9)
        return ToolOutput(ok=True, summary="Sent.")

    act = parts.reply(parts.call("send", text="pay 5"))
    tools = [parts.save_note([], name="send", scope="submit", run=send), parts.save_note([], **LOOK, run=looked)]
    bench = parts.Bench(
        act,
        act,
        parts.reply(parts.call("look")),
        act,
        tools=tools,
        sink=parts.MemorySink(),
        budget=Budget(tool_seconds=5),
        max_steps=4,
    )
    events = await bench.run()
    results = [(event.name, event.reason) for event in events if event.type == "tool-result"]
    assert results == [("send", "timeout"), ("send", "in-doubt"), ("look", None), ("send", "timeout")]
    assert len(sent) == 2
    assert [(note["id"], note["state"]) for note in bench.sink.data("loop.effect")] == [("call_1", "done"), ("call_4", "done")]
    assert trio.current_time() == (10.0 if mode == "reported" else 18.0)


async def looked(args: Any, ctx: Any) -> ToolOutput:
    await trio.lowlevel.checkpoint()
    return ToolOutput(ok=True, summary="Nothing new.")
