"""`scripted_llm`: each kind of step does what it says, and a wrong one is named when it is written."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.errors import PlannerError, UsageError
from foxloop_trio.testing import scripted_llm


async def ask(llm: Any) -> Any:
    return await llm.complete(system="S", messages=[1], tools=[2])


async def test_steps_are_answered_in_their_order() -> None:
    """Text, calls in both spellings, raw calls, functions sync and async, exceptions; then it says that it has no more."""

    async def later(request: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return {"text": f"{request.system}{request.messages}{request.tools}"}

    raw = [{"id": "", "name": "x", "arguments": 3}]
    steps: list[Any] = [
        "text",
        {"calls": [("a", {"x": 1}), {"name": "b", "arguments": {}, "id": "mine"}], "usage": 1},
        {"tool_calls": raw},
        lambda request: "made",
        later,
        OSError("down"),
    ]
    llm = scripted_llm(steps)
    assert await ask(llm) == {"text": "text", "tool_calls": []}
    assert await ask(llm) == {
        "tool_calls": [{"id": "call_1", "name": "a", "arguments": {"x": 1}}, {"id": "mine", "name": "b", "arguments": {}}],
        "usage": 1,
    }
    assert (await ask(llm))["tool_calls"] == raw
    assert (await ask(llm))["text"] == "made"
    assert (await ask(llm))["text"] == "S[1][2]"
    with pytest.raises(OSError, match="down"):
        await ask(llm)
    with pytest.raises(PlannerError, match="asked for one more"):
        await ask(llm)
    assert len(llm.seen) == 7


@pytest.mark.parametrize(
    "steps", ["text", {"text": "x"}, 3, [3], [{"words": "x"}], [{"calls": ["a"]}], [{"calls": [("a",)]}]], ids=str
)
def test_what_is_no_step_is_named_at_once(steps: Any) -> None:
    """A UsageError, before anything runs."""
    with pytest.raises(UsageError):
        scripted_llm(steps)


async def test_each_request_is_a_checkpoint() -> None:
    """So that a test with it is stopped where a real model could be."""
    with trio.testing.assert_checkpoints():
        await ask(scripted_llm(["x"]))
