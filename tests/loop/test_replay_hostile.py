"""Entries from anywhere: of older versions, with parts hidden, damaged, or made up. A recall says what it cannot read."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, Deny, Money, ToolOutput
from foxloop_trio.errors import Refuse, UsageError
from foxloop_trio.loop import Budget, Denials, Difference, Replayed
from foxloop_trio.planners import function_planner, scripted_planner
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.tools import Tool
from foxloop_trio.trail import MemoryTrail

DEEP: Any = {"a": 1}
for _ in range(3000):
    DEEP = [DEEP]
JUNK: list[Any] = [None, True, -1, 2**80, 0.5, "", "x" * 300, [], [None], {}, {"$redacted": "a:b"}, {"a": {"b": []}}, DEEP]
SEED = 20_260


class Maker:
    """The same loop again and again; `run` records one run of it."""

    def __init__(self, parts: Any, kind: str) -> None:
        self.parts, self.kind = parts, kind

    def bench(self, trail: Any = None) -> Any:
        parts, call, reply = self.parts, self.parts.call, self.parts.reply

        async def look(args: Any, ctx: Any) -> ToolOutput:
            await trio.lowlevel.checkpoint()
            return ToolOutput(ok=True, summary="Seen.", untrusted=f"page {ctx.step}", data={"password": ctx.step})

        async def slow(args: Any, ctx: Any) -> ToolOutput:
            ctx.report_effect("partial", ["half"])
            await trio.sleep_forever()
            raise AssertionError

        async def approve(request: Any) -> str:
            return "token"

        def refuse(args: Any, ctx: Any) -> Any:
            raise Refuse("not on this page")

        empty = {"type": "object", "properties": {}}
        fields: dict[str, Any] = {"description": "", "parameters": empty, "domain": lambda args, ctx: "notes.local"}
        tools = [
            parts.save_note([], prepare=lambda args, ctx: {**args, "pin": {"node": 7}}, describe=lambda args, ctx: "Save it."),
            Tool(name="look", scope="read", run=look, **fields),
            Tool(name="slow", scope="submit", run=slow, **fields),
            Tool(name="refused", scope="fill", run=slow, prepare=refuse, **fields),
        ]
        scripts: dict[str, list[Any]] = {
            "whole": [
                reply(call("look"), call(text="a")), reply(call("slow")), reply(call("slow")), reply(call("refused")),
                reply(call("look")), parts.FINISH,
            ],
            "denied": [reply(call(text="a")), reply(call(text="b"), call("look"))],
            "spent": [reply(call(text="a"), call("look"), call(text="c"))],
        }  # fmt: skip
        inner = scripted_planner(scripts[self.kind])
        first = iter([True])

        async def plan(messages: Any, tools: Any) -> ChatReply:
            usage = Usage(input_tokens=5, output_tokens=2, cost=Money(value=2, currency="EUR"))
            if next(first, False):
                return ChatReply(message={"content": 5}, usage=usage)
            return ChatReply(message=(await inner.chat(messages, tools=tools)).message, usage=usage)

        no = Deny(reason="no-grant", message="no")
        options: dict[str, dict[str, Any]] = {
            "whole": {"gate": parts.StubGate("allow", "ask"), "budget": Budget(tool_seconds=5)},
            "denied": {"gate": parts.StubGate("allow", no, no), "denials": Denials(retry=lambda reason: True, limit=2)},
            "spent": {"budget": Budget(tool_calls=2)},
        }
        more: dict[str, Any] = {"first_read": "look", "on_approval": approve, "check": lambda claim: CheckResult(ok=True)}
        return parts.Bench(planner=function_planner(plan), tools=tools, sink=trail, **more, **options[self.kind])

    async def entries(self, **options: Any) -> list[Any]:
        trail = MemoryTrail(key=b"k" * 32, **options)
        await self.bench(trail).run()
        return [entry.to_json() for entry in trail.entries()]


async def tried(maker: Maker, entries: list[Any]) -> str:
    """What a replay, and a resume from each end, make of these entries: nothing but what they promise."""
    try:
        found = await maker.bench().loop.replay(entries)
        said = f"{type(found).__name__}: {getattr(found, 'message', '')}"
    except UsageError as fault:
        said = f"UsageError: {fault}"
    for end in (entries, entries[:-1], entries[: len(entries) // 2]):
        bench = maker.bench(MemoryTrail(key=b"k" * 32))
        try:
            run = bench.loop.resume(end, goal=None)
        except UsageError:
            continue
        async with run:
            async for _ in run:
                pass
    return said


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of everything in a piece of JSON but of itself."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield (*path, key)
        yield from places(part, (*path, key))


@pytest.mark.parametrize("kind", ["whole", "denied", "spent"])
async def test_a_whole_run_of_each_kind_replays(parts: Any, autojump_clock: Any, kind: str) -> None:
    """So that what follows changes something that was good."""
    maker = Maker(parts, kind)
    assert await tried(maker, await maker.entries()) == "Replayed: "


async def check_damage(parts: Any, kind: str, share: float) -> dict[str, int]:
    maker, dice = Maker(parts, kind), random.Random(SEED)
    whole = await maker.entries()
    said: dict[str, int] = {}
    for path in places(whole):
        for junk in (*JUNK, "taken out"):
            if dice.random() > share:
                continue
            entries = copy.deepcopy(whole)
            holder: Any = entries
            for key in path[:-1]:
                holder = holder[key]
            if junk == "taken out":
                del holder[path[-1]]
            else:
                holder[path[-1]] = junk
            word = (await tried(maker, entries)).partition(":")[0]
            said[word] = said.get(word, 0) + 1
    return said


@pytest.mark.parametrize("kind", ["whole", "denied", "spent"])
async def test_a_damaged_entry_is_a_difference_or_a_usage_error(parts: Any, autojump_clock: Any, kind: str) -> None:
    """A sample of every value replaced by junk or taken out; nothing else is ever raised, resumed runs included."""
    said = await check_damage(parts, kind, 0.007)
    assert said["Difference"] > 8
    assert said["UsageError"] > 3


@pytest.mark.long
@pytest.mark.parametrize("kind", ["whole", "denied", "spent"])
async def test_every_damage_is_a_difference_or_a_usage_error(parts: Any, autojump_clock: Any, kind: str) -> None:
    """The same, with a larger sample."""
    said = await check_damage(parts, kind, 0.3)
    assert said["Difference"] > 300
    assert said["UsageError"] > 100


@pytest.mark.parametrize("kind", ["whole", "denied", "spent"])
async def test_entries_in_any_order_lost_or_repeated_are_no_surprise(parts: Any, autojump_clock: Any, kind: str) -> None:
    """A difference, a usage error, or a run that ends earlier."""
    maker = Maker(parts, kind)
    whole = await maker.entries()
    for at in range(len(whole)):
        await tried(maker, [*whole[:at], *whole[at + 1 :]])
        await tried(maker, [*whole[:at], whole[at], *whole[at:]])
        await tried(maker, [*whole[:at], *reversed(whole[at : at + 2]), *whole[at + 2 :]])


@pytest.mark.parametrize(
    "hidden",
    [
        ["text"], ["summary"], ["args"], ["shown"], ["password"], ["message"], ["data"], ["evidence"], ["detail"], ["action"],
        ["content"], ["sha256"], ["node"], ["done"], ["seen"], ["tokens"], ["domain"], ["goal"], ["nonce"],
    ],
    ids=lambda names: names[0],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["whole", "denied", "spent"])
async def test_a_trail_that_hides_values_replays_or_says_what_it_misses(
    parts: Any, autojump_clock: Any, kind: str, hidden: list[str]
) -> None:
    """Whatever key names are hidden; what is hidden equals anything."""
    maker = Maker(parts, kind)
    said = await tried(maker, await maker.entries(redact=hidden))
    if hidden[0] in ("action",):
        assert said.startswith(("UsageError: entry", "Replayed"))
    else:
        assert said == "Replayed: "


async def test_a_goal_that_the_trail_hides_is_given_and_a_nonce_cannot_be(parts: Any, autojump_clock: Any) -> None:
    """A resumed run needs both."""
    maker = Maker(parts, "whole")
    entries = (await maker.entries(redact=["goal"]))[:6]
    with pytest.raises(UsageError, match="give goal="):
        maker.bench().loop.resume(entries)
    maker.bench().loop.resume(entries, goal="Save a note")
    entries = (await maker.entries(redact=["nonce"]))[:6]
    with pytest.raises(UsageError, match="its trail hides 'nonce'"):
        maker.bench().loop.resume(entries, goal="Save a note")
    with pytest.raises(UsageError, match="goal must be text, not int"):
        maker.bench().loop.resume(entries, goal=5)


async def test_a_trail_without_what_a_replay_needs_says_which_entry_lacks_what(parts: Any, autojump_clock: Any) -> None:
    """As a version wrote it that could not replay yet."""
    maker = Maker(parts, "whole")
    whole = await maker.entries()
    for kind, key, words in [
        ("loop.start", "nonce", r"entry 0 \(loop\.start\) cannot be read: nonce is missing.*could not replay"),
        ("loop.plan", "record", r"entry \d+ \(loop\.plan\) cannot be read: the field 'usage' is missing"),
        ("loop.decision", "record", r"entry \d+ \(loop\.decision\) cannot be read: the field"),
        ("loop.tool-result", "record", r"entry \d+ \(loop\.tool-result\) cannot be read: the field 'shown' is missing"),
    ]:
        entries = copy.deepcopy(whole)
        for entry in entries:
            if entry["kind"] == kind:
                entry["data"].pop(key, None)
        with pytest.raises(UsageError, match=words):
            await maker.bench().loop.replay(entries)
        with pytest.raises(UsageError, match=words):
            maker.bench().loop.resume(entries[:-1])
    entries = copy.deepcopy(whole)
    for entry in entries:
        entry["data"].get("record", {}).pop("seen", None)
    found = await maker.bench().loop.replay(entries)
    assert isinstance(found, Difference)
    assert (found.path, found.recorded) == ("record.seen", None)
    assert "was nothing, and is now" in found.message


@pytest.mark.parametrize(
    ("entries", "words"),
    [
        ([5], "entry 0 is no entry"),
        ([{"kind": "loop.start"}], "entry 0 is no entry"),
        ([{"seq": "0", "kind": "loop.start", "data": {}}], "entry 0 is no entry"),
        ([{"seq": 0, "kind": 5, "data": {}}], "entry 0 is no entry"),
        ([{"seq": 0, "kind": "loop.start", "data": None}], "no run in these entries"),
        ([{"seq": 0, "kind": "loop.start", "data": {"run": "r", "resumes": "r"}}], "goes on from it"),
        ([{"seq": 0, "kind": "loop.start", "data": {"run": "r", "resumes": 5}}], "goes on from is none"),
        ([{"seq": 0, "kind": "loop.start", "data": {"run": "r", "resumes": "q"}}], "the beginning of run 'q'"),
        ([{"seq": 0, "kind": "loop.start", "data": {"run": "r"}}, {"seq": 1, "kind": "loop.start", "data": {"run": "r"}}], "twice"),
        ([{"seq": 0, "kind": "loop.start", "data": {"run": "r", "goal": 5, "nonce": "n"}}], "goal is int, not a text"),
    ],
)  # fmt: skip
async def test_what_is_no_recorded_run_is_named(parts: Any, entries: list[Any], words: str) -> None:
    """Before anything is driven."""
    with pytest.raises(UsageError, match=words):
        await parts.Bench().loop.replay(entries)
    with pytest.raises(UsageError, match=words):
        parts.Bench().loop.resume(entries)


async def test_fields_of_a_tools_own_arguments_are_compared_whatever_their_names(parts: Any) -> None:
    """`run`, `versions` and `options` of ours are not; a tool may have fields of these names."""
    any_args = {"type": "object", "properties": {"run": {"type": "string"}}}
    tool = parts.save_note([], parameters=any_args, run=None)

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary="Saved.")

    def make(trail: Any = None) -> Any:
        tools = [Tool(**{**{name: getattr(tool, name) for name in ("name", "description", "scope", "domain")}, "run": run,
                         "parameters": any_args})]  # fmt: skip
        return parts.Bench(parts.reply(parts.call(run="a")), tools=tools, sink=trail, max_steps=1)

    trail = MemoryTrail(key=b"k" * 32)
    await make(trail).run()
    entries = [entry.to_json() for entry in trail.entries()]
    assert isinstance(await make().loop.replay(entries), Replayed)
    call = next(entry for entry in entries if entry["kind"] == "loop.tool-call")
    call["data"]["args"]["run"] = "b"
    found = await make().loop.replay(entries)
    assert isinstance(found, Difference)
    assert found.path == "args.run"
