"""The engine driven by hand: no event loop, no clock, just effects and answers."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.actions import Action, Allow, Effect, ToolOutput
from foxloop_trio.loop._budget import Budget
from foxloop_trio.loop._effects import (
    AskPlanner,
    ClosePermit,
    Emit,
    GateCheck,
    Limit,
    Note,
    Ok,
    Raised,
    RunTool,
    Stop,
    ToolEnd,
    TrailFailed,
    Turn,
)
from foxloop_trio.loop._engine import Engine, Setup
from foxloop_trio.ports import ChatReply
from foxloop_trio.tools import define_tools

NONCE = "00112233aabbccdd"


class Hand:
    """Drives an engine: answers what is dull by itself, keeps what matters, and lets a test answer any effect its own way."""

    def __init__(self, parts: Any, replies: list[Any], **changes: Any) -> None:
        self.gate = parts.StubGate()
        fields: dict[str, Any] = {
            "goal": "Save a note",
            "run_id": "run-1",
            "nonce": NONCE,
            "tools": define_tools([parts.save_note([])]),
            "max_steps": 20,
            "max_calls_per_turn": 4,
            "budget": Budget(),
            "can_ask": False,
            "has_check": False,
            "recorded": True,
            "cancel_grace": 5.0,
            "start_record": {},
        }
        self.engine = Engine(Setup(**{**fields, **changes}))
        self.replies = list(replies)
        self.effects: list[Any] = []

    def drive(self, special: dict[Any, Any] | None = None) -> list[Any]:
        """To the end; `special` maps a predicate-free key (effect class or event type) to the answer for its first occurrence."""
        left = dict(special or {})
        steps = self.engine.run()
        effect = next(steps)
        try:
            while True:
                self.effects.append(effect)
                key = effect.event.type if isinstance(effect, Emit) else type(effect)
                answer = left.pop(key) if key in left else self._dull(effect)
                effect = steps.send(answer)
        except StopIteration:
            return [effect.event for effect in self.effects if isinstance(effect, Emit)]

    def _dull(self, effect: Any) -> Any:
        match effect:
            case AskPlanner():
                return Ok(self.replies.pop(0))
            case GateCheck(action=action):
                return Ok(self.gate.allow(action))
            case RunTool():
                return Ok(ToolEnd(output=ToolOutput(ok=True, summary="Saved.")))
            case Turn():
                return Ok(True)
            case _ if type(effect).__name__ == "Domain":
                return Ok("notes.local")
            case _:
                return Ok()


def chat(*calls: tuple[str, str], text: str | None = None) -> ChatReply:
    listed = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": args}}
        for number, (name, args) in enumerate(calls, 1)
    ]
    return ChatReply(message={"role": "assistant", "content": text, "tool_calls": listed})


SAVE = chat(("save_note", '{"text": "Buy milk"}'))


def kinds(hand: Hand) -> list[str]:
    return [type(effect).__name__ for effect in hand.effects]


def test_one_allowed_call_asks_for_its_effects_in_the_order_of_the_protocol(parts: Any) -> None:
    """Note, turn, planner, event by event: the protocol of one call, effect by effect."""
    hand = Hand(parts, [SAVE], max_steps=1)
    hand.drive()
    assert kinds(hand) == [
        "Note", "Turn", "Note", "AskPlanner", "Emit", "Emit", "GateCheck", "Emit", "Turn", "RunTool", "ClosePermit",
        "Emit", "Turn", "Emit",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("where", "in_flight"),
    [("plan", False), ("tool-call", False), (GateCheck, False), ("decision", False), (RunTool, True), ("tool-result", False)],
)
def test_after_a_stop_only_notes_the_closing_of_the_permit_and_one_stop_event_follow(
    parts: Any, where: Any, in_flight: bool
) -> None:
    """Stop means stop: nothing is asked of planner, gate or tool any more, wherever the stop arrives."""
    hand = Hand(parts, [SAVE])
    answer = Stop("abort", ToolEnd(effect=Effect(state="partial", done=["a"]))) if where is RunTool else Stop("abort")
    events = hand.drive({where: answer})
    at = next(i for i, e in enumerate(hand.effects) if (e.event.type if isinstance(e, Emit) else type(e)) == where)
    after = hand.effects[at + 1 :]
    assert {type(effect) for effect in after} <= {Note, ClosePermit, Emit}
    assert [event.type for event in events].count("aborted") == 1
    assert events[-1].type == "aborted"
    assert (events[-1].in_flight is not None) is in_flight


def test_a_call_that_was_allowed_but_never_started_is_noted_as_such_and_its_permit_released(parts: Any) -> None:
    """Without the note a later resume would call it in doubt."""
    hand = Hand(parts, [SAVE])
    hand.drive({"decision": Stop("left")})
    notes = [effect.data for effect in hand.effects if isinstance(effect, Note) and effect.kind == "loop.effect"]
    assert [(note["id"], note["state"]) for note in notes] == [("c1", "not-started")]
    assert [effect.how for effect in hand.effects if isinstance(effect, ClosePermit)] == ["release"]


def test_a_tool_that_was_stopped_without_a_report_is_unknown_and_its_money_stays_spent(parts: Any) -> None:
    """An effect that nobody can tell is never given back."""
    hand = Hand(parts, [SAVE])
    events = hand.drive({RunTool: Stop("abort", ToolEnd(effect=Effect(state="unknown")))})
    assert [effect.how for effect in hand.effects if isinstance(effect, ClosePermit)] == ["settle"]
    assert events[-1].in_flight.effect.state == "unknown"


def test_a_value_that_came_after_the_stop_goes_into_the_effect_note(parts: Any) -> None:
    """Nothing that a late tool said is lost, and nothing of it reaches the planner."""
    hand = Hand(parts, [SAVE])
    late = ToolEnd(output=ToolOutput(ok=True, summary="Saved late."), effect=Effect(state="done"))
    hand.drive({RunTool: Stop("abort", late)})
    note = next(effect.data for effect in hand.effects if isinstance(effect, Note) and effect.kind == "loop.effect")
    assert note["late"] == {"ok": True, "summary": "Saved late."}
    assert note["state"] == "done"


@pytest.mark.parametrize("where", ["plan", "tool-call", "decision", "tool-result", Note])
def test_a_record_that_cannot_be_written_ends_the_run_before_anything_else_happens(parts: Any, where: Any) -> None:
    """The trail never lies: what is not on record does not go on."""
    hand = Hand(parts, [SAVE])
    events = hand.drive({where: TrailFailed("disk full")})
    assert events[-1].type == "blocked"
    assert (events[-1].reason, events[-1].message) == ("trail-failed", "disk full")
    if where == "decision":
        assert RunTool not in {type(effect) for effect in hand.effects}
        assert [effect.how for effect in hand.effects if isinstance(effect, ClosePermit)] == ["release"]


def test_done_becomes_trail_failed_when_it_cannot_be_recorded(parts: Any) -> None:
    """A run is only done when that is on record."""
    hand = Hand(parts, [chat(("finish", '{"summary": "x"}'))], has_check=True)
    from foxloop_trio.actions import CheckResult
    from foxloop_trio.loop._effects import RunCheck

    events = hand.drive({RunCheck: Ok(CheckResult(ok=True)), "done": TrailFailed("disk full")})
    assert [event.type for event in events][-2:] == ["done", "blocked"]
    assert events[-1].reason == "trail-failed"


@pytest.mark.parametrize(("ok", "end"), [(True, "done"), (False, "blocked")])
def test_time_that_runs_out_while_a_check_is_held_is_overlooked_only_when_it_passed(parts: Any, ok: bool, end: str) -> None:
    """Ruling 4."""
    from foxloop_trio.actions import CheckResult
    from foxloop_trio.loop._effects import RunCheck

    hand = Hand(parts, [chat(text="ready")], has_check=True)
    events = hand.drive({RunCheck: Ok(CheckResult(ok=ok)), "check": Limit("seconds")})
    assert events[-1].type == end
    if not ok:
        assert events[-1].reason == "budget"


def test_a_permit_that_lapsed_in_waiting_is_asked_for_anew(parts: Any) -> None:
    """A fresh gate answer, not an old leave."""
    hand = Hand(parts, [SAVE], max_steps=1)
    steps = hand.engine.run()
    effect: Any = next(steps)
    lapses = 1
    try:
        while True:
            hand.effects.append(effect)
            if isinstance(effect, Turn) and effect.kind == "tool" and lapses:
                lapses -= 1
                effect = steps.send(Ok(False))
            else:
                effect = steps.send(hand._dull(effect))
    except StopIteration:
        pass
    assert kinds(hand).count("GateCheck") == 2
    assert [effect.how for effect in hand.effects if isinstance(effect, ClosePermit)] == ["release", "settle"]


def test_a_gate_that_lets_every_leave_lapse_ends_the_run(parts: Any) -> None:
    """The asking anew is finite."""
    hand = Hand(parts, [SAVE])
    steps = hand.engine.run()
    effect: Any = next(steps)
    try:
        while True:
            hand.effects.append(effect)
            lapsed = isinstance(effect, Turn) and effect.kind == "tool"
            effect = steps.send(Ok(False) if lapsed else hand._dull(effect))
    except StopIteration:
        pass
    assert effect.event.reason == "gate-deny"
    assert RunTool not in {type(effect) for effect in hand.effects}


def test_a_peer_that_is_gone_for_good_ends_the_run_before_the_planner_is_asked(parts: Any) -> None:
    """Ruling 9: no planner call is made while the browser is away."""
    hand = Hand(parts, [SAVE])
    events = hand.drive({Turn: Raised("the browser is gone", "BrowserError")})
    assert (events[-1].type, events[-1].reason) == ("blocked", "browser-lost")
    assert AskPlanner not in {type(effect) for effect in hand.effects}


def test_a_tool_that_raised_after_saying_it_did_nothing_gives_its_leave_back(parts: Any) -> None:
    """Release is for what certainly was not done."""
    hand = Hand(parts, [SAVE], max_steps=1)
    events = hand.drive({RunTool: Raised("no", "ValueError", False, ToolEnd(effect=Effect(state="not-started")))})
    assert [effect.how for effect in hand.effects if isinstance(effect, ClosePermit)] == ["release"]
    result = next(event for event in events if event.type == "tool-result")
    assert (result.ok, result.reason, result.detail) == (False, "tool-error", "no")


def test_the_recorded_arguments_carry_a_digest_that_only_the_nonce_can_repeat(parts: Any) -> None:
    """Equal arguments of two runs cannot be told from the trail alone."""
    digests = []
    for nonce in (NONCE, "ffffffffffffffff"):
        hand = Hand(parts, [SAVE], nonce=nonce, max_steps=1)
        hand.drive()
        record = next(e.record for e in hand.effects if isinstance(e, Emit) and e.event.type == "tool-call")
        digests.append(record["args_digest"])
    assert digests[0] != digests[1]
    assert all(len(digest) == 64 for digest in digests)


def test_the_gate_is_asked_with_what_was_prepared_and_never_with_an_amount(parts: Any) -> None:
    """The gate computes amounts itself."""
    seen: list[Action] = []
    hand = Hand(parts, [SAVE], max_steps=1)

    class Watch(type(hand.gate)):  # type: ignore[misc]
        def allow(self, action: Action) -> Allow:
            seen.append(action)
            return super().allow(action)

    hand.gate = Watch()
    hand.drive()
    assert seen == [Action(tool="save_note", args={"text": "Buy milk"}, domain="notes.local", scope="fill")]
