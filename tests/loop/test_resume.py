"""Going on with a recorded run: what was done is not done again, what is in doubt is said, and everything is carried over."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, ToolOutput
from foxloop_trio.errors import UsageError
from foxloop_trio.loop import Budget, Replayed
from foxloop_trio.planners import function_planner
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail


class Crash(BaseException):
    """The host process is gone: nothing after this moment gets on record."""


class CutTrail:
    """Keeps what was appended until the `last` entry; then everything is lost, as by a kill."""

    def __init__(self, last: int | None = None) -> None:
        self.inner = MemoryTrail(key=b"k" * 32)
        self.last = last

    async def append(self, *, actor: str, kind: str, data: Any) -> None:
        if self.last is not None and len(self.inner.entries()) > self.last:
            await trio.lowlevel.checkpoint()
            raise Crash
        await self.inner.append(actor=actor, kind=kind, data=data)

    @property
    def json(self) -> list[Any]:
        return [entry.to_json() for entry in self.inner.entries()]


class World:
    """What lives on when the host process dies: the acts that were done, and the trail."""

    def __init__(self) -> None:
        self.acts: list[str] = []
        self.trail = CutTrail()

    def tools(self) -> list[Tool]:
        async def save(args: Any, ctx: Any) -> ToolOutput:
            await trio.lowlevel.checkpoint()
            self.acts.append(args["text"])
            return ToolOutput(ok=True, summary="Saved.", check=CheckResult(ok=True))

        async def look(args: Any, ctx: Any) -> ToolOutput:
            await trio.lowlevel.checkpoint()
            return ToolOutput(ok=True, summary="Seen.", untrusted=" ".join(self.acts))

        text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        nothing: dict[str, Any] = {"type": "object", "properties": {}}
        fields: dict[str, Any] = {"description": "", "domain": "notes.local"}
        return [
            Tool(name="save", parameters=text, scope="submit", run=save, **fields),
            Tool(name="look", parameters=nothing, scope="read", run=look, **fields),
        ]


def careful(wanted: list[str]) -> Any:
    """A planner that reads results: it saves what is wanted, looks when something is in doubt, and skips what it then sees done."""
    turns = 0

    async def plan(messages: Any, tools: Any) -> Any:
        nonlocal turns
        turns += 1
        from foxloop_trio.ports import ChatReply

        looks = [message["content"] for message in messages if message["role"] == "tool" and "look: ok" in message["content"]]
        seen = " ".join(looks)
        done = [
            wish
            for wish in wanted
            if any(
                message.get("tool_calls") and f'"{wish}"' in str(message["tool_calls"]) and ": ok" in messages[at + 1]["content"]
                for at, message in enumerate(messages[:-1])
            )
            or wish in seen.split()
        ]
        doubt = messages[-1]["role"] == "tool" and "interrupted" in messages[-1]["content"]
        left = [wish for wish in wanted if wish not in done]
        name, args = ("look", "{}") if doubt else ("save", f'{{"text":"{left[0]}"}}') if left else ("finish", '{"summary":"All."}')
        call = {"id": f"c{turns}-{len(messages)}", "type": "function", "function": {"name": name, "arguments": args}}
        return ChatReply(message={"role": "assistant", "content": None, "tool_calls": [call]})

    return function_planner(plan)


def loop_of(parts: Any, world: World, **options: Any) -> Any:
    return parts.Bench(
        planner=careful(["one", "two", "three"]),
        tools=world.tools(),
        sink=world.trail,
        check=lambda claim: CheckResult(ok=True),
        **options,
    )


async def read(run: Any) -> list[Any]:
    async with run:
        return [event async for event in run]


@pytest.mark.parametrize("last", range(32))
async def test_a_run_that_died_after_any_entry_is_resumed_to_its_end_and_no_act_is_done_twice(parts: Any, last: int) -> None:
    """An act in doubt is shown as such, and the planner looks before it goes on."""
    world = World()
    world.trail.last = last
    bench = loop_of(parts, world)
    try:
        await bench.run()
        return  # it was done before that entry
    except Crash:
        pass
    died_with, world.trail.last = list(world.acts), None
    again = loop_of(parts, world)
    events = await read(again.loop.resume(world.trail.json))
    assert events[-1].type == "done"
    assert sorted(world.acts) == ["one", "three", "two"]
    doubts = [event for event in events if event.type == "tool-result" and event.reason == "in-doubt"]
    assert len(doubts) <= 1
    entries = world.trail.json
    assert [entry["kind"] for entry in entries].count("loop.start") == 2
    first, second = [entry["data"] for entry in entries if entry["kind"] == "loop.start"]
    assert (second["resumes"], first["run"] != second["run"]) == (first["run"], True)
    acted = {event.id for event in events if event.type == "tool-result" and event.ok}
    assert len(acted) >= 3 - len(died_with)
    # The whole story replays, both halves of it.
    found = await loop_of(parts, World()).loop.replay(entries)
    assert isinstance(found, Replayed), found.message
    assert found.finished


async def test_what_is_carried_over_is_history_counters_and_both_clocks(parts: Any, autojump_clock: Any) -> None:
    """A budget that was spent before the end is spent after it, and a larger one goes on from there."""
    world = World()

    async def slow(messages: Any, tools: Any) -> Any:
        await trio.sleep(10)
        return await inner.chat(messages, tools=tools)

    inner = careful(["one", "two", "three"])
    fields: dict[str, Any] = {"tools": world.tools(), "sink": world.trail, "check": lambda claim: CheckResult(ok=True)}
    bench = parts.Bench(planner=function_planner(slow), budget=Budget(seconds=25), **fields)
    events = await bench.run()
    assert (events[-1].reason, events[-1].limit, world.acts) == ("budget", "seconds", ["one", "two"])
    again = parts.Bench(planner=function_planner(slow), budget=Budget(seconds=46), **fields)
    run = again.loop.resume(world.trail.json)
    events = await read(run)
    assert events[-1].type == "done"
    assert world.acts == ["one", "two", "three"]
    assert run.statistics().work_seconds == 45
    assert run.statistics().tool_runs == 3
    assert events[-1].step == 4  # the request that was cut is asked again


async def test_a_run_that_is_done_cannot_be_resumed(parts: Any) -> None:
    """There is nothing to go on with."""
    world = World()
    await loop_of(parts, world).run()
    with pytest.raises(UsageError, match="done"):
        loop_of(parts, world).loop.resume(world.trail.json)


async def test_a_spent_budget_of_calls_goes_on_with_a_larger_one(parts: Any) -> None:
    """The call that was refused for it stays skipped; the planner asks again."""
    world = World()
    bench = loop_of(parts, world, budget=Budget(tool_calls=1))
    assert (await bench.run())[-1].limit == "tool_calls"
    with pytest.raises(UsageError, match="same end"):
        loop_of(parts, world, budget=Budget(tool_calls=1)).loop.resume(world.trail.json)
    events = await read(loop_of(parts, world, budget=Budget(tool_calls=9)).loop.resume(world.trail.json))
    assert (events[-1].type, world.acts) == ("done", ["one", "two", "three"])


async def test_an_aborted_run_goes_on_and_a_pending_approval_is_void(parts: Any, autojump_clock: Any) -> None:
    """The human is asked anew, by a new call."""
    world = World()
    asked: list[str] = []

    async def approve(request: Any) -> str | None:
        asked.append(request.request_id)
        if len(asked) == 1:
            await trio.sleep_forever()
        return "token"

    bench = loop_of(parts, world, gate=parts.StubGate("ask"), on_approval=approve)
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            await trio.sleep(5)
            bench.last.abort()

        nursery.start_soon(stop)
        assert (await bench.run())[-1].type == "aborted"
    again = loop_of(parts, world, gate=parts.StubGate("ask"), on_approval=approve)
    again.gate.expires_at = 10_000.0
    events = await read(again.loop.resume(world.trail.json))
    assert parts.told(events)[:3] == ["tool-result in-doubt", "plan", "tool-call"]
    assert (events[-1].type, len(asked), world.acts) == ("done", 2, ["one", "two", "three"])


async def test_the_effect_that_was_on_record_is_what_planner_and_host_are_told(parts: Any, autojump_clock: Any) -> None:
    """Stopped in the middle of an act that knew what it had done."""
    world = World()

    async def half(args: Any, ctx: Any) -> ToolOutput:
        ctx.report_effect("partial", ["name"])
        await trio.sleep_forever()
        raise AssertionError

    def tools() -> list[Tool]:
        save, look = world.tools()
        return [Tool(name="save", description="", parameters=save.parameters, scope="fill", domain="notes.local", run=half), look]

    bench = parts.Bench(parts.reply(parts.call("save", text="a")), tools=tools(), sink=world.trail, budget=Budget(seconds=5))
    assert (await bench.run())[-1].in_flight.effect.state == "partial"
    again = parts.Bench(parts.reply(parts.call("save", text="a")), tools=tools(), sink=world.trail, max_steps=2)
    events = await read(again.loop.resume(world.trail.json))
    assert parts.told(events) == [
        "tool-result in-doubt", "plan", "tool-call", "tool-result in-doubt", "blocked max-steps",
    ]  # fmt: skip
    record = next(entry["data"]["record"] for entry in world.trail.json if entry["data"].get("reason") == "in-doubt")
    assert record["effect"] == {"state": "partial", "done": ["name"]}


async def test_another_loop_cannot_go_on_with_the_run(parts: Any) -> None:
    """Nobody would know what it went on from; the first difference is named."""
    world = World()
    world.trail.last = 8
    with pytest.raises(Crash):
        await loop_of(parts, world).run()
    other = parts.Bench(tools=world.tools()[1:], sink=world.trail)
    with pytest.raises(UsageError, match="cannot be resumed"):
        other.loop.resume(world.trail.json)


async def test_a_goal_that_the_trail_withheld_has_to_be_given(parts: Any) -> None:
    """A goal on record is not to be changed."""
    world = World()
    world.trail.last = 8

    def make() -> Any:
        save, look = world.tools()
        hidden = Tool(
            name="save", description="", parameters=save.parameters, scope="submit", domain="notes.local", run=save.run,
            redact=lambda args: {"text": "•••"},
        )  # fmt: skip
        return parts.Bench(
            planner=careful(["one"]), tools=[hidden, look], sink=world.trail, check=lambda claim: CheckResult(ok=True)
        )

    with pytest.raises(Crash):
        await make().run("save one, my secret")
    world.trail.last = None
    with pytest.raises(UsageError, match="give goal="):
        make().loop.resume(world.trail.json)
    events = await read(make().loop.resume(world.trail.json, goal="save one, my secret"))
    assert events[-1].type == "done"
    assert world.acts == ["one"]
    plain = World()
    plain.trail.last = 5
    with pytest.raises(Crash):
        await loop_of(parts, plain).run("mine")
    plain.trail.last = None
    with pytest.raises(UsageError, match="'mine'"):
        loop_of(parts, plain).loop.resume(plain.trail.json, goal="yours")
