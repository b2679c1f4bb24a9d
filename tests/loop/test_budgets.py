"""Budgets: what is counted, what is tested first, and what each end says of itself (section 12, buglog B61, B64)."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, Money, ToolOutput
from foxloop_trio.loop import Budget
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply, Usage


def counting(cost: Any = None, tokens: int = 0) -> Any:
    """A planner that always saves another note, for that price."""
    turns: list[int] = []

    async def plan(messages: Any, tools: Any) -> ChatReply:
        turns.append(1)
        function = {"name": "save_note", "arguments": json.dumps({"text": str(len(turns))})}
        calls = [{"id": f"c{len(turns)}", "type": "function", "function": function}]
        usage = Usage(input_tokens=tokens, output_tokens=0, cost=cost)
        return ChatReply(message={"content": None, "tool_calls": calls}, usage=usage)

    return function_planner(plan)


EUR = Money(value=10, currency="EUR")


@pytest.mark.parametrize(
    ("budget", "max_steps", "limit"),
    [
        (Budget(tokens=10, cost=EUR), 1, "max_steps"),
        (Budget(tokens=10, cost=EUR), 5, "tokens"),
        (Budget(cost=EUR), 5, "cost"),
    ],
)
async def test_when_several_are_used_up_the_first_of_steps_tokens_and_cost_is_named(
    parts: Any, budget: Budget, max_steps: int, limit: str
) -> None:
    """Cycle steps 2 and 3 and section 12: in that order."""
    events = await parts.Bench(planner=counting(EUR, 10), budget=budget, max_steps=max_steps).run()
    assert (events[-1].type, events[-1].limit, events[-1].step) == ("blocked", limit, 1)


async def test_time_that_is_up_before_the_first_request_is_told_after_tokens(parts: Any, autojump_clock: Any) -> None:
    """Section 12: order when several are used up; and no planner call is made."""
    for budget, limit in ((Budget(seconds=0), "seconds"), (Budget(seconds=0, tokens=0), "tokens")):
        bench = parts.Bench(parts.FINISH, budget=budget)
        events = await bench.run()
        assert (parts.told(events), events[0].limit, events[0].step, bench.planner.seen) == (["blocked budget"], limit, 0, [])


@pytest.mark.parametrize(
    ("usage", "total", "estimated"),
    [((9, 1), 10, False), ((9.2, 0), 10, False), ((0, 0), 0, False), (None, None, True), ((float("inf"), 1), None, True)],
)
async def test_tokens_are_those_of_the_server_or_estimated_and_marked_so(
    parts: Any, usage: Any, total: Any, estimated: bool
) -> None:
    """12.1: input and output together; ceil of the characters over four when the reply has no usage."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        counted = None if usage is None else Usage(input_tokens=usage[0], output_tokens=usage[1])
        return ChatReply(message={"content": "four"}, usage=counted)

    bench = parts.Bench(planner=function_planner(plan), max_steps=1, sink=parts.MemorySink())
    await bench.run()
    record = bench.sink.data("loop.plan")[0]["record"]
    if total is None:
        sent = bench.sink.data("loop.observation")[0]["characters"]
        total = -(-(sent + 4) // 4)
    assert (bench.last.statistics().tokens, record["tokens"], record["usage"]["estimated"]) == (total, total, estimated)


async def test_an_estimate_counts_the_tool_calls_that_were_sent_and_those_of_the_reply(parts: Any) -> None:
    """12.1: for each message its content plus its calls as compact JSON."""
    seen: list[Any] = []
    function = {"name": "save_note", "arguments": '{"text":"a"}'}
    call = {"id": "c1", "type": "function", "function": function}

    async def plan(messages: Any, tools: Any) -> ChatReply:
        seen.append(json.loads(json.dumps(messages)))
        return ChatReply(message={"content": None, "tool_calls": [call]} if len(seen) == 1 else {"content": "end"})

    bench = parts.Bench(planner=function_planner(plan), max_steps=2, check=lambda claim: CheckResult(ok=True))
    await bench.run()

    def size(message: Any) -> int:
        calls = message.get("tool_calls")
        return len(message["content"] or "") + (len(json.dumps(calls, separators=(",", ":"))) if calls else 0)

    first = sum(map(size, seen[0])) + size({"content": None, "tool_calls": [call]})
    second = sum(map(size, seen[1])) + len("end")
    assert bench.last.statistics().tokens == -(-first // 4) + -(-second // 4)


async def test_the_last_reply_may_overshoot_its_tokens_and_its_calls_still_run(parts: Any) -> None:
    """12.1: tested only before a request."""
    bench = parts.Bench(planner=counting(tokens=100), budget=Budget(tokens=1))
    events = await bench.run()
    assert (events[-1].limit, bench.notes, bench.last.statistics().tokens) == ("tokens", ["1"], 100)


async def test_refused_and_unknown_calls_cost_no_tool_call(parts: Any) -> None:
    """12.3: only calls that the gate allowed count."""
    script = [parts.reply(parts.call()), parts.reply({"name": "nope", "args": {}}), parts.reply(parts.call(text="a")), parts.FINISH]
    bench = parts.Bench(*script, budget=Budget(tool_calls=1))
    assert (await bench.run())[-1].type == "done"
    assert bench.last.statistics().tool_runs == 1


async def test_no_tool_call_at_all_means_that_nothing_is_asked_of_the_gate(parts: Any) -> None:
    """Step 10 stands before the gate: a limit of 0 stops the first sound call."""
    bench = parts.Bench(parts.reply(parts.call(text="a")), budget=Budget(tool_calls=0))
    events = await bench.run()
    assert (events[-1].limit, events[-1].message, bench.gate.checked) == ("tool_calls", "tool_calls: used 0 of 0", [])


@pytest.mark.parametrize("value", [0, 10**12, float("inf")])
async def test_a_limit_of_any_size_is_a_limit(parts: Any, value: Any) -> None:
    """Section 1: each a number of 0 or more."""
    fields = dict.fromkeys(("tokens", "tool_calls", "seconds", "planner_seconds", "tool_seconds", "approval_seconds"), value)
    events = await parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, budget=Budget(**fields)).run()
    assert parts.told(events)[-1] == ("blocked budget" if value == 0 else "done")


async def test_money_of_two_replies_is_added_and_recorded_with_each_plan(parts: Any) -> None:
    """12 and engine.md: usage and cost are in the record of each turn."""
    bench = parts.Bench(planner=counting(EUR), budget=Budget(cost=Money(value=20, currency="EUR")), sink=parts.MemorySink())
    events = await bench.run()
    assert (events[-1].limit, events[-1].message) == ("cost", "cost: used 20 of 20 EUR minor units")
    costs = [data["record"]["cost"]["value"] for data in bench.sink.data("loop.plan")]
    assert costs == [10, 20]
    assert bench.last.statistics().cost == Money(value=20, currency="EUR")


# Every end names itself


async def forever(*args: Any, **kwargs: Any) -> Any:
    await trio.sleep_forever()


async def fails(args: Any, ctx: Any) -> ToolOutput:
    return ToolOutput(ok=False, summary="no")


def each_limit(parts: Any, which: str) -> Any:
    """A run that ends at that limit, after a first note when it can."""
    many = [parts.reply(parts.call(text=str(number))) for number in range(9)]
    same = [parts.reply(parts.call(text="a")) for _ in range(3)]
    options: dict[str, Any] = {
        "steps": {"max_steps": 2},
        "calls": {"budget": Budget(tool_calls=2)},
        "tokens": {"planner": counting(tokens=10), "budget": Budget(tokens=20)},
        "cost": {"planner": counting(EUR), "budget": Budget(cost=EUR)},
        "work time": {"tools": [parts.save_note([], run=forever)], "budget": Budget(seconds=5)},
        "planner time": {"planner": function_planner(forever), "budget": Budget(planner_seconds=5)},
        "human time": {"gate": parts.StubGate("allow", "ask"), "on_approval": forever, "budget": Budget(approval_seconds=5)},
        "expiry": {"gate": parts.StubGate("allow", "ask"), "on_approval": forever},
        "failures": {"tools": [parts.save_note([], run=fails)]},
        "checks": {"check": lambda claim: CheckResult(ok=False, problem="no")},
    }.get(which, {})
    script = {"repeats": same, "checks": [*many[:1], parts.FINISH, parts.FINISH]}.get(which, many)
    return parts.Bench(*script, sink=parts.MemorySink(), **options)


ENDS: dict[str, tuple[str, str | None, str]] = {
    "steps": ("max-steps", "max_steps", "2"),
    "calls": ("budget", "tool_calls", "2 2"),
    "tokens": ("budget", "tokens", "20 20"),
    "cost": ("budget", "cost", "10 10"),
    "work time": ("budget", "seconds", "5"),
    "planner time": ("budget", "planner_seconds", "5"),
    "human time": ("approval-expired", "approval_seconds", ""),
    "expiry": ("approval-expired", "expires_at", ""),
    "repeats": ("repeated-call", None, ""),
    "failures": ("repeated-failure", None, "3"),
    "checks": ("check-failed", None, ""),
}


@pytest.mark.parametrize("which", ENDS)
async def test_every_end_has_its_own_reason_and_limit_with_its_numbers_and_is_never_done(
    parts: Any, which: str, autojump_clock: Any
) -> None:
    """B64: machine-readable and apart from each other; the results up to then were handed over and are on record."""
    reason, limit, numbers = ENDS[which]
    bench = each_limit(parts, which)
    events = await bench.run()
    assert (events[-1].type, events[-1].reason, events[-1].limit) == ("blocked", reason, limit)
    assert [event.type for event in events].count("blocked") == 1
    assert re.findall(r"\d+", events[-1].message) == numbers.split()
    outcome = bench.last.outcome
    assert (outcome.status, outcome.reason, outcome.limit, outcome.message) == ("blocked", reason, limit, events[-1].message)
    results = [event for event in events if event.type == "tool-result"]
    assert len(bench.sink.data("loop.tool-result")) == len(results)
    if which in ("steps", "calls", "tokens", "cost", "human time", "expiry", "repeats"):
        assert results[0].summary == "Saved."


def test_no_two_ends_look_alike() -> None:
    """B64: reason and limit together tell them apart."""
    ends = [(reason, limit) for reason, limit, _ in ENDS.values()]
    assert len(set(ends)) == len(ends)
