"""Settle beside the planner (section 9): what it is given, whose verdict counts, what is counted. More stands in `test_beside`."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckLine, CheckResult, Deny, ToolOutput
from foxloop_trio.loop import Budget, Denials, SettleInput
from foxloop_trio.ports import ChatReply, Usage

PASS = CheckResult(ok=True, checks=(CheckLine(part="page", ok=True, evidence="seen"),))
FAIL = CheckResult(ok=False, problem="not there")


class Racer:
    """A planner that saves notes in its first reply, and then does `second`; each reply costs ten tokens."""

    def __init__(self, second: Any, *texts: str) -> None:
        self.second = second
        self.texts = texts or ("a",)
        self.turns = 0
        self.seen: list[Any] = []

    async def chat(self, messages: Any, *, tools: Any) -> ChatReply:
        self.turns += 1
        self.seen.append(list(messages))
        if self.turns == 1:
            calls = [
                {"id": f"c{text}", "type": "function", "function": {"name": "save_note", "arguments": json.dumps({"text": text})}}
                for text in self.texts
            ]
            return ChatReply(message={"content": None, "tool_calls": calls}, usage=Usage(input_tokens=9, output_tokens=1))
        reply: ChatReply = await self.second()
        return reply


async def forever() -> ChatReply:
    await trio.sleep_forever()
    raise AssertionError


async def later() -> ChatReply:
    await trio.sleep(5)
    return ChatReply(message={"content": "said by the planner"})


def race(parts: Any, settle: Any, second: Any = forever, *texts: str, **options: Any) -> Any:
    racer = Racer(second, *texts)
    bench = parts.Bench(planner=racer, settle=settle, sink=parts.MemorySink(), **options)
    bench.racer = racer
    return bench


async def test_settle_is_given_every_call_of_the_reply_before_with_its_data_and_check(parts: Any, autojump_clock: Any) -> None:
    """Section 9: name, args, ok, summary, data and check of each; the goal; the step of the request it races."""
    given: list[SettleInput] = []

    async def settle(beside: SettleInput) -> str:
        given.append(beside)
        return "both saved"

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary=f"Saved {args['text']}.", data={"of": args["text"]}, check=PASS)

    bench = race(parts, settle, forever, "a", "b", tools=[parts.save_note([], run=run)])
    events = await bench.run()
    assert events[-1].settled
    assert (given[0].goal, given[0].step, len(given)) == ("Save a note", 2, 1)
    assert [(call.name, call.args, call.ok, call.summary, call.data, call.check) for call in given[0].results] == [
        ("save_note", {"text": text}, True, f"Saved {text}.", {"of": text}, PASS) for text in "ab"
    ]


@pytest.mark.parametrize(("last", "settled"), [(PASS, True), (FAIL, False), (None, False)])
async def test_without_a_host_check_the_newest_results_verdict_decides(
    parts: Any, last: Any, settled: bool, autojump_clock: Any
) -> None:
    """Exactly as in 7.4: the last check, and nothing checked is no pass. A failing one makes no event and no count."""

    async def settle(beside: SettleInput) -> str:
        return "settled"

    bench = race(parts, settle, later, tools=[parts.save_note([], check=last)], max_steps=2)
    events = await bench.run()
    checks = [event for event in events if event.type == "check"]
    assert (events[-1].type == "done", len(checks)) == (settled, 1)
    if settled:
        assert events[-1].check == PASS
        assert checks[0].checks == PASS.checks
    else:
        assert bench.racer.turns == 2
        assert events[-1].reason == "max-steps"  # the planner's own claim failed once, and settle's counts for nothing


async def test_the_host_check_of_a_settled_claim_gets_goal_summary_and_last_check(parts: Any, autojump_clock: Any) -> None:
    """Section 9 obtains the verdict as in 7.4, sync or async."""
    given: list[Any] = []

    async def settle(beside: SettleInput) -> str:
        return "settled"

    async def check(claim: Any) -> CheckResult:
        given.append((claim.goal, claim.summary, claim.last_check))
        await trio.sleep(1)
        return PASS

    events = await race(parts, settle, check=check).run()
    assert events[-1].settled
    assert given == [("Save a note", "settled", parts.GOOD)]


async def test_a_settled_request_costs_a_step_and_no_tokens(parts: Any, autojump_clock: Any) -> None:
    """Section 9: the cancelled request adds no tokens; it did count as a step, and nothing of it is in the trail as a plan."""

    async def settle(beside: SettleInput) -> str:
        await trio.sleep(1)
        return "settled"

    bench = race(parts, settle)
    events = await bench.run()
    statistics = bench.last.statistics()
    assert (statistics.step, statistics.tokens, statistics.work_seconds) == (2, 10, 1.0)
    assert (events[-1].step, bench.sink.kinds.count("loop.plan")) == (2, 1)
    assert bench.sink.data("loop.done")[0]["settled"] is True


async def test_a_summary_that_settle_made_is_cut_like_any_other(parts: Any, autojump_clock: Any) -> None:
    """GB-L10 by kind: 2000 characters."""

    async def settle(beside: SettleInput) -> str:
        return "x" * 3000

    assert (await race(parts, settle).run())[-1].summary == "x" * 2000


async def test_settle_is_not_asked_after_a_denial_that_was_learned_from(parts: Any, autojump_clock: Any) -> None:
    """Section 9: none skipped, none retried-denied."""
    asked: list[Any] = []

    async def settle(beside: SettleInput) -> None:
        asked.append(beside)

    no = Deny(reason="no-grant", message="m")
    bench = race(
        parts, settle, later, gate=parts.StubGate(no), denials=Denials(retry=lambda reason: True), max_steps=2,
    )  # fmt: skip
    await bench.run()
    assert (asked, bench.racer.turns) == ([], 2)


async def test_settle_is_asked_once_for_each_request_it_applies_to_and_never_for_the_first(parts: Any) -> None:
    """Section 9: when the previous reply had at least one call and all of them ran."""
    steps: list[int] = []

    async def settle(beside: SettleInput) -> None:
        steps.append(beside.step)

    replies = [
        parts.reply(parts.call(text="a")), parts.reply(parts.call(text="b"), parts.call(text="c")), parts.reply(text="done?"),
        parts.reply(parts.call(text="d")), parts.FINISH,
    ]  # fmt: skip
    verdicts = [FAIL, PASS]
    await parts.Bench(*replies, settle=settle, check=lambda claim: verdicts.pop(0)).run()
    assert steps == [2, 3, 5]


async def test_a_planner_that_raises_counts_as_a_reply_and_ends_settle(parts: Any, autojump_clock: Any) -> None:
    """Section 9 with 2.1: model-error, and settle has ended before the event."""
    ended: list[float] = []

    async def settle(beside: SettleInput) -> str:
        try:
            await trio.sleep_forever()
        finally:
            ended.append(trio.current_time())
        raise AssertionError

    async def fails() -> ChatReply:
        await trio.sleep(2)
        raise ConnectionError("no server")

    events = await race(parts, settle, fails).run()
    assert (events[-1].reason, events[-1].message, len(ended)) == ("model-error", "no server", 1)


async def test_an_error_of_settle_is_noted_once_and_the_planner_is_waited_for(parts: Any, autojump_clock: Any) -> None:
    """Section 9: one note, at the step of the request; the planner's answer decides."""

    async def settle(beside: SettleInput) -> str:
        raise ExceptionGroup("g", [OSError("page gone"), ValueError("x")])

    bench = race(parts, settle, later)
    events = await bench.run()
    assert [(note["step"], note["error"]) for note in bench.sink.data("loop.settle-error")] == [(2, "page gone (and 1 more)")]
    assert (events[-1].type, events[-1].settled) == ("done", False)
    kinds = [kind for kind in bench.sink.kinds if kind != "loop.observation"]
    assert kinds.index("loop.settle-error") < kinds.index("loop.plan", 5)


async def test_a_planner_that_shields_itself_is_waited_for_though_settle_has_passed(parts: Any, autojump_clock: Any) -> None:
    """GB-L16: neither outlives the request; the loser cannot be abandoned."""

    async def settle(beside: SettleInput) -> str:
        await trio.sleep(1)
        return "settled"

    async def stubborn() -> ChatReply:
        with trio.CancelScope(shield=True):
            await trio.sleep(8)
        raise ConnectionError("too late to matter")

    start = trio.current_time()
    events = await race(parts, settle, stubborn).run()
    assert (events[-1].settled, trio.current_time() - start) == (True, 8.0)


async def test_an_abort_beats_a_settle_that_passed_at_the_same_instant(parts: Any, autojump_clock: Any) -> None:
    """Section 14: no event of the claim, and the run is aborted."""

    async def settle(beside: SettleInput) -> str:
        bench.last.abort()
        return "settled"

    bench = race(parts, settle)
    events = await bench.run()
    assert (events[-1].type, "check" in [event.type for event in events]) == ("aborted", False)


async def test_the_time_that_a_race_took_is_work_time(parts: Any, autojump_clock: Any) -> None:
    """GB-L1: the run's seconds cut a race in which settle has said nothing."""

    async def settle(beside: SettleInput) -> None:
        return None

    start = trio.current_time()
    events = await race(parts, settle, budget=Budget(seconds=3)).run()
    assert (events[-1].limit, trio.current_time() - start) == ("seconds", 3.0)


async def test_a_planner_that_ignores_settle_gets_the_same_messages_as_without(parts: Any) -> None:
    """Settle leaves no trace in the history."""

    async def settle(beside: SettleInput) -> None:
        return None

    seen = []
    for option in (settle, None):
        nonces = iter(range(100))
        bench = parts.Bench(
            parts.reply(parts.call(text="a")),
            parts.FINISH,
            settle=option,
            ids=lambda count, purpose: bytes([next(nonces)]) * count,  # noqa: B023
        )
        await bench.run()
        seen.append(bench.planner.seen)
    assert seen[0] == seen[1]
