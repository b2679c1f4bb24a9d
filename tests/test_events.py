"""event_to_json and event_from_json are inverse, and what is no event is a UsageError."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio import ApprovalNeeded, Blocked, UsageError, event_from_json, event_to_json
from foxloop_trio.actions import Action, CheckLine, CheckResult, Effect, ToolOutput

ACTION = {"tool": "t", "args": {}, "domain": "d", "scope": "fill"}
NEEDED = {"type": "approval-needed", "step": 1, "id": "1", "request_id": "r", "action": ACTION}


@pytest.mark.parametrize("obj", [None, 1, [], "x", {**NEEDED, "expires_at_ms": 10**400}], ids=lambda o: str(o)[:20])
def test_anything_else_is_a_usage_error(obj: Any) -> None:
    with pytest.raises(UsageError):
        event_from_json(obj)


@pytest.mark.parametrize(
    "obj",
    [
        {"type": "blocked", "step": "x", "reason": "max-steps", "message": "m"},
        {"type": "blocked", "step": 1, "reason": "nonsense", "message": "m"},
        {"type": "blocked", "step": 1, "reason": "budget", "message": 5},
        {"type": "tool-result", "step": 1, "id": 1, "name": [], "ok": "yes", "summary": None},
        {"type": "decision", "step": 1, "id": "1", "via": "x", "decision": "maybe", "action": ACTION},
    ],
    ids=str,
)
def test_fields_of_a_wrong_type_are_a_usage_error(obj: Any) -> None:
    """api.md: all data classes are validated when built."""
    with pytest.raises(UsageError):
        event_from_json(obj)


def test_an_event_that_expires_between_two_milliseconds_survives_the_trip() -> None:
    """Or the event rounds when it is built."""
    event = ApprovalNeeded(step=1, id="1", request_id="r", action=Action(**ACTION), expires_at=1234.56789)  # type: ignore[arg-type]
    assert event_from_json(event_to_json(event)) == event


@pytest.mark.parametrize(
    "make",
    [
        lambda: CheckResult(ok="false"),  # type: ignore[arg-type]
        lambda: CheckLine(part=1, ok=True, evidence="e"),  # type: ignore[arg-type]
        lambda: ToolOutput(ok="yes", summary="s"),  # type: ignore[arg-type]
        lambda: Effect(state="nonsense"),  # type: ignore[arg-type]
        lambda: Blocked(step=1, reason="nonsense", message="m"),  # type: ignore[arg-type]
    ],
)
def test_a_noun_of_a_wrong_type_cannot_be_built(make: Any) -> None:
    """api.md: frozen, keyword-only, validated when built."""
    with pytest.raises((TypeError, ValueError)):
        make()
