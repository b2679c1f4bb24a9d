"""The tool `drag`: take hold of a control and let go elsewhere: onto another control, so many pixels away, or along a path."""

from __future__ import annotations

from typing import Any, Final

from ...errors import Refuse
from ...tools import Tool
from ...wire import LIMITS
from .._snapshot import Control
from ._desk import Args, Desk
from ._hand import PERCENT, Hand, hand_tool, point_of, point_words
from ._spending import Prices
from ._view import CONTROL_ID
from ._words import describe_control

__all__ = ["dragging_tools"]

FAR: Final = {"type": "number", "minimum": -10_000, "maximum": 10_000}
MAX_POINTS_SHOWN: Final = 5


def dragging_tools(desk: Desk, prices: Prices | None = None) -> list[Tool]:
    """`drag`, with scope fill. The control that it is dragged onto is pinned and judged like the one that is dragged."""

    async def order(args: Args, control: Control) -> dict[str, Any]:
        return await _order(desk, args, control)

    drag = Hand(
        name="drag",
        description=(
            "Drag one control of the newest snapshot: onto another control (there to x and y, in percent of its box), or by so "
            "many pixels, or along a path of points in percent of its own box, for drawing and for sliders. from_x and from_y say "
            "where to take hold."
        ),
        scope="fill",
        properties={
            "onto": {**CONTROL_ID, "description": "The id of the control to drop it on."},
            "x": PERCENT,
            "y": PERCENT,
            "by_x": {**FAR, "description": "Pixels to the right; negative to the left."},
            "by_y": {**FAR, "description": "Pixels down; negative up."},
            "path": {
                "type": "array",
                "minItems": 1,
                "maxItems": LIMITS["path"],
                "items": {"type": "array", "items": FAR, "minItems": 2, "maxItems": 2},
                "description": "Points [x, y]. With from_x and from_y it begins there, else in the middle.",
            },
            "from_x": PERCENT,
            "from_y": PERCENT,
        },
        order=order,
        words=_words,
        presses=lambda args: "click",  # "slide to pay", or what is dropped into a purchase
    )
    return [hand_tool(desk, drag, prices)]


async def _order(desk: Desk, args: Args, control: Control) -> dict[str, Any]:
    by = "by_x" in args or "by_y" in args
    ways = [by, "onto" in args, "path" in args]
    if sum(ways) != 1:
        raise Refuse("drag needs one of onto, by_x with by_y, and path: say where to let go in one way.")
    if "onto" not in args and point_of(args):
        raise Refuse("x and y are a point of the control that it is dropped on. Give onto as well, or use by_x and by_y.")
    start = {"from": point} if (point := point_of(args, "from_x", "from_y")) else {}
    if by:
        return {"op": "drag", "value": {"by": {"x": args.get("by_x", 0), "y": args.get("by_y", 0)}, **start}}
    if "path" in args:
        return {"op": "drag", "value": {"path": args["path"], **start}}
    if args["onto"] == args["control_id"]:
        raise Refuse("A control cannot be dropped on itself. Use by_x and by_y, or path.")
    other, pin = await desk.pinned(args["onto"])
    if other.frame != control.frame:
        raise Refuse("The two controls lie in different frames, and nothing can be dragged from one into another.")
    onto = {"node": other.node, "guard": other.guard, "control": other.id, **point_of(args)}
    return {"op": "drag", "value": {"onto": onto, **start}, "onto": pin}


def _words(args: Args) -> str:
    value = args["value"]
    what = describe_control("drag", None, args["target"])
    start = f", taken hold of {point_words(value['from'])}" if "from" in value else ""
    if "onto" in value:
        at = f", {point_words(value['onto'])}" if "x" in value["onto"] else ""
        return f"{what}{start}; {describe_control('drop it', None, args['onto'])}{at}"
    if "by" in value:
        return f"{what}{start}; by {value['by']['x']:g} pixels to the right and {value['by']['y']:g} down"
    points = "; ".join(f"{x:g}, {y:g}" for x, y in value["path"][:MAX_POINTS_SHOWN])
    more = f" and {len(value['path']) - MAX_POINTS_SHOWN} more" if len(value["path"]) > MAX_POINTS_SHOWN else ""
    return f"{what}{start}; along the points (percent of its box) {points}{more}"
