"""The three answers of the gate. `Allow` needs a permit, so only the gate can say it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import attrs

from ._nouns import Action
from ._permit import Permit
from ._valid import instant, optional_text, text


@attrs.frozen(kw_only=True)
class Allow:
    """Run `action`, with `permit` as the proof. The action is the gate's normalised copy, never the planner's."""

    decision: ClassVar[Literal["allow"]] = "allow"
    grant_id: str = attrs.field(validator=text)
    permit: Permit = attrs.field(validator=attrs.validators.instance_of(Permit))
    rule_id: str | None = attrs.field(default=None, validator=optional_text)

    @property
    def action(self) -> Action:
        """A fresh copy of what was allowed."""
        return self.permit.action


@attrs.frozen(kw_only=True)
class Ask:
    """A human must decide. `request_id` is None when the gate was asked to store no request.

    `expires_at` is wall-clock seconds since 1970.
    """

    decision: ClassVar[Literal["ask"]] = "ask"
    grant_id: str = attrs.field(validator=text)
    request_id: str | None = attrs.field(validator=optional_text)
    expires_at: float = attrs.field(validator=instant)
    rule_id: str | None = attrs.field(default=None, validator=optional_text)


@attrs.frozen(kw_only=True)
class Deny:
    """Not allowed. `reason` is one of the gate's deny reasons; `message` is the gate's own words, fit for the planner."""

    decision: ClassVar[Literal["deny"]] = "deny"
    reason: str = attrs.field(validator=text)
    message: str = attrs.field(validator=text)
    rule_id: str | None = attrs.field(default=None, validator=optional_text)


Decision = Allow | Ask | Deny


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """The decision as plain JSON, without the permit (which is no data) and without the action."""
    match decision:
        case Allow():
            plain: dict[str, Any] = {"decision": "allow", "grant_id": decision.grant_id}
        case Ask():
            plain = {"decision": "ask", "grant_id": decision.grant_id}
            if decision.request_id is not None:
                plain["request_id"] = decision.request_id
            plain["expires_at_ms"] = round(decision.expires_at * 1000)
        case Deny():
            plain = {"decision": "deny", "reason": decision.reason, "message": decision.message}
    if decision.rule_id is not None:
        plain["rule_id"] = decision.rule_id
    return plain
