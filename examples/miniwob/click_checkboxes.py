"""click-checkboxes: "Select ZrLIee, RKPgD and click Submit." or "Select nothing and click Submit." """

import re
from collections.abc import Sequence
from typing import Any

from foxloop_trio import Planner, scripted_planner

from ._reading import the

AT_ONCE = 4
"""How many calls of one reply the loop runs (its `max_calls_per_turn`)."""


def planner(utterance: str) -> Planner:
    """Check the boxes that are named, four in a reply, then press Submit."""
    match = re.fullmatch(r"Select (.+) and click Submit\.", utterance)
    if match is None:
        raise ValueError(f"not a sentence of click-checkboxes: {utterance!r}")
    names = [] if match[1] == "nothing" else match[1].split(", ")

    def check(some: Sequence[str]) -> Any:
        def reply(messages: Sequence[Any]) -> dict[str, Any]:
            boxes = [the(messages, "checkbox", name) for name in some]
            return {"calls": [{"name": "act", "args": {"control_id": box.id, "op": "check"}} for box in boxes]}

        return reply

    def submit(messages: Sequence[Any]) -> dict[str, Any]:
        return {"calls": [{"name": "click", "args": {"control_id": the(messages, "button", "Submit").id}}]}

    return scripted_planner(
        [
            {"calls": [{"name": "snapshot", "args": {}}]},
            *(check(names[start : start + AT_ONCE]) for start in range(0, len(names), AT_ONCE)),
            submit,
            {"calls": [{"name": "finish", "args": {"summary": f"Checked {', '.join(names) or 'nothing'}."}}]},
        ]
    )
