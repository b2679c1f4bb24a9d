"""What the tools of a hand have in common: one operation on one pinned control, judged with its value, done once.

Each of them turns the planner's arguments into an operation and a value of the wire's, which then are what is judged, approved and
done: `op`, `value` and `target` stand in the judged arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal

import attrs

from ...actions import Scope, ToolContext, ToolOutput
from ...tools import Tool
from .._act import ActResult
from .._snapshot import MASK, Control
from ._acting import run_pinned
from ._desk import Args, Desk
from ._spending import Prices, note_spending
from ._view import CONTROL_ID
from ._words import say_spending

__all__ = ["PERCENT", "Hand", "hand_tool", "point_of", "point_words"]

PERCENT: Final = {"type": "number", "minimum": 0, "maximum": 100}


@attrs.frozen(kw_only=True)
class Hand:
    """One tool: `order` turns the arguments and the control into `op` and `value` (and, for a drag, `onto`), or raises Refuse; its
    `words` are those for the approver; `presses` says of the judged arguments whether they may do to the control
    what a click does, or Enter in it; `told` quotes something of the result for the planner;
    `writes` names the argument that is written into the control, and `harmless` says of it that it writes nothing.
    """

    name: str
    description: str
    scope: Scope
    properties: Mapping[str, Any]
    required: tuple[str, ...] = ()
    order: Callable[[Args, Control], Args | Awaitable[Args]]
    words: Callable[[Args], str]
    presses: Callable[[Args], Literal["click", "enter"] | None] = lambda args: None
    told: Callable[[ActResult], str | None] | None = None
    writes: str | None = None
    harmless: Callable[[str], bool] = lambda text: False


def hand_tool(desk: Desk, hand: Hand, prices: Prices | None = None, *, masks: bool = False) -> Tool:
    """The tool for this hand. Where it may spend money a human is asked each time, or, with `prices`, it is refused.

    `masks`: what it writes into secret, sensitive and unknown controls stays out of records.
    """

    async def prepare(args: Args, ctx: ToolContext) -> Args:
        page, [(control, pin)] = await desk.all_pinned([args["control_id"]])
        order = hand.order(args, control)
        judged = await order if isinstance(order, Awaitable) else order
        judged = {"control_id": args["control_id"], **judged, "target": pin}
        press = hand.presses(judged)
        also = page.control(judged["onto"]["control"]) if "onto" in judged else None
        return judged if press is None else note_spending(page, control, judged, prices, enter=press == "enter", also=also)

    def describe(args: Args, ctx: ToolContext) -> str:
        return f"{hand.words(args)}. {say_spending(args['spends'])}" if "spends" in args else hand.words(args)

    async def run(args: Args, ctx: ToolContext) -> ToolOutput:
        also = (args["onto"],) if "onto" in args else ()
        how = {"dialog": args["dialog"]} if "dialog" in args else {}
        return await run_pinned(desk, args, ctx, args["op"], args.get("value"), also=also, told=hand.told, **how)

    def redact(args: Args) -> Args:
        """As the planner gave it, valid or not, and as it is judged."""
        given = {name: args[name] for name in (hand.writes, "value") if name is not None and args.get(name) is not None}
        if all(isinstance(text, str) and hand.harmless(text) for text in given.values()):
            return args
        return {**args, **dict.fromkeys(given, MASK)} if desk.is_masked(args.get("control_id")) else args

    return Tool(
        name=hand.name,
        description=hand.description,
        parameters={
            "type": "object",
            "properties": {"control_id": CONTROL_ID, **hand.properties},
            "required": ["control_id", *hand.required],
        },
        scope=hand.scope,
        domain=desk.domain,
        prepare=prepare,
        describe=describe,
        run=run,
        asks=lambda args: "spends" in args,
        redact=redact if masks and hand.writes is not None else None,
        environment=desk.tab.session,
    )


def point_of(args: Args, x: str = "x", y: str = "y") -> dict[str, Any]:
    """The point that the arguments name, in percent of a box; the middle of an axis that is left out. Empty when both are."""
    return {"x": args.get(x, 50), "y": args.get(y, 50)} if x in args or y in args else {}


def point_words(point: Mapping[str, Any]) -> str:
    """A point of a box, in words."""
    return f"{point['x']:g} % from the left and {point['y']:g} % from the top of its box"
