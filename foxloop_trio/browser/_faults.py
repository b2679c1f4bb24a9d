"""The border between the channel and who works with a browser: the channel's faults, told as BrowserError."""

from __future__ import annotations

from ..channel import CallTimeout
from ..errors import BrowserError, ChannelBroken, ChannelClosed, ChannelError

__all__ = ["browser_error", "lost_error"]


def browser_error(error: ChannelError) -> BrowserError:
    """The same fault for who works with a browser.

    A lost connection, whoever lost it, is ``browser-lost``; a missing answer is ``timeout``, as the add-on's own; an error answer
    keeps the add-on's code, and everything else the channel's.
    """
    match error:
        case CallTimeout():
            return BrowserError(str(error), code="timeout")
        case ChannelBroken() | ChannelClosed():
            return lost_error()
        case _:
            return BrowserError(str(error), code=error.code)


def of_address(error: BrowserError, url: str) -> BrowserError:
    """The same fault with the address that did not open, where the fault is about it."""
    if error.code not in ("navigation-failed", "timeout"):
        return error
    return BrowserError(f"{url[:200]!r} did not open: {error}", code=error.code)


def lost_error() -> BrowserError:
    return BrowserError("the connection to Firefox is lost: it was closed or killed; start or attach it again", code="browser-lost")
