"""A stand-in for the add-on, in memory, whose answers a test writes one by one. It keeps the wire, and nothing else.

::

    async with stand_in() as (session, addon):
        addon.on["tab.get"] = lambda request: {"tab": tab_state(7)}
        ...
    assert addon.asked == ["tab.get"]
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import trio

from ..browser._service import one_error
from ..browser._session import BrowserSession
from ..channel import Peer, open_session
from ..errors import ChannelError
from ..wire import ADDON, Connection, Notification, Request, State
from ._memory_channel import MemoryTransport, memory_channel_pair

__all__ = ["Answer", "Refused", "StandIn", "stand_in", "tab_state"]

PEER: Final = Peer(session="5e" * 16, incarnation="1c" * 16, addon_version="0", browser_name="Stand-in", browser_version="0")

Result = dict[str, Any] | None
Answer = Callable[[Request], Awaitable[Result] | Result]
"""Makes the result of one request; None: it is never answered."""


class Refused(Exception):
    """Raised by an answer: the request gets an error with this code."""


def tab_state(tab: int, **more: Any) -> dict[str, Any]:
    """A tab as the wire has it: complete, on a page of shop.test."""
    plain = {"url": "http://shop.test/", "title": "Shop", "active": True, "status": "complete", "window": 1, "document": "d0" * 16}
    return {"tab": tab, **plain, **more}


class StandIn:
    """`on` holds the answers by method; `asked` the methods that came, as requests or notifications, and `params` their params."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.on: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.params: list[Any] = []
        self._transport = transport
        self._wire = Connection(role=ADDON, id_prefix="stand", state=State.OPEN)
        self._cancelled: dict[str, trio.Event] = {}

    async def tell(self, method: str, **params: Any) -> None:
        """Send a notification."""
        await self._transport.send_text(self._wire.send_notification(method, params))

    async def wait_cancelled(self, request: Request) -> None:
        """Wait until the runtime asks to stop this request."""
        await self._cancelled.setdefault(request.id, trio.Event()).wait()

    async def hang_up(self) -> None:
        """Be gone, as a killed browser is."""
        await self._transport.abort()

    async def serve(self) -> None:
        async with trio.open_nursery() as nursery:
            with suppress(ChannelError):
                while True:
                    match self._wire.receive_text(await self._transport.receive_text()):
                        case Request() as request:
                            self._note(request)
                            nursery.start_soon(self._answer, request)
                        case Notification() as told:
                            self._note(told)
                            if told.method == "call.cancel":
                                self._cancelled.setdefault(told.params["id"], trio.Event()).set()
                        case other:
                            raise AssertionError(f"the stand-in got {other}")
            nursery.cancel_scope.cancel()

    def _note(self, message: Request | Notification) -> None:
        self.asked.append(message.method)
        self.params.append(message.params)

    async def _answer(self, request: Request) -> None:
        try:
            result = self.on[request.method](request)
            if inspect.isawaitable(result):
                result = await result
        except Refused as refused:
            text = self._wire.send_error(request.id, str(refused), "the stand-in says so")
        else:
            if result is None:
                return
            text = self._wire.send_result(request.id, result)
        with suppress(ChannelError):
            await self._transport.send_text(text)


@asynccontextmanager
async def stand_in() -> AsyncIterator[tuple[BrowserSession, StandIn]]:
    """A session, and the stand-in at its other end."""
    ours, theirs = memory_channel_pair(buffer=64)
    addon = StandIn(theirs)
    with one_error():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(addon.serve)
            async with open_session(ours, PEER) as channel:
                yield BrowserSession(channel), addon
            nursery.cancel_scope.cancel()
