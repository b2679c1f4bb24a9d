"""The end of a session: idempotent, shielded, bounded, and it hides no error."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.channel import TransportStatistics, open_session
from foxloop_trio.errors import ChannelClosed
from foxloop_trio.testing import memory_channel_pair


class StuckTransport:
    """A transport that never sends, never receives, and takes its full two seconds to close."""

    def __init__(self) -> None:
        self.closed: list[float] = []

    async def send_text(self, text: str) -> None:
        await trio.sleep_forever()

    async def receive_text(self) -> str:
        await trio.sleep_forever()
        raise AssertionError

    async def aclose(self, code: int = 1000) -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(2)
        self.closed.append(trio.current_time())

    async def abort(self) -> None:
        self.closed.append(trio.current_time())

    def statistics(self) -> TransportStatistics:
        return TransportStatistics(sent=0, received=0, closed=bool(self.closed), close_code=None)


async def test_leaving_the_block_closes_the_transport(autojump_clock: Any, attached: Any) -> None:
    """The peer sees an ordinary close; waiting calls get ChannelClosed."""
    async with attached() as (session, addon):
        call = session.start("session.ping", {}, timeout=5)
        await addon.request()
    assert (True, 1000) == (session.closed, addon.transport.statistics().close_code)
    with pytest.raises(ChannelClosed):
        await call.result()


async def test_the_addon_is_asked_to_stop_what_was_sent(autojump_clock: Any, attached: Any, act: Any) -> None:
    """A relay keeps the socket open after us, so leaving must say stop; what was not sent never is."""
    async with attached(buffer=0) as (session, addon):
        session.start("page.act", act, timeout=5)
        await addon.request()
        session.start("session.ping", {}, timeout=5)
        session.start("tab.list", {}, timeout=5)
        await trio.testing.wait_all_tasks_blocked()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.aclose)
            await trio.testing.wait_all_tasks_blocked()
            while addon.methods.count("call.cancel") < 2:
                await addon.next()
    assert ["page.act", "session.ping", "call.cancel", "call.cancel"] == addon.methods


async def test_closing_twice_is_fine(autojump_clock: Any, attached: Any) -> None:
    """One after the other, and two at once."""
    async with attached() as (session, _addon):
        await session.aclose()
        await session.aclose()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(session.aclose)
            nursery.start_soon(session.aclose)
    assert session.closed


async def test_closing_takes_three_seconds_at_most(autojump_clock: Any, peer: Any) -> None:
    """One second for the last words of a stuck peer, two for the transport."""
    transport = StuckTransport()
    async with open_session(transport, peer) as session:
        session.start("session.ping", {}, timeout=60)
        await trio.testing.wait_all_tasks_blocked()
    assert ([3.0], 3.0) == (transport.closed, trio.current_time())


async def test_closing_is_shielded_and_goes_on_when_it_is_cancelled_again(autojump_clock: Any, peer: Any) -> None:
    """Cancelled outside, and then once more while it closes: the transport is closed all the same (buglog B07)."""
    transport = StuckTransport()
    with trio.CancelScope() as outer:
        async with trio.open_nursery() as nursery:

            async def cancel_again() -> None:
                with trio.CancelScope(shield=True):
                    await trio.sleep(0.5)
                    outer.cancel()
                    await trio.sleep(1)
                    outer.cancel()

            nursery.start_soon(cancel_again)
            async with open_session(transport, peer):
                await trio.sleep_forever()
    assert outer.cancelled_caught
    assert [2.5] == transport.closed


async def test_an_exception_of_the_body_leaves_as_it_is(autojump_clock: Any, attached: Any) -> None:
    """Not wrapped in a group, not hidden by the close."""
    with pytest.raises(ValueError, match="mine"):
        async with attached():
            raise ValueError("mine")


async def test_an_exception_of_the_body_is_not_hidden_by_a_cancel(autojump_clock: Any, attached: Any) -> None:
    """The first error wins, also when everything around is cancelled while it closes."""
    with trio.CancelScope() as scope, pytest.raises(ValueError, match="mine"):
        async with attached():
            scope.cancel()
            raise ValueError("mine")


async def test_leaving_with_unread_messages_does_not_hang(autojump_clock: Any, attached: Any, tab: Any) -> None:
    """The peer sent news that nobody reads, and goes on sending (buglog B17)."""
    async with trio.open_nursery() as nursery:
        async with attached() as (session, addon):
            events = session.events()

            async def chatter() -> None:
                with pytest.raises(Exception, match="closed the connection"):
                    while True:
                        await addon.tell("tab.changed", {"tab": tab})

            nursery.start_soon(chatter)
            for _ in range(10):
                await trio.lowlevel.checkpoint()
        assert 0 == trio.current_time()
        assert "tab.changed" == events.receive_nowait().method


async def test_a_session_cancelled_at_every_checkpoint_leaves_nothing(autojump_clock: Any, peer: Any) -> None:
    """Set-up, use and close, cancelled after 0, 1, 2, … turns: the transport is always closed, no task is left (buglog B01)."""

    @asynccontextmanager
    async def cancelled_after(turns: int) -> AsyncIterator[None]:
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def count() -> None:
                    with trio.CancelScope(shield=True):
                        for _ in range(turns):
                            await trio.lowlevel.checkpoint()
                    scope.cancel()

                nursery.start_soon(count)
                yield
                nursery.cancel_scope.cancel()

    finished = 0
    for turns in range(60):
        tasks = trio.lowlevel.current_statistics().tasks_living
        ours, theirs = memory_channel_pair(buffer=0)

        async def answer(theirs: Any = theirs) -> None:
            from foxloop_trio import wire

            connection = wire.Connection(role=wire.ADDON, id_prefix="1", state=wire.State.OPEN)
            with trio.CancelScope(shield=True):
                try:
                    while True:
                        event = connection.receive_text(await theirs.receive_text())
                        if isinstance(event, wire.Request):
                            await theirs.send_text(connection.send_result(event.id, {}))
                except Exception:  # the end of the connection
                    return

        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            async with cancelled_after(turns):
                async with open_session(ours, peer) as session:
                    for _ in range(3):
                        await session.call("session.ping", {}, timeout=5)
                finished += 1
            await ours.aclose()  # for the turns in which the session was not even opened
        assert ours.statistics().closed
        assert tasks == trio.lowlevel.current_statistics().tasks_living
    assert 0 < finished < 60
    assert 0 == trio.current_time()


async def test_a_session_can_be_closed_from_another_task(autojump_clock: Any, attached: Any) -> None:
    """`aclose` belongs to nobody's scope; the block that opened it just goes on (buglog B08)."""
    async with attached() as (session, _addon), trio.open_nursery() as nursery:
        nursery.start_soon(session.aclose)
        await session.wait_closed()
        await trio.sleep(1)
    assert 1 == trio.current_time()


async def test_a_call_that_was_cancelled_already_is_not_asked_again_at_the_end(autojump_clock: Any, attached: Any) -> None:
    """One `call.cancel` for each call, also when the session is closed while the answer is waited for."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        call = session.start("tab.list", {}, timeout=60)
        await addon.request()

        async def cancel() -> None:
            with pytest.raises(ChannelClosed):
                await call.cancel(5)

        nursery.start_soon(cancel)
        await addon.next()
        await session.aclose()
    with pytest.raises(Exception, match="closed the connection"):
        await addon.next()
    assert ["tab.list", "call.cancel"] == addon.methods
