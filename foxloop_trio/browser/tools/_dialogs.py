"""The tool `answer_dialog`: uses a control again, and gives the one question that comes of it an answer that was judged.

A dialog of the page is always answered at once, with no. To say yes, or to reply to a prompt, is an act of its own, with scope
submit: it may be what sends or deletes.
"""

from __future__ import annotations

from typing import Any, Final

from ...errors import Refuse
from ...tools import Tool
from .._act import ActResult
from .._quoting import quote_strictly
from .._snapshot import Control
from ._desk import MAX_VALUE, Args, Desk
from ._hand import Hand, hand_tool
from ._spending import Prices
from ._words import describe_control

__all__ = ["dialog_tools"]

OPS: Final = ("click", "check", "uncheck", "enter")
"""What may be done again; none of them takes a value."""


def dialog_tools(desk: Desk, prices: Prices | None = None) -> list[Tool]:
    """`answer_dialog`, with scope submit."""
    hand = Hand(
        name="answer_dialog",
        description=(
            "Use a control of the newest snapshot that makes the page ask something (confirm, prompt, leave this page?), and "
            "answer that one question: yes with accept true, with reply for a prompt. Otherwise every question is answered no."
        ),
        scope="submit",
        properties={
            "accept": {"type": "boolean"},
            "reply": {"type": "string", "maxLength": MAX_VALUE, "description": "The text for a prompt."},
            "op": {"type": "string", "enum": list(OPS), "description": "What to do to the control; click when left out."},
        },
        required=("accept",),
        order=_order,
        words=_words,
        presses=lambda args: "enter" if args["op"] == "enter" else "click",
        told=_told,
    )
    return [hand_tool(desk, hand, prices)]


def _order(args: Args, control: Control) -> dict[str, Any]:
    if "reply" in args and not args["accept"]:
        raise Refuse("A reply is given with accept true. Leave reply out to decline.")
    dialog = {"accept": args["accept"], **({"reply": args["reply"]} if "reply" in args else {})}
    return {"op": args.get("op", "click"), "value": None, "dialog": dialog}


def _words(args: Args) -> str:
    dialog = args["dialog"]
    answer = f"with {quote_strictly(dialog['reply'])}" if "reply" in dialog else "with yes" if dialog["accept"] else "with no"
    return f"answer {answer} the first question that the page asks when you do this: " + describe_control(
        args["op"], None, args["target"]
    )


def _told(result: ActResult) -> str | None:
    if any(seen.kind != "alert" for seen in result.dialogs):
        return None
    return "The page asked nothing, so no answer was given."
