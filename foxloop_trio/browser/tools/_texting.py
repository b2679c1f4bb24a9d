"""The tools `select_text` and `clipboard`: marking text, and copying, cutting and pasting it inside one page.

The clipboard is the document's own: the user's is neither read nor written. Nothing is taken out of a field that is secret or
sensitive, and nothing is put into a secret one.
"""

from __future__ import annotations

from typing import Any, Final

from ...errors import Refuse
from ...tools import Tool
from ...wire import LIMITS
from .._act import ActResult
from .._quoting import quote
from .._snapshot import Control
from ._desk import MAX_VALUE, Args, Desk
from ._hand import Hand, hand_tool
from ._words import describe_control

__all__ = ["texting_tools"]

MAX_NTH: Final = 10_000


def texting_tools(desk: Desk, *, masks: bool = False) -> list[Tool]:
    """Both with scope fill."""
    select_text = Hand(
        name="select_text",
        description=(
            "Mark text in one control of the newest snapshot, as with the mouse: the first place of text, or its nth one; all of "
            "it when text is left out."
        ),
        scope="fill",
        properties={
            "text": {"type": "string", "minLength": 1, "maxLength": LIMITS["find"]},
            "nth": {"type": "integer", "minimum": 1, "maximum": MAX_NTH, "description": "Which place, from 1."},
        },
        order=_select,
        words=_select_words,
        told=lambda result: _told("Marked", result),
    )
    clipboard = Hand(
        name="clipboard",
        description=(
            "copy or cut what is marked in one control of the newest snapshot (all of it when nothing is), or paste there: text, "
            "or what was copied on this page last. The user's own clipboard is not touched."
        ),
        scope="fill",
        properties={
            "op": {"type": "string", "enum": ["copy", "cut", "paste"]},
            "text": {"type": "string", "minLength": 1, "maxLength": MAX_VALUE, "description": "For paste."},
        },
        required=("op",),
        order=_clip,
        words=lambda args: describe_control(args["op"], args.get("value"), args["target"]),
        told=lambda result: _told("The text", result),
        writes="text",
    )
    return [hand_tool(desk, select_text), hand_tool(desk, clipboard, masks=masks)]


def _select(args: Args, control: Control) -> dict[str, Any]:
    if control.secret or control.sensitive:
        raise Refuse("Nothing is marked in a field that holds a secret or something sensitive. Leave it to the user.")
    if "nth" in args and "text" not in args:
        raise Refuse("nth says which place of a text. Give text as well, or leave nth out.")
    text = args.get("text")
    return {"op": "select_text", "value": {"text": text, "nth": args["nth"]} if "nth" in args else text}


def _select_words(args: Args) -> str:
    value = args["value"]
    text, nth = (value["text"], value["nth"]) if isinstance(value, dict) else (value, None)
    which = "" if nth is None else f", place {nth} of that text"
    return describe_control("mark the text" if text is not None else "mark all text", text, args["target"]) + which


def _clip(args: Args, control: Control) -> dict[str, Any]:
    op, text = args["op"], args.get("text")
    if op != "paste" and text is not None:
        raise Refuse(f"{op} takes what is marked. Leave text out, or mark it first with select_text.")
    if control.secret or (control.sensitive and op != "paste"):
        raise Refuse("Nothing is copied out of a field that holds a secret, nor pasted into one. Leave it to the user.")
    return {"op": op, "value": text}


def _told(what: str, result: ActResult) -> str | None:
    return None if result.value is None else f"{what}: {quote(result.value)}"
