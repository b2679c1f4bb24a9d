"""Ends: bounded, on record, exactly one, and the loop is free afterwards."""

from __future__ import annotations

import gc
import signal
import weakref
from typing import Any

import pytest
import trio

STOPS = ("loop.done", "loop.blocked", "loop.aborted")


def stops(sink: Any) -> list[str]:
    return [kind for kind in sink.kinds if kind in STOPS]


@pytest.mark.parametrize("after", range(7))
async def test_a_cancelled_run_with_a_hung_trail_ends_within_trail_timeout(parts: Any, autojump_clock: Any, after: int) -> None:
    """GB-L11: shielded and for at most trail_timeout."""

    class Hung(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, **k: Any) -> None:
            if self.attempts >= after:
                self.attempts += 1
                await trio.sleep_forever()
            await super().append(**k)

    async def run(args: Any, ctx: Any) -> Any:
        await trio.sleep_forever()

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=Hung(), tools=[parts.save_note([], run=run)])
    began = trio.current_time()
    with trio.move_on_at(began + 1):
        await bench.loop.complete("g")
    assert trio.current_time() - began <= 1 + 5.0


@pytest.mark.parametrize("at", [5, 6])
async def test_a_stop_record_that_fails_while_winding_up_is_tried_once_more(parts: Any, autojump_clock: Any, at: int) -> None:
    """Section 15, engine.md: `blocked trail-failed`, tried once."""
    sink = parts.MemorySink(fail_at={at})

    async def run(args: Any, ctx: Any) -> Any:
        await trio.sleep_forever()

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=sink, tools=[parts.save_note([], run=run)])
    with trio.move_on_after(1):
        await bench.loop.complete("g")
    assert len(stops(sink)) == 1, sink.kinds


@pytest.mark.parametrize("exc", [SystemExit, KeyboardInterrupt])
def test_a_loop_is_free_after_any_exception(parts: Any, exc: Any) -> None:
    """Section 1: free again as soon as the run has ended in any way."""
    made: list[Any] = []

    class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, **k: Any) -> None:
            await trio.lowlevel.checkpoint()
            raise exc

    async def main() -> None:
        bench = parts.Bench(parts.FINISH, parts.FINISH, parts.FINISH, sink=Sink())
        made.append(bench)
        for _ in range(2):  # the second time it was a BusyError
            with pytest.raises(exc):
                await bench.loop.complete("g")

    trio.run(main)


def in_a_run(parts: Any, sink: Any, **kw: Any) -> Any:
    """One run in the main task, so that Ctrl-C is its own."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=sink, **kw)

    async def main() -> None:
        with trio.move_on_after(5):
            try:
                await bench.loop.complete("g")
                await trio.sleep(1)
            except KeyboardInterrupt:
                pass

    trio.run(main)
    return bench


class Interrupting:
    """A trail that was interrupted by Ctrl-C after the entry of `kind` was added and before `append` returned."""

    def __new__(cls, parts: Any, kind: str) -> Any:
        class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
            async def append(self, **k: Any) -> None:
                await super().append(**k)
                if k["kind"] == kind and self.kinds.count(kind) == 1:
                    signal.raise_signal(signal.SIGINT)

        return Sink()


@pytest.mark.parametrize("kind", ["loop.done", "loop.tool-result", "loop.decision", "loop.plan"])
def test_control_c_in_the_loops_own_code_makes_no_second_record(parts: Any, kind: str) -> None:
    """The driver holds Ctrl-C back: no second stop record, no tool without a record."""
    sink = Interrupting(parts, kind)
    in_a_run(parts, sink)
    assert len(stops(sink)) == 1, sink.kinds
    assert sink.kinds.count(kind) == 1, sink.kinds


def test_control_c_between_the_end_of_a_tool_and_its_record_loses_no_record(parts: Any) -> None:
    """The ledger is the loop's own path: a Ctrl-C there must not leave a tool's effect unrecorded."""

    class Ledger(parts.StubLedger):
        async def settle(self, permit_id: str) -> None:
            signal.raise_signal(signal.SIGINT)

    gate = parts.StubGate()
    gate.ledger = Ledger()
    sink = parts.MemorySink()
    bench = in_a_run(parts, sink, gate=gate)
    assert bench.notes == ["a"]
    assert "loop.tool-result" in sink.kinds or "loop.effect" in sink.kinds, sink.kinds
    assert len(stops(sink)) == 1


async def test_a_coroutine_of_the_stream_can_be_closed(parts: Any) -> None:
    """Closing it ends the run; nothing can be awaited then."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=parts.MemorySink())
    async with bench.loop.run("g") as run:
        step = run.__anext__()
        step.send(None)
        step.close()
    assert run.outcome is not None
    assert run.outcome.status == "aborted"


async def test_leaving_the_run_from_inside_its_own_tool_is_an_error_and_no_hang(parts: Any) -> None:
    """Waiting for the reader, which is the very task that asks, could never end."""
    box: dict[str, Any] = {}

    async def run(args: Any, ctx: Any) -> Any:
        await box["run"].__aexit__(None, None, None)

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, tools=[parts.save_note([], run=run)])
    hung = False

    async def watch() -> None:
        nonlocal hung
        await trio.sleep(1)
        hung = True
        box["run"]._idle.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        async with bench.loop.run("g") as box["run"]:
            async for _ in box["run"]:
                pass
        nursery.cancel_scope.cancel()
    assert not hung


async def test_the_statistics_of_a_run_that_ended_stand_still(parts: Any, autojump_clock: Any) -> None:
    bench = parts.Bench(parts.FINISH, parts.FINISH)
    await bench.run()
    before = bench.last.statistics()
    await trio.sleep(100)
    assert bench.last.statistics() == before


def test_the_statistics_of_a_run_can_be_read_when_trio_is_over(parts: Any) -> None:
    bench = parts.Bench(parts.FINISH, parts.FINISH)
    trio.run(bench.run)
    assert bench.last.statistics().step == 2


async def test_a_run_that_ended_and_is_let_go_of_goes_at_once(parts: Any, autojump_clock: Any) -> None:
    """Its history with it: no part of it holds on to the whole, so nothing waits for the garbage collector."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH)
    gc.disable()
    try:
        async with bench.loop.run("g") as run:
            async for _ in run:
                pass
        gone = weakref.ref(run)
        del run
        assert gone() is None
    finally:
        gc.enable()
