"""The tool `history`: back, forward, or the same page again."""

from __future__ import annotations

import trio

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError
from ...tools import Tool
from ._desk import Args, Desk
from ._view import View

__all__ = ["history_tools"]


def history_tools(desk: Desk) -> list[Tool]:
    """`history`, with scope read, judged for the host that the tab shows; what it leads to on another host is not read."""
    return [
        Tool(
            name="history",
            description="Go one page back or forward in the tab, or load its page again, and read what comes.",
            parameters={
                "type": "object",
                "properties": {"go": {"type": "string", "enum": ["back", "forward", "reload"]}},
                "required": ["go"],
            },
            scope="read",
            domain=desk.domain,
            describe=lambda args, ctx: _words(args["go"], ctx.domain),
            run=lambda args, ctx: _run(desk, args, ctx),
            environment=desk.tab.session,
        )
    ]


def _words(go: str, host: str | None) -> str:
    return f"{'load the page again' if go == 'reload' else f'go one page {go}'} in the tab, which shows {host}"


async def _run(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        await trio.lowlevel.checkpoint_if_cancelled()
        if (moved := desk.moved(ctx)) is not None:
            return moved
        desk.memory.drop()
        ctx.report_effect("unknown")
        try:
            await desk.tab.history(args["go"])
        except BrowserError as error:
            if error.code == "navigation-failed":
                ctx.report_effect("not-started")
            return desk.failed(f"history {args['go']}", error, ctx)
        ctx.report_effect("done")
        page, words = await desk.page_after(ctx)
        text = View.of({}, await desk.asked_focus()).text(page) if page is not None else None
        done = "The page was loaded again." if args["go"] == "reload" else f"The tab went one page {args['go']}."
        return ToolOutput(ok=True, summary=f"{done} {words}", untrusted=text, stop_batch=True)
