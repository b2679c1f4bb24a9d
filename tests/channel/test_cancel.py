"""Stop means stop: what is not sent is taken back, what was sent is stopped, and its true outcome is returned."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.channel import CallTimeout, RemoteCallError
from foxloop_trio.errors import ChannelBroken, ChannelError, UsageError


async def test_cancel_before_send_leaves_nothing_on_the_wire(autojump_clock: Any, attached: Any, act: Any) -> None:
    """The peer reads slowly: the second call is taken back out of the queue, and the peer never hears of it."""
    async with attached(buffer=0) as (session, addon):
        first = session.start("session.ping", {}, timeout=5)
        second = session.start("page.act", act, timeout=5)
        await trio.testing.wait_all_tasks_blocked()
        assert None is await second.cancel(5)
        assert (False, True, 0) == (second.sent, second.done, trio.current_time())
        await addon.answer(await addon.request(), {})
        await first.result()
        session.notify("call.cancel", {"id": first.id})
        await addon.next()
        assert ["session.ping", "call.cancel"] == addon.methods
        with pytest.raises(ChannelError) as caught:
            await second.result()
        assert "withdrawn" == caught.value.code


async def test_a_cancelled_caller_takes_an_unsent_call_back(autojump_clock: Any, attached: Any, act: Any) -> None:
    """The same for `session.call` in a scope that is cancelled."""
    async with attached(buffer=0) as (session, addon):
        session.start("session.ping", {}, timeout=5)
        with trio.move_on_after(1) as scope:
            await session.call("page.act", act, timeout=5)
        assert scope.cancelled_caught
        await addon.request()
        session.notify("page.acknowledge", {"tab": 7, "frame": 0, "document": act["document"], "calls": []})
        await addon.next()
        assert ["session.ping", "page.acknowledge"] == addon.methods


async def test_cancel_after_send_asks_and_returns_the_true_result(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """`call.cancel` goes out; the act had been done, and that is what the caller learns, as soon as it is known."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        call = session.start("page.act", act, timeout=5)
        request = await addon.request()

        async def peer() -> None:
            told = await addon.next()
            assert ("call.cancel", {"id": request.id}) == (told.method, told.params)
            await trio.sleep(2)
            await addon.answer(request, {**acted, "submitted": True})

        nursery.start_soon(peer)
        assert {**acted, "submitted": True} == await call.cancel(5)
        assert 2 == trio.current_time()


async def test_cancel_after_send_raises_that_nothing_was_done(autojump_clock: Any, attached: Any, act: Any) -> None:
    """An add-on that had not begun answers with the error `cancelled`."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        call = session.start("page.act", act, timeout=5)
        request = await addon.request()

        async def peer() -> None:
            await addon.next()
            await addon.fail(request, "cancelled")

        nursery.start_soon(peer)
        with pytest.raises(RemoteCallError) as caught:
            await call.cancel(5)
        assert "cancelled" == caught.value.code


async def test_cancel_without_an_answer_in_time_returns_none(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """After exactly the grace the outcome is unknown; the answer that comes later is dropped as late, and disturbs nobody."""
    async with attached() as (session, addon):
        call = session.start("page.act", act, timeout=5)
        request = await addon.request()
        assert None is await call.cancel(3)
        assert (3, True, False) == (trio.current_time(), call.sent, call.done)
        await addon.next()
        await addon.answer(request, acted)
        await trio.testing.wait_all_tasks_blocked()
        assert (1, 0) == (session.statistics().late_replies, session.statistics().unanswered)


async def test_cancel_waits_behind_a_shield_for_the_true_outcome(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """The caller's own scope is cancelled at 1 s; its clean-up still learns at 2 s what was done, and Cancelled goes on."""
    learned: list[Any] = []

    async with attached() as (session, addon), trio.open_nursery() as nursery:

        async def peer() -> None:
            request = await addon.request()
            await addon.next()
            await trio.sleep(1)
            await addon.answer(request, acted)

        nursery.start_soon(peer)
        with trio.move_on_after(1) as scope:
            call = session.start("page.act", act, timeout=5)
            try:
                await call.result()
            except trio.Cancelled:
                learned.append(await call.cancel(5))
                raise
        assert scope.cancelled_caught
        assert ([acted], 2) == (learned, trio.current_time())


async def test_clean_up_can_talk_after_everything_outside_was_cancelled(
    autojump_clock: Any, attached: Any, act: Any, acted: Any
) -> None:
    """Reader and writer serve until the block has been left: a cancel around the whole session does not cut the line first."""
    learned: list[Any] = []

    async def peer(addon: Any) -> None:
        request = await addon.request()
        assert "call.cancel" == (await addon.next()).method
        await addon.answer(request, acted)

    async with trio.open_nursery() as nursery:
        with trio.move_on_after(1) as scope:
            async with attached() as (session, addon):
                nursery.start_soon(peer, addon)
                call = session.start("page.act", act, timeout=5)
                try:
                    await call.result()
                finally:
                    learned.append(await call.cancel(5))
        assert scope.cancelled_caught
    assert ([acted], 1) == (learned, trio.current_time())


async def test_a_cancelled_call_asks_the_addon_to_stop_by_itself(autojump_clock: Any, attached: Any) -> None:
    """`session.call` needs no help from its caller; Cancelled propagates at once."""
    async with attached() as (session, addon):
        with trio.move_on_after(1) as scope:
            await session.call("tab.list", {}, timeout=5)
        assert (True, 1) == (scope.cancelled_caught, trio.current_time())
        request = await addon.request()
        assert {"id": request.id} == (await addon.next()).params
        assert 1 == session.statistics().cancelled


async def test_a_cancel_overtakes_requests_that_wait(autojump_clock: Any, attached: Any) -> None:
    """Stop is not queued behind new work."""
    async with attached(buffer=0) as (session, addon):
        sent = session.start("tab.list", {}, timeout=60)
        await trio.testing.wait_all_tasks_blocked()
        for _ in range(5):
            session.start("session.ping", {}, timeout=60)
        sent.abandon()
        for _ in range(7):
            await addon.next()
        assert ["tab.list", "call.cancel", *["session.ping"] * 5] == addon.methods


async def test_cancel_is_asked_once(autojump_clock: Any, attached: Any) -> None:
    """Abandon after cancel, and cancel again, add no second `call.cancel`."""
    async with attached() as (session, addon):
        call = session.start("tab.list", {}, timeout=60)
        await addon.request()
        assert None is await call.cancel(0)
        assert None is await call.cancel(0)
        call.abandon()
        await addon.next()
        session.start("session.ping", {}, timeout=60)
        await addon.next()
        assert ["tab.list", "call.cancel", "session.ping"] == addon.methods


async def test_cancel_of_an_answered_call_gives_its_answer(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """The answer came just before: nothing is asked, the true result is there."""
    async with attached() as (session, addon):
        call = session.start("page.act", act, timeout=5)
        await addon.answer(await addon.request(), acted)
        await trio.testing.wait_all_tasks_blocked()
        assert acted == await call.cancel(0)
        assert 0 == session.statistics().cancelled


async def test_cancel_after_a_timeout_still_learns_the_outcome(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """`result` gave up at 2 s; the call stays open until `cancel`, which gets the answer of 3 s."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        call = session.start("page.act", act, timeout=2)

        async def peer() -> None:
            request = await addon.request()
            await addon.tell("page.started", {"id": request.id})
            await trio.sleep(3)
            await addon.answer(request, acted)

        nursery.start_soon(peer)
        with pytest.raises(CallTimeout) as caught:
            await call.result()
        assert (True, True) == (caught.value.sent, caught.value.started)
        assert acted == await call.cancel(5)
        assert 3 == trio.current_time()


async def test_cancel_when_the_peer_is_lost_raises_broken(autojump_clock: Any, attached: Any, act: Any) -> None:
    """Sent, and the connection went: what was done cannot be learned here."""
    async with attached() as (session, addon), trio.open_nursery() as nursery:
        call = session.start("page.act", act, timeout=5)
        await addon.request()

        async def peer() -> None:
            await trio.sleep(1)
            await addon.transport.abort()

        nursery.start_soon(peer)
        with pytest.raises(ChannelBroken):
            await call.cancel(5)
        assert 1 == trio.current_time()


async def test_cancel_of_a_call_that_was_never_sent_because_the_peer_is_lost_says_so(
    autojump_clock: Any, attached: Any, act: Any
) -> None:
    """Not sent is known, even when the connection broke: nothing was done."""
    async with attached(buffer=0) as (session, addon):
        session.start("session.ping", {}, timeout=5)
        call = session.start("page.act", act, timeout=5)
        await trio.testing.wait_all_tasks_blocked()
        await addon.transport.abort()
        await session.wait_closed()
        assert (None, False) == (await call.cancel(5), call.sent)


@pytest.mark.parametrize("grace", [-1, float("nan")])
async def test_a_wrong_grace_is_refused(autojump_clock: Any, attached: Any, grace: float) -> None:
    """A negative time is a mistake of the caller, told before anything is done."""
    async with attached() as (session, _addon):
        call = session.start("session.ping", {}, timeout=5)
        with pytest.raises(UsageError, match="grace"):
            await call.cancel(grace)


async def test_wait_sent_returns_when_sent_or_taken_back(autojump_clock: Any, attached: Any) -> None:
    """It never hangs on a call that will not be sent."""
    async with attached(buffer=0) as (session, addon):
        first = session.start("session.ping", {}, timeout=5)
        second = session.start("session.ping", {}, timeout=5)
        await first.wait_sent()
        assert (True, False) == (first.sent, second.sent)
        second.abandon()
        await second.wait_sent()
        assert not second.sent
        await addon.request()


async def test_a_call_cancelled_at_each_moment_is_sent_and_stopped_or_not_sent(
    autojump_clock: Any, attached: Any, act: Any
) -> None:
    """Cancelled after 0, 1, 2, … turns of the scheduler, behind a call that the peer reads in the middle of them: the peer heard of
    the act exactly when `sent` says so, and then of the cancel."""
    seen: list[bool] = []

    async def turn(count: int) -> None:
        for _ in range(count):
            await trio.lowlevel.checkpoint()

    for turns in range(40):
        async with attached(buffer=0) as (session, addon):

            async def listen(addon: Any = addon) -> None:
                await turn(15)
                while addon.methods[-1:] != ["page.acknowledge"]:
                    await addon.next()

            async with trio.open_nursery() as nursery:
                nursery.start_soon(listen)
                session.start("session.ping", {}, timeout=5)
                call = session.start("page.act", act, timeout=5)
                with trio.CancelScope() as scope:
                    async with trio.open_nursery() as racers:

                        async def cancel(scope: Any = scope, turns: int = turns) -> None:
                            await turn(turns)
                            scope.cancel()

                        racers.start_soon(cancel)
                        racers.start_soon(call.result)
                call.abandon()
                session.notify("page.acknowledge", {"tab": 7, "frame": 0, "document": act["document"], "calls": []})
            act_and_cancel = ["page.act", "call.cancel"] if call.sent else []
            assert sorted(["session.ping", *act_and_cancel, "page.acknowledge"]) == sorted(addon.methods)
            assert not call.sent or addon.methods.index("page.act") < addon.methods.index("call.cancel")
            seen.append(call.sent)
    assert sorted(seen) == seen
    assert {True, False} == set(seen)


async def test_whoever_still_waits_for_an_abandoned_call_is_woken(autojump_clock: Any, attached: Any) -> None:
    """Another task gave the call up: its answer will not be known, which is said now and not at the deadline."""
    async with attached() as (session, addon):
        call = session.start("tab.list", {}, timeout=60)
        await addon.request()
        errors: list[ChannelError] = []

        async def wait() -> None:
            with pytest.raises(ChannelError) as caught:
                await call.result()
            errors.append(caught.value)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked()
            call.abandon()
        assert (["abandoned"], 0, False) == ([error.code for error in errors], trio.current_time(), call.done)
