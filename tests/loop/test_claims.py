"""Claims, batches and results: the rules of sections 4, 6, 7 and 8 that no other file names. By hand where it can be."""

from __future__ import annotations

import json
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, CheckLine, CheckResult, ToolOutput
from foxloop_trio.loop import Budget
from foxloop_trio.loop._effects import (
    AskPlanner,
    Emit,
    GateCheck,
    Limit,
    Ok,
    Raised,
    RunCheck,
    RunTool,
    Stop,
    ToolEnd,
    Turn,
    as_effect,
)
from foxloop_trio.loop._engine import Engine, Setup
from foxloop_trio.planners import function_planner
from foxloop_trio.ports import ChatReply
from foxloop_trio.tools import Tool, define_tools

PASS = CheckResult(ok=True)
FAIL = CheckResult(ok=False, problem="no")


def results(events: list[Any]) -> list[str | None]:
    return [event.reason for event in events if event.type == "tool-result"]


async def yes(request: Any) -> str:
    return "t"


# Claims


async def test_a_failing_text_claim_is_answered_by_a_user_message_and_a_finish_by_a_tool_message(parts: Any) -> None:
    """7.4, feedback: the failed lines only between the markers, joined with "; ", the problem last."""
    lines = (CheckLine(part="name", ok=False, evidence="empty"), CheckLine(part="mail", ok=True), CheckLine(part="plan", ok=False))
    verdict = CheckResult(ok=False, checks=lines, problem="still open")
    for claim, role in ((parts.reply(text="ready"), "user"), (parts.FINISH, "tool")):
        bench = parts.Bench(claim, parts.FINISH, check=lambda given: verdict)
        events = await bench.run()
        feedback = bench.planner.seen[1][-1]
        assert feedback["role"] == role
        before, between = feedback["content"].split("<<<DATA")
        assert "name: empty; plan: ; still open" in between
        assert "empty" not in before
        assert events[-1].message == "name: empty; plan: ; still open"


@pytest.mark.parametrize("disguise", ["plain", "escaped"])
async def test_a_claim_that_copies_a_marker_fails_and_counts_and_the_check_is_not_asked(parts: Any, disguise: str) -> None:
    """GB-L10: the nonce test of 7.1 holds for `finish` too."""
    asked: list[Any] = []

    def check(given: Any) -> CheckResult:
        asked.append(given)
        return PASS

    def copies(messages: list[Any]) -> Any:
        nonce = messages[1]["content"].split("DATA ")[1][:16]
        text = json.dumps({"summary": f"ok {nonce}"})
        if disguise == "escaped":
            text = text.replace(nonce[0], f"\\u00{ord(nonce[0]):02x}", 1) if nonce[0] not in "sumaryok" else text
        return parts.reply({"name": "finish", "args": text})

    bench = parts.Bench(copies, copies, check=check)
    events = await bench.run()
    assert ([event.type for event in events].count("check"), events[-1].reason, asked) == (2, "check-failed", [])


async def test_a_passing_finish_in_a_batch_ends_the_run_before_the_calls_after_it(parts: Any) -> None:
    """7.5: a stop exists, so the rest is neither examined nor run."""
    calls = [parts.call(text="a"), parts.FINISH["calls"][0], parts.call(text="b")]
    bench = parts.Bench(parts.reply(*calls))
    events = await bench.run()
    assert (parts.told(events)[-2:], bench.notes) == (["check", "done"], ["a"])


async def test_a_failing_finish_ends_its_batch_and_the_rest_is_skipped(parts: Any) -> None:
    """7.5 and section 20: we skip where the reference goes on; pairing holds."""
    calls = [parts.FINISH["calls"][0], parts.call(text="b"), parts.FINISH["calls"][0]]
    bench = parts.Bench(parts.reply(*calls), parts.reply(parts.call(text="c")), max_steps=2)
    events = await bench.run()
    assert results(events) == ["skipped", "skipped", None]
    messages = bench.planner.seen[1]
    assert [message["tool_call_id"] for message in messages[3:6]] == [call["id"] for call in messages[2]["tool_calls"]]
    assert [event.type for event in events].count("check") == 1


async def test_a_finish_next_to_one_call_is_handled_when_one_call_is_the_limit(parts: Any) -> None:
    """7.5: a claim is no call that counts."""
    bench = parts.Bench(parts.reply(parts.call(text="a"), parts.FINISH["calls"][0]), max_calls_per_turn=1)
    events = await bench.run()
    assert (parts.told(events)[-1], bench.notes) == ("done", ["a"])


async def test_the_check_of_a_form_that_was_sent_holds_though_calls_after_it_were_skipped(parts: Any) -> None:
    """7.5: a skipped call leaves the last check alone, or the check of a send could never pass."""
    calls = [parts.call(text="a"), parts.call(text="b"), parts.FINISH["calls"][0]]
    bench = parts.Bench(parts.reply(*calls), parts.FINISH, tools=[parts.save_note([], scope="submit")])
    events = await bench.run()
    assert (results(events), events[-1].type) == ([None, "skipped", "skipped"], "done")


async def test_a_payment_ends_its_batch_as_a_send_does(parts: Any) -> None:
    """7.5: submit and pay."""
    from foxloop_trio.actions import Money

    notes: list[str] = []
    tool = parts.save_note(notes, scope="pay", amount=lambda args: Money(value=1, currency="EUR"))
    bench = parts.Bench(parts.reply(parts.call(text="a"), parts.call(text="b")), tools=[tool], max_steps=1)
    assert (results(await bench.run()), notes) == ([None, "skipped"], ["a"])


async def test_skipped_calls_are_no_failures_and_no_repetitions(parts: Any) -> None:
    """7.5 and 11: neither count, nor start a count anew."""
    batch = parts.reply(*[parts.call(text="same") for _ in range(4)])
    bench = parts.Bench(batch, parts.reply(parts.call(text="other")), batch, parts.FINISH, max_calls_per_turn=1)
    events = await bench.run()
    assert results(events) == [None, "skipped", "skipped", "skipped", None, None, "skipped", "skipped", "skipped"]
    assert events[-1].type == "done"
    bad = parts.call()
    failing = parts.reply(bad, parts.call(text="x"))
    others = [parts.reply({"name": "save_note", "args": args}) for args in ({"text": 1}, {"text": 2})]
    events = await parts.Bench(failing, *others).run()
    assert (results(events), events[-1].reason) == (["invalid-args", "skipped", "invalid-args", "invalid-args"], "repeated-failure")


@pytest.mark.parametrize("case", ["claim between", "failed claim is no failure"])
async def test_a_claim_touches_neither_repeats_nor_failures(parts: Any, case: str) -> None:
    """7.4: two identical calls with a `finish` between them are two in a row; a failing claim is no failed result."""
    same, claim, bad = parts.reply(parts.call(text="a")), parts.FINISH, parts.reply(parts.call())
    if case == "claim between":
        events = await parts.Bench(same, claim, same, same, check=lambda given: FAIL).run()
        assert (events[-1].reason, [event.type for event in events].count("tool-call")) == ("repeated-call", 2)
    else:
        other = parts.reply({"name": "save_note", "args": {"text": 1}})
        events = await parts.Bench(bad, other, claim, parts.FINISH, check=lambda given: FAIL).run()
        assert events[-1].reason == "check-failed"


async def test_the_first_read_may_pass_a_check_that_a_claim_rests_on(parts: Any) -> None:
    """Section 8: a passing check from it sets the last check like any result."""
    look = parts.save_note([], name="look", scope="read", parameters={"type": "object"}, run=seen(PASS))
    assert (await parts.Bench(parts.FINISH, tools=[look], first_read="look").run())[-1].type == "done"


def seen(check: Any, ok: bool = True) -> Any:
    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=ok, summary="Seen.", check=check)

    return run


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"budget": Budget(tool_calls=0)}, ["plan"]),
        ({"gate": RuntimeError("broken")}, ["tool-call", "blocked gate-error"]),
        ({"run": "raises"}, ["tool-call", "decision allow", "tool-result tool-error", "plan"]),
        ({"budget": Budget(tool_seconds=5), "run": "hangs"}, ["tool-call", "decision allow", "tool-result timeout", "plan"]),
        ({"budget": Budget(seconds=5), "run": "hangs"}, ["tool-call", "decision allow", "blocked budget"]),
    ],
)
async def test_a_first_read_that_cannot_be_had_is_skipped_or_failed_and_a_broken_gate_ends_the_run(
    parts: Any, options: dict[str, Any], wanted: list[str], autojump_clock: Any
) -> None:
    """Section 8.3 to 8.7."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        if how == "hangs":
            await trio.sleep_forever()
        raise ValueError("no page")

    how = options.pop("run", None)
    gate = options.pop("gate", "allow")
    look = parts.save_note([], name="look", scope="read", parameters={"type": "object"}, run=run if how else seen(None))
    bench = parts.Bench(parts.FINISH, parts.FINISH, tools=[look], first_read="look", gate=parts.StubGate(gate), **options)
    events = await bench.run()
    assert parts.told(events)[: len(wanted)] == wanted
    if "plan" in wanted:
        assert len(bench.planner.seen[0]) == 2


# What a tool is given, and what is made of what it returns


async def test_each_function_of_a_tool_gets_what_is_known_by_then(parts: Any) -> None:
    """Section 4: domain unset for prepare and domain, the tool's own for describe, the gate's for run; one run id per run."""
    seen_by: dict[str, Any] = {}

    def note(name: str, value: Any) -> Any:
        def hook(args: Any, ctx: Any) -> Any:
            seen_by[name] = ctx
            return value if value is not None else args

        return hook

    async def run(args: Any, ctx: Any) -> ToolOutput:
        seen_by["run"] = ctx
        return ToolOutput(ok=True, summary="Saved.", check=PASS)

    gate = parts.StubGate("ask", "ask")

    def normal(action: Action) -> Any:
        return gate.allow(Action(tool=action.tool, args=dict(action.args), domain="shop.test", scope=action.scope))

    gate.redeem_answers = [normal, normal]
    tool = parts.save_note(
        [], prepare=note("prepare", None), domain=note("domain", "Shop.TEST"), describe=note("describe", 5), run=run
    )
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), parts.FINISH, parts.reply(parts.call(text="b")), parts.FINISH, gate=gate, tools=[tool],
        on_approval=yes, cancel_grace=7,
    )  # fmt: skip
    ids = []
    for _ in range(2):
        events = await bench.run("Do it")
        assert {name: ctx.domain for name, ctx in seen_by.items()} == {
            "prepare": None, "domain": None, "describe": "Shop.TEST", "run": "shop.test",
        }  # fmt: skip
        assert {(ctx.step, ctx.goal, ctx.cancel_grace) for ctx in seen_by.values()} == {(1, "Do it", 7.0)}
        assert [ctx.permit is not None for ctx in seen_by.values()] == [False, False, False, True]
        (run_id,) = {ctx.run_id for ctx in seen_by.values()}
        assert run_id == bench.last.id
        ids.append(run_id)
        assert next(event.detail for event in events if event.type == "approval-needed") == "5"
    assert ids[0] != ids[1]


async def test_texts_are_cut_at_their_limits_in_events(parts: Any) -> None:
    """13.5 and GB-L17: 2000 for a summary and a description, 500 for the words of an exception; data goes to the host only."""

    async def run(args: Any, ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary="s" * 3000, data={"secret": "for the host"}, check=PASS)

    tool = parts.save_note([], run=run, describe=lambda args, ctx: "d" * 3000)
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), parts.FINISH, gate=parts.StubGate("ask"), on_approval=yes, tools=[tool],
    )  # fmt: skip
    events = await bench.run()
    assert next(event.detail for event in events if event.type == "approval-needed") == "d" * 2000
    result = next(event for event in events if event.type == "tool-result")
    assert (result.summary, result.data) == ("s" * 2000, {"secret": "for the host"})
    told = bench.planner.seen[1][-1]["content"]
    assert "for the host" not in told
    assert told.endswith("s [cut]")


LONG = "e" * 900


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ("planner", "model-error"), ("gate", "gate-error"), ("redeem", "gate-error"), ("approver", "approval-error"),
        ("describe", "approval-error"), ("trail", "trail-failed"),
    ],
)  # fmt: skip
async def test_what_raises_blocks_the_run_with_its_own_reason_and_at_most_five_hundred_characters(
    parts: Any, where: str, reason: str
) -> None:
    """Section 2.1; a tool's own errors are failed results and stand elsewhere."""

    async def fail(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(LONG)

    class Sink(parts.MemorySink):  # type: ignore[misc,name-defined]
        async def append(self, *, actor: str, kind: str, data: Any) -> None:
            if where == "trail" and kind == "loop.decision":
                raise RuntimeError(LONG)
            await super().append(actor=actor, kind=kind, data=data)

    gate = parts.StubGate({"gate": RuntimeError(LONG), "trail": "allow"}.get(where, "ask"))
    gate.redeem_answers = [RuntimeError(LONG)] if where == "redeem" else []
    options = {"planner": function_planner(fail)} if where == "planner" else {}
    notes: list[str] = []
    bench = parts.Bench(
        parts.reply(parts.call(text="a")), gate=gate, on_approval=fail if where == "approver" else yes, sink=Sink(),
        tools=[parts.save_note(notes, **({"describe": fail} if where == "describe" else {}))], max_steps=1, **options,
    )  # fmt: skip
    events = await bench.run()
    assert (events[-1].reason, events[-1].message, notes) == (reason, LONG[:500], [])


async def test_the_plan_says_who_answered(parts: Any) -> None:
    """Section 2: provider and tier, when the reply names them."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        return ChatReply(message={"content": "ready"}, provider="local", tier="small")

    events = await parts.Bench(planner=function_planner(plan), max_steps=1).run()
    assert (events[0].provider, events[0].tier, events[0].text) == ("local", "small", "ready")


async def test_a_request_carries_the_tools_in_their_order_and_finish_last(parts: Any) -> None:
    """Section 3; the same list each time."""
    given: list[Any] = []

    async def plan(messages: Any, tools: Any) -> ChatReply:
        given.append([tool["function"]["name"] for tool in tools])
        return ChatReply(message={"content": "ready"})

    await parts.Bench(planner=function_planner(plan), tools=[parts.save_note([], name=name) for name in ("b", "a")]).run()
    assert given == [["b", "a", "finish"]] * 2


async def test_the_human_is_asked_about_the_very_action_of_the_event(parts: Any) -> None:
    """7.3: the same fields plus the step; the same action goes to redeem."""
    asked: list[Any] = []

    async def approve(request: Any) -> str:
        asked.append(request)
        return "token"

    bench = parts.Bench(
        parts.reply(parts.call(text="a")), parts.FINISH, gate=parts.StubGate("ask"), on_approval=approve,
        tools=[parts.save_note([], describe=lambda args, ctx: "Save a")],
    )  # fmt: skip
    events = await bench.run()
    needed = next(event for event in events if event.type == "approval-needed")
    (request,) = asked
    for name in ("request_id", "action", "expires_at", "detail", "step"):
        assert getattr(request, name) == getattr(needed, name)
    assert request.call_id == needed.id
    assert bench.gate.redeemed == [("token", needed.action)]


# By hand: the engine without a loop


NONCE = "00112233aabbccdd"


class Hand:
    """Drives an engine; `special` maps an effect class or an event type to the answers of its occurrences in turn."""

    def __init__(self, parts: Any, *replies: Any, **changes: Any) -> None:
        self.gate = parts.StubGate()
        fields: dict[str, Any] = {
            "goal": "g", "run_id": "r", "nonce": NONCE, "tools": define_tools([parts.save_note([])]), "max_steps": 20,
            "max_calls_per_turn": 4, "budget": Budget(), "can_ask": False, "has_check": False, "recorded": False,
            "cancel_grace": 5.0, "start_record": {},
        }  # fmt: skip
        self.engine = Engine(Setup(**{**fields, **changes}))
        self.replies = list(replies)
        self.effects: list[Any] = []

    def drive(self, special: dict[Any, list[Any]] | None = None) -> list[Any]:
        left = special or {}
        steps = self.engine.run()
        effect: Any = as_effect(next(steps))
        try:
            while True:
                self.effects.append(effect)
                key = effect.event.type if isinstance(effect, Emit) else type(effect)
                effect = as_effect(steps.send(left[key].pop(0) if left.get(key) else self._dull(effect)))
        except StopIteration:
            return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    def _dull(self, effect: Any) -> Any:
        match effect:
            case AskPlanner():
                return Ok(self.replies.pop(0))
            case GateCheck(action=action):
                return Ok(self.gate.allow(action))
            case RunTool():
                return Ok(ToolEnd(output=ToolOutput(ok=True, summary="Saved.", check=PASS)))
            case Turn():
                return Ok(True)
            case _:
                return Ok()

    def kinds(self) -> list[str]:
        return [effect.event.type if isinstance(effect, Emit) else type(effect).__name__ for effect in self.effects]


def chat(*calls: tuple[str, str], text: str | None = None) -> ChatReply:
    listed = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": args}}
        for number, (name, args) in enumerate(calls, 1)
    ]
    return ChatReply(message={"role": "assistant", "content": text, "tool_calls": listed})


SAVE = chat(("save_note", '{"text": "a"}'))


@pytest.mark.parametrize(
    ("answer", "end"),
    [
        (Stop("abort"), "aborted"),
        (Limit("seconds"), "blocked"),
        (Limit("planner_seconds"), "blocked"),
        (Raised("x", "X"), "blocked"),
    ],
)
def test_a_request_that_was_cut_or_raised_makes_no_plan_and_adds_no_tokens(parts: Any, answer: Any, end: str) -> None:
    """Cycle steps 6 and 7: aborted even when a reply arrived."""
    hand = Hand(parts, SAVE)
    events = hand.drive({AskPlanner: [answer]})
    assert ([event.type for event in events], events[0].step, hand.engine.tokens) == ([end], 1, 0)


def test_a_message_in_the_history_has_calls_only_when_there_are_some(parts: Any) -> None:
    """Cycle step 10."""
    hand = Hand(parts, chat(text="ready"), SAVE, chat(text="again"))
    hand.drive()
    sent = [effect for effect in hand.effects if isinstance(effect, AskPlanner)][-1].messages
    assistants = [message for message in sent if message["role"] == "assistant"]
    assert [("tool_calls" in message, message["content"]) for message in assistants] == [(False, "ready"), (True, None)]


def test_the_repeat_is_found_before_the_arguments_are_looked_at(parts: Any) -> None:
    """7.1 step 2: nothing is emitted for the call itself."""
    hand = Hand(parts, SAVE, SAVE, SAVE)
    events = hand.drive()
    assert [event.type for event in events][-2:] == ["plan", "blocked"]
    assert events[-1].reason == "repeated-call"


def test_the_steps_of_a_call_come_in_the_order_of_the_specification(parts: Any) -> None:
    """7.1: tool-call, prepare, domain, redaction of what was prepared, gate, decision, approval, redeem, turn, run, result."""
    from foxloop_trio.actions import Ask

    def hook(args: Any, ctx: Any) -> Any:
        return args

    tool = parts.save_note([], prepare=hook, domain=hook, describe=hook, redact=lambda args: args)
    hand = Hand(parts, SAVE, tools=define_tools([tool]), can_ask=True, max_steps=1)
    from foxloop_trio.loop._effects import AskHuman, Describe, Domain, GateRedeem, Prepare, Redact

    args = {"text": "a"}
    action = Action(tool="save_note", args=args, domain="notes.local", scope="fill")
    hand.drive(
        {
            Redact: [Ok(args), Ok(args)], Prepare: [Ok(args)], Domain: [Ok("notes.local")], Describe: [Ok("Save")],
            GateCheck: [Ok(Ask(grant_id="g", request_id="r", expires_at=9.0))], AskHuman: [Ok("t")],
            GateRedeem: [Ok(hand.gate.allow(action))],
        }
    )  # fmt: skip
    assert hand.kinds() == [
        "Note", "Turn", "AskPlanner", "Redact", "plan", "tool-call", "Prepare", "Domain", "Redact", "GateCheck", "decision", "Turn",
        "Describe", "approval-needed", "AskHuman", "GateRedeem", "decision", "Turn", "RunTool", "ClosePermit", "tool-result",
        "Turn", "blocked",
    ]  # fmt: skip


def test_a_bad_call_goes_no_further_than_its_result(parts: Any) -> None:
    """7.1: a call that failed in steps 5 to 9 never reaches the gate, and no permit is closed for it."""
    hand = Hand(parts, chat(("save_note", "{}")), max_steps=1)
    hand.drive()
    assert hand.kinds() == ["Note", "Turn", "AskPlanner", "plan", "tool-call", "tool-result", "Turn", "blocked"]


def test_a_host_check_that_is_cut_by_the_runs_time_ends_the_run(parts: Any) -> None:
    """GB-L2: the completion check is a wait like any other."""
    hand = Hand(parts, chat(text="ready"), has_check=True)
    events = hand.drive({RunCheck: [Limit("seconds")]})
    assert [(event.type, getattr(event, "limit", None)) for event in events] == [("plan", None), ("blocked", "seconds")]


def test_the_same_call_is_held_back_after_an_effect_that_nobody_knows(parts: Any) -> None:
    """Ruling 7 and 44: in-doubt, without the gate; another call is not held back."""
    other = chat(("save_note", '{"text": "b"}'))
    hand = Hand(parts, SAVE, SAVE, other, max_steps=3)
    events = hand.drive({RunTool: [Limit("tool_seconds")]})
    assert results(events) == ["timeout", "in-doubt", None]
    assert hand.kinds().count("GateCheck") == 2


def test_a_read_that_was_cut_is_not_in_doubt(parts: Any) -> None:
    """Ruling 44: looking twice does no harm."""
    look = Tool(
        name="save_note", description="", parameters={"type": "object", "additionalProperties": True}, scope="read",
        domain="notes.local", run=seen(None),
    )  # fmt: skip
    hand = Hand(parts, SAVE, SAVE, tools=define_tools([look]), max_steps=2)
    assert results(hand.drive({RunTool: [Limit("tool_seconds")]})) == ["timeout", None]
