"""The conversation of a run: a list that knows whether the host has edited it, and the form in which every provider takes it.

An edit (by a hook, or a seed from elsewhere) may leave a result without its call, a call without its result, or one id for two
calls. `settled` mends all three; it walks the whole list, so the run does it only after an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex

import attrs

from ..guarding import Message, ToolCall
from ..loop._reply import new_id, usable_id
from . import _words


class Conversation(list[Message]):
    """The live list. The run itself adds with `add`; every other change sets `edited`."""

    __slots__ = ("edited",)

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)
        self.edited = False

    def add(self, message: Message) -> None:
        super().append(message)

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
    if type(messages) is Conversation:
        messages.add(message)
    else:
        messages.append(message)


def settled(messages: Iterable[Message | Mapping[str, Any]], used: set[str], turn: int) -> list[Message]:
    """The messages with every call answered once, right after it, under an id of its own; ids are added to `used`.

    `used` are ids that results of earlier messages were given under and that no longer stand in the list; an id may stand there and
    in the list, since it is the same call. Raises TypeError or ValueError for what is no message.
    """
    done: list[Message] = []
    here: set[str] = set()
    waiting: list[tuple[str, ToolCall]] = []
    for given in messages:
        message = given if isinstance(given, Message) else _message(given)
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


def _message(given: object) -> Message:
    if not isinstance(given, Mapping):
        raise TypeError(f"messages: a message is a Message or a mapping with a role and content, not {type(given).__name__}")
    return Message.from_json(given)
