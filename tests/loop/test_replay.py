"""Replaying a trail: the engine goes the recorded way, or the first difference is named."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckLine, CheckResult, Deny, Money, ToolOutput
from foxloop_trio.errors import Refuse, UsageError
from foxloop_trio.loop import Budget, Denials, Difference, Replayed
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail


def look(**changes: Any) -> Tool:
    async def run(args: Any, ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="1 control", untrusted=f"page <{ctx.step}>", data={"n": ctx.step})

    fields: dict[str, Any] = {
        "name": "look",
        "description": "Looks.",
        "parameters": {"type": "object", "properties": {}},
        "scope": "read",
        "domain": lambda args, ctx: "notes.local",
        "run": run,
    }
    return Tool(**{**fields, **changes})


def hides(args: dict[str, Any]) -> dict[str, Any]:
    return {**args, "text": "•••"}


async def yes(request: Any) -> str:
    return "token"


async def silent(request: Any) -> str | None:
    await trio.sleep_forever()


class Scene:
    """How a run is made: the same again for the replay."""

    def __init__(self, *replies: Any, tools: Any = None, **options: Any) -> None:
        self.replies, self.tools, self.options = replies, tools, options

    def bench(self, parts: Any) -> Any:
        options = {name: value() if name in ("gate", "planner") else value for name, value in self.options.items()}
        tools = self.tools(parts) if self.tools is not None else [parts.save_note([]), look()]
        return parts.Bench(*self.replies, tools=tools, sink=MemoryTrail(key=b"k" * 32), **options)


def one(parts: Any, name: str) -> Scene:
    """Runs of every kind, by name."""
    call, reply, finish = parts.call, parts.reply, parts.FINISH
    note = reply(call(text="a"))

    async def stubborn(args: Any, ctx: Any) -> ToolOutput:
        ctx.report_effect("partial", ["name"])
        await trio.sleep_forever()
        raise AssertionError

    def raises(fault: Exception) -> Any:
        async def run(args: Any, ctx: Any) -> ToolOutput:
            raise fault

        return run

    def with_tool(**changes: Any) -> Any:
        return lambda parts: [parts.save_note([], **changes), look()]

    async def settle(given: Any) -> str | None:
        return "Settled."

    async def settle_not(given: Any) -> str | None:
        raise ValueError("no")

    failing = CheckResult(ok=False, checks=(CheckLine(part="p", ok=False, evidence="no"),), problem="still no")
    scenes: dict[str, Any] = {
        "done": lambda: Scene(note, finish),
        "two calls, a look, a batch that ends": lambda: Scene(
            reply(call("look"), call(text="a"), text="See."), reply(call(text=""), call(text="b")), reply(call("look")), finish
        ),
        "approved": lambda: Scene(
            note,
            finish,
            gate=lambda: parts.StubGate("ask"),
            on_approval=yes,
            tools=with_tool(prepare=lambda args, ctx: {**args, "pin": 7}, describe=lambda args, ctx: "Save a"),
        ),
        "refused by the human": lambda: Scene(note, gate=lambda: parts.StubGate("ask"), on_approval=lambda request: nobody()),
        "expired": lambda: Scene(note, gate=lambda: parts.StubGate("ask"), on_approval=silent),
        "approval limit": lambda: Scene(
            note, gate=lambda: parts.StubGate("ask"), on_approval=silent, budget=Budget(approval_seconds=5)
        ),
        "unavailable": lambda: Scene(note, gate=lambda: parts.StubGate("ask")),
        "denied": lambda: Scene(note, gate=lambda: parts.StubGate(Deny(reason="no-grant", message="no"))),
        "denied and learned": lambda: Scene(
            note,
            reply(call("look")),
            reply(call(text="c")),
            finish,
            gate=lambda: parts.StubGate(Deny(reason="no-grant", message="no")),
            denials=Denials(retry=lambda reason: True),
        ),
        "denied too often": lambda: Scene(
            note,
            reply(call(text="b")),
            gate=lambda: parts.StubGate(*[Deny(reason="no-grant", message="no")] * 2),
            denials=Denials(retry=lambda reason: True, limit=2),
        ),
        "gate error": lambda: Scene(note, gate=lambda: parts.StubGate(OSError("down"))),
        "unknown tool and bad arguments": lambda: Scene(reply(call("nope")), reply({"name": "save_note", "args": "{"}), finish),
        "prepare refuses": lambda: Scene(note, tools=with_tool(prepare=lambda args, ctx: refuse()), max_steps=1),
        "tool raises": lambda: Scene(note, tools=with_tool(run=raises(ValueError("boom"))), max_steps=1),
        "tool refuses": lambda: Scene(note, tools=with_tool(run=raises(Refuse("not now"))), max_steps=1),
        "tool times out and is held back": lambda: Scene(
            note, note, reply(call("look")), tools=with_tool(run=stubborn), budget=Budget(tool_seconds=5), max_steps=3
        ),
        "work time in a tool": lambda: Scene(note, tools=with_tool(run=stubborn), budget=Budget(seconds=3)),
        "failures": lambda: Scene(*[reply({"name": "save_note", "args": "{" + "x" * n}) for n in range(3)]),
        "repeats": lambda: Scene(note, note, note),
        "calls budget": lambda: Scene(reply(call(text="a"), call(text="b"), call(text="c")), budget=Budget(tool_calls=1)),
        "max steps": lambda: Scene(note, max_steps=1),
        "check fails twice": lambda: Scene(note, finish, {"text": "Done."}, check=lambda claim: failing),
        "settled": lambda: Scene(note, lambda messages: never(), settle=settle),
        "settle fails": lambda: Scene(note, finish, settle=settle_not),
        "first read": lambda: Scene(note, finish, first_read="look"),
        "first read denied": lambda: Scene(
            note, finish, first_read="look", gate=lambda: parts.StubGate(Deny(reason="no-grant", message="no"))
        ),
        "correction": lambda: Scene(planner=lambda: once_unreadable(note, finish)),
        "model error": lambda: Scene(note),
        "secret": lambda: Scene(
            reply(call(text="hunter2"), text="I type hunter2"), finish, tools=with_tool(redact=hides), max_steps=2
        ),
        "secret that is refused": lambda: Scene(
            reply({"name": "save_note", "args": '{"text": 5}'}), reply({"name": "save_note", "args": "{hunter2"}), finish,
            tools=with_tool(redact=lambda args: {"text": "•••"}), max_steps=3,
        ),
    }  # fmt: skip
    if name == "names":
        return scenes  # type: ignore[return-value]
    made: Scene = scenes[name]()
    return made


def once_unreadable(*replies: Any) -> Any:
    """A planner whose first reply is none."""
    inner = scripted_planner(list(replies))
    asked = iter([True])

    async def plan(messages: Any, tools: Any) -> ChatReply:
        if next(asked, False):
            return ChatReply(message={"content": 5}, usage=Usage(input_tokens=7, output_tokens=1))
        return await inner.chat(messages, tools=tools)

    return function_planner(plan)


async def nobody() -> None:
    return None


async def never() -> Any:
    await trio.sleep_forever()


def refuse() -> Any:
    raise Refuse("take a snapshot first")


NAMES = [
    "done", "two calls, a look, a batch that ends", "approved", "refused by the human", "expired", "approval limit", "unavailable",
    "denied", "denied and learned", "denied too often", "gate error", "unknown tool and bad arguments", "prepare refuses",
    "tool raises", "tool refuses", "tool times out and is held back", "work time in a tool", "failures", "repeats", "calls budget",
    "max steps", "check fails twice", "settled", "settle fails", "first read", "first read denied", "correction", "model error",
    "secret", "secret that is refused",
]  # fmt: skip


def test_every_scene_is_played(parts: Any) -> None:
    """The table above and the list beside it are the same."""
    assert list(one(parts, "names")) == NAMES  # type: ignore[call-overload]


def recorded(bench: Any) -> list[Any]:
    return [entry.to_json() for entry in bench.sink.entries()]


@pytest.mark.parametrize("name", NAMES)
async def test_a_run_of_any_kind_replays_to_its_last_entry(parts: Any, autojump_clock: Any, name: str) -> None:
    """The same loop goes the recorded way, and calls nobody: not the planner, the gate, the human or a tool."""
    scene = one(parts, name)
    bench = scene.bench(parts)
    bench.gate.expires_at = 60.0
    await bench.run()
    entries = recorded(bench)
    again = scene.bench(parts)
    found = await again.loop.replay(entries)
    assert isinstance(found, Replayed), found.message
    kept = [entry for entry in entries if entry["kind"] not in ("loop.settle-error", "loop.late-tool", "loop.permit-error")]
    assert (found.entries, found.finished) == (len(kept), True)
    assert (again.planner.seen, again.gate.checked, again.gate.redeemed, list(again.sink.entries())) == ([], [], [], [])


@pytest.mark.parametrize("name", NAMES)
async def test_a_run_that_was_stopped_anywhere_replays_as_far_as_it_went(parts: Any, autojump_clock: Any, name: str) -> None:
    """Aborted after each event in turn, and cut off after each entry as by a crash."""
    scene = one(parts, name)
    bench = scene.bench(parts)
    count = len(await bench.run())
    whole = recorded(bench)
    for stop in range(count):
        bench = scene.bench(parts)
        seen = 0

        def each(run: Any, event: Any, last: int = stop) -> None:
            nonlocal seen
            seen += 1
            if seen == last + 1:
                run.abort()

        await bench.run(each=each)
        found = await scene.bench(parts).loop.replay(recorded(bench))
        assert isinstance(found, Replayed), (stop, found.message)
        assert found.finished
    for length in range(1, len(whole)):
        found = await scene.bench(parts).loop.replay(whole[:length])
        assert isinstance(found, Replayed), (length, found.message)
        assert found.finished is False


async def test_each_field_that_was_changed_is_the_difference_that_is_named(parts: Any, autojump_clock: Any) -> None:
    """By the entry's place, the path in it, and both values."""
    scene = one(parts, "two calls, a look, a batch that ends")
    bench = scene.bench(parts)
    await bench.run()
    entries = recorded(bench)
    changes: list[tuple[str, Any]] = [
        ("loop.plan", lambda data: data["record"].__setitem__("tokens", 999)),
        ("loop.tool-call", lambda data: data["record"].__setitem__("verdict", "invalid-args")),
        ("loop.observation", lambda data: data.__setitem__("sha256", "0" * 64)),
        ("loop.start", lambda data: data["options"].__setitem__("max_steps", 7)),
    ]
    for kind, change in changes:
        changed = copy.deepcopy(entries)
        at = next(index for index, entry in enumerate(changed) if entry["kind"] == kind)
        change(changed[at]["data"])
        found = await scene.bench(parts).loop.replay(changed)
        assert isinstance(found, Difference)
        assert found.seq is not None
        assert found.seq >= at
        assert str(found.seq) in found.message
        assert not found


async def test_another_version_is_named_with_the_difference(parts: Any, autojump_clock: Any) -> None:
    """A trail of an older version says which rule goes another way now."""
    scene = one(parts, "done")
    bench = scene.bench(parts)
    await bench.run()
    entries = copy.deepcopy(recorded(bench))
    entries[0]["data"]["versions"]["foxloop_trio"] = "0.0.1"
    assert await scene.bench(parts).loop.replay(entries)
    entries[2]["data"]["record"]["tokens"] = 999
    found = await scene.bench(parts).loop.replay(entries)
    assert isinstance(found, Difference)
    assert "0.0.1 then" in found.message


async def test_a_run_is_found_by_its_id_and_the_last_one_by_default(parts: Any, autojump_clock: Any) -> None:
    """A trail holds many runs, and entries of others."""
    bench = one(parts, "done").bench(parts)
    await bench.sink.append(actor="somebody", kind="other", data=None)
    await bench.run()
    first = bench.last.id
    bench.planner = None
    entries = recorded(bench)
    found = await one(parts, "done").bench(parts).loop.replay(entries, run=first)
    assert isinstance(found, Replayed)
    assert found.run == first
    with pytest.raises(UsageError, match="nobody"):
        await one(parts, "done").bench(parts).loop.replay(entries, run="nobody")
    with pytest.raises(UsageError, match="no run"):
        await one(parts, "done").bench(parts).loop.replay([])
    with pytest.raises(UsageError, match="beginning"):
        await one(parts, "done").bench(parts).loop.replay(entries[2:])


async def test_costs_are_carried_over_by_their_sums(parts: Any) -> None:
    """The record holds the sum; the replay takes it apart again."""
    prices = iter([3, 4, 5])
    script = [parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b")), parts.FINISH]

    def make() -> Any:
        inner = scripted_planner(script)

        async def plan(messages: Any, tools: Any) -> ChatReply:
            reply = await inner.chat(messages, tools=tools)
            cost = Money(value=next(prices), currency="EUR")
            return ChatReply(message=reply.message, usage=Usage(input_tokens=1, output_tokens=2, cost=cost))

        trail = MemoryTrail(key=b"k" * 32)
        return parts.Bench(planner=function_planner(plan), sink=trail, budget=Budget(cost=Money(value=99, currency="EUR")))

    bench = make()
    await bench.run()
    found = await make().loop.replay(recorded(bench))
    assert isinstance(found, Replayed), found.message


@pytest.mark.parametrize("name", NAMES)
async def test_a_run_that_is_cut_anywhere_and_resumed_replays_as_one_story(parts: Any, autojump_clock: Any, name: str) -> None:
    """Whatever the resumed run comes to, with the same planner from its beginning: both halves replay, each call is answered."""
    scene = one(parts, name)
    bench = scene.bench(parts)
    bench.gate.expires_at = 60.0
    await bench.run()
    whole = recorded(bench)
    goal = "Save a note" if whole[0]["data"]["goal"] != "Save a note" else None
    for length in range(1, len(whole) + 1):
        again = scene.bench(parts)
        again.gate.expires_at = 10_000.0
        try:
            run = again.loop.resume(whole[:length], goal=goal)
        except UsageError as fault:
            if length < len(whole) - 1 or not ("same end" in str(fault) or "is done" in str(fault)):
                raise
            continue  # only the end itself cannot be gone on from
        with trio.move_on_after(20_000):  # one of the planners never answers
            async with run:
                async for _ in run:
                    pass
        more = [{**entry, "seq": length + entry["seq"]} for entry in recorded(again)]
        found = await scene.bench(parts).loop.replay([*whole[:length], *more])
        assert isinstance(found, Replayed), (length, found.message)
        for messages in again.planner.seen:
            assert_paired(messages)


def assert_paired(messages: Any) -> None:
    """Each call of an assistant message has its one answer, in order."""
    for at, message in enumerate(messages):
        for number, call in enumerate(message.get("tool_calls") or (), at + 1):
            assert (messages[number]["role"], messages[number]["tool_call_id"]) == ("tool", call["id"])
