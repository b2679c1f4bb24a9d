"""The tool `pay`: a click that spends money. The amount is read off the page, judged, and read again right before the click."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Final

import trio

from ...actions import Money, ToolContext, ToolOutput
from ...errors import BrowserError, Refuse, UsageError
from ...gate._display import money_words
from ...tools import Tool
from .._snapshot import Control, Snapshot
from ._acting import run_pinned
from ._desk import Args, Desk
from ._pin import make_pin, same_control
from ._spending import Prices
from ._view import CONTROL_ID
from ._words import describe_control, say_stale

__all__ = ["paying_tools"]

MAX_READS: Final = 4
AT_ONCE_SECONDS: Final = 0.05
"""As long as a look takes: no page can be caught sooner."""
UNREAD: Final = "The amount cannot be read off the page"


def paying_tools(desk: Desk, prices: Prices | None) -> list[Tool]:
    """`pay` with scope pay; none without a function that reads amounts."""
    if prices is None:
        return []
    pay = _Pay(desk, prices)
    return [
        Tool(
            name="pay",
            description=(
                "Click the one control that spends money, such as 'Pay now'. The amount is read off the page and shown to the user."
            ),
            parameters={"type": "object", "properties": {"control_id": CONTROL_ID}, "required": ["control_id"]},
            scope="pay",
            domain=desk.domain,
            prepare=pay.prepare,
            describe=lambda args, ctx: f"pay {money_words(_money(args))}: {describe_control('click', None, args['target'])}",
            run=pay.run,
            amount=_money,
            environment=desk.tab.session,
        )
    ]


def _money(args: Mapping[str, Any]) -> Money:
    """The amount that was read in prepare. Raises when there is none, so that nothing is judged without one."""
    amount = args["amount"]
    return Money(value=amount["value"], currency=amount["currency"])


class _Pay:
    def __init__(self, desk: Desk, prices: Prices) -> None:
        self._desk = desk
        self._prices = prices

    async def prepare(self, args: Args, ctx: ToolContext) -> Args:
        snapshot, control, pin = await self._desk.pinned_anew(args["control_id"])
        try:
            amount = await self._read(snapshot, control)
        except Exception as error:
            raise Refuse(f"{UNREAD}. Call snapshot, and go to where the amount is shown.") from error
        if amount is None:
            raise Refuse(f"{UNREAD} for control {control.id}. Go to where the amount and the button that pays it are shown.")
        return {"control_id": control.id, "target": pin, "amount": amount.to_json()}

    async def run(self, args: Args, ctx: ToolContext) -> ToolOutput:
        async def last_look(target: Mapping[str, Any]) -> ToolOutput | None:
            return await self._last_look(ctx, target, _money(args))

        return await run_pinned(self._desk, args, ctx, "click", None, last_look=last_look, name="pay")

    async def _last_look(self, ctx: ToolContext, target: Mapping[str, Any], judged: Money) -> ToolOutput | None:
        """The failed result when the page does not ask for exactly the judged amount any more.

        A reader that takes its time is overtaken by no page: what it read is good when another look shows the same text.
        """
        self._desk.memory.drop()
        read: str | None = None
        for _ in range(MAX_READS):
            try:
                page = await self._desk.tab.snapshot()
            except BrowserError as error:
                return self._desk.failed("pay", error, ctx)
            if (moved := self._desk.moved(ctx)) is not None:
                return moved
            control = page.control(target["control"])
            if control is None or not same_control(target, make_pin(self._desk.tab.id, page, control)):
                return ToolOutput(ok=False, summary=say_stale("pay"))
            if page.text == read:
                return None
            began = trio.current_time()
            try:
                now = await self._read(page, control)
            except Exception as error:
                return _refused(f"{UNREAD} any more", judged, detail=f"{type(error).__name__} while it was read")
            if now is None:
                return _refused(f"{UNREAD} any more", judged)
            if now != judged:
                return _refused(f"The page asks for {money_words(now)} now", judged)
            if trio.current_time() - began < AT_ONCE_SECONDS:
                return None
            read = page.text
        return _refused("The page changes again and again while its amount is read", judged)

    async def _read(self, page: Snapshot, control: Control) -> Money | None:
        """What the host's function says. Raises UsageError when that is no money."""
        given = self._prices(page, control)
        amount = await given if inspect.isawaitable(given) else given
        if amount is not None and type(amount) is not Money:
            raise UsageError(f"prices(snapshot, control) answers Money or None, not {type(amount).__name__}")
        return amount


def _refused(why: str, judged: Money, *, detail: str | None = None) -> ToolOutput:
    return ToolOutput(
        ok=False,
        summary=f"amount-changed: nothing was paid. {why}, and {money_words(judged)} was judged. Call snapshot, then decide again.",
        untrusted=detail,
    )
