"""Calling and awaiting what is not ours: open to Ctrl-C, and if need be watched for whether it gives other tasks their turn.

Ctrl-C is held back in the loop's own code, so that it cannot fall between an act and its record; what is called is open to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from types import CoroutineType, FrameType
from typing import Any, Protocol

import trio


@trio.lowlevel.disable_ki_protection
async def interruptible(fn: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Await what is not ours: Ctrl-C may interrupt it."""
    return await fn(*args)


@trio.lowlevel.disable_ki_protection
def called(hook: Any, *args: Any) -> Any:
    """Call what is not ours: Ctrl-C may interrupt it."""
    return hook(*args)


class Rests(Protocol):
    """Who keeps account of whether other tasks have had their turn."""

    rested: bool
    rested_since_tool: bool


class Watched:
    """``await Watched(rests, fn, args)`` is ``await interruptible(fn, *args)``, and tells `rests` when it is suspended.

    An await that never suspends gives no other task its turn, and from outside nobody can tell. So this drives the coroutine
    itself: whatever is sent, thrown and yielded passes through as it is, and for Trio's walk along the awaits (`cr_frame`,
    `cr_await`) it is the coroutine.
    """

    __slots__ = ("_args", "_fn", "_inner", "_rests")

    def __init__(self, rests: Rests, fn: Callable[..., Awaitable[Any]], args: tuple[Any, ...]) -> None:
        self._rests = rests
        self._fn = fn
        self._args = args
        self._inner: Coroutine[Any, Any, Any] | None = None

    def __await__(self) -> Watched:
        return self

    def __iter__(self) -> Watched:
        return self

    @trio.lowlevel.disable_ki_protection
    def __next__(self) -> Any:
        inner = self._inner
        if inner is not None:
            return inner.send(None)
        awaitable = self._fn(*self._args)
        self._inner = inner = awaitable if type(awaitable) is CoroutineType else _itself(awaitable)
        yielded = inner.send(None)
        self._rests.rested = self._rests.rested_since_tool = True
        return yielded

    @trio.lowlevel.disable_ki_protection
    def send(self, value: Any) -> Any:
        assert self._inner is not None
        return self._inner.send(value)

    @trio.lowlevel.disable_ki_protection
    def throw(self, *fault: Any) -> Any:
        assert self._inner is not None
        return self._inner.throw(*fault)

    @trio.lowlevel.disable_ki_protection
    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()

    @property
    def cr_frame(self) -> FrameType | None:
        return self._inner.cr_frame if self._inner is not None else None  # type: ignore[attr-defined]

    @property
    def cr_await(self) -> Any:
        return self._inner.cr_await if self._inner is not None else None  # type: ignore[attr-defined]


async def _itself(awaitable: Awaitable[Any]) -> Any:
    return await awaitable
