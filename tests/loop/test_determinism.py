"""Same script, same seeds, mock clock: the same trail byte for byte, in whatever order Trio runs its tasks."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio.actions import CheckResult, ToolOutput
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import seeded_ids, virtual_wall_clock
from foxloop_trio.testing._sweep import fixed_task_order
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

RUNS = 50
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
PARTS = 5
"""Tasks of one tool call, all ready at the same time: 120 orders."""


@attrs.frozen
class Told:
    """What one run left: its trail's text, how it ended, and the order in which tasks were run."""

    text: str
    status: str
    order: tuple[str, ...]


class Order(trio.abc.Instrument):
    """Notes the tasks in the order in which they take their steps."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self.names.append(task.name)


async def one_run(seed: int, stop_after: float | None, parts: list[str]) -> tuple[str, str]:
    """Planner beside settle, an approval, a tool of many tasks; aborted after some seconds, or not."""
    clock, ids = virtual_wall_clock(), seeded_ids(seed)
    trail = MemoryTrail(now=clock, ids=ids)
    host: Any = None

    async def run(args: dict[str, Any], ctx: Any) -> ToolOutput:
        async def part(number: int) -> None:
            await trio.sleep(1)
            parts.append(f"{number}")
            await trio.lowlevel.checkpoint()

        ctx.report_effect("partial")
        async with trio.open_nursery() as nursery:
            for number in range(PARTS):
                nursery.start_soon(part, number, name=f"part {number}")
        ctx.report_effect("done")
        return ToolOutput(ok=True, summary=f"Did {args['text']}.", check=CheckResult(ok=True))

    async def approve(request: Any) -> str:
        await trio.sleep(2)
        token: str = await host.approve(request.request_id)
        return token

    async def settle(given: Any) -> str | None:
        for _ in range(3):
            await trio.lowlevel.checkpoint()
        if given.step < 3:
            return None
        await trio.sleep(0.5)
        return "All sent."

    async def slowly(messages: Any) -> dict[str, Any]:
        await trio.sleep(1)
        return {"calls": [{"name": "send", "args": {"text": "c"}}]}

    tools = [
        Tool(name=name, description="Does it.", parameters=TEXT, scope=scope, domain="notes.local", run=run)
        for name, scope in (("save", "fill"), ("send", "submit"))
    ]
    gate, host = create_gate(tools=tools, now=clock, ids=ids)
    await host.add_grant(scope="fill", domains=["notes.local"], approval="never")
    await host.add_grant(scope="submit", domains=["notes.local"])
    replies = [
        {"calls": [{"name": "save", "args": {"text": "a"}}]},
        {"text": "Now both.", "calls": [{"name": "save", "args": {"text": "b"}}, {"name": "send", "args": {"text": "b"}}]},
        slowly,
        slowly,
    ]
    loop = Loop(
        planner=scripted_planner(replies), gate=gate, tools=tools, on_approval=approve, settle=settle, trail=trail,
        ids=ids, wall_clock=clock,
    )  # fmt: skip

    async def beside() -> None:
        for _ in range(200):
            await trio.sleep(0.05)

    async with trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(beside)
        async with loop.run("Send the notes") as open_run:

            async def stop() -> None:
                await trio.sleep(stop_after or 0.0)
                open_run.abort()

            if stop_after is not None:
                nursery.start_soon(stop)
            async for _ in open_run:
                pass
        nursery.cancel_scope.cancel()
    assert isinstance(verify_entries(trail.entries(), key=trail.key), Verified)
    assert open_run.outcome is not None
    return trail.text(), open_run.outcome.status


def told(order_seed: int, *, seed: int = 7, stop_after: float | None = None) -> Told:
    """One run in a Trio of its own, its tasks shuffled from `order_seed`."""
    order, parts = Order(), []  # type: ignore[var-annotated]
    with fixed_task_order(order_seed):
        text, status = trio.run(
            one_run, seed, stop_after, parts, clock=trio.testing.MockClock(autojump_threshold=0), instruments=[order]
        )
    return Told(text, status, tuple(order.names + parts))


@pytest.mark.parametrize(("stop_after", "status"), [(None, "done"), (2.5, "aborted"), (4.5, "aborted"), (5.25, "aborted")])
def test_fifty_runs_in_shuffled_order_leave_one_trail_byte_for_byte(stop_after: float | None, status: str) -> None:
    """Run to its end, or aborted while a person decides, while a tool of many tasks runs, and while planner and settle race."""
    runs = [told(number, stop_after=stop_after) for number in range(RUNS)]
    assert len({run.text for run in runs}) == 1
    assert {run.status for run in runs} == {status}
    assert len({run.order for run in runs}) >= RUNS - 5, "the tasks were not shuffled, so the test shows nothing"
    assert len(runs[0].text.splitlines()) >= 10


def test_another_seed_gives_another_trail_of_the_same_shape() -> None:
    """The bytes do depend on the ids, so that equal trails mean something."""
    one, other = told(0, seed=7), told(0, seed=8)
    assert one.text != other.text
    kinds = [[json.loads(line)["kind"] for line in run.text.splitlines()] for run in (one, other)]
    assert kinds[0] == kinds[1]
    assert one.order == other.order
