"""The scripted llm: replies that were written beforehand, for tests of whatever is built on `foxloop_trio.react`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import attrs
import trio

from ..errors import PlannerError, UsageError


@attrs.frozen(kw_only=True)
class LlmRequest:
    """One request that the scripted llm got."""

    system: str
    messages: list[Any]
    tools: list[Any]


class ScriptedLlm:
    """Gives one reply after the other. Made by `scripted_llm`; `seen` holds the requests."""

    def __init__(self, steps: Iterable[Any]) -> None:
        if isinstance(steps, str | Mapping) or not isinstance(steps, Iterable):
            raise UsageError(f"scripted_llm: takes a list of steps, not {type(steps).__name__}")
        self._steps = [_checked(step, f"steps[{index}]") for index, step in enumerate(steps)]
        self._calls_made = 0
        self.seen: list[LlmRequest] = []

    async def complete(self, *, system: str, messages: Sequence[Any], tools: Sequence[Any]) -> Any:
        """The next reply; a checkpoint. Raises PlannerError when none is left, and whatever exception a step is."""
        await trio.lowlevel.checkpoint()
        turn = len(self.seen)
        self.seen.append(LlmRequest(system=system, messages=list(messages), tools=list(tools)))
        if turn >= len(self._steps):
            raise PlannerError(f"the scripted llm has {len(self._steps)} steps and was asked for one more")
        step = self._steps[turn]
        if isinstance(step, BaseException):
            raise step
        if callable(step):
            made = step(self.seen[-1])
            step = _checked(await made if inspect.isawaitable(made) else made, f"the value of steps[{turn}]")
        return self._reply(step)

    def _reply(self, step: Any) -> Any:
        if isinstance(step, str):
            return {"text": step, "tool_calls": []}
        if not isinstance(step, Mapping):
            return step
        calls = [self._call(call) for call in step.get("calls") or ()]
        return {"tool_calls": calls, **{key: value for key, value in step.items() if key != "calls"}}

    def _call(self, call: tuple[str, Any] | Mapping[str, Any]) -> dict[str, Any]:
        self._calls_made += 1
        if isinstance(call, Mapping):
            arguments = call.get("arguments", call.get("args", {}))
            return {"id": call.get("id", f"call_{self._calls_made}"), "name": call["name"], "arguments": arguments}
        return {"id": f"call_{self._calls_made}", "name": call[0], "arguments": call[1]}


def scripted_llm(steps: Iterable[str | Mapping[str, Any] | BaseException | Callable[[LlmRequest], Any]]) -> ScriptedLlm:
    """An llm that answers its first request with the first step, and so on.

    A step is a text; a mapping with `text`, `calls` (each ``(name, arguments)``, or a mapping with `name`, `arguments` and perhaps
    `id`), `usage`, or with `tool_calls` as they are to be returned; an exception, which is raised; or a function, sync or async, of
    the request (`system`, `messages`, `tools`) that returns one of the first two. Ids are ``call_1``, ``call_2``, … over the
    llm's life. Raises UsageError for anything else.
    """
    return ScriptedLlm(steps)


def _checked(step: Any, where: str) -> Any:
    if isinstance(step, Mapping):
        unknown = [str(key) for key in step if key not in ("text", "calls", "tool_calls", "usage", "model", "finish_reason")]
        if unknown:
            raise UsageError(f"{where}: {', '.join(unknown)} is not known")
        for index, call in enumerate(step.get("calls") or ()):
            named = isinstance(call, Mapping) and "name" in call
            if not named and not (isinstance(call, tuple) and len(call) == 2):
                raise UsageError(f"{where}: calls[{index}] must be (name, arguments), or a mapping with a name")
        return step
    if not isinstance(step, str | BaseException) and not callable(step):
        raise UsageError(f"{where}: a step is text, a mapping, an exception or a function, not {type(step).__name__}")
    return step
