"""The tools `list_tabs`, `open_tab`, `use_tab` and `close_tab`: the pack's own tab, and those that it opened.

The user's other tabs are nobody's business: they are not listed, not turned to and not closed, whatever id a planner names.
"""

from __future__ import annotations

from typing import Any, Final

import trio

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError, Refuse
from ...tools import Tool
from .._quoting import quote, quote_address
from .._tab import Tab
from ._address import parse_address, plain_host
from ._desk import Args, Desk
from ._opening import MAX_ADDRESS
from ._view import View
from ._words import describe_open, say_error, say_moved

__all__ = ["tab_tools"]

TAB_ID: Final = {"type": "integer", "minimum": 0, "description": "The number of a tab, as list_tabs has it."}
NO_PAGE: Final = "no web page"


def tab_tools(desk: Desk) -> list[Tool]:
    """`list_tabs`, `open_tab` and `use_tab` with scope read; `close_tab` with scope fill, since it may throw away what was filled
    in. Each is judged for the host of the tab that it is about.
    """
    one_tab = {"type": "object", "properties": {"tab_id": TAB_ID}, "required": ["tab_id"]}
    session = desk.home.session
    return [
        Tool(
            name="list_tabs",
            description="List the tabs that can be used: the first one, and those that were opened from it or by open_tab.",
            parameters={"type": "object", "properties": {}},
            scope="read",
            domain=lambda args, ctx: _any_host(desk),
            describe=lambda args, ctx: "list the tabs that this run has opened, and its own",
            run=lambda args, ctx: _list(desk, ctx),
            environment=session,
        ),
        Tool(
            name="open_tab",
            description="Open an http or https address in a new tab, work there from now on, and read the page.",
            parameters={
                "type": "object",
                "properties": {"url": {"type": "string", "maxLength": MAX_ADDRESS}},
                "required": ["url"],
            },
            scope="read",
            domain=lambda args, ctx: parse_address(args["url"]).host,
            prepare=lambda args, ctx: {**args, "url": parse_address(args["url"]).url},
            describe=lambda args, ctx: f"{describe_open(args['url'])} in a new tab",
            run=lambda args, ctx: _open(desk, args, ctx),
            environment=session,
        ),
        Tool(
            name="use_tab",
            description="Work in another tab of list_tabs from now on: all other tools use it. Its page is read.",
            parameters=one_tab,
            scope="read",
            domain=lambda args, ctx: _host(desk, args["tab_id"]),
            describe=lambda args, ctx: f"work in tab {args['tab_id']}, on {ctx.domain}, and read its page",
            run=lambda args, ctx: _use(desk, args, ctx),
            environment=session,
        ),
        Tool(
            name="close_tab",
            description="Close a tab that was opened from this one or by open_tab. The first tab cannot be closed.",
            parameters=one_tab,
            scope="fill",
            domain=lambda args, ctx: _host(desk, args["tab_id"], closing=True),
            prepare=lambda args, ctx: _closable(desk, args),
            describe=lambda args, ctx: f"close tab {args['tab_id']}, on {ctx.domain}",
            run=lambda args, ctx: _close(desk, args, ctx),
            environment=session,
        ),
    ]


# Before


async def _ours(desk: Desk, tab_id: int, *, fresh: bool = False) -> Tab:
    """The tab by what is known of it, or, with `fresh`, as it is now.

    Raises Refuse for a tab that is not ours, in the same words as for one that does not exist.
    """
    if not desk.is_ours(tab_id):
        raise Refuse("There is no tab of that number among those that can be used. Call list_tabs.")
    known = desk.home.session.known_tab(tab_id)
    if known is not None and not fresh:
        return known
    try:
        return await desk.home.session.tab(tab_id)
    except BrowserError as error:
        if error.code != "no-tab":
            raise Refuse(say_error(f"tab {tab_id}", error)) from error
        desk.opened.pop(tab_id, None)
        raise Refuse("That tab was closed. Call list_tabs to see which ones there are.") from error


async def _host(desk: Desk, tab_id: int, *, closing: bool = False) -> str:
    tab = await _ours(desk, tab_id)
    host = plain_host(tab.host)
    if host is None and closing:
        host = plain_host(desk.home.host)  # a window that never got a page belongs to where it came from
    if host is None:
        raise Refuse("That tab shows no web page, so there is nothing to work on in it.")
    return host


async def _any_host(desk: Desk) -> str:
    """The host of the tab in use; of another one of ours when that shows no page or is closed."""
    if not desk.tab.closed and (host := plain_host(desk.tab.host)) is not None:
        return host
    for tab in await _all(desk):
        if (host := plain_host(tab.host)) is not None:
            return host
    raise Refuse("None of the tabs shows a web page. Open one with open_tab.")


async def _all(desk: Desk) -> list[Tab]:
    """Our tabs that are still there, the pack's own one first."""
    try:
        there = {tab.id: tab for tab in await desk.home.session.tabs()}
    except BrowserError as error:
        raise Refuse(say_error("list_tabs", error)) from error
    for gone in [tab_id for tab_id in desk.opened if tab_id not in there]:
        del desk.opened[gone]
    return [there[tab_id] for tab_id in (desk.home.id, *desk.opened) if tab_id in there]


def _closable(desk: Desk, args: Args) -> Args:
    if args["tab_id"] == desk.home.id:
        raise Refuse("That tab was not opened by these tools, so it is not closed by them. Leave it open.")
    return args


# Doing it


async def _list(desk: Desk, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    try:
        tabs = await _all(desk)
    except Refuse as refusal:
        return ToolOutput(ok=False, summary=str(refusal))
    ctx.report_effect("done")
    known: list[dict[str, Any]] = []
    words, quoted = [], []
    for tab in tabs:
        host = plain_host(tab.host)
        in_use = tab is desk.tab
        known.append({"tab": tab.id, "host": host, "in_use": in_use, "opened": tab.id in desk.opened})
        words.append(f"tab {tab.id} on {host or NO_PAGE}{' (in use)' if in_use else ''}")
        if host == ctx.domain:  # what another host's page is called, nobody has judged
            quoted.append(f"Tab {tab.id}: {quote(tab.title)}, {quote_address(tab.url)}")
    count = f"{len(tabs)} tab{'' if len(tabs) == 1 else 's'}"
    summary = f"{count}: {'; '.join(words)}." if tabs else "No tab of ours is open any more. Open one with open_tab."
    return ToolOutput(ok=True, summary=summary, untrusted="\n".join(quoted) or None, data={"tabs": known})


async def _open(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.turning():
        await trio.lowlevel.checkpoint_if_cancelled()
        ctx.report_effect("unknown")
        try:
            tab = await desk.home.session.open_tab(args["url"], beside=desk.home)
        except BrowserError as error:
            return desk.failed("open_tab", error, ctx)
        desk.note_opened([tab.id])
        desk.turn_to(tab)
        ctx.report_effect("done")
    return await _turned(desk, ctx, f"Tab {tab.id} was opened, and is in use now.")


async def _use(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.turning():
        try:
            tab = await _ours(desk, args["tab_id"], fresh=True)
            if plain_host(tab.host) != ctx.domain:
                return ToolOutput(ok=False, summary=say_moved(ctx.domain, plain_host(tab.host)))
            if tab.session.allow_focus:  # in a person's Firefox the tab in front is theirs to choose
                ctx.report_effect("unknown")
                await tab.activate()
        except Refuse as refusal:
            return ToolOutput(ok=False, summary=str(refusal))
        except BrowserError as error:
            return desk.failed("use_tab", error, ctx)
        desk.turn_to(tab)
        ctx.report_effect("done")
    return await _turned(desk, ctx, f"Tab {tab.id} is in use now.")


async def _turned(desk: Desk, ctx: ToolContext, done: str) -> ToolOutput:
    async with desk.hold():
        page, words = await desk.page_after(ctx)
        text = View.of({}, await desk.asked_focus()).text(page) if page is not None else None
        return ToolOutput(ok=True, summary=f"{done} {words}", untrusted=text, stop_batch=True)


async def _close(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    tab_id = args["tab_id"]
    if tab_id == desk.home.id:
        return ToolOutput(ok=False, summary="Nothing was done: the first tab is not closed by these tools.")
    try:
        tab = await _ours(desk, tab_id, fresh=True)
    except Refuse as refusal:
        return ToolOutput(ok=False, summary=str(refusal))
    async with tab.lock:
        await trio.lowlevel.checkpoint_if_cancelled()
        host = plain_host(tab.host)
        if host != ctx.domain and not (host is None and plain_host(desk.home.host) == ctx.domain):
            return ToolOutput(ok=False, summary=say_moved(ctx.domain, host))
        ctx.report_effect("unknown")
        try:
            await tab.close()
        except BrowserError as error:
            return desk.failed("close_tab", error, ctx)
        ctx.report_effect("done")
    desk.opened.pop(tab_id, None)
    if tab is not desk.tab:
        return ToolOutput(ok=True, summary=f"Tab {tab_id} was closed.")
    desk.turn_to(desk.home)
    summary = f"Tab {tab_id} was closed. Tab {desk.home.id}, the first one, is in use now: call snapshot to see it."
    return ToolOutput(ok=True, summary=summary, stop_batch=True)
