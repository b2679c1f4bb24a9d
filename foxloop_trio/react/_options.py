"""The options of one run, each with its check; what is wrong is named before anything begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs
from attrs.validators import optional

from ..guarding import Message, OnAsk
from ._errors import ReactOptionError
from ._hooks import Hooks
from ._reading import read_message
from ._result import AgentRunResult, StateHolder
from ._tools import ToolRegistry, ToolSpec


class Llm(Protocol):
    """Whatever answers. The reply is a mapping or an object with `text` and `tool_calls`, and may have `usage` and `model`."""

    async def complete(self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Any: ...


def must_be(what: str, holds: Callable[[Any], bool]) -> Any:
    """An attrs field whose value is `what`, which `holds` tells; everything else is refused in these words."""

    def check(_: object, option: attrs.Attribute[Any], value: object) -> None:
        if not holds(value):
            raise _wrong(option.name, what, value)

    return check


def _wrong(name: str, what: str, value: object) -> ReactOptionError:
    told = repr(value)[:80] if value is None or isinstance(value, str | int | float) else type(value).__name__
    return ReactOptionError(f"{name} must be {what}, not {told}")


def _whole(least: int) -> Any:
    return must_be(
        f"a whole number of {least} or more",
        lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least,
    )


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


_FLAG = must_be("True or False", lambda value: isinstance(value, bool))


def _several(name: str, what: str, value: Any) -> Iterable[Any]:
    if isinstance(value, str | Mapping | Message) or not isinstance(value, Iterable):
        raise _wrong(name, f"a sequence of {what}", value)
    return value


def _registry(tools: Any) -> ToolRegistry:
    return tools if isinstance(tools, ToolRegistry) else ToolRegistry(_several("tools", "tools, or a ToolRegistry", tools))


def _hooks(given: Any) -> Hooks:
    return Hooks.of(given)


def _guards(given: Any) -> tuple[Any, ...]:
    return tuple(_several("guards", "guards", given))


def _messages(name: str, given: Any) -> list[Message]:
    try:
        return [read_message(message) for message in _several(name, "messages", given)]
    except (TypeError, ValueError) as fault:
        raise ReactOptionError(f"{name}: {fault}") from fault


def _seed(given: Any) -> list[Message]:
    return _messages("initial_messages", given)


def _earlier(given: Any) -> AgentRunResult | None:
    if isinstance(given, Mapping):
        return AgentRunResult.from_json(given)
    if given is not None and not isinstance(given, AgentRunResult):
        raise _wrong("resume_from", "an AgentRunResult, or its to_json()", given)
    return given


@attrs.frozen(kw_only=True)
class Options:
    """See `run_react_loop`. Raises BadOptionsError (a ValueError too) that names the option that is wrong."""

    llm: Llm = attrs.field(
        validator=must_be("an object with an async method 'complete'", lambda llm: callable(getattr(llm, "complete", None)))
    )
    tools: ToolRegistry = attrs.field(converter=_registry)
    system: str = attrs.field(validator=must_be("text", lambda value: isinstance(value, str)))
    initial_messages: list[Message] = attrs.field(converter=_seed)
    hooks: Hooks = attrs.field(converter=_hooks)
    max_turns: int = attrs.field(validator=_whole(1))
    stop_tool_name: str = attrs.field(validator=must_be("a name", lambda value: isinstance(value, str) and bool(value.strip())))
    context: Any
    guards: tuple[Any, ...] = attrs.field(converter=_guards)
    on_ask: OnAsk | None = attrs.field(validator=optional(must_be("callable with call, reason and state", callable)))
    max_tool_calls_per_turn: int | None = attrs.field(validator=optional(_whole(0)))
    tool_timeout: float | None = attrs.field(validator=optional(must_be("a number of seconds above 0", _is_seconds)))
    parallel: bool = attrs.field(validator=_FLAG)
    llm_errors: int = attrs.field(validator=_whole(0))
    stop_on_text: bool = attrs.field(validator=_FLAG)
    max_result_chars: int = attrs.field(validator=_whole(1))
    resume_from: AgentRunResult | None = attrs.field(converter=_earlier)
    state_out: StateHolder | None = attrs.field(
        validator=optional(must_be("a StateHolder", lambda value: isinstance(value, StateHolder)))
    )

    def begin(self) -> AgentRunResult:
        """What the run starts from: the seed, after the run that it goes on from."""
        if self.resume_from is None:
            return AgentRunResult(stopped="", turns=0, messages=self.initial_messages)
        return attrs.evolve(
            self.resume_from, messages=[*_messages("resume_from", self.resume_from.messages), *self.initial_messages]
        )
