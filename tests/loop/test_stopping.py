"""Stop means stop: abort, cancel, leaving, errors of the consumer, and what each puts on record."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import ToolOutput
from foxloop_trio.errors import BusyError
from foxloop_trio.loop import Budget
from foxloop_trio.planners import function_planner

STOPS = {"loop.done", "loop.blocked", "loop.aborted"}


def stops(sink: Any) -> list[str]:
    return [kind for kind in sink.kinds if kind in STOPS]


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


def hanging(parts: Any, where: str, **options: Any) -> Any:
    """A bench that hangs at the named wait."""
    replies = [parts.reply(parts.call(text="a"))]
    match where:
        case "planner":
            return parts.Bench(planner=function_planner(forever), **options)
        case "gate":
            return parts.Bench(*replies, gate=parts.StubGate(forever), **options)
        case "human":
            return parts.Bench(*replies, gate=parts.StubGate("ask"), on_approval=forever, wall_clock=lambda: 0.0, **options)
        case "check":
            return parts.Bench(parts.FINISH, check=forever, **options)
        case _:
            tool = parts.save_note([], **{where: forever})
            gate = parts.StubGate("ask") if where == "describe" else None
            return parts.Bench(*replies, tools=[tool], gate=gate, on_approval=forever, wall_clock=lambda: 0.0, **options)


WAITS = ["planner", "prepare", "domain", "gate", "describe", "human", "run", "check"]


@pytest.mark.parametrize("where", WAITS)
async def test_an_abort_cuts_every_wait_and_the_next_event_is_aborted(parts: Any, where: str, autojump_clock: Any) -> None:
    """GB-L2: nothing is asked of planner, gate or tool afterwards, and the end is on record once."""
    bench = hanging(parts, where, sink=parts.MemorySink())
    events: list[Any] = []

    async def read(run: Any) -> None:
        async for event in run:
            events.append(event)

    async with bench.loop.run("g") as run, trio.open_nursery() as nursery:
        nursery.start_soon(read, run)
        await trio.sleep(3)
        run.abort()
    assert events[-1].type == "aborted"
    assert trio.current_time() - run._waits.started_at == 3.0
    assert stops(bench.sink) == ["loop.aborted"]
    assert bench.sink.data("loop.aborted")[0]["record"]["cause"] == "abort"
    assert run.outcome.status == "aborted"
    assert (events[-1].in_flight is not None) is (where == "run")


@pytest.mark.parametrize("where", WAITS)
async def test_a_cancel_from_outside_passes_through_and_leaves_one_stop_record(parts: Any, where: str, autojump_clock: Any) -> None:
    """GB-L11: Cancelled is never swallowed, and the loop is free afterwards."""
    bench = hanging(parts, where, sink=parts.MemorySink())
    with trio.move_on_after(3) as scope:
        await bench.run()
        raise AssertionError("the run went on")
    assert scope.cancelled_caught
    assert stops(bench.sink) == ["loop.aborted"]
    assert bench.sink.data("loop.aborted")[0]["record"]["cause"] == "cancelled"
    assert bench.last.outcome.status == "aborted"
    async with bench.loop.run("free again"):
        pass


@pytest.mark.parametrize("where", WAITS)
async def test_the_runs_seconds_cut_every_wait_but_a_human_one(parts: Any, where: str, autojump_clock: Any) -> None:
    """GB-L1, at exactly the deadline."""
    bench = hanging(parts, where, budget=Budget(seconds=7))
    start = trio.current_time()
    with trio.move_on_after(100):
        events = await bench.run()
        assert (events[-1].reason, trio.current_time() - start) == ("budget", 7.0)
        assert where != "human"
        return
    assert where == "human"


@pytest.mark.parametrize(
    ("where", "end"),
    [("prepare", "max-steps"), ("domain", "max-steps"), ("gate", "gate-error"), ("describe", "approval-error")],
)
async def test_a_hook_that_hangs_is_cut_after_thirty_seconds_as_if_it_had_raised(
    parts: Any, where: str, end: str, autojump_clock: Any
) -> None:
    """Rulings 7 and 43."""
    start = trio.current_time()
    events = await hanging(parts, where, max_steps=1).run()
    assert trio.current_time() - start == 30.0
    assert events[-1].reason == end


async def test_an_abort_before_the_first_event_calls_nothing(parts: Any) -> None:
    """Section 6, Start: aborted with step 0."""
    bench = parts.Bench(parts.FINISH, sink=parts.MemorySink())
    async with bench.loop.run("g") as run:
        run.abort()
        events = [event async for event in run]
    assert [(event.type, event.step) for event in events] == [("aborted", 0)]
    assert bench.planner.seen == []


async def test_an_abort_between_the_decision_and_the_tool_starts_no_tool(parts: Any) -> None:
    """GB-L4."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), sink=parts.MemorySink())
    events = await bench.run(each=lambda run, event: run.abort() if event.type == "decision" else None)
    assert (events[-1].type, bench.notes) == ("aborted", [])
    assert bench.sink.data("loop.effect")[0]["state"] == "not-started"
    assert [how for _, how in bench.gate.ledger.closed] == ["release"]


async def test_an_abort_beats_a_check_that_passed(parts: Any) -> None:
    """engine.md: abort beats a passed check."""
    bench = parts.Bench(parts.FINISH, check=lambda given: parts.GOOD)
    events = await bench.run(each=lambda run, event: run.abort() if event.type == "check" else None)
    assert events[-1].type == "aborted"


async def test_an_abort_after_the_end_changes_nothing(parts: Any) -> None:
    """There are never two stop events."""
    bench = parts.Bench(parts.FINISH, check=lambda given: parts.GOOD, sink=parts.MemorySink())
    events = await bench.run(each=lambda run, event: run.abort() if event.type == "done" else None)
    assert (events[-1].type, stops(bench.sink), bench.outcome.status) == ("done", ["loop.done"], "done")


async def test_what_a_cancelled_tool_reports_is_in_the_event_and_in_the_trail_before_the_stop(
    parts: Any, autojump_clock: Any
) -> None:
    """Rulings 1 and 6."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            ctx.report_effect("partial", done=["first field"])
            raise
        raise AssertionError

    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=run)], sink=parts.MemorySink())

    async with trio.open_nursery() as nursery:
        events: list[Any] = []

        async def read() -> None:
            events.extend(await bench.run())

        nursery.start_soon(read)
        await trio.sleep(1)
        bench.last.abort()
    effect = events[-1].in_flight.effect
    assert (effect.state, effect.done) == ("partial", ["first field"])
    assert bench.sink.kinds[-2:] == ["loop.effect", "loop.aborted"]
    assert bench.sink.data("loop.effect")[0]["done"] == ["first field"]
    assert [how for _, how in bench.gate.ledger.closed] == ["settle"]


async def test_a_stubborn_tool_is_waited_for_shown_and_named_when_it_ends(parts: Any, autojump_clock: Any) -> None:
    """Ruling 1: aborted is only said when nothing of the run still acts."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        with trio.CancelScope(shield=True):
            await trio.sleep(60)
        return ToolOutput(ok=True, summary="Saved after all.")

    bench = parts.Bench(parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=run)], sink=parts.MemorySink())
    events: list[Any] = []

    async def read() -> None:
        events.extend(await bench.run())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(read)
        await trio.sleep(10)
        bench.last.abort()
        await trio.sleep(20)
        assert events == []
        waiting = bench.last.statistics()
        assert (waiting.waiting_for, waiting.waiting_since) == ("tool save_note", bench.last._waits.started_at)
    assert trio.current_time() - bench.last._waits.started_at == 60.0
    assert events[-1].in_flight.effect.state == "done"
    assert bench.sink.kinds[-3:] == ["loop.late-tool", "loop.effect", "loop.aborted"]
    assert bench.sink.data("loop.late-tool")[0]["late_ms"] == 50_000
    assert bench.sink.data("loop.effect")[0]["late"] == {"ok": True, "summary": "Saved after all."}


async def test_an_error_that_a_tool_raises_when_it_is_stopped_is_on_record(parts: Any, autojump_clock: Any) -> None:
    """An error never hides behind the stop."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        try:
            await trio.sleep_forever()
        except trio.Cancelled:
            raise ValueError("clean-up failed") from None
        raise AssertionError

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), tools=[parts.save_note([], run=run)], sink=parts.MemorySink(), budget=Budget(seconds=5)
    )
    events = await bench.run()
    assert events[-1].reason == "budget"
    assert bench.sink.data("loop.effect")[0]["error"] == "clean-up failed"


@pytest.mark.parametrize("how", ["break", "error", "cancel"])
@pytest.mark.parametrize("at", ["plan", "tool-call", "decision", "tool-result", "check"])
async def test_leaving_at_any_event_puts_exactly_one_end_on_record(parts: Any, how: str, at: str) -> None:
    """Ruling 5."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=parts.MemorySink())
    causes = {"break": "left", "error": "error", "cancel": "cancelled"}
    with trio.CancelScope() as scope:
        try:
            async with bench.loop.run("g") as run:
                async for event in run:
                    if event.type == at and how == "break":
                        break
                    if event.type == at and how == "error":
                        raise ZeroDivisionError
                    if event.type == at and how == "cancel":
                        scope.cancel()
                        await trio.lowlevel.checkpoint()
        except ZeroDivisionError:
            assert how == "error"
    assert scope.cancelled_caught is (how == "cancel")
    assert stops(bench.sink) == ["loop.aborted"]
    assert bench.sink.data("loop.aborted")[0]["record"]["cause"] == causes[how]
    assert run.outcome.status == "aborted"
    assert [event async for event in run] == []
    assert bench.notes == ([] if at in ("plan", "tool-call", "decision") else ["a"])


async def test_a_second_reader_is_turned_away_and_the_first_is_not_disturbed(parts: Any, autojump_clock: Any) -> None:
    """Ruling 5: BusyError for the second."""
    bench = hanging(parts, "planner")
    async with bench.loop.run("g") as run, trio.open_nursery() as nursery:
        nursery.start_soon(run.__anext__)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(BusyError):
            await run.__anext__()
        run.abort()
    assert run.outcome.status == "aborted"


async def test_leaving_while_another_task_reads_ends_its_wait_first(parts: Any, autojump_clock: Any) -> None:
    """B08: no unrelated task is cancelled, and nothing of the run goes on."""
    bench = hanging(parts, "run", sink=parts.MemorySink())
    events: list[Any] = []

    async def read(run: Any) -> None:
        async for event in run:
            events.append(event)

    async with trio.open_nursery() as nursery, bench.loop.run("g") as run:
        nursery.start_soon(read, run)
        await trio.sleep(1)
    assert events[-1].type == "aborted"
    assert stops(bench.sink) == ["loop.aborted"]


async def test_a_run_read_before_it_is_open_says_what_to_do(parts: Any) -> None:
    """Misuse is told at once."""
    bench = parts.Bench(parts.FINISH)
    with pytest.raises(BusyError, match="async with"):
        await bench.loop.run("g").__anext__()


# The trail


async def test_each_event_is_on_record_before_it_is_seen(parts: Any) -> None:
    """Section 15: the entry kinds in order equal the event types in order."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=parts.MemorySink())
    seen: list[str] = []

    def each(run: Any, event: Any) -> None:
        seen.append(f"loop.{event.type}")
        assert bench.sink.kinds[-1] == seen[-1]

    await bench.run(each=each)
    notes = {"loop.start", "loop.observation"}
    assert [kind for kind in bench.sink.kinds if kind not in notes] == seen
    assert {data["run"] for _, data in bench.sink.entries} == {bench.last.id}


@pytest.mark.parametrize("at", range(12))
@pytest.mark.parametrize("how", ["fail_at", "hang_at"])
async def test_a_write_that_fails_or_hangs_at_any_place_ends_the_run_as_trail_failed(
    parts: Any, at: int, how: str, autojump_clock: Any
) -> None:
    """Section 15, GB-L12: a failure before the tool means no tool, one after it no further planner request."""
    sink = parts.MemorySink(**{how: {at}})
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=sink)
    start = trio.current_time()
    events = await bench.run()
    plain = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=parts.MemorySink())
    await plain.run()
    if at >= len(plain.sink.kinds):
        assert events[-1].type == "done"
        return
    assert events[-1].type == "blocked"
    assert events[-1].reason == "trail-failed"
    assert trio.current_time() - start == (5.0 if how == "hang_at" else 0.0)
    before_tool = plain.sink.kinds[:at].count("loop.decision") == 0
    assert bench.notes == ([] if before_tool else ["a"])
    assert sink.kinds[-1] == "loop.blocked"
    assert stops(sink) == ["loop.blocked"]


async def test_data_that_is_no_json_is_harmless_without_a_trail_and_fatal_with_one(parts: Any) -> None:
    """Section 15."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary="ok", data=object(), check=parts.GOOD)

    replies = [parts.reply(parts.call(text="a")), parts.FINISH]
    assert (await parts.Bench(*replies, tools=[parts.save_note([], run=run)]).run())[-1].type == "done"
    bench = parts.Bench(*replies, tools=[parts.save_note([], run=run)], sink=parts.MemorySink())
    assert (await bench.run())[-1].reason == "trail-failed"


async def test_a_record_that_a_cancel_held_up_goes_out_before_the_stop_record(parts: Any, autojump_clock: Any) -> None:
    """Ruling 3: pending when the cancel arrives, on record with the shielded end."""

    class Slow(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if kind == "loop.tool-result":
                await trio.sleep(2)
            await super().append(actor=actor, kind=kind, data=data)

    bench = parts.Bench(parts.reply(parts.call(text="a")), sink=Slow())
    with trio.move_on_after(1) as scope:
        await bench.run()
    assert scope.cancelled_caught
    assert bench.sink.kinds[-2:] == ["loop.tool-result", "loop.aborted"]
    assert trio.current_time() - bench.last._waits.started_at == 3.0


async def test_a_cancel_that_holds_up_the_record_of_the_end_does_not_make_a_second_end(parts: Any, autojump_clock: Any) -> None:
    """Ruling 3: there are never two stop records; what was the end stays the end."""

    class Slow(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if kind == "loop.done":
                await trio.sleep(2)
            await super().append(actor=actor, kind=kind, data=data)

    bench = parts.Bench(parts.FINISH, sink=Slow(), check=lambda given: parts.GOOD)
    with trio.move_on_after(1) as scope:
        await bench.run()
    assert scope.cancelled_caught
    assert stops(bench.sink) == ["loop.done"]
    assert bench.last.outcome.status == "done"
