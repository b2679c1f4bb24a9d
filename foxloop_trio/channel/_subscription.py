"""`Subscription`: the notifications of the add-on as they come, bounded.

Synopsis::

    with session.events() as events:
        async for told in events:          # Notification(method="tab.changed", params={…})
            ...

The session's reader never waits for a subscriber. When one has `MAX_EVENTS` unread, the oldest *state* notification (tab and
document news, which a fresh ``tab.list`` tells as well) is dropped for the new one, and counted in `dropped`; only when none of
them is left is the oldest of the others dropped. A subscriber that sees `dropped` change asks for the state anew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self, final

import trio

from ..wire import Notification

__all__ = ["MAX_EVENTS", "Subscription"]

MAX_EVENTS: Final = 1024
"""Unread notifications of one subscriber: loading a page makes about ten, so this is a hundred pages behind."""

STATE_NEWS: Final = frozenset({"document.gone", "document.here", "tab.changed", "tab.removed"})


@final
class Subscription:
    """Made by `ChannelSession.events`. It iterates until it is closed, or the session ends and everything was read."""

    def __init__(self, forget: Callable[[Subscription], None]) -> None:
        self._forget = forget
        self._unread: deque[Notification] = deque()
        self._arrived = trio.lowlevel.ParkingLot()
        self._ended = False
        self.dropped = 0
        """Notifications that were dropped since the start, because they were not read in time."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notification:
        try:
            return await self.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None

    async def receive(self) -> Notification:
        """The next notification. Raises trio.EndOfChannel when there is none left and none can come."""
        await trio.lowlevel.checkpoint()
        while not self._unread:
            if self._ended:
                raise trio.EndOfChannel
            await self._arrived.park()
        return self._unread.popleft()

    def receive_nowait(self) -> Notification:
        """The next notification if there is one. Raises trio.WouldBlock when there is none now, trio.EndOfChannel when none can
        come."""
        if self._unread:
            return self._unread.popleft()
        raise trio.EndOfChannel if self._ended else trio.WouldBlock

    def close(self) -> None:
        """Take no more; what is unread is dropped. Idempotent."""
        self._unread.clear()
        self._end()
        self._forget(self)

    def _put(self, told: Notification) -> None:
        if len(self._unread) >= MAX_EVENTS:
            self._drop_one()
        self._unread.append(told)
        self._arrived.unpark()

    def _drop_one(self) -> None:
        for index, told in enumerate(self._unread):
            if told.method in STATE_NEWS:
                del self._unread[index]
                break
        else:
            self._unread.popleft()
        self.dropped += 1

    def _end(self) -> None:
        self._ended = True
        self._arrived.unpark_all()
