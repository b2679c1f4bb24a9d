"""The tools that only look: `snapshot` and `screenshot`."""

from __future__ import annotations

import base64

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError
from ...tools import Tool
from ._desk import Args, Desk
from ._view import SCREENSHOT_ARGS, SNAPSHOT_ARGS, View, check_screenshot_args, check_snapshot_args
from ._words import describe_screenshot, describe_snapshot, say_page, say_picture

__all__ = ["looking_tools"]


def looking_tools(desk: Desk) -> list[Tool]:
    """`snapshot` and `screenshot`, both with scope read."""
    return [
        Tool(
            name="snapshot",
            description=(
                "Read the page in the tab: its controls with their ids, and its text. Of a large page only what matters most is "
                "shown; the arguments, none of which is needed, find the rest."
            ),
            parameters=SNAPSHOT_ARGS,
            scope="read",
            domain=desk.domain,
            prepare=check_snapshot_args,
            describe=lambda args, ctx: describe_snapshot(args, ctx.domain),
            run=lambda args, ctx: _snapshot(desk, args, ctx),
            environment=desk.tab.session,
        ),
        Tool(
            name="screenshot",
            description=(
                "Take a picture of what is in view, of the whole page, or of one control, for the user. It is kept with the "
                "result; to read the page, call snapshot."
            ),
            parameters=SCREENSHOT_ARGS,
            scope="read",
            domain=desk.domain,
            prepare=check_screenshot_args,
            describe=lambda args, ctx: describe_screenshot(args, ctx.domain),
            run=lambda args, ctx: _screenshot(desk, args, ctx),
            environment=desk.tab.session,
        ),
    ]


async def _snapshot(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        if (moved := desk.moved(ctx)) is not None:
            return moved
        before, whole = desk.memory.snapshot, desk.memory.whole
        view = View.of(args, await desk.asked_focus())
        try:
            page = await desk.look(ctx, view)
        except BrowserError as error:
            return desk.failed("snapshot", error, ctx)
        if page is None:
            return desk.failed_moved(ctx)
        ctx.report_effect("done")
        stop = page.captcha and not (before is not None and before.captcha)
        text = view.text(page, since=whole if "since" in args else None)
        return ToolOutput(ok=True, summary=say_page(page), untrusted=text, stop_batch=stop)


async def _screenshot(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        if (moved := desk.moved(ctx)) is not None:
            return moved
        element, full_page = args.get("control_id"), args.get("area") == "page"
        try:
            picture = await desk.tab.screenshot(full_page=full_page, element=element, marks=args.get("marks", False))
        except BrowserError as error:
            return desk.failed("screenshot", error, ctx)
        if (moved := desk.moved(ctx)) is not None:  # the picture may be of another site, which nobody judged
            return moved
        ctx.report_effect("done")
        facts = {"media_type": picture.media_type, "width": picture.width, "height": picture.height, "scale": picture.scale}
        image = base64.b64encode(picture).decode("ascii")
        data = {**facts, "marked": list(picture.marked), "cut": picture.cut, "image": image}
        return ToolOutput(ok=True, summary=say_picture(picture), data=data)
