"""A tab as a page for tasks: each act pinned to its look, done with the permit of the call, and told as part of the whole."""

from __future__ import annotations

from typing import Any

from ...actions import EffectState, Permit
from ...errors import UsageError
from .._act import ActResult
from .._snapshot import Control, Snapshot
from .._tab import CANCEL_GRACE_SECONDS, Report, Tab
from ..tools._address import host_of, plain_host
from ..tools._pin import make_pin
from ._run import Elsewhere

__all__ = ["TabPage"]


class TabPage:
    """`run_task(TabPage(tab, permit=ctx.permit, report=ctx.report_effect), goal)`.

    Nothing is read or done on another host than the permit's: that raises `Elsewhere`. `report` is told ``partial`` with the acts
    that were done as soon as there is one, and ``unknown`` while one is under way; what the whole came to is for the caller to say.
    """

    def __init__(
        self, tab: Tab, *, permit: Permit, report: Report | None = None, cancel_grace: float = CANCEL_GRACE_SECONDS
    ) -> None:
        self._tab = tab
        self._permit = permit
        self._report: Report = report if report is not None else (lambda state, done: None)
        self._cancel_grace = cancel_grace
        self._host = permit.action.domain
        self._done: list[dict[str, Any]] = []

    @property
    def done(self) -> list[dict[str, Any]]:
        """What was done to the page, as operation and control."""
        return list(self._done)

    async def snapshot(self) -> Snapshot:
        self._stay(self._tab.url, plain_host(self._tab.host))
        page = await self._tab.snapshot()
        self._stay(page.url, host_of(page.url))
        return page

    async def act(self, page: Snapshot, control: Control, op: str, value: str | None) -> ActResult:
        pin = make_pin(self._tab.id, page, control)
        step = {"op": op, "control": control.id}
        try:
            result = await self._tab.act(
                pin,
                op,
                value,
                permit=self._permit,
                report=lambda state, done: self._tell(state, step),
                cancel_grace=self._cancel_grace,
            )
        except UsageError as error:
            if error.code == "permit-host":  # it moved while the tab's state was asked for
                raise Elsewhere(self._tab.url) from error
            raise
        if result.effect != "not-started":
            self._done.append(_with_effect(step, result.effect))
        return result

    async def settle(self, page: Snapshot, control: Control, *, list_for: bool, sent: bool) -> None:
        pin = make_pin(self._tab.id, page, control)
        await self._tab.settle(pin, list_for=control.node if list_for else None, sent=sent)

    def _stay(self, url: str, host: str | None) -> None:
        if host != self._host:
            raise Elsewhere(url)

    def _tell(self, state: EffectState, step: dict[str, Any]) -> None:
        """The effect of one act, as the effect of the whole so far: one that did not begin leaves what was done before."""
        done = [*self._done, *([] if state == "not-started" else [_with_effect(step, state)])]
        in_doubt = any(entry.get("effect") == "unknown" for entry in done)
        self._report("unknown" if in_doubt else "partial" if done else "not-started", done or None)


def _with_effect(step: dict[str, Any], state: EffectState) -> dict[str, Any]:
    return step if state == "done" else {**step, "effect": state}
