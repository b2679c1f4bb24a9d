"""The browser tools: what a planner may do in one tab, each pinned to what was judged and done one at a time.

A call that names a control is prepared (the control of the newest look is described in a pin, which is judged and approved) and
then run (the pin is compared again, and only then acted on). The tab's lock is held for both, but never while a human decides.
"""

from __future__ import annotations

import base64
import inspect
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import trio

from ..actions import Permit, ToolContext, ToolOutput
from ..canonical import canonical_json
from ..errors import BrowserError, NotJsonError, Refuse, UsageError
from ..tools import Tool
from ._act import ActResult
from ._restricted import restriction_words
from ._snapshot import Control, Snapshot
from ._tab import Tab
from ._tools_address import host_of, parse_address, plain_host
from ._tools_pin import Memory, make_pin
from ._tools_view import CONTROL_ID, SCREENSHOT_ARGS, SNAPSHOT_ARGS, View, check_screenshot_args, check_snapshot_args
from ._tools_words import (
    NOT_READ,
    describe_control,
    describe_open,
    describe_screenshot,
    describe_snapshot,
    say_done,
    say_elsewhere,
    say_error,
    say_moved,
    say_page,
    say_picture,
    say_refused,
    say_stale,
    seen,
)
from .tasks import Chooser, browser_task_tool
from .tasks._run import Passwords

__all__ = ["browser_tools"]

MAX_VALUE: Final = 2000
MAX_ADDRESS: Final = 2000
"""Characters, from the tool reference."""

NEED_VALUE: Final = frozenset({"type", "select", "date"})
WRITE_VALUE: Final = frozenset({"type", "date"})
"""Operations that would write into a secret field."""
MAX_SCROLL: Final = 100_000
"""Pixels; the longest real pages have a few hundred thousand, and a planner can scroll again."""

Args = dict[str, Any]
Focus = Callable[[], str | Awaitable[str | None] | None]

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.ASCII)


def browser_tools(
    tab: Tab, *, passwords: Passwords | None = None, focus: Focus | None = None, chooser: Chooser | None = None
) -> list[Tool]:
    """The tools for one tab: snapshot, act, click, open_url, screenshot, browser_task.

    None of them takes a host: it is that of the tab's address, or of the address to open. Their results keep the page's words
    apart as untrusted text. `focus` is asked at each look, sync or async, for a text such as the goal: the page is then shown with
    its fields and with what shares words with that text, instead of its first controls.

    `browser_task` fills a form from a goal in words: `chooser` finds the control for each part of it, by rules when it is left out;
    `passwords(url)` gives the passwords that it may type into secret fields of a frame with that address, none when left out.
    """
    pack = _Pack(tab, focus)
    return [
        Tool(
            name="snapshot",
            description=(
                "Read the page in the tab: its controls with their ids, and its text. Of a large page only what matters most is "
                "shown; the arguments, none of which is needed, find the rest."
            ),
            parameters=SNAPSHOT_ARGS,
            scope="read",
            domain=pack.domain,
            prepare=check_snapshot_args,
            describe=lambda args, ctx: describe_snapshot(args, ctx.domain),
            run=pack.run_snapshot,
            environment=tab.session,
        ),
        Tool(
            name="act",
            description=(
                "Do one thing to one control of the newest snapshot: type replaces a field's text, select chooses an option by its "
                "value, check and uncheck set a box, date sets an ISO date, scroll moves the page by pixels."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "control_id": CONTROL_ID,
                    "op": {"type": "string", "enum": ["type", "select", "check", "uncheck", "date", "scroll"]},
                    "value": {"type": "string", "maxLength": MAX_VALUE, "description": "Needed for type, select and date."},
                },
                "required": ["control_id", "op"],
            },
            scope="fill",
            domain=pack.domain,
            prepare=pack.prepare_act,
            describe=lambda args, ctx: describe_control(args["op"], args.get("value"), args["target"]),
            run=pack.run_act,
            environment=tab.session,
        ),
        Tool(
            name="click",
            description="Click one control of the newest snapshot. A click may send a form.",
            parameters={"type": "object", "properties": {"control_id": CONTROL_ID}, "required": ["control_id"]},
            scope="submit",
            domain=pack.domain,
            prepare=pack.prepare_click,
            describe=lambda args, ctx: describe_control("click", None, args["target"]),
            run=pack.run_click,
            environment=tab.session,
        ),
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
            run=pack.run_open_url,
            environment=tab.session,
        ),
        Tool(
            name="screenshot",
            description=(
                "Take a picture of what is in view, of the whole page, or of one control, for the user. It is kept with the "
                "result; to read the page, call snapshot."
            ),
            parameters=SCREENSHOT_ARGS,
            scope="read",
            domain=pack.domain,
            prepare=check_screenshot_args,
            describe=lambda args, ctx: describe_screenshot(args, ctx.domain),
            run=pack.run_screenshot,
            environment=tab.session,
        ),
        browser_task_tool(tab, memory=pack.memory, chooser=chooser, passwords=passwords),
    ]


class _Pack:
    """The tools of one tab, which share one memory of what it showed."""

    def __init__(self, tab: Tab, focus: Focus | None) -> None:
        self._tab = tab
        self._focus = focus
        self._memory = self.memory = Memory()

    def domain(self, args: Args, ctx: ToolContext) -> str:
        """The host of the page in the tab, now."""
        host = self._tab.host
        if host is None:
            raise Refuse(f"The tab shows no web page: {restriction_words(self._tab.url)}. Open one with open_url first.")
        return host

    # Pinning

    async def prepare_act(self, args: Args, ctx: ToolContext) -> Args:
        op, value = args["op"], args.get("value")
        control, pin = await self._pinned(args["control_id"])
        if op in NEED_VALUE and value is None:
            raise Refuse(f"{op} needs a value: the text, the option's value or the ISO date.")
        if control.secret and op in WRITE_VALUE:
            raise Refuse("This field is secret, and act never writes into secret fields. Leave it to the user.")
        judged: Args = {"control_id": args["control_id"], "op": op, "target": pin}
        if op in NEED_VALUE:
            judged["value"] = value
        elif op == "scroll" and value is not None:
            judged["value"] = _pixels(value)
        return judged

    async def prepare_click(self, args: Args, ctx: ToolContext) -> Args:
        _, pin = await self._pinned(args["control_id"])
        return {"control_id": args["control_id"], "target": pin}

    async def _pinned(self, control_id: str) -> tuple[Control, dict[str, Any]]:
        """The control and its pin. Waits for the tab's lock, so no pin is taken between another call's act and its look."""
        async with self._tab.lock:
            snapshot, control = self._memory.find(control_id)
            if host_of(snapshot.url) != plain_host(self._tab.host):
                self._memory.drop()
                raise Refuse("The tab shows another site than the newest snapshot. Call snapshot, then decide again.")
            return control, make_pin(self._tab.id, snapshot, control)

    # Running

    async def run_snapshot(self, args: Args, ctx: ToolContext) -> ToolOutput:
        ctx.report_effect("not-started")
        async with self._tab.lock:
            if (moved := self._moved(ctx)) is not None:
                return moved
            before, whole = self._memory.snapshot, self._memory.whole
            view = View.of(args, await self._asked_focus())
            try:
                page = await self._look(ctx, view)
            except BrowserError as error:
                return self._failed("snapshot", error)
            if page is None:
                return self._failed_moved(ctx)
            ctx.report_effect("done")
            stop = page.captcha and not (before is not None and before.captcha)
            text = view.text(page, since=whole if "since" in args else None)
            return ToolOutput(ok=True, summary=say_page(page), untrusted=text, stop_batch=stop)

    async def run_screenshot(self, args: Args, ctx: ToolContext) -> ToolOutput:
        ctx.report_effect("not-started")
        async with self._tab.lock:
            if (moved := self._moved(ctx)) is not None:
                return moved
            element, full_page = args.get("control_id"), args.get("area") == "page"
            try:
                picture = await self._tab.screenshot(full_page=full_page, element=element, marks=args.get("marks", False))
            except BrowserError as error:
                return self._failed("screenshot", error)
            if (moved := self._moved(ctx)) is not None:  # the picture may be of another site, which nobody judged
                return moved
            ctx.report_effect("done")
            facts = {"media_type": picture.media_type, "width": picture.width, "height": picture.height, "scale": picture.scale}
            image = base64.b64encode(picture).decode("ascii")
            data = {**facts, "marked": list(picture.marked), "cut": picture.cut, "image": image}
            return ToolOutput(ok=True, summary=say_picture(picture), data=data)

    async def run_act(self, args: Args, ctx: ToolContext) -> ToolOutput:
        return await self._run_pinned(args, ctx, args["op"], args.get("value"))

    async def run_click(self, args: Args, ctx: ToolContext) -> ToolOutput:
        return await self._run_pinned(args, ctx, "click", None)

    async def run_open_url(self, args: Args, ctx: ToolContext) -> ToolOutput:
        ctx.report_effect("not-started")
        async with self._tab.lock:
            await trio.lowlevel.checkpoint_if_cancelled()
            self._memory.drop()
            ctx.report_effect("unknown")
            try:
                await self._tab.goto(args["url"])
            except BrowserError as error:
                return self._failed("open_url", error)
            ctx.report_effect("done")
            page, words = await self._page_after(ctx)
            text = View.of({}, await self._asked_focus()).text(page) if page is not None else None
            return ToolOutput(ok=True, summary=f"The address was opened. {words}", untrusted=text, stop_batch=True)

    async def _run_pinned(self, args: Args, ctx: ToolContext, op: str, value: str | float | None) -> ToolOutput:
        """Compare, act, settle, look again: all under the tab's lock."""
        ctx.report_effect("not-started")
        async with self._tab.lock:
            await trio.lowlevel.checkpoint_if_cancelled()
            # From here to the act nothing is awaited, so what is compared is what is acted on.
            if (moved := self._moved(ctx)) is not None:
                return moved
            target = args.get("target")
            before = self._memory.snapshot
            if before is None or not isinstance(target, Mapping) or not self._still_pinned(target):
                return ToolOutput(ok=False, summary=say_stale(op))
            self._memory.drop()  # whatever comes of the act, the look before it is out of date
            try:
                result = await self._tab.act(
                    target, op, value, permit=_permit(ctx), report=ctx.report_effect, cancel_grace=ctx.cancel_grace
                )
            except BrowserError as error:
                return self._failed(f"{op} on {target['control']}", error)
            except UsageError as error:
                if error.code == "permit-host":  # it moved while the tab's state was asked for
                    return self._failed_moved(ctx)
                raise
            if not result.ok:
                summary = say_refused(op, target["control"], result)
                return ToolOutput(ok=False, summary=summary, untrusted=seen(result), stop_batch=result.navigated)
            return await self._after(ctx, op, target, before, result)

    async def _after(self, ctx: ToolContext, op: str, target: Mapping[str, Any], before: Snapshot, result: ActResult) -> ToolOutput:
        """An accepted act: wait until the page is quiet, then read it."""
        control = before.control(target["control"])
        assert control is not None
        list_for = control.node if op == "type" and control.autocomplete else None
        may_leave = result.submitted or (op == "click" and control.role == "link")
        navigated = result.navigated
        try:
            settled = await self._tab.settle(target, list_for=list_for, sent=may_leave)
            navigated = navigated or settled.gone
        except BrowserError:
            pass  # the act is done all the same; the look that follows tells what is wrong
        page, words = await self._page_after(ctx)
        navigated = navigated or (page is not None and page.top.document != before.top.document)
        summary = f"{say_done(op, control.id, result, navigated=navigated)} {words}"
        view = View.of({}, await self._asked_focus())
        text = seen(result, view.text(page, after=seen(result)) if page is not None else None)
        stop = navigated or page is None or (page.captcha and not before.captcha)
        data = {"submitted": result.submitted, "navigated": navigated}
        return ToolOutput(ok=True, summary=summary, untrusted=text, data=data, stop_batch=stop)

    # Looking

    async def _asked_focus(self) -> str | None:
        """What the host says matters now."""
        if self._focus is None:
            return None
        given = self._focus()
        return await given if inspect.isawaitable(given) else given

    async def _look(self, ctx: ToolContext, view: View | None = None) -> Snapshot | None:
        """Read the page and remember it. None, and nothing remembered, when it is on another host than was judged."""
        before = self._memory.drop()
        page = await self._tab.snapshot(**(view.options if view is not None else {}))
        if host_of(page.url) != ctx.domain:
            return None
        self._memory.remember(page, before)
        return page

    async def _page_after(self, ctx: ToolContext) -> tuple[Snapshot | None, str]:
        """The page after something was done, and our words on it. Another host's page is not read: nobody judged that."""
        page = None
        if plain_host(self._tab.host) == ctx.domain:
            try:
                page = await self._look(ctx, View.of({}, await self._asked_focus()))
            except BrowserError:
                return None, NOT_READ
        return page, say_elsewhere(plain_host(self._tab.host)) if page is None else say_page(page)

    def _moved(self, ctx: ToolContext) -> ToolOutput | None:
        """A failed result when the tab is not on the judged host any more."""
        return None if plain_host(self._tab.host) == ctx.domain else self._failed_moved(ctx)

    def _failed(self, what: str, error: BrowserError) -> ToolOutput:
        """A failed result: our words on why, and the error's own words as outside text."""
        return ToolOutput(ok=False, summary=say_error(what, error, url=self._tab.url), untrusted=str(error))

    def _failed_moved(self, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(ok=False, summary=say_moved(ctx.domain, plain_host(self._tab.host)))

    def _still_pinned(self, target: Mapping[str, Any]) -> bool:
        """Whether the newest look is the pinned one and shows the very same control."""
        return _same(self._memory.pin_now(self._tab.id, target.get("control")), target)


def _permit(ctx: ToolContext) -> Permit:
    if ctx.permit is None:
        raise UsageError("a browser tool acts only with the gate's permit; run it through the loop, or give ctx.permit")
    return ctx.permit


def _pixels(value: str) -> int:
    """A distance to scroll by."""
    if not _WHOLE.match(value) or abs(int(value)) > MAX_SCROLL:
        raise Refuse(f"scroll takes a whole number of pixels, at most {MAX_SCROLL} either way; leave it out for a usual step down.")
    return int(value)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON, so that True is not 1."""
    try:
        return canonical_json(one) == canonical_json(other)
    except NotJsonError:
        return False
