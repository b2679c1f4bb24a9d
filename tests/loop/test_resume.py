"""Going on with a recorded run: what was done is not done again, what is in doubt is said, and everything is carried over."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, Deny, Money, ToolOutput
from foxloop_trio.errors import UsageError
from foxloop_trio.guarding import Note as GuardNote
from foxloop_trio.guarding import Rewrite
from foxloop_trio.guarding import Stop as GuardStop
from foxloop_trio.loop import Budget, Denials, Replayed
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Usage
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


# Again and again


@pytest.mark.parametrize("first", range(4, 12))
@pytest.mark.parametrize("later", range(4))
async def test_a_run_that_dies_twice_is_resumed_with_the_doubt_of_the_first_time(parts: Any, first: int, later: int) -> None:
    """Also when the second process died before it could say what was in doubt; and both halves replay."""
    world = World()
    world.trail.last = first
    with pytest.raises(Crash):
        await loop_of(parts, world).run()
    world.trail.last = first + 1 + later
    with pytest.raises(Crash):
        await read(loop_of(parts, world).loop.resume(world.trail.json))
    world.trail.last = None
    third = loop_of(parts, world)
    events = await read(third.loop.resume(world.trail.json))
    assert events[-1].type == "done"
    assert sorted(world.acts) == ["one", "three", "two"]
    starts = [entry["data"] for entry in world.trail.json if entry["kind"] == "loop.start"]
    assert [start.get("resumes") for start in starts] == [None, starts[0]["run"], starts[1]["run"]]
    found = await loop_of(parts, World()).loop.replay(world.trail.json)
    assert isinstance(found, Replayed), found.message


async def test_many_interruptions_of_one_look_are_no_circle(parts: Any) -> None:
    """A look that the planner repeats because it got no answer is no repetition, and the chain of runs may be long."""
    world = World()
    for number in range(30):
        # Each process gets as far as the gate's leave for the look.
        world.trail.last = len(world.trail.json) + (5 if number else 4) - 1
        bench = one_act(parts, world, parts.reply(parts.call("look")), max_steps=1000)
        with pytest.raises(Crash):
            await (read(bench.loop.resume(world.trail.json)) if number else bench.run())
    world.trail.last = None
    bench = one_act(parts, world, parts.FINISH, max_steps=1000)
    assert (await read(bench.loop.resume(world.trail.json)))[-1].type == "done"


def one_act(parts: Any, world: World, *replies: Any, **options: Any) -> Any:
    return parts.Bench(*replies, tools=world.tools(), sink=world.trail, check=lambda claim: CheckResult(ok=True), **options)


async def died_in_the_act(parts: Any, world: World, *replies: Any, **options: Any) -> None:
    """A run that is killed when its first act was done and its result is not on record."""
    bench = one_act(parts, world, *replies, **options)
    append = world.trail.append

    async def dying(*, actor: str, kind: str, data: Any) -> None:
        if kind == "loop.tool-result" and data["name"] == "save":
            world.trail.last = -1
        await append(actor=actor, kind=kind, data=data)

    world.trail.append = dying  # type: ignore[method-assign]
    with pytest.raises(Crash):
        await bench.run("save one")
    world.trail.append, world.trail.last = append, None  # type: ignore[method-assign]


async def test_what_is_in_doubt_is_held_back_until_a_fresh_look_also_after_another_resume(parts: Any) -> None:
    """The hold outlives any number of processes, and ends with a look."""
    save, look = parts.reply(parts.call("save", text="one")), parts.reply(parts.call("look"))
    world = World()
    await died_in_the_act(parts, world, save)
    bench = one_act(parts, world, save, max_steps=2)
    assert parts.told(await read(bench.loop.resume(world.trail.json)))[-2:] == ["tool-result in-doubt", "blocked max-steps"]
    bench = one_act(parts, world, save, look, save, parts.FINISH, max_steps=9)
    events = await read(bench.loop.resume(world.trail.json))
    results = [(event.name, event.reason) for event in events if event.type == "tool-result"]
    assert results == [("save", "in-doubt"), ("look", None), ("save", None)]
    assert world.acts == ["one", "one"]  # once more because the planner wanted it, after a look
    assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


async def test_a_hidden_value_in_doubt_holds_back_every_call_of_its_tool(parts: Any) -> None:
    """The trail has a mask in its place, so no call can be told from it; after a look any may run."""
    world = World()

    def hidden() -> list[Tool]:
        save, look = World.tools(world)
        fields = {"description": "", "domain": "notes.local", "scope": "submit", "redact": lambda args: {"text": "•••"}}
        return [Tool(name="save", parameters=save.parameters, run=save.run, **fields), look]

    world.tools = hidden  # type: ignore[method-assign]
    await died_in_the_act(parts, world, parts.reply(parts.call("save", text="hunter2")))
    save, other = (parts.reply(parts.call("save", text=text)) for text in ("hunter2", "another"))
    bench = one_act(parts, world, save, other, parts.reply(parts.call("look")), other, parts.FINISH)
    events = await read(bench.loop.resume(world.trail.json, goal="save one"))
    reasons = [event.reason for event in events if event.type == "tool-result"]
    assert reasons == ["in-doubt", "in-doubt", "in-doubt", None, None]
    assert world.acts == ["hunter2", "another"]
    assert "hunter2" not in str(world.trail.json)


async def test_different_hidden_values_in_a_row_are_no_circle_in_a_recall(parts: Any) -> None:
    """Their masks are equal, they were not."""
    world = World()

    def make(*replies: Any, **options: Any) -> Any:
        save, look = world.tools()
        fields: dict[str, Any] = {"description": "", "domain": "notes.local", "redact": lambda args: {"text": "•••"}}
        hidden = Tool(name="save", parameters=save.parameters, scope="fill", run=save.run, **fields)
        return parts.Bench(*replies, tools=[hidden, look], sink=world.trail, check=lambda claim: CheckResult(ok=True), **options)

    script = [parts.reply(parts.call("save", text=f"secret {number}")) for number in range(5)]
    await make(*script, max_steps=5).run()
    assert isinstance(await make(max_steps=5).loop.replay(world.trail.json), Replayed)
    events = await read(make(parts.FINISH).loop.resume(world.trail.json, goal="Save a note"))
    assert events[-1].type == "done"


@pytest.mark.parametrize("count", [1, 2, 3])
async def test_a_batch_that_died_in_its_middle_skips_the_rest(parts: Any, count: int) -> None:
    """What the planner had wanted after the call in doubt, it has to want again."""
    world = World()
    calls = [parts.call("save", text=text) for text in ("one", "two", "three")]
    tools = [Tool(name="save", description="", parameters=world.tools()[0].parameters, scope="fill", domain="notes.local",
                  run=world.tools()[0].run), world.tools()[1]]  # fmt: skip
    world.tools = lambda: tools  # type: ignore[method-assign]
    world.trail.last = 3 * count + 1
    with pytest.raises(Crash):
        await one_act(parts, world, parts.reply(*calls)).run()
    world.trail.last = None
    bench = one_act(parts, world, parts.FINISH)
    events = await read(bench.loop.resume(world.trail.json))
    assert parts.told(events) == [
        "tool-result in-doubt", *["tool-result skipped"] * (3 - count), "plan", "check", "done",
    ]  # fmt: skip
    assert_answered(bench.planner.seen[0])
    assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


def assert_answered(messages: Any) -> None:
    """Each call of an assistant message has its one answer, in order."""
    for at, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls") or (), at + 1):
            assert (messages[number]["role"], messages[number]["tool_call_id"]) == ("tool", call["id"])


# More room


@pytest.mark.parametrize("cut", [0, 1, 2])
async def test_calls_over_the_budget_stay_skipped_wherever_the_run_ended(parts: Any, cut: int) -> None:
    """All of the reply, or only a part of it on record before the end."""
    world = World()
    tools = [Tool(name="save", description="", parameters=world.tools()[0].parameters, scope="fill", domain="notes.local",
                  run=world.tools()[0].run), world.tools()[1]]  # fmt: skip
    world.tools = lambda: tools  # type: ignore[method-assign]
    calls = [parts.call("save", text=text) for text in ("one", "two", "three")]
    await one_act(parts, world, parts.reply(*calls), budget=Budget(tool_calls=1)).run()
    entries = world.trail.json[: len(world.trail.json) - cut]
    bench = one_act(parts, world, parts.FINISH, budget=Budget(tool_calls=5))
    events = await read(bench.loop.resume(entries))
    assert events[-1].type == "done"
    assert world.acts == ["one"]
    assert_answered(bench.planner.seen[0])
    if not cut:
        assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


@pytest.mark.parametrize(
    ("small", "large", "limit"),
    [
        ({"budget": Budget(tokens=1)}, {"budget": Budget(tokens=10**9)}, "tokens"),
        ({"max_steps": 1}, {"max_steps": 9}, "max_steps"),
        ({"budget": Budget(cost=Money(value=4, currency="EUR"))}, {"budget": Budget(cost=Money(value=99, currency="EUR"))}, "cost"),
        ({"budget": Budget(planner_seconds=1)}, {"budget": Budget(planner_seconds=9)}, "planner_seconds"),
        ({"budget": Budget(seconds=4)}, {"budget": Budget(seconds=99)}, "seconds"),
    ],
)  # fmt: skip
async def test_every_limit_can_be_given_more_room(parts: Any, autojump_clock: Any, small: Any, large: Any, limit: str) -> None:
    """And with the same room it is the same end, where the limit is not one of a single wait."""
    world = World()
    inner = careful(["one", "two"])

    async def plan(messages: Any, tools: Any) -> Any:
        await trio.sleep(3)
        reply = await inner.chat(messages, tools=tools)
        return ChatReply(message=reply.message, usage=Usage(input_tokens=9, output_tokens=1, cost=Money(value=3, currency="EUR")))

    def make(**options: Any) -> Any:
        fields: dict[str, Any] = {"tools": world.tools(), "sink": world.trail, "check": lambda claim: CheckResult(ok=True)}
        return parts.Bench(planner=function_planner(plan), **fields, **options)

    assert (await make(**small).run())[-1].limit == limit
    if limit in ("tokens", "max_steps", "cost"):
        with pytest.raises(UsageError, match="same end"):
            make(**small).loop.resume(world.trail.json)
    bench = make(**large)
    run = bench.loop.resume(world.trail.json)
    events = await read(run)
    assert (events[-1].type, world.acts) == ("done", ["one", "two"])
    assert run.statistics().cost == Money(value=9, currency="EUR")
    found = await bench.loop.replay(world.trail.json)
    assert isinstance(found, Replayed), found.message


async def test_a_call_that_timed_out_keeps_the_words_of_its_own_limit(parts: Any, autojump_clock: Any) -> None:
    """A larger `tool_seconds` does not change what the planner had been told."""
    world = World()

    async def slow(args: Any, ctx: Any) -> ToolOutput:
        await trio.sleep_forever()
        raise AssertionError

    tools = [Tool(name="save", description="", parameters=world.tools()[0].parameters, scope="fill", domain="notes.local",
                  run=slow), world.tools()[1]]  # fmt: skip
    world.tools = lambda: tools  # type: ignore[method-assign]
    await one_act(parts, world, parts.reply(parts.call("save", text="a")), budget=Budget(tool_seconds=5), max_steps=1).run()
    bench = one_act(parts, world, parts.FINISH, budget=Budget(tool_seconds=50))
    assert (await read(bench.loop.resume(world.trail.json)))[-1].type == "done"
    assert "5 s" in str(bench.planner.seen[0])
    assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


async def test_options_that_change_what_was_done_may_not_change(parts: Any) -> None:
    """The error names the option and both values."""
    world = World()
    world.trail.last = 8
    with pytest.raises(Crash):
        await loop_of(parts, world).run()
    with pytest.raises(UsageError, match=r"options\.max_calls_per_turn was 4, and is now 5"):
        loop_of(parts, world, max_calls_per_turn=5).loop.resume(world.trail.json)


# A first look, settling, refusals, corrections, pauses


@pytest.mark.parametrize("last", range(1, 6))
async def test_a_first_read_that_got_no_answer_is_read_again(parts: Any, last: int) -> None:
    """It is only a look, and nobody asked for it."""
    world = World()
    world.trail.last = last - 1
    options: dict[str, Any] = {"first_read": "look"}
    with pytest.raises(Crash):
        await one_act(parts, world, parts.FINISH, **options).run()
    world.trail.last = None
    bench = one_act(parts, world, parts.FINISH, **options)
    events = await read(bench.loop.resume(world.trail.json))
    assert events[-1].type == "done"
    assert "look: ok" in str(bench.planner.seen[0])
    assert_answered(bench.planner.seen[0])
    found = await bench.loop.replay(world.trail.json)
    assert isinstance(found, Replayed), found.message


async def test_a_first_read_that_a_budget_kept_away_stays_away(parts: Any) -> None:
    """The run had begun without it."""
    world = World()
    await one_act(parts, world, parts.reply(parts.call("save", text="one")), first_read="look", budget=Budget(tool_calls=0)).run()
    bench = one_act(parts, world, parts.reply(parts.call("save", text="one")), parts.FINISH, first_read="look")
    events = await read(bench.loop.resume(world.trail.json))
    assert (events[-1].type, world.acts) == ("done", ["one"])


async def test_a_refusal_that_died_before_its_result_is_shown_as_not_begun(parts: Any) -> None:
    """Arguments that do not fit: the planner hears that the call was not run."""
    world = World()
    world.trail.last = 3
    with pytest.raises(Crash):
        await one_act(parts, world, parts.reply({"name": "nope", "args": "{"}), parts.FINISH).run()
    world.trail.last = None
    bench = one_act(parts, world, parts.FINISH)
    events = await read(bench.loop.resume(world.trail.json))
    assert parts.told(events) == ["tool-result in-doubt", "plan", "check", "done"]
    assert "was not run" in str(bench.planner.seen[0])


def planner_of(*replies: Any) -> Any:
    """A scripted planner that says something unreadable in the place of None."""
    inner = scripted_planner([reply for reply in replies if reply is not None])
    left = list(replies)

    async def plan(messages: Any, tools: Any) -> ChatReply:
        return await inner.chat(messages, tools=tools) if left.pop(0) is not None else ChatReply(message={"content": 5})

    return function_planner(plan)


async def test_settle_denials_corrections_and_pauses_are_carried_over(parts: Any, autojump_clock: Any) -> None:
    """Counters that lead to an end go on from where they were, and paused time stays a person's."""
    world = World()
    no = Deny(reason="no-grant", message="no")
    denials = Denials(retry=lambda reason: True, limit=3)
    saves = [parts.reply(parts.call("save", text=str(number))) for number in range(3)]

    async def settle(given: Any) -> None:
        return None

    async def pauses(run: Any, event: Any) -> None:
        if event.type == "plan" and event.problem is not None:
            run.pause()
            nursery.start_soon(go_on, run)

    async def go_on(run: Any) -> None:
        await trio.sleep(7)
        run.unpause()

    async with trio.open_nursery() as nursery:
        gate = parts.StubGate(no, no)
        options: dict[str, Any] = {"denials": denials, "settle": settle}
        bench = one_act(parts, world, gate=gate, planner=planner_of(saves[0], None, None, None, saves[1]), max_steps=5, **options)
        events = await bench.run(each=pauses)
    assert parts.told(events)[-2:] == ["tool-result gate-deny", "blocked max-steps"]
    bench = one_act(parts, world, saves[2], gate=parts.StubGate(no), **options)
    run = bench.loop.resume(world.trail.json)
    events = await read(run)
    assert (events[-1].reason, "3 denials in a row" in events[-1].message) == ("gate-deny", True)
    assert run.statistics().human_seconds == 21
    assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


async def test_a_trail_that_fails_at_once_ends_the_resumed_run_as_any_other(parts: Any) -> None:
    """Its own beginning could not be written: nothing is done."""
    world = World()
    await died_in_the_act(parts, world, parts.reply(parts.call("save", text="one")))
    bench = parts.Bench(
        parts.FINISH, tools=world.tools(), sink=parts.MemorySink(fail_at={0}), check=lambda claim: CheckResult(ok=True)
    )
    events = await read(bench.loop.resume(world.trail.json))
    assert parts.told(events) == ["blocked trail-failed"]
    bench = parts.Bench(parts.FINISH, tools=world.tools(), sink=world.trail, check=lambda claim: CheckResult(ok=True))
    async with bench.loop.resume(world.trail.json) as run:
        run.abort()
        assert [event.type async for event in run] == ["aborted"]
    # What was in doubt still is.
    assert parts.told(await read(one_act(parts, world, parts.FINISH).loop.resume(world.trail.json)))[0] == "tool-result in-doubt"


async def test_leave_that_lapsed_and_was_given_anew_is_in_doubt(parts: Any, autojump_clock: Any) -> None:
    """The note that nothing had begun is of the first leave only."""
    world = World()
    gate = parts.StubGate("ask")
    bench = one_act(parts, world, parts.reply(parts.call("save", text="one")), gate=gate, on_approval=lambda request: asked())

    async def asked() -> str:
        return "token"

    async def hold(run: Any, event: Any) -> None:
        if event.type == "decision" and event.via == "redeem":
            gate.ledger.lapsed.add("p2")
            await trio.sleep(5)

    append = world.trail.append

    async def dying(*, actor: str, kind: str, data: Any) -> None:
        if kind == "loop.tool-result":
            world.trail.last = -1
        await append(actor=actor, kind=kind, data=data)

    world.trail.append = dying  # type: ignore[method-assign]
    with pytest.raises(Crash):
        await bench.run(each=hold)
    kinds = [entry["kind"] for entry in world.trail.json]
    assert kinds[-3:] == ["loop.decision", "loop.effect", "loop.decision"]
    world.trail.append, world.trail.last = append, None  # type: ignore[method-assign]
    bench = one_act(parts, world, parts.FINISH, on_approval=lambda request: asked())
    await read(bench.loop.resume(world.trail.json))
    (result,) = [entry["data"] for entry in world.trail.json if entry["kind"] == "loop.tool-result"]
    assert (result["reason"], result["record"]["effect"]["state"]) == ("in-doubt", "unknown")


@pytest.mark.parametrize("last", [2, 5])
async def test_a_call_of_which_only_the_mask_is_left_is_not_run(parts: Any, last: int) -> None:
    """Planned, not begun, and then the process died: the trail has no arguments that could be run."""
    world = World()
    world.trail.last = last

    def make(*replies: Any) -> Any:
        save, look = world.tools()
        fields: dict[str, Any] = {"description": "", "domain": "notes.local", "redact": lambda args: {"text": "•••"}}
        hidden = Tool(name="save", parameters=save.parameters, scope="fill", run=save.run, **fields)
        return parts.Bench(*replies, tools=[hidden, look], sink=world.trail, check=lambda claim: CheckResult(ok=True))

    with pytest.raises(Crash):
        looks = [parts.call("look")] if last > 2 else []
        await make(parts.reply(*looks, parts.call("save", text="hunter2"), parts.call("look"))).run()
    world.trail.last = None
    assert world.trail.json[-1]["kind"] == ("loop.plan" if last == 2 else "loop.tool-result")
    bench = make(parts.FINISH)
    events = await read(bench.loop.resume(world.trail.json, goal="Save a note"))
    assert parts.told(events)[:3] == ["tool-call", "tool-result in-doubt", "tool-result skipped"]
    assert (events[-1].type, world.acts) == ("done", [])
    assert_answered(bench.planner.seen[0])
    assert isinstance(await bench.loop.replay(world.trail.json), Replayed)


# Guards


class Watch:
    """A guard that counts its beginnings, answers them as told, and passes everything else but one text."""

    def __init__(self, *starts: Any) -> None:
        self.starts = list(starts)
        self.began = 0
        self.requests = 0

    def on_run_start(self, state: Any) -> Any:
        self.began += 1
        return self.starts.pop(0) if self.starts else None

    def before_model(self, state: Any) -> Any:
        self.requests += 1
        return GuardNote(f"look out, request {state.turn}")

    def before_tool(self, call: Any, state: Any) -> Any:
        return Rewrite({"text": "TWO"}) if dict(call.arguments) == {"text": "two"} else None


def two_letters(parts: Any, world: World, guard: Watch, **options: Any) -> Any:
    calls = [{"calls": [{"name": "save", "args": {"text": text}}]} for text in ("one", "two")]
    return parts.Bench(
        *calls[options.pop("done", 0) :],
        {"calls": [{"name": "finish", "args": {"summary": "All."}}]},
        tools=world.tools(),
        sink=world.trail,
        check=lambda claim: CheckResult(ok=True),
        guards=[guard],
        **options,
    )


async def test_a_guarded_run_cut_after_any_entry_is_gone_on_with_and_the_whole_replays(parts: Any) -> None:
    """What guards said is taken from the record; where the run goes on they are told that it begins, and asked anew."""
    whole = World()
    await read(two_letters(parts, whole, Watch()).loop.run("goal"))
    assert whole.acts == ["one", "TWO"]
    entries = whole.trail.json
    for cut in range(2, len(entries)):
        kept = entries[:cut]
        if kept[-1]["kind"] == "loop.done":
            continue
        done = sum(entry["kind"] == "loop.plan" for entry in kept)
        world, guard = World(), Watch(GuardNote("we went on"))
        bench = two_letters(parts, world, guard, done=done)
        run = bench.loop.resume(kept)
        async with run:
            async for _ in run:
                pass
        assert (guard.began, run.outcome.status) == (1, "done"), cut
        story = [*kept, *world.trail.json]
        for seq, entry in enumerate(story):
            entry["seq"] = seq
        replayed = await two_letters(parts, World(), Watch()).loop.replay(story)
        assert isinstance(replayed, Replayed), (cut, replayed)


async def test_a_guard_that_stops_a_run_which_goes_on_ends_it_before_any_request(parts: Any) -> None:
    """A ledger that is spent says so at the beginning; a run cut in the middle of a request does not make that request again."""
    whole = World()
    await read(two_letters(parts, whole, Watch()).loop.run("goal"))
    entries = whole.trail.json
    cut = next(at for at, entry in enumerate(entries) if entry["kind"] == "loop.plan")
    bench = two_letters(parts, World(), Watch(GuardStop("budget", "nothing is left")))
    run = bench.loop.resume(entries[:cut])
    events = await read(run)
    assert [event.type for event in events] == ["blocked"]
    assert (run.outcome.reason, bench.planner.seen) == ("budget", [])
