"""What the demo's planner does on the form: a script that sees what a model would see.

It gets no selectors and no ids in advance: it looks for labels in the text of the newest page, as a planner does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from ..errors import PlannerError
from ..ports import Message

GOAL: Final = "Order a green tea with milk for Ada, and send the order."
WANTED: Final = {"name": "Ada", "tea": "green", "milk": "yes"}
"""What the site must have received in the end."""

_CONTROL: Final = re.compile(r'^\[(?P<id>[^\]\s]+)\] (?P<role>\S+) "(?P<label>(?:[^"\\]|\\.)*)"', re.MULTILINE)
"""A line of the page's text: ``[0:4] textbox "Your name" …``."""
_WHOLE: Final = re.compile(r'^Title: "', re.MULTILINE)
"""How the text of a whole page begins; after an act only what changed is shown."""


def look(messages: Sequence[Message]) -> dict[str, Any]:
    return {"text": "I look at the page first.", "calls": [{"name": "snapshot", "args": {}}]}


def fill(messages: Sequence[Message]) -> dict[str, Any]:
    acts = [
        {"control_id": control_id(messages, "Your name"), "op": "type", "value": WANTED["name"]},
        {"control_id": control_id(messages, "Tea"), "op": "select", "value": WANTED["tea"]},
        {"control_id": control_id(messages, "With milk"), "op": "check"},
    ]
    return {"text": "I fill the form.", "calls": [{"name": "act", "args": act} for act in acts]}


def send(messages: Sequence[Message]) -> dict[str, Any]:
    return {"text": "I send it.", "calls": [{"name": "click", "args": {"control_id": control_id(messages, "Send the order")}}]}


def finish(messages: Sequence[Message]) -> dict[str, Any]:
    return {"calls": [{"name": "finish", "args": {"summary": "Ordered a green tea with milk for Ada."}}]}


SCRIPT: Final = (look, fill, send, finish)
"""One function per planner request: the messages so far to a reply."""


def control_id(messages: Sequence[Message], label: str) -> str:
    """The id of the control with this label on the newest page that the planner was shown: as a whole, and since then only what
    changed of it.

    Raises PlannerError, naming the labels that are there, when none has it.
    """
    labels: dict[str, None] = {}
    for message in reversed(messages):
        text = message["content"] or ""
        found = {match["label"]: match["id"] for match in _CONTROL.finditer(text)}
        if label in found:
            return found[label]
        labels.update(dict.fromkeys(found))
        if _WHOLE.search(text):
            raise PlannerError(f"no control is labelled {label!r}; there are {', '.join(map(repr, labels)) or 'none'}")
    raise PlannerError(f"no control is labelled {label!r}: no page has been shown yet")
