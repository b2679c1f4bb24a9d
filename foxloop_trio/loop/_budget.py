"""How much a run may use: the limits a host sets, and the tests against them. Pure."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, Money
from ..errors import BadOptionsError
from ..events import LimitName
from ..ports import ChatReply, Usage

CHARACTERS_PER_TOKEN = 4
"""For estimates only, when a reply reports no usage (loop specification 12.1)."""


def _limit(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value or value < 0:
        raise BadOptionsError(f"Budget.{attribute.name} must be a number of 0 or more, or None, not {value!r}")


def _money(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, Money):
        raise BadOptionsError(f"Budget.{attribute.name} must be Money, or None, not {value!r}")


@attrs.frozen(kw_only=True)
class Budget:
    """What one run may use; None means no limit.

    `tokens` counts input and output together and is tested before each planner request, so the last reply may overshoot.
    `tool_calls` counts calls that the gate allowed. `seconds` is work time on Trio's clock: waiting for a human is not counted.
    `cost` is what the planner's replies may cost together, tested like `tokens`; a reply that does not say what it cost in that
    currency ends the run, since a cap that cannot be held is none. `planner_seconds`, `tool_seconds` and `approval_seconds` bound
    one wait of that kind: the first ends the run, the second fails the call, the third counts as no answer.
    Raises BadOptionsError for a negative value, NaN, or anything that is no number.
    """

    tokens: float | None = attrs.field(default=None, validator=_limit)
    tool_calls: float | None = attrs.field(default=None, validator=_limit)
    seconds: float | None = attrs.field(default=None, validator=_limit)
    cost: Money | None = attrs.field(default=None, validator=_money)
    planner_seconds: float | None = attrs.field(default=None, validator=_limit)
    tool_seconds: float | None = attrs.field(default=None, validator=_limit)
    approval_seconds: float | None = attrs.field(default=None, validator=_limit)

    def to_json(self) -> dict[str, Any]:
        plain = {name: recordable(value) for name, value in attrs.asdict(self, recurse=False).items() if value is not None}
        return plain if self.cost is None else {**plain, "cost": self.cost.to_json()}

    def limit(self, which: LimitName) -> float | None:
        """The limit of that name, as far as it is a number of this budget."""
        found = getattr(self, which, None)
        return found if isinstance(found, int | float) else None

    @property
    def work_seconds(self) -> float:
        """How long a run may work, in seconds; infinity when it may for ever."""
        return math.inf if self.seconds is None or self.seconds > MAX_SAFE_INTEGER else self.seconds


def recordable(value: Any) -> Any:
    """A number as the trail can hold it: what is beyond all JSON numbers is written in words."""
    if isinstance(value, int | float) and not abs(value) <= MAX_SAFE_INTEGER:
        return "unlimited"
    return value


@attrs.define
class TokenUse:
    """What one planner request used, where its reply does not say so in a sound `Usage`: estimated by us, or put right."""

    input_tokens: int
    output_tokens: int
    estimated: bool
    cost: Money | None = None
    """What the reply says that it cost; None when it does not say so in `Money`."""

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens


def token_use(reply: object, characters_sent: Callable[[], int]) -> TokenUse | Usage:
    """The usage a reply reports, itself when it is sound; where it reports none, or nonsense, the sum of both sizes over four,
    rounded up.

    `characters_sent` is only asked when it is needed.
    """
    usage = reply.usage if isinstance(reply, ChatReply) else None
    cost = None
    if isinstance(usage, Usage):
        inbound, outbound, cost = usage.input_tokens, usage.output_tokens, usage.cost
        whole = type(inbound) is type(outbound) is int and 0 <= inbound <= MAX_SAFE_INTEGER and 0 <= outbound <= MAX_SAFE_INTEGER
        if whole and type(usage) is Usage and (cost is None or type(cost) is Money):
            return usage
        if cost is not None and not isinstance(cost, Money):
            cost = None
        if _counts(inbound) and _counts(outbound):
            return TokenUse(math.ceil(inbound), math.ceil(outbound), False, cost)
    sent = characters_sent()
    total = math.ceil((sent + _reply_size(reply)) / CHARACTERS_PER_TOKEN)
    inbound = min(total, sent // CHARACTERS_PER_TOKEN)
    return TokenUse(inbound, total - inbound, True, cost)


def use_to_json(use: TokenUse | Usage) -> dict[str, Any]:
    """What the trail says of it."""
    estimated = isinstance(use, TokenUse) and use.estimated
    return {"input_tokens": use.input_tokens, "output_tokens": use.output_tokens, "estimated": estimated}


def usage_of(reply: object) -> Usage | None:
    """The usage a reply reports, if it reports one."""
    usage = reply.usage if isinstance(reply, ChatReply) else None
    return usage if isinstance(usage, Usage) else None


def _reply_size(reply: object) -> int:
    """Characters of a reply; 0 for what is no reply, and what cannot be measured."""
    try:
        return message_size(reply.message) if isinstance(reply, ChatReply) else 0
    except Exception:
        return 0


def message_size(message: Any) -> int:
    """Characters of a message: its content, plus its tool calls as compact JSON when it has some."""
    size = len(message.get("content") or "")
    calls = message.get("tool_calls")
    return size + len(json.dumps(calls, separators=(",", ":"), ensure_ascii=False)) if calls else size


def _counts(value: Any) -> bool:
    if type(value) is int:
        return 0 <= value <= MAX_SAFE_INTEGER
    return not isinstance(value, bool) and isinstance(value, (int, float)) and 0 <= value <= MAX_SAFE_INTEGER
