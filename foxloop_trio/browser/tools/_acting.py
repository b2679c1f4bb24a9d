"""One act on one pinned control, and the tools `act` and `click`, which are no more than that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final

import trio

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError, Refuse, UsageError
from ...tools import Tool
from .._act import ActResult, Value
from .._snapshot import MASK, Snapshot
from ..tasks._sensitive import is_secret
from ._desk import MAX_VALUE, Args, Desk, permit_of
from ._fields import was_taken_back
from ._spending import Prices, note_spending
from ._view import CONTROL_ID, View
from ._words import TAKEN_BACK, describe_act, describe_click, say_done, say_refused, say_stale, seen

__all__ = ["acting_tools", "run_pinned"]

NEED_VALUE: Final = frozenset({"type", "select", "date"})
WRITE_VALUE: Final = frozenset({"type", "date"})
"""Operations that would write into a secret field."""
PRESSING: Final = frozenset({"select", "check", "uncheck"})
PRESSED: Final = frozenset({"button", "link", "menuitem"})
"""Roles of what these operations press as a click would. What a field is called ("Pay by card") is no reason to ask."""
MAX_OPTIONS: Final = 50
"""Options that are chosen together; more are a page's own lists, which have a way to choose all."""
MAX_SCROLL: Final = 100_000
"""Pixels; the longest real pages have a few hundred thousand, and a planner can scroll again."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,9}\Z", re.ASCII)


def acting_tools(desk: Desk, *, prices: Prices | None = None, masks: bool = False) -> list[Tool]:
    """`act` with scope fill, `click` with scope submit, since any click may send.

    `prices`: what spends money is left to the tool `pay`. `masks`: values for secret and sensitive fields stay out of records.
    """
    act, click = _Act(desk, prices), _Click(desk, prices)
    return [
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
                    "values": {
                        "type": "array",
                        "items": {"type": "string", "maxLength": MAX_VALUE},
                        "maxItems": MAX_OPTIONS,
                        "description": "In place of value, for a select that takes several: all that are to be chosen.",
                    },
                },
                "required": ["control_id", "op"],
            },
            scope="fill",
            domain=desk.domain,
            prepare=act.prepare,
            describe=lambda args, ctx: describe_act(args),
            asks=lambda args: "spends" in args,
            run=act.run,
            redact=act.redact if masks else None,
            environment=desk.tab.session,
        ),
        Tool(
            name="click",
            description="Click one control of the newest snapshot. A click may send a form.",
            parameters={"type": "object", "properties": {"control_id": CONTROL_ID}, "required": ["control_id"]},
            scope="submit",
            domain=desk.domain,
            prepare=click.prepare,
            describe=lambda args, ctx: describe_click(args),
            run=click.run,
            asks=lambda args: "spends" in args,
            environment=desk.tab.session,
        ),
    ]


class _Act:
    def __init__(self, desk: Desk, prices: Prices | None) -> None:
        self._desk = desk
        self._prices = prices

    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        op, value, values = args["op"], args.get("value"), args.get("values")
        page, [(control, pin)] = await self._desk.all_pinned([args["control_id"]])
        if values is not None and (op != "select" or not control.multiple or value is not None):
            raise Refuse("values is for select, in place of value, on a control that takes several options. Use value.")
        value = value if values is None else values
        if op in NEED_VALUE and value is None:
            raise Refuse(f"{op} needs a value: the text, the option's value or the ISO date.")
        if is_secret(control) and op in WRITE_VALUE:
            raise Refuse(
                "This field is secret, and act never writes into secret fields. Use fill, if the host program allows passwords, "
                "or leave it to the user."
            )
        judged: Args = {"control_id": args["control_id"], "op": op, "target": pin}
        if op in NEED_VALUE:
            judged["value"] = value
        elif op == "scroll" and value is not None:
            judged["value"] = _pixels(value)
        pressed = op in PRESSING and control.role in PRESSED
        return note_spending(page, control, judged, self._prices) if pressed else judged

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        return await run_pinned(self._desk, args, ctx, args["op"], args.get("value"))

    def redact(self, args: Args) -> Args:
        """As they may be recorded: a value for a secret, sensitive or unknown control is a mask."""
        given = [name for name in ("value", "values") if args.get(name) is not None]
        if not given or args.get("op") == "scroll" or not self._desk.is_masked(args.get("control_id")):
            return args
        return {**args, **dict.fromkeys(given, MASK)}


class _Click:
    def __init__(self, desk: Desk, prices: Prices | None) -> None:
        self._desk = desk
        self._prices = prices

    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        snapshot, [(control, pin)] = await self._desk.all_pinned([args["control_id"]])
        return note_spending(snapshot, control, {"control_id": control.id, "target": pin}, self._prices)

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        return await run_pinned(self._desk, args, ctx, "click", None)


async def run_pinned(
    desk: Desk,
    args: Args,
    ctx: ToolContext,
    op: str,
    value: Value,
    *,
    dialog: Mapping[str, Any] | None = None,
    files: Sequence[bytes] = (),
    also: Sequence[Mapping[str, Any]] = (),
    told: Callable[[ActResult], str | None] | None = None,
    last_look: Callable[[Mapping[str, Any]], Awaitable[ToolOutput | None]] | None = None,
    name: str | None = None,
) -> ToolOutput:
    """Compare with the pin in ``args["target"]``, act, settle, look again: all under the tab's lock.

    `also` are pins of other controls that take part. `told` quotes what else of the result the planner is to see.

    A failed result, with nothing sent, when the tab moved or the pin is not that of the newest look. Raises UsageError when
    operation, value, `dialog` or `files` are not those that were judged.

    `last_look` is given the pin right before the act; the failed result that it answers is then the result. `name` is what the call
    is named in its result, when that is not the operation.
    """
    said = name or op
    ctx.report_effect("not-started")
    async with desk.hold():
        await trio.lowlevel.checkpoint_if_cancelled()
        # From here to the act nothing is awaited but a last look, so what is compared is what is acted on.
        if (moved := desk.moved(ctx)) is not None:
            return moved
        target = args.get("target")
        before = desk.memory.snapshot
        if before is None or not isinstance(target, Mapping) or not all(desk.still_pinned(pin) for pin in (target, *also)):
            return ToolOutput(ok=False, summary=say_stale(said))
        if last_look is not None and (failed := await last_look(target)) is not None:
            return failed
        desk.memory.drop()  # whatever comes of the act, the look before it is out of date
        stops = desk.stops
        how: dict[str, Any] = {**({} if dialog is None else {"dialog": dialog}), **({"files": files} if files else {})}
        try:
            result = await desk.tab.act(
                target,
                op,
                value,
                permit=permit_of(ctx),
                report=ctx.report_effect,
                cancel_grace=ctx.cancel_grace,
                note_opened=desk.note_opened,
                **how,
            )
        except BrowserError as error:
            return desk.failed(f"{said} on {target['control']}", error, ctx)
        except UsageError as error:
            if error.code == "permit-host":  # it moved while the tab's state was asked for
                return desk.failed_moved(ctx)
            raise
        if not result.ok:
            summary = desk.with_stops(say_refused(said, target["control"], result))
            return ToolOutput(ok=False, summary=summary, untrusted=seen(result), stop_batch=result.navigated)
        return await _after(desk, ctx, op, value, target, before, result, said, None if told is None else told(result), stops)


async def _after(
    desk: Desk,
    ctx: ToolContext,
    op: str,
    value: Value,
    target: Mapping[str, Any],
    before: Snapshot,
    result: ActResult,
    said: str,
    told: str | None = None,
    stops: int = 0,
) -> ToolOutput:
    """An accepted act: wait until the page is quiet, then read it."""
    control = before.control(target["control"])  # None for the page itself
    list_for = control.node if control is not None and op == "type" and control.autocomplete else None
    may_leave = result.submitted or (op == "click" and control is not None and control.role == "link")
    navigated = result.navigated
    try:
        settled = await desk.tab.settle(target, list_for=list_for, sent=may_leave)
        navigated = navigated or settled.gone
    except BrowserError:
        pass  # the act is done all the same; the look that follows tells what is wrong
    page, words = await desk.page_after(ctx)
    navigated = navigated or (page is not None and page.top.document != before.top.document)
    stopped = desk.stops > stops
    summary = f"{say_done(said, target['control'], result, navigated=navigated, stopped=stopped)} {words}"
    view = View.of({}, await desk.asked_focus())
    first = "\n".join(part for part in (told, seen(result)) if part) or None
    shown = None if page is None else view.text(page, since=before, after=first, target=target["control"])
    text = "\n".join(part for part in (first, shown) if part) or None
    stop = navigated or page is None or (page.captcha and not before.captcha)
    data: dict[str, Any] = {"submitted": result.submitted, "navigated": navigated}
    if result.changed:
        data["changed"] = list(result.changed)
    now = None if page is None or navigated else page.control(target["control"])
    wanted = {"check": True, "uncheck": False}.get(op, value if op in NEED_VALUE else None)
    took = not {"value", "state"}.isdisjoint(result.changed)
    if took and isinstance(wanted, (str, bool, list, tuple)) and was_taken_back(control, now, op, wanted, result.value):
        data["taken_back"] = True
        summary = f"{said} on {target['control']} {TAKEN_BACK} {words}"
        return ToolOutput(ok=False, summary=summary, untrusted=text, data=data, stop_batch=stop)
    if result.opened_tabs:
        data["opened_tab"] = result.opened_tab
    if result.dialogs:
        data["dialogs"] = len(result.dialogs)
    return ToolOutput(ok=True, summary=summary, untrusted=text, data=data, stop_batch=stop)


def _pixels(value: str) -> int:
    """A distance to scroll by."""
    if not _WHOLE.match(value) or abs(int(value)) > MAX_SCROLL:
        raise Refuse(f"scroll takes a whole number of pixels, at most {MAX_SCROLL} either way; leave it out for a usual step down.")
    return int(value)
