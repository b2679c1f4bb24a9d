"""`Service`: a nursery whose tasks serve a body, and therefore outlive its cancellation until the body has left.

Synopsis::

    async with Service() as service:
        service.start(reader) ...                         # cancelled from outside: first this body leaves, shielded clean-up and
        all, then `reader` is stopped

In a plain nursery a cancel from outside reaches the reader and the body in the same moment, and clean-up in the body can no longer
talk to anybody. The other difference: an exception of the body leaves as it is, not inside an ExceptionGroup. A task that crashes
is a bug; it cancels the body and leaves as a group, as in any nursery.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Self, final

import trio

__all__ = ["Service"]


@final
class Service:
    """See the module. It is entered and left in one task, like a nursery."""

    def __init__(self) -> None:
        self._manager: AbstractAsyncContextManager[trio.Nursery] = trio.open_nursery()
        self._nursery: trio.Nursery | None = None
        self._scopes: list[trio.CancelScope] = []

    async def __aenter__(self) -> Self:
        self._nursery = await self._manager.__aenter__()
        return self

    def start(self, serve: Callable[..., Awaitable[Any]], *args: Any) -> None:
        """Start `serve(*args)`; it runs until it returns, or until the body has left."""
        assert self._nursery is not None, "a service is used inside its own async with"
        scope = trio.CancelScope(shield=True)
        self._scopes.append(scope)
        self._nursery.start_soon(self._run, scope, serve, *args)

    @staticmethod
    async def _run(scope: trio.CancelScope, serve: Callable[..., Awaitable[Any]], *args: Any) -> None:
        with scope:
            await serve(*args)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._nursery is not None
        for scope in self._scopes:
            scope.cancel()
        # The tasks end at their next checkpoint. The shield makes a Cancelled of theirs end here: the body's own exception, or its
        # own Cancelled, is what the caller sees, and it is raised again by returning None.
        self._nursery.cancel_scope.shield = True
        self._nursery.cancel_scope.cancel()
        await self._manager.__aexit__(None, None, None)
