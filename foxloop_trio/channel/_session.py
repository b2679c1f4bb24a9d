"""`ChannelSession`: calls to the add-on and news from it, over one transport.

Synopsis::

    async with open_session(transport, peer) as session:
        tabs = await session.call("tab.list", {}, timeout=5.0)

One task reads and one writes; both belong to the session, and serve until its block has been left, so that clean-up in the block
can still talk (see `Service`). The reader matches replies to calls and never waits for anybody; the writer sends one message at a
time, whole, and nobody's cancellation reaches it. Who calls waits with a deadline, which covers the time in the queue.

How it ends. By us: `aclose`, or the end of the block: calls that wait get ChannelClosed, the add-on is asked to stop those that
were sent. By the world: ChannelBroken for all. By the peer's fault: RemoteProtocolError for all. It never opens again; a peer that
comes back is another session.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, final

import attrs
import trio

from .. import wire
from ..errors import (
    BadOptionsError,
    ChannelBroken,
    ChannelClosed,
    ChannelError,
    LocalProtocolError,
    RemoteProtocolError,
    UsageError,
)
from ..ports import Ids
from ._call import Call
from ._errors import CallTimeout, RemoteCallError
from ._hello import Peer, system_ids
from ._outbox import Outbox
from ._service import Service
from ._subscription import Subscription
from ._transport import Transport

__all__ = ["MAX_CALLS", "SEND_SECONDS", "ChannelSession", "SessionStatistics", "open_session"]

MAX_CALLS: Final = 256
"""Calls at once, waiting or unanswered. Twenty busy tabs have under fifty; more is a caller that does not wait."""

MAX_TEXTS: Final = 256
"""Small messages (news, errors to the peer) that wait for the writer, beside the cancels of calls."""

MAX_SUBSCRIPTIONS: Final = 64
"""Subscriptions at once. Each tab may have one."""

SEND_SECONDS: Final = 10.0
"""How long the peer may take to accept one message. Firefox takes 16 MB in under a second; one that does not read for ten is hung,
and without a limit every later call would wait behind that message."""

FLUSH_SECONDS: Final = 1.0
"""How long closing waits for the writer to send the last cancels and news. They are some hundred bytes each."""

PROTOCOL_ERROR: Final = 1002  # RFC 6455, 7.4.1


@attrs.frozen(kw_only=True)
class SessionStatistics:
    """A snapshot. Times are of `trio.current_time()`.

    A peer that is attached but silent shows here: `sending_since` says since when one message has been stuck (it does not read),
    `unanswered_since` when the oldest call without an answer was sent, `heard_at` when anything last came from it.
    """

    closed: bool
    sent: int
    received: int
    waiting: int
    unanswered: int
    sending_since: float | None
    unanswered_since: float | None
    heard_at: float | None
    cancelled: int
    late_replies: int
    duplicate_replies: int
    strange_replies: int
    refused_results: int
    refused_notifications: int
    refused_requests: int
    dropped_events: int


@final
class ChannelSession:
    """Made by `open_session`."""

    def __init__(self, transport: Transport, peer: Peer, ids: Ids) -> None:
        self._transport = transport
        self._peer = peer
        self._connection = wire.Connection(
            role=wire.RUNTIME,
            id_prefix=ids(6, "call-prefix").hex(),
            state=wire.State.OPEN,
            max_message_bytes=peer.max_message_bytes,
        )
        self._calls: dict[str, Call] = {}
        self._outbox: Outbox[Call] = Outbox()
        self._subscriptions: set[Subscription] = set()
        self._failure: Callable[[], ChannelError] | None = None
        self._closed = trio.Event()
        self._written = trio.Event()
        self._sending_since: float | None = None
        self._heard_at: float | None = None
        self._count = _Counts()

    def __repr__(self) -> str:
        return f"<ChannelSession {self._peer.session[:8]}, {'closed' if self.closed else 'open'}, {len(self._calls)} calls>"

    @property
    def peer(self) -> Peer:
        """Who is at the other end."""
        return self._peer

    @property
    def closed(self) -> bool:
        """Whether it has ended, by whomever."""
        return self._closed.is_set()

    async def wait_closed(self) -> None:
        """Wait until it has ended, by whomever. Does not raise why: see `check_open`."""
        await self._closed.wait()

    def check_open(self) -> None:
        """Raise why it has ended, if it has: ChannelClosed, ChannelBroken or RemoteProtocolError."""
        if self._failure is not None:
            raise self._failure()

    # Calls

    async def call(self, method: str, params: Mapping[str, Any], *, timeout: float) -> dict[str, Any]:
        """Ask the add-on, and wait for the result.

        `params` are without ``deadline_ms``; `timeout` is in seconds and covers queue, wire and answer. When it passes, or the
        caller is cancelled, the add-on is asked to stop, and its answer is dropped; use `start` where the true outcome matters.

        Raises what `start` and `Call.result` raise.
        """
        call = self.start(method, params, timeout=timeout)
        try:
            return await call.result()
        finally:
            call.abandon()

    def start(self, method: str, params: Mapping[str, Any], *, timeout: float) -> Call:
        """Queue a request; the writer sends it in its turn. Its deadline is `timeout` seconds from now.

        Follow it to its end: `Call.result`, `Call.cancel` or `Call.abandon`.

        Raises LocalProtocolError for an unknown method or params that do not fit it, BadOptionsError for a timeout that is not in
        0 to 3600 s, ChannelError ``too-many-calls`` over `MAX_CALLS`, and what `check_open` raises.
        """
        self.check_open()
        if not (0 < timeout <= wire.LIMITS["deadline_ms"] / 1000):
            raise BadOptionsError(f"{method}: timeout must be over 0 and at most 3600 seconds, not {timeout!r}")
        if len(self._calls) >= MAX_CALLS:
            self._forget_expired()
        if len(self._calls) >= MAX_CALLS:
            raise ChannelError(f"{method}: {MAX_CALLS} calls wait already; wait for some of them first", code="too-many-calls")
        request = self._connection.prepare(method, {**params, "deadline_ms": math.floor(timeout * 1000)})
        call = Call(self, request, trio.current_time() + timeout)
        self._calls[call.id] = call
        self._outbox.put_call(call)
        return call

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Tell the add-on something that has no answer. It is sent before requests that wait.

        Raises LocalProtocolError for an unknown method or params that do not fit it, ChannelError ``too-many-messages`` when
        `MAX_TEXTS` wait already, and what `check_open` raises.
        """
        self.check_open()
        if self._outbox.texts >= MAX_TEXTS + MAX_CALLS:
            raise ChannelError(f"{method}: too many messages wait for the add-on to read them", code="too-many-messages")
        self._outbox.put_text(self._connection.send_notification(method, params))

    def events(self) -> Subscription:
        """Subscribe to the add-on's notifications from now on (`page.started` goes to its call instead). Close it after use.

        Raises UsageError over `MAX_SUBSCRIPTIONS`, and what `check_open` raises.
        """
        self.check_open()
        if len(self._subscriptions) >= MAX_SUBSCRIPTIONS:
            raise UsageError(f"events: {MAX_SUBSCRIPTIONS} subscriptions are open already; close them after use")
        subscription = Subscription(self._forget_subscription)
        self._subscriptions.add(subscription)
        return subscription

    def statistics(self) -> SessionStatistics:
        """Counts and times, for people who look for a fault."""
        sent_at = [call.sent_at for call in self._calls.values() if call.sent_at is not None]
        count = self._count
        return SessionStatistics(
            closed=self.closed,
            sent=count.sent,
            received=count.received,
            waiting=self._outbox.calls,
            unanswered=len(sent_at),
            sending_since=self._sending_since,
            unanswered_since=min(sent_at, default=None),
            heard_at=self._heard_at,
            cancelled=count.cancelled,
            late_replies=count.stray["late"],
            duplicate_replies=count.stray["duplicate"],
            strange_replies=count.stray["stranger"],
            refused_results=count.refused_results,
            refused_notifications=count.refused_notifications,
            refused_requests=count.refused_requests,
            dropped_events=count.dropped_events + sum(subscription.dropped for subscription in self._subscriptions),
        )

    # The end

    async def aclose(self) -> None:
        """End the session in order, and the transport with it. Idempotent; shielded, and at most 3 seconds.

        Requests that were not sent never will be; for those that were sent, the add-on is asked to stop.
        """
        for call in list(self._calls.values()):
            if call.sent and not self.closed:
                call.ask_to_cancel()
        self._end(lambda: ChannelClosed("this session was closed on our side"))
        with trio.move_on_after(FLUSH_SECONDS, shield=True):
            await self._written.wait()
        await self._transport.aclose()

    def _end(self, failure: Callable[[], ChannelError]) -> None:
        """Only the first reason counts."""
        if self._failure is not None:
            return
        self._failure = failure
        self._connection.close()
        self._outbox.close()
        calls = list(self._calls.values())
        self._calls.clear()
        for call in calls:
            call.settle(failure=failure)
        for subscription in self._subscriptions:
            subscription._end()
        self._closed.set()

    async def _lose(self, error: ChannelError) -> None:
        """The connection ended from outside: everybody hears why, each with an exception of their own."""
        if self._sending_since is not None and trio.current_time() - self._sending_since >= SEND_SECONDS:
            # The send that ran out of time broke the transport; reader or writer, whoever sees it first, knows why.
            error = ChannelBroken(f"the peer did not take a message within {SEND_SECONDS:g} s", code="peer-stuck")
        known = isinstance(error, (ChannelBroken, ChannelClosed, RemoteProtocolError))
        self._end(_fresh(type(error) if known else ChannelBroken, error))
        if isinstance(error, ChannelBroken):
            await self._transport.abort()
        else:
            # Also when it is being closed on our side, as by the listener: an abort would cut its goodbye off.
            await self._transport.aclose(PROTOCOL_ERROR)

    # The writer

    async def write(self) -> None:
        """The writer task."""
        try:
            while (item := await self._outbox.take()) is not None:
                text = self._text_of(item)
                if text is not None and not await self._send(text):
                    return
        finally:
            self._written.set()

    def _text_of(self, item: str | Call) -> str | None:
        if isinstance(item, str):
            return item
        left = item.deadline - trio.current_time()
        if left <= 0:
            # It would be refused there; here it costs nothing, and is known not to have started.
            self._settle(item.id, failure=lambda: _not_sent_in_time(item))
            return None
        try:
            text = self._connection.send_request(item.request, deadline_ms=math.floor(left * 1000))
        except LocalProtocolError as error:
            self._settle(item.id, failure=_fresh(LocalProtocolError, error))
            return None
        item.note_sent()
        return text

    async def _send(self, text: str) -> bool:
        self._sending_since = trio.current_time()
        try:
            with trio.move_on_after(SEND_SECONDS) as limit:
                await self._transport.send_text(text)
        except ChannelError as error:
            await self._lose(error)
            return False
        if limit.cancelled_caught:
            await self._lose(ChannelBroken("a message was not sent whole"))
            return False
        self._sending_since = None
        self._count.sent += 1
        return True

    # The reader

    async def read(self) -> None:
        """The reader task."""
        try:
            while True:
                text = await self._transport.receive_text()
                self._heard_at = trio.current_time()
                self._count.received += 1
                self._take(self._connection.receive_text(text))
        except ChannelError as error:
            if not self.closed:
                await self._lose(error)

    def _take(self, event: wire.Event) -> None:
        match event:
            case wire.Answer():
                self._settle(event.id, result=event.result)
            case wire.Failure():
                self._settle(event.id, failure=lambda: _remote_error(event))
            case wire.AnswerRefused():
                self._count.refused_results += 1
                words = f"the add-on's answer to {event.method} does not fit: {event.problem}"
                self._settle(event.id, failure=lambda: RemoteProtocolError(words))
            case wire.StrayReply():
                self._count.stray[event.why] += 1
            case wire.Notification():
                self._publish(event)
            case wire.NotificationRefused():
                self._count.refused_notifications += 1
            case wire.Request():
                # In this version the add-on asks nothing after the hello; the state table has refused a second hello.
                self._refuse_request(event.id, "unknown-method", "nothing can be asked here")
            case wire.RequestRefused():
                self._refuse_request(event.id, event.code, event.problem)

    def _publish(self, told: wire.Notification) -> None:
        if told.method == "page.started":
            call = self._calls.get(told.params["id"])
            if call is not None:
                call.note_started()
            return
        for subscription in self._subscriptions:
            subscription._put(told)

    def _refuse_request(self, request_id: str, code: str, problem: str) -> None:
        self._count.refused_requests += 1
        if self._outbox.texts >= MAX_TEXTS:
            raise RemoteProtocolError("the peer asks more than it reads answers")
        self._outbox.put_text(self._connection.send_error(request_id, code, problem))

    def _settle(
        self,
        call_id: str,
        *,
        result: dict[str, Any] | None = None,
        failure: Callable[[], ChannelError] | None = None,
    ) -> None:
        call = self._calls.pop(call_id, None)
        if call is not None:
            call.settle(result=result, failure=failure)

    # For calls

    def withdraw(self, call: Call) -> bool:
        """Take a call out of the queue; False when it was sent."""
        if not self._outbox.withdraw(call):
            return False
        self._calls.pop(call.id, None)
        return True

    def ask_to_cancel(self, call: Call) -> None:
        """Tell the add-on to stop a call that was sent."""
        if not self.closed:
            self._count.cancelled += 1
            self._outbox.put_text(self._connection.send_notification("call.cancel", {"id": call.id}))

    def abandon(self, call: Call) -> None:
        """Nobody waits for that call's answer any more; when it comes it is counted as late."""
        self._calls.pop(call.id, None)
        self._connection.abandon(call.id)

    def _forget_expired(self) -> None:
        """Calls whose callers left without a word, long after their deadline: their answers are no longer expected."""
        now = trio.current_time()
        for call in [call for call in self._calls.values() if call.sent and call.deadline + FORGET_SECONDS < now]:
            call.abandon()

    def _forget_subscription(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)
            self._count.dropped_events += subscription.dropped


FORGET_SECONDS: Final = 60.0
"""How long after its deadline a call that nobody followed up still holds its place, when places are short."""


@attrs.define
class _Counts:
    sent: int = 0
    received: int = 0
    cancelled: int = 0
    refused_results: int = 0
    refused_notifications: int = 0
    refused_requests: int = 0
    dropped_events: int = 0
    stray: dict[str, int] = attrs.field(factory=lambda: {"late": 0, "duplicate": 0, "stranger": 0})


def _fresh(kind: type[ChannelError], error: ChannelError) -> Callable[[], ChannelError]:
    """Makes a new exception for each who waits, with `error` as its cause: one instance raised twice mixes two tracebacks."""
    words, code = str(error), error.code

    def make() -> ChannelError:
        made = kind(words, code=code)
        made.__cause__ = error
        return made

    return make


def _remote_error(event: wire.Failure) -> RemoteCallError:
    return RemoteCallError(
        f"{event.method}: the add-on answered {event.code}: {event.message}", code=event.code, method=event.method
    )


def _not_sent_in_time(call: Call) -> CallTimeout:
    return CallTimeout(f"{call.method}: could not be sent before the deadline", method=call.method)


@asynccontextmanager
async def open_session(transport: Transport, peer: Peer, *, ids: Ids | None = None) -> AsyncGenerator[ChannelSession, None]:
    """Talk to the add-on over `transport` until the block is left; then the session is closed, and the transport with it.

    The hello must have been done (`accept_hello`, `Listener.accept`); `peer` is what came of it. `ids(nbytes, purpose)` makes the
    prefix of this session's call ids, so that an answer to an earlier session on the same connection is a stranger here.

    The end of the connection does not cancel the block: its calls raise.
    """
    session = ChannelSession(transport, peer, ids if ids is not None else system_ids)
    async with Service() as service:
        service.start(session.read)
        service.start(session.write)
        try:
            yield session
        finally:
            await session.aclose()
