"""`Outbox`: what waits for the writer. Two lanes: cancels and small news overtake requests that wait.

Requests stay as calls until the writer takes them, so that one can be withdrawn, and so that its ``deadline_ms`` is true when it is
sent. It knows nothing of sending.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar, final

import trio

__all__ = ["Outbox"]

CallT = TypeVar("CallT")


@final
class Outbox(Generic[CallT]):
    """One reader (the writer task), any number of callers that put. Its bounds are kept by who puts."""

    def __init__(self) -> None:
        self._urgent: deque[str] = deque()
        self._calls: deque[CallT] = deque()
        self._changed = trio.lowlevel.ParkingLot()
        self._closed = False

    @property
    def calls(self) -> int:
        """Calls that wait."""
        return len(self._calls)

    @property
    def texts(self) -> int:
        """Ready texts that wait."""
        return len(self._urgent)

    def put_text(self, text: str) -> None:
        """A text that is ready to be sent, before all calls that wait."""
        self._urgent.append(text)
        self._changed.unpark()

    def put_call(self, call: CallT) -> None:
        """A call, behind all others."""
        self._calls.append(call)
        self._changed.unpark()

    def withdraw(self, call: CallT) -> bool:
        """Take a call out again; False when the writer has it already."""
        try:
            self._calls.remove(call)
        except ValueError:
            return False
        return True

    def close(self) -> None:
        """`take` gives None once the urgent lane is empty."""
        self._closed = True
        self._changed.unpark_all()

    async def take(self) -> str | CallT | None:
        """The next thing to send, or None when the outbox is closed and empty of texts."""
        await trio.lowlevel.checkpoint()
        while True:
            if self._urgent:
                return self._urgent.popleft()
            if self._closed:
                return None
            if self._calls:
                return self._calls.popleft()
            await self._changed.park()
