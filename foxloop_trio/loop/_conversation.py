"""A conversation that its host may edit, kept in the form in which every provider takes it. Pure.

The loop's own history (`_history`) is nobody's to edit; that of the ReAct facade is, by its hooks. An edit, or a seed from
elsewhere, may leave a result without its call, a call without its result, or one id for two calls. `settled` mends all three; it
walks the whole list, so it is done only after an edit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from ..actions import unchecked
from ..guarding import Message, ModelReply, State, ToolCall, ToolResult
from ._model_reply import read_any_arguments
from ._repair import mended
from ._reply import REPLY_LIMIT, BadReplyError, PlainReader, new_id, usable_id

NO_RESULT: Final = "No result of this call is known. It may have had an effect."

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
        """To whatever list the host has put in the place of ours; see `settle`."""
        messages = self._state.messages
        if messages is not self._live:
            _listed(messages)
        list.append(messages, message)
        self._known.append(message)

    def settle(self) -> None:
        """After an edit by the host: the messages as any provider takes them, in the run's own list.

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

        Nothing is raised here, whatever was left in the state: it would take the place of what ended the run.
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
    return Message(role="tool", content=NO_RESULT, tool_call_id=call.id, name=call.name)


# Messages from elsewhere


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
            ToolCall(id=call.id, name=mended(call.name), arguments=read_any_arguments(call.arguments, PlainReader(REPLY_LIMIT)))
            for call in message.tool_calls
        ]
    except (TypeError, ValueError, BadReplyError) as fault:
        raise ValueError(f"messages: {fault}") from fault
    content, name = mended(message.content), None if message.name is None else mended(message.name)
    if not calls and content is message.content and name is message.name:
        return message
    return attrs.evolve(message, content=content, tool_calls=calls, name=name)


def readable(messages: Iterable[object]) -> Iterator[Message]:
    """Those that are messages; the host may have put in something else."""
    for given in messages:
        try:
            yield read_message(given)
        except (TypeError, ValueError):
            continue
