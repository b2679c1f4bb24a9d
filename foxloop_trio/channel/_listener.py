"""`open_listener`: the loopback websocket server that the add-on connects to.

Synopsis::

    async with open_listener(token=token, origin="moz-extension://…") as listener:
        ...                                       # give listener.url and the token to the add-on
        transport, peer = await listener.accept()
        async with open_session(transport, peer) as session: ...

Each connection has its own nursery, and whatever goes wrong in it ends that connection and nothing else. A stranger is refused
before a websocket exists (wrong path, Origin or Host: 403), or by the hello; meanwhile it holds one of `MAX_STRANGERS` slots, for
at most `HELLO_SECONDS`. When all are taken the oldest stranger is dropped: an honest add-on needs some milliseconds, so a flood of
silent connections cannot keep it out. A peer that was admitted is never dropped for a stranger.
"""

from __future__ import annotations

import ipaddress
import logging
import re
from collections import Counter, deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Final, final

import attrs
import trio
import trio_websocket

from .. import wire
from ..errors import BadOptionsError, ChannelBroken, ChannelClosed, RemoteProtocolError, UsageError
from ..ports import Ids
from ._guard import GuardedStream
from ._hello import HELLO_SECONDS, Peer, accept_hello, system_ids
from ._service import Service
from ._transport import Transport, WebsocketTransport

__all__ = ["MAX_STRANGERS", "MAX_WAITING", "Listener", "ListenerStatistics", "open_listener"]

MAX_STRANGERS: Final = 16
"""Connections at once that have not said hello. A browser opens one, or two when it restarts its background page; each costs at
most `STRANGER_BYTES` of memory beside its tasks."""

MAX_WAITING: Final = 4
"""Admitted connections that nobody has accepted yet. An add-on has one; when it comes back, the newer one is the living one, so the
oldest is closed."""

RECEIVE_BYTES: Final = 64 * 1024
"""What is read from a socket at once. trio-websocket's 4 KiB cost 2.3 times the CPU for messages of 50 KB."""

QUEUE: Final = 1
"""Messages that trio-websocket reads ahead. The session's reader never lets one wait, so more would only be memory."""

TRY_AGAIN_LATER: Final = 1013  # registered at IANA for "the server is busy"

GOING_AWAY: Final = 1001  # RFC 6455, 7.4.1

MIN_TOKEN_LENGTH: Final = 22
"""128 bits in base64url."""

_LOG: Final = logging.getLogger("foxloop_trio.channel")


@attrs.frozen(kw_only=True)
class ListenerStatistics:
    """A snapshot. `refused` counts by reason: ``host``, ``no-hello``, ``no-request``, ``origin``, ``path``, ``protocol``,
    ``too-large``, ``too-many``, ``vanished``, ``wrong-token``. `tls_hellos` above 0 means that a browser tries wss://."""

    strangers: int
    waiting: int
    connected: int
    admitted: int
    refused: Mapping[str, int]
    tls_hellos: int
    crashed: int


@final
class Listener:
    """Made by `open_listener`."""

    def __init__(self, *, token: str, origin: str, host: str, port: int, ids: Ids, max_message_bytes: int) -> None:
        self._token = token
        self._origin = origin.encode("ascii")
        self._authority = _authority(host, port)
        self._ids = ids
        self._max_bytes = max_message_bytes
        self._strangers: deque[GuardedStream] = deque()
        self._waiting: deque[tuple[WebsocketTransport, Peer]] = deque()
        self._arrived = trio.lowlevel.ParkingLot()
        self._live: set[WebsocketTransport] = set()
        self._closed = False
        self._admitted = 0
        self._refused: Counter[str] = Counter()
        self._tls_hellos = 0
        self._crashed = 0

    def __repr__(self) -> str:
        return f"<Listener {self.url}, {len(self._live)} connected{', closed' if self._closed else ''}>"

    @property
    def url(self) -> str:
        """The address for the add-on. It holds no secret."""
        return f"ws://{self._authority}{wire.PATH}"

    @property
    def port(self) -> int:
        """The TCP port."""
        return int(self._authority.rpartition(":")[2])

    async def accept(self) -> tuple[Transport, Peer]:
        """The next peer that has said a true hello and is still there. Raises ChannelClosed when the listener is closed."""
        await trio.lowlevel.checkpoint()
        while not self._closed:
            if self._waiting:
                transport, peer = self._waiting.popleft()
                if not transport.closed:
                    return transport, peer
            else:
                await self._arrived.park()
        raise ChannelClosed("the listener is closed")

    def statistics(self) -> ListenerStatistics:
        """Counts, for people who look for a fault."""
        return ListenerStatistics(
            strangers=len(self._strangers),
            waiting=sum(not transport.closed for transport, _ in self._waiting),
            connected=len(self._live),
            admitted=self._admitted,
            refused=MappingProxyType(dict(self._refused)),
            tls_hellos=self._tls_hellos,
            crashed=self._crashed,
        )

    # One connection

    async def handle(self, stream: trio.abc.Stream) -> None:
        """Serve one connection to its end. Raises nothing but Cancelled."""
        if self._closed:
            await trio.aclose_forcefully(stream)
            return
        guard = GuardedStream(stream)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._end_with_stream, guard, nursery.cancel_scope)
                admitted = await self._admit(guard, nursery)
                if admitted is not None:
                    await self._stay(*admitted, guard)
                nursery.cancel_scope.cancel()
        except* Exception as crash:
            # trio-websocket lets a ping that crosses our close frame out of its reader task (its issue 184), and a stream can break
            # anywhere. It is this peer's end, and nobody else's.
            self._crashed += 1
            _LOG.info("a connection ended with %r", crash.exceptions[0])
        finally:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(guard)

    @staticmethod
    async def _end_with_stream(guard: GuardedStream, scope: trio.CancelScope) -> None:
        """Without this, a peer that left before its request would hold trio-websocket's tasks until a timeout."""
        await guard.wait_ended()
        scope.cancel()

    async def _admit(self, guard: GuardedStream, nursery: trio.Nursery) -> tuple[WebsocketTransport, Peer] | None:
        if len(self._strangers) >= MAX_STRANGERS:
            self._strangers.popleft().cut()
        self._strangers.append(guard)
        why = None
        try:
            why, admitted = await self._examine(guard, nursery)
            return admitted
        finally:
            dropped = guard not in self._strangers
            if not dropped:
                self._strangers.remove(guard)
            if guard.tls:
                self._note_tls()
            if why != "":
                # None: cancelled, since the stream ended.
                why = "too-many" if dropped else why if why is not None else "vanished" if guard.accepted else "no-request"
                self._refused[why] += 1
                _LOG.log(logging.DEBUG if why in _ORDINARY else logging.INFO, "refused a connection: %s", why)

    async def _examine(self, guard: GuardedStream, nursery: trio.Nursery) -> tuple[str, tuple[WebsocketTransport, Peer] | None]:
        """Why the peer is refused, or "" and what it became."""
        deadline = trio.current_time() + HELLO_SECONDS
        request = None
        with trio.CancelScope(deadline=deadline):
            request = await trio_websocket.wrap_server_stream(
                nursery, guard, message_queue_size=QUEUE, max_message_size=self._max_bytes, receive_buffer_size=RECEIVE_BYTES
            )
        if request is None:
            return "no-request", None
        why = self._problem(request, guard)
        if why is not None:
            await request.reject(403)
            return why, None
        connection = await request.accept()
        transport = WebsocketTransport(connection, guard, stream_ended=lambda: guard.ended)
        guard.on_overrun = lambda: transport.interrupt(RemoteProtocolError("too much was sent before the hello", code="too-large"))
        try:
            peer = await accept_hello(
                transport,
                token=self._token,
                ids=self._ids,
                timeout=max(0.0, deadline - trio.current_time()),
                max_message_bytes=self._max_bytes,
            )
        except ChannelBroken:
            return "vanished", None
        except RemoteProtocolError as error:
            return error.code if error.code in ("no-hello", "too-large", "wrong-token") else "protocol", None
        guard.trust()
        return "", (transport, peer)

    def _problem(self, request: trio_websocket.WebSocketRequest, guard: GuardedStream) -> str | None:
        if request.path != wire.PATH:
            return "path"
        # Exactly one of each: a second Origin could be the one that somebody else looks at.
        if [value for name, value in request.headers if name.lower() == b"origin"] != [self._origin]:
            return "origin"
        # A page whose own host name was re-bound to this address sends that name. trio-websocket does not show the Host.
        if _HOST.findall(guard.head) != [self._authority.encode("ascii")]:
            return "host"
        return None

    def _note_tls(self) -> None:
        self._tls_hellos += 1
        if self._tls_hellos == 1:
            _LOG.warning(
                "a browser tried TLS on %s: its add-on's manifest needs a content_security_policy without"
                " upgrade-insecure-requests and with connect-src ws://127.0.0.1:*",
                self._authority,
            )

    async def _stay(self, transport: WebsocketTransport, peer: Peer, guard: GuardedStream) -> None:
        """Offer the connection to `accept`, and keep its tasks running while it lasts."""
        self._admitted += 1
        self._live.add(transport)
        try:
            self._waiting.append((transport, peer))
            self._arrived.unpark()
            while len(self._waiting) > MAX_WAITING:
                oldest, _ = self._waiting.popleft()
                await oldest.aclose(TRY_AGAIN_LATER)
            await guard.wait_ended()
        finally:
            self._live.discard(transport)
            # One that left must not push one that waits out of the queue.
            if (transport, peer) in self._waiting:
                self._waiting.remove((transport, peer))

    async def close(self) -> None:
        """Close every connection in order, all at once and at most `CLOSE_SECONDS`, and wake who waits in `accept`. Strangers are
        cut: a goodbye to somebody who may not answer would hold us up."""
        self._closed = True
        self._arrived.unpark_all()
        for guard in self._strangers:
            guard.cut()
        async with trio.open_nursery() as nursery:
            for transport in list(self._live):
                nursery.start_soon(transport.aclose, GOING_AWAY)


_ORDINARY: Final = ("no-request", "vanished")  # an add-on that looks whether we are there asks by plain HTTP, once a second
_HOST: Final = re.compile(rb"(?im)^host:[ \t]*([^\r\n]*?)[ \t]*\r?$")


def _authority(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@asynccontextmanager
async def open_listener(
    *,
    token: str,
    origin: str,
    host: str = "127.0.0.1",
    port: int = 0,
    ids: Ids | None = None,
    max_message_bytes: int = wire.MAX_MESSAGE_BYTES,
) -> AsyncGenerator[Listener, None]:
    """Listen for the add-on until the block is left; then every connection is closed.

    `token` is the shared secret (at least 22 characters), `origin` the only Origin that is let in, exactly. `host` is a loopback
    address, `port` 0 lets the system choose. `ids(nbytes, purpose)` makes nonces and session ids.

    The connections live in the listener, not in whoever accepted them: they outlive a cancel until the block is left.

    Raises UsageError for a host that is not loopback, BadOptionsError for an unusable token, origin, port or limit, OSError when
    the port is taken.
    """
    _check_options(token, origin, host, port, max_message_bytes)
    sockets = await trio.open_tcp_listeners(port, host=host)
    listener = Listener(
        token=token,
        origin=origin,
        host=host,
        port=sockets[0].socket.getsockname()[1],
        ids=ids if ids is not None else system_ids,
        max_message_bytes=max_message_bytes,
    )
    async with Service() as service:
        service.start(_serve, listener, sockets)
        try:
            yield listener
        finally:
            with trio.CancelScope(shield=True):
                for socket in sockets:
                    await trio.aclose_forcefully(socket)
                await listener.close()


async def _serve(listener: Listener, sockets: list[trio.SocketListener]) -> None:
    async with trio.open_nursery() as connections:
        try:
            await trio.serve_listeners(listener.handle, sockets, handler_nursery=connections)
        except* trio.ClosedResourceError:
            pass  # closed by us, on the way out; the connections are closed after it


def _check_options(token: str, origin: str, host: str, port: int, max_message_bytes: int) -> None:
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise UsageError(f"open_listener: host {host!r} is no loopback address; use 127.0.0.1 or ::1")
    if len(token) < MIN_TOKEN_LENGTH:
        raise BadOptionsError(f"open_listener: the token has {len(token)} characters; use at least {MIN_TOKEN_LENGTH} random ones")
    if token != wire.clean_text(token):
        raise BadOptionsError("open_listener: the token has a lone surrogate, which has no UTF-8; use letters and digits")
    if not 0 <= port <= 65535:
        raise BadOptionsError(f"open_listener: port {port!r} is not between 0 and 65535")
    if not origin.isascii() or not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/\s]+", origin):
        raise BadOptionsError(f"open_listener: origin {origin!r} is not like moz-extension://UUID")
    if not wire.MAX_HELLO_BYTES <= max_message_bytes <= wire.MAX_MESSAGE_BYTES:
        limits = f"{wire.MAX_HELLO_BYTES} and {wire.MAX_MESSAGE_BYTES}"
        raise BadOptionsError(f"open_listener: max_message_bytes {max_message_bytes} is not between {limits}")
