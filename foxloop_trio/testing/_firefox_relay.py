"""The bridge between the Trio run that owns a Firefox and the runs of the tests: messages and BiDi calls cross it by value.

Owns which test is attached. Texts from the add-on go to it, and to nobody while there is none; ids of calls are never used twice,
so an answer that comes late, for a test that is over, is dropped by the session of the next one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

import attrs
import trio

from ..browser._bidi import CALL_SECONDS
from ..browser._launch import Launched
from ..channel import Peer, TransportStatistics
from ..errors import BrowserError, BusyError, ChannelBroken, ChannelClosed, ChannelError

__all__ = ["HostRun", "RelayTransport", "RelayedBiDi"]

QUEUED_TEXTS: Final = 4096
"""Messages on their way, each way. A test that reads nothing at all is cut off there instead of filling the memory."""
PAGE: Final = b"<!doctype html><html lang=en><meta charset=utf-8><title>blank</title><body></body></html>"
PAGE_ANSWER: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
    % (len(PAGE), PAGE)
)
REQUEST_BYTES: Final = 8192
REQUEST_SECONDS: Final = 5.0


class HostRun:
    """The state of the owning run. Its methods are for that run, except where they say "from any thread"."""

    def __init__(self) -> None:
        self.token = trio.lowlevel.current_trio_token()
        self.peer: Peer | None = None
        self.pid: int | None = None
        self.site: str = ""
        self.lost = False
        self.stopping = False
        self._stop = trio.CancelScope()
        self._nursery: trio.Nursery | None = None
        self._firefox: Launched | None = None
        self._attached: RelayTransport | None = None
        self._outgoing, self._to_send = trio.open_memory_channel[tuple["RelayTransport", str]](QUEUED_TEXTS)

    @contextmanager
    def until_stopped(self) -> Iterator[None]:
        """Cancelled by `stop_soon`, also in the middle of the start."""
        with self._stop:
            yield

    def stop_soon(self) -> None:
        """From any thread: end it, with a kind word to Firefox when it is up."""

        def stop() -> None:
            self.stopping = True
            if self._nursery is not None:
                self._nursery.cancel_scope.cancel()
            else:
                self._stop.cancel()

        with suppress(trio.RunFinishedError):
            self.token.run_sync_soon(stop)

    async def serve(self, firefox: Launched, attached: Callable[[], None]) -> None:
        """Relay until `stop_soon`, or until Firefox is lost; `attached` is called once it can be used."""
        self._firefox, self.peer, self.pid = firefox, firefox.peer, firefox.process.pid
        try:
            async with trio.open_nursery() as self._nursery:
                listeners = await self._nursery.start(_serve_blank_pages)
                self.site = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
                self._nursery.start_soon(self._receive)
                self._nursery.start_soon(self._send)
                attached()
        finally:
            self.lost = True
            if self._attached is not None:
                self._attached.break_soon("Firefox was ended")

    async def _receive(self) -> None:
        assert self._firefox is not None
        assert self._nursery is not None
        try:
            while True:
                text = await self._firefox.transport.receive_text()
                if self._attached is not None:
                    self._attached.deliver_soon(text)
        except ChannelError as error:
            self.lost = True
            if self._attached is not None:
                self._attached.break_soon(str(error))
            self._nursery.cancel_scope.cancel()

    async def _send(self) -> None:
        assert self._firefox is not None
        async for sender, text in self._to_send:
            # Also when its test is over by now: its last words are cancels, which the add-on should get.
            try:
                await self._firefox.transport.send_text(text)
            except ChannelError as error:
                sender.break_soon(str(error))

    # From the test's thread

    def attach(self) -> RelayTransport:
        """From any Trio run: the transport of the one who is attached. Raises BusyError while there is another."""
        if self._attached is not None:
            raise BusyError("another test is attached to the Firefox for tests; it takes one at a time")
        self._attached = RelayTransport(self)
        return self._attached

    def detach(self, transport: RelayTransport) -> None:
        """From any thread: forget it."""
        if self._attached is transport:
            self._attached = None

    def send_soon(self, transport: RelayTransport, text: str) -> None:
        """From any thread. Raises ChannelBroken when this run is over."""

        def put() -> None:
            try:
                self._outgoing.send_nowait((transport, text))
            except (trio.WouldBlock, trio.BrokenResourceError, trio.ClosedResourceError):
                transport.break_soon("the relay is full or over")

        try:
            self.token.run_sync_soon(put)
        except trio.RunFinishedError:
            raise ChannelBroken("Firefox was ended") from None

    def bidi_soon(self, call: _Call) -> None:
        """From any thread: make a BiDi call in this run."""

        def start() -> None:
            if self._nursery is None or self._firefox is None or self.lost:
                call.finish_soon(BrowserError("Firefox is lost", code="browser-lost"))
            else:
                self._nursery.start_soon(call.make, self._firefox)

        try:
            self.token.run_sync_soon(start)
        except trio.RunFinishedError:
            call.finish_soon(BrowserError("Firefox is lost", code="browser-lost"))


class RelayTransport:
    """A `Transport` in the test's run: texts go through the owning run's socket, which it never closes."""

    def __init__(self, host: HostRun) -> None:
        self._host = host
        self._token = trio.lowlevel.current_trio_token()
        self._inbox, self._received_texts = trio.open_memory_channel[str](QUEUED_TEXTS)
        self._ours = False
        self._broken: str | None = None
        self._sent = 0
        self._received = 0

    async def send_text(self, text: str) -> None:
        await trio.lowlevel.checkpoint()
        self._check()
        self._host.send_soon(self, text)
        self._sent += 1

    async def receive_text(self) -> str:
        if self._ours:
            self._check()
        try:
            text = await self._received_texts.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            self._check()
            raise ChannelBroken("the relay ended") from None
        self._received += 1
        return text

    async def aclose(self, code: int = 1000) -> None:
        await self.abort()

    async def abort(self) -> None:
        self._ours = True
        self._host.detach(self)
        self._inbox.close()
        self._received_texts.close()

    def statistics(self) -> TransportStatistics:
        return TransportStatistics(
            sent=self._sent, received=self._received, closed=self._ours or self._broken is not None, close_code=None
        )

    def deliver_soon(self, text: str) -> None:
        """From the owning run."""

        def put() -> None:
            try:
                self._inbox.send_nowait(text)
            except trio.WouldBlock:
                self._break("nobody read what the add-on sent")
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass  # closed meanwhile

        self._in_my_run(put)

    def break_soon(self, why: str) -> None:
        """From the owning run: it is over, after what was delivered."""
        self._in_my_run(lambda: self._break(why))

    def _break(self, why: str) -> None:
        if self._broken is None:
            self._broken = why
        self._inbox.close()

    def _check(self) -> None:
        if self._ours:
            raise ChannelClosed("this connection was closed on our side")
        if self._broken is not None:
            raise ChannelBroken(f"the connection was lost: {self._broken}")

    def _in_my_run(self, fn: Callable[[], None]) -> None:
        try:
            self._token.run_sync_soon(fn)
        except trio.RunFinishedError:  # the test is over
            self._host.detach(self)


@attrs.define
class _Call:
    """One BiDi call on its way: made in the owning run, waited for in the test's."""

    method: str
    params: Mapping[str, Any]
    timeout: float
    token: trio.lowlevel.TrioToken = attrs.field(factory=trio.lowlevel.current_trio_token)
    done: trio.Event = attrs.field(factory=trio.Event)
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    answer: dict[str, Any] | Exception | None = None

    async def make(self, firefox: Launched) -> None:
        answer: dict[str, Any] | Exception = BrowserError("Firefox is lost", code="browser-lost")
        try:
            with self.scope:
                answer = await firefox.bidi.call(self.method, self.params, timeout=self.timeout)
        except Exception as error:  # whatever it is, it belongs to the test
            answer = error
        finally:
            self.finish_soon(answer)

    def finish_soon(self, answer: dict[str, Any] | Exception) -> None:
        def finish() -> None:
            self.answer = answer
            self.done.set()

        with suppress(trio.RunFinishedError):
            self.token.run_sync_soon(finish)


class RelayedBiDi:
    """`BiDi.call` for a test's run."""

    def __init__(self, host: HostRun) -> None:
        self._host = host

    async def call(self, method: str, params: Mapping[str, Any], *, timeout: float = CALL_SECONDS) -> dict[str, Any]:
        call = _Call(method, params, timeout)
        self._host.bidi_soon(call)
        try:
            await call.done.wait()
        except trio.Cancelled:
            with suppress(trio.RunFinishedError):
                self._host.token.run_sync_soon(call.scope.cancel)
            raise
        if isinstance(call.answer, Exception):
            raise call.answer
        assert call.answer is not None
        return call.answer


async def _serve_blank_pages(*, task_status: trio.TaskStatus[list[trio.SocketListener]]) -> None:
    """A page with nothing on it, at whatever path: a fresh tab starts there, since an add-on has no access to about:blank."""
    await trio.serve_tcp(_answer, 0, host="127.0.0.1", task_status=task_status)


async def _answer(stream: trio.SocketStream) -> None:
    async with stream:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError), trio.move_on_after(REQUEST_SECONDS):
            head = b""
            while b"\r\n\r\n" not in head and len(head) < REQUEST_BYTES:
                chunk = await stream.receive_some(REQUEST_BYTES)
                if not chunk:
                    return
                head += chunk
            await stream.send_all(PAGE_ANSWER)


def blank_path() -> str:
    """A path that no other tab has."""
    return f"/blank/{secrets.token_hex(8)}"
