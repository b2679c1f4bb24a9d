"""Reading what the host says about a new grant: every field tested, hosts in normal form, defaults filled in."""

from __future__ import annotations

from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, SCOPES, Scope
from ..errors import GateError
from ._hosts import normalise_host
from ._rows import APPROVALS, Approval, Grant


@attrs.frozen(kw_only=True)
class GrantInput:
    """A grant that lacks only what the gate adds: its id and its time."""

    scope: Scope
    domains: tuple[str, ...]
    tools: tuple[str, ...] | None
    expires_at: float | None
    max_uses: int | None
    approval: Approval

    def grant(self, grant_id: str, at: float) -> Grant:
        return Grant(
            id=grant_id,
            scope=self.scope,
            domains=self.domains,
            tools=self.tools,
            expires_at=self.expires_at,
            max_uses=self.max_uses,
            approval=self.approval,
            created_at=at,
        )


def read_grant(*, scope: Any, domains: Any, tools: Any, expires_at: Any, max_uses: Any, approval: Any) -> GrantInput:
    """Raises GateError, code ``bad-grant`` or ``bad-domain``, naming field and value."""
    if not isinstance(scope, str) or scope not in SCOPES:
        raise _bad("scope", f"must be one of {', '.join(SCOPES)}", scope)
    if not isinstance(domains, (list, tuple)) or not domains:
        raise _bad("domains", "must be a non-empty list of hosts", domains)
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
    return GrantInput(
        scope=scope,
        domains=tuple(dict.fromkeys(_exact_host(domain) for domain in domains)),
        tools=None if tools is None else tuple(dict.fromkeys(tools)),
        expires_at=None if expires_at is None else float(expires_at),
        max_uses=max_uses,
        approval=approval,
    )


def _exact_host(domain: object) -> str:
    if isinstance(domain, str) and domain.startswith("*."):
        normalise_host(domain[2:])  # what could never be a pattern is said so
        raise NotImplementedError(f"add_grant(domains=[{domain[:80]!r}]): '*.' patterns are not supported yet; name each host")
    return normalise_host(domain)


def _instant(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return abs(value) <= MAX_SAFE_INTEGER  # which NaN and the infinities are not


def _bad(field: str, rule: str, value: object) -> GateError:
    return GateError(f"add_grant: {field} {rule}, not {repr(value)[:100]}", code="bad-grant")
