"""Rules for the tests of the channel, which keep them deterministic:

1. In memory: `memory_channel_pair`, the `autojump_clock` fixture, exact times with ``==``. No threads, no sockets.
2. Over sockets: 127.0.0.1 and port 0 only, the real clock, every test bounded (`tests/conftest.py`). No exact times.
3. One side of a test begins every close; a test that lets both do so says "race" in its name.
4. Nothing sleeps to wait for an event: `call.wait_sent`, `wait_all_tasks_blocked`, or a message of the peer is waited for.
5. What must not be sent is proved by what the peer received, at the end, in order.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from foxloop_trio import wire
from foxloop_trio.channel import ChannelSession, Peer, Transport, open_session
from foxloop_trio.testing import memory_channel_pair

PEER = Peer(
    session="5e" * 16, incarnation="0123456789abcdef" * 2, addon_version="0.1.0", browser_name="Firefox", browser_version="153.0"
)

ACT = {
    "incarnation": PEER.incarnation,
    "call": "ca11" * 8,
    "tab": 7,
    "frame": 0,
    "document": "d0c0" * 8,
    "host": "shop.example",
    "node": 1,
    "guard": "9c3f0a7be21d5544",
    "key": "aa00bb11cc22dd33",
    "op": "click",
    "value": None,
    "mark": True,
    "focus": False,
}
ACTED = {"ok": True, "started": True, "submitted": False, "navigated": False, "dialogs": []}
TAB = {
    "tab": 7,
    "url": "https://shop.example/",
    "title": "Shop",
    "active": True,
    "status": "complete",
    "window": 1,
    "document": None,
}


class Addon:
    """A fake add-on: says and answers what the test tells it to, and keeps all that it received."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.connection = wire.Connection(role=wire.ADDON, id_prefix="1", state=wire.State.OPEN)
        self.received: list[tuple[str, Mapping[str, Any]]] = []

    async def next(self) -> wire.Request | wire.Notification:
        """The next request or notification of the runtime."""
        event = self.connection.receive_text(await self.transport.receive_text())
        assert isinstance(event, wire.Request | wire.Notification), event
        self.received.append((event.method, event.params))
        return event

    async def request(self) -> wire.Request:
        """The next message, which must be a request."""
        event = await self.next()
        assert isinstance(event, wire.Request), event
        return event

    async def answer(self, request: wire.Request, result: Mapping[str, Any]) -> None:
        await self.transport.send_text(self.connection.send_result(request.id, result))

    async def fail(self, request: wire.Request, code: str, message: str = "no") -> None:
        await self.transport.send_text(self.connection.send_error(request.id, code, message))

    async def tell(self, method: str, params: Mapping[str, Any]) -> None:
        await self.transport.send_text(self.connection.send_notification(method, params))

    async def say(self, message: Any) -> None:
        """Send anything that is JSON, without asking the protocol."""
        await self.transport.send_text(wire.encode(message, max_bytes=wire.MAX_MESSAGE_BYTES))

    @property
    def methods(self) -> list[str]:
        """The methods of all that was received, in order."""
        return [method for method, _ in self.received]


@asynccontextmanager
async def _attached(*, buffer: int = 1) -> AsyncIterator[tuple[ChannelSession, Addon]]:
    ours, theirs = memory_channel_pair(buffer=buffer)
    async with open_session(ours, PEER, ids=lambda nbytes, purpose: bytes(nbytes)) as session:
        yield session, Addon(theirs)


Attached = Callable[..., AbstractAsyncContextManager[tuple[ChannelSession, Addon]]]


@pytest.fixture
def attached() -> Attached:
    """`async with attached() as (session, addon)`: a session over memory, and the fake add-on at its other end."""
    return _attached


@pytest.fixture
def make_addon() -> Callable[[Transport], Addon]:
    return Addon


@pytest.fixture
def act() -> dict[str, Any]:
    """Params of a `page.act` that fit."""
    return dict(ACT)


@pytest.fixture
def acted() -> dict[str, Any]:
    """A result of `page.act` that fits."""
    return dict(ACTED)


@pytest.fixture
def tab() -> dict[str, Any]:
    return dict(TAB)


@pytest.fixture
def peer() -> Peer:
    return PEER
