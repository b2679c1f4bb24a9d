"""INV-1 without exception (GB-L6): whatever a port gives, the run ends with one stop event, and nothing raw leaves the stream."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import trio

from foxloop_trio import Budget, ChatReply, Loop, Usage, function_planner
from foxloop_trio.actions import Ask
from foxloop_trio.errors import BadOptionsError, UsageError

STOPS = ("loop.done", "loop.blocked", "loop.aborted")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def a_loop(parts: Any, *replies: Any, **kw: Any) -> Any:
    kw.setdefault("sink", parts.MemorySink())
    return parts.Bench(*(replies or (parts.reply(parts.call(text="a")), parts.FINISH, parts.FINISH)), **kw)


def one_stop(bench: Any) -> None:
    assert [kind for kind in bench.sink.kinds if kind in STOPS] == bench.sink.kinds[-1:]


async def test_a_tool_whose_error_has_no_text_is_a_failed_result(parts: Any) -> None:
    async def run(args: Any, ctx: Any) -> Any:
        raise Mute

    bench = a_loop(parts, tools=[parts.save_note([], run=run)])
    assert "tool-result tool-error" in parts.told(await bench.run())
    one_stop(bench)


async def test_a_trail_whose_error_has_no_text_is_trail_failed(parts: Any) -> None:
    class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, **k: Any) -> None:
            await trio.lowlevel.checkpoint()
            raise Mute

    bench = a_loop(parts, sink=Sink())
    assert parts.told(await bench.run()) == ["blocked trail-failed"]


@pytest.mark.parametrize(
    "usage",
    ["x", 5, {"input_tokens": 1, "output_tokens": 1}, Usage(input_tokens=10**400, output_tokens=1)],
    ids=lambda u: type(u).__name__,
)
async def test_usage_that_is_no_usage_is_treated_as_absent(parts: Any, usage: Any) -> None:
    """12.1: usage that is not two non-negative numbers is treated as absent."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        await trio.lowlevel.checkpoint()
        return ChatReply(message={"content": "done"}, usage=usage)

    bench = a_loop(parts, planner=function_planner(plan))
    assert parts.told(await bench.run())[-1] == "blocked check-failed"
    one_stop(bench)


class Raising(dict[str, Any]):
    def get(self, key: Any, default: Any = None) -> Any:
        raise RuntimeError("bad mapping")


@pytest.mark.parametrize(
    "message", [Raising(), {"content": "x", "tool_calls": [{"id": "1", "function": Raising()}]}], ids=["message", "call"]
)
async def test_a_message_that_raises_when_it_is_read_is_a_model_error(parts: Any, message: Any) -> None:
    async def plan(messages: Any, tools: Any) -> ChatReply:
        await trio.lowlevel.checkpoint()
        return ChatReply(message=message)

    bench = a_loop(parts, planner=function_planner(plan))
    assert parts.told(await bench.run())[-1] == "blocked model-error"
    one_stop(bench)


@pytest.mark.parametrize("expires_at", [float("inf"), float("nan"), 1e308, "soon", None])
async def test_a_gate_that_asks_until_no_instant_is_a_gate_error(parts: Any, expires_at: Any) -> None:
    async def approve(request: Any) -> str:
        return "t"

    def ask(action: Any) -> Ask:
        return Ask(grant_id="g", request_id="r", expires_at=expires_at)

    bench = a_loop(parts, gate=parts.StubGate(ask), on_approval=approve)
    assert parts.told(await bench.run())[-1] == "blocked gate-error"
    one_stop(bench)


async def test_a_ledger_that_raises_does_not_raise_out_of_the_stream(parts: Any) -> None:
    class Ledger(parts.StubLedger):
        async def settle(self, permit_id: str) -> None:
            raise RuntimeError("books are shut")

    gate = parts.StubGate()
    gate.ledger = Ledger()
    bench = a_loop(parts, gate=gate)
    events = await bench.run()
    assert events[-1].type in ("blocked", "done")
    assert "loop.tool-result" in bench.sink.kinds or "loop.effect" in bench.sink.kinds
    one_stop(bench)


async def test_a_gate_that_gives_a_closed_permit_again_starts_no_tool(parts: Any) -> None:
    """Ruling 19: a permit dies when its call closes. Nothing may run on a dead one."""
    gate = parts.StubGate()
    first: list[Any] = []

    def again(action: Any) -> Any:
        if not first:
            first.append(gate.allow(action))
        return first[0]

    gate.answers = [again, again, again, again, again]
    bench = a_loop(parts, parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b")), parts.FINISH, gate=gate)
    assert parts.told(await bench.run())[-1].startswith("blocked gate-")
    assert bench.notes == ["a"]


async def test_a_host_name_of_a_subclass_of_str_is_a_host_name(parts: Any) -> None:
    """An enum member or a marked string from `domain` is refused by the gate as bad-action, in words that name no reason."""
    import enum

    from foxloop_trio import create_gate

    class Hosts(enum.StrEnum):
        NOTES = "notes.local"

    notes: list[str] = []
    tools = [parts.save_note(notes, domain=lambda args, ctx: Hosts.NOTES)]
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="fill", domains=["notes.local"])
    bench = a_loop(parts, gate=gate, tools=tools)
    assert parts.told(await bench.run())[-1] == "done"


OPTIONS: list[dict[str, Any]] = [
    {"budget": Budget(seconds=float("inf"))},
    {"budget": Budget(tokens=float("inf"))},
    {"cancel_grace": float("inf")},
    {"trail_timeout": float("inf")},
    {"max_steps": 10**20},
    {"budget": Budget(tokens=10**20)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
async def test_an_option_that_is_accepted_does_not_break_every_record(parts: Any, options: Any) -> None:
    """Accepted by Loop, but loop.start cannot be written: every run with a real trail ends trail-failed."""
    from foxloop_trio.trail import MemoryTrail

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=MemoryTrail(key=b"k" * 32), **options)
    assert parts.told(await bench.run())[-1] == "done"


@pytest.mark.parametrize("make", [lambda: Budget(tokens=10**400), lambda: Budget(seconds=10**400)])
def test_a_limit_beyond_all_floats_is_an_option_error_or_a_limit(make: Any) -> None:
    with contextlib.suppress(BadOptionsError):  # fine too; OverflowError is not
        make()


@pytest.mark.parametrize("ids", [lambda n, p: "x", lambda n, p: None, lambda n, p: b""])
def test_ids_that_are_no_bytes_of_that_number_are_an_error_of_ours(parts: Any, ids: Any) -> None:
    with pytest.raises(UsageError):
        Loop(planner=parts.Bench().planner, gate=parts.StubGate(), tools=[parts.save_note([])], ids=ids).run("x")
