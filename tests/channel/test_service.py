"""`Service`: tasks that outlive a cancel until their body has left."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.channel._service import Service


async def test_tasks_serve_until_the_body_has_left(autojump_clock: Any) -> None:
    """The body is cancelled at 1 s and cleans up until 3 s; the task sees all of it and is stopped then."""
    served: list[float] = []

    async def serve() -> None:
        try:
            while True:
                await trio.sleep(1)
                served.append(trio.current_time())
        finally:
            served.append(-trio.current_time())

    with trio.move_on_after(1.5) as scope:
        async with Service() as service:
            service.start(serve)
            try:
                await trio.sleep_forever()
            finally:
                with trio.CancelScope(shield=True):
                    await trio.sleep(2)
    assert scope.cancelled_caught
    assert [1, 2, 3, -3.5] == served


async def test_a_body_s_exception_is_not_wrapped(autojump_clock: Any) -> None:
    """What the body raises is what the caller sees."""
    with pytest.raises(KeyError):
        async with Service() as service:
            service.start(trio.sleep_forever)
            raise KeyError("x")


async def test_a_crashing_task_cancels_the_body_and_is_not_lost(autojump_clock: Any) -> None:
    """A bug in a task must not be silent."""

    async def crash() -> None:
        raise RuntimeError("bug")

    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="bug"), flatten_subgroups=True):
        async with Service() as service:
            service.start(crash)
            await trio.sleep_forever()
    assert 0 == trio.current_time()


async def test_a_task_that_ends_by_itself_disturbs_nobody(autojump_clock: Any) -> None:
    """The body goes on."""
    async with Service() as service:
        service.start(trio.sleep, 1)
        await trio.sleep(2)
    assert 2 == trio.current_time()


async def test_leaving_stops_all_tasks_at_once(autojump_clock: Any) -> None:
    """No waiting for what would never end."""
    async with Service() as service:
        for _ in range(3):
            service.start(trio.sleep_forever)
    assert 0 == trio.current_time()
