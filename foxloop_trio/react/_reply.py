"""Reading what a model answered: a mapping or an object with `text` and `tool_calls`, and calls whose ids can stand (R20). Pure.

A reply is as long as one of the loop may be, and its arguments are plain JSON or words: nothing else gets into the conversation, so
that it can be sent to any model server, stored, and gone on from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..actions import MAX_SAFE_INTEGER, Money, unchecked
from ..errors import PlannerError
from ..guarding import Message, ModelReply, ToolCall
from ..loop._repair import NOT_JSON, mended, read_arguments
from ..loop._reply import CALLS_LIMIT, REPLY_LIMIT, BadReplyError, PlainReader, new_id, usable_id
from ..ports import Usage
from . import _words

_reply: Callable[..., ModelReply] = unchecked(ModelReply)
_call: Callable[..., ToolCall] = unchecked(ToolCall)
_message: Callable[..., Message] = unchecked(Message)


def read_reply(raw: Any, turn: int, used: set[str]) -> ModelReply:
    """The reply as we know it. Ids that are empty, unusable or used before are replaced; all are added to `used`.

    Arguments may be an object or its JSON text; of what is neither the text stays, for the model to be told of. Raises PlannerError
    for what is no reply, for one that was cut at its length limit, and for one longer than `REPLY_LIMIT` characters.
    """
    part = raw.get if isinstance(raw, dict) else partial(_part, raw)
    text, calls = part("text"), part("tool_calls")
    if text is not None and not isinstance(text, str):
        raise PlannerError(f"the model's text is {type(text).__name__}, not text")
    if calls is None:
        calls = ()
    elif not isinstance(calls, list | tuple):
        raise PlannerError(f"the model's tool_calls are {type(calls).__name__}, not a list")
    elif len(calls) > CALLS_LIMIT:
        raise PlannerError(f"the model made {len(calls)} calls at once; at most {CALLS_LIMIT} are read")
    if part("finish_reason") == "length":
        raise PlannerError('the reply was cut (finish_reason is "length"); nothing of it is used')
    if text is None and not calls and not _is_reply(raw):
        raise PlannerError(f"the model answered {type(raw).__name__}; a reply has text and tool_calls")
    room = Room()
    if text is not None:
        room.take(len(text))
        text = mended(text)
    read = tuple([_read_call(call, turn, index, used, room) for index, call in enumerate(calls)])
    model, usage = part("model"), part("usage")
    return _reply(
        text=text,
        tool_calls=read,
        usage=read_usage(usage) if usage is not None else None,
        model=model if isinstance(model, str) else None,
    )


def _is_reply(raw: Any) -> bool:
    """A mapping, or an object that could have had something to say."""
    return isinstance(raw, Mapping) or hasattr(raw, "text") or hasattr(raw, "tool_calls")


def _part(raw: Any, name: str) -> Any:
    return raw.get(name) if type(raw) is dict or isinstance(raw, Mapping) else getattr(raw, name, None)


class Room:
    """How many characters of a reply may still be read. Raises PlannerError when there is no room."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = REPLY_LIMIT

    def take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise PlannerError(f"the reply has more than {REPLY_LIMIT} characters; nothing of it is used")


def _read_call(raw: Any, turn: int, index: int, used: set[str], room: Room) -> ToolCall:
    if type(raw) is dict and "function" not in raw:  # the plain case, at once
        call_id, name, arguments = raw.get("id"), raw.get("name"), raw.get("arguments")
    else:
        function = _part(raw, "function")
        if function is None:
            function = raw  # the other is the shape of chat completions
        call_id, name, arguments = _part(raw, "id"), _part(function, "name"), _part(function, "arguments")
    if type(call_id) is not str or call_id in used or usable_id(call_id) is None:
        call_id = new_id(turn, index, used)
    used.add(call_id)
    name = mended(name) if isinstance(name, str) else ""
    room.take(len(name))
    return _call(id=call_id, name=name, arguments=plain_arguments(arguments, room))


def plain_arguments(given: Any, room: Room) -> Any:
    """Arguments as they may stand in a conversation: an object of plain JSON, or words."""
    if isinstance(given, str):
        room.take(len(given))
        value, _ = read_arguments(given)
        return mended(given) if value is NOT_JSON else value
    if given is None:
        return {}
    plain = PlainReader(room.left)
    try:
        value = plain.read(given, 0)
    except (TypeError, ValueError) as fault:
        return _words.no_json(fault)
    except BadReplyError:
        plain.room = -1
    room.take(room.left - plain.room)
    return value


def message_of(reply: ModelReply) -> Message:
    """The reply as a message of the conversation."""
    return _message(role="assistant", content=reply.text or "", tool_calls=reply.tool_calls)


def read_usage(raw: Any) -> Usage | None:
    """What the reply says that it used; None when it says nothing, or nonsense: that must never lower a sum."""
    if raw is None:
        return None
    counts = [_part(raw, name) for name in ("input_tokens", "output_tokens", "cached_tokens")]
    if counts[2] is None:
        counts[2] = 0
    if not all(type(count) is int and 0 <= count <= MAX_SAFE_INTEGER for count in counts):
        return None
    cost = _part(raw, "cost")
    return Usage(
        input_tokens=counts[0], output_tokens=counts[1], cached_tokens=counts[2], cost=cost if isinstance(cost, Money) else None
    )
