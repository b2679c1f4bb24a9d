"""Why the gate says no: the closed set of deny reasons, and the one failure that ends an operation.

A deny message may be shown to the planner as trusted text, so it consists of our own words only: tool names from the registry and
scopes may stand in it, hosts, arguments and exception texts may not, since a page could have written them.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

DenyReason = Literal[
    "bad-action",
    "unknown-tool",
    "wrong-scope",
    "wrong-amount",
    "no-grant",
    "expired",
    "used-up",
    "currency",
    "spend-cap",
    "too-many-requests",
    "rejected",
    "rule",
    "bad-token",
    "token-expired",
    "token-used",
    "action-changed",
    "hook-failed",
    "storage-error",
    "clock-error",
]
DENY_REASONS: Final[tuple[DenyReason, ...]] = get_args(DenyReason)

MESSAGES: Final[dict[DenyReason, str]] = {
    "no-grant": "no grant covers this tool, scope and host",
    "expired": "the grant for this has expired",
    "used-up": "the grant for this has no uses left",
    "currency": "the amount is not in the currency of the grant's caps",
    "spend-cap": "the amount would go over a cap of the grant",
    "too-many-requests": "too many requests wait for a human already; wait until some are answered",
    "rejected": "a human said no to exactly this action; do not repeat it",
    "rule": "a rule of the user forbids this on this site; do not repeat it",
    "bad-token": "this is not a token of this gate, or nothing approved stands behind it",
    "token-expired": "the approval token has expired; ask again",
    "token-used": "the approval token was used already; ask again",
    "action-changed": "the action is not the one that was approved; the token is spent",
    "hook-failed": "the host's decision hook failed, so nothing was allowed",
    "storage-error": "the gate's store could not be read or written, so nothing was allowed",
    "clock-error": "the gate's clock gave no usable time, so nothing was allowed",
}
"""The fixed sentences; the reasons that are missing here get theirs where they are found."""


class Failure(Exception):
    """Ends an operation of the gate with nothing changed. Never leaves the package: the planner side turns it into a `Deny`, the
    host side into a `GateError`.

    `reason` is a deny reason or, on the host side only, an error code such as ``not-found``.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def failure(reason: DenyReason) -> Failure:
    """The failure with the fixed sentence for `reason`."""
    return Failure(reason, MESSAGES[reason])
