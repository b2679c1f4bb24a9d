"""A tab as a page for tasks: each act pinned to its look, done with the permit of the call, and told as part of the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...actions import Permit
from ...errors import UsageError
from .._act import ActResult
from .._snapshot import Control, Snapshot
from .._tab import CANCEL_GRACE_SECONDS, Report, Tab
from ..tools._address import host_of, plain_host
from ..tools._pin import make_pin
from ..tools._steps import Steps, step_of
from ._run import Elsewhere

__all__ = ["TabPage"]


class TabPage:
    """`run_task(TabPage(tab, permit=ctx.permit, report=ctx.report_effect), goal)`.

    Nothing is read or done on another host than the permit's: that raises `Elsewhere`. `report` is told ``partial`` with the acts
    that were done as soon as there is one, and ``unknown`` while one is under way; what the whole came to is for the caller to say.
    `note_opened` is told the ids of tabs that acts opened.
    """

    def __init__(
        self,
        tab: Tab,
        *,
        permit: Permit,
        report: Report | None = None,
        cancel_grace: float = CANCEL_GRACE_SECONDS,
        note_opened: Callable[[Iterable[int]], None] | None = None,
    ) -> None:
        self._tab = tab
        self._permit = permit
        self._cancel_grace = cancel_grace
        self._note_opened = note_opened
        self._host = permit.action.domain
        self._steps = Steps(report if report is not None else (lambda state, done: None))

    @property
    def done(self) -> list[dict[str, Any]]:
        """What was done to the page, as operation and control."""
        return self._steps.done

    @property
    def stops(self) -> int:
        """How many times the tab's lease has stopped where the page led."""
        return self._tab.stops

    async def snapshot(self) -> Snapshot:
        self._stay(self._tab.url, plain_host(self._tab.host))
        page = await self._tab.snapshot()
        self._stay(page.url, host_of(page.url))
        return page

    async def act(self, page: Snapshot, control: Control, op: str, value: str | None) -> ActResult:
        pin = make_pin(self._tab.id, page, control)
        step = step_of(op, control.id)
        try:
            result = await self._tab.act(
                pin,
                op,
                value,
                permit=self._permit,
                report=self._steps.during(step),
                cancel_grace=self._cancel_grace,
                note_opened=self._note_opened,
            )
        except UsageError as error:
            if error.code == "permit-host":  # it moved while the tab's state was asked for
                raise Elsewhere(self._tab.url) from error
            raise
        self._steps.ended(step, result)
        return result

    async def settle(self, page: Snapshot, control: Control, *, list_for: bool, sent: bool) -> None:
        pin = make_pin(self._tab.id, page, control)
        await self._tab.settle(pin, list_for=control.node if list_for else None, sent=sent)

    def _stay(self, url: str, host: str | None) -> None:
        if host != self._host:
            raise Elsewhere(url)
