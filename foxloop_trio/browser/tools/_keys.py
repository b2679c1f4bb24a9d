"""The tool `press`: keys and shortcuts, sent to one control. Enter may send a form, so its scope is submit."""

from __future__ import annotations

from typing import Any, Final, Literal

from ...errors import Refuse
from ...tools import Tool
from .._snapshot import Control
from ._desk import Args, Desk
from ._hand import Hand, hand_tool
from ._spending import Prices
from ._words import describe_control

__all__ = ["MAX_STROKES", "key_tools"]

MAX_STROKES: Final = 50
"""Strokes of one call: as many steps as a result can name."""
MAX_KEYS_TEXT: Final = 1_000

HARMLESS: Final = frozenset(
    {
        *("enter", "return", "escape", "esc", "tab", "home", "end", "pageup", "pgup", "pagedown", "pgdn"),
        *("arrowleft", "left", "arrowup", "up", "arrowright", "right", "arrowdown", "down"),
    }
)
"""Keys, in lower case, that neither write into a field nor take anything out of it."""


def key_tools(desk: Desk, prices: Prices | None = None, *, masks: bool = False) -> list[Tool]:
    """`press`, with scope submit."""
    return [
        hand_tool(
            desk,
            Hand(
                name="press",
                description=(
                    "Press keys in one control of the newest snapshot, parted by spaces: Enter, Control+A, ArrowDown ArrowDown, "
                    "Escape. To write a text use act with type. Enter may send a form."
                ),
                scope="submit",
                properties={
                    "keys": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": MAX_KEYS_TEXT,
                        "description": f'Such as "Enter" or "Control+A Delete"; at most {MAX_STROKES} strokes.',
                    }
                },
                required=("keys",),
                order=_order,
                words=lambda args: describe_control("press", args["value"], args["target"]),
                presses=_presses,
                writes="keys",
                harmless=_is_harmless,
            ),
            prices,
            masks=masks,
        )
    ]


def _presses(args: Args) -> Literal["click", "enter"] | None:
    """Enter, and Space on a button, do what a click does."""
    keys = {stroke.rpartition("+")[2].lower() for stroke in args["value"].split()}
    return "enter" if keys & {"enter", "return", "space"} else None


def _is_harmless(keys: str) -> bool:
    return keys.strip() != "" and all(stroke.rpartition("+")[2].lower() in HARMLESS for stroke in keys.split())


def _order(args: Args, control: Control) -> dict[str, Any]:
    strokes = args["keys"].split() or ["Space"]
    if len(strokes) > MAX_STROKES:
        raise Refuse(f"{len(strokes)} strokes are too many for one call: press {MAX_STROKES} at most, then go on.")
    if control.secret and not _is_harmless(args["keys"]):
        raise Refuse("This field is secret, and no keys that write are pressed in secret fields. Leave it to the user.")
    return {"op": "press", "value": " ".join(strokes)}
