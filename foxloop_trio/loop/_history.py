"""What was said in a run, in the chat-completions shape: kept whole, sent fitted. Pure."""

from __future__ import annotations

import hashlib
from typing import Any

from .. import prompt
from ..actions import ToolOutput
from ..events import PlannedCall
from ..ports import Message
from ._budget import message_size
from ._frozen import FrozenDict, freeze
from ._repair import mended


class History:
    """The messages of one run. Every call of an assistant message gets exactly one tool message, in order.

    Messages are frozen, so the planner gets the very same objects at each request and cannot edit our history.
    """

    def __init__(self, nonce: str, *, system: str, goal: str, observed: bool) -> None:
        """`observed`: whether `observation` tells a digest of the contents."""
        self._nonce = nonce
        self._digest = hashlib.sha256() if observed else None
        self._sent: list[Message] = []
        self._sent_size = 0
        self._whole_from = 0
        self._calls_size = 0
        self._calls_measured = 0
        self.add_born_frozen(FrozenDict(role="system", content=system))
        self.add_born_frozen(FrozenDict(role="user", content=mended(goal)))

    def measure(self) -> int:
        """Characters of what is sent, tool calls included; for estimates of tokens. Walks only what is new since the last time."""
        for message in self._sent[self._calls_measured :]:
            if "tool_calls" in message:
                self._calls_size += message_size(message) - len(message["content"] or "")
        self._calls_measured = len(self._sent)
        return self._sent_size + self._calls_size

    def add_born_frozen(self, message: FrozenDict) -> None:
        """Append a message that is frozen all the way down already."""
        self._sent.append(message)
        content = message["content"] or ""
        self._sent_size += len(content)
        if self._digest is not None:
            self._digest.update(content.encode("utf-8", "surrogatepass") + b"\0")

    def add_text(self, text: str) -> None:
        """Append an assistant message that only says something."""
        self.add_born_frozen(FrozenDict(role="assistant", content=text))

    def add_call(self, call: PlannedCall) -> None:
        """Append an assistant message that holds this one call, which nobody planned: the first read."""
        function = {"name": call.name, "arguments": call.args}
        message = {"role": "assistant", "content": None, "tool_calls": [{"id": call.id, "type": "function", "function": function}]}
        self.add_born_frozen(freeze(message))

    def add_result(self, call: PlannedCall, output: ToolOutput, text: str | None = None) -> str:
        """Append the one tool message that answers `call`; returns the text that the planner will read.

        `text` is given when it is known from a trail.
        """
        if text is None:
            text = prompt.result_text(call.name, output, self._nonce)
            if not text.isascii():
                text = mended(text)
        self.add_born_frozen(FrozenDict(role="tool", tool_call_id=call.id, content=text))
        return text

    def result_text(self, call: PlannedCall, output: ToolOutput) -> str:
        """What a planner reads of a result. Halves of characters, which no server takes, are replaced."""
        return mended(prompt.result_text(call.name, output, self._nonce))

    def add_feedback(self, call: PlannedCall | None, output: ToolOutput) -> None:
        """What a failed completion claim tells the planner: an answer to its `finish`, or a user message."""
        if call is not None:
            self.add_result(call, output)
        else:
            self.add_born_frozen(FrozenDict(role="user", content=mended(prompt.result_text(prompt.FINISH, output, self._nonce))))

    def add_correction(self, problem: str) -> None:
        """A reply that could not be read, as two messages: that it was there, so that roles take turns, and what is wrong."""
        self.add_born_frozen(FrozenDict(role="assistant", content=prompt.UNREADABLE))
        self.add_born_frozen(FrozenDict(role="user", content=prompt.correction(problem)))

    def add_note(self, text: str) -> None:
        """What a guard of the host's has to say, as a user message: many servers take a system message at the beginning only."""
        self.add_born_frozen(FrozenDict(role="user", content=mended(prompt.guard_note(text))))

    def fitted(self) -> list[Message]:
        """What to send now: everything, with the oldest page texts left out while the whole is over the limit.

        A page text that was left out stays out, since the history only grows.
        """
        if self._sent_size > prompt.LIMITS["history"] and self._whole_from < len(self._sent):
            self._leave_out()
        return list(self._sent)

    def _leave_out(self) -> None:
        """Take out the oldest page texts until the whole fits; only from the first message on that can still have one."""
        start = self._whole_from
        fitted = prompt.fit_history(self._sent[start:], self._nonce, size=self._sent_size)
        for index, (before, after) in enumerate(zip(self._sent[start:], fitted, strict=True), start):
            if after is not before:
                self._sent_size += len(after["content"]) - len(before["content"])
                self._sent[index] = freeze(after)
                self._whole_from = index + 1
                if self._digest is not None:
                    self._digest.update(b"left out %d\0" % index)
            if self._sent_size <= prompt.LIMITS["history"]:
                return
        # Nothing more can go until another message makes the newest one an older one.
        self._whole_from = max(self._whole_from, len(self._sent) - 1)

    def observation(self, step: int, sent: list[Message]) -> dict[str, Any]:
        """For the trail: what is put before the planner now, by its size and a digest that goes on from request to request.

        The digest is over each content as it was added and each place where page text was left out, in order; so it costs no more
        in a long run, and a replay comes to the same one. It is left out where it could give a secret away.
        """
        seen = {"step": step, "messages": len(sent), "characters": self._sent_size}
        return seen if self._digest is None else {**seen, "sha256": self._digest.hexdigest()}
