"""Reading a model's reply, in whichever shape it comes, into the nouns that guards and the ReAct facade share. Pure.

A reply is as long as one of the loop may be, and arguments are plain JSON or words: nothing else gets into a conversation, so that
it can be sent to any model server, stored, and gone on from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .. import prompt
from ..actions import MAX_SAFE_INTEGER, Money, unchecked
from ..errors import PlannerError
from ..guarding import ModelReply, ToolCall
from ..ports import Usage
from ._repair import NOT_JSON, mended, plain_arguments, read_arguments
from ._reply import CALLS_LIMIT, REPLY_LIMIT, BadReplyError, PlainReader, new_id, usable_id

_reply: Callable[..., ModelReply] = unchecked(ModelReply)
_call: Callable[..., ToolCall] = unchecked(ToolCall)


def read_model_reply(raw: Any, turn: int, used: set[str]) -> ModelReply:
    """The reply as we know it: a mapping or an object with `text` and `tool_calls`, in our shape or that of chat completions.

    Ids that are empty, unusable or used before are replaced; all are added to `used`. Arguments may be an object or its JSON text;
    of what is neither the text stays, for the model to be told of. Raises PlannerError for what is no reply, for one that was cut
    at its length limit, and for one longer than `REPLY_LIMIT` characters.
    """
    part = _parts(raw)
    text, calls = part("text"), part("tool_calls")
    if text is not None and not isinstance(text, str):
        raise PlannerError(f"the model's text is {type(text).__name__}, not text")
    if calls is None:
        calls = ()
    elif type(calls) is not list and not isinstance(calls, list | tuple):
        raise PlannerError(f"the model's tool_calls are {type(calls).__name__}, not a list")
    elif len(calls) > CALLS_LIMIT:
        raise PlannerError(f"the model made {len(calls)} calls at once; at most {CALLS_LIMIT} are read")
    if part("finish_reason") == "length":
        raise PlannerError('the reply was cut (finish_reason is "length"); nothing of it is used')
    if text is None and not calls and not (isinstance(raw, Mapping) or hasattr(raw, "text") or hasattr(raw, "tool_calls")):
        raise PlannerError(f"the model answered {type(raw).__name__}; a reply has text and tool_calls")
    room = PlainReader(REPLY_LIMIT)
    try:
        if text is not None:
            room.take(text)
        read = tuple([_read_call(call, turn, index, used, room) for index, call in enumerate(calls)])
    except BadReplyError as fault:
        raise PlannerError(str(fault)) from fault
    model, usage = part("model"), part("usage")
    return _reply(
        text=mended(text) if text is not None else None,
        tool_calls=read,
        usage=read_usage(usage) if usage is not None else None,
        model=model if isinstance(model, str) else None,
    )


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
    room.take(name)
    return _call(id=call_id, name=name, arguments=read_any_arguments(arguments, room))


def read_any_arguments(given: Any, room: PlainReader) -> Any:
    """Arguments as they may stand in a conversation: an object of plain JSON, or words."""
    if isinstance(given, str):
        room.take(given)
        if (plain := plain_arguments(given)) is not None:
            return plain  # as nearly all are
        value, _ = read_arguments(given)
        return mended(given) if value is NOT_JSON else value
    if given is None:
        return {}
    try:
        return room.read(given, 0)
    except (TypeError, ValueError) as fault:
        return f"(no JSON: {fault})"[: prompt.LIMITS["summary"]]


def read_usage(raw: Any) -> Usage | None:
    """What a reply says that it used; None when it says nothing, or nonsense: that must never lower a sum."""
    part = _parts(raw)
    cached, cost = part("cached_tokens"), part("cost")
    counts = {
        "input_tokens": part("input_tokens"),
        "output_tokens": part("output_tokens"),
        "cached_tokens": 0 if cached is None else cached,
    }
    if not all(type(count) is int and 0 <= count <= MAX_SAFE_INTEGER for count in counts.values()):
        return None
    return Usage(**counts, cost=cost if isinstance(cost, Money) else None)


def _parts(raw: Any) -> Callable[[str], Any]:
    """What looks up a part of a mapping, or of an object; None stands for one that is not there."""
    is_mapping = type(raw) is dict or isinstance(raw, Mapping)  # the first takes a tenth of the second's time
    return raw.get if is_mapping else lambda name: getattr(raw, name, None)
