"""What stands beside the main path: the first read, settle beside the planner, denials that a planner may learn from."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import CheckResult, Deny, ToolOutput
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.loop import Budget, Denials, SettleInput
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply
from foxloop_trio.tools import Tool


def look(parts: Any, words: list[str], **changes: Any) -> Tool:
    """A read tool whose outside text is the next of `words`, the last one for ever."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="Seen.", untrusted=words.pop(0) if len(words) > 1 else words[0])

    fields: dict[str, Any] = {
        "name": "look", "description": "Looks.", "parameters": {"type": "object"}, "scope": "read",
        "domain": "notes.local", "run": run,
    }  # fmt: skip
    return Tool(**{**fields, **changes})


# First read


async def test_the_first_read_is_judged_run_and_shown_to_the_planner_with_its_first_request(parts: Any) -> None:
    """Section 8: step 0, id first_read, right after the goal."""
    bench = parts.Bench(parts.FINISH, parts.FINISH, tools=[look(parts, ["a page"])], first_read="look")
    events = await bench.run()
    assert parts.told(events)[:4] == ["tool-call", "decision allow", "tool-result", "plan"]
    assert [(event.step, event.id) for event in events[:3]] == [(0, "first_read")] * 3
    first = bench.planner.seen[0]
    assert [message["role"] for message in first] == ["system", "user", "assistant", "tool"]
    assert first[3]["tool_call_id"] == first[2]["tool_calls"][0]["id"] == "first_read"
    assert "a page" in first[3]["content"]
    assert bench.last.statistics().tool_runs == 1


@pytest.mark.parametrize("answer", [Deny(reason="no-grant", message="none"), "ask"])
async def test_a_first_read_that_is_not_allowed_is_skipped_and_nobody_is_asked(parts: Any, answer: Any) -> None:
    """Section 8.5 and GB-L13: no request is stored."""
    stored: list[bool] = []

    class Gate(parts.StubGate):  # type: ignore[misc,name-defined]
        async def check(self, action: Any, *, store_request: bool = True) -> Any:
            stored.append(store_request)
            return await super().check(action, store_request=store_request)

    bench = parts.Bench(parts.FINISH, parts.FINISH, tools=[look(parts, ["p"])], first_read="look", gate=Gate(answer))
    events = await bench.run()
    assert parts.told(events)[1:3] == [f"decision {'deny' if isinstance(answer, Deny) else 'ask'}", "plan"]
    assert stored == [False]
    assert len(bench.planner.seen[0]) == 2


@pytest.mark.parametrize("hook", ["prepare", "domain"])
async def test_a_first_read_that_cannot_be_prepared_is_skipped_without_an_event(parts: Any, hook: str) -> None:
    """Section 8.2: for example the tab shows no page."""

    def refuse(args: Any, ctx: Any) -> Any:
        raise ValueError("no web page")

    bench = parts.Bench(parts.FINISH, parts.FINISH, tools=[look(parts, ["p"], **{hook: refuse})], first_read="look")
    assert (await bench.run())[0].type == "plan"


async def test_a_first_read_that_fails_appends_nothing_and_counts_nothing(parts: Any) -> None:
    """Section 8.7."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=False, summary="no")

    bench = parts.Bench(parts.FINISH, parts.FINISH, tools=[look(parts, ["p"], run=run)], first_read="look")
    await bench.run()
    assert len(bench.planner.seen[0]) == 2


@pytest.mark.parametrize("name", ["nothing", "save_note", 5])
def test_a_first_read_must_be_a_read_tool_without_required_arguments(parts: Any, name: Any) -> None:
    """Section 1: bad-options, naming the choices."""
    with pytest.raises(BadOptionsError, match="first_read"):
        parts.Bench(first_read=name)


# Settle


def settling(parts: Any, settle: Any, second: Any, **options: Any) -> Any:
    """A bench whose planner saves a note, and then does `second` while `settle` runs."""
    turns: list[int] = []

    async def plan(messages: Any, tools: Any) -> Any:
        turns.append(1)
        if len(turns) == 1:
            function = {"name": "save_note", "arguments": '{"text": "a"}'}
            return ChatReply(message={"content": None, "tool_calls": [{"id": "c1", "type": "function", "function": function}]})
        return await second()

    bench = parts.Bench(planner=function_planner(plan), settle=settle, sink=parts.MemorySink(), **options)
    bench.turns = turns
    return bench


async def claim() -> ChatReply:
    return ChatReply(message={"content": "claimed by the planner"})


async def test_a_settled_verdict_ends_the_run_and_cancels_the_planner(parts: Any, autojump_clock: Any) -> None:
    """Section 9: check, then done with settled, at the step of the cancelled request."""
    given: list[SettleInput] = []
    ended: list[float] = []

    async def settle(beside: SettleInput) -> str:
        given.append(beside)
        await trio.sleep(1)
        return "Seen on the page."

    async def slow() -> ChatReply:
        try:
            await trio.sleep(60)
        finally:
            ended.append(trio.current_time())
        raise AssertionError

    bench = settling(parts, settle, slow)
    start = trio.current_time()
    events = await bench.run()
    assert parts.told(events)[-2:] == ["check", "done"]
    assert (events[-1].settled, events[-1].summary, events[-1].step) == (True, "Seen on the page.", 2)
    assert ended == [start + 1.0]
    result = given[0].results[0]
    assert (result.name, result.args, result.ok, result.summary, given[0].step) == ("save_note", {"text": "a"}, True, "Saved.", 2)


async def test_a_planner_that_replies_first_cancels_settle_before_the_run_goes_on(parts: Any, autojump_clock: Any) -> None:
    """GB-L16: the loser is cancelled and awaited."""
    ended: list[float] = []

    async def settle(beside: SettleInput) -> str:
        try:
            await trio.sleep(60)
        finally:
            ended.append(trio.current_time())
        raise AssertionError

    async def quick() -> ChatReply:
        await trio.sleep(1)
        return await claim()

    events = await settling(parts, settle, quick).run()
    assert (events[-1].type, events[-1].settled, events[-1].summary) == ("done", False, "claimed by the planner")
    assert len(ended) == 1


async def test_a_reply_wins_a_tie(parts: Any, autojump_clock: Any) -> None:
    """Section 9: both ready at the same instant."""

    async def settle(beside: SettleInput) -> str:
        await trio.sleep(1)
        return "settled"

    async def same() -> ChatReply:
        await trio.sleep(1)
        return await claim()

    for _ in range(20):
        events = await settling(parts, settle, same).run()
        assert events[-1].settled is False


@pytest.mark.parametrize("how", ["none", "empty", "fails", "raises", "check raises", "garbage"])
async def test_a_settle_that_does_not_pass_leaves_it_to_the_planner_without_a_word(
    parts: Any, how: str, autojump_clock: Any
) -> None:
    """Section 9: no event, no feedback, no count; an exception is noted once."""

    async def settle(beside: SettleInput) -> Any:
        if how == "raises":
            raise OSError("no access")
        return {"none": None, "empty": "", "garbage": 7}.get(how, "settled")

    verdicts = [CheckResult(ok=True)]

    def check(given: Any) -> CheckResult:
        if given.summary == "settled":
            if how == "check raises":
                raise OSError("no access")
            return CheckResult(ok=False)
        return verdicts[0]

    async def slow() -> ChatReply:
        await trio.sleep(5)
        return await claim()

    bench = settling(parts, settle, slow, check=check)
    events = await bench.run()
    assert parts.told(events)[-3:] == ["plan", "check", "done"]
    assert events[-1].settled is False
    assert len(bench.sink.data("loop.settle-error")) == (1 if how in ("raises", "check raises", "garbage") else 0)


@pytest.mark.parametrize("what", ["claim", "failed", "skipped"])
async def test_settle_is_not_asked_after_a_reply_whose_calls_did_not_all_run(parts: Any, what: str) -> None:
    """Section 9: every call was executed and the last one is ok."""
    asked: list[Any] = []

    async def settle(beside: SettleInput) -> None:
        asked.append(beside)

    calls = {
        "claim": parts.FINISH["calls"],
        "failed": [parts.call()],
        "skipped": [parts.call(text="a"), parts.call(text="b")],
    }[what]
    bench = parts.Bench(
        parts.reply(*calls), parts.FINISH, settle=settle, max_calls_per_turn=1, check=lambda given: CheckResult(ok=False)
    )
    await bench.run()
    assert asked == []


@pytest.mark.parametrize("how", ["abort", "cancel", "deadline"])
async def test_stopping_while_both_are_at_work_ends_both(parts: Any, how: str, autojump_clock: Any) -> None:
    """Section 9: abort or deadline cancels both; neither outlives the request."""
    ended: list[str] = []

    async def settle(beside: SettleInput) -> str:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("settle")
        raise AssertionError

    async def never() -> ChatReply:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("planner")
        raise AssertionError

    bench = settling(parts, settle, never, budget=Budget(seconds=3 if how == "deadline" else 100))
    events: list[Any] = []
    with trio.move_on_after(3 if how == "cancel" else 50):
        async with trio.open_nursery() as nursery:

            async def read() -> None:
                events.extend(await bench.run())

            nursery.start_soon(read)
            if how == "abort":
                await trio.sleep(3)
                bench.last.abort()
    assert sorted(ended) == ["planner", "settle"]
    assert bench.last.outcome.status == ("blocked" if how == "deadline" else "aborted")


# Denials


def denying(parts: Any, *answers: Any, **options: Any) -> Any:
    replies = [parts.reply(parts.call(text=str(number))) for number in range(6)]
    return parts.Bench(*replies, gate=parts.StubGate(*answers), **options)


NO = Deny(reason="no-grant", message="nothing matches")


async def test_a_denial_that_may_be_learned_from_is_a_failed_result_with_the_gates_words(parts: Any) -> None:
    """Section 10."""
    bench = denying(parts, NO, denials=Denials(retry=lambda reason: reason == "no-grant"), max_steps=2)
    events = await bench.run()
    result = next(event for event in events if event.type == "tool-result")
    assert (result.reason, bench.notes) == ("gate-deny", ["1"])
    assert "no-grant" in result.summary
    assert "nothing matches" in result.summary
    assert "refus" in bench.planner.seen[0][0]["content"]


async def test_denials_in_a_row_are_limited_and_an_allow_starts_the_count_anew(parts: Any) -> None:
    """Section 10: the limit-th ends the run; they do not count as failures."""
    bench = denying(parts, NO, NO, "allow", NO, NO, NO, denials=Denials(retry=lambda reason: True))
    events = await bench.run()
    assert events[-1].reason == "gate-deny"
    assert bench.notes == ["2"]
    assert bench.last.statistics().step == 6
    many = denying(parts, *[NO] * 6, denials=Denials(retry=lambda reason: True, limit=10), max_steps=6)
    assert (await many.run())[-1].reason == "max-steps"


@pytest.mark.parametrize("retry", [lambda reason: False, lambda reason: None, lambda reason: 1 / 0])
async def test_a_retry_that_is_falsy_or_raises_stops_the_run(parts: Any, retry: Any) -> None:
    """Section 10."""
    events = await denying(parts, NO, denials=Denials(retry=retry)).run()
    assert events[-1].reason == "gate-deny"
    assert events[-2].type == "decision"


async def test_a_humans_no_is_never_retried(parts: Any) -> None:
    """7.3: whatever denials says."""

    async def approve(request: Any) -> None:
        return None

    bench = denying(parts, "ask", denials=Denials(retry=lambda reason: True), on_approval=approve)
    assert (await bench.run())[-1].reason == "approval-denied"


# Repetition


async def test_a_read_that_sees_a_changing_page_may_be_repeated_and_one_that_does_not_may_not(parts: Any) -> None:
    """Ruling 10: polling is work, staring is not."""
    reads = [parts.reply(parts.call("look")) for _ in range(8)]
    changing = parts.Bench(*reads, tools=[look(parts, [str(n) for n in range(9)])], max_steps=8)
    assert (await changing.run())[-1].reason == "max-steps"
    still = parts.Bench(*reads, tools=[look(parts, ["same"])])
    events = await still.run()
    assert (events[-1].reason, still.last.statistics().tool_runs) == ("repeated-call", 2)
    once = parts.Bench(*reads, tools=[look(parts, ["a", "b", "b"])])
    await once.run()
    assert once.last.statistics().tool_runs == 3


async def test_two_calls_in_turn_stop_the_run_before_the_sixth_and_reads_do_not_hide_them(parts: Any) -> None:
    """11.2."""
    turns: list[Any] = []
    for number in range(6):
        turns += [parts.reply(parts.call("look")), parts.reply(parts.call(text="AB"[number % 2]))]
    notes: list[str] = []
    bench = parts.Bench(*turns, tools=[look(parts, ["x"]), parts.save_note(notes)])
    assert (await bench.run())[-1].reason == "repeated-call"
    assert notes == ["A", "B", "A", "B", "A"]


# Limits of single waits


async def test_a_tool_over_its_limit_is_a_failed_result_and_the_same_call_waits_for_a_fresh_look(
    parts: Any, autojump_clock: Any
) -> None:
    """Ruling 7, B22: not repeated blindly; an ok read of that host frees it."""
    ran: list[str] = []

    async def run(args: Any, ctx: Any) -> ToolOutput:
        ran.append(args["text"])
        if len(ran) == 1:
            await trio.sleep(60)
        return ToolOutput(ok=True, summary="Saved.", check=parts.GOOD)

    save = parts.reply(parts.call(text="a"))
    bench = parts.Bench(
        save, save, parts.reply(parts.call("look")), save, parts.FINISH,
        tools=[parts.save_note([], run=run), look(parts, ["p"])], budget=Budget(tool_seconds=10), sink=parts.MemorySink(),
    )  # fmt: skip
    start = trio.current_time()
    events = await bench.run()
    results = [(event.name, event.reason) for event in events if event.type == "tool-result"]
    assert results == [("save_note", "timeout"), ("save_note", "in-doubt"), ("look", None), ("save_note", None)]
    assert trio.current_time() - start == 10.0
    assert bench.sink.data("loop.effect")[0]["state"] == "unknown"
    assert ran == ["a", "a"]


async def test_a_planner_over_its_limit_ends_the_run(parts: Any, autojump_clock: Any) -> None:
    """Ruling 7, and the event names which limit."""

    async def plan(messages: Any, tools: Any) -> Any:
        await trio.sleep_forever()

    start = trio.current_time()
    events = await parts.Bench(planner=function_planner(plan), budget=Budget(planner_seconds=4)).run()
    assert (events[-1].reason, trio.current_time() - start) == ("budget", 4.0)
    assert "planner" in events[-1].message


async def test_an_approval_over_its_limit_has_expired(parts: Any, autojump_clock: Any) -> None:
    """Ruling 7: the nearer of the limit and the request's expiry."""

    async def approve(request: Any) -> Any:
        await trio.sleep_forever()

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), gate=parts.StubGate("ask"), on_approval=approve, budget=Budget(approval_seconds=8)
    )
    start = trio.current_time()
    events = await bench.run()
    assert (events[-1].reason, trio.current_time() - start) == ("approval-expired", 8.0)


async def test_money_stops_the_run_and_a_cost_that_is_not_told_does_too(parts: Any) -> None:
    """B61: a cap that cannot be checked is none."""
    from foxloop_trio.actions import Money
    from foxloop_trio.ports import Usage

    def planner(cost: Any) -> Any:
        async def plan(messages: Any, tools: Any) -> Any:
            function = {"name": "save_note", "arguments": f'{{"text": "{len(messages)}"}}'}
            calls = [{"id": str(len(messages)), "type": "function", "function": function}]
            return ChatReply(
                message={"content": None, "tool_calls": calls}, usage=Usage(input_tokens=1, output_tokens=1, cost=cost)
            )

        return function_planner(plan)

    cap = Budget(cost=Money(value=25, currency="EUR"))
    bench = parts.Bench(planner=planner(Money(value=10, currency="EUR")), budget=cap)
    events = await bench.run()
    assert (events[-1].reason, bench.last.statistics().cost) == ("budget", Money(value=30, currency="EUR"))
    assert events[-1].message == "cost: used 30 of 25 EUR minor units"
    for cost in (None, Money(value=1, currency="USD")):
        events = await parts.Bench(planner=planner(cost), budget=cap).run()
        assert (events[-1].reason, events[-1].step) == ("budget", 1)


# Pausing


@pytest.mark.parametrize("kind", ["planner", "approval", "tool"])
async def test_nothing_new_begins_while_paused_and_paused_time_is_human_time(parts: Any, kind: str, autojump_clock: Any) -> None:
    """Ruling 8: from whichever event it is paused."""

    async def approve(request: Any) -> str:
        return "t"

    at = {"planner": "tool-result", "approval": "decision", "tool": "decision"}[kind]
    gate = parts.StubGate("ask") if kind == "approval" else parts.StubGate()
    bench = parts.Bench(parts.reply(parts.call(text="a")), parts.FINISH, gate=gate, on_approval=approve, budget=Budget(seconds=5))
    times: dict[str, float] = {}

    async with trio.open_nursery() as nursery:

        def each(run: Any, event: Any) -> None:
            times.setdefault(event.type, trio.current_time())
            if event.type == at and "paused" not in times:
                times["paused"] = trio.current_time()
                run.pause()
                nursery.start_soon(go_on, run)

        async def go_on(run: Any) -> None:
            await trio.sleep(100)
            run.unpause()

        events = await bench.run(each=each)
    assert events[-1].type == "done"
    statistics = bench.last.statistics()
    assert (statistics.work_seconds, statistics.human_seconds) == (0.0, 100.0)


@pytest.mark.parametrize("how", ["abort", "expiry", "lost"])
async def test_a_paused_run_is_woken_by_abort_expiry_and_a_lost_peer(parts: Any, how: str, autojump_clock: Any) -> None:
    """B11: each ends the run at once with its own reason."""
    from foxloop_trio.errors import BrowserError

    class Peer:
        def __init__(self) -> None:
            self.lost = trio.Event()

        async def ready(self) -> None:
            if self.lost.is_set():
                raise BrowserError("the browser is gone", code="browser-lost")

        async def wait_lost(self) -> None:
            await self.lost.wait()

    async def approve(request: Any) -> str:
        return "t"

    peer = Peer()
    gate = parts.StubGate("ask")
    gate.expires_at = 40.0
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), gate=gate, on_approval=approve, tools=[parts.save_note([], environment=peer)]
    )
    start = trio.current_time()
    async with trio.open_nursery() as nursery:

        async def wake(run: Any) -> None:
            await trio.sleep(7)
            if how == "abort":
                run.abort()
            elif how == "lost":
                peer.lost.set()

        def each(run: Any, event: Any) -> None:
            if event.type == "decision":
                run.pause()
                nursery.start_soon(wake, run)

        events = await bench.run(each=each)
    wanted = {"abort": "aborted", "expiry": "blocked approval-expired", "lost": "blocked browser-lost"}
    assert parts.told(events)[-1] == wanted[how]
    assert trio.current_time() - start == (40.0 if how == "expiry" else 7.0)
