"""A wait for the planner notes whether other tasks had their turn in it, since an await that never suspends gives them none."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.loop._effects import Ok
from foxloop_trio.loop._waits import Waited, Waits


class Custom:
    """An awaitable that is no coroutine."""

    def __await__(self) -> Any:
        return (yield from trio.lowlevel.checkpoint().__await__())  # noqa: ASYNC105


async def at_once() -> str:
    return "at once"


async def raising() -> None:
    raise KeyError("awaited")


def faulty() -> Any:
    raise LookupError("called")


async def looking_for_a_cancel() -> None:
    await trio.lowlevel.checkpoint_if_cancelled()


async def yielding() -> None:
    await trio.lowlevel.cancel_shielded_checkpoint()


async def sleeping() -> None:
    await trio.sleep(3)


async def raising_later() -> None:
    await trio.lowlevel.checkpoint()
    raise KeyError("awaited")


async def in_a_nursery() -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.sleep, 1)


async def parked() -> None:
    """What sleeps with data of its own."""
    event = trio.Event()
    async with trio.open_nursery() as nursery:

        async def wake() -> None:
            event.set()

        nursery.start_soon(wake)
        await event.wait()


async def ask(waits: Waits, fn: Callable[[], Awaitable[Any]]) -> Ok | Waited:
    waits.reader = trio.lowlevel.current_task()
    return await waits.wait("planner", "planner_seconds", math.inf, fn, watched=True)


@pytest.mark.parametrize(
    ("fn", "suspended"),
    [
        (at_once, False),
        (raising, False),
        (faulty, False),
        (looking_for_a_cancel, False),
        (trio.lowlevel.checkpoint, True),
        (yielding, True),
        (Custom, True),
        (raising_later, True),
        (in_a_nursery, True),
        (parked, True),
        (sleeping, True),
    ],
)
async def test_being_suspended_is_noted(fn: Callable[[], Awaitable[Any]], suspended: bool, autojump_clock: Any) -> None:
    """One that returns or raises at once has given nobody a turn."""
    waits = Waits(math.inf)
    await ask(waits, fn)
    assert (waits.rested, waits.rested_since_tool) == (suspended, suspended)
    assert trio.lowlevel.current_task().custom_sleep_data is None


async def test_a_wait_that_is_cut_was_suspended(autojump_clock: Any) -> None:
    """An abort, too, comes while others have their turn."""
    waits = Waits(math.inf)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask, waits, trio.sleep_forever)
        await trio.testing.wait_all_tasks_blocked()
        assert not waits.rested
        waits.abort(None)
    assert waits.rested


@pytest.mark.parametrize(("fn", "suspended"), [(at_once, False), (trio.lowlevel.checkpoint, True)])
async def test_a_run_inside_the_planner_of_another_run_disturbs_no_note(fn: Callable[[], Awaitable[Any]], suspended: bool) -> None:
    """Both know whether the task slept."""
    outer, inner = Waits(math.inf), Waits(math.inf)
    await ask(outer, lambda: ask(inner, fn))
    assert (outer.rested, inner.rested) == (suspended, suspended)
