"""Reading a planner's reply: is it a reply at all, what does it call, and are the arguments JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import attrs

from ..canonical import canonical_json
from ..errors import NotJsonError
from ..events import PlannedCall
from ..ports import ChatReply

REPLY_LIMIT: Final = 131_072
"""Characters of a reply, its text and calls together. A trail entry holds 1 MiB, and one character takes up to six bytes."""


class BadReplyError(Exception):
    """The reply has a wrong shape; the message says where."""


@attrs.frozen
class ReadReply:
    text: str | None
    calls: tuple[PlannedCall, ...]
    message: dict[str, Any]
    """Our own copy, for the history: content as given, `tool_calls` only when there are some."""


def read_reply(reply: object) -> ReadReply:
    """Check the shape of a reply and take what we need from it.

    Raises BadReplyError, naming the part that is wrong, for anything that is no chat-completions reply, or is larger than a record
    of it could be.
    """
    try:
        read = _read(reply)
    except BadReplyError:
        raise
    except Exception as fault:
        raise BadReplyError(f"reading the reply raised {type(fault).__name__}") from fault
    size = len(read.text or "") + sum(len(call.id) + len(call.name) + len(call.args) for call in read.calls)
    if size > REPLY_LIMIT:
        raise BadReplyError(f"the reply has {size} characters; at most {REPLY_LIMIT} are read")
    return read


def _read(reply: object) -> ReadReply:
    if not isinstance(reply, ChatReply):
        raise BadReplyError(f"the planner returned {type(reply).__name__}, not a ChatReply")
    message = reply.message
    if not isinstance(message, Mapping):
        raise BadReplyError(f"message is {type(message).__name__}, not a mapping")
    content = message.get("content")
    if content is not None and not isinstance(content, str):
        raise BadReplyError(f"message.content is {type(content).__name__}, not text or None")
    for name in ("provider", "tier"):
        value = getattr(reply, name)
        if value is not None and not isinstance(value, str):
            raise BadReplyError(f"{name} is {type(value).__name__}, not text or None")
    raw_calls = message.get("tool_calls")
    if raw_calls is None:
        raw_calls = ()
    if not isinstance(raw_calls, list | tuple):
        raise BadReplyError(f"message.tool_calls is {type(raw_calls).__name__}, not a list")
    calls = tuple(_read_call(index, call) for index, call in enumerate(raw_calls))
    kept: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        kept["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args}} for call in calls
        ]
    return ReadReply(text=content, calls=calls, message=kept)


def _read_call(index: int, call: object) -> PlannedCall:
    where = f"message.tool_calls[{index}]"
    if not isinstance(call, Mapping):
        raise BadReplyError(f"{where} is {type(call).__name__}, not a mapping")
    function = call.get("function")
    if not isinstance(function, Mapping):
        raise BadReplyError(f"{where}.function is {type(function).__name__}, not a mapping")
    fields = {"id": call.get("id"), "function.name": function.get("name"), "function.arguments": function.get("arguments")}
    for name, value in fields.items():
        if not isinstance(value, str):
            raise BadReplyError(f"{where}.{name} is {type(value).__name__}, not text")
    return PlannedCall(id=call["id"], name=function["name"], args=function["arguments"])


class NotJson:
    """Marks arguments that are not strict JSON."""


NOT_JSON: Final = NotJson()

ARGUMENT_DEPTH: Final = 32
"""The gate refuses an action that is nested deeper (gate specification, section 3)."""


def parse_arguments(raw: str) -> Any:
    """The arguments as a value, or NOT_JSON. NaN and infinities are refused, and so is nesting that Python cannot read."""
    try:
        return json.loads(raw, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return NOT_JSON


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Parsers disagree on which of two equal keys counts, so an object with a repeated key is no JSON here, as in the trail."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a repeated key")
    return found


def argument_text(args: Any) -> str | None:
    """The canonical JSON of parsed arguments; None when they have none, or are nested deeper than any action may be.

    What has no canonical JSON (NOT_JSON, an integer that other JSON readers would change) could not be put on record as a value.
    """
    try:
        return canonical_json(args, max_depth=ARGUMENT_DEPTH)
    except NotJsonError:
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def contains_text(value: Any, raw: str, needle: str) -> bool:
    """Whether `needle` occurs, in any case, in the raw text or in any string or key of the parsed value, at any depth."""
    needle = needle.casefold()
    if needle in raw.casefold():
        return True
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            if needle in item.casefold():
                return True
        elif isinstance(item, Mapping):
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
    return False
