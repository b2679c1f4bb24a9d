"""How much a run may use: the limits a host sets, and the tests against them. Pure."""

from __future__ import annotations

import json
import math
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, Money
from ..errors import BadOptionsError
from ..ports import ChatReply, Usage

CHARACTERS_PER_TOKEN = 4
"""For estimates only, when a reply reports no usage (loop specification 12.1)."""


def _limit(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value < 0:
        raise BadOptionsError(f"Budget.{attribute.name} must be a number of 0 or more, or None, not {value!r}")


def _later(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None:
        raise NotImplementedError(f"Budget({attribute.name}=…) is not available yet; leave it at None")


@attrs.frozen(kw_only=True)
class Budget:
    """What one run may use; None means no limit.

    `tokens` counts input and output together and is tested before each planner request, so the last reply may overshoot.
    `tool_calls` counts calls that the gate allowed. `seconds` is work time on Trio's clock: waiting for a human is not counted.
    Raises BadOptionsError for a negative value, NaN, or anything that is no number.
    """

    tokens: float | None = attrs.field(default=None, validator=_limit)
    tool_calls: float | None = attrs.field(default=None, validator=_limit)
    seconds: float | None = attrs.field(default=None, validator=_limit)
    cost: Money | None = attrs.field(default=None, validator=_later)
    planner_seconds: float | None = attrs.field(default=None, validator=_later)
    tool_seconds: float | None = attrs.field(default=None, validator=_later)
    approval_seconds: float | None = attrs.field(default=None, validator=_later)

    def to_json(self) -> dict[str, Any]:
        return {name: recordable(value) for name, value in attrs.asdict(self, recurse=False).items() if value is not None}

    def deadline(self, start: float) -> float:
        """The Trio time at which a run that began at `start` has used up its seconds; infinity when it cannot."""
        if self.seconds is None or self.seconds > MAX_SAFE_INTEGER:
            return math.inf
        return start + self.seconds


def recordable(value: Any) -> Any:
    """A number as the trail can hold it: what is beyond all JSON numbers is written in words."""
    if isinstance(value, int | float) and not abs(value) <= MAX_SAFE_INTEGER:
        return "unlimited"
    return value


@attrs.frozen(kw_only=True)
class TokenUse:
    """What one planner request used, measured by the model server or estimated by us from the lengths."""

    input_tokens: int
    output_tokens: int
    estimated: bool

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def to_json(self) -> dict[str, Any]:
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens, "estimated": self.estimated}


def token_use(reply: ChatReply, size_in: int) -> TokenUse:
    """The usage a reply reports; where it reports none, or nonsense, the sum of both sizes over four, rounded up.

    `size_in`: characters of what was sent.
    """
    usage = reply.usage
    if isinstance(usage, Usage) and _counts(usage.input_tokens) and _counts(usage.output_tokens):
        return TokenUse(input_tokens=math.ceil(usage.input_tokens), output_tokens=math.ceil(usage.output_tokens), estimated=False)
    total = math.ceil((size_in + message_size(reply.message)) / CHARACTERS_PER_TOKEN)
    inbound = min(total, size_in // CHARACTERS_PER_TOKEN)
    return TokenUse(input_tokens=inbound, output_tokens=total - inbound, estimated=True)


def message_size(message: Any) -> int:
    """Characters of a message: its content, plus its tool calls as compact JSON when it has some."""
    size = len(message.get("content") or "")
    calls = message.get("tool_calls")
    return size + len(json.dumps(calls, separators=(",", ":"), ensure_ascii=False)) if calls else size


def _counts(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= MAX_SAFE_INTEGER
