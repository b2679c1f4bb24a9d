"""The contract of `foxloop_trio.channel.Transport`, over every implementation that needs no browser.

`memory`: the shipped fake. `stream`: the websocket transport over a lock-step pair of streams in memory, in which nothing is
buffered. `socket`: the same over TCP on loopback. All run on the real clock, since one of them has sockets.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
import trio_websocket

from foxloop_trio.channel import CLOSE_SECONDS, Transport, WebsocketTransport
from foxloop_trio.errors import BusyError, ChannelBroken, ChannelClosed
from foxloop_trio.testing import memory_channel_pair

BIG = "x" * 500_000
"""Twenty of these fill the buffers of a socket."""

Pair = tuple[Transport, Transport]
OpenPair = Callable[[], AbstractAsyncContextManager[Pair]]


@asynccontextmanager
async def _memory() -> AsyncIterator[Pair]:
    yield memory_channel_pair()


@asynccontextmanager
async def _over(server_stream: trio.abc.Stream, client_stream: trio.abc.Stream) -> AsyncIterator[Pair]:
    async with trio.open_nursery() as nursery:
        found: list[WebsocketTransport] = []

        async def serve() -> None:
            request = await trio_websocket.wrap_server_stream(nursery, server_stream)
            found.append(WebsocketTransport(await request.accept(), server_stream))

        async with trio.open_nursery() as handshake:
            handshake.start_soon(serve)
            client = await trio_websocket.wrap_client_stream(nursery, client_stream, "x", "/")
        try:
            yield found[0], WebsocketTransport(client, client_stream)
        finally:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(server_stream)
                await trio.aclose_forcefully(client_stream)
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def _stream() -> AsyncIterator[Pair]:
    async with _over(*trio.testing.lockstep_stream_pair()) as pair:
        yield pair


@asynccontextmanager
async def _socket() -> AsyncIterator[Pair]:
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listener:
        client = await trio.open_tcp_stream("127.0.0.1", listener.socket.getsockname()[1])
        async with _over(await listener.accept(), client) as pair:
            yield pair


@pytest.fixture(params=[_memory, _stream, _socket], ids=["memory", "stream", "socket"])
def open_pair(request: Any) -> OpenPair:
    """Opens two joined transports of one kind; the first is the runtime's."""
    found: OpenPair = request.param
    return found


async def send_all(transport: Transport, texts: list[str]) -> None:
    for text in texts:
        await transport.send_text(text)


async def test_texts_arrive_whole_and_in_order_in_both_directions(open_pair: OpenPair) -> None:
    """Also empty, long and beyond the basic plane."""
    texts = ["", "x", "\x00\u2028\U0001f378", "y" * 300_000, "z"]
    async with open_pair() as pair:
        for sender, receiver in (pair, pair[::-1]):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(send_all, sender, texts)
                assert texts == [await receiver.receive_text() for _ in texts]
            assert len(texts) == sender.statistics().sent == receiver.statistics().received


async def test_our_own_close_makes_both_directions_closed(open_pair: OpenPair) -> None:
    """We did it: ChannelClosed, for good, and closing again is fine."""
    async with open_pair() as (ours, _theirs):
        await ours.aclose()
        await ours.aclose()
        await ours.abort()
        with pytest.raises(ChannelClosed):
            await ours.send_text("x")
        with pytest.raises(ChannelClosed):
            await ours.receive_text()
        assert ours.statistics().closed


async def test_abort_is_an_end_too(open_pair: OpenPair) -> None:
    """Closed for us, broken for them, and a close afterwards is fine."""
    async with open_pair() as (ours, theirs):
        await ours.abort()
        await ours.aclose()
        with pytest.raises(ChannelClosed):
            await ours.receive_text()
        with pytest.raises(ChannelBroken):
            await theirs.receive_text()


async def test_the_peer_s_close_breaks_us_after_what_had_arrived(open_pair: OpenPair) -> None:
    """The last message before the end is not lost; then ChannelBroken, again and again, and sending breaks as well."""
    async with open_pair() as (ours, theirs):
        await theirs.send_text("last")
        await theirs.aclose(4000)
        assert "last" == await ours.receive_text()
        for _ in range(2):
            with pytest.raises(ChannelBroken, match="code 4000"):
                await ours.receive_text()
        with pytest.raises(ChannelBroken):
            await ours.send_text("x")
        assert (True, 4000) == (ours.statistics().closed, ours.statistics().close_code)
        await ours.aclose()
        with pytest.raises(ChannelClosed):
            await ours.receive_text()


async def test_exceptions_are_raised_fresh(open_pair: OpenPair) -> None:
    """Each raise has its own instance, so that tracebacks do not grow into each other."""
    async with open_pair() as (ours, theirs):
        await theirs.abort()
        errors = []
        for _ in range(2):
            with pytest.raises(ChannelBroken) as caught:
                await ours.receive_text()
            errors.append(caught.value)
        assert errors[0] is not errors[1]


async def test_a_cancelled_receive_loses_no_message(open_pair: OpenPair) -> None:
    """Cancelled while it waits; the next one gets the message."""
    async with open_pair() as (ours, theirs):
        with trio.move_on_after(0.01) as scope:
            await ours.receive_text()
        assert scope.cancelled_caught
        await theirs.send_text("kept")
        assert "kept" == await ours.receive_text()


async def test_a_receive_in_a_cancelled_scope_takes_nothing(open_pair: OpenPair) -> None:
    """The message is there already; a cancelled scope leaves it there."""
    async with open_pair() as (ours, theirs):
        await theirs.send_text("kept")
        with trio.CancelScope() as scope:
            scope.cancel()
            await ours.receive_text()
        assert scope.cancelled_caught
        assert "kept" == await ours.receive_text()


async def test_a_send_in_a_cancelled_scope_sends_nothing_and_keeps_the_connection(open_pair: OpenPair) -> None:
    """Cancelled before the first byte is no harm."""
    async with open_pair() as (ours, theirs):
        with trio.CancelScope() as scope:
            scope.cancel()
            await ours.send_text("never")
        assert scope.cancelled_caught
        await ours.send_text("next")
        assert "next" == await theirs.receive_text()


async def test_a_send_that_is_cancelled_half_way_drops_the_connection(open_pair: OpenPair) -> None:
    """The next message would be read as the rest of that one: there is no next message (trio-websocket, cancelled send)."""
    async with open_pair() as (ours, theirs), trio.open_nursery() as nursery:
        scope = trio.CancelScope()

        async def send() -> None:
            with scope:
                await send_all(ours, [BIG] * 1000)

        nursery.start_soon(send)
        await trio.testing.wait_all_tasks_blocked(0.05)
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked(0.05)
        with pytest.raises(ChannelBroken):
            await ours.send_text("next")
        with pytest.raises(ChannelBroken):
            while True:
                assert BIG == await theirs.receive_text()


async def test_a_dropped_connection_ends_in_both_directions(open_pair: OpenPair) -> None:
    """After a send that was cut half-way our own receiver ends too, with what had arrived first; and so does the peer's sender."""
    async with open_pair() as (ours, theirs), trio.open_nursery() as nursery:
        await theirs.send_text("before")
        scope = trio.CancelScope()

        async def send() -> None:
            with scope:
                await send_all(ours, [BIG] * 1000)

        nursery.start_soon(send)
        await trio.testing.wait_all_tasks_blocked(0.05)
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked(0.05)
        with trio.fail_after(2):
            assert "before" == await ours.receive_text()
            for _ in range(2):
                with pytest.raises(ChannelBroken):
                    await ours.receive_text()
            with pytest.raises(ChannelBroken):
                await send_all(theirs, [BIG] * 1000)


async def test_two_receivers_at_once_are_refused(open_pair: OpenPair) -> None:
    """A mistake of the program, told at once; the first one goes on."""
    async with open_pair() as (ours, theirs), trio.open_nursery() as nursery:
        received: list[str] = []

        async def receive() -> None:
            received.append(await ours.receive_text())

        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(BusyError):
            await ours.receive_text()
        await theirs.send_text("x")
        await trio.testing.wait_all_tasks_blocked(0.05)
        assert ["x"] == received


async def test_two_senders_at_once_are_refused(open_pair: OpenPair) -> None:
    """The same for sending; the first one is not disturbed."""
    async with open_pair() as (ours, theirs), trio.open_nursery() as nursery:
        nursery.start_soon(send_all, ours, [BIG] * 50)
        await trio.testing.wait_all_tasks_blocked(0.05)
        with pytest.raises(BusyError):
            await ours.send_text("y")
        for _ in range(50):
            assert BIG == await theirs.receive_text()


async def test_closing_wakes_whoever_receives(open_pair: OpenPair) -> None:
    """A reader that waits gets ChannelClosed."""
    async with open_pair() as (ours, _theirs), trio.open_nursery() as nursery:
        woken: list[bool] = []

        async def receive() -> None:
            with pytest.raises(ChannelClosed):
                await ours.receive_text()
            woken.append(True)

        nursery.start_soon(receive)
        await trio.testing.wait_all_tasks_blocked()
        await ours.aclose()
        await trio.testing.wait_all_tasks_blocked()
        assert [True] == woken


async def test_closing_in_a_cancelled_scope_still_closes_in_order(open_pair: OpenPair) -> None:
    """Clean-up that talks is shielded: the peer hears the code."""
    async with open_pair() as (ours, theirs):
        with trio.CancelScope() as scope:
            scope.cancel()
            await ours.aclose(4001)
        with pytest.raises(ChannelBroken, match="code 4001"):
            await theirs.receive_text()


async def test_closing_at_both_ends_at_once_ends_promptly_whoever_wins_the_race(open_pair: OpenPair) -> None:
    """Two close frames cross."""
    async with open_pair() as pair:
        began = trio.current_time()
        async with trio.open_nursery() as nursery:
            for transport in pair:
                nursery.start_soon(transport.aclose)
        assert trio.current_time() - began < CLOSE_SECONDS
        for transport in pair:
            with pytest.raises(ChannelClosed):
                await transport.receive_text()
