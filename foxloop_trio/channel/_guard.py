"""`GuardedStream`: between the socket and trio-websocket, for what must be known before the peer has said who it is.

It bounds how many bytes a stranger may send, keeps the head of the HTTP request, notices when the stream ends (trio-websocket would
wait for a request that can no longer come), and makes all refusals look the same: until the websocket is accepted, whatever
trio-websocket wants to answer is replaced by one fixed 403 without words, so that nobody outside learns what was wrong, or what
listens here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, final

import trio

__all__ = ["REFUSAL", "STRANGER_BYTES", "GuardedStream"]

STRANGER_BYTES: Final = 32 * 1024
"""What a peer may send before it has shown that it knows the token: a request head (Firefox: under 1 KiB; h11 stops at 16 KiB) and
the hello (`MAX_HELLO_BYTES`), with room for frames around them."""

REFUSAL: Final = b"HTTP/1.1 403 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_ACCEPTED: Final = b"HTTP/1.1 101 "
_TLS_HANDSHAKE: Final = 0x16  # RFC 8446, 5.1: content type of the record that a TLS client begins with


@final
class GuardedStream(trio.abc.Stream):
    """See the module. `on_overrun` is called once, when the peer has sent `STRANGER_BYTES` before `trust` was called."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self._stream = stream
        self._left: int | None = STRANGER_BYTES
        self._accepted = False
        self._refused = False
        self._cut = False
        self._ended = trio.Event()
        self.on_overrun: Callable[[], None] | None = None
        self.overrun = False
        self.head = b""
        """The first bytes that came, up to the end of the request's head."""

    @property
    def tls(self) -> bool:
        """Whether the peer speaks TLS to us: a browser that was told to use wss://, or upgrades ws:// to it."""
        return self.head[:1] == bytes([_TLS_HANDSHAKE])

    @property
    def accepted(self) -> bool:
        """Whether the websocket was accepted."""
        return self._accepted

    @property
    def ended(self) -> bool:
        """Whether the stream was closed, or came to its end, by either side."""
        return self._ended.is_set()

    async def wait_ended(self) -> None:
        """Wait until the stream was closed, or came to its end, by either side."""
        await self._ended.wait()

    def trust(self) -> None:
        """The peer has shown that it knows the token: it may send as much as the protocol allows."""
        self._left = None

    def cut(self) -> None:
        """Nothing goes in or out any more, from now on; the stream itself is closed by whoever closes this one."""
        self._cut = True
        self._ended.set()

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        self._check_cut()
        if not self._accepted:
            if bytes(data[: len(_ACCEPTED)]) == _ACCEPTED:
                self._accepted = True
            else:
                data = b"" if self._refused else REFUSAL
                self._refused = True
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        self._check_cut()
        await self._stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        self._check_cut()
        if self._left is not None:
            if self._left == 0:
                await self._stop_reading()
            max_bytes = self._left if max_bytes is None else min(max_bytes, self._left)
        try:
            data = await self._stream.receive_some(max_bytes)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            self._ended.set()
            raise
        if not data:
            self._ended.set()
        if self._left is not None:
            self._left -= len(data)
            if not self._accepted:
                self.head += data
        return data

    async def aclose(self) -> None:
        self._ended.set()
        await self._stream.aclose()

    def _check_cut(self) -> None:
        if self._cut:
            raise trio.ClosedResourceError

    async def _stop_reading(self) -> None:
        """Say so once, and read nothing more until somebody closes the stream."""
        if not self.overrun:
            self.overrun = True
            if self.on_overrun is not None:
                self.on_overrun()
        await self._ended.wait()
        raise trio.ClosedResourceError
