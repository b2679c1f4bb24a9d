"""What runs of the loop spend: each run has its own money, what was done is spent, what certainly was not done is free again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio import CheckResult, Loop, Money, SqliteGateStore, Tool, ToolOutput, create_gate, scripted_planner


def eur(cents: int) -> Money:
    return Money(value=cents, currency="EUR")


class Shop:
    """One tool that costs money, and how it goes: ``done``, ``not-started``, ``raises``, ``hangs``."""

    def __init__(self) -> None:
        self.goes = "done"
        self.bought: list[int] = []
        self.tool = Tool(
            name="buy",
            description="Buy something.",
            parameters={
                "type": "object",
                "properties": {"cents": {"type": "integer"}},
                "required": ["cents"],
                "additionalProperties": False,
            },
            scope="pay",
            domain="shop.local",
            amount=lambda args: eur(args["cents"]),
            run=self.buy,
        )

    async def buy(self, args: Any, ctx: Any) -> ToolOutput:
        if self.goes == "not-started":
            ctx.report_effect("not-started")
            return ToolOutput(ok=False, summary="The shop is closed.")
        if self.goes == "raises":
            raise OSError("the line is dead")
        if self.goes == "hangs":
            await trio.sleep_forever()
        self.bought.append(args["cents"])
        ctx.report_effect("done")
        return ToolOutput(ok=True, summary="Bought.", check=CheckResult(ok=True))


@pytest.fixture
async def world(tmp_path: Path) -> Any:
    async with SqliteGateStore(tmp_path / "gate.db") as store:
        shop = Shop()
        gate, host = create_gate(tools=[shop.tool], store=store)

        async def run(*prices: int) -> Any:
            replies: list[Any] = [{"calls": [{"name": "buy", "args": {"cents": cents}}]} for cents in prices]
            replies.append({"calls": [{"name": "finish", "args": {"summary": "Shopped."}}]})
            return await Loop(planner=scripted_planner(replies), gate=gate, tools=[shop.tool]).complete("Shop.")

        async def spent() -> tuple[int, list[str]]:
            async with store.transaction() as tx:
                return (await tx.grants.all())[0].spent, [row.status for row in await tx.spends.all()]

        shop.run, shop.spent, shop.host = run, spent, host  # type: ignore[attr-defined]
        yield shop


async def test_each_run_may_spend_its_own_money(world: Any) -> None:
    """Ruling 17: the cap of a run stops that run, not the next; the cap of the grant stops both."""
    await world.host.add_grant(
        scope="pay", domains=["shop.local"], approval="never", cap_per_run=eur(100), spend_cap=eur(170), cap_per_act=eur(90)
    )
    outcome = await world.run(40, 41, 42)
    assert (outcome.status, outcome.reason) == ("blocked", "gate-deny")
    assert "cap" in outcome.message
    assert (await world.run(50)).status == "done"
    assert (await world.run(40)).reason == "gate-deny"
    assert world.bought == [40, 41, 50]
    assert await world.spent() == (131, ["settled"] * 3)


@pytest.mark.parametrize(("goes", "expected"), [("not-started", (0, [])), ("raises", (30, ["settled"]))])
async def test_money_comes_back_only_when_certainly_nothing_was_done(world: Any, goes: str, expected: Any) -> None:
    """Ruling 17: release on failure that is known; in doubt it stays spent."""
    await world.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=eur(100))
    world.goes = goes
    await world.run(30)
    assert await world.spent() == expected


async def test_a_run_that_is_cancelled_in_the_middle_keeps_the_money_spent(world: Any) -> None:
    """Ruling 17: `unknown` stays spent."""
    await world.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=eur(100))
    world.goes = "hangs"
    with trio.move_on_after(0.3):
        await world.run(30)
    assert await world.spent() == (30, ["settled"])
