"""What is known of an effect gets on record, whatever a tool reports and whenever it is stopped."""

from __future__ import annotations

from typing import Any

import trio

from foxloop_trio.trail import MemoryTrail


async def aborted_after(bench: Any, seconds: float = 1.0) -> list[Any]:
    async with trio.open_nursery() as nursery, bench.loop.run("g") as run:

        async def later() -> None:
            await trio.sleep(seconds)
            run.abort()

        nursery.start_soon(later)
        events = [event async for event in run]
    bench.outcome = run.outcome
    return events


async def test_an_effect_that_is_no_json_does_not_turn_an_abort_into_a_broken_trail(parts: Any, autojump_clock: Any) -> None:
    """It is kept as its words."""

    async def run(args: Any, ctx: Any) -> Any:
        try:
            ctx.report_effect("partial", {"fields": {"a"}, "at": object()})
        except Exception:
            ctx.report_effect("partial")
        await trio.sleep_forever()

    trail = MemoryTrail(key=b"k" * 32)
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=trail, tools=[parts.save_note([], run=run)])
    events = await aborted_after(bench)
    assert parts.told(events)[-1] == "aborted"
    assert [e.data["state"] for e in trail.entries() if e.kind == "loop.effect"] == ["partial"]
    assert bench.outcome.in_flight.effect.state == "partial"


async def test_what_was_reported_is_what_is_on_record_though_the_tool_changes_its_list(parts: Any, autojump_clock: Any) -> None:
    """A copy is kept."""
    done: list[str] = ["name"]

    async def run(args: Any, ctx: Any) -> Any:
        ctx.report_effect("partial", done)
        await trio.sleep_forever()

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, tools=[parts.save_note([], run=run)])
    events = await aborted_after(bench)
    done.append("street")
    assert events[-1].in_flight.effect.done == ["name"]


async def test_what_prepare_reported_does_not_speak_for_the_run_of_the_tool(parts: Any, autojump_clock: Any) -> None:
    """A tool that was cut without a report is unknown, whatever its prepare said."""

    async def prepare(args: Any, ctx: Any) -> Any:
        ctx.report_effect("not-started")
        return args

    async def run(args: Any, ctx: Any) -> Any:
        await trio.sleep_forever()

    gate = parts.StubGate()
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), parts.FINISH, gate=gate, tools=[parts.save_note([], run=run, prepare=prepare)]
    )
    await aborted_after(bench)
    assert bench.outcome.in_flight.effect.state == "unknown"
    assert gate.ledger.closed == [("p1", "settle")]


async def test_no_tool_starts_after_the_deadline_though_the_permit_was_asked_for_that_long(parts: Any, autojump_clock: Any) -> None:
    """Ruling 4: no new effect starts once the time is up."""
    from foxloop_trio import Budget

    class Ledger(parts.StubLedger):
        async def still_allows(self, permit_id: str) -> bool:
            with trio.CancelScope(shield=True):
                await trio.sleep(5)
            return True

    gate = parts.StubGate()
    gate.ledger = Ledger()
    started: list[float] = []

    async def run(args: Any, ctx: Any) -> Any:
        started.append(trio.current_time())
        await trio.sleep_forever()

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), parts.FINISH, gate=gate, budget=Budget(seconds=4), tools=[parts.save_note([], run=run)]
    )

    async def each(run: Any, event: Any) -> None:
        if event.type == "decision":
            await trio.sleep(2)

    assert parts.told(await bench.run(each=each))[-1] == "blocked budget"
    assert started == []


async def test_a_tool_that_fails_while_it_is_cancelled_is_recorded_as_cancelled(parts: Any, autojump_clock: Any) -> None:
    """GB-L18: a group that contains a cancellation is treated as one; the tool's own error is in the effect's note."""

    async def run(args: Any, ctx: Any) -> Any:
        async def child() -> None:
            try:
                await trio.sleep_forever()
            finally:
                raise ValueError("clean-up failed")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(child)
            await trio.sleep_forever()

    sink = parts.MemorySink()
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=sink, tools=[parts.save_note([], run=run)])
    try:
        with trio.move_on_after(1) as scope:
            await bench.loop.complete("g")
    except* ValueError:
        raised = True
    else:
        raised = False
    assert sink.entries[-1][1]["record"]["cause"] == "cancelled"
    assert scope.cancelled_caught
    assert not raised
    assert sink.data("loop.effect")[0]["error"] == "clean-up failed"


async def test_a_tool_that_a_cancel_reached_before_it_began_is_recorded_as_not_started(parts: Any, autojump_clock: Any) -> None:
    """The cancel came while the gate was asked, shielded, whether the permit still holds: nothing was done, and that is known."""

    class Ledger(parts.StubLedger):  # type: ignore[misc,name-defined]
        async def still_allows(self, permit_id: str) -> bool:
            with trio.CancelScope(shield=True):
                await trio.sleep(5)
            return True

    gate = parts.StubGate()
    gate.ledger = Ledger()

    async def each(run: Any, event: Any) -> None:
        if event.type == "decision":
            await trio.sleep(2)

    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=gate, sink=parts.MemorySink())
    with trio.move_on_after(4) as scope:
        await bench.run(each=each)
    assert scope.cancelled_caught
    assert bench.notes == []
    assert [note["state"] for note in bench.sink.data("loop.effect")] == ["not-started"]
    assert [how for _, how in gate.ledger.closed] == ["release"]
