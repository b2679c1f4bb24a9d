"""Reading what comes from elsewhere: the model's reply, the host's messages, and what a request is said to have used. Pure.

A reply is as long as one of the loop may be, and arguments are plain JSON or words: nothing else gets into the conversation, so
that it can be sent to any model server, stored, and gone on from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import attrs

from ..actions import MAX_SAFE_INTEGER, Money, unchecked
from ..errors import PlannerError
from ..guarding import Message, ModelReply, ToolCall
from ..loop._repair import NOT_JSON, mended, read_arguments
from ..loop._reply import CALLS_LIMIT, REPLY_LIMIT, BadReplyError, PlainReader, new_id, usable_id
from ..ports import Usage
from . import _words

_reply: Callable[..., ModelReply] = unchecked(ModelReply)
_call: Callable[..., ToolCall] = unchecked(ToolCall)


def read_reply(raw: Any, turn: int, used: set[str]) -> ModelReply:
    """The reply as we know it: a mapping or an object with `text` and `tool_calls`, in our shape or that of chat completions.

    Ids that are empty, unusable or used before are replaced (R20); all are added to `used`. Arguments may be an object or its JSON
    text; of what is neither the text stays, for the model to be told of. Raises PlannerError for what is no reply, for one that was
    cut at its length limit, and for one longer than `REPLY_LIMIT` characters.
    """
    part = _parts(raw)
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
    if text is None and not calls and not (isinstance(raw, Mapping) or hasattr(raw, "text") or hasattr(raw, "tool_calls")):
        raise PlannerError(f"the model answered {type(raw).__name__}; a reply has text and tool_calls")
    room = PlainReader(REPLY_LIMIT)
    try:
        room.room -= len(text or "")
        read = tuple([_read_call(call, turn, index, used, room) for index, call in enumerate(calls)])
        if room.room < 0:
            _check_room(room)
    except BadReplyError as fault:
        raise PlannerError(str(fault)) from fault
    model, usage = part("model"), part("usage")
    return _reply(
        text=mended(text) if text is not None else None,
        tool_calls=read,
        usage=read_usage(usage) if usage is not None else None,
        model=model if isinstance(model, str) else None,
    )


def _parts(raw: Any) -> Callable[[str], Any]:
    """What looks up a part of a mapping, or of an object; None stands for one that is not there."""
    return raw.get if isinstance(raw, Mapping) else lambda name: getattr(raw, name, None)


def _check_room(room: PlainReader) -> None:
    if room.room < 0:
        raise BadReplyError(f"the reply has more than {REPLY_LIMIT} characters; nothing of it is used")


def _read_call(raw: Any, turn: int, index: int, used: set[str], room: PlainReader) -> ToolCall:
    part = _parts(raw)
    call_id, function = part("id"), part("function")
    if function is not None:  # the shape of chat completions
        part = _parts(function)
    name, arguments = part("name"), part("arguments")
    if type(call_id) is not str or call_id in used or usable_id(call_id) is None:
        call_id = new_id(turn, index, used)
    used.add(call_id)
    name = mended(name) if isinstance(name, str) else ""
    room.room -= len(name)
    return _call(id=call_id, name=name, arguments=_read_arguments(arguments, room))


def _read_arguments(given: Any, room: PlainReader) -> Any:
    """Arguments as they may stand in a conversation: an object of plain JSON, or words."""
    if isinstance(given, str):
        room.room -= len(given)
        if room.room < 0:
            _check_room(room)
        value, _ = read_arguments(given)
        return mended(given) if value is NOT_JSON else value
    if given is None:
        return {}
    try:
        return room.read(given, 0)
    except (TypeError, ValueError) as fault:
        return f"(no JSON: {fault})"[: _words.ERROR_LIMIT]


def read_usage(raw: Any) -> Usage | None:
    """What the reply says that it used; None when it says nothing, or nonsense: that must never lower a sum."""
    if raw is None:
        return None
    part = _parts(raw)
    counts = [part("input_tokens"), part("output_tokens"), 0 if part("cached_tokens") is None else part("cached_tokens")]
    if not all(type(count) is int and 0 <= count <= MAX_SAFE_INTEGER for count in counts):
        return None
    cost = part("cost")
    return Usage(
        input_tokens=counts[0], output_tokens=counts[1], cached_tokens=counts[2], cost=cost if isinstance(cost, Money) else None
    )


def read_message(given: object) -> Message:
    """The message that this is; of one from elsewhere, what no model server takes is mended or told in words, as in a reply.

    Raises TypeError or ValueError for what is none.
    """
    if isinstance(given, Message):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"messages: a message is a Message or a mapping with a role and content, not {type(given).__name__}")
    try:
        message = Message.from_json(given)
        calls = [
            ToolCall(id=call.id, name=mended(call.name), arguments=_read_arguments(call.arguments, PlainReader(REPLY_LIMIT)))
            for call in message.tool_calls
        ]
    except (TypeError, ValueError, BadReplyError) as fault:
        raise ValueError(f"messages: {fault}") from fault
    name = None if message.name is None else mended(message.name)
    return attrs.evolve(message, content=mended(message.content), tool_calls=calls, name=name)


def readable(messages: Iterable[object]) -> Iterator[Message]:
    """Those that are messages; a hook may have put in something else."""
    for given in messages:
        try:
            yield read_message(given)
        except (TypeError, ValueError):
            continue
