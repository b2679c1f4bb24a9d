"""The options of one run, each with its check; what is wrong is named before anything begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs
from attrs.validators import optional

from ..actions._valid import flag_option, has_method, must_be, seconds_above_0, whole_from
from ..errors import BadOptionsError
from ..guarding import Message, OnAsk
from ..guarding._nouns import ToolSpec
from ..loop._conversation import read_message
from ._result import AgentRunResult, StateHolder
from ._tools import ToolRegistry


class Llm(Protocol):
    """Whatever answers. The reply is a mapping or an object with `text` and `tool_calls`, and may have `usage` and `model`."""

    async def complete(self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Any: ...


def _is_several(given: object) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | Mapping)


def _is_earlier(given: object) -> bool:
    return given is None or isinstance(given, AgentRunResult | Mapping)


@attrs.frozen(kw_only=True)
class Options:
    """See `run_react_loop`. Raises BadOptionsError that names the option that is wrong."""

    llm: Llm = attrs.field(validator=has_method("complete"))
    tools: Iterable[Any] | ToolRegistry = attrs.field(validator=must_be("a sequence of tools, or a ToolRegistry", _is_several))
    system: str = attrs.field(validator=must_be("text", lambda value: isinstance(value, str)))
    initial_messages: Iterable[Any] = attrs.field(validator=must_be("a sequence of messages", _is_several))
    hooks: Any
    max_turns: int = attrs.field(validator=whole_from(1))
    stop_tool_name: str = attrs.field(validator=must_be("a name", lambda value: isinstance(value, str) and bool(value.strip())))
    context: Any
    guards: Sequence[Any]
    on_ask: OnAsk | None = attrs.field(validator=optional(must_be("callable with call, reason and state", callable)))
    max_tool_calls_per_turn: int | None = attrs.field(validator=optional(whole_from(0)))
    tool_timeout: float | None = attrs.field(validator=optional(seconds_above_0))
    parallel: bool = attrs.field(validator=flag_option)
    llm_errors: int = attrs.field(validator=whole_from(0))
    stop_on_text: bool = attrs.field(validator=flag_option)
    max_result_chars: int = attrs.field(validator=whole_from(1))
    resume_from: Any = attrs.field(validator=must_be("an AgentRunResult, or its to_json()", _is_earlier))
    state_out: StateHolder | None = attrs.field(
        validator=optional(must_be("a StateHolder", lambda value: isinstance(value, StateHolder)))
    )

    def begin(self) -> AgentRunResult:
        """What the run starts from: the seed, after the run that it goes on from."""
        earlier = AgentRunResult.from_json(self.resume_from) if isinstance(self.resume_from, Mapping) else self.resume_from
        seed = _messages("initial_messages", self.initial_messages)
        if earlier is None:
            return AgentRunResult(stopped="", turns=0, messages=seed)
        return attrs.evolve(earlier, messages=_messages("resume_from", earlier.messages) + seed)


def _messages(name: str, given: Iterable[Any]) -> list[Message]:
    try:
        return [read_message(message) for message in given]
    except (TypeError, ValueError) as fault:
        raise BadOptionsError(f"{name}: {fault}") from fault
