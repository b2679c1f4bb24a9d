"""Asking the host program: a function of its own decides, be it a window, a message to a phone or a test."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable

import attrs
import trio

from ..actions import ApprovalRequest
from ..actions._valid import require_method
from ..errors import BadOptionsError
from ..ports import Approver, WallClock
from ._asking import answer, stored
from ._host_side import HostSide

AskFunction = Callable[[ApprovalRequest], "bool | Awaitable[bool]"]


def callback_approver(host: HostSide, ask: AskFunction, *, wall_clock: WallClock | None = None) -> Approver:
    """An `on_approval` that asks `ask`, sync or async, and answers through `host`.

    `ask` gets the request with the action that the gate has stored under its id, which is what the token will be bound to. True,
    and nothing else that may count as true, approves exactly that request and gives its token. Anything else rejects it and gives
    None; so does the end of `expires_at`, which cancels an async `ask`. A sync `ask` runs in the loop's thread: it must not wait.

    When `ask` raises or is cancelled, that comes out and nothing is decided: the request goes on waiting.

    Args:
        wall_clock: the clock that `expires_at` is on, seconds since 1970; the gate's `now` if that was given.

    Raises BadOptionsError for an `ask` that cannot be called with one argument, and for a `host` that is none.
    """
    require_method("host", host, "pending", "approve", "reject")
    _check_signature(ask)
    clock = wall_clock or time.time

    async def approve(request: ApprovalRequest) -> str | None:
        row = await stored(host, request.request_id)
        if row is None:
            return None
        said: object = None
        shown = attrs.evolve(request, action=row.action, expires_at=min(request.expires_at, row.expires_at))
        with trio.move_on_after(max(0.0, shown.expires_at - clock())):
            said = ask(shown)
            if inspect.isawaitable(said):
                said = await said
        return await answer(host, row.id, said is True, _nobody_listens)

    return approve


def _check_signature(ask: object) -> None:
    """A handler that cannot be called would be found out only when somebody waits for it."""
    if not callable(ask):
        raise BadOptionsError(f"ask must be a function of one argument, the request, not {type(ask).__name__}")
    try:
        inspect.signature(ask).bind(object())
    except TypeError:
        raise BadOptionsError(f"ask must be callable with one argument, the request: {ask!r} is not") from None
    except ValueError:  # a callable that does not tell its signature
        return


def _nobody_listens(words: str) -> None:
    """The host knows what it said."""
