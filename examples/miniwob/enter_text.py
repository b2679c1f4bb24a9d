"""enter-text: 'Enter "Tora" into the text field and press Submit.'"""

import re
from collections.abc import Sequence
from typing import Any

from foxloop_trio import Planner, scripted_planner

from ._reading import the


def planner(utterance: str) -> Planner:
    """Type what stands between the quotes into the only text field, then press Submit."""
    match = re.fullmatch(r'Enter "(.*)" into the text field and press Submit\.', utterance)
    if match is None:
        raise ValueError(f"not a sentence of enter-text: {utterance!r}")
    text = match[1]

    def enter(messages: Sequence[Any]) -> dict[str, Any]:
        field, button = the(messages, "textbox"), the(messages, "button", "Submit")
        return {
            "calls": [
                {"name": "act", "args": {"control_id": field.id, "op": "type", "value": text}},
                {"name": "click", "args": {"control_id": button.id}},
            ]
        }

    return scripted_planner(
        [
            {"calls": [{"name": "snapshot", "args": {}}]},
            enter,
            {"calls": [{"name": "finish", "args": {"summary": f"Entered {text}."}}]},
        ]
    )
