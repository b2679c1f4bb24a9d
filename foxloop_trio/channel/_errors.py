"""Errors of single calls. The connection goes on after each of them; `foxloop_trio.errors` has those that end it."""

from __future__ import annotations

from ..errors import ChannelError

__all__ = ["CallTimeout", "RemoteCallError"]


class RemoteCallError(ChannelError):
    """The add-on answered a call with an error.

    `code` is its ``data.code``, one of `foxloop_trio.wire.ERROR_CODES` or `ERROR_NUMBERS`; with each of them nothing was done,
    except that ``internal`` promises nothing. The message holds the peer's own words: show it to people, not to a planner as ours.
    """

    default_code = "internal"

    def __init__(self, message: str, *, code: str | None = None, method: str = "") -> None:
        super().__init__(message, code=code)
        self.method = method


class CallTimeout(ChannelError):
    """No answer came before the call's deadline.

    `sent` False: the request never left, and never will; nothing was done. `sent` True: whether something was done is not known
    here; `started` then says whether the add-on announced the first effect.
    """

    default_code = "call-timeout"

    def __init__(
        self, message: str, *, code: str | None = None, method: str = "", sent: bool = False, started: bool = False
    ) -> None:
        super().__init__(message, code=code)
        self.method = method
        self.sent = sent
        self.started = started
