"""The tool `open_url`: an address that the gate judges by its own host."""

from __future__ import annotations

from typing import Final

import trio

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError
from ...tools import Tool
from ._address import parse_address
from ._desk import Args, Desk
from ._view import View
from ._words import describe_open

__all__ = ["opening_tools"]

MAX_ADDRESS: Final = 2000
"""Characters, from the tool reference."""


def opening_tools(desk: Desk) -> list[Tool]:
    """`open_url`, with scope read."""
    return [
        Tool(
            name="open_url",
            description="Open an http or https address in the tab and read the page.",
            parameters={
                "type": "object",
                "properties": {"url": {"type": "string", "maxLength": MAX_ADDRESS}},
                "required": ["url"],
            },
            scope="read",
            domain=lambda args, ctx: parse_address(args["url"]).host,
            prepare=lambda args, ctx: {**args, "url": parse_address(args["url"]).url},
            describe=lambda args, ctx: describe_open(args["url"]),
            run=lambda args, ctx: _open_url(desk, args, ctx),
            environment=desk.tab.session,
        ),
    ]


async def _open_url(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        await trio.lowlevel.checkpoint_if_cancelled()
        desk.memory.drop()
        ctx.report_effect("unknown")
        try:
            await desk.tab.goto(args["url"])
        except BrowserError as error:
            return desk.failed("open_url", error, ctx)
        ctx.report_effect("done")
        page, words = await desk.page_after(ctx)
        text = View.of({}, await desk.asked_focus()).text(page) if page is not None else None
        return ToolOutput(ok=True, summary=f"The address was opened. {words}", untrusted=text, stop_batch=True)
