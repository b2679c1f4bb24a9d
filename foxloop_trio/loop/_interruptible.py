"""Calling and awaiting what is not ours: open to Ctrl-C.

Ctrl-C is held back in the loop's own code, so that it cannot fall between an act and its record; what is called is open to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import trio


@trio.lowlevel.disable_ki_protection
async def interruptible(fn: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    """Await what is not ours: Ctrl-C may interrupt it."""
    return await fn(*args)


@trio.lowlevel.disable_ki_protection
def called(hook: Any, *args: Any) -> Any:
    """Call what is not ours: Ctrl-C may interrupt it."""
    return hook(*args)
