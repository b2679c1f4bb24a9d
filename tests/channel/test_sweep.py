"""Cancelled at every checkpoint: each way into the channel, stopped at its 1st, 2nd, … step, in three manners each.

An instrument counts steps. *Parked*: the cancel comes right after the task under test went to sleep at its n-th checkpoint, so that
checkpoint raises. *Woken*: it comes right before its n-th step, when what was waited for has happened already, so that the next
checkpoint raises, and nothing that had been won may be lost. *Beside*: it comes after the n-th step of any task, so between any two
moves of reader, writer and peer. Each sweep says how many cuts it must have made at least, and has planted faults that it must
notice.
"""

from __future__ import annotations

import itertools
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Literal, Self, get_args

import pytest
import trio
import trio.testing
import trio_websocket

from foxloop_trio import wire
from foxloop_trio.channel import (
    Call,
    ChannelSession,
    Listener,
    Peer,
    RemoteCallError,
    Transport,
    WebsocketTransport,
    accept_hello,
    open_listener,
    open_session,
)
from foxloop_trio.channel._listener import GOING_AWAY
from foxloop_trio.errors import ChannelError
from foxloop_trio.testing import memory_channel_pair
from foxloop_trio.testing._memory_channel import say_hello

TOKEN = "a-token-for-tests-with-32-letters"
ORIGIN = "moz-extension://11111111-2222-4333-8444-555555555555"
MOST_STEPS = 200

Manner = Literal["parked", "woken", "beside"]


class Cut(trio.abc.Instrument):
    """A cancel scope around the code under test that is cancelled at one step of its task."""

    def __init__(self, manner: Manner, moment: int) -> None:
        self.manner = manner
        self.moment = moment
        self.steps = 0
        self.scope = trio.CancelScope()
        self.task: trio.lowlevel.Task | None = None

    def __enter__(self) -> Self:
        self.scope.__enter__()
        self.task = trio.lowlevel.current_task()
        trio.lowlevel.add_instrument(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> bool:
        trio.lowlevel.remove_instrument(self)
        return bool(self.scope.__exit__(kind, error, trace))

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.manner == "woken" and task is self.task:
            self._count()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if self.manner == "beside" or (self.manner == "parked" and task is self.task):
            self._count()

    def _count(self) -> None:
        self.steps += 1
        if self.steps == self.moment:
            self.scope.cancel()

    @property
    def made(self) -> bool:
        """Whether the task came as far as this cut."""
        return self.steps >= self.moment

    @property
    def caught(self) -> bool:
        return self.scope.cancelled_caught


async def sweep(scenario: Callable[[Cut], Awaitable[None]], *, least: int) -> None:
    """Run the scenario with a cut at each step there is, in all manners; at least `least` of them must stop it."""
    stopped = 0
    for manner in get_args(Manner):
        for moment in itertools.count(1):
            assert moment < MOST_STEPS, "the scenario does not end"
            tasks = trio.lowlevel.current_statistics().tasks_living
            cut = Cut(manner, moment)
            await scenario(cut)
            assert tasks == trio.lowlevel.current_statistics().tasks_living
            stopped += cut.caught
            if not cut.made:
                break
    assert stopped >= least, f"only {stopped} cuts"


@contextmanager
def noticed(kind: type[Exception]) -> Iterator[None]:
    """A planted fault must show as an exception of that kind, however many nurseries it went through."""
    found = False
    try:
        yield
    except* kind:
        found = True
    assert found, "the sweep missed the planted fault"


async def serve(addon: Any, acted: Any) -> None:
    """Answer everything: acts as a real add-on does, in several turns, and with `cancelled` when told to stop before they began."""
    waiting: dict[str, Any] = {}
    line = trio.Lock()  # two tasks answer, and a transport has one writer

    async def act(request: Any) -> None:
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        if waiting.pop(request.id, None) is not None:
            async with line:
                await addon.tell("page.started", {"id": request.id})
                await addon.answer(request, acted)

    async with trio.open_nursery() as nursery:
        while True:
            event = await addon.next()
            if event.method == "call.cancel":
                request = waiting.pop(event.params["id"], None)
                if request is not None:
                    async with line:
                        await addon.fail(request, "cancelled")
            elif event.method == "page.act":
                waiting[event.id] = event
                nursery.start_soon(act, event)
            elif isinstance(event, wire.Request):
                async with line:
                    await addon.answer(event, {})


@asynccontextmanager
async def served(attached: Any, acted: Any) -> Any:
    async with attached(buffer=0) as (session, addon), trio.open_nursery() as nursery:
        nursery.start_soon(serve, addon, acted)
        yield session, addon
        nursery.cancel_scope.cancel()


async def settled(session: ChannelSession) -> None:
    """The line still works, and nothing of what was cut waits any more."""
    assert {} == await session.call("session.ping", {}, timeout=5)
    assert (0, 0) == (session.statistics().waiting, session.statistics().unanswered)


async def call_scenario(cut: Cut, attached: Any, act: Any, acted: Any) -> None:
    async with served(attached, acted) as (session, addon):
        with cut:
            assert acted == await session.call("page.act", act, timeout=5)
        await settled(session)
        heard = [method for method in addon.methods if method in ("page.act", "call.cancel")]
        counts = session.statistics()
        if cut.caught:
            # Unsent: not a word of it. Sent and unanswered: asked to stop. Answered already: the answer came, and is gone.
            assert heard in ([], ["page.act", "call.cancel"], ["page.act"])
            assert (heard[1:] == ["call.cancel"]) == (counts.cancelled == 1)
            if heard == ["page.act"]:
                assert 0 == counts.late_replies
        else:
            assert ["page.act"] == heard


async def test_a_call_can_be_cancelled_at_every_checkpoint(autojump_clock: Any, attached: Any, act: Any, acted: Any) -> None:
    """The peer hears of it and of the stop, or of neither; the session goes on with nothing left over."""

    async def scenario(cut: Cut) -> None:
        await call_scenario(cut, attached, act, acted)

    await sweep(scenario, least=10)


async def test_the_sweep_notices_a_cancelled_call_that_is_not_followed_up(
    autojump_clock: Any, attached: Any, act: Any, acted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: nobody abandons the call."""
    monkeypatch.setattr(Call, "abandon", lambda self: None)

    async def scenario(cut: Cut) -> None:
        await call_scenario(cut, attached, act, acted)

    with noticed(AssertionError):
        await sweep(scenario, least=10)


async def outcome_scenario(cut: Cut, attached: Any, act: Any, acted: Any) -> None:
    learned: list[Any] = []
    async with served(attached, acted) as (session, addon):
        call = None
        with cut:
            await trio.lowlevel.checkpoint()
            call = session.start("page.act", act, timeout=5)
            try:
                await call.wait_sent()
                await trio.lowlevel.checkpoint()
                await call.result()
            finally:
                try:
                    learned.append(await call.cancel(5))
                except RemoteCallError as error:
                    learned.append(error.code)
        await settled(session)
        if call is None:
            assert "page.act" not in addon.methods
        elif call.sent:
            assert learned in ([acted], ["cancelled"])
            assert call.started == (learned == [acted])
        else:
            assert [None] == learned
            assert "page.act" not in addon.methods
        assert 1 >= addon.methods.count("call.cancel")


async def test_the_true_outcome_of_an_act_is_learned_at_every_checkpoint(
    autojump_clock: Any, attached: Any, act: Any, acted: Any
) -> None:
    """Not sent, stopped before it began, or done: what the caller learns is what happened (buglog B04)."""

    async def scenario(cut: Cut) -> None:
        await outcome_scenario(cut, attached, act, acted)

    await sweep(scenario, least=20)
    assert 0 == trio.current_time()


async def test_the_sweep_notices_a_cancel_that_is_not_shielded(
    autojump_clock: Any, attached: Any, act: Any, acted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: the clean-up's own wait is cut as well, and learns nothing."""

    async def cancel(self: Call, grace: float) -> dict[str, Any] | None:
        self.ask_to_cancel()
        return await self.result()

    monkeypatch.setattr(Call, "cancel", cancel)

    async def scenario(cut: Cut) -> None:
        await outcome_scenario(cut, attached, act, acted)

    with noticed(AssertionError):
        await sweep(scenario, least=10)


async def session_scenario(cut: Cut, peer: Peer, make_addon: Any, acted: Any) -> None:
    ours, theirs = memory_channel_pair(buffer=0)
    addon = make_addon(theirs)

    async def listen() -> None:
        with pytest.raises(ChannelError):
            await serve_plainly(addon)

    entered = False
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listen)
        with cut:
            await trio.lowlevel.checkpoint()
            async with open_session(ours, peer) as session:
                entered = True
                await session.call("session.ping", {}, timeout=5)
                session.start("tab.list", {}, timeout=5)
                await trio.lowlevel.checkpoint()
        assert ours.statistics().closed == entered
        if entered:
            assert 1000 == theirs.statistics().close_code
        else:
            await ours.aclose()


async def serve_plainly(addon: Any) -> None:
    while True:
        event = await addon.next()
        if event.method == "session.ping":
            await addon.answer(event, {})


async def test_a_session_can_be_cancelled_at_every_checkpoint(autojump_clock: Any, peer: Any, make_addon: Any, acted: Any) -> None:
    """From before it is opened to the last step of its close: the transport is closed in order, and no task is left (buglog
    B01)."""

    async def scenario(cut: Cut) -> None:
        await session_scenario(cut, peer, make_addon, acted)

    await sweep(scenario, least=15)
    assert 0 == trio.current_time()


async def test_the_sweep_notices_a_close_that_is_not_shielded(
    autojump_clock: Any, peer: Any, make_addon: Any, acted: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: closing begins with a checkpoint that a cancel reaches."""
    aclose = ChannelSession.aclose

    async def fragile(self: ChannelSession) -> None:
        await trio.lowlevel.checkpoint()
        await aclose(self)

    monkeypatch.setattr(ChannelSession, "aclose", fragile)

    async def scenario(cut: Cut) -> None:
        await session_scenario(cut, peer, make_addon, acted)

    with noticed(AssertionError):
        await sweep(scenario, least=20)


async def test_a_hello_can_be_cancelled_at_every_checkpoint(autojump_clock: Any) -> None:
    """It gives a peer, or closes with the code of all refusals; never an open connection that nobody has."""

    async def scenario(cut: Cut) -> None:
        ours, theirs = memory_channel_pair(buffer=0)

        async def addon() -> None:
            try:
                await say_hello(theirs, token=TOKEN)
            except ChannelError:
                assert cut.made

        found = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(addon)
            with cut:
                found = await accept_hello(ours, token=TOKEN)
            assert (found is None) == cut.caught
            assert ours.statistics().closed == cut.caught
            if cut.caught:
                # None: it was cut in the middle of a message, after which nothing can be said.
                assert theirs.statistics().close_code in (wire.REFUSED_CODE, None)
        await ours.aclose()

    await sweep(scenario, least=8)


@asynccontextmanager
async def client(listener: Listener) -> Any:
    """A client that has said a true hello."""
    stream = await trio.open_tcp_stream("127.0.0.1", listener.port)
    try:
        async with trio.open_nursery() as nursery:
            connection = await trio_websocket.wrap_client_stream(
                nursery, stream, f"127.0.0.1:{listener.port}", wire.PATH, extra_headers=[(b"Origin", ORIGIN.encode())]
            )
            transport = WebsocketTransport(connection, stream)
            await say_hello(transport, token=TOKEN)
            yield transport
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await trio.aclose_forcefully(stream)


async def accept_scenario(cut: Cut) -> None:
    """One peer comes while we wait; after the cut it has been accepted, or can be accepted by the next who asks."""
    async with open_listener(token=TOKEN, origin=ORIGIN) as listener, trio.open_nursery() as nursery:
        came, leave = trio.Event(), trio.Event()

        async def come() -> None:
            async with client(listener):
                came.set()
                await leave.wait()

        found: tuple[Transport, Peer] | None = None
        nursery.start_soon(come)
        with cut:
            found = await listener.accept()
        await came.wait()
        with trio.fail_after(1):
            accepted = found if found is not None else await listener.accept()
        assert (0, 1) == (listener.statistics().waiting, listener.statistics().connected)
        assert not accepted[0].statistics().closed
        leave.set()


async def test_accept_can_be_cancelled_at_every_checkpoint_and_loses_no_peer() -> None:
    """Won or still there, over real sockets."""
    await sweep(accept_scenario, least=10)


async def test_the_sweep_notices_an_accept_that_loses_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: a checkpoint after the peer was taken."""
    accept = Listener.accept

    async def lossy(self: Listener) -> tuple[Transport, Peer]:
        found = await accept(self)
        await trio.lowlevel.checkpoint()
        return found

    monkeypatch.setattr(Listener, "accept", lossy)
    with noticed(trio.TooSlowError):
        await sweep(accept_scenario, least=10)


async def listener_scenario(cut: Cut, port: int) -> None:
    accepted = False
    codes: list[int | None] = []

    async def come(listener: Listener) -> None:
        try:
            async with client(listener) as theirs:
                with pytest.raises(ChannelError):
                    await theirs.receive_text()
                codes.append(theirs.statistics().close_code)
        except* (ChannelError, OSError):
            pass

    async with trio.open_nursery() as nursery:
        with cut:
            async with open_listener(token=TOKEN, origin=ORIGIN, port=port) as listener:
                nursery.start_soon(come, listener)
                await listener.accept()
                accepted = True
        if accepted:
            while not codes:
                await trio.lowlevel.checkpoint()
            assert [GOING_AWAY] == codes
        # trio-websocket's client waits for ever for a handshake whose connection was reset.
        nursery.cancel_scope.cancel()
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


async def test_a_listener_can_be_cancelled_at_every_checkpoint(unused_port: int) -> None:
    """Start, one peer, close: the port is free again at once, an accepted peer was told, no task is left (buglog B01)."""

    async def scenario(cut: Cut) -> None:
        await listener_scenario(cut, unused_port)

    await sweep(scenario, least=20)


async def test_the_sweep_notices_a_listener_that_closes_without_a_word(unused_port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the connections are cut by the end of their tasks."""

    async def nothing(self: Listener) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(Listener, "close", nothing)

    async def scenario(cut: Cut) -> None:
        await listener_scenario(cut, unused_port)

    with noticed(AssertionError):
        await sweep(scenario, least=20)
