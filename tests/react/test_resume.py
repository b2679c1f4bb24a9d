"""Going on from a run that stopped (J8), and what a result is as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Money
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.ports import Usage
from foxloop_trio.react import AgentRunResult, Message, ReactTool, StateHolder, ToolCall, run_react_loop
from foxloop_trio.testing import scripted_llm

DONE = {"calls": [("task_done", {"summary": "s"})], "usage": {"input_tokens": 1, "output_tokens": 1}}
TOOL = ReactTool(name="look", handler=lambda args, context: "seen")
LOOK = {"calls": [("look", {})], "usage": {"input_tokens": 1, "output_tokens": 1}}


async def run(*steps: Any, **options: Any) -> Any:
    return await run_react_loop(llm=scripted_llm(steps), tools=[TOOL], system="", **options)


@pytest.mark.parametrize("as_json", [True, False], ids=["json", "result"])
async def test_a_run_that_stopped_on_a_limit_can_go_on(as_json: bool) -> None:
    """J8: with its conversation, its count of turns, its usage, and as many turns again; new messages go behind the old ones."""
    first = await run(LOOK, LOOK, max_turns=2, initial_messages=[{"role": "user", "content": "Look."}])
    assert first.stopped == "max_turns"
    given = json.loads(json.dumps(first.to_json())) if as_json else first
    seen: list[int] = []
    more = [{"role": "user", "content": "Go on."}]
    hooks = {"on_turn_start": lambda state: seen.append(state.turn)}
    second = await run(LOOK, DONE, resume_from=given, initial_messages=more, max_turns=2, hooks=hooks)
    assert (second.stopped, second.turns, seen) == ("task_done", 4, [3, 4])
    assert second.messages[: len(first.messages)] == first.messages
    assert second.messages[len(first.messages)].content == "Go on."
    assert second.usage == Usage(input_tokens=4, output_tokens=4)
    ids = [call.id for message in second.messages for call in message.tool_calls]
    assert len(set(ids)) == len(ids) == 4


async def test_a_run_that_was_cancelled_can_go_on(autojump_clock: trio.testing.MockClock) -> None:
    """J8, R18: from the holder; the model reads that the call in flight may have had an effect."""

    async def sleep(args: Any, context: Any) -> None:
        await trio.sleep(100)

    slow = ReactTool(name="look", handler=sleep)
    holder = StateHolder()
    assert holder.partial_result() is None
    with trio.move_on_after(1):
        await run_react_loop(llm=scripted_llm([LOOK]), tools=[slow], system="", state_out=holder)
    partial = holder.partial_result()
    assert partial is not None
    llm = scripted_llm([DONE])
    result = await run_react_loop(llm=llm, tools=[TOOL], system="", resume_from=partial.to_json())
    assert "may have had an effect" in llm.seen[0].messages[1].content
    assert (result.stopped, result.turns) == ("task_done", 2)


def test_a_result_and_its_json_are_inverse() -> None:
    """All parts, money included; what is no JSON stands there as its words."""
    call = ToolCall(id="a", name="look", arguments={"x": [1]})
    result = AgentRunResult(
        stopped="budget",
        turns=3,
        messages=[
            Message(role="user", content="Hi"),
            Message(role="assistant", tool_calls=(call,)),
            Message(role="tool", content="ok", tool_call_id="a", name="look"),
        ],
        final_summary="s",
        usage=Usage(input_tokens=1, output_tokens=2, cached_tokens=3, cost=Money(value=4, currency="EUR")),
        stop_detail={"guard": "BudgetGuard", "limit": "turns", "used": 3, "allowed": 3},
    )
    plain = json.loads(json.dumps(result.to_json()))
    assert AgentRunResult.from_json(plain) == result
    odd = AgentRunResult(stopped="x", turns=0, messages=[], stop_detail={"what": {1, 2}})
    assert odd.to_json()["stop_detail"] == {"what": "{1, 2}"}


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"turns": -1},
        {"turns": True},
        {"messages": [{"role": "robot", "content": ""}]},
        {"messages": 3},
        {"usage": {"input_tokens": 1}},
        {"usage": None},
    ],
    ids=str,
)
def test_json_that_no_result_gives_is_refused(change: dict[str, Any]) -> None:
    """It may have been stored by anybody."""
    plain = AgentRunResult(stopped="text", turns=1, messages=[]).to_json()
    AgentRunResult.from_json(plain)
    with pytest.raises(BadOptionsError, match="resume_from"):
        AgentRunResult.from_json({**plain, **change})
