"""What need not be awaited is not: a gate's `check_now`, a trail's `append_nowait`, the checkpoint before a tool."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio import Denials, Loop, create_gate
from foxloop_trio.actions import Action, Ask, Deny, ToolOutput
from foxloop_trio.gate import MemoryGateStore
from foxloop_trio.loop._shortcuts import shortcut
from foxloop_trio.ports import ChatReply
from foxloop_trio.testing import seeded_ids
from foxloop_trio.trail import MemoryTrail


class Awaited:
    async def check(self) -> str:
        return "awaited"


class Both(Awaited):
    def check_now(self) -> str:
        return "now"


class Stricter(Both):
    async def check(self) -> str:
        return "stricter"


class StricterNow(Stricter):
    def check_now(self) -> str:
        return "stricter now"


class AsyncNow(Awaited):
    async def check_now(self) -> str:
        return "never awaited"


class NoNow(Both):
    check_now = None  # type: ignore[assignment]


class Wrapper:
    """Answers everything like what it wraps, but for `check`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def check(self) -> str:
        return "wrapped"


def test_a_shortcut_speaks_for_the_method_beside_it_and_for_no_newer_one() -> None:
    """A gate that changes what another one answers is never passed by."""
    found = [shortcut(port, "check_now", "check") for port in (Both(), StricterNow(), Awaited(), Stricter(), Wrapper(Both()))]
    assert [None if one is None else one() for one in found] == ["now", "stricter now", None, None, None]
    assert shortcut(AsyncNow(), "check_now", "check") is shortcut(NoNow(), "check_now", "check") is None
    patched = Both()
    patched.check = Stricter().check  # type: ignore[method-assign]
    assert shortcut(patched, "check_now", "check") is None


def now_gate(parts: Any, answer: Any) -> Any:
    """A gate whose `check_now` gives `answer(gate, action)`, and whose `check` counts how often it was awaited."""

    class NowGate(parts.StubGate):  # type: ignore[misc]
        awaited = 0

        async def check(self, action: Action, *, store_request: bool = True) -> Any:
            self.awaited += 1
            return await super().check(action, store_request=store_request)

        def check_now(self, action: Action, *, store_request: bool = True) -> Any:
            return answer(self, action)

    return NowGate()


async def test_a_gate_that_answers_at_once_is_not_awaited(parts: Any) -> None:
    """The same events as with an awaited answer."""
    gate = now_gate(parts, lambda gate, action: gate.allow(action))
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, gate=gate)
    plain = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH)
    assert await bench.run() == await plain.run()
    assert (gate.awaited, len(plain.gate.checked), bench.notes) == (0, 1, ["a"])


async def test_a_gate_that_cannot_answer_at_once_is_awaited(parts: Any) -> None:
    """None means that it must be."""
    gate = now_gate(parts, lambda gate, action: None)
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, gate=gate)
    assert parts.told(await bench.run())[2] == "decision allow"
    assert gate.awaited == 1


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (lambda gate, action: 1 / 0, "blocked gate-error"),
        (lambda gate, action: "allow", "blocked gate-error"),
        (lambda gate, action: Deny(reason="no-grant", message="No."), "blocked gate-deny"),
        (lambda gate, action: Ask(grant_id="g", request_id="r", expires_at=1.0), "blocked approval-unavailable"),
    ],
)
async def test_what_a_gate_says_at_once_counts_as_if_it_had_been_awaited(parts: Any, answer: Any, end: str) -> None:
    """Errors, answers that are none, denials and questions."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=now_gate(parts, answer))
    assert parts.told(await bench.run())[-1] == end
    assert bench.notes == []


async def test_an_abort_from_inside_an_answer_at_once_gives_the_leave_back(parts: Any) -> None:
    """As when it comes while the gate is awaited: no decision is shown, no tool starts, the permit is released."""

    def answer(gate: Any, action: Action) -> Any:
        bench.last.abort()
        given.append(gate.allow(action))
        return given[0]

    given: list[Any] = []
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=now_gate(parts, answer))
    assert parts.told(await bench.run()) == ["plan", "tool-call", "aborted"]
    assert (bench.notes, given[0].permit.alive) == ([], False)


async def test_a_cancel_that_is_pending_reaches_nobody_at_the_gate(parts: Any) -> None:
    """Nothing is judged, and no use counted, once the caller was cancelled."""
    gate = now_gate(parts, lambda gate, action: asked.append(action))
    asked: list[Any] = []
    bench = parts.Bench(parts.reply(parts.call(text="a")), gate=gate)
    with trio.CancelScope() as scope:
        await bench.run(each=lambda run, event: scope.cancel() if event.type == "tool-call" else None)
    assert scope.cancelled_caught
    assert (asked, gate.awaited) == ([], 0)


async def test_what_a_grant_allows_per_run_is_counted_per_run_at_once_too(parts: Any) -> None:
    """The run's id reaches the real gate on the short way; two runs have a cap each."""
    from foxloop_trio.actions import Money

    ran: list[str] = []
    tool = parts.save_note(ran, scope="pay", amount=lambda args: Money(value=60, currency="EUR"))
    gate, host = create_gate(tools=[tool], store=MemoryGateStore())
    await host.add_grant(scope="pay", domains=["notes.local"], approval="never", cap_per_run=Money(value=100, currency="EUR"))
    for _ in range(2):
        bench = parts.Bench(parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b")), gate=gate, tools=[tool])
        assert parts.told(await bench.run())[-1] == "blocked gate-deny"
    assert ran == ["a", "a"]


# Other tasks get their turn


class Silent:
    """A planner that never waits: `steps` replies of one call each, then the end."""

    def __init__(self, steps: int, calls: int = 1) -> None:
        self._replies = iter(range(steps))
        self._calls = calls

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        step = next(self._replies, None)
        names = (
            [("finish", '{"summary": "Done."}')]
            if step is None
            else [("quiet", f'{{"n": {10 * step + i}}}') for i in range(self._calls)]
        )
        calls = [{"id": f"c{step}_{i}", "function": {"name": n, "arguments": a}} for i, (n, a) in enumerate(names)]
        return ChatReply(message={"content": None, "tool_calls": calls})


def quiet(parts: Any, seen: list[int], turns: list[int]) -> Any:
    """A tool that never waits, and notes how many turns the other task has had."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        seen.append(len(turns))
        return ToolOutput(ok=True, summary="Done.", check=parts.GOOD)

    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return parts.save_note([], name="quiet", parameters=schema, run=run)


@pytest.mark.parametrize(("steps", "calls"), [(10, 1), (3, 4)])
async def test_others_get_their_turn_before_every_tool_though_nobody_ever_waits(parts: Any, steps: int, calls: int) -> None:
    """Planner, gate and tools answer at once; still the run is no hog (ruling 2)."""
    turns: list[int] = []
    seen: list[int] = []

    async def other() -> None:
        while True:
            turns.append(1)
            await trio.lowlevel.checkpoint()

    gate = now_gate(parts, lambda gate, action: gate.allow(action))
    loop = Loop(planner=Silent(steps, calls), gate=gate, tools=[quiet(parts, seen, turns)], max_steps=99)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        outcome = await loop.complete("go")
        nursery.cancel_scope.cancel()
    assert outcome.status == "done"
    assert len(seen) == steps * calls
    # Trio lets every task that can go on have one turn a round, in any order; so each tool begins in a later round than the last.
    assert all(later > earlier for earlier, later in zip(seen, seen[2:], strict=False)), seen
    assert seen[-1] >= steps * calls - 1


async def test_a_step_has_one_checkpoint_besides_those_of_planner_and_tool(parts: Any) -> None:
    """None when the planner has waited: then others had their turn already."""

    class Waiting(Silent):
        async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
            await trio.lowlevel.checkpoint()
            return await super().chat(messages, tools=tools)

    async def turns_of(planner: Any) -> int:
        turns: list[int] = []

        async def other() -> None:
            while True:
                turns.append(1)
                await trio.lowlevel.checkpoint()

        gate = now_gate(parts, lambda gate, action: gate.allow(action))
        loop = Loop(planner=planner, gate=gate, tools=[quiet(parts, [], turns)], max_steps=99)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(other)
            await loop.complete("go")
            nursery.cancel_scope.cancel()
        return len(turns)

    assert abs(await turns_of(Silent(20)) - await turns_of(Waiting(20))) <= 2


async def test_others_get_their_turn_in_every_step_though_no_tool_ever_runs(parts: Any) -> None:
    """A planner that waited once, long ago, and a gate that denies at once."""
    turns: list[int] = []

    class Once(Silent):
        async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
            if len(messages) == 2:
                await trio.lowlevel.checkpoint()
            return await super().chat(messages, tools=tools)

    async def other() -> None:
        while True:
            turns.append(1)
            await trio.lowlevel.checkpoint()

    gate = now_gate(parts, lambda gate, action: Deny(reason="no-grant", message="No."))
    denials = Denials(retry=lambda reason: True, limit=99)
    loop = Loop(planner=Once(30), gate=gate, tools=[quiet(parts, [], turns)], max_steps=20, denials=denials)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        outcome = await loop.complete("go")
        nursery.cancel_scope.cancel()
    assert outcome.reason == "max-steps"
    assert len(turns) >= 19


# The trail


class Slow(MemoryTrail):
    """The same trail, awaited, since its `append` is a newer one."""

    async def append(self, *, actor: str, kind: str, data: Any = None) -> Any:
        return await super().append(actor=actor, kind=kind, data=data)


async def test_a_trail_that_records_at_once_holds_the_same_bytes(parts: Any, mock_clock: Any) -> None:
    """One run with either, same seeds, same clock."""
    texts = []
    for kind in (MemoryTrail, Slow):
        trail = kind(key=b"k" * 32, now=lambda: 1.0, ids=seeded_ids(1))
        bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=trail, ids=seeded_ids(2))
        with trio.testing.assert_checkpoints():
            await bench.run()
        texts.append(trail.text())
    assert texts[0] == texts[1]


async def test_a_cancel_before_a_record_at_once_keeps_it_for_the_end(parts: Any) -> None:
    """It goes out before the one stop record, as one that waited would, and is not handed over."""
    trail = MemoryTrail()
    seen: list[str] = []

    def each(run: Any, event: Any) -> None:
        seen.append(event.type)
        if event.type == "plan":
            scope.cancel()

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=trail)
    with trio.CancelScope() as scope:
        await bench.run(each=each)
    assert seen == ["plan"]
    assert [entry.kind for entry in trail.entries()][-2:] == ["loop.tool-call", "loop.aborted"]


async def test_an_error_of_a_trail_that_records_at_once_ends_the_run(parts: Any) -> None:
    """`trail-failed`, in the trail's own words, and the tool did not run."""

    class Full(MemoryTrail):
        def append_nowait(self, *, actor: str, kind: str, data: Any = None) -> Any:
            if kind == "loop.decision":
                raise OSError("no space left")
            return super().append_nowait(actor=actor, kind=kind, data=data)

        async def append(self, *, actor: str, kind: str, data: Any = None) -> Any:
            return self.append_nowait(actor=actor, kind=kind, data=data)

    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, sink=Full())
    assert parts.told(await bench.run())[-1] == "blocked trail-failed"
    assert (bench.outcome.message, bench.notes) == ("no space left", [])


async def test_a_trail_timeout_of_nothing_lets_nothing_through_at_once_either(parts: Any) -> None:
    """As for a trail that is awaited."""
    for trail in (MemoryTrail(), Slow()):
        bench = parts.Bench(parts.FINISH, sink=trail, trail_timeout=0)
        assert parts.told(await bench.run()) == ["blocked trail-failed"]
