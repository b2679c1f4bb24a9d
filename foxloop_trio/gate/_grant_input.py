"""Reading what the host says about a new grant: every field tested, hosts in normal form, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, SCOPES, Money, Scope
from ..errors import GateError
from ._patterns import read_pattern
from ._rows import APPROVALS, Approval, Grant
from ._shown import shown


@attrs.frozen(kw_only=True)
class GrantInput:
    """A grant that lacks only what the gate adds: its id and its time."""

    scope: Scope
    domains: tuple[str, ...]
    tools: tuple[str, ...] | None
    spend_cap: Money | None
    cap_per_act: Money | None
    cap_per_run: Money | None
    cap_per_site: Money | None
    cap_per_day: Money | None
    expires_at: float | None
    max_uses: int | None
    approval: Approval
    rules: bool

    def grant(self, grant_id: str, at: float) -> Grant:
        return Grant(
            id=grant_id,
            scope=self.scope,
            domains=self.domains,
            tools=self.tools,
            spend_cap=self.spend_cap,
            cap_per_act=self.cap_per_act,
            cap_per_run=self.cap_per_run,
            cap_per_site=self.cap_per_site,
            cap_per_day=self.cap_per_day,
            expires_at=self.expires_at,
            max_uses=self.max_uses,
            approval=self.approval,
            rules=self.rules,
            created_at=at,
        )


def read_grant(
    *,
    scope: Any,
    domains: Any,
    tools: Any,
    caps: Mapping[str, Any],
    expires_at: Any,
    max_uses: Any,
    approval: Any,
    rules: Any,
) -> GrantInput:
    """Raises GateError, code ``bad-grant`` or ``bad-domain``, naming field and value."""
    if not isinstance(scope, str) or scope not in SCOPES:
        raise _bad("scope", f"must be one of {', '.join(SCOPES)}", scope)
    if not isinstance(domains, (list, tuple)) or not domains:
        raise _bad("domains", "must be a non-empty list of hosts and patterns", domains)
    if tools is not None and not (isinstance(tools, (list, tuple)) and all(isinstance(name, str) and name for name in tools)):
        raise _bad("tools", "must be a list of tool names, or None for every tool of the scope", tools)
    if expires_at is not None and not _instant(expires_at):
        raise _bad("expires_at", "must be seconds since 1970", expires_at)
    if max_uses is not None and not (type(max_uses) is int and 1 <= max_uses <= MAX_SAFE_INTEGER):
        raise _bad("max_uses", "must be a whole number of at least 1", max_uses)
    if approval is None:
        approval = "always" if scope in ("submit", "pay") else "never"
    if not isinstance(approval, str) or approval not in APPROVALS:
        raise _bad("approval", "must be 'always' or 'never'", approval)
    if type(rules) is not bool:
        raise _bad("rules", "must be True or False", rules)
    return GrantInput(
        scope=scope,
        domains=tuple(dict.fromkeys(read_pattern(domain) for domain in domains)),
        tools=None if tools is None else tuple(dict.fromkeys(tools)),
        **_caps(caps),
        expires_at=None if expires_at is None else float(expires_at),
        max_uses=max_uses,
        approval=approval,
        rules=rules,
    )


def _caps(caps: Mapping[str, Any]) -> dict[str, Money | None]:
    money = {name: cap if type(cap) is Money else None for name, cap in caps.items()}
    for name, cap in caps.items():
        if cap is not None and money[name] is None:
            raise _bad(name, "must be Money, such as Money(value=500, currency='EUR')", cap)
    currencies = sorted({cap.currency for cap in money.values() if cap is not None})
    if len(currencies) > 1:
        raise _bad("caps", "must be in one currency; make a grant for each currency", ", ".join(currencies))
    return money


def _instant(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= MAX_SAFE_INTEGER  # which NaN and the infinities are not


def _bad(field: str, rule: str, value: object) -> GateError:
    return GateError(f"add_grant: {field} {rule}, not {shown(value)}", code="bad-grant")
