"""The function planner: any async function as a planner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import trio

from ..errors import UsageError
from ..ports import ChatReply, Message

PlanFunction = Callable[[Sequence[Message], Sequence[Mapping[str, Any]]], Awaitable[ChatReply]]


class FunctionPlanner:
    """Asks a function for each reply. Made by `function_planner`."""

    def __init__(self, function: PlanFunction) -> None:
        if not callable(function):
            raise UsageError(
                f"function_planner: takes an async function (messages, tools) -> ChatReply, not {type(function).__name__}"
            )
        self._function = function

    async def chat(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = ()) -> ChatReply:
        """What the function returns; a checkpoint, also when the function is none. What the function raises goes to the caller."""
        await trio.lowlevel.checkpoint()
        return await self._function(messages, tools)


def function_planner(function: PlanFunction) -> FunctionPlanner:
    """A planner out of `async (messages, tools) -> ChatReply`. Raises UsageError for something that cannot be called."""
    return FunctionPlanner(function)
