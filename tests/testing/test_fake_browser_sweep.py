"""`FakeBrowser` under `cancel_at_every_checkpoint`: wherever its user is stopped, nothing is left and what is reported is true."""

from __future__ import annotations

from typing import Any

from trio.testing import MockClock

from foxloop_trio.actions import Action
from foxloop_trio.browser.tools._pin import make_pin
from foxloop_trio.gate import create_gate
from foxloop_trio.testing import FakeBrowser, PageData, SweepVisit, cancel_at_every_checkpoint

PAGE: PageData = {"controls": [{"role": "textbox", "label": "Name"}]}


async def test_the_reported_effect_is_true_wherever_it_is_stopped(virtual_time: MockClock) -> None:
    """`done` if and only if the page was typed into; never `unknown`, since the browser is there until its user has left."""
    browser = FakeBrowser()
    told: list[str] = []

    async def type_a_name() -> None:
        nonlocal browser
        told.clear()
        browser = FakeBrowser({"http://shop.test/": PAGE})
        browser.delay("page.act", 0.1)
        browser.delay("page.act", 0.1, phase="after")
        async with browser as session:
            tab = await session.open_tab("http://shop.test/")
            page = await tab.snapshot()
            pin: dict[str, Any] = make_pin(tab.id, page, page.controls[0])
            gate, host = create_gate(tools={"act": "fill"})
            await host.add_grant(scope="fill", domains=["shop.test"])
            args = {"target": pin, "op": "type", "value": "Ada"}
            allowed = await gate.check(Action(tool="act", args=args, domain="shop.test", scope="fill"))
            permit = allowed.permit  # type: ignore[union-attr]
            await tab.act(pin, "type", "Ada", permit=permit, report=lambda state, done: told.append(state))

    def check(visit: SweepVisit) -> None:
        assert [act.value for act in browser.acts] == (["Ada"] if told[-1:] == ["done"] else [])
        assert told[-1:] != ["unknown"]

    report = await cancel_at_every_checkpoint(type_a_name, check=check)
    print(report)
    assert report.checkpoints >= 60
