"""choose-list: "Select Somalia from the list and click Submit." """

import re
from collections.abc import Sequence
from typing import Any

from foxloop_trio import Planner, scripted_planner

from ._reading import the


def planner(utterance: str) -> Planner:
    """Choose the option that is named in the only list, then press Submit."""
    match = re.fullmatch(r"Select (.+) from the list and click Submit\.", utterance)
    if match is None:
        raise ValueError(f"not a sentence of choose-list: {utterance!r}")
    wanted = match[1]

    def choose(messages: Sequence[Any]) -> dict[str, Any]:
        choice, button = the(messages, "combobox"), the(messages, "button", "Submit")
        (value,) = [value for value, label in choice.options if label == wanted]
        return {
            "calls": [
                {"name": "act", "args": {"control_id": choice.id, "op": "select", "value": value}},
                {"name": "click", "args": {"control_id": button.id}},
            ]
        }

    return scripted_planner(
        [
            {"calls": [{"name": "snapshot", "args": {}}]},
            choose,
            {"calls": [{"name": "finish", "args": {"summary": f"Chose {wanted}."}}]},
        ]
    )
