"""click-test: "Click the button." """

from collections.abc import Sequence
from typing import Any

from foxloop_trio import Planner, scripted_planner

from ._reading import the


def planner(utterance: str) -> Planner:
    """Read the page, click the only button on it."""

    def click(messages: Sequence[Any]) -> dict[str, Any]:
        return {"calls": [{"name": "click", "args": {"control_id": the(messages, "button").id}}]}

    return scripted_planner(
        [
            {"calls": [{"name": "snapshot", "args": {}}]},
            click,
            {"calls": [{"name": "finish", "args": {"summary": "Clicked the button."}}]},
        ]
    )
