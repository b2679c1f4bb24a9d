"""For tests of input of Firefox's own: acts through `Tab.act` with a real gate's permit, on a page of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

from ..actions import Action, Allow, Permit
from ..browser import ActResult, BrowserSession, Tab
from ..browser.tools._pin import make_pin
from ..gate import create_gate
from ._act_probe import PageProbe, ProbeSite

__all__ = ["HandProbe"]


@attrs.define
class HandProbe(PageProbe):
    """`reports`: what the last act reported, in order."""

    reports: list[tuple[str, Any]] = attrs.field(factory=list)

    @classmethod
    @contextmanager
    def over(cls, session: BrowserSession, tab: Tab, site: ProbeSite) -> Iterator[HandProbe]:
        """The session's acts are input of Firefox's own, until the block ends."""
        session.trusted_input = True
        try:
            yield cls(session, tab, site)
        finally:
            session.trusted_input = False

    async def judged(self, label: str, op: str, value: Any = None) -> tuple[dict[str, Any], Permit]:
        """The pin of the one control with this label, and leave for this one act on it."""
        looked = await self.tab.snapshot()
        (control,) = [one for one in looked.controls if one.label == label]
        pin = make_pin(self.tab.id, looked, control)
        gate, host_side = create_gate(tools={op: "fill"})
        host = self.tab.host
        assert host is not None
        await host_side.add_grant(scope="fill", domains=[host])
        action = Action(tool=op, args={"target": pin, "op": op, "value": value}, domain=host, scope="fill")
        allowed = await gate.check(action)
        assert isinstance(allowed, Allow), allowed
        return pin, allowed.permit

    async def hand(self, label: str, op: str, value: Any = None) -> ActResult:
        pin, permit = await self.judged(label, op, value)
        return await self.do(pin, op, value, permit)

    async def do(self, pin: dict[str, Any], op: str, value: Any, permit: Permit) -> ActResult:
        self.reports.clear()
        return await self.tab.act(pin, op, value, permit=permit, report=lambda *told: self.reports.append(told))

    @property
    def effect(self) -> str:
        return self.reports[-1][0]
