"""Calls beside each other (R22): only of tools that say so, in rows, judged and observed in the order of the reply."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.react import Instead, ReactTool, StateHolder, Stop, run_react_loop
from foxloop_trio.testing import scripted_llm

ANY: dict[str, Any] = {"type": "object", "properties": {"seconds": {"type": "number"}}}
DONE = {"calls": [("task_done", {"summary": "s"})]}


class Scene:
    """Two tools that sleep: `look` may run beside others, `act` may not. `log` has their begins and ends with the time."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.tools = [
            ReactTool(name="look", parameters=ANY, handler=self._tool("look"), parallel_safe=True),
            ReactTool(name="act", parameters=ANY, handler=self._tool("act")),
        ]

    def _tool(self, name: str) -> Any:
        async def handler(args: dict[str, Any], context: Any) -> str:
            self.log.append(f"{trio.current_time():g} {name}{args['seconds']}")
            await trio.sleep(args["seconds"])
            self.log.append(f"{trio.current_time():g} end {name}{args['seconds']}")
            return f"{name}{args['seconds']}"

        return handler

    async def run(self, *calls: tuple[str, Any], **options: Any) -> Any:
        llm = scripted_llm([{"calls": [(name, {"seconds": seconds}) for name, seconds in calls]}, DONE])
        return await run_react_loop(llm=llm, tools=self.tools, system="", **{"parallel": True, **options})


def observations(result: Any) -> list[str]:
    return [message.content for message in result.messages if message.role == "tool"]


async def test_calls_in_a_row_run_beside_each_other_and_are_observed_in_order(autojump_clock: trio.testing.MockClock) -> None:
    """R22: a maximal row of safe ones; another one waits for it, and what follows waits for that."""
    scene = Scene()
    heard: list[str] = []
    hooks = {"on_tool_result": lambda result, call, state: heard.append(result.content)}
    calls = [("look", 3), ("look", 1), ("act", 2), ("look", 4)]
    result = await scene.run(*calls, hooks=hooks)
    assert trio.current_time() == 3 + 2 + 4
    assert sorted(scene.log[:2]) == ["0 look1", "0 look3"]
    assert scene.log[2:] == ["1 end look1", "3 end look3", "3 act2", "5 end act2", "5 look4", "9 end look4"]
    assert observations(result)[:4] == heard[:4] == ["look3", "look1", "act2", "look4"]


async def test_without_parallel_calls_run_one_after_another(autojump_clock: trio.testing.MockClock) -> None:
    """Whatever the tools say."""
    await Scene().run(("look", 3), ("look", 1), parallel=False)
    assert trio.current_time() == 4


async def test_each_of_a_row_has_its_own_limit_and_its_own_end(autojump_clock: trio.testing.MockClock) -> None:
    """J1, R13: one that is cut or raises takes nobody with it; bad calls are answered in their place."""
    scene = Scene()
    result = await scene.run(("look", 5), ("look", "x"), ("look", 1), tool_timeout=2)
    told = observations(result)
    assert told[0].startswith("Timed out after 2 s")
    assert "seconds: must be a number" in told[1]
    assert told[2] == "look1"
    assert trio.current_time() == 2


async def test_a_row_is_judged_before_any_of_it_runs() -> None:
    """R30 in order: a refused one and one after a stop do not run; those before do."""
    scene = Scene()

    class StopAtThird:
        def before_tool(self, call: Any, state: Any) -> Any:
            return Stop("policy", {"why": "enough"}) if call.arguments == {"seconds": 3} else None

    result = await scene.run(("look", 0), ("look", 3), ("look", 1), guards=[StopAtThird()])
    assert result.stopped == "policy"
    assert observations(result) == ["look0", "Not run: the run is being stopped.", "Not run: the run is being stopped."]


async def test_a_hook_that_raises_in_the_middle_of_a_row_runs_nothing_and_gives_back_what_was_admitted() -> None:
    """R16: its very exception, in no group."""
    given_back: list[str] = []

    async def drop() -> None:
        given_back.append("x")

    def hook(call: Any, state: Any) -> Any:
        if call.arguments == {"seconds": 1}:
            raise LookupError("broken")
        return Instead(run=lambda args, context: "never", drop=drop)

    scene = Scene()
    with pytest.raises(LookupError, match="broken"):
        await scene.run(("look", 0), ("look", 1), hooks={"before_tool_call": hook})
    assert (given_back, scene.log) == (["x"], [])


@pytest.mark.parametrize("fault", [KeyboardInterrupt, SystemExit])
async def test_an_interrupt_in_one_of_a_row_comes_out_as_it_is(fault: type[BaseException]) -> None:
    """R13: in no group; the others are cancelled."""

    async def interrupt(args: dict[str, Any], context: Any) -> str:
        await trio.lowlevel.checkpoint()
        raise fault

    scene = Scene()
    scene.tools.append(ReactTool(name="stop", parameters=ANY, handler=interrupt, parallel_safe=True))
    with pytest.raises(fault):
        await scene.run(("look", 1000), ("stop", 0))


async def test_what_ended_before_a_cancel_is_kept(autojump_clock: trio.testing.MockClock) -> None:
    """R18: of a row too; the others may have had an effect."""
    holder = StateHolder()
    with trio.move_on_after(2):
        await Scene().run(("look", 1), ("look", 3), ("act", 0), state_out=holder)
    assert [message.content for message in holder.messages[1:]] == [
        "look1",
        "The run ended while this call was running. It may have had an effect.",
        "Not run: the run ended before this call began.",
    ]
