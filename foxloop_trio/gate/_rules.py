"""Which grant decides: the pure policy of the gate.

Grants are tried in the order in which they were added. The first that can allow the action decides, except that one which needs no
human is preferred over one that asks, unless a human has already said no to exactly this action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import attrs

from ..actions import Money
from ._rows import Grant
from ._user_rules import SILENT, Standing, runs_unasked

BlockedBy = Literal["expired", "used-up", "currency", "spend-cap"]


@attrs.frozen
class Spent:
    """Money that is reserved or spent under one grant, in minor units: on this UTC day, and in the run that asks."""

    today: int
    in_run: int


NOTHING_SPENT: Final = Spent(0, 0)


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


def blocked_by(grant: Grant, at: float, amount: Money | None = None, spent: Spent = NOTHING_SPENT) -> BlockedBy | None:
    """Why a matching grant cannot allow an action of this amount now; None when it can."""
    if grant.expires_at is not None and at >= grant.expires_at:
        return "expired"
    if grant.max_uses is not None and grant.uses >= grant.max_uses:
        return "used-up"
    if amount is None or not grant.capped:
        return None
    return _over_a_cap(grant, amount, spent)


def _over_a_cap(grant: Grant, amount: Money, spent: Spent) -> BlockedBy | None:
    """The caps of a grant are in one currency. What comes to exactly the cap is fine."""
    blocked: BlockedBy | None = None
    for cap, before in (
        (grant.spend_cap, grant.spent),
        (grant.cap_per_act, 0),
        (grant.cap_per_run, spent.in_run),
        (grant.cap_per_day, spent.today),
    ):
        if cap is None:
            continue
        if cap.currency != amount.currency:
            return "currency"
        if before + amount.value > cap.value:
            blocked = "spend-cap"
    return blocked


def choose(
    grants: Iterable[Grant], tool: str, at: float, amount: Money | None, spent: Mapping[str, Spent], said: Standing = SILENT
) -> Choice:
    """The choice among grants of the right scope and host, in the order of adding. `spent` is by grant id, `said` what the user's
    rules say about the action; whether one of them says ``ask`` is for the caller to mind.
    """
    choice = Choice(None, None, None)
    for grant in grants:
        # `covers`, written out: a host may have a thousand grants for its other tools.
        if grant.tools is not None and tool not in grant.tools:
            continue
        reason = blocked_by(grant, at, amount, spent.get(grant.id, NOTHING_SPENT))
        if reason is not None:
            choice.blocked = choice.blocked or reason
            continue
        if choice.first is None:
            choice.first = grant
        if runs_unasked(grant, said):
            choice.unasked = grant
            break  # nothing behind it can decide
    return choice
