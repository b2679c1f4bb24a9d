"""The rows that a gate store keeps: grants, approval requests, money that was spent or reserved, and the user's standing rules.

All rows are frozen and hold nothing mutable, so a store may hand out the very objects it keeps. Nothing secret is in them: no key
and no token, only the nonce that one token must match. Instants are wall-clock seconds since 1970.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Final, Literal, get_args

import attrs

from ..actions import SCOPES, Action, Money, Scope, action_from_text

Approval = Literal["always", "never"]
APPROVALS: Final[tuple[Approval, ...]] = get_args(Approval)

RequestStatus = Literal["pending", "approved", "used", "rejected"]
REQUEST_STATUSES: Final[tuple[RequestStatus, ...]] = get_args(RequestStatus)

SpendStatus = Literal["reserved", "settled"]

RuleEffect = Literal["allow", "ask", "deny"]
RULE_EFFECTS: Final[tuple[RuleEffect, ...]] = get_args(RuleEffect)

_FOREVER: Final = float("inf")

_one_of = attrs.validators.in_
_text = attrs.validators.instance_of(str)
_tuple = attrs.validators.instance_of(tuple)
_flag = attrs.validators.instance_of(bool)
_money = attrs.validators.optional(attrs.validators.instance_of(Money))
_optional = attrs.validators.optional


def _instant(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) not in (int, float) or not -_FOREVER < value < _FOREVER:  # type: ignore[operator]  # NaN is within nothing
        raise TypeError(f"{attribute.name} must be finite seconds since 1970, not {value!r}")


def _count(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if type(value) is not int or value < 0:  # a count below zero would give back uses and money that were never there
        raise TypeError(f"{attribute.name} must be a whole number of 0 or more, not {value!r}")


@attrs.frozen(kw_only=True)
class Grant:
    """A standing permission of the host: which scope on which hosts, for which tools, until when, how often, for how much.

    `tools` None means every tool of that scope. `approval` ``always`` sends each action to a human, ``never`` lets it run at once;
    with `rules` a user's rule may let it run at once too. `uses` counts what was allowed so far, and `spent` adds up, in minor
    units of the caps' currency, the money that is reserved or spent. The order in which grants were added is the order in which
    they are tried.
    """

    id: str = attrs.field(validator=_text)
    scope: Scope = attrs.field(validator=_one_of(SCOPES))
    domains: tuple[str, ...] = attrs.field(validator=_tuple)
    tools: tuple[str, ...] | None = attrs.field(default=None, validator=_optional(_tuple))
    spend_cap: Money | None = attrs.field(default=None, validator=_money)
    cap_per_act: Money | None = attrs.field(default=None, validator=_money)
    cap_per_run: Money | None = attrs.field(default=None, validator=_money)
    cap_per_site: Money | None = attrs.field(default=None, validator=_money)
    cap_per_day: Money | None = attrs.field(default=None, validator=_money)
    expires_at: float | None = attrs.field(default=None, validator=_optional(_instant))
    max_uses: int | None = attrs.field(default=None, validator=_optional(_count))
    approval: Approval = attrs.field(validator=_one_of(APPROVALS))
    rules: bool = attrs.field(default=False, validator=_flag)
    created_at: float = attrs.field(validator=_instant)
    uses: int = attrs.field(default=0, validator=_count)
    spent: int = attrs.field(default=0, validator=_count)

    @property
    def capped(self) -> bool:
        """Whether any cap limits the money of this grant."""
        return not (
            self.spend_cap is None
            and self.cap_per_act is None
            and self.cap_per_run is None
            and self.cap_per_site is None
            and self.cap_per_day is None
        )

    def used_once_more(self, spending: int = 0) -> Grant:
        """The grant with one more use counted. Part of every allow, so without validating again what has not changed."""
        twin: Grant = _new_object(Grant)
        for put, value in zip(_GRANT_SETTERS, _grant_values(self), strict=True):
            put(twin, value)
        _SET_USES(twin, self.uses + 1)
        if spending:
            _SET_SPENT(twin, self.spent + spending)
        return twin


_GRANT_FIELDS: Final = tuple(field.name for field in attrs.fields(Grant))
_GRANT_SETTERS: Final = tuple(vars(Grant)[name].__set__ for name in _GRANT_FIELDS)
_grant_values: Final = attrgetter(*_GRANT_FIELDS)
_SET_USES: Final = vars(Grant)["uses"].__set__
_SET_SPENT: Final = vars(Grant)["spent"].__set__
_new_object: Final = object.__new__


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
    """Money that one permit reserved or spent under one grant with caps. Its id is the permit's.

    `host` is the judged host of the action, in normal form. `day` is the UTC day on which it was reserved, counted from 1970-01-01;
    `run` the run that acted, empty outside of any.
    """

    id: str = attrs.field(validator=_text)
    grant_id: str = attrs.field(validator=_text)
    amount: Money = attrs.field(validator=attrs.validators.instance_of(Money))
    host: str = attrs.field(validator=_text)
    at: float = attrs.field(validator=_instant)
    day: int = attrs.field(validator=attrs.validators.instance_of(int))
    run: str = attrs.field(default="", validator=_text)
    status: SpendStatus = attrs.field(default="reserved", validator=_one_of(get_args(SpendStatus)))


@attrs.frozen(kw_only=True)
class Rule:
    """A standing answer of the user for one site: it changes only the approval step of a grant that matches already.

    `tool` None means every tool of the scope.
    """

    id: str = attrs.field(validator=_text)
    created_at: float = attrs.field(validator=_instant)
    site: str = attrs.field(validator=_text)
    scope: Scope = attrs.field(validator=_one_of(SCOPES))
    tool: str | None = attrs.field(default=None, validator=_optional(_text))
    effect: RuleEffect = attrs.field(validator=_one_of(RULE_EFFECTS))
    expires_at: float | None = attrs.field(default=None, validator=_optional(_instant))
