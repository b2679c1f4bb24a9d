"""`Call`: one request to the add-on, from its start to its true outcome.

Synopsis::

    call = session.start("page.act", params, timeout=5.0)
    try:
        return await call.result()
    except (CallTimeout, trio.Cancelled):
        outcome = await call.cancel(grace)     # shielded, at most `grace` seconds
        ...                                    # not call.sent: nothing was done.  outcome None: not known.  else: what was done
        raise

A call that was not sent can be taken back, and then nothing of it ever reaches the wire. One that was sent cannot: the add-on is
asked to stop, and says what it has done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, final

import trio

from ..errors import ChannelError, UsageError
from ..wire import Request
from ._errors import CallTimeout

__all__ = ["Call"]


class CallHost(Protocol):
    """What a call needs of its session."""

    def withdraw(self, call: Call) -> bool: ...
    def ask_to_cancel(self, call: Call) -> None: ...
    def abandon(self, call: Call) -> None: ...


@final
class Call:
    """Made by `ChannelSession.start`. All times are of `trio.current_time()`."""

    def __init__(self, host: CallHost, request: Request, deadline: float) -> None:
        self._host = host
        self._request = request
        self._deadline = deadline
        self._sent_at: float | None = None
        self._started = False
        self._cancel_asked = False
        self._abandoned = False
        self._over = trio.Event()  # answered, failed, taken back or abandoned: nothing more will come
        self._result: dict[str, Any] | None = None
        self._failure: Callable[[], ChannelError] | None = None
        self._on_sent = trio.Event()

    def __repr__(self) -> str:
        state = "done" if self.done else "started" if self.started else "sent" if self.sent else "waiting"
        return f"<Call {self.id} {self.method}, {state}>"

    @property
    def id(self) -> str:
        """The request's id on the wire, used once."""
        return self._request.id

    @property
    def method(self) -> str:
        """What is asked for."""
        return self._request.method

    @property
    def deadline(self) -> float:
        """When the add-on may not start anything any more, and `result` gives up."""
        return self._deadline

    @property
    def sent(self) -> bool:
        """Whether the writer has begun to send it. There is no way back from here; False means that nothing was done."""
        return self._sent_at is not None

    @property
    def started(self) -> bool:
        """Whether the add-on said that the first effect is about to happen (`page.started`)."""
        return self._started

    @property
    def done(self) -> bool:
        """Whether the outcome is known."""
        return self._over.is_set() and not self._abandoned

    async def wait_sent(self) -> None:
        """Wait until it is sent, or will never be."""
        await self._on_sent.wait()

    async def result(self) -> dict[str, Any]:
        """The result, once it is there.

        Raises `RemoteCallError` (the add-on answered with an error), `CallTimeout` (no answer before the deadline),
        RemoteProtocolError (an answer of the wrong shape, or the peer broke the protocol), ChannelBroken (the connection was lost),
        ChannelClosed (we closed it), LocalProtocolError (the request was too large), ChannelError (``withdrawn`` or ``abandoned``,
        by somebody else). When it raises CallTimeout or is cancelled, the call is still open: follow with `cancel` or `abandon`.
        """
        with trio.CancelScope(deadline=self._deadline):
            await self._over.wait()
        if self._abandoned:
            raise ChannelError(f"{self.method}: was abandoned, its answer is not known", code="abandoned")
        if not self.done:
            self._withdraw()
            words = "no answer before the deadline" if self.sent else "could not be sent before the deadline"
            raise CallTimeout(f"{self.method}: {words}", method=self.method, sent=self.sent, started=self.started)
        return self._outcome()

    async def cancel(self, grace: float) -> dict[str, Any] | None:
        """Stop the call, and learn what it did. Shielded from cancellation, at most `grace` seconds.

        Not sent yet: it is taken back and None is returned; `sent` stays False. Sent: the add-on is asked to stop, and its answer
        is waited for. That is the true result, or an error that is raised as in `result` (``cancelled``: nothing was done). None:
        no answer came in time, and what was done is not known. A call that was answered already just gives its answer.

        Raises UsageError for a negative `grace`.
        """
        if not grace >= 0:
            raise UsageError(f"cancel: grace must be at least 0 seconds, not {grace!r}")
        if not self.done and not self._withdraw():
            self.ask_to_cancel()
            with trio.move_on_after(grace, shield=True):
                await self._over.wait()
            if not self.done:
                self._give_up()
                return None
        return self._outcome() if self.sent else None

    def abandon(self) -> None:
        """Nobody wants the answer: take the call back, or ask the add-on to stop and drop what it answers. Idempotent."""
        if not self.done and not self._withdraw():
            self.ask_to_cancel()
            self._give_up()

    # For the session

    @property
    def request(self) -> Request:
        return self._request

    def note_sent(self) -> None:
        self._sent_at = trio.current_time()
        self._on_sent.set()

    @property
    def sent_at(self) -> float | None:
        return self._sent_at

    def note_started(self) -> None:
        self._started = True

    def settle(self, *, result: dict[str, Any] | None = None, failure: Callable[[], ChannelError] | None = None) -> None:
        """The outcome is known; only the first counts. `failure` makes a fresh exception for each who waits."""
        if not self._over.is_set():
            self._result = result
            self._failure = failure
            self._over.set()
            self._on_sent.set()

    def ask_to_cancel(self) -> None:
        """Ask the add-on to stop it, once."""
        if not self._cancel_asked:
            self._cancel_asked = True
            self._host.ask_to_cancel(self)

    # Helpers

    def _withdraw(self) -> bool:
        """Take it back if it has not been sent; whether that is so."""
        if self.sent or not self._host.withdraw(self):
            return False
        self.settle(failure=lambda: ChannelError(f"{self.method}: was taken back before it was sent", code="withdrawn"))
        return True

    def _give_up(self) -> None:
        """Its answer is late from now on, and whoever still waits for it is woken."""
        if not self._over.is_set():
            self._host.abandon(self)
            self._abandoned = True
            self._over.set()

    def _outcome(self) -> dict[str, Any]:
        if self._failure is not None:
            raise self._failure()
        assert self._result is not None
        return self._result
