"""The budget guard: nothing begins at a limit, what is promised counts at once, and what was not used is given back."""

from __future__ import annotations

import math
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from foxloop_trio.guarding import Block, Message, ModelReply, Note, State, Stop, ToolCall, ToolResult
from foxloop_trio.loop import Loop
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply, Usage
from foxloop_trio.react._hooks import Instead
from foxloop_trio.react._loop import run_react_loop
from foxloop_trio.react._tools import ReactTool, ToolRegistry
from foxloop_trio.react.guards._budget_guard import BudgetGuard
from foxloop_trio.react.guards._ledger import Ledger
from foxloop_trio.testing import cancel_at_every_checkpoint, scripted_llm

LOOK: dict[str, Any] = {"calls": [("look", {})]}
DONE: dict[str, Any] = {"calls": [("task_done", {"summary": "done"})]}


def used(tokens_in: int, tokens_out: int = 0, step: dict[str, Any] = LOOK, **more: Any) -> dict[str, Any]:
    return {**step, "usage": Usage(input_tokens=tokens_in, output_tokens=tokens_out), **more}


class Runs:
    """A run with a budget; `ran` counts handlers."""

    def __init__(self, **limits: Any) -> None:
        self.guard = BudgetGuard(**limits)
        self.ran = 0

    async def look(self, args: Any, context: Any) -> str:
        await trio.lowlevel.checkpoint()
        self.ran += 1
        return "a page"

    async def run(self, *steps: Any, cost: Any = None, **options: Any) -> Any:
        self.llm = scripted_llm([*steps])
        tool = ReactTool(name="look", handler=options.pop("handler", self.look), cost=cost)
        return await run_react_loop(llm=self.llm, tools=[tool], system="s", guards=[self.guard], **options)


def state_of(*contents: str, cost: Any = None) -> State:
    tools = ToolRegistry([ReactTool(name="look", handler=print, cost=cost)])
    return State(messages=[Message(role="user", content=content) for content in contents], registry=tools)


def call(number: int = 1, name: str = "look") -> ToolCall:
    return ToolCall(id=f"c{number}", name=name, arguments={})


# Limits


async def test_with_turns_of_two_two_model_calls_begin() -> None:
    """R60 for `turns`: using exactly the limit is fine; the third does not begin."""
    runs = Runs(turns=2, warn_at=None)
    result = await runs.run(LOOK, LOOK, LOOK)
    assert (result.stopped, result.turns, len(runs.llm.seen)) == ("budget", 2, 2)
    assert result.stop_detail == {"guard": "BudgetGuard", "limit": "turns", "used": 2, "allowed": 2}


async def test_with_tool_calls_of_two_the_third_handler_does_not_begin() -> None:
    """R60 for `tool_calls`, in the middle of a turn: the rest of its calls are answered and not run."""
    runs = Runs(tool_calls=2)
    result = await runs.run({"calls": [("look", {})] * 4})
    assert (result.stopped, runs.ran, len([m for m in result.messages if m.role == "tool"])) == ("budget", 2, 4)
    assert result.stop_detail["limit"] == "tool_calls"


async def test_blocked_calls_and_the_stop_tool_are_free() -> None:
    """Section 8: `tool_calls` counts handlers begun; ending the run is never in the way."""

    class No:
        number = 0

        def before_tool(self, call: ToolCall, state: State) -> Any:
            self.number += 1
            return Block("no") if self.number < 4 else None

    guard = BudgetGuard(tool_calls=1)
    ran: list[str] = []
    tool = ReactTool(name="look", handler=lambda args, context: ran.append("x") or "a page")
    llm = scripted_llm([{"calls": [("look", {})] * 4}, DONE])
    result = await run_react_loop(llm=llm, tools=[tool], system="s", guards=[guard, No()])
    assert (result.stopped, ran, guard.statistics()["tool_calls"]) == ("task_done", ["x"], 1)


@pytest.mark.parametrize(("spent", "asked"), [(99, 2), (100, 1), (101, 1)])
async def test_tokens_are_used_up_at_their_limit_and_not_before(spent: int, asked: int) -> None:
    """R60 for `tokens`: with 99 of 100 used the next request begins, with 100 it does not."""
    runs = Runs(tokens=100, reserve=0, warn_at=None)
    runs.guard._characters = lambda state: 0  # type: ignore[method-assign]
    result = await runs.run(used(spent), used(1), DONE)
    assert (len(runs.llm.seen), result.stopped, result.stop_detail["limit"]) == (asked, "budget", "tokens")


async def test_a_reply_that_went_beyond_the_limit_runs_no_calls() -> None:
    """Section 8: tokens are looked at after each reply too; beyond the limit nothing of it runs, at the limit its calls do."""
    beyond, exact = Runs(tokens=100, warn_at=None), Runs(tokens=100, warn_at=None)
    await beyond.run(used(101))
    await exact.run(used(100))
    assert (beyond.ran, exact.ran) == (0, 1)


async def test_a_request_that_could_pass_the_limit_is_not_paid_for() -> None:
    """R61: the reserve for the reply counts beforehand, unless no turn ran yet."""
    runs = Runs(tokens=1000, reserve=500, warn_at=None)
    result = await runs.run(used(400, 101), DONE)
    assert (len(runs.llm.seen), result.stopped) == (1, "budget")
    assert result.stop_detail == {"guard": "BudgetGuard", "limit": "tokens", "used": 501, "allowed": 1000}
    first = Runs(tokens=10, reserve=500, warn_at=None)
    await first.run(used(5, 5), DONE)
    assert len(first.llm.seen) == 1


async def test_a_reply_without_usage_is_estimated_from_its_characters() -> None:
    """Section 8: characters over four of what was sent and received, and marked as estimated."""
    guard = BudgetGuard(tokens=1000)
    state = state_of("x" * 400)
    guard.on_run_start(state)
    guard.before_model(state)
    sent = guard._promise.characters  # type: ignore[union-attr]
    guard.after_model(state, ModelReply(text="y" * 41, tool_calls=()))
    assert sent >= 400
    assert (guard.statistics()["tokens"], guard.statistics()["estimated"]) == (math.ceil((sent + 41) / 4), True)


async def test_only_new_messages_are_measured_and_an_edit_measures_all_anew() -> None:
    """What a request holds is known without walking the whole conversation each time."""
    guard = BudgetGuard(tokens=10**9)
    state = state_of("x" * 100)
    guard.on_run_start(state)
    first = guard._characters(state)
    state.messages.append(Message(role="user", content="y" * 10))
    assert guard._characters(state) == first + 10
    state.messages[:] = [Message(role="user", content="z")]
    assert guard._characters(state) == first - 99


async def test_reservations_are_replaced_by_what_was_used_and_given_back_on_failure() -> None:
    """R61: after the reply the real usage stands; a model that raised frees all but what was reported."""
    ledger = Ledger(tokens=10_000)
    runs = Runs(ledger=ledger, reserve=300, warn_at=None)
    during: list[int] = []

    def look_at_the_books(request: Any) -> Any:
        during.append(ledger.reserved("tokens"))
        return used(7, 3)

    with pytest.raises(OSError, match="gone"):
        await runs.run(look_at_the_books, OSError("gone"))
    assert during[0] > 300
    assert (ledger.reserved("tokens"), ledger.used("tokens"), runs.guard.statistics()["turns"]) == (0, 10, 2)


async def test_what_a_cancelled_request_was_reported_to_use_still_counts() -> None:
    """R61: "except what the provider reported as used"."""
    guard, state = BudgetGuard(tokens=100), state_of("x")
    guard.on_run_start(state)
    guard.before_model(state)
    state.usage = Usage(input_tokens=30, output_tokens=12)
    guard.on_run_end(state)
    assert guard.statistics()["tokens"] == 42


# Time


async def test_seconds_cut_a_model_call_in_flight(autojump_clock: Any) -> None:
    """Section 8: a hard limit, also around the model."""

    async def slow(request: Any) -> Any:
        await trio.sleep(60)

    runs = Runs(seconds=5)
    result = await runs.run(slow)
    assert (result.stopped, trio.current_time(), result.stop_detail["limit"]) == ("budget", 5.0, "seconds")


async def test_a_handler_cut_by_time_gets_its_observation_before_the_run_ends(autojump_clock: Any) -> None:
    """R64: "out of time, may have had an effect"."""

    async def slow(args: Any, context: Any) -> str:
        await trio.sleep(60)
        return "late"

    runs = Runs(seconds=5)
    result = await runs.run(LOOK, handler=slow)
    assert (result.stopped, trio.current_time(), result.turns) == ("budget", 5.0, 1)
    observation = result.messages[-1].content.lower()
    assert "out of time" in observation
    assert "may have had an effect" in observation


async def test_seconds_begin_with_the_run_and_not_with_the_guard(autojump_clock: Any) -> None:
    """Trio time since run start; the next run has all of it again."""
    runs = Runs(seconds=5)
    await trio.sleep(100)
    assert (await runs.run(DONE)).stopped == "task_done"
    assert (await runs.run(LOOK, DONE)).stopped == "task_done"


# Money

PRICES = {"big": (3_000_000, 15_000_000, 300_000), "small": (100_000, 400_000, 10_000)}


@pytest.mark.parametrize(("model", "expected"), [("small", 1 + 4), ("big", 30 + 150), ("stranger", 30 + 150), (None, 30 + 150)])
async def test_cost_is_whole_micro_units_by_the_models_price(model: str | None, expected: int) -> None:
    """Section 8: per million tokens, rounded up; a model without a price is charged at the dearest."""
    runs = Runs(cost=10**9, prices=PRICES)
    await runs.run(used(10, 10, step=DONE, model=model))
    assert runs.guard.statistics()["cost"] == expected


async def test_cached_input_has_a_price_of_its_own() -> None:
    """Cached tokens are part of the input and charged once."""
    runs = Runs(cost=10**9, prices={"big": PRICES["big"]})
    usage = Usage(input_tokens=10, output_tokens=0, cached_tokens=10)
    await runs.run({**DONE, "usage": usage, "model": "big"})
    assert runs.guard.statistics()["cost"] == 3


async def test_a_tools_cost_is_reserved_before_and_settled_after() -> None:
    """Section 8: a call that costs more than is left is refused, a cheaper one may run."""
    runs = Runs(cost=100, prices={}, warn_at=None)
    result = await runs.run(LOOK, LOOK, DONE, cost=lambda args: 60)
    assert (result.stopped, runs.ran, runs.guard.statistics()["cost"]) == ("task_done", 1, 60)
    assert "40 of 100 are left" in next(m.content for m in result.messages[::-1] if m.name == "look")


@pytest.mark.parametrize("cost", [1.5, -1, True, "2"])
async def test_a_cost_that_is_no_amount_refuses_the_call(cost: Any) -> None:
    """R66 and R31: floats are no money; what fails is closed."""
    runs = Runs(cost=100, prices={})
    await runs.run(LOOK, DONE, cost=lambda args: cost)
    assert runs.ran == 0


# Warnings and the end


async def test_one_note_a_limit_tells_the_model_what_is_left() -> None:
    """R62: at `warn_at`, once."""
    runs = Runs(turns=5, tool_calls=10, warn_at=0.6)
    await runs.run(LOOK, LOOK, LOOK, LOOK, DONE)
    notes = [m.content for m in runs.llm.seen[-1].messages if m.role == "system"]
    assert len(notes) == 1
    assert notes[0].startswith("1 of 5 model calls are left") or notes[0].startswith("2 of 5 model calls are left")


async def test_the_warning_comes_at_its_share_and_not_before() -> None:
    """R62, by hand: 7 of 10 is under 0.8, 8 of 10 is not."""
    guard, state = BudgetGuard(turns=10), state_of()
    guard.on_run_start(state)
    said = []
    for _ in range(10):
        said.append(guard.before_model(state))
        guard.after_model(state, ModelReply(text="x", tool_calls=(), usage=Usage(input_tokens=0, output_tokens=0)))
    assert [bool(one) for one in said] == [False] * 7 + [True] + [False] * 2
    assert isinstance(said[7][0], Note)
    assert isinstance(guard.before_model(state), Stop)


async def test_to_finish_one_last_request_offers_the_stop_tool_alone() -> None:
    """R63, `on_exhausted="finish"`: then the run ends, with what the model said at the end."""
    runs = Runs(turns=1, on_exhausted="finish")
    result = await runs.run(LOOK, DONE, LOOK)
    assert [[spec.name for spec in request.tools] for request in runs.llm.seen] == [["look", "task_done"], ["task_done"]]
    assert (runs.ran, result.final_summary) == (1, "done")
    assert result.stopped in ("budget", "task_done")


async def test_to_finish_calls_beyond_the_limit_are_refused_and_the_last_request_follows() -> None:
    """R63: the budget of calls ends in the middle of a turn; the model still gets to say what it has."""
    runs = Runs(tool_calls=1, on_exhausted="finish")
    result = await runs.run({"calls": [("look", {})] * 3}, DONE)
    assert (runs.ran, len(runs.llm.seen), result.final_summary) == (1, 2, "done")


async def test_a_last_request_is_the_last_also_when_it_calls_something_else() -> None:
    """R63: whatever comes back, nothing but the stop tool runs, and the run ends."""
    runs = Runs(turns=1, on_exhausted="finish")
    result = await runs.run(LOOK, LOOK, LOOK)
    assert (runs.ran, len(runs.llm.seen), result.stopped) == (1, 2, "budget")


# Shared books


async def test_runs_that_share_a_ledger_never_reserve_more_than_it_has(autojump_clock: Any) -> None:
    """R65: reservations are visible to all, so of ten runs at once only as many ask as can be paid."""
    ledger = Ledger(tokens=1000)
    asked, most = 0, 0

    async def slow(request: Any) -> Any:
        nonlocal asked, most
        asked += 1
        most = max(most, ledger.reserved("tokens") + ledger.used("tokens"))
        await trio.sleep(1)
        return used(50, 50, step=DONE)

    results: list[Any] = []

    async def one() -> None:
        runs = Runs(ledger=ledger, reserve=150, warn_at=None)
        results.append(await runs.run(slow))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(one)
    assert 0 < asked < 10
    assert most <= 1000
    assert sorted({result.stopped for result in results}) == ["budget", "task_done"]
    assert (ledger.used("tokens"), ledger.reserved("tokens")) == (100 * asked, 0)


def test_windows_slide_on_the_injected_clock() -> None:
    """R65: `per_hour` and `per_day`; a clock that goes back frees nothing."""
    now = 1000.0
    ledger = Ledger(per_hour={"tokens": 100}, per_day={"tokens": 150}, wall_clock=lambda: now)

    def spend(amount: int) -> str | None:
        hit = ledger.short("tokens", amount)
        if hit is not None:
            return hit.limit
        ledger.reserve("tokens", amount)
        ledger.settle("tokens", amount, amount)
        return None

    assert [spend(100), spend(1)] == [None, "tokens per_hour"]
    now += 3599.9
    assert spend(1) == "tokens per_hour"
    now -= 5000
    assert spend(1) == "tokens per_hour"
    now = 1000 + 3600.0
    assert [spend(50), spend(1)] == [None, "tokens per_day"]
    now = 1000 + 86400.0
    assert spend(50) is None


def test_a_window_keeps_a_bounded_number_of_entries() -> None:
    """What was used within a 256th of a window is one entry, dropped when the last of it is old enough."""
    now = 0.0
    ledger = Ledger(per_hour={"turns": 10**6}, wall_clock=lambda: now)
    for _ in range(5000):
        now += 1.0
        ledger.settle("turns", 0, 1)
    book = ledger._books[-1]
    assert len(book.slices) <= 258
    assert 3600 <= book.used <= 3600 + 15


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 60), st.booleans()), max_size=40), st.integers(0, 300))
def test_what_is_used_and_promised_never_passes_the_limit(steps: list[tuple[int, int, bool]], limit: int) -> None:
    """R65 as arithmetic: whoever asks `short` first, when no more is used than was reserved."""
    ledger = Ledger(tokens=limit)
    open_promises: list[int] = []
    for reserve, use, close in steps:
        if close and open_promises:
            promise = open_promises.pop()
            ledger.settle("tokens", promise, min(use, promise))
        elif ledger.short("tokens", reserve) is None:
            ledger.reserve("tokens", reserve)
            open_promises.append(reserve)
        assert ledger.used("tokens") + ledger.reserved("tokens") <= limit
        assert ledger.reserved("tokens") == sum(open_promises)


# What is no budget


@pytest.mark.parametrize(
    "options",
    [
        {"turns": -1}, {"tool_calls": 1.5}, {"tokens": math.nan}, {"tokens": True}, {"cost": 1.0, "prices": {}}, {"cost": 5},
        {"seconds": -1}, {"seconds": math.nan}, {"prices": {"m": (1.0, 2, 3)}}, {"prices": {"m": (1, 2)}},
        {"prices": {"m": (-1, 2, 3)}}, {"prices": {"m": (None, 2, 3)}}, {"warn_at": 0}, {"warn_at": 1.5}, {"warn_at": math.nan},
        {"reserve": -1}, {"reserve": None}, {"on_exhausted": "beg"}, {"ledger": {}},
    ],
)  # fmt: skip
def test_nothing_negative_no_nan_and_no_floats_for_money(options: dict[str, Any]) -> None:
    """R66: `ValueError`, which names the option."""
    with pytest.raises(ValueError, match="|".join([*options, "price"])):
        BudgetGuard(**options)


@pytest.mark.parametrize(
    "options",
    [{"turns": -1}, {"cost": 0.5}, {"per_hour": {"tokens": -1}}, {"per_day": {"bananas": 1}}, {"per_day": {"cost": None}}],
)
def test_a_ledger_takes_whole_amounts_of_known_kinds_only(options: dict[str, Any]) -> None:
    """R66 for `Ledger`."""
    with pytest.raises(ValueError):
        Ledger(**options)


@pytest.mark.parametrize("usage", [Usage(input_tokens=-5, output_tokens=1), Usage(input_tokens=math.nan, output_tokens=1)])  # type: ignore[arg-type]
def test_a_usage_that_is_nonsense_is_estimated_instead(usage: Usage) -> None:
    """A model server that reports less than nothing wins nothing by it."""
    guard, state = BudgetGuard(tokens=100, reserve=0), state_of("x" * 40)
    guard._begin(0.0, state.usage)
    guard._promise = None
    guard.after_model(state, ModelReply(text="y" * 40, tool_calls=(), usage=usage))
    assert (guard.statistics()["tokens"], guard.statistics()["estimated"]) == (10, True)


# In the gated loop, and cancelled


async def test_the_same_guard_bounds_the_gated_loop() -> None:
    """One guard, two doors: `Loop(guards=…)` stops with the reason `budget`, and names limit and guard."""
    from foxloop_trio.gate import create_gate
    from foxloop_trio.tools import Tool

    async def run(args: Any, ctx: Any) -> Any:
        from foxloop_trio.actions import ToolOutput

        await trio.lowlevel.checkpoint()
        return ToolOutput(ok=True, summary="A page.")

    tool = Tool(
        name="look", description="Looks.", parameters={"type": "object", "properties": {"n": {"type": "integer"}}}, scope="read",
        domain="notes.local", run=run,
    )  # fmt: skip
    number = 0

    async def chat(messages: Any, tools: Any) -> ChatReply:
        nonlocal number
        number += 1
        await trio.lowlevel.checkpoint()
        function = {"name": "look", "arguments": f'{{"n": {number}}}'}
        calls = [{"id": f"c{number}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
        return ChatReply(message=message, usage=Usage(input_tokens=40, output_tokens=2))

    gate, host = create_gate(tools=[tool])
    await host.add_grant(scope="read", domains=["notes.local"])
    guard = BudgetGuard(tokens=100, reserve=0, warn_at=None)
    guard._characters = lambda state: 0  # type: ignore[method-assign]
    loop = Loop(planner=function_planner(chat), gate=gate, tools=[tool], guards=[guard])
    outcome = await loop.complete("Look around")
    assert (outcome.status, outcome.reason, number) == ("blocked", "budget", 3)
    assert outcome.message is not None
    assert outcome.message.startswith("BudgetGuard: budget")
    assert guard.statistics()["tokens"] == 126


async def test_a_cancel_anywhere_leaves_no_reservation_behind() -> None:
    """R61 and R18: the sweep over a run with a shared ledger; handlers that began count, promises do not stay."""
    ledger = Ledger(tokens=10**9, tool_calls=10**9)
    last: list[Runs] = []

    async def whole_run() -> None:
        runs = Runs(ledger=ledger)
        last.append(runs)

        async def slowly(request: Any) -> Any:
            await trio.lowlevel.checkpoint()
            return used(10, 10)

        await runs.run(slowly, slowly, slowly, DONE)

    async def check(visit: Any) -> None:
        assert ledger.reserved("tokens") == ledger.reserved("tool_calls") == ledger.reserved("cost") == 0
        assert last[-1].ran <= last[-1].guard.statistics()["tool_calls"]

    report = await cancel_at_every_checkpoint(whole_run, check=check)
    assert report.checkpoints >= 10


async def test_one_guard_serves_one_run_at_a_time_across_both_loops(autojump_clock: Any) -> None:
    """R33, for a run of each kind."""
    runs = Runs(turns=9)
    begun = trio.Event()

    async def slow(request: Any) -> Any:
        begun.set()
        await trio.sleep(1)
        return DONE

    async with trio.open_nursery() as nursery:
        nursery.start_soon(runs.run, slow)
        await begun.wait()
        with pytest.raises(RuntimeError, match="serves another run"):
            await runs.run(DONE)

        class Never:
            async def chat(self, *_: Any, **__: Any) -> Any: ...

            async def check(self, *_: Any, **__: Any) -> Any: ...

            redeem = check

        loop = Loop(planner=Never(), gate=Never(), tools=[], guards=[runs.guard])
        with pytest.raises(RuntimeError, match="serves another run"):
            async with loop.run("x"):
                pass
    assert (await runs.run(DONE)).stopped == "task_done"


def test_a_result_of_a_call_it_never_saw_changes_nothing() -> None:
    """Calls that were refused before guards were asked have no reservation."""
    guard, state = BudgetGuard(tool_calls=1), state_of()
    guard._begin(0.0, None)
    guard.after_tool(call(), ToolResult(tool_call_id="c1", content="x"), state)
    assert guard.statistics()["tool_calls"] == 0


class Slow:
    """A guard that takes its time over calls and requests."""

    def __init__(self, **seconds: float) -> None:
        self.seconds = seconds

    async def before_model(self, state: Any) -> None:
        await trio.sleep(self.seconds.get("before_model", 0))

    async def before_tool(self, call: Any, state: Any) -> None:
        await trio.sleep(self.seconds.get("before_tool", 0))


@pytest.mark.parametrize("asked", ["guard", "hook", "gate"])
@pytest.mark.parametrize("parallel", [True, False], ids=["row", "one by one"])
async def test_a_handler_whose_time_was_up_before_it_began_does_not_begin(asked: str, parallel: bool, autojump_clock: Any) -> None:
    """R60 for `seconds`: while a guard, the hook or a person decided; leave is given back, and nothing is counted."""
    ran: list[str] = []
    dropped: list[str] = []

    async def drop() -> None:
        dropped.append("x")

    async def decide(call: Any, state: Any) -> Any:
        await trio.sleep(10 if asked != "guard" else 0)
        return Instead(run=lambda args, context: ran.append("x"), drop=drop) if asked == "gate" else None

    tool = ReactTool(name="look", handler=lambda args, context: ran.append("x") or "ok", parallel_safe=True)
    guard = BudgetGuard(seconds=10)
    result = await run_react_loop(
        llm=scripted_llm([{"calls": [("look", {}), ("look", {})]}]),
        tools=[tool],
        system="",
        guards=[guard, Slow(before_tool=10 if asked == "guard" else 0)],
        hooks={"before_tool_call": decide},
        parallel=parallel,
    )
    told = [message.content for message in result.messages if message.role == "tool"]
    assert ran == []
    assert told[0] == "Not run: the time was up before this call began."
    assert told[1] in (told[0], "Not run: the run is being stopped.")
    assert (result.stopped, result.stop_detail["limit"]) == ("budget", "seconds")
    assert dropped == (["x"] if asked == "gate" else [])
    assert guard.statistics()["tool_calls"] == 0


async def test_a_model_whose_time_was_up_before_it_was_asked_is_not_asked(autojump_clock: Any) -> None:
    """R60 for `seconds`: a later guard took the time that was left; that turn has not begun."""
    llm = scripted_llm([])
    guards = [BudgetGuard(seconds=10), Slow(before_model=10)]
    result = await run_react_loop(llm=llm, tools=[], system="", guards=guards)
    assert (llm.seen, result.stopped, result.turns) == ([], "budget", 0)


async def test_a_guard_whose_deadline_breaks_lets_nothing_begin(autojump_clock: Any) -> None:
    """R31: fail closed, also for a handler that no cancel could cut."""

    class Broken:
        def deadline(self, state: Any) -> float:
            raise LookupError

        def before_tool(self, call: Any, state: Any) -> None:
            raise NotImplementedError

    llm = scripted_llm([])
    result = await run_react_loop(llm=llm, tools=[], system="", guards=[Broken()])
    assert (llm.seen, result.stopped) == ([], "budget")


async def test_a_budget_reached_in_mid_turn_refuses_the_rest_and_the_turn_is_persisted() -> None:
    """Section 11, 12: the record of the turn has an answer to every call."""
    turns: list[Any] = []
    tool = ReactTool(name="look", handler=lambda args, context: "seen")
    llm = scripted_llm([{"calls": [("look", {})] * 3}])
    guards = [BudgetGuard(tool_calls=1)]
    result = await run_react_loop(llm=llm, tools=[tool], system="", guards=guards, hooks={"persist_turn": turns.append})
    assert result.stopped == "budget"
    assert [(one.is_error, one.blocked) for one in turns[0].results] == [(False, False), (True, True), (True, True)]
