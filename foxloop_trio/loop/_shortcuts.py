"""Methods that a port may have beside an awaited one, for when there is nothing to wait for: `check_now` of a gate beside `check`,
`append_nowait` of a trail beside `append`. Pure.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def shortcut(port: object, plain: str, awaited: str) -> Callable[..., Any] | None:
    """The method `plain` of `port`, where it speaks for the method `awaited`; None where it does not, or is not there.

    Whoever wraps or extends a port changes what `awaited` does, and must not be passed by. So both are looked for in the class: a
    `plain` that was inherited from before `awaited` was written anew does not count, nor one that an object has of its own or finds
    in what it wraps. One that is async after all is none.
    """
    if awaited in getattr(port, "__dict__", ()):
        return None
    for kind in type(port).__mro__:
        if plain in vars(kind):
            found = getattr(port, plain)
            return found if callable(found) and not inspect.iscoroutinefunction(found) else None
        if awaited in vars(kind):
            return None
    return None
