"""The rows that a gate store keeps: grants, approval requests, and money that was spent or reserved.

All rows are frozen and hold nothing mutable, so a store may hand out the very objects it keeps. Nothing secret is in them: no key
and no token, only the nonce that one token must match. Instants are wall-clock seconds since 1970.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import attrs

from ..actions import SCOPES, Action, Money, Scope, action_from_text

Approval = Literal["always", "never"]
APPROVALS: Final[tuple[Approval, ...]] = get_args(Approval)

RequestStatus = Literal["pending", "approved", "used", "rejected"]
REQUEST_STATUSES: Final[tuple[RequestStatus, ...]] = get_args(RequestStatus)

SpendStatus = Literal["reserved", "settled"]

_one_of = attrs.validators.in_
_text = attrs.validators.instance_of(str)
_tuple = attrs.validators.instance_of(tuple)
_instant = attrs.validators.instance_of((int, float))
_count = attrs.validators.instance_of(int)
_optional = attrs.validators.optional


@attrs.frozen(kw_only=True)
class Grant:
    """A standing permission of the host: which scope on which hosts, for which tools, until when, how often.

    `tools` None means every tool of that scope. `approval` ``always`` sends each action to a human, ``never`` lets it run at once.
    `uses` counts what was allowed so far. The order in which grants were added is the order in which they are tried.
    """

    id: str = attrs.field(validator=_text)
    scope: Scope = attrs.field(validator=_one_of(SCOPES))
    domains: tuple[str, ...] = attrs.field(validator=_tuple)
    tools: tuple[str, ...] | None = attrs.field(default=None, validator=_optional(_tuple))
    expires_at: float | None = attrs.field(default=None, validator=_optional(_instant))
    max_uses: int | None = attrs.field(default=None, validator=_optional(_count))
    approval: Approval = attrs.field(validator=_one_of(APPROVALS))
    created_at: float = attrs.field(validator=_instant)
    uses: int = attrs.field(default=0, validator=_count)

    def used_once_more(self) -> Grant:
        """The grant with one more use counted. Part of every allow, so without validating again what has not changed."""
        twin = object.__new__(Grant)
        for name in _GRANT_FIELDS:
            object.__setattr__(twin, name, getattr(self, name))
        object.__setattr__(twin, "uses", self.uses + 1)
        return twin


_GRANT_FIELDS: Final = tuple(field.name for field in attrs.fields(Grant))


@attrs.frozen(kw_only=True)
class ApprovalRow:
    """One question to a human: may this exact action run under this grant?

    `text` is the canonical JSON of the action, byte for byte what is to be shown, and `digest` its SHA-256. `nonce` is set by the
    approval and must be in the token.
    """

    id: str = attrs.field(validator=_text)
    grant_id: str = attrs.field(validator=_text)
    text: str = attrs.field(validator=_text, repr=False)
    digest: str = attrs.field(validator=_text)
    created_at: float = attrs.field(validator=_instant)
    expires_at: float = attrs.field(validator=_instant)
    status: RequestStatus = attrs.field(default="pending", validator=_one_of(REQUEST_STATUSES))
    nonce: str | None = attrs.field(default=None, validator=_optional(_text), repr=False)

    @property
    def action(self) -> Action:
        """The action that is asked about, as a fresh copy."""
        return action_from_text(self.text)


@attrs.frozen(kw_only=True)
class SpendRow:
    """Money that one permit reserved or spent under one grant. No such row is written before grants have caps."""

    id: str = attrs.field(validator=_text)
    grant_id: str = attrs.field(validator=_text)
    amount: Money = attrs.field(validator=attrs.validators.instance_of(Money))
    at: float = attrs.field(validator=_instant)
    status: SpendStatus = attrs.field(default="reserved", validator=_one_of(get_args(SpendStatus)))
