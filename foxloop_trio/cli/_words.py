"""The events of a run in plain words, as they come, for a person who watches.

Pages, planners and tools write into events, so every text is stripped of control characters before it reaches a terminal, and none
of it is read as markup.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Any, Final, assert_never

from rich.console import Console
from rich.text import Text

from ..actions import CheckLine
from ..events import Aborted, ApprovalNeeded, Blocked, Check, Done, GateDecision, LoopEvent, Plan, ToolCall, ToolResult
from ..tools import FINISH

MAX_TEXT: Final = 300
"""Characters of one text that are shown; what is cut is in the trail."""


def plain(text: str, limit: int = MAX_TEXT) -> str:
    """One line without control, format and private characters, at most `limit` characters long."""
    line = " ".join("".join(" " if unicodedata.category(char)[0] in "CZ" else char for char in text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class Narrator:
    """Tells the events of one run on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def tell(self, event: LoopEvent) -> None:
        match event:
            case Plan():
                self._say(f"step {event.step}", _plan(event), "bold cyan")
            case ToolCall():
                self._say("call", f"{event.name} {_args(event.args)}")
            case GateDecision():
                self._say("gate", *_decision(event))
            case ApprovalNeeded():
                self._say("human", event.detail or f"{event.action.tool} on {event.action.domain}", "bold yellow")
            case ToolResult():
                self._say("tool", *_result(event))
            case Check():
                for line in event.checks:
                    self._say("check", *_line(line))
                if event.problem is not None:
                    self._say("check", event.problem, "red")
            case Done():
                self._say("done", event.summary, "bold green")
            case Blocked():
                self._say("blocked", f"{event.reason}: {event.message}", "bold red")
            case Aborted():
                self._say("aborted", "the run was stopped; nothing of it acts any more", "bold red")
            case _:
                assert_never(event)

    def _say(self, who: str, words: str, style: str = "") -> None:
        line = Text.assemble((f"{who:>8}  ", "dim"), (plain(words), style or "default"))
        self._console.print(line, soft_wrap=True)


def _plan(event: Plan) -> str:
    if event.problem is not None:
        return f"the planner's reply cannot be used: {event.problem}"
    names = [call.name for call in event.calls]
    if not names or names == [FINISH]:
        return "the planner says the goal is reached"
    return f"the planner wants {', then '.join(names)}"


def _args(args: Any) -> str:
    if not isinstance(args, dict):
        return str(args)
    return ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in args.items())


def _decision(event: GateDecision) -> tuple[str, str]:
    where = f"{event.action.scope} on {event.action.domain}"
    match event.decision:
        case "allow" if event.via == "redeem":
            return f"allows it, with the approval: {where}", "green"
        case "allow":
            return f"allows it: {where}", "green"
        case "ask":
            return f"asks a human: {where}", "yellow"
        case "deny":
            return f"refuses it ({event.reason}): {where}", "red"


def _result(event: ToolResult) -> tuple[str, str]:
    if event.ok:
        return event.summary, ""
    return f"failed ({event.reason}): {event.summary}", "red"


def _line(line: CheckLine) -> tuple[str, str]:
    return f"{line.part}: {'holds' if line.ok else 'does not hold'}. {line.evidence}", "green" if line.ok else "red"
