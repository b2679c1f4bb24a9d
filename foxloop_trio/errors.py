"""The exceptions of foxloop_trio, and to whom each of them speaks.

::

    FoxloopError                     has a stable `code`
    ├── UsageError                   the developer: a call that can never work as written
    │   ├── BadToolError             code "bad-tool"; a ValueError too
    │   ├── BadSchemaError           code "bad-schema"; a ValueError too
    │   ├── BadOptionsError          code "bad-options"; a ValueError too
    │   ├── BusyError                code "busy": two at once where one is allowed
    │   └── NotJsonError             codes "not-json", "too-large": a value has no canonical JSON
    ├── GateError                    the host program: a grant, key or request that is not acceptable
    ├── TrailError                   the host program: an entry, key or file of the trail
    ├── PlannerError                 the run: the planner could not answer
    ├── ChannelError                 the connection to the browser
    │   ├── ChannelClosed            we closed it
    │   ├── ChannelBroken            the world did; the cause is attached
    │   ├── RemoteProtocolError      the peer broke the protocol
    │   └── LocalProtocolError       we did: a bug or a wrong call on our side
    └── BrowserError                 Firefox: not found, did not start, lost, page not reachable

    Refuse                           not an error: a tool's trusted words to the planner

A refusal by the gate, a spent budget and "the page said no" are values, never exceptions. Cancellation is Trio's and is never
translated. Codes are part of the contract; texts are not.
"""

from __future__ import annotations

from typing import ClassVar

__all__ = [
    "BadOptionsError",
    "BadSchemaError",
    "BadToolError",
    "BrowserError",
    "BusyError",
    "ChannelBroken",
    "ChannelClosed",
    "ChannelError",
    "FoxloopError",
    "GateError",
    "LocalProtocolError",
    "NotJsonError",
    "PlannerError",
    "Refuse",
    "RemoteProtocolError",
    "TrailError",
    "UsageError",
]


class FoxloopError(Exception):
    """Base of every error that foxloop_trio raises on purpose.

    `code` is a short stable string to branch on; the message is for people and says what to do next.
    """

    default_code: ClassVar[str] = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code if code is not None else self.default_code


class UsageError(FoxloopError):
    """The call can never work as written; fix the calling program."""

    default_code = "usage"


class BadToolError(UsageError, ValueError):
    """A tool definition is not acceptable; the message names the tool."""

    default_code = "bad-tool"


class BadSchemaError(UsageError, ValueError):
    """A parameter schema uses something we do not enforce; the message names the path and the keyword."""

    default_code = "bad-schema"


class BadOptionsError(UsageError, ValueError):
    """An option has a value that is out of its range; the message names both."""

    default_code = "bad-options"


class BusyError(UsageError):
    """Two at once where only one is possible: a second run on a loop, two readers of one run."""

    default_code = "busy"


class NotJsonError(UsageError):
    """A value has no canonical JSON (code ``not-json``), or its text is over the limit (code ``too-large``)."""

    default_code = "not-json"


class GateError(FoxloopError):
    """The host side of the gate was given something it cannot accept (codes of the gate reference)."""

    default_code = "gate"


class TrailError(FoxloopError):
    """An entry, a key or a file of the trail is not acceptable (codes of the trail reference)."""

    default_code = "trail"


class PlannerError(FoxloopError):
    """The planner could not answer. The loop reports it as ``model-error``."""

    default_code = "planner"


class ChannelError(FoxloopError):
    """Something about the connection to the browser."""

    default_code = "channel"


class ChannelClosed(ChannelError):
    """This end was closed by us; nothing more can be sent or received."""

    default_code = "channel-closed"


class ChannelBroken(ChannelError):
    """The connection was lost; the cause is attached as ``__cause__`` where there is one."""

    default_code = "channel-broken"


class RemoteProtocolError(ChannelError):
    """The peer sent something that the protocol does not allow."""

    default_code = "remote-protocol"


class LocalProtocolError(ChannelError):
    """We tried to send something that the protocol does not allow."""

    default_code = "local-protocol"


class BrowserError(FoxloopError):
    """Firefox was not found, did not start, was lost, or a tab cannot be worked on."""

    default_code = "browser"


class Refuse(Exception):
    """Raised by a tool's ``domain``, ``prepare`` or ``describe``: the message is ours, and the planner may read it as trusted.

    The text of any other exception can quote a page, so it reaches the planner only between data markers.
    """
