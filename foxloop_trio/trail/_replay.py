"""Replaying a run from its trail, for whoever has the entries and a way to make the loop.

The trail knows no loop: what it needs of one is in `Replayable`, and `foxloop_trio.loop.Loop` has it.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, TypeVar

from ..errors import UsageError

__all__ = ["Replayable", "replay"]

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class Replayable(Protocol[T_co]):
    """What can drive itself with recorded entries, as `Loop` can."""

    async def replay(self, entries: Iterable[Any], *, run: str | None = None) -> T_co:
        """Go the recorded way and say whether it is the same."""


MakeLoop = Callable[[], Replayable[T] | Awaitable[Replayable[T]] | AbstractAsyncContextManager[Replayable[T]]]


async def replay(entries: Iterable[Any], make_loop: MakeLoop[T], *, run: str | None = None) -> T:
    """Drive the loop that `make_loop` makes with what a trail recorded: its `Replayed`, or the first `Difference`.

    `entries` are those of the trail (see `read_trail`; verify them first), `run` is the id of the run, or None for the last one.
    `make_loop` is a plain function, an async one, or one that gives an async context manager; the loop needs the same tools and
    options as the one that was recorded. Nothing is asked, run or written.

    Raises UsageError when `make_loop` makes no loop, there is no such run, or an entry cannot be read.
    """
    if not callable(make_loop):
        raise UsageError(f"make_loop must be a function that makes a Loop, not {type(make_loop).__name__}")
    made: Any = make_loop()
    if inspect.isawaitable(made):
        made = await made
    if hasattr(made, "__aenter__"):
        async with made as entered:
            return await _checked(entered, make_loop).replay(entries, run=run)
    return await _checked(made, make_loop).replay(entries, run=run)


def _checked(made: Any, make_loop: MakeLoop[T]) -> Replayable[T]:
    if not inspect.iscoroutinefunction(getattr(made, "replay", None)):
        name = getattr(make_loop, "__name__", "make_loop")
        raise UsageError(f"{name} must make a Loop, or an async context manager of one; it made {type(made).__name__}")
    loop: Replayable[T] = made
    return loop
