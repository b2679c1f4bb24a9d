"""The work of the benchmark: one tool, its arguments, a planner, and a loop written by hand that every other one is compared with.

Nothing here has to do with our own loop. `bare_loop` is the yardstick: what a careful person would write with Trio alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

import attrs
import fastjsonschema
import trio

from ..actions import CheckResult, ToolOutput
from ..ports import ChatReply, Usage

GOAL: Final = "Write down all the numbers."
TOOL_NAME: Final = "save_note"
DESCRIPTION: Final = "Save a note."
PARAMETERS: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "maxLength": 200},
        "page": {"type": "integer", "minimum": 0},
        "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    },
    "required": ["text", "page"],
    "additionalProperties": False,
}

PAGE_TEXT: Final = "A line of a page that the tool has read, and that the planner is to see. " * 6
"""About what a small page says, so that a run of 300 calls is far beyond the 24 000 characters that a planner is sent."""


def arguments(step: int) -> dict[str, Any]:
    """The arguments of one call; no two steps have the same, since a loop may rightly stop a planner that repeats itself."""
    return {"text": f"The number {step} comes after {step - 1}.", "page": step, "colour": "green"}


def summary(text: str) -> str:
    """What the tool says of its work."""
    return f"Saved: {text}"


@attrs.frozen
class Notes:
    """What the tool works on; `untrusted` is the page text that each call returns besides."""

    saved: list[str] = attrs.field(factory=list)
    untrusted: str | None = None

    async def run(self, args: dict[str, Any], _: object = None) -> ToolOutput:
        """The tool: one checkpoint, as anything that waits for the world has, and one note."""
        await trio.lowlevel.checkpoint()
        self.saved.append(args["text"])
        return ToolOutput(ok=True, summary=summary(args["text"]), untrusted=self.untrusted, check=CheckResult(ok=True))


class ReadyPlanner:
    """Answers with replies that were made before the clock started: one checkpoint and a list index. A model is no loop's cost."""

    def __init__(self, replies: Sequence[ChatReply]) -> None:
        self._replies = replies
        self._turn = 0

    async def chat(self, messages: Sequence[Any], *, tools: Sequence[Any] = ()) -> ChatReply:
        await trio.lowlevel.checkpoint()
        turn = self._turn
        self._turn = turn + 1
        return self._replies[turn]


def replies(steps: int) -> list[ChatReply]:
    """`steps` replies with one call each, and a last one that ends the run."""
    calls = [(TOOL_NAME, arguments(step)) for step in range(steps)]
    return [_reply(f"call_{index}", name, args) for index, (name, args) in enumerate([*calls, ("finish", {"summary": "Done."})])]


def _reply(call_id: str, name: str, args: dict[str, Any]) -> ChatReply:
    function = {"name": name, "arguments": json.dumps(args, separators=(",", ":"))}
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "type": "function", "function": function}]}
    return ChatReply(message=message, usage=Usage(input_tokens=0, output_tokens=0))


def compile_check() -> Callable[[Any], Any]:
    """The validator that the bare loop uses: fastjsonschema, as in our loop."""
    check: Callable[[Any], Any] = fastjsonschema.compile(PARAMETERS, use_default=False)
    return check


async def bare_loop(planner: ReadyPlanner, notes: Notes, check: Callable[[Any], Any]) -> list[dict[str, Any]]:
    """The yardstick. Two checkpoints a step: the planner's and the tool's.

    It reads the arguments, validates them, calls the tool, and appends both messages. It has no gate, no limits, no events and no
    record; it cannot be paused, does not notice a planner that goes in circles, and can say nothing of a call that was cancelled.
    """
    messages: list[dict[str, Any]] = [{"role": "user", "content": GOAL}]
    while True:
        reply = await planner.chat(messages)
        messages.append({**reply.message})
        for call in reply.message.get("tool_calls") or ():
            function = call["function"]
            args = json.loads(function["arguments"])
            if function["name"] == "finish":
                return messages
            check(args)
            output = await notes.run(args)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output.summary})
