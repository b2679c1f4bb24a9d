"""The options of one run, checked before anything begins."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs

from ..guarding import Message, OnAsk
from ._conversation import read_message
from ._errors import ReactOptionError
from ._hooks import Hooks
from ._result import AgentRunResult, StateHolder
from ._tools import RunRegistry, ToolRegistry, ToolSpec


class Llm(Protocol):
    """Whatever answers. The reply is a mapping or an object with `text` and `tool_calls`, and may have `usage` and `model`."""

    async def complete(self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Any: ...


@attrs.define(kw_only=True)
class Options:
    """See `run_react_loop`."""

    llm: Llm
    registry: RunRegistry
    system: str
    first: AgentRunResult
    """What the run starts from: the seed, or the run that it goes on from."""
    hooks: Hooks
    max_turns: int
    stop_tool_name: str
    context: Any
    guards: tuple[Any, ...]
    on_ask: OnAsk | None
    max_tool_calls_per_turn: float
    tool_timeout: float
    parallel: bool
    llm_errors: int
    stop_on_text: bool
    max_result_chars: int
    state_out: StateHolder | None


def checked(
    *,
    llm: Any,
    tools: Any,
    system: Any,
    initial_messages: Any,
    hooks: Any,
    max_turns: Any,
    stop_tool_name: Any,
    context: Any,
    guards: Any,
    on_ask: Any,
    max_tool_calls_per_turn: Any,
    tool_timeout: Any,
    parallel: Any,
    llm_errors: Any,
    stop_on_text: Any,
    max_result_chars: Any,
    resume_from: Any,
    state_out: Any,
) -> Options:
    """The options, or BadOptionsError (a ValueError too) that names the one that is wrong."""
    if not callable(getattr(llm, "complete", None)):
        raise ReactOptionError(f"llm must have an async method 'complete'; {type(llm).__name__} has none")
    if not isinstance(system, str):
        raise ReactOptionError(f"system must be text, not {type(system).__name__}")
    if not isinstance(stop_tool_name, str) or not stop_tool_name.strip():
        raise ReactOptionError(f"stop_tool_name must be a name, not {stop_tool_name!r}")
    if on_ask is not None and not callable(on_ask):
        raise ReactOptionError(f"on_ask must be callable with call, reason and state, not {type(on_ask).__name__}")
    if state_out is not None and not isinstance(state_out, StateHolder):
        raise ReactOptionError(f"state_out must be a StateHolder, not {type(state_out).__name__}")
    if isinstance(guards, str) or not isinstance(guards, Iterable):
        raise ReactOptionError(f"guards must be a sequence of guards, not {type(guards).__name__}")
    return Options(
        llm=llm,
        registry=RunRegistry(_registry(tools), stop_tool_name),
        system=system,
        first=_first(initial_messages, resume_from),
        hooks=Hooks.of(hooks),
        max_turns=_whole("max_turns", max_turns, 1),
        stop_tool_name=stop_tool_name,
        context=context,
        guards=tuple(guards),
        on_ask=on_ask,
        max_tool_calls_per_turn=(
            math.inf if max_tool_calls_per_turn is None else _whole("max_tool_calls_per_turn", max_tool_calls_per_turn, 0)
        ),
        tool_timeout=_seconds("tool_timeout", tool_timeout),
        parallel=_flag("parallel", parallel),
        llm_errors=_whole("llm_errors", llm_errors, 0),
        stop_on_text=_flag("stop_on_text", stop_on_text),
        max_result_chars=_whole("max_result_chars", max_result_chars, 1),
        state_out=state_out,
    )


def _registry(tools: Any) -> ToolRegistry:
    if isinstance(tools, ToolRegistry):
        return tools
    if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
        raise ReactOptionError(f"tools must be a sequence of tools, or a ToolRegistry, not {type(tools).__name__}")
    return ToolRegistry(tools)


def _first(initial: Any, resume_from: Any) -> AgentRunResult:
    if isinstance(initial, str | Mapping | Message) or not isinstance(initial, Iterable):
        raise ReactOptionError(f"initial_messages must be a sequence of messages, not {type(initial).__name__}")
    try:
        seed = [read_message(message) for message in initial]
    except (TypeError, ValueError) as fault:
        raise ReactOptionError(f"initial_messages: {fault}") from fault
    if resume_from is None:
        return AgentRunResult(stopped="", turns=0, messages=seed)
    if isinstance(resume_from, Mapping):
        resume_from = AgentRunResult.from_json(resume_from)
    if not isinstance(resume_from, AgentRunResult):
        raise ReactOptionError(f"resume_from must be an AgentRunResult, or its to_json(), not {type(resume_from).__name__}")
    try:
        return attrs.evolve(resume_from, messages=[*map(read_message, resume_from.messages), *seed])
    except (TypeError, ValueError) as fault:
        raise ReactOptionError(f"resume_from: {fault}") from fault


def _whole(name: str, value: object, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ReactOptionError(f"{name} must be a whole number of {least} or more, not {value!r}")
    return value


def _seconds(name: str, value: object) -> float:
    if value is None:
        return math.inf
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise ReactOptionError(f"{name} must be a number of seconds above 0, not {value!r}")
    return float(min(value, 1e9))


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ReactOptionError(f"{name} must be True or False, not {value!r}")
    return value
