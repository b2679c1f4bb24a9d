"""The events of a run in plain words."""

import io

import pytest
from rich.console import Console

from foxloop_trio.actions import Action, CheckLine, CheckResult
from foxloop_trio.cli._words import Narrator, plain
from foxloop_trio.events import (
    Aborted,
    ApprovalNeeded,
    Blocked,
    Check,
    Done,
    GateDecision,
    LoopEvent,
    Plan,
    PlannedCall,
    ToolCall,
    ToolResult,
)

ACTION = Action(tool="click", args={}, domain="shop.local", scope="submit")
CALL = PlannedCall(id="call_1", name="click", args="{}")

TOLD: list[tuple[LoopEvent, str]] = [
    (Plan(step=1, text=None, calls=[CALL, CALL]), "  step 1  the planner wants click, then click\n"),
    (Plan(step=2, text="Done.", calls=[]), "  step 2  the planner says the goal is reached\n"),
    (
        Plan(step=2, text=None, calls=[PlannedCall(id="2", name="finish", args="{}")]),
        "  step 2  the planner says the goal is reached\n",
    ),
    (Plan(step=3, text=None, calls=[], problem="no JSON"), "  step 3  the planner's reply cannot be used: no JSON\n"),
    (ToolCall(step=1, id="1", name="act", args={"op": "type", "value": "Ada"}), '    call  act op="type", value="Ada"\n'),
    (ToolCall(step=1, id="1", name="act", args="{oops"), "    call  act {oops\n"),
    (GateDecision(step=1, id="1", via="check", decision="allow", action=ACTION), "    gate  allows it: submit on shop.local\n"),
    (GateDecision(step=1, id="1", via="check", decision="ask", action=ACTION), "    gate  asks a human: submit on shop.local\n"),
    (
        GateDecision(step=1, id="1", via="redeem", decision="allow", action=ACTION),
        "    gate  allows it, with the approval: submit on shop.local\n",
    ),
    (
        GateDecision(step=1, id="1", via="check", decision="deny", action=ACTION, reason="no-grant"),
        "    gate  refuses it (no-grant): submit on shop.local\n",
    ),
    (ApprovalNeeded(step=1, id="1", request_id="r", action=ACTION, expires_at=1.0, detail="click it"), "   human  click it\n"),
    (ApprovalNeeded(step=1, id="1", request_id="r", action=ACTION, expires_at=1.0), "   human  click on shop.local\n"),
    (ToolResult(step=1, id="1", name="click", ok=True, summary="Clicked."), "    tool  Clicked.\n"),
    (
        ToolResult(step=1, id="1", name="click", ok=False, summary="Read again.", reason="failed"),
        "    tool  failed (failed): Read again.\n",
    ),
    (
        Check(step=1, ok=True, checks=[CheckLine(part="order", ok=True, evidence="it is there")]),
        "   check  order: holds. it is there\n",
    ),
    (
        Check(step=1, ok=False, checks=[CheckLine(part="order", ok=False, evidence="none")], problem="nothing sent"),
        "   check  order: does not hold. none\n   check  nothing sent\n",
    ),
    (Done(step=1, summary="Ordered.", check=CheckResult(ok=True)), "    done  Ordered.\n"),
    (Blocked(step=1, reason="gate-deny", message="no-grant: no"), " blocked  gate-deny: no-grant: no\n"),
    (Aborted(step=1), " aborted  the run was stopped; nothing of it acts any more\n"),
]


@pytest.mark.parametrize(("event", "words"), TOLD, ids=lambda value: getattr(value, "type", ""))
def test_every_event_is_told_in_words(event: LoopEvent, words: str) -> None:
    """One line that names who spoke."""
    out = io.StringIO()
    Narrator(Console(file=out, width=40, color_system=None)).tell(event)
    assert out.getvalue() == words


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines\r\nand\ttabs", "two lines and tabs"),
        ("\x1b[2J\x1b]0;title\x07cleared", "[2J ]0;title cleared"),
        ("right\u202eleft", "right left"),
        ("[bold]not markup[/bold]", "[bold]not markup[/bold]"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_outside_text_cannot_steer_the_terminal(text: str, shown: str) -> None:
    """Pages write into events: control and format characters go, markup stays text, and a line has an end."""
    assert plain(text) == shown
    out = io.StringIO()
    Narrator(Console(file=out, width=40, color_system="truecolor", force_terminal=True)).tell(
        ToolResult(step=1, id="1", name="t", ok=True, summary=text)
    )
    assert shown in out.getvalue()
    assert "\x1b]" not in out.getvalue()
