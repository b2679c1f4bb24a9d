"""Any planner of `foxloop_trio.planners` as an `llm`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...actions._valid import require_method
from ...errors import PlannerError
from ...guarding import Message, ModelReply
from ...guarding._nouns import ToolSpec
from ...loop._calls import as_guarded
from ...loop._repair import compact_json
from ...loop._reply import BadReplyError, read_reply
from ...ports import Planner


class PlannerLlm:
    """Made by `planner_as_llm`. It keeps the messages that it has translated, so a long run is not translated anew at each turn."""

    def __init__(self, planner: Planner) -> None:
        require_method("planner", planner, "chat")
        self._planner = planner
        self._known: list[Message] = []
        self._chat: list[dict[str, Any]] = []
        self._turn = 0

    async def complete(self, *, system: str, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> ModelReply:
        """One request. Raises PlannerError for a reply that cannot be read, and whatever the planner raises."""
        self._turn += 1
        chat = [{"role": "system", "content": system}, *self._translated(messages)]
        definitions = [{"type": "function", "function": spec.to_json()} for spec in tools]
        reply = await self._planner.chat(chat, tools=definitions)
        try:
            read = read_reply(reply, step=self._turn, names=[spec.name for spec in tools])
        except BadReplyError as fault:
            raise PlannerError(str(fault)) from fault
        return ModelReply(
            text=read.text,
            tool_calls=tuple(as_guarded(call) for call in read.calls),
            usage=reply.usage,
            model=reply.provider,
        )

    def _translated(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """As long as the conversation has only grown, only what is new is translated; comparing the rest compares identities."""
        known = len(self._known)
        if list(messages[:known]) != self._known:
            known, self._known, self._chat = 0, [], []
        self._known += messages[known:]
        self._chat += [_chat_message(message) for message in messages[known:]]
        return list(self._chat)


def planner_as_llm(planner: Planner) -> PlannerLlm:
    """The planner as an `llm` for `run_react_loop`: arguments parsed (with the loop's listed repairs), usage passed on.

    `model` of its replies is the planner's `provider`. Raises ValueError for what is no planner.
    """
    return PlannerLlm(planner)


llm_from_planner = planner_as_llm
"""The same under the name that the specification of the facade gives it."""


def _chat_message(message: Message) -> dict[str, Any]:
    chat: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        chat["content"] = message.content or None
        chat["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name or "unknown", "arguments": _as_text(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        chat["tool_call_id"] = message.tool_call_id
    return chat


def _as_text(arguments: Any) -> str:
    """As JSON text; ``{}`` stands for what is none, since servers refuse a history with anything else."""
    try:
        return compact_json(arguments) if isinstance(arguments, dict) else "{}"
    except (TypeError, ValueError):
        return "{}"
