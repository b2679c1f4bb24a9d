"""News of the add-on: to every subscriber, in order, bounded by a stated rule."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.channel import MAX_EVENTS
from foxloop_trio.errors import UsageError


async def test_every_subscriber_gets_all_news_in_order(autojump_clock: Any, attached: Any) -> None:
    """Two subscribers; one that came later has only what was told since."""
    async with attached() as (session, addon):
        with session.events() as first:
            await addon.tell("tab.removed", {"tab": 1})
            await trio.testing.wait_all_tasks_blocked()
            with session.events() as second:
                for tab in (2, 3):
                    await addon.tell("tab.removed", {"tab": tab})
                await trio.testing.wait_all_tasks_blocked()
                assert [1, 2, 3] == [(await first.receive()).params["tab"] for _ in range(3)]
                assert [2, 3] == [(await second.receive()).params["tab"] for _ in range(2)]


async def test_iteration_ends_with_the_session_after_what_is_unread(autojump_clock: Any, attached: Any) -> None:
    """A lost peer does not take the news that had come."""
    async with attached() as (session, addon):
        events = session.events()
        for tab in (1, 2):
            await addon.tell("tab.removed", {"tab": tab})
        await addon.transport.aclose()
        await session.wait_closed()
        assert [1, 2] == [told.params["tab"] async for told in events]
        with pytest.raises(trio.EndOfChannel):
            await events.receive()
        with pytest.raises(trio.EndOfChannel):
            events.receive_nowait()


async def test_a_waiting_subscriber_is_woken_by_the_end(autojump_clock: Any, attached: Any) -> None:
    """Nobody hangs on news that cannot come."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        seen: list[Any] = []

        async def listen() -> None:
            seen.extend([told async for told in session.events()])
            seen.append("end")

        nursery.start_soon(listen)
        await trio.testing.wait_all_tasks_blocked()
        await addon.transport.abort()
    assert ["end"] == seen


async def test_overflow_drops_the_oldest_state_news_first_and_counts(autojump_clock: Any, attached: Any) -> None:
    """A dialog is an occurrence and stays; the oldest tab news go, since a fresh `tab.list` tells them as well."""
    dialog = {"tab": 7, "frame": 0, "kind": "alert", "message": "hi", "answer": None}
    async with attached() as (session, addon):
        with session.events() as events:
            await addon.tell("dialog.shown", dialog)
            for tab in range(MAX_EVENTS + 9):
                await addon.tell("tab.removed", {"tab": tab})
            await trio.testing.wait_all_tasks_blocked()
            assert (10, 10) == (events.dropped, session.statistics().dropped_events)
            kept = [events.receive_nowait() for _ in range(MAX_EVENTS)]
            assert ["dialog.shown", 10, MAX_EVENTS + 8] == [kept[0].method, kept[1].params["tab"], kept[-1].params["tab"]]
        assert 10 == session.statistics().dropped_events


async def test_overflow_of_occurrences_drops_the_oldest(autojump_clock: Any, attached: Any) -> None:
    """With nothing but dialogs unread the bound holds all the same."""
    async with attached() as (session, addon):
        with session.events() as events:
            for tab in range(MAX_EVENTS + 1):
                await addon.tell("dialog.shown", {"tab": tab, "frame": 0, "kind": "alert", "message": "", "answer": None})
            await trio.testing.wait_all_tasks_blocked()
            assert (1, 1) == (events.dropped, events.receive_nowait().params["tab"])


async def test_a_slow_subscriber_does_not_hold_up_answers(autojump_clock: Any, attached: Any) -> None:
    """Nobody reads the news; a call is answered at once."""
    async with attached() as (session, addon):
        session.events()
        for tab in range(2 * MAX_EVENTS):
            await addon.tell("tab.removed", {"tab": tab})
        call = session.start("session.ping", {}, timeout=1)
        await addon.answer(await addon.request(), {})
        assert {} == await call.result()
        assert 0 == trio.current_time()


async def test_a_closed_subscription_takes_no_more(autojump_clock: Any, attached: Any) -> None:
    """Closing is idempotent, drops what is unread, and ends iteration."""
    async with attached() as (session, addon):
        events = session.events()
        await addon.tell("tab.removed", {"tab": 1})
        await trio.testing.wait_all_tasks_blocked()
        events.close()
        events.close()
        await addon.tell("tab.removed", {"tab": 2})
        await trio.testing.wait_all_tasks_blocked()
        assert [] == [told async for told in events]


async def test_subscriptions_are_bounded(autojump_clock: Any, attached: Any) -> None:
    """Over the bound the error says what to do; closing one makes room."""
    async with attached() as (session, _addon):
        opened = []
        with pytest.raises(UsageError, match="close them after use"):
            for _ in range(1000):
                opened.append(session.events())
        assert 64 == len(opened)
        opened[0].close()
        session.events()
