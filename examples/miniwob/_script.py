"""Planners written as generators: each `yield` is one reply with a call or some, and gives back the page as the last one shows it.

    @solves("click-test")
    def click_test(goal: str) -> Script:
        page = yield look()
        yield click(page.the("button"))

When the generator ends, its planner claims that the goal is reached.
"""

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from foxloop_trio import ChatReply, Planner, Usage, function_planner

from ._reading import Control, Page, pages

Call = Mapping[str, Any]
Script = Generator[Call | list[Call], Page, None]
Write = Callable[[str], Script]

AT_ONCE = 4
"""How many calls of one reply the loop runs (its `max_calls_per_turn`)."""

CLICKS = ("click", "click_at", "press")

TASKS: dict[str, Callable[[str], Planner]] = {}
"""For each task that has a planner here, what makes it from the task's sentence."""


def solves(*tasks: str) -> Callable[[Write], Write]:
    """Enters a script for these tasks."""

    def enter(write: Write) -> Write:
        for task in tasks:
            TASKS[task] = lambda goal: script_planner(write(goal))
        return write

    return enter


def script_planner(script: Script) -> Planner:
    """A planner that does what `script` yields. Its first reply is asked for at once: a sentence that it cannot read shows here."""
    waiting = list(_replies(next(script)))
    made = 0

    async def reply(messages: Sequence[Any], tools: Sequence[Mapping[str, Any]]) -> ChatReply:
        nonlocal made, waiting
        _refuse_failure(messages)
        if not waiting:
            try:
                waiting = list(_replies(script.send(next(pages(messages)))))
            except StopIteration:
                waiting = [[call("finish", summary="Done.")]]
        calls = []
        for one in waiting.pop(0):
            made += 1
            arguments = {"name": one["name"], "arguments": json.dumps(one["args"])}
            calls.append({"id": f"call_{made}", "type": "function", "function": arguments})
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return ChatReply(message=message, usage=Usage(input_tokens=0, output_tokens=0), provider="script")

    return function_planner(reply)


def _replies(wanted: Call | list[Call]) -> list[list[Call]]:
    """The calls as replies: what follows a click in the same reply would not be run, since the click may have sent something."""
    replies: list[list[Call]] = [[]]
    for one in wanted if isinstance(wanted, list) else [wanted]:
        if len(replies[-1]) == AT_ONCE or (replies[-1] and replies[-1][-1]["name"] in CLICKS):
            replies.append([])
        replies[-1].append(one)
    return replies


def _refuse_failure(messages: Sequence[Any]) -> None:
    """A script goes on only from what was done: it has no other way to try."""
    last = messages[-1]
    if last["role"] == "tool" and not re.match(r"\w+: ok\n", last["content"]):
        raise LookupError(last["content"][:1000])


def said(pattern: str, goal: str) -> tuple[str, ...]:
    """What the groups of `pattern` stand for in the sentence. Raises ValueError when it is not that sentence."""
    match = re.fullmatch(pattern, goal)
    if match is None:
        raise ValueError(f"not a sentence of this task: {goal!r}")
    return match.groups("")


# Calls


def call(name: str, **args: Any) -> Call:
    return {"name": name, "args": args}


def look(**args: Any) -> Call:
    """Read the page."""
    return call("snapshot", **args)


def click(control: Control) -> Call:
    return call("click", control_id=control.id)


def act(control: Control, op: str, **value: Any) -> Call:
    """One thing done to one control, with `value` or `values`."""
    return call("act", control_id=control.id, op=op, **value)


def write(control: Control, text: str) -> Call:
    """Replace the text of a field."""
    return act(control, "type", value=text)


def check(control: Control) -> Call:
    return act(control, "check")


def fill(*fields: tuple[Control, str]) -> Call:
    """Several fields at once. It alone may write into a password field, and only what the user named as a password."""
    return call("fill", fields={control.id: value for control, value in fields})


def press(control: Control, keys: str) -> Call:
    """Keys, parted by spaces."""
    return call("press", control_id=control.id, keys=keys)


def hover(control: Control) -> Call:
    return call("hover", control_id=control.id)


def click_at(control: Control, x: float, y: float) -> Call:
    """A click at a point of the control, in percent of its box."""
    return call("click_at", control_id=control.id, x=x, y=y)


def drag(control: Control, **where: Any) -> Call:
    return call("drag", control_id=control.id, **where)


def select_text(control: Control, text: str | None = None) -> Call:
    """Mark a part of the control's text, or all of it."""
    return call("select_text", control_id=control.id, **({} if text is None else {"text": text}))
