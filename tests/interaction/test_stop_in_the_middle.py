"""Stop means stop: an act that is under way is cancelled in the page too, and its true end is on record before the run's."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from foxloop_trio.events import Aborted, ToolResult

GRACE = 2.0
"""Seconds that the runs here allow for finding out what came of an act that was cancelled."""

Handler = Callable[[Any], Awaitable[Any]]


async def stopped(world: Any, held: trio.Event, *, by: str = "abort") -> float:
    """Run until the page holds an act, stop the run, read it to its end; how long the stop took, in seconds."""
    say = world.say
    loop = await world.loop([say.snapshot(), say.act("check", 4), say.finish()], cancel_grace=GRACE)
    stopped_at = 0.0
    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()
        with scope:
            async with loop.run("Sign Ada up") as run:

                async def stop() -> None:
                    nonlocal stopped_at
                    await held.wait()
                    stopped_at = trio.current_time()
                    if by == "abort":
                        run.abort()
                    else:
                        scope.cancel()

                nursery.start_soon(stop)
                async for event in run:
                    world.events.append(event)
        took = trio.current_time() - stopped_at
    assert run.outcome is not None
    assert run.outcome.status == "aborted"
    return took


def holding(held: trio.Event, *, start: bool, perform: bool, answer: str) -> Handler:
    """An act that is held in the page: begun or not, done or not, and how it is answered once it is cancelled."""

    async def handler(act: Any) -> Any:
        if start:
            await act.start()
        result = act.perform() if perform else None
        await trio.testing.wait_all_tasks_blocked()  # what was told has arrived
        held.set()
        await act.cancelled.wait()
        if answer == "cancelled":
            act.fail("cancelled")
        await trio.sleep(0.5)
        return result if answer == "truth" else None

    return handler


@pytest.mark.parametrize(
    ("start", "perform", "answer", "state", "seconds"),
    [
        (True, True, "truth", "done", 0.5),
        (False, False, "cancelled", "not-started", 0.0),
        (True, False, "silence", "unknown", GRACE),
    ],
)
async def test_an_aborted_act_ends_with_what_is_true_of_it(
    autojump_clock: Any, world: Any, start: bool, perform: bool, answer: str, state: str, seconds: float
) -> None:
    """Rulings 1 and 6: `aborted` comes after the act's end, at most the grace later, and `loop.effect` is on record before it."""
    held = trio.Event()
    world.addon.on_act = holding(held, start=start, perform=perform, answer=answer)
    took = await stopped(world, held)
    assert took == pytest.approx(seconds, abs=0.001)
    last = world.events[-1]
    assert isinstance(last, Aborted)
    assert last.in_flight is not None
    assert (last.in_flight.name, last.in_flight.effect.state) == ("act", state)
    assert world.kinds()[-2:] == ["loop.effect", "loop.aborted"]
    assert world.noted("loop.effect")[0]["state"] == state
    assert "call.cancel" in world.addon.asked
    world.assert_on_record()


async def test_nothing_is_sent_to_the_page_after_a_stop(autojump_clock: Any, world: Any) -> None:
    """design.md, promise 1: after the cancel only the question what became of the act, and thanks for the answer."""
    held = trio.Event()
    world.addon.on_act = holding(held, start=True, perform=True, answer="truth")
    await stopped(world, held)
    await trio.testing.wait_all_tasks_blocked()
    after = world.addon.asked[world.addon.asked.index("call.cancel") + 1 :]
    assert set(after) <= {"page.outcome", "page.acknowledge"}
    assert not any(isinstance(event, ToolResult) and event.name == "act" for event in world.events)


async def test_a_run_that_is_cancelled_from_outside_leaves_the_same_record(autojump_clock: Any, world: Any) -> None:
    """GB-L11: `Cancelled` passes through; effect and stop are recorded, shielded and bounded, though no event is handed over."""
    held = trio.Event()
    world.addon.on_act = holding(held, start=True, perform=True, answer="truth")
    took = await stopped(world, held, by="cancel")
    assert took == pytest.approx(0.5, abs=0.001)
    assert not isinstance(world.events[-1], Aborted)
    assert world.kinds()[-2:] == ["loop.effect", "loop.aborted"]
    assert world.noted("loop.effect")[0]["state"] == "done"
    assert world.noted("loop.aborted")[0]["record"]["cause"] == "cancelled"


async def test_an_abort_while_a_human_decides_does_nothing_at_all(autojump_clock: Any, world: Any) -> None:
    """loop.md 14: the approval loses at once; nothing was begun, so nothing is in flight."""
    say = world.say

    async def never(_: Any) -> str | None:
        run.abort()
        await trio.sleep_forever()
        return None

    loop = await world.loop([say.snapshot(), say.click(5), say.finish()], approve=never)
    started = trio.current_time()
    async with loop.run("Sign Ada up") as run:
        async for event in run:
            world.events.append(event)
    assert trio.current_time() - started < 1.0
    assert world.events[-1] == Aborted(step=2)
    assert world.addon.done == []
    assert "page.act" not in world.addon.asked
    world.assert_on_record()
