"""The tool `wait_for`: until a text or a control comes or goes, or the page comes to rest, with a deadline.

The tab is not held meanwhile: each look takes its lock and gives it back. The deadline is Trio's time, and a cancel ends the wait
at once.
"""

from __future__ import annotations

from typing import Final

import trio

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError, Refuse
from ...tools import Tool
from ...wire import LIMITS
from .._quoting import quote
from .._snapshot import Snapshot
from .._tab import NOT_YET
from ._desk import Args, Desk
from ._page_pin import page_pin
from ._view import View
from ._words import say_page

__all__ = ["MAX_WAIT_SECONDS", "waiting_tools"]

MAX_WAIT_SECONDS: Final = 30.0
POLL_SECONDS: Final = 0.2
"""Between two looks, when the browser tells nothing of the tab; a look for a text costs a few milliseconds in the page."""
SETTLE_MOST: Final = 1.5
"""Seconds after which the page says that it is at rest although it is not."""


def waiting_tools(desk: Desk) -> list[Tool]:
    """`wait_for`, with scope read."""
    return [
        Tool(
            name="wait_for",
            description=(
                "Wait until text stands on the page, or a control with that label is there; with gone true, until it is gone; with "
                "neither, until the page has come to rest. At most seconds (30). Then the page is read."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "text": {"type": "string", "minLength": 1, "maxLength": LIMITS["find"]},
                    "control": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": LIMITS["label"],
                        "description": "Words of its label.",
                    },
                    "gone": {"type": "boolean"},
                    "seconds": {"type": "number", "minimum": 0.2, "maximum": MAX_WAIT_SECONDS},
                },
                "required": ["seconds"],
            },
            scope="read",
            domain=desk.domain,
            prepare=lambda args, ctx: _prepare(args),
            describe=lambda args, ctx: _words(args, ctx.domain),
            run=lambda args, ctx: _run(desk, args, ctx),
            environment=desk.tab.session,
        )
    ]


def _prepare(args: Args) -> Args:
    if "text" in args and "control" in args:
        raise Refuse("wait_for waits for one thing: a text, or a control. Leave one of them out.")
    wanted = args.get("text", args.get("control"))
    if wanted is None and args.get("gone"):
        raise Refuse("gone needs a text or a control that is to go.")
    if wanted is not None and not wanted.strip():
        raise Refuse("Give at least one word to wait for.")
    return args


def _words(args: Args, host: str | None) -> str:
    if "text" in args or "control" in args:
        what = f"the text {quote(args['text'])}" if "text" in args else f"a control {quote(args['control'])}"
        until = f"until {what} is {'gone' if args.get('gone') else 'there'}"
    else:
        until = "until the page has come to rest"
    return f"wait {until}, at most {args['seconds']:g} seconds, on {host}; then read the page"


async def _run(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    began = trio.current_time()
    met = False
    try:
        with trio.move_on_after(args["seconds"]):
            met = await (_until_quiet(desk, ctx) if "text" not in args and "control" not in args else _until(desk, args, ctx))
    except BrowserError as error:
        return desk.failed("wait_for", error, ctx)
    waited = trio.current_time() - began
    async with desk.hold():
        if (moved := desk.moved(ctx)) is not None:
            return moved
        try:
            page = await desk.look(ctx, View.of({}, await desk.asked_focus()))
        except BrowserError as error:
            return desk.failed("wait_for", error, ctx)
        if page is None:
            return desk.failed_moved(ctx)
        ctx.report_effect("done")
        text = View.of({}, await desk.asked_focus()).text(page)
        if met:
            return ToolOutput(ok=True, summary=f"It came after {waited:.1f} seconds. {say_page(page)}", untrusted=text)
        summary = f"It did not come within {waited:.1f} seconds. Look at the page, then decide again. {say_page(page)}"
        return ToolOutput(ok=False, summary=summary, untrusted=text)


async def _until(desk: Desk, args: Args, ctx: ToolContext) -> bool:
    """True once it is so; False when the tab has moved to another host."""
    wanted: str = args["text"] if "text" in args else args["control"]
    gone = args.get("gone", False)
    while True:
        async with desk.hold():
            if desk.moved(ctx) is not None:
                return False
            try:
                there = _is_there(await desk.tab.snapshot(find=wanted), wanted, control="control" in args)
            except BrowserError as error:
                if error.code not in NOT_YET:
                    raise
                there = None
        if there is not None and there is not gone:
            return True
        await desk.tab.session.wait_news(POLL_SECONDS)


async def _until_quiet(desk: Desk, ctx: ToolContext) -> bool:
    """True once nothing changes any more; False when the tab has moved to another host."""
    while True:
        async with desk.hold():
            if desk.moved(ctx) is not None:
                return False
            try:
                page = await desk.tab.snapshot(max_text=0, max_controls=1)
                settled = await desk.tab.settle(page_pin(desk.tab.id, page))
            except BrowserError as error:
                if error.code not in NOT_YET:
                    raise
                await trio.sleep(POLL_SECONDS)
                continue
        if not settled.gone and settled.waited < SETTLE_MOST:
            return True


def _is_there(page: Snapshot, wanted: str, *, control: bool) -> bool:
    """Whether the look, which was for these words, found them: in a control's label, or in any text."""
    needle = _folded(wanted)
    # A search lists plain texts too; a sentence is no control.
    labels = any(needle in _folded(found.label) for found in page.controls if not (control and found.role == "text"))
    return labels or (not control and (any(_holds(needle, frame.text) for frame in page.frames) or _in_values(needle, page)))


def _in_values(needle: str, page: Snapshot) -> bool:
    return any(needle in _folded(found.shown_value) for found in page.controls)


def _holds(needle: str, text: str) -> bool:
    return needle in _folded(text)


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()
