"""The conversation of a run: the live list that hooks may edit, kept in the form in which every provider takes it.

An edit (by a hook, or a seed from elsewhere) may leave a result without its call, a call without its result, or one id for two
calls. `settled` mends all three; it walks the whole list, so the run does it only after an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ..actions import unchecked
from ..guarding import Message, ModelReply, State, ToolCall, ToolResult
from ..loop._reply import new_id, usable_id
from . import _words
from ._reading import read_message, readable

_message: Callable[..., Message] = unchecked(Message)


class Conversation:
    """`state.messages`, and what the run itself last knew of it: where the two differ, the host has edited.

    `used`: every call id of the run, so that none stands for two calls.
    """

    def __init__(self, state: State) -> None:
        self.used: set[str] = set()
        self._state = state
        self._live = state.messages
        self._known: list[Message] = []
        self._settle()

    def add_reply(self, reply: ModelReply) -> None:
        self._add(_message(role="assistant", content=reply.text or "", tool_calls=reply.tool_calls))

    def add_result(self, call: ToolCall, result: ToolResult) -> None:
        """The one tool message that answers a call."""
        self._add(_message(role="tool", content=result.content, tool_call_id=call.id, name=call.name))

    def add_note(self, text: str) -> None:
        self._add(Message(role="system", content=text))

    def _add(self, message: Message) -> None:
        """To whatever list a hook has put in the place of ours; see `settle`."""
        messages = self._state.messages
        if messages is not self._live:
            _listed(messages)
        list.append(messages, message)
        self._known.append(message)

    def settle(self) -> None:
        """After an edit by the host: the messages as any provider takes them (R20), in the run's own list.

        Whether there was one is told by a comparison, which is quick as long as the lists hold the very same objects. Raises
        TypeError or ValueError for what is no list of messages.
        """
        if self._state.messages is not self._live or self._live != self._known:
            self._settle()

    def _settle(self) -> None:
        self._known = settled(_listed(self._state.messages), self.used, self._state.turn)
        self._live[:] = self._known
        self._state.messages = self._live

    def rescue(self, answer: Callable[[], None]) -> None:
        """The run was ended from outside: `answer` what was begun, so that the conversation can be gone on from.

        Nothing is raised here, whatever hooks have left in the state: it would take the place of what ended the run.
        """
        if not isinstance(self._state.messages, list):
            self._state.messages = self._live
        answer()
        self._state.messages = list(readable(self._state.messages))
        self._settle()


def _listed(messages: object) -> list[Any]:
    if not isinstance(messages, list):
        raise TypeError(f"state.messages must stay a list of messages, not {type(messages).__name__}")
    return messages


def settled(messages: Iterable[Message | Mapping[str, Any]], used: set[str], turn: int) -> list[Message]:
    """The messages with every call answered once, right after it, under an id of its own; ids are added to `used`.

    `used` are ids that results of earlier messages were given under and that no longer stand in the list; an id may stand there and
    in the list, since it is the same call. Raises TypeError or ValueError for what is no message.
    """
    done: list[Message] = []
    here: set[str] = set()
    waiting: list[tuple[str, ToolCall]] = []
    """Calls without a result yet, each with the id that its result will name."""
    for given in messages:
        message = read_message(given)
        if message.role == "tool":
            match = next((pair for pair in waiting if pair[0] == message.tool_call_id), None)
            if match is not None:  # else it answers nothing, and goes
                waiting.remove(match)
                call = match[1]
                same = message.tool_call_id == call.id and message.name is not None
                done.append(message if same else attrs.evolve(message, tool_call_id=call.id, name=message.name or call.name))
            continue
        done += [_unanswered(call) for _, call in waiting]
        calls = [_with_own_id(call, index, here, used, turn) for index, call in enumerate(message.tool_calls)]
        waiting = [(old.id, new) for old, new in zip(message.tool_calls, calls, strict=True)]
        changed = any(old is not new for old, new in zip(message.tool_calls, calls, strict=True))
        done.append(attrs.evolve(message, tool_calls=tuple(calls)) if changed else message)
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
