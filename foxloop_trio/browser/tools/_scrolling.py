"""The tool `scroll`: moves the page, or what a control stands in, by pixels, to an edge, or until a text comes."""

from __future__ import annotations

from typing import Any, Final

from ...actions import ToolContext, ToolOutput
from ...errors import Refuse
from ...tools import Tool
from ...wire import LIMITS
from .._act import ActResult
from .._quoting import quote
from ._acting import run_pinned
from ._desk import Args, Desk
from ._view import CONTROL_ID
from ._words import describe_control

__all__ = ["scrolling_tools"]

FAR: Final = {"type": "integer", "minimum": -100_000, "maximum": 100_000}
"""Pixels; the longest real pages have a few hundred thousand, and a planner can scroll again."""


def scrolling_tools(desk: Desk) -> list[Tool]:
    """`scroll`, with scope read: nothing is sent by it but what a reader of the page would cause."""

    async def prepare(args: Args, ctx: ToolContext) -> Args:
        return await _prepare(desk, args)

    async def run(args: Args, ctx: ToolContext) -> ToolOutput:
        return await run_pinned(desk, args, ctx, "scroll", args["value"], told=_told)

    return [
        Tool(
            name="scroll",
            description=(
                "Scroll the page, or with control_id what that control stands in: by pixels down and right, to an edge, or until a "
                'text comes (for lists that load as they are scrolled). edge "here" brings the control itself into view. '
                "Afterwards the page is read."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "control_id": CONTROL_ID,
                    "down": {**FAR, "description": "Pixels; negative is up."},
                    "right": {**FAR, "description": "Pixels; negative is left."},
                    "edge": {"type": "string", "enum": ["top", "bottom", "here"]},
                    "until": {"type": "string", "minLength": 1, "maxLength": LIMITS["find"]},
                },
            },
            scope="read",
            domain=desk.domain,
            prepare=prepare,
            describe=lambda args, ctx: _words(args),
            run=run,
            environment=desk.tab.session,
        )
    ]


async def _prepare(desk: Desk, args: Args) -> Args:
    by: dict[str, Any] = {name: args[name] for name in ("down", "right") if name in args}
    ways = [bool(by), "edge" in args, "until" in args]
    if sum(ways) > 1:
        raise Refuse("scroll goes one way: by down and right, to an edge, or until a text comes. Leave the others out.")
    if args.get("edge") == "here" and "control_id" not in args:
        raise Refuse('edge "here" brings a control into view. Give its control_id.')
    if "until" in args and not args["until"].strip():
        raise Refuse("until needs at least one word.")
    to: dict[str, Any] = {name: args[name] for name in ("edge", "until") if name in args}
    if "control_id" in args:
        _, pin = await desk.pinned(args["control_id"])
    else:
        pin = await desk.pinned_page()
    return {"op": "scroll", "value": by or to or None, "target": pin}


def _words(args: Args) -> str:
    value = args["value"] or {}
    how = ", ".join(f"{name} {quote(given) if isinstance(given, str) else given}" for name, given in sorted(value.items()))
    return describe_control("scroll", None, args["target"]) + (f" ({how})" if how else "")


def _told(result: ActResult) -> str | None:
    return None if result.detail is None else f"Scrolled: {quote(result.detail)}"
