"""A WebDriver BiDi client on Trio. Owns the one WebSocket to Firefox's remote agent, and the matching of answers to calls.

Commands are numbered and a number is never used again; an answer nobody waits for is counted and dropped. Firefox allows one
session for each process, and refuses a connection that carries an Origin (trio-websocket sends none).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

import attrs
import trio
from trio_websocket import ConnectionClosed, HandshakeError, WebSocketConnection, wrap_client_stream

from ..errors import BrowserError
from ._service import one_error

__all__ = ["MAX_MESSAGE_BYTES", "BiDi", "BiDiStatistics", "Commander", "open_bidi"]

MAX_MESSAGE_BYTES: Final = 64 * 2**20
"""A full-page screenshot is 1 MB (measured); trio-websocket's default of 1 MiB would close the socket on a larger one."""
RECEIVE_BUFFER_BYTES: Final = 64 * 2**10  # 4 KiB, the default, costs 2.3 times the CPU at 50 kB
QUEUED_MESSAGES: Final = 16
CONNECT_SECONDS: Final = 10.0
CALL_SECONDS: Final = 30.0
SEND_SECONDS: Final = 5.0
CLOSE_SECONDS: Final = 1.0
MAX_WORDS: Final = 1000  # Firefox puts a stack trace beside the message, and sometimes into it


class Commander(Protocol):
    """Whatever can send a BiDi command and wait for its result."""

    async def call(self, method: str, params: Mapping[str, Any], *, timeout: float = ...) -> dict[str, Any]: ...


@attrs.frozen(kw_only=True)
class BiDiStatistics:
    """Counts since the connection opened. `strangers` are answers that nobody waited for (any more)."""

    open: bool
    pending: int
    calls: int
    events: int
    strangers: int


@asynccontextmanager
async def open_bidi(url: str) -> AsyncIterator[BiDi]:
    """Connect to `url` (``ws://127.0.0.1:PORT/session``). Raises BrowserError, code ``bidi-connect``, when that fails within 10 s.

    A lost connection does not end the block: every pending and later call raises BrowserError, code ``browser-lost``.
    """
    bidi = BiDi()
    with one_error():
        async with trio.open_nursery() as nursery:
            await nursery.start(bidi._serve, url)
            try:
                yield bidi
            finally:
                await bidi._close()
                nursery.cancel_scope.cancel()


@attrs.define
class _Waiter:
    event: trio.Event = attrs.field(factory=trio.Event)
    answer: Mapping[str, Any] | None = None


class BiDi:
    """One connection. Any number of tasks may call at once."""

    def __init__(self) -> None:
        self._socket: WebSocketConnection | None = None
        self._tasks = trio.CancelScope()
        self._lost = False
        self._sending = trio.Lock()
        self._waiters: dict[int, _Waiter] = {}
        self._calls = 0
        self._events = 0
        self._strangers = 0

    def statistics(self) -> BiDiStatistics:
        return BiDiStatistics(
            open=not self._lost,
            pending=len(self._waiters),
            calls=self._calls,
            events=self._events,
            strangers=self._strangers,
        )

    async def call(self, method: str, params: Mapping[str, Any], *, timeout: float = CALL_SECONDS) -> dict[str, Any]:
        """Send one command and return its result.

        Raises BrowserError: code ``browser-lost`` when the connection is or gets lost, ``bidi-timeout`` after `timeout` seconds,
        and for an error answer its BiDi code with hyphens (``no-such-frame``, ``invalid-argument``, …).
        """
        self._calls += 1
        number = self._calls
        waiter = self._waiters[number] = _Waiter()
        try:
            with trio.move_on_after(timeout) as limit:
                await self._send(json.dumps({"id": number, "method": method, "params": dict(params)}))
                await waiter.event.wait()
            if limit.cancelled_caught:
                raise BrowserError(f"BiDi {method} was not answered within {timeout} s", code="bidi-timeout")
        finally:
            self._waiters.pop(number, None)
        match waiter.answer:
            case {"type": "success", "result": dict(result)}:
                return result
            case {"type": "error", "error": str(error), "message": message}:
                raise BrowserError(f"BiDi {method}: {error}: {message}"[:MAX_WORDS], code=error.replace(" ", "-"))
            case None:
                raise _lost()
            case _:
                raise BrowserError(
                    f"BiDi {method} was answered with something that is neither a result nor an error", code="bidi-protocol"
                )

    async def _send(self, text: str) -> None:
        async with self._sending:
            if self._socket is None or self._lost:
                raise _lost()
            # Shielded, because a frame that is cut off in its middle ruins all that follow (trio-websocket has no other
            # protection).
            with trio.move_on_after(SEND_SECONDS, shield=True) as limit:
                try:
                    await self._socket.send_message(text)
                except ConnectionClosed as error:
                    raise _lost() from error
            if limit.cancelled_caught:
                self._lose()
                raise _lost()

    async def _serve(self, url: str, *, task_status: trio.TaskStatus[None]) -> None:
        stream = await _open_stream(url)
        try:
            # A nursery for trio-websocket's own tasks: a crash of one of them is a lost connection, and nothing more.
            async with trio.open_nursery() as nursery:
                self._tasks = nursery.cancel_scope
                self._socket = await _upgrade(nursery, stream, url)
                task_status.started()
                await self._read(self._socket)
                nursery.cancel_scope.cancel()
        except Exception as error:
            if self._socket is None:
                raise _innermost(error) from error
        finally:
            self._lose()
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)

    async def _read(self, socket: WebSocketConnection) -> None:
        while True:
            try:
                message = json.loads(await socket.get_message())
            except ConnectionClosed:
                return
            except ValueError:
                self._strangers += 1
                continue
            if isinstance(message, dict) and message.get("type") == "event":
                self._events += 1
                continue
            number = message.get("id") if isinstance(message, dict) else None
            waiter = self._waiters.pop(number, None) if isinstance(number, int) else None
            if waiter is None:
                self._strangers += 1
                continue
            waiter.answer = message
            waiter.event.set()

    def _lose(self) -> None:
        self._lost = True
        for waiter in self._waiters.values():
            waiter.event.set()
        self._waiters.clear()
        self._tasks.cancel()

    async def _close(self) -> None:
        if self._socket is not None and not self._lost:
            with trio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._socket.aclose()


async def _open_stream(url: str) -> trio.SocketStream:
    try:
        where = urlsplit(url)
        with trio.fail_after(CONNECT_SECONDS):
            return await trio.open_tcp_stream(str(where.hostname), where.port or 80)
    except (OSError, ValueError, trio.TooSlowError) as error:  # ValueError: no such port
        raise _no_connection(url, error) from error


async def _upgrade(nursery: trio.Nursery, stream: trio.SocketStream, url: str) -> WebSocketConnection:
    where = urlsplit(url)
    try:
        with trio.fail_after(CONNECT_SECONDS):
            return await wrap_client_stream(
                nursery,
                stream,
                where.netloc,
                where.path,
                max_message_size=MAX_MESSAGE_BYTES,
                message_queue_size=QUEUED_MESSAGES,
                receive_buffer_size=RECEIVE_BUFFER_BYTES,
            )
    except (HandshakeError, trio.TooSlowError) as error:
        raise _no_connection(url, error) from error


def _no_connection(url: str, error: Exception) -> BrowserError:
    return BrowserError(f"no BiDi connection to {url}: {error or type(error).__name__}", code="bidi-connect")


def _innermost(error: Exception) -> Exception:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _lost() -> BrowserError:
    return BrowserError("the connection to Firefox is lost; Firefox was closed or killed", code="browser-lost")
