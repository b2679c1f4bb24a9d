"""`Line`: one connection, at the add-on's end. Owns reading, writing in order, and the calls that are open on it.

What is posted is sent by one writer, so whoever answers never waits, and a check and what follows it are one turn. A call that has
begun is not of the line: it goes on when the line is lost, as it does in a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import trio

from ...channel import Transport
from ...errors import ChannelBroken, ChannelClosed
from ...wire import ADDON, Connection, Notification, NotificationRefused, Request, RequestRefused, State, StrayReply
from ._faults import Cut, Delay, Fault, Phase

__all__ = ["Line", "LineCall"]

LOST: Final = "lost"


@final
class LineCall:
    """A request that came, and what was planned for it. `stopped`: why it must not begin any more (None: it may)."""

    def __init__(self, line: Line, request: Request, faults: Sequence[Fault]) -> None:
        self.line = line
        self.request = request
        self.faults = faults
        self.stopped: str | None = None
        self.scope: trio.CancelScope | None = None
        """Of its handler, where that one changes nothing and may be left at any point."""
        self.deadline: float = trio.current_time() + request.params["deadline_ms"] / 1000
        self._stop = trio.Event()

    def stop(self, code: str) -> None:
        if self.stopped is None:
            self.stopped = code
            self._stop.set()
            if self.scope is not None:
                self.scope.cancel()

    async def wait_stopped(self) -> None:
        await self._stop.wait()

    async def hold(self, phase: Phase) -> None:
        """Do what is planned for this phase: wait, at most until the call is stopped; or lose the connection."""
        for fault in self.faults:
            if isinstance(fault, Delay) and fault.phase == phase:
                until = trio.current_time() + fault.seconds
                with trio.move_on_at(min(until, self.deadline) if phase == "before" else until):
                    await self._stop.wait()
                if phase == "before" and trio.current_time() < until:
                    self.stop("timeout")  # unless it was stopped for another reason already
            elif isinstance(fault, Cut) and fault.phase == phase:
                await self.line.hang_up()


@final
class Line:
    """Made for one transport. `on_request` starts what answers a request; `on_notification` hears the rest."""

    def __init__(
        self,
        transport: Transport,
        *,
        on_request: Callable[[Line, Request], None],
        on_notification: Callable[[Line, Notification], None],
    ) -> None:
        self.lost = False
        self.calls: dict[str, LineCall] = {}
        self.wire = Connection(role=ADDON, id_prefix="fake", state=State.OPEN)
        self._transport = transport
        self._on_request = on_request
        self._on_notification = on_notification
        self._to_writer, self._for_writer = trio.open_memory_channel[str | trio.Event](math.inf)

    async def serve(self) -> None:
        """Read and write until the connection ends. A runtime that breaks the protocol raises RemoteProtocolError."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write)
            try:
                while not self.lost:
                    self._take(self.wire.receive_text(await self._transport.receive_text()))
            except (ChannelBroken, ChannelClosed):
                pass
            finally:
                self.end()
            nursery.cancel_scope.cancel()

    def post(self, text: str) -> None:
        """Send a text, after those that were posted before; nothing when the connection is lost."""
        if not self.lost:
            self._to_writer.send_nowait(text)

    def tell(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        if not self.lost:
            self.post(self.wire.send_notification(method, params))

    async def flush(self) -> None:
        """Wait until everything that was posted is on its way."""
        written = trio.Event()
        if not self.lost:
            self._to_writer.send_nowait(written)
            await written.wait()

    async def hang_up(self) -> None:
        """Lose the connection; what was posted before still arrives."""
        await self.flush()
        self.end()
        await self._transport.abort()

    def end(self) -> None:
        """Nothing is heard or said any more, and what has not begun never will."""
        if self.lost:
            return
        self.lost = True
        while True:  # whoever waits for a text that is not sent any more
            try:
                item = self._for_writer.receive_nowait()
            except (trio.WouldBlock, trio.EndOfChannel):
                break
            if isinstance(item, trio.Event):
                item.set()
        for call in list(self.calls.values()):
            call.stop(LOST)
        self.calls.clear()

    async def _write(self) -> None:
        async for item in self._for_writer:
            if isinstance(item, trio.Event):
                item.set()
                continue
            try:
                await self._transport.send_text(item)
            except (ChannelBroken, ChannelClosed):
                self.end()
                return

    def _take(self, event: object) -> None:
        match event:
            case Request() as request:
                self._on_request(self, request)
            case Notification() as told:
                self._on_notification(self, told)
            case RequestRefused(id=request_id, code=code, problem=problem):
                self.post(self.wire.send_error(request_id, code, problem))
            case NotificationRefused() | StrayReply():
                pass
            case other:
                raise AssertionError(f"the fake browser asked nothing, and got {other}")
