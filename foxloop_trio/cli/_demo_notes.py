"""The demo's first half: a gated run with no browser and no model. The same run as ``examples/quickstart.py``, told in words."""

from __future__ import annotations

from collections.abc import Callable

from ..actions import CheckLine, CheckResult, ToolOutput
from ..events import LoopEvent, Outcome
from ..gate import create_gate
from ..loop import Loop
from ..planners import scripted_planner
from ..ports import TrailSink
from ..tools import tool

GOAL = "Make a note that I must buy milk."


async def run_notes(*, trail: TrailSink, tell: Callable[[LoopEvent], None]) -> Outcome:
    """Save one note through loop, gate and trail."""
    notes: list[str] = []

    @tool(scope="fill", domain="notes.local")
    async def save_note(text: str) -> ToolOutput:
        """Save a note."""
        notes.append(text)
        saved = CheckLine(part="note", ok=text in notes, evidence=f"the list holds {notes}")
        return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=saved.ok, checks=[saved]))

    gate, host = create_gate(tools=[save_note])
    await host.add_grant(scope="fill", domains=["notes.local"])
    planner = scripted_planner(
        [
            {"calls": [{"name": "save_note", "args": {"text": "Buy milk"}}]},
            {"calls": [{"name": "finish", "args": {"summary": "Saved the note."}}]},
        ]
    )
    return await Loop(planner=planner, gate=gate, tools=[save_note], trail=trail).complete(GOAL, on_event=tell)
