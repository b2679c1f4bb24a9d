"""Which grant decides: the pure policy of the gate.

Grants are tried in the order in which they were added. The first that can allow the action decides, except that one which needs no
human is preferred over one that asks, unless a human has already said no to exactly this action.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import attrs

from ._rows import Grant

BlockedBy = Literal["expired", "used-up"]


@attrs.define(slots=True, eq=False)
class Choice:
    """`first` is the first grant that can allow; `unasked` the first that can and needs no human. When none can, `blocked` says why
    the first that matches cannot; None there means that none matches.
    """

    first: Grant | None
    unasked: Grant | None
    blocked: BlockedBy | None


def covers(grant: Grant, tool: str) -> bool:
    """Whether a grant of the right scope and host speaks of this tool."""
    return grant.tools is None or tool in grant.tools


def blocked_by(grant: Grant, at: float) -> BlockedBy | None:
    """Why a matching grant cannot allow anything now; None when it can."""
    if grant.expires_at is not None and at >= grant.expires_at:
        return "expired"
    if grant.max_uses is not None and grant.uses >= grant.max_uses:
        return "used-up"
    return None


def choose(grants: Iterable[Grant], tool: str, at: float) -> Choice:
    """The choice among grants of the right scope and host, in the order of adding."""
    choice = Choice(None, None, None)
    for grant in grants:
        if not covers(grant, tool):
            continue
        reason = blocked_by(grant, at)
        if reason is not None:
            choice.blocked = choice.blocked or reason
            continue
        if choice.first is None:
            choice.first = grant
        if grant.approval == "never":
            choice.unasked = grant
            break  # nothing behind it can decide
    return choice
