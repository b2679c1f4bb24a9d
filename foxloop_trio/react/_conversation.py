"""The conversation of a run: a list that knows whether the host has edited it, and the form in which every provider takes it.

An edit (by a hook, or a seed from elsewhere) may leave a result without its call, a call without its result, or one id for two
calls. `settled` mends all three; it walks the whole list, so the run does it only after an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, SupportsIndex

import attrs

from ..errors import PlannerError
from ..guarding import Message, ToolCall
from ..loop._repair import mended
from ..loop._reply import new_id, usable_id
from . import _words
from ._reply import Room, plain_arguments


class Conversation(list[Message]):
    """The live list. The run itself adds with `add`; every other change sets `edited`."""

    __slots__ = ("edited",)

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)
        self.edited = False

    def replace(self, messages: Sequence[Message]) -> None:
        super().__setitem__(slice(None), messages)
        self.edited = False

    def append(self, item: Any) -> None:
        self.edited = True
        super().append(item)

    def extend(self, items: Iterable[Any]) -> None:
        self.edited = True
        super().extend(items)

    def insert(self, index: SupportsIndex, item: Any) -> None:
        self.edited = True
        super().insert(index, item)

    def pop(self, index: SupportsIndex = -1) -> Message:
        self.edited = True
        return super().pop(index)

    def remove(self, item: Any) -> None:
        self.edited = True
        super().remove(item)

    def clear(self) -> None:
        self.edited = True
        super().clear()

    def reverse(self) -> None:
        self.edited = True
        super().reverse()

    def sort(self, *args: Any, **kwargs: Any) -> None:
        self.edited = True
        super().sort(*args, **kwargs)

    def __setitem__(self, index: Any, item: Any) -> None:
        self.edited = True
        super().__setitem__(index, item)

    def __delitem__(self, index: Any) -> None:
        self.edited = True
        super().__delitem__(index)

    def __iadd__(self, items: Iterable[Any]) -> Conversation:  # type: ignore[override,misc]
        self.extend(items)
        return self

    def __imul__(self, count: SupportsIndex) -> Conversation:
        self.edited = True
        super().__imul__(count)
        return self


def add(messages: list[Message], message: Message) -> None:
    """Append a message of the run's own, which is no edit; to whatever list a hook has put in the place of ours."""
    list.append(listed(messages), message)


def listed(messages: object) -> list[Any]:
    """What a hook has put in the place of the conversation, which must be a list. Raises TypeError."""
    if not isinstance(messages, list):
        raise TypeError(f"state.messages must stay a list of messages, not {type(messages).__name__}")
    return messages


def readable(messages: Iterable[object]) -> Iterator[Message]:
    """Those that are messages; a hook may have put in something else."""
    for given in messages:
        try:
            yield read_message(given)
        except (TypeError, ValueError):
            continue


def settled(messages: Iterable[Message | Mapping[str, Any]], used: set[str], turn: int) -> list[Message]:
    """The messages with every call answered once, right after it, under an id of its own; ids are added to `used`.

    `used` are ids that results of earlier messages were given under and that no longer stand in the list; an id may stand there and
    in the list, since it is the same call. Raises TypeError or ValueError for what is no message.
    """
    done: list[Message] = []
    here: set[str] = set()
    waiting: list[tuple[str, ToolCall]] = []
    for given in messages:
        message = read_message(given)
        if message.role == "tool":
            match = next((pair for pair in waiting if pair[0] == message.tool_call_id), None)
            if match is not None:
                waiting.remove(match)
                call = match[1]
                same = message.tool_call_id == call.id and message.name is not None
                done.append(message if same else attrs.evolve(message, tool_call_id=call.id, name=message.name or call.name))
            continue
        done += [_unanswered(call) for _, call in waiting]
        waiting = []
        if message.tool_calls:
            calls = [_with_own_id(call, index, here, used, turn) for index, call in enumerate(message.tool_calls)]
            waiting = [(old.id, new) for old, new in zip(message.tool_calls, calls, strict=True)]
            if any(old is not new for old, new in zip(message.tool_calls, calls, strict=True)):
                message = attrs.evolve(message, tool_calls=tuple(calls))
        done.append(message)
    done += [_unanswered(call) for _, call in waiting]
    used |= here
    return done


def _with_own_id(call: ToolCall, index: int, here: set[str], used: set[str], turn: int) -> ToolCall:
    if call.id in here or usable_id(call.id) is None:
        call = attrs.evolve(call, id=new_id(turn, index, here | used))
    here.add(call.id)
    return call


def _unanswered(call: ToolCall) -> Message:
    return Message(role="tool", content=_words.NO_RESULT, tool_call_id=call.id, name=call.name)


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
        calls = tuple([_plain_call(call) for call in message.tool_calls])
    except (TypeError, ValueError, PlannerError) as fault:
        raise ValueError(f"messages: {fault}") from fault
    content = mended(message.content)
    if content is message.content and not calls and message.name is None:
        return message
    name = None if message.name is None else mended(message.name)
    return attrs.evolve(message, content=content, tool_calls=calls, name=name)


def _plain_call(call: ToolCall) -> ToolCall:
    return ToolCall(id=call.id, name=mended(call.name), arguments=plain_arguments(call.arguments, Room()))
