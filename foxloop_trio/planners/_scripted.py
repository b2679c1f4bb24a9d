"""The scripted planner: replies that were written beforehand, one per request. For tests, demos and replays of known runs."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import trio

from ..errors import PlannerError, UsageError
from ..ports import ChatReply, Message, Usage

Description = Mapping[str, Any]
"""``{"text"?: str, "calls"?: [{"name": str, "args": object or raw text}]}``."""

Reply = Description | Callable[[list[Message]], Description | Awaitable[Description]]

_REPLY_KEYS: Final = frozenset({"text", "calls"})
_CALL_KEYS: Final = frozenset({"name", "args"})


class ScriptedPlanner:
    """Gives one reply after the other. Made by `scripted_planner`.

    `seen` holds, for each request, the messages it came with. They are the request's own message objects, not copies, so a long run
    costs one reference per message and request.
    """

    def __init__(self, replies: Iterable[Reply]) -> None:
        if isinstance(replies, str | Mapping) or not isinstance(replies, Iterable):
            raise UsageError(f"scripted_planner: takes a list of replies, not {type(replies).__name__}")
        self._replies = list(replies)
        for index, reply in enumerate(self._replies):
            if not callable(reply):
                _validate(reply, f"replies[{index}]")
        self._calls_made = 0
        self.seen: list[list[Message]] = []

    async def chat(self, messages: Sequence[Message], *, tools: Sequence[Mapping[str, Any]] = ()) -> ChatReply:
        """The next reply; a checkpoint. Raises PlannerError when none is left, UsageError when a callable returns no reply."""
        await trio.lowlevel.checkpoint()
        turn = len(self.seen)
        self.seen.append(list(messages))
        if turn >= len(self._replies):
            count = len(self._replies)
            raise PlannerError(f"the scripted planner has {count} repl{'y' if count == 1 else 'ies'} and was asked for one more")
        reply = self._replies[turn]
        if callable(reply):
            made = reply(list(messages))
            reply = await made if inspect.isawaitable(made) else made
            _validate(reply, f"the value of replies[{turn}]")
        return self._chat_reply(reply)

    def _chat_reply(self, reply: Description) -> ChatReply:
        message: dict[str, Any] = {"role": "assistant", "content": reply.get("text")}
        calls = [self._tool_call(call) for call in reply.get("calls") or ()]
        if calls:
            message["tool_calls"] = calls
        return ChatReply(message=message, usage=Usage(input_tokens=0, output_tokens=0), provider="scripted")

    def _tool_call(self, call: Mapping[str, Any]) -> dict[str, Any]:
        self._calls_made += 1
        args = call.get("args", {})
        text = args if isinstance(args, str) else json.dumps(args, separators=(",", ":"), ensure_ascii=False)
        return {"id": f"call_{self._calls_made}", "type": "function", "function": {"name": call["name"], "arguments": text}}


def scripted_planner(replies: Iterable[Reply]) -> ScriptedPlanner:
    """A planner that answers its first request with the first reply, and so on.

    Each reply is a dict with optional `text` and `calls`, or a callable, sync or async, that gets the messages and returns such a
    dict. A call has `name` and `args`: an object (sent as compact JSON) or a string (sent as it is). Call ids are
    ``call_1``, ``call_2``, … over the planner's life. Usage is zero, provider is ``scripted``. Raises UsageError for
    anything else.
    """
    return ScriptedPlanner(replies)


def _validate(reply: object, where: str) -> None:
    if not isinstance(reply, Mapping):
        raise UsageError(
            f"{where}: a reply is a dict with text and calls, or a function that returns one, not {type(reply).__name__}"
        )
    _refuse_unknown(reply, _REPLY_KEYS, where)
    text = reply.get("text")
    if text is not None and not isinstance(text, str):
        raise UsageError(f"{where}: text must be a string or None, not {type(text).__name__}")
    calls = reply.get("calls")
    if calls is not None and not isinstance(calls, (list, tuple)):
        raise UsageError(f"{where}: calls must be a list, not {type(calls).__name__}")
    for index, call in enumerate(calls or ()):
        if not isinstance(call, Mapping) or not isinstance(call.get("name"), str):
            raise UsageError(f"{where}: calls[{index}] must be a dict with a name, and args")
        _refuse_unknown(call, _CALL_KEYS, f"{where}: calls[{index}]")
        if not isinstance(call.get("args", ""), str):
            _need_json(call["args"], f"{where}: calls[{index}]")


def _need_json(args: object, where: str) -> None:
    try:
        json.dumps(args, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as fault:
        raise UsageError(f"{where}: args must be JSON or a text that is sent as it is: {fault}") from None


def _refuse_unknown(given: Mapping[Any, Any], known: frozenset[str], where: str) -> None:
    unknown = [str(key) for key in given if key not in known]
    if unknown:
        raise UsageError(f"{where}: {', '.join(unknown)} is not known; known are {', '.join(sorted(known))}")
