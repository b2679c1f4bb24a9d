"""`ask_user` in whole runs with the real gate and trail: what lets it ask, what ends the wait, and whose time it takes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.actions import CheckResult, ToolOutput
from foxloop_trio.events import event_to_json
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Budget, Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.tools import Tool, ask_user_tool
from foxloop_trio.trail import MemoryTrail, Verified, verify_entries

ASK = {"name": "ask_user", "args": {"question": "Which size?"}}
FINISH = {"calls": [{"name": "finish", "args": {"summary": "Ordered."}}]}


@attrs.define
class Asking:
    """A loop that may ask `ask`, and order a pizza; both are granted unless told otherwise."""

    ask: Any
    granted: tuple[str, ...] = ("user.foxloop", "pizza.local")
    most: int = 3
    budget: Budget = attrs.field(factory=Budget)
    trail: MemoryTrail = attrs.field(factory=MemoryTrail)
    ordered: list[str] = attrs.field(factory=list)
    events: list[Any] = attrs.field(factory=list)
    run: Any = None
    planner: Any = None

    async def loop(self, *replies: Any) -> Loop:
        async def order(args: dict[str, Any], ctx: Any) -> ToolOutput:
            self.ordered.append(args["size"])
            return ToolOutput(ok=True, summary="Ordered.")

        size = {"type": "object", "properties": {"size": {"type": "string"}}, "required": ["size"]}
        tools = [
            ask_user_tool(self.ask, max=self.most),
            Tool(name="order", description="Order.", parameters=size, scope="read", domain="pizza.local", run=order),
        ]
        gate, host = create_gate(tools=tools)
        for domain in self.granted:
            await host.add_grant(scope="read", domains=[domain])
        self.planner = scripted_planner(list(replies))
        return Loop(
            planner=self.planner, gate=gate, tools=tools, trail=self.trail, budget=self.budget, check=lambda _: CheckResult(ok=True)
        )

    async def go(self, *replies: Any) -> Any:
        async with (await self.loop(*replies)).run("Order a pizza") as self.run:
            async for event in self.run:
                self.events.append(event)
        assert isinstance(verify_entries(self.trail.entries(), key=self.trail.key), Verified)
        return self.run.outcome

    def results(self) -> list[tuple[str, str | None]]:
        return [(event.name, event.reason) for event in self.events if event.type == "tool-result"]

    def kinds(self) -> list[str]:
        return [entry.kind for entry in self.trail.entries()]


async def test_a_question_is_judged_and_recorded_and_its_answer_is_read_as_trusted(autojump_clock: Any) -> None:
    """Like any call; the rest of its reply waits until the planner has read the answer."""

    async def ask(question: str, ctx: Any) -> str:
        assert ctx.permit.alive
        assert ctx.permit.action.args == {"question": question}
        return "Large"

    asking = Asking(ask)
    outcome = await asking.go({"calls": [ASK, {"name": "order", "args": {"size": "S"}}]}, FINISH)
    assert outcome.status == "done"
    assert asking.results() == [("ask_user", None), ("order", "skipped")]
    assert asking.ordered == []
    (told,) = [message["content"] for message in asking.planner.seen[1] if message.get("tool_call_id") == "call_1"]
    assert told == "ask_user: ok\nLarge"
    decision = next(event_to_json(event) for event in asking.events if event.type == "decision")
    assert (decision["decision"], decision["action"]["domain"], decision["action"]["scope"]) == ("allow", "user.foxloop", "read")
    assert asking.kinds().count("loop.decision") == 1


async def test_without_a_grant_nobody_is_asked(autojump_clock: Any) -> None:
    """A grant for pages does not let the planner talk to people."""
    asked: list[str] = []
    asking = Asking(lambda question, ctx: asked.append(question), granted=("pizza.local",))
    outcome = await asking.go({"calls": [ASK]}, FINISH)
    assert (outcome.reason, outcome.message.partition(":")[0]) == ("gate-deny", "no-grant")
    assert asked == []


async def test_an_abort_cancels_the_question_that_waits(autojump_clock: Any) -> None:
    """At once; the event and the trail say that it was not answered."""
    ended: list[str] = []

    async def ask(question: str, ctx: Any) -> str:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("ask")
        raise AssertionError

    asking = Asking(ask)
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            await trio.sleep(7)
            assert asking.run.statistics().waiting_for == "tool ask_user"
            asking.run.abort()

        nursery.start_soon(stop)
        start = trio.current_time()
        outcome = await asking.go({"calls": [ASK]}, FINISH)
    assert (outcome.status, trio.current_time() - start, ended) == ("aborted", 7.0, ["ask"])
    assert (outcome.in_flight.name, outcome.in_flight.effect.state) == ("ask_user", "partial")
    assert outcome.in_flight.effect.done == {"answered": False}
    assert asking.kinds()[-2:] == ["loop.effect", "loop.aborted"]


async def test_a_question_waits_no_longer_than_approval_seconds(autojump_clock: Any) -> None:
    """Then it is a failed result, and the run goes on."""

    async def ask(question: str, ctx: Any) -> str:
        await trio.sleep_forever()
        raise AssertionError

    asking = Asking(ask, budget=Budget(approval_seconds=20, tool_seconds=2, seconds=3))
    start = trio.current_time()
    outcome = await asking.go({"calls": [ASK]}, FINISH)
    assert (outcome.status, trio.current_time() - start) == ("done", 20.0)
    assert asking.results() == [("ask_user", "timeout")]


async def test_the_users_time_is_no_work_time(autojump_clock: Any) -> None:
    """A run of five seconds of work waits a hundred for its user."""

    async def ask(question: str, ctx: Any) -> str:
        await trio.sleep(100)
        return "Large"

    asking = Asking(ask, budget=Budget(seconds=5, tool_seconds=5))
    assert (await asking.go({"calls": [ASK]}, FINISH)).status == "done"
    statistics = asking.run.statistics()
    assert (statistics.work_seconds, statistics.human_seconds) == (0.0, 100.0)


@pytest.mark.parametrize("answer", [None, "", RuntimeError("the terminal is gone")])
async def test_no_answer_fails_the_call_and_never_the_run(answer: Any, autojump_clock: Any) -> None:
    """The planner can go on without; an error's words reach it only between data markers."""

    async def ask(question: str, ctx: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    asking = Asking(ask)
    outcome = await asking.go({"calls": [ASK]}, {"calls": [{"name": "order", "args": {"size": "M"}}]}, FINISH)
    assert (outcome.status, asking.ordered) == ("done", ["M"])
    assert asking.results() == [("ask_user", "failed"), ("order", None)]
    told = next(message["content"] for message in asking.planner.seen[1] if message["role"] == "tool")
    trusted, _, outside = told.partition("<<<DATA")
    assert "terminal" not in trusted
    assert ("terminal" in outside) is isinstance(answer, Exception)


async def test_each_run_of_a_loop_has_its_own_number_of_questions(autojump_clock: Any) -> None:
    """The next one is a failed result, and nobody is asked."""
    asked: list[str] = []

    def ask(question: str, ctx: Any) -> str:
        asked.append(question)
        return "Large"

    def question(words: str) -> dict[str, Any]:
        return {"calls": [{"name": "ask_user", "args": {"question": words}}]}

    asking = Asking(ask, most=1)
    loop = await asking.loop(question("a"), question("b"), FINISH, question("c"), FINISH)
    for _ in range(2):
        assert (await loop.complete("Order a pizza", on_event=asking.events.append)).status == "done"
    assert asking.results() == [("ask_user", None), ("ask_user", "failed"), ("ask_user", None)]
    assert asked == ["a", "c"]
