"""The nouns of a ReAct run: messages, calls, results, replies, turns, and the state that hooks and guards are shown. Pure.

They are read as attributes or as mappings (`message.role`, ``message["role"]``, ``dict(message)``), since models and hooks are
written both ways; absent optional parts are left out of the mapping.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal, get_args

import attrs

from ..actions._valid import flag, one_of, optional_text, text
from ..ports import Usage

Role = Literal["system", "user", "assistant", "tool"]
ROLES: Final[tuple[Role, ...]] = get_args(Role)

NO_USAGE: Final = Usage(input_tokens=0, output_tokens=0)


class Record:
    """Gives a frozen class the look of a mapping. `_ALWAYS` are the keys that are there even when empty."""

    __slots__ = ()
    _ALWAYS: ClassVar[tuple[str, ...]] = ()
    _SOMETIMES: ClassVar[tuple[str, ...]] = ()

    def keys(self) -> tuple[str, ...]:
        return self._ALWAYS + tuple(key for key in self._SOMETIMES if getattr(self, key))

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __getitem__(self, key: str) -> Any:
        if key not in self.keys():
            raise KeyError(key)
        return getattr(self, key)

    def get(self, key: str, default: Any = None) -> Any:
        return getattr(self, key) if key in self.keys() else default

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, all the way down."""
        return {key: _plain(getattr(self, key)) for key in self.keys()}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, Usage):
        return attrs.asdict(value, filter=lambda _, part: part is not None)
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


@attrs.frozen(kw_only=True)
class ToolCall(Record):
    """A call of a tool. `arguments` is an object, already parsed; or, when the model wrote something else, that."""

    _ALWAYS = ("id", "name", "arguments")

    id: str = attrs.field(validator=text)
    name: str = attrs.field(validator=text)
    arguments: Any


@attrs.frozen(kw_only=True)
class ToolResult(Record):
    """What became of a call. `content` is what the model reads; `blocked`: refused by a guard or a hook, so never run."""

    _ALWAYS = ("tool_call_id", "content", "is_error")
    _SOMETIMES = ("blocked",)

    tool_call_id: str = attrs.field(default="", validator=text)
    content: Any = ""
    is_error: bool = attrs.field(default=False, validator=flag)
    blocked: bool = attrs.field(default=False, validator=flag)


def _calls(value: Any) -> tuple[ToolCall, ...]:
    return tuple(call if isinstance(call, ToolCall) else _call(call) for call in value or ())


def _call(value: object) -> ToolCall:
    if not isinstance(value, Mapping):
        raise TypeError(f"a tool call is a ToolCall or a mapping with id, name and arguments, not {type(value).__name__}")
    return ToolCall(**value)


@attrs.frozen(kw_only=True)
class Message(Record):
    """One message of the conversation. An assistant without text has the content ``""``."""

    _ALWAYS = ("role", "content")
    _SOMETIMES = ("tool_calls", "tool_call_id", "name")

    role: Role = attrs.field(validator=one_of(ROLES))
    content: str = attrs.field(default="", validator=text)
    tool_calls: tuple[ToolCall, ...] = attrs.field(default=(), converter=_calls)
    tool_call_id: str | None = attrs.field(default=None, validator=optional_text)
    name: str | None = attrs.field(default=None, validator=optional_text)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Message:
        """The message that a mapping of this shape stands for. Raises TypeError or ValueError, naming what is wrong."""
        unknown = set(value) - {"role", "content", "tool_calls", "tool_call_id", "name"}
        if unknown:
            raise ValueError(f"a message has role, content, tool_calls, tool_call_id and name, not {sorted(map(str, unknown))}")
        if "role" not in value:
            raise ValueError("a message needs a role")
        return cls(**{**value, "content": value.get("content") or ""})


@attrs.frozen(kw_only=True)
class ModelReply(Record):
    """What the model answered, with calls whose ids are usable. `model` is its name where it is known (for prices)."""

    _ALWAYS = ("text", "tool_calls")
    _SOMETIMES = ("usage", "model")

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    model: str | None = None


@attrs.frozen(kw_only=True)
class TurnRecord(Record):
    """One turn, for `on_turn_end` and `persist_turn`. `started` and `ended` are on Trio's clock, in seconds."""

    _ALWAYS = ("number", "text", "tool_calls", "results", "started", "ended")
    _SOMETIMES = ("usage",)

    number: int
    text: str | None
    tool_calls: tuple[ToolCall, ...]
    results: tuple[ToolResult, ...]
    usage: Usage | None
    started: float
    ended: float


@attrs.frozen(kw_only=True)
class ToolSpec(Record):
    """What the model sees of a tool."""

    _ALWAYS = ("name", "description", "parameters")

    name: str
    description: str
    parameters: Mapping[str, Any]


def added(total: Usage, more: Usage) -> Usage:
    """The sum; costs of two currencies cannot be added, so then the sum has none."""
    cost = total.cost or more.cost
    if total.cost is not None and more.cost is not None:
        same = total.cost.currency == more.cost.currency
        cost = attrs.evolve(total.cost, value=total.cost.value + more.cost.value) if same else None
    return Usage(
        input_tokens=total.input_tokens + more.input_tokens,
        output_tokens=total.output_tokens + more.output_tokens,
        cached_tokens=total.cached_tokens + more.cached_tokens,
        cost=cost,
    )


@attrs.define(kw_only=True)
class State:
    """One object per run, handed to hooks and guards.

    `messages` is the live conversation and may be edited in place; `turn` is 1 in the first turn; `registry` has ``get(name)`` and
    ``to_specs()``; `usage` is the sum of what was reported so far; `system` is the system prompt;
    `stop_tool_name` is the tool that ends the run.
    """

    messages: list[Message]
    turn: int = 0
    context: Any = None
    registry: Any = None
    usage: Usage = NO_USAGE
    system: str = ""
    stop_tool_name: str = "task_done"
