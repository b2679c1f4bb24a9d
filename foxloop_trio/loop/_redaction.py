"""What a tool's `redact` hides, kept out of every event and record of the run. Pure.

Two ways to the same end. Arguments are shown in the form that `redact` gave them. And the values that it took out of them are
masked in every other text that the run says from then on, since a planner, a page or an error may repeat them.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
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
WITHHELD: Final = "[withheld: "
"""How a text begins that stands for one that is not shown."""
SHORTEST: Final = 3
"""Characters of the shortest value that is masked outside its own place: a shorter one would black out every other word."""

DEPTH: Final = 64
"""Levels of a tool's data that are searched; the trail takes no more (trail specification, section 2). Deeper parts are masked."""

FREE_TEXT: Final[Mapping[type, tuple[str, ...]]] = {
    Plan: ("text", "calls", "problem"),
    PlannedCall: ("id", "name", "args"),
    ToolCall: ("id", "name", "args"),
    GateDecision: ("id", "action"),
    Action: ("args",),
    ApprovalNeeded: ("id", "action", "detail"),
    ToolResult: ("id", "name", "summary", "detail", "data"),
    Check: ("checks", "problem"),
    CheckLine: ("part", "evidence"),
    CheckResult: ("checks", "problem"),
    Done: ("summary", "check"),
    Blocked: ("message", "in_flight"),
    Aborted: ("in_flight",),
    InFlight: ("call_id", "effect"),
    Effect: ("done",),
}
"""The fields that can repeat a hidden value. Reasons, request ids and hosts are ours or were judged, and stay."""

RECORD_TEXT: Final = frozenset(
    {"id", "name", "shown", "summary", "check", "effect", "allowed", "message", "late", "error", "done", "detail", "said"}
)
"""Keys of records whose values can repeat one; the others are numbers, our ids and digests, which a mask would spoil."""


def withheld(length: int) -> str:
    """What stands for a text that cannot be shown at all; its length stays (ruling 13)."""
    return f"{WITHHELD}{length} characters]"


class Masks:
    """The hidden values of one run. False while there are none, so that a run without secrets pays nothing.

    `names` are the tools' names, which are never masked.
    """

    def __init__(self, names: Container[str] = ()) -> None:
        self._names = names
        self.hidden: list[str] = []
        """What is hidden, in all its forms; for `Calls`, which asks several times a step whether there is any."""
        self._ids: dict[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.hidden)

    def hide(self, args: Any, shown: Any) -> None:
        """Hide each text and number of `args` that `shown` does not have in the same place, in all forms a text may give it."""
        for value in _missing(args, shown):
            escaped = value.replace("<", "&lt;").replace(">", "&gt;")
            forms = {value, escaped, repr(value)[1:-1], json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
            self.hidden += [form for form in forms if len(form) >= SHORTEST and form not in self.hidden]
        self.hidden.sort(key=len, reverse=True)  # a value that holds another one goes first

    def text(self, text: str) -> str:
        """The text with hidden values masked, and the beginning of one at its end, where it may have been cut."""
        for value in self.hidden:
            text = text.replace(value, MASK)
        for value in self.hidden:
            for length in range(min(len(value) - 1, len(text)), SHORTEST - 1, -1):
                if text.endswith(value[:length]):
                    return text[:-length] + MASK
        return text

    def value(self, value: T) -> T:
        """A copy of JSON or of an event with the hidden values masked; the very same object when none are hidden."""
        return self._value(value, 0) if self.hidden else value

    def record(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.hidden:
            return record
        return {key: self._field(key, value, 0) if key in RECORD_TEXT else value for key, value in record.items()}

    def _value(self, value: Any, depth: int) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return value if value in self._names else self.text(value)
        if depth > DEPTH:
            return MASK
        kind = type(value)
        fields = FREE_TEXT.get(kind)
        if fields is not None:
            return attrs.evolve(value, **{name: self._field(name, getattr(value, name), depth + 1) for name in fields})
        if kind is dict:
            return {self._key(key): self._value(inner, depth + 1) for key, inner in value.items()}
        if kind is list or kind is tuple:
            return kind([self._value(inner, depth + 1) for inner in value])
        # Numbers, and what is no JSON: hidden whole when its words hold a hidden value, or cannot be said.
        try:
            words = repr(value)
        except Exception:
            return MASK
        return MASK if any(hidden in words for hidden in self.hidden) else value

    def _field(self, name: str, value: Any, depth: int) -> Any:
        return self._id(value) if name in ("id", "call_id") else self._value(value, depth)

    def _id(self, call_id: str) -> str:
        """An id that holds a hidden value gets one of ours, since two ids that are masked could become one."""
        if not any(hidden in call_id for hidden in self.hidden):
            return call_id
        return self._ids.setdefault(call_id, f"masked_{len(self._ids) + 1}")

    def _key(self, key: Any) -> Any:
        return self.text(key) if isinstance(key, str) else key


def _missing(args: Any, shown: Any) -> list[str]:
    """The texts and numbers of `args` that are not in `shown` at the same place, as texts; keys too, where a whole part is gone."""
    found: list[str] = []
    pairs = [(args, shown, False)]
    while pairs:
        value, other, inside = pairs.pop()
        if isinstance(value, Mapping):
            others = other if isinstance(other, Mapping) else {}
            if inside and others is not other:
                found += [key for key in value if isinstance(key, str)]
            pairs += [(inner, others.get(key), True) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            listed = other if isinstance(other, list | tuple) else ()
            pairs += [(inner, listed[index] if index < len(listed) else None, True) for index, inner in enumerate(value)]
        elif value is None or isinstance(value, bool) or (type(value) is type(other) and value == other):
            continue
        else:
            found.append(str(value))
    return found
