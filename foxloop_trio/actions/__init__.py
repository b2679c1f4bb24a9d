"""Frozen nouns, permit and decisions: what gate, tools, loop and environments talk about."""

from ._context import EFFECT_STATES, Effect, EffectCell, EffectState, ToolContext
from ._copies import copied, stored
from ._decisions import Allow, Ask, Decision, Deny, decision_to_json
from ._nouns import (
    MAX_SAFE_INTEGER,
    SCOPES,
    Action,
    ApprovalRequest,
    CheckLine,
    CheckResult,
    Money,
    Scope,
    ToolOutput,
    action_from_text,
)
from ._permit import Ledger, Permit, closed_permit
from ._unchecked import unchecked

__all__ = [
    "EFFECT_STATES",
    "MAX_SAFE_INTEGER",
    "SCOPES",
    "Action",
    "Allow",
    "ApprovalRequest",
    "Ask",
    "CheckLine",
    "CheckResult",
    "Decision",
    "Deny",
    "Effect",
    "EffectCell",
    "EffectState",
    "Ledger",
    "Money",
    "Permit",
    "Scope",
    "ToolContext",
    "ToolOutput",
    "action_from_text",
    "closed_permit",
    "copied",
    "decision_to_json",
    "stored",
    "unchecked",
]
