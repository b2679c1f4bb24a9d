"""Which grant decides: the pure policy of the gate.

Grants are tried in the order in which they were added. The first that can allow the action decides, except that one which needs no
human is preferred over one that asks, unless a human has already said no to exactly this action.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import attrs

from ..actions import Money
from ._reasons import MESSAGES
from ._rows import Grant
from ._user_rules import SILENT, Standing, runs_unasked

BlockedBy = Literal["expired", "used-up", "currency", "spend-cap"]


@attrs.frozen
class Blocked:
    """Why a matching grant cannot allow an action; `caps` are the fields of the caps that the amount would go over."""

    reason: BlockedBy
    caps: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The deny message. It names the caps, which are the host's words, so that somebody can tell which one to think about."""
        return MESSAGES[self.reason] + (f": {', '.join(self.caps)}" if self.caps else "")


EXPIRED: Final = Blocked("expired")
USED_UP: Final = Blocked("used-up")
OTHER_CURRENCY: Final = Blocked("currency")


@attrs.frozen(kw_only=True)
class Spent:
    """Money that is reserved or spent under one grant, in minor units: in the run that asks, at this host, on this UTC day."""

    in_run: int
    at_site: int
    today: int


NOTHING_SPENT: Final = Spent(in_run=0, at_site=0, today=0)


@attrs.define(slots=True, eq=False)
class Choice:
    """`first` is the first grant that can allow; `unasked` the first that can and needs no human. When none can, `blocked` says why
    the first that matches cannot; None there means that none matches.
    """

    first: Grant | None
    unasked: Grant | None
    blocked: Blocked | None


def covers(grant: Grant, tool: str) -> bool:
    """Whether a grant of the right scope and host speaks of this tool."""
    return grant.tools is None or tool in grant.tools


def blocked_by(grant: Grant, at: float, amount: Money | None = None, spent: Spent = NOTHING_SPENT) -> Blocked | None:
    """Why a matching grant cannot allow an action of this amount now; None when it can."""
    if grant.expires_at is not None and at >= grant.expires_at:
        return EXPIRED
    if grant.max_uses is not None and grant.uses >= grant.max_uses:
        return USED_UP
    if amount is None or not grant.capped:
        return None
    return _over_a_cap(grant, amount, spent)


def _over_a_cap(grant: Grant, amount: Money, spent: Spent) -> Blocked | None:
    """The caps of a grant are in one currency. What comes to exactly the cap is fine."""
    over = []
    for name, cap, before in (
        ("cap_per_act", grant.cap_per_act, 0),
        ("cap_per_run", grant.cap_per_run, spent.in_run),
        ("cap_per_site", grant.cap_per_site, spent.at_site),
        ("cap_per_day", grant.cap_per_day, spent.today),
        ("spend_cap", grant.spend_cap, grant.spent),
    ):
        if cap is None:
            continue
        if cap.currency != amount.currency:
            return OTHER_CURRENCY
        if before + amount.value > cap.value:
            over.append(name)
    return Blocked("spend-cap", tuple(over)) if over else None


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
        blocked = blocked_by(grant, at, amount, spent.get(grant.id, NOTHING_SPENT))
        if blocked is not None:
            choice.blocked = choice.blocked or blocked
            continue
        if choice.first is None:
            choice.first = grant
        if runs_unasked(grant, said):
            choice.unasked = grant
            break  # nothing behind it can decide
    return choice
