"""`Watched` is a plain await that notes whether it was suspended: nothing that passes through it is changed."""

from __future__ import annotations

import types
from collections.abc import Callable, Generator
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.loop._watched import Watched, interruptible


class Rests:
    rested = rested_since_tool = False


@types.coroutine
def ask(word: Any) -> Generator[Any, Any, Any]:
    """Suspends with `word`, and gives what is sent."""
    return (yield word)


class Custom:
    """An awaitable that is no coroutine."""

    def __await__(self) -> Generator[Any, Any, Any]:
        return (yield "custom")


async def talk(first: Any) -> Any:
    """Says some words, takes what it gets; catches a ValueError once."""
    heard = [await ask(first)]
    try:
        heard.append(await ask("second"))
    except ValueError as fault:
        heard.append(str(fault))
    heard.append(await ask(None))
    return heard


async def at_once(value: Any) -> Any:
    return value


def custom(_: Any) -> Any:
    return Custom()


def faulty(_: Any) -> Any:
    raise LookupError("called")


async def raising(_: Any) -> Any:
    raise KeyError("awaited")


SENT: list[Callable[[Any], Any]] = [
    lambda steps: steps.send("a"),
    lambda steps: steps.send(None),
    lambda steps: steps.throw(ValueError("thrown")),
    lambda steps: steps.throw(trio.TooSlowError("unasked")),
    lambda steps: steps.close(),
]


def history(wrap: Callable[..., Any], fn: Any, plan: tuple[int, ...]) -> list[Any]:
    """All that comes out of awaiting `fn` when these things are sent to it, one after the other."""

    async def main() -> Any:
        return await wrap(fn)

    steps = main()
    told: list[Any] = []
    try:
        told.append(("yielded", steps.send(None)))
        for number in plan:
            told.append(("yielded", SENT[number](steps)))
    except StopIteration as end:
        told.append(("returned", end.value))
    except BaseException as fault:
        told.append(("raised", repr(fault)))
    finally:
        steps.close()
    return told


@pytest.mark.parametrize("fn", [talk, at_once, custom, faulty, raising])
@pytest.mark.parametrize("plan", [(a, b, c) for a in range(5) for b in range(5) for c in (0, 2, 4)])
def test_what_is_sent_thrown_and_closed_passes_through_as_in_a_plain_await(fn: Any, plan: tuple[int, ...]) -> None:
    """The same values, errors and ends."""
    assert history(lambda f: Watched(Rests(), f, ("first",)), fn, plan) == history(lambda f: interruptible(f, "first"), fn, plan)


def test_being_suspended_is_noted() -> None:
    """One that returns or raises at once has given nobody a turn."""
    for fn, suspended in ((talk, True), (custom, True), (at_once, False), (raising, False), (faulty, False)):
        rests = Rests()
        history(lambda f, rests=rests: Watched(rests, f, ("first",)), fn, (0, 0, 0))
        assert (rests.rested, rests.rested_since_tool) == (suspended, suspended), fn


async def test_trio_sees_through_it() -> None:
    """Who looks at what a task is waiting for finds the frames of the planner."""

    async def planner() -> None:
        await trio.sleep_forever()

    async def main() -> None:
        nonlocal task
        task = trio.lowlevel.current_task()
        await Watched(Rests(), planner, ())

    task: Any = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(main)
        await trio.testing.wait_all_tasks_blocked()
        names = [frame.f_code.co_name for frame, _ in task.iter_await_frames()]
        assert names[:3] == ["main", "planner", "sleep_forever"]
        nursery.cancel_scope.cancel()
