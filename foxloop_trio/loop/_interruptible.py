"""Calling and awaiting what is not ours: open to Ctrl-C, sync or async, and closed in any case.

Ctrl-C is held back in the loop's own code, so that it cannot fall between an act and its record; what is called is open to it.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio
from trio.lowlevel import checkpoint_if_cancelled

CLOSE_SECONDS: Final = 5.0
"""How long closing what was held for a call may take. The loop's `cancel_grace` has the same default."""

_log = logging.getLogger("foxloop_trio.loop")


@trio.lowlevel.disable_ki_protection
async def interruptible(fn: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Await what is not ours: Ctrl-C may interrupt it."""
    return await fn(*args)


@trio.lowlevel.disable_ki_protection
def called(hook: Any, *args: Any) -> Any:
    """Call what is not ours: Ctrl-C may interrupt it."""
    return hook(*args)


async def ask(function: Callable[..., Any], *args: Any) -> Any:
    """What a function of the host's, sync or async, answers. It is not called at all when a cancel is pending."""
    await checkpoint_if_cancelled()
    value = function(*args)
    return await value if inspect.isawaitable(value) else value


async def close(function: Callable[[], Any], words: str, *args: Any) -> None:
    """Call what gives back something that was held, sync or async, also when a cancel is pending, within `CLOSE_SECONDS`.

    What it raises is logged as `words`: it must hide neither what ended the holding nor what comes next.
    """
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLOSE_SECONDS):
        try:
            done = function()
            if inspect.isawaitable(done):
                await done
        except Exception:
            _log.exception(words, *args)
