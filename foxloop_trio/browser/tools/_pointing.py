"""The tools `hover` and `click_at`: the pointer over a control, and a click at a point of one (a canvas, a drawing, a map)."""

from __future__ import annotations

from typing import Any

from ...tools import Tool
from .._snapshot import Control
from ._desk import Args, Desk
from ._hand import PERCENT, Hand, hand_tool, point_of, point_words
from ._spending import Prices
from ._words import describe_control

__all__ = ["pointing_tools"]


def pointing_tools(desk: Desk, prices: Prices | None = None) -> list[Tool]:
    """`hover` with scope fill, since it sends nothing by itself; `click_at` with scope submit, as any click."""
    hover = Hand(
        name="hover",
        description=(
            "Bring the pointer over one control of the newest snapshot, and leave it there: for menus and hints that open so. "
            "x and y are percent of its box; its middle when left out."
        ),
        scope="fill",
        properties={"x": PERCENT, "y": PERCENT},
        order=_hover,
        words=_hover_words,
        presses=lambda args: "click",  # a page may take it for one
    )
    click_at = Hand(
        name="click_at",
        description=(
            "Click at a point of one control of the newest snapshot, in percent of its box from its left top corner: for canvases, "
            "drawings and maps; or twice, or with the right button. A click may send a form."
        ),
        scope="submit",
        properties={
            "x": PERCENT,
            "y": PERCENT,
            "count": {"type": "integer", "minimum": 1, "maximum": 2, "description": "2 for a double click."},
            "button": {"type": "string", "enum": ["left", "right"]},
        },
        required=("x", "y"),
        order=_click_at,
        words=_click_words,
        presses=lambda args: "click",
    )
    return [hand_tool(desk, hover, prices), hand_tool(desk, click_at, prices)]


def _hover(args: Args, control: Control) -> dict[str, Any]:
    return {"op": "hover", "value": point_of(args) or None}


def _hover_words(args: Args) -> str:
    at = "" if args["value"] is None else f", {point_words(args['value'])}"
    return f"{describe_control('hover', None, args['target'])}{at}"


def _click_at(args: Args, control: Control) -> dict[str, Any]:
    more = {name: args[name] for name in ("count", "button") if name in args}
    return {"op": "click", "value": {"x": args["x"], "y": args["y"], **more}}


def _click_words(args: Args) -> str:
    value = args["value"]
    twice = ", twice" if value.get("count") == 2 else ""
    button = ", with the right button" if value.get("button") == "right" else ""
    return f"{describe_control('click', None, args['target'])}, {point_words(value)}{twice}{button}"
