"""A ReAct run stopped at every checkpoint: over hooks, guards, handlers, calls beside each other, and the gate.

`Scene.run` is the run. Wherever it was stopped, `assert_contract` must hold: Cancelled came out; no model, hook, guard or handler
began after the stop; what was done is in `state_out`, validly paired. The planted faults at the end must be found.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio

from foxloop_trio.react import Instead, Note, ReactTool, StateHolder, run_react_loop
from foxloop_trio.testing import SweepReport, SweepVisit, cancel_at_every_checkpoint, scripted_llm

ANY: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
SCRIPT: list[list[tuple[str, Any]]] = [
    [("act", {"n": 1})],
    [("look", {"n": 2}), ("look", {"n": 3}), ("act", {"n": 4}), ("quick", {"n": 5}), ("nothing", {})],
    [("task_done", {"summary": "s"})],
]
LEAST = 110
"""Checkpoints that a sweep over this run must have visited. Measured: 125, with each seed."""


async def rest() -> None:
    """Two points at which a stop may come: one that raises at once, and one that leaves it pending for whatever comes next."""
    await trio.lowlevel.checkpoint()
    await trio.lowlevel.cancel_shielded_checkpoint()


class Scene:
    """All parts of one run, made anew for each. `log` says in one list who began, and where the stop came."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.done: list[int] = []
        self.held = 0
        self.holder = StateHolder()

    def begin(self) -> None:
        self.log, self.done, self.held, self.holder = [], [], 0, StateHolder()

    def hook(self, name: str) -> Callable[..., Awaitable[None]]:
        async def hook(*args: Any) -> None:
            self.log.append(name)
            await rest()

        return hook

    def tool(self, name: str, **options: Any) -> ReactTool:
        async def handler(args: dict[str, Any], context: Any) -> str:
            self.log.append(f"handler {args['n']}")
            await trio.sleep(args["n"])
            self.done.append(args["n"])
            await rest()
            return f"did {args['n']}"

        return ReactTool(name=name, parameters=ANY, handler=handler, **options)

    def quick(self, args: dict[str, Any], context: Any) -> str:
        self.log.append("handler quick")
        self.done.append(args["n"])
        return "did quick"

    async def model(self, request: Any) -> Any:
        turn = sum(word == "model" for word in self.log)
        self.log.append("model")
        await rest()
        return {"calls": SCRIPT[turn]}

    async def admit(self, call: Any, state: Any) -> Instead | None:
        """As the gate does: something is held for the call until it is run, or given back."""
        self.log.append("before_tool_call")
        await rest()
        if call.name != "look":
            return None
        self.held += 1
        tool = state.registry.get(call.name)

        async def run(args: dict[str, Any], context: Any) -> str:
            self.held -= 1
            answer: str = await tool.handler(args, context)
            return answer

        async def drop() -> None:
            await trio.lowlevel.checkpoint()
            self.held -= 1

        return Instead(run=run, drop=drop)

    async def run(self) -> Any:
        self.begin()
        scene = self

        class Guard:
            async def on_run_start(self, state: Any) -> None:
                scene.log.append("guard start")
                await rest()

            async def before_model(self, state: Any) -> Note:
                scene.log.append("guard before_model")
                await rest()
                return Note("n")

            async def after_model(self, state: Any, reply: Any) -> None:
                scene.log.append("guard after_model")
                await rest()

            async def before_tool(self, call: Any, state: Any) -> None:
                scene.log.append("guard before_tool")
                await rest()

            async def after_tool(self, call: Any, result: Any, state: Any) -> None:
                scene.log.append("guard after_tool")
                await rest()

        names = ("build_context", "on_turn_start", "on_tool_result", "on_turn_end", "persist_turn", "should_stop")
        tools = [
            self.tool("look", parallel_safe=True),
            self.tool("act"),
            ReactTool(name="quick", parameters=ANY, handler=self.quick),
        ]
        return await run_react_loop(
            llm=scripted_llm([self.model] * 3),
            tools=tools,
            system="",
            hooks={**{name: self.hook(name) for name in names}, "before_tool_call": self.admit},
            guards=[Guard()],
            parallel=True,
            tool_timeout=60,
            state_out=self.holder,
        )

    def assert_contract(self, visit: SweepVisit) -> None:
        if not visit.cancelled:  # not stopped, or at the very end, where nothing was left to do
            assert not visit.raised
            assert visit.result.stopped == "task_done"
            assert sorted(self.done) == [1, 2, 3, 4, 5]
            return
        after = self.log[self.log.index("STOP") + 1 :] if "STOP" in self.log else []
        assert after == []
        assert self.held == 0
        assert_paired(self.holder.messages)
        told = "\n".join(message.content for message in self.holder.messages if message.role == "tool")
        for number in self.done:  # done, and known: as its own words, or as "may have had an effect"
            name = "quick" if number == 5 else number
            assert f"did {name}" in told or "may have had an effect" in told

    async def sweep(self, run: Callable[[], Awaitable[Any]] | None = None, **options: Any) -> SweepReport:
        return await cancel_at_every_checkpoint(
            run or self.run, check=self.assert_contract, on_stop=lambda: self.log.append("STOP"), **options
        )


def assert_paired(messages: Any) -> None:
    calls = [call.id for message in messages for call in message.tool_calls]
    assert [message.tool_call_id for message in messages if message.role == "tool"] == calls


@pytest.mark.parametrize("seed", [0, 1, 2])
async def test_wherever_a_run_is_cancelled_nothing_begins_afterwards(seed: int, autojump_clock: trio.testing.MockClock) -> None:
    """R18, section 11, 9: in every await of model, hooks, guards, handlers and rows."""
    report = await Scene().sweep(seed=seed)
    assert report.checkpoints >= LEAST, report
    assert report.ok


@pytest.mark.parametrize("again_after", [1, 2])
async def test_a_second_cancel_changes_nothing(again_after: int, autojump_clock: trio.testing.MockClock) -> None:
    """What is held is given back in a shield, which the second one cannot cut either."""
    report = await Scene().sweep(again_after=again_after)
    assert report.checkpoints >= LEAST, report


async def test_a_loop_that_calls_a_hook_after_the_cancel_is_found(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: hooks are called without looking for a cancel that is pending."""
    from foxloop_trio.react import _acting, _loop

    async def careless(hook: Callable[..., Any], *args: Any) -> Any:
        return await hook(*args)

    monkeypatch.setattr(_loop, "ask", careless)
    monkeypatch.setattr(_acting, "ask", careless)
    report = await Scene().sweep(strict=False)
    assert {violation.kind for violation in report.violations} == {"check"}


async def test_a_loop_that_forgets_what_was_in_flight_is_found(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: calls that were begun keep no answer when the run is cut."""
    from foxloop_trio.loop._conversation import Conversation

    monkeypatch.setattr(Conversation, "rescue", lambda self, answer: None)
    report = await Scene().sweep(strict=False)
    assert not report.ok


async def test_leave_that_is_kept_for_a_call_that_is_not_run_is_found(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: `drop` is never called."""
    from foxloop_trio.react import _acting

    async def nothing(instead: Any, call_id: str) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(_acting, "give_back", nothing)
    report = await Scene().sweep(strict=False)
    assert not report.ok
