"""`Transport`: what a session needs of a connection, in five methods; and `WebsocketTransport`, the one over trio-websocket.

A transport carries whole text messages, in order, both ways. It knows nothing of JSON. Whoever writes another one (a relay, a fake)
has a contract suite in the tests. What it must keep:

- After our own `aclose` or `abort`, `send_text` and `receive_text` raise ChannelClosed.
- When the peer or the world ends it, messages that have arrived are still received, then ChannelBroken is raised, for good.
- A message is sent whole or the connection ends: a `send_text` that is cancelled half-way drops the connection.
- A cancelled `receive_text` loses no message.
- Nothing may be sent, or received, by two tasks at once: BusyError.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol, final

import attrs
import trio
import trio_websocket
import wsproto.utilities

from ..errors import BusyError, ChannelBroken, ChannelClosed, RemoteProtocolError

__all__ = ["CLOSE_SECONDS", "Transport", "TransportStatistics", "WebsocketTransport"]

CLOSE_SECONDS: Final = 2.0
"""How long closing may take. The peer is on this machine and answers a close frame within milliseconds; one that does not answer
in two seconds is stuck, and without a limit would hold us for trio-websocket's 60 s."""

INTERRUPTED_CLOSE_SECONDS: Final = 0.1
"""The same for a peer that we no longer listen to: long enough to hand a close frame of some bytes to the system."""


@attrs.frozen(kw_only=True)
class TransportStatistics:
    """A snapshot. `close_code` is the websocket close code of the end, when there was one."""

    sent: int
    received: int
    closed: bool
    close_code: int | None


class Transport(Protocol):
    """A connection to one peer that carries text messages."""

    async def send_text(self, text: str) -> None:
        """Send one message. Raises ChannelClosed or ChannelBroken. Cancelled half-way, it drops the connection."""

    async def receive_text(self) -> str:
        """The next message. Raises ChannelClosed, ChannelBroken, or RemoteProtocolError for something that is no text message."""

    async def aclose(self, code: int = 1000) -> None:
        """End the connection in order, telling the peer `code`. Idempotent, shielded from cancellation, at most `CLOSE_SECONDS`."""

    async def abort(self) -> None:
        """End the connection at once, without a word. Idempotent; does not block."""

    def statistics(self) -> TransportStatistics:
        """Counts, for people who look for a fault."""


@final
class WebsocketTransport:
    """One websocket connection. `stream` is the stream below it, so that it can be cut without asking trio-websocket;
    `stream_ended` tells whether that has ended already, so that there is nobody to say goodbye to.

    The tasks of trio-websocket belong to whoever made the connection.
    """

    def __init__(
        self,
        connection: trio_websocket.WebSocketConnection,
        stream: trio.abc.AsyncResource,
        *,
        stream_ended: Callable[[], bool] = lambda: False,
    ) -> None:
        self._connection = connection
        self._stream = stream
        self._stream_ended = stream_ended
        self._ours = False  # we ended it
        self._broken: ChannelBroken | RemoteProtocolError | None = None
        self._interrupted = False
        self._ended = trio.Event()
        self._sending = False
        self._receiving: trio.CancelScope | None = None
        self._sent = 0
        self._received = 0

    def __repr__(self) -> str:
        how = "open" if not self.closed else "closed" if self._ours else "broken"
        return f"<WebsocketTransport {how}, {self._sent} sent, {self._received} received>"

    @property
    def closed(self) -> bool:
        """Whether it is of no more use."""
        return self._ours or self._broken is not None or self._connection.closed is not None

    async def send_text(self, text: str) -> None:
        """See `Transport`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        self._check_usable()
        if self._sending:
            raise BusyError("two tasks send on one transport: use one writer")
        self._sending = True
        whole = False
        try:
            with self._mapped():
                await self._connection.send_message(text)
            whole = True
        finally:
            self._sending = False
            if not whole:
                # Part of a frame may be on its way; the next one would land inside it, and be read as its content.
                self._break(ChannelBroken("the connection was dropped: a message could not be sent whole"))
                await trio.aclose_forcefully(self._stream)
        self._sent += 1

    async def receive_text(self) -> str:
        """See `Transport`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        # A connection that broke while we sent can still hold a message that came before: only an interrupt makes us look away.
        if self._ours or self._interrupted:
            self._check_usable()
        if self._receiving is not None:
            raise BusyError("two tasks receive on one transport: use one reader")
        message: str | bytes = b""
        with trio.CancelScope() as self._receiving:
            try:
                with self._mapped():
                    message = await self._connection.get_message()
            finally:
                self._receiving = None
        if not self._interrupted and not isinstance(message, str):
            self.interrupt(RemoteProtocolError("the peer sent a binary message; this protocol has text messages only"))
        if self._interrupted:
            raise self._again(self._broken)
        assert isinstance(message, str)
        self._received += 1
        return message

    def interrupt(self, error: RemoteProtocolError) -> None:
        """The peer did something below the level of messages that ends the connection: `receive_text` raises `error` from now
        on."""
        self._break(error)
        self._interrupted = True
        if self._receiving is not None:
            self._receiving.cancel()

    async def aclose(self, code: int = 1000) -> None:
        """See `Transport`."""
        if self._ours:
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._ended.wait()
            return
        self._ours = True
        if self._stream_ended():
            await self._cut()
            return
        try:
            # Nobody reads what an interrupted peer sends, its close frame included: there is nothing to wait for.
            with trio.move_on_after(INTERRUPTED_CLOSE_SECONDS if self._interrupted else CLOSE_SECONDS, shield=True):
                try:
                    with self._mapped():
                        await self._connection.aclose(code)
                except (ChannelBroken, ChannelClosed):
                    pass  # it had ended already, or ended while we said so
        finally:
            await self._cut()

    async def abort(self) -> None:
        """See `Transport`."""
        self._ours = True
        await self._cut()

    def statistics(self) -> TransportStatistics:
        """See `Transport`."""
        reason = self._connection.closed
        return TransportStatistics(
            sent=self._sent, received=self._received, closed=self.closed, close_code=reason.code if reason is not None else None
        )

    async def _cut(self) -> None:
        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(self._stream)
        self._ended.set()

    def _break(self, error: ChannelBroken | RemoteProtocolError) -> None:
        if self._broken is None:
            self._broken = error

    def _check_usable(self) -> None:
        if self._ours:
            raise ChannelClosed("this connection was closed on our side")
        if self._broken is not None:
            raise self._again(self._broken)

    @staticmethod
    def _again(error: ChannelBroken | RemoteProtocolError | None) -> ChannelBroken | RemoteProtocolError:
        """A fresh exception with the same words: an instance that is raised twice collects two tracebacks."""
        assert error is not None
        fresh = type(error)(str(error), code=error.code)
        fresh.__cause__ = error.__cause__
        return fresh

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        """The one place where errors of trio-websocket, wsproto and streams become ours."""
        try:
            yield
        except trio_websocket.ConnectionClosed as error:
            if self._ours:
                raise ChannelClosed("this connection was closed on our side") from None
            self._break(_ended_by(error.reason))
            raise self._again(self._broken) from error
        except _FOREIGN as error:
            if self._ours:
                raise ChannelClosed("this connection was closed on our side") from None
            self._break(ChannelBroken("the connection was lost"))
            raise self._again(self._broken) from error


# `ConnectionClosed` is the rule; these come out of races between a close frame and something else (trio-websocket issue 184).
_FOREIGN: Final = (
    trio.BrokenResourceError,
    trio.ClosedResourceError,
    trio_websocket.HandshakeError,
    wsproto.utilities.LocalProtocolError,
    wsproto.utilities.RemoteProtocolError,
)

# RFC 6455, 7.4.1
_NO_CLOSE_FRAME: Final = 1006
_TOO_BIG: Final = 1009


def _ended_by(reason: trio_websocket.CloseReason | None) -> ChannelBroken | RemoteProtocolError:
    if reason is None or reason.code == _NO_CLOSE_FRAME:
        return ChannelBroken("the connection was lost")
    if reason.code == _TOO_BIG:
        return RemoteProtocolError("the connection was closed: a message was larger than its receiver allows", code="too-large")
    # The reason's text is the peer's: it is not repeated.
    return ChannelBroken(f"the peer closed the connection (code {reason.code})")
