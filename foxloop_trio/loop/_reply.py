"""Reading a planner's reply: is it a reply at all, what does it call, with which arguments, and what the history keeps. Pure.

The reply comes from outside and may be anything. What can be read in one way only is read, and what that took is named (`REPAIRS`);
what cannot is a `BadReplyError` that names the part. All that leaves here is text without lone surrogates and JSON of our own.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from ..actions import MAX_SAFE_INTEGER, unchecked
from ..events import PlannedCall
from ..ports import ChatReply
from ._call import ARGUMENT_DEPTH, Call
from ._frozen import FrozenDict, FrozenList
from ._repair import (
    NOT_JSON,
    READ_DEPTH,
    REPAIRS,
    NotJson,
    compact_json,
    mended,
    parse_arguments,
    plain_arguments,
    read_arguments,
)

__all__ = [
    "ARGUMENT_DEPTH",
    "CALLS_LIMIT",
    "HISTORY_CALLS",
    "NOT_JSON",
    "REPAIRS",
    "REPLY_LIMIT",
    "BadReplyError",
    "NotJson",
    "ReadReply",
    "contains_text",
    "parse_arguments",
    "read_reply",
]

REPLY_LIMIT: Final = 131_072
"""Characters of a reply, its text and calls together. A trail entry holds 1 MiB, and one character takes up to six bytes."""

CALLS_LIMIT: Final = 2048
"""Calls of one reply, and parts of its content, that are read: about what fits into `REPLY_LIMIT` when each is written out."""

HISTORY_CALLS: Final = 128
"""Calls of one reply that the history keeps: providers refuse requests with more results than that to one message."""

UNKNOWN: Final = "unknown"
"""What the history calls a tool whose name no server would take."""


TEXT_OR_NONE: Final = frozenset({str, type(None)})


class BadReplyError(Exception):
    """The reply has a wrong shape; the message says where."""


@attrs.define
class ReadReply:
    """What a reply says."""

    text: str | None
    calls: Sequence[Call]
    message: FrozenDict
    """For the history: role, content, and `tool_calls` when there are some, all of which any server takes."""
    repairs: tuple[str, ...]
    kept: int
    """How many of the calls, from the first on, are in `message`."""


def read_reply(reply: object, *, step: int, names: Container[str], used: set[str] | None = None) -> ReadReply:
    """Check the shape of a reply and take what we need from it.

    `names` are the names that can be called, `finish` included; a name that differs from one of them in case only is repaired when
    they can be iterated over. `step` is used in the ids that replace unusable ones; `used` are the ids of the run's earlier ones;
    those of this one are added, so that no id stands for two calls.

    Raises BadReplyError, naming the part that is wrong, for anything that is no chat-completions reply, was cut at the length
    limit, or is larger than a record of it could be.
    """
    if used is None:
        used = set()
    try:
        return _read_plain(reply, names, used) or _read(reply, step, names, used)
    except BadReplyError:
        raise
    except Exception as fault:
        raise BadReplyError(f"reading the reply raised {type(fault).__name__}") from fault


def _read_plain(reply: object, names: Container[str], used: set[str]) -> ReadReply | None:
    """What `_read` makes of a reply in which all is as servers write it: plain types, known names, new ids, ASCII, nothing to mend.

    None says nothing. (`_read` needs several times as long to tell what is wrong with a reply when something is.)
    """
    if type(reply) is not ChatReply or type(message := reply.message) is not dict or reply.finish_reason == "length":
        return None
    raw_calls = message.get("tool_calls")
    if message.get("content") is not None or type(raw_calls) is not list or not 0 < len(raw_calls) <= HISTORY_CALLS:
        return None
    if type(reply.provider) not in TEXT_OR_NONE or type(reply.tier) not in TEXT_OR_NONE:
        return None
    calls: list[Call] = []
    kept: dict[str, FrozenDict] = {}
    """By their ids."""
    size = 0
    for call in raw_calls:
        if type(call) is not dict or type(function := call.get("function")) is not dict:
            return None
        try:
            call_id, name, raw = call["id"], function["name"], function["arguments"]
        except KeyError:
            return None
        if not (type(call_id) is type(name) is type(raw) is str) or name not in names:
            return None
        if call_id in used or call_id in kept or call_id == "first_read" or usable_id(call_id) is None:
            return None
        value = plain_arguments(raw)
        size += len(call_id) + len(name) + len(raw)
        if value is None or size > REPLY_LIMIT:
            return None
        calls.append(_call(_planned(id=call_id, name=name, args=raw), value, value, True))
        kept[call_id] = FrozenDict(id=call_id, type="function", function=FrozenDict(name=name, arguments=raw))
    used.update(kept)
    message = FrozenDict(role="assistant", content=None, tool_calls=FrozenList(kept.values()))
    return _read_reply(None, calls, message, (), len(kept))


def _read(reply: object, step: int, names: Container[str], used: set[str]) -> ReadReply:
    if not isinstance(reply, ChatReply):
        raise BadReplyError(f"the planner returned {type(reply).__name__}, not a ChatReply")
    message = reply.message
    if type(message) is not dict and not isinstance(message, Mapping):
        raise BadReplyError(f"message is {type(message).__name__}, not a mapping")
    if reply.provider is not None and not isinstance(reply.provider, str):
        raise BadReplyError(f"provider is {type(reply.provider).__name__}, not text or None")
    if reply.tier is not None and not isinstance(reply.tier, str):
        raise BadReplyError(f"tier is {type(reply.tier).__name__}, not text or None")
    if reply.finish_reason == "length":
        raise BadReplyError('the reply was cut (finish_reason is "length"); nothing of it is used')
    repairs: list[str] = []
    content = message.get("content")
    if content is not None:
        content = _read_content(content, repairs)
    raw_calls = message.get("tool_calls")
    if not raw_calls:
        if raw_calls is not None and not isinstance(raw_calls, list | tuple):
            raise BadReplyError(f"message.tool_calls is {type(raw_calls).__name__}, not a list")
        return ReadReply(content, (), FrozenDict(role="assistant", content=content), tuple(repairs), 0)
    if not isinstance(raw_calls, list | tuple):
        raise BadReplyError(f"message.tool_calls is {type(raw_calls).__name__}, not a list")
    if len(raw_calls) > CALLS_LIMIT:
        raise BadReplyError(f"message.tool_calls has {len(raw_calls)} calls; at most {CALLS_LIMIT} are read")
    room = REPLY_LIMIT - (len(content) if content is not None else 0)
    calls: list[Call] = []
    kept: list[FrozenDict] = []
    for index, raw_call in enumerate(raw_calls):
        call, sent, size = _read_call(index, raw_call, step, names, used, repairs, room)
        room -= size
        calls.append(call)
        if index < HISTORY_CALLS:
            kept.append(sent)
    whole = FrozenDict(role="assistant", content=content, tool_calls=FrozenList(kept))
    return ReadReply(content, calls, whole, tuple(repairs), len(kept))


def _read_content(content: Any, repairs: list[str]) -> str:
    if not isinstance(content, str):
        if not isinstance(content, list | tuple):
            raise BadReplyError(f"message.content is {type(content).__name__}, not text or None")
        content = _joined(content)
        repairs.append("content-parts")
    if len(content) > REPLY_LIMIT:
        raise _too_large()
    return _whole(str.__str__(content), repairs, "surrogates")


def _joined(parts: list[Any] | tuple[Any, ...]) -> str:
    """The texts of a content that came as a list of parts, as multimodal servers write it."""
    if len(parts) > CALLS_LIMIT:
        raise BadReplyError(f"message.content has {len(parts)} parts; at most {CALLS_LIMIT} are read")
    texts: list[str] = []
    room = REPLY_LIMIT
    for index, part in enumerate(parts):
        text = part.get("text") if isinstance(part, Mapping) and part.get("type") == "text" else None
        if not isinstance(text, str):
            raise BadReplyError(f"message.content[{index}] is no text part")
        room -= len(text)
        if room < 0:
            raise _too_large()
        texts.append(text)
    return "".join(texts)


def _read_call(
    index: int, call: Any, step: int, names: Container[str], used: set[str], repairs: list[str], room: int
) -> tuple[Call, FrozenDict, int]:
    """One call, its form for the history, and its size. Each fault costs something; a sound call passes by them all."""
    if type(call) is dict or isinstance(call, Mapping):
        function: Any = call.get("function")
        call_id: Any = call.get("id")
    else:
        function = call_id = None
    if type(function) is dict or isinstance(function, Mapping):
        name: Any = function.get("name")
        raw: Any = function.get("arguments")
    else:
        name, raw = "", None
        repairs.append(f"{index}:call-shape")
    if type(call_id) is not str or call_id in used or call_id == "first_read" or usable_id(call_id) is None:
        call_id = new_id(step, index, used)
        repairs.append(f"{index}:id")
    used.add(call_id)
    known = type(name) is str and name in names
    if not known:
        name = _read_name(name, index, names, repairs)
        known = name in names
    if isinstance(raw, str):
        raw = str.__str__(raw)
        size = len(call_id) + len(name) + len(raw)
        if size > room:
            raise _too_large()
        if not raw.isascii():
            raw = _whole(raw, repairs, f"{index}:surrogates")
        value, steps = read_arguments(raw)
    else:
        raw, value, steps = _read_other(raw, index, room)
        size = len(call_id) + len(name) + len(raw)
        if size > room:
            raise _too_large()
    text = raw
    if steps:
        for repair in steps:
            _note(repairs, f"{index}:{repair}")
        text = compact_json(value)
    elif value is NOT_JSON:
        text = "{}"
    function = FrozenDict(name=name if known or _usable_name(name) else UNKNOWN, arguments=text)
    sent = FrozenDict(id=call_id, type="function", function=function)
    return Call(_planned(id=call_id, name=name, args=raw), value, raw if value is NOT_JSON else value), sent, size


_planned = unchecked(PlannedCall)
_read_reply = unchecked(ReadReply)
_call = unchecked(Call)

usable_id: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}").fullmatch
_usable_name: Final = re.compile(r"[A-Za-z0-9_-]{1,64}").fullmatch
"""What the strictest servers take as the name of a function."""


def new_id(step: int, index: int, used: set[str]) -> str:
    """Our id for a call whose own cannot be used. A later call that came with the same one is the later one, and gets another."""
    first = call_id = f"call_{step}_{index}"
    count = 1
    while call_id in used:
        count += 1
        call_id = f"{first}_{count}"
    return call_id


def _read_name(name: Any, index: int, names: Container[str], repairs: list[str]) -> str:
    """A name that is not known as it stands: repaired when there is one way to, else what was given."""
    if not isinstance(name, str):
        repairs.append(f"{index}:name-missing")
        return ""
    if len(name) > REPLY_LIMIT:
        raise _too_large()
    given = _whole(str.__str__(name), repairs, f"{index}:surrogates")
    text = given.strip()
    if text != given:
        repairs.append(f"{index}:name-white-space")
    if text not in names and isinstance(names, Iterable):
        folded = text.casefold()
        alike = [known for known in names if known.casefold() == folded]
        if len(alike) == 1:
            repairs.append(f"{index}:name-case")
            return str(alike[0])
    return text


def _read_other(raw: Any, index: int, room: int) -> tuple[str, Any, tuple[str, ...]]:
    """Arguments that did not come as text: the text they stand for, their value, and the repairs."""
    if raw is None:
        return "", {}, ("null-arguments",)
    plain = PlainReader(room)
    try:
        value = plain.read(raw, 0)
        text = compact_json(value)
    except (TypeError, ValueError) as fault:
        raise BadReplyError(f"message.tool_calls[{index}].function.arguments is {type(raw).__name__}, not text: {fault}") from fault
    repairs = ("value-arguments", "surrogates") if plain.mended else ("value-arguments",)
    return text, value, repairs


class PlainReader:
    """Takes a copy of JSON that came as Python values; what JSON cannot say is an error, and is never converted."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.mended = False

    def take(self, text: str) -> None:
        """This text stands in the reply as well. Raises BadReplyError when there is no room for it."""
        self.room -= len(text)
        if self.room < 0:
            raise _too_large()

    def read(self, value: Any, depth: int) -> Any:
        self.room -= 1
        if self.room < 0:
            raise _too_large()
        if value is None or type(value) is bool or (type(value) is int and abs(value) <= MAX_SAFE_INTEGER):
            return value
        if isinstance(value, str):
            self.take(value)
            text = mended(value := str.__str__(value))
            self.mended = self.mended or text is not value
            return text
        if type(value) is float:
            if value - value != 0:
                raise ValueError(f"{value} is not JSON")
            return value
        if depth >= READ_DEPTH:
            raise ValueError(f"it is nested deeper than {READ_DEPTH} levels")
        if isinstance(value, Mapping):
            return self._read_mapping(value, depth)
        if isinstance(value, list | tuple):
            return [self.read(item, depth + 1) for item in value]
        raise TypeError(f"it has a {type(value).__name__} in it that JSON cannot keep")

    def _read_mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"it has a key that is a {type(key).__name__}")
            key = self.read(key, depth)
            if key in found:
                raise ValueError("it has a repeated key")
            found[key] = self.read(item, depth + 1)
        return found


def _whole(text: str, repairs: list[str], name: str) -> str:
    whole = mended(text)
    if whole is not text:
        _note(repairs, name)
    return whole


def _note(repairs: list[str], repair: str) -> None:
    if repair not in repairs[-len(REPAIRS) :]:  # one call has no more than that
        repairs.append(repair)


def _too_large() -> BadReplyError:
    return BadReplyError(f"the reply has more than {REPLY_LIMIT} characters; no more are read")


def contains_text(value: Any, raw: str, needle: str) -> bool:
    """Whether `needle` occurs, in any case, in the raw text or in any string or key, at any depth, of the value read from it."""
    needle = needle.casefold()
    if needle in (raw.lower() if raw.isascii() else raw.casefold()):
        return True
    if "\\" not in raw:
        return False  # each string of the value stands in the raw text as it is
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
