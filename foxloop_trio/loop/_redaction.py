"""What a tool's `redact` hides, kept out of every event and record of the run. Pure.

Two ways to the same end. Arguments are shown in the form that `redact` gave them. And the values that it took out of them are
masked in every other text that the run says from then on, since a planner, a page or an error may repeat them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import attrs

from ..actions import Action, CheckLine, CheckResult, Effect
from ..events import (
    Aborted,
    ApprovalNeeded,
    Blocked,
    Check,
    Done,
    GateDecision,
    InFlight,
    Plan,
    PlannedCall,
    ToolCall,
    ToolResult,
)

T = TypeVar("T")

MASK: Final = "•••"
SHORTEST: Final = 3
"""Characters of the shortest value that is masked outside its own place: a shorter one would black out every other word."""

FREE_TEXT: Final[Mapping[type, tuple[str, ...]]] = {
    Plan: ("text", "calls", "problem"),
    PlannedCall: ("args",),
    ToolCall: ("args",),
    GateDecision: ("action",),
    Action: ("args",),
    ApprovalNeeded: ("action", "detail"),
    ToolResult: ("summary", "detail", "data"),
    Check: ("checks", "problem"),
    CheckLine: ("part", "evidence"),
    CheckResult: ("checks", "problem"),
    Done: ("summary", "check"),
    Blocked: ("message", "in_flight"),
    Aborted: ("in_flight",),
    InFlight: ("effect",),
    Effect: ("done",),
}
"""The fields that can repeat a hidden value. Ids, names, reasons and hosts are ours or were judged, and stay."""

RECORD_TEXT: Final = frozenset({"shown", "summary", "check", "effect", "allowed", "message", "late", "error", "done", "detail"})
"""Keys of records whose values can repeat one; the others are numbers, ids and digests, which a mask would spoil."""


def withheld(length: int) -> str:
    """What stands for a text that cannot be shown at all; its length stays (ruling 13)."""
    return f"[withheld: {length} characters]"


class Masks:
    """The hidden values of one run. False while there are none, so that a run without secrets pays nothing."""

    def __init__(self) -> None:
        self._hidden: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._hidden)

    def hide(self, args: Any, shown: Any) -> None:
        """Hide every text and number of `args` that `shown` does not have in the same place."""
        for value in _missing(args, shown):
            for form in {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}:
                if len(form) >= SHORTEST and form not in self._hidden:
                    self._hidden.append(form)
        self._hidden.sort(key=len, reverse=True)  # a value that holds another one goes first

    def text(self, text: str) -> str:
        for value in self._hidden:
            text = text.replace(value, MASK)
        return text

    def value(self, value: T) -> T:
        """A copy of JSON or of an event with the hidden values masked; the very same object when none are hidden."""
        return self._value(value) if self._hidden else value

    def record(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self._hidden:
            return record
        return {key: self._value(value) if key in RECORD_TEXT else value for key, value in record.items()}

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._value(key): self._value(inner) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return type(value)(self._value(inner) for inner in value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return MASK if str(value) in self._hidden else value
        fields = FREE_TEXT.get(type(value))
        if fields is None:
            return value
        return attrs.evolve(value, **{name: self._value(getattr(value, name)) for name in fields})


def _missing(args: Any, shown: Any) -> list[str]:
    """The texts and numbers of `args` that are not in `shown` at the same place, as texts."""
    found: list[str] = []
    pairs = [(args, shown)]
    while pairs:
        value, other = pairs.pop()
        if isinstance(value, Mapping):
            others = other if isinstance(other, Mapping) else {}
            pairs += [(inner, others.get(key)) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            listed = other if isinstance(other, list | tuple) else ()
            pairs += [(inner, listed[index] if index < len(listed) else None) for index, inner in enumerate(value)]
        elif value is None or isinstance(value, bool) or (type(value) is type(other) and value == other):
            continue
        else:
            found.append(str(value))
    return found
