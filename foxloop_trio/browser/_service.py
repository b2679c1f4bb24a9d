"""A context manager that stays up until the code that uses it has left, also when that code is cancelled.

::

    async with open_service(open_bidi(url)) as bidi:
        ...                      # cancelled here: the clean-up of this block may still use bidi

Trio cancels the tasks of a nursery and its body at one time, so a connection's reader would be gone before the body could say
goodbye over it. Here the manager is held by a task under a shield; the body is not shielded. Once the body has left, the manager's
own exit runs, still shielded: **it has to be bounded**.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import TypeVar

import trio

__all__ = ["one_error", "open_service"]

T = TypeVar("T")


@asynccontextmanager
async def open_service(manager: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """Enter `manager` in a task of its own; leave it after the body.

    An exception of the body comes out as it is, not in a group; so does one of the manager, which cancels the body. Both at once
    come as a group.
    """
    leave = trio.Event()

    async def hold(*, task_status: trio.TaskStatus[tuple[T, trio.CancelScope]]) -> None:
        with trio.CancelScope() as scope:
            async with manager as value:
                task_status.started((value, scope))
                await leave.wait()

    with one_error():
        async with trio.open_nursery() as nursery:
            value, scope = await nursery.start(hold)
            # Not earlier: while it is being entered, a cancel must reach it; and a shielded task under a cancelled start() is never
            # handed over.
            scope.shield = True
            try:
                yield value
            finally:
                leave.set()


@contextmanager
def one_error() -> Iterator[None]:
    """Around one nursery: a group with a single exception comes out as that exception, other groups as they are.

    What the nursery's body raised, be it a group, thus comes out as it was raised.
    """
    single: BaseException | None = None
    try:
        yield
    except BaseExceptionGroup as group:
        if len(group.exceptions) != 1:
            raise
        single = group.exceptions[0]
    if single is not None:
        context = single.__context__
        try:
            raise single
        finally:
            single.__context__ = context  # not the group, which would show everything twice in a traceback
