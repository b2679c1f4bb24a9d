"""User rules in the gate: what they change in a decision, what they never change, and how they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest

from foxloop_trio.actions import Action
from foxloop_trio.errors import GateError
from foxloop_trio.gate import DecisionEvent, GateSide, MemoryGateStore, Rule, SqliteGateStore
from foxloop_trio.gate._user_rules import MAX_RULES

SEND = Action(tool="send", args={"text": "Hello"}, domain="www.example.com", scope="submit")
LOOK = Action(tool="look", args={}, domain="example.com", scope="read")


@pytest.fixture
def s(setup: Any) -> Any:
    events: list[DecisionEvent] = []
    s = setup(on_decision=events.append)
    s.events = events
    return s


async def sending(s: Any, **options: Any) -> Any:
    return await s.host.add_grant(scope="submit", domains=["*.example.com"], **options)


async def rule(s: Any, effect: str, **fields: Any) -> Any:
    defaults: dict[str, Any] = {"site": "example.com", "scope": "submit", "effect": effect}
    return await s.host.add_rule(**defaults | fields)


def told(answer: Any) -> tuple[str, str | None, str | None]:
    return answer.decision, getattr(answer, "reason", None), answer.rule_id


@pytest.mark.parametrize(
    ("grant", "effects", "decision", "reason", "by"),
    [
        ({"approval": "never"}, [], "allow", None, None),
        ({"approval": "never"}, ["allow"], "allow", None, None),
        ({"approval": "never"}, ["ask"], "ask", None, "ask"),
        ({"approval": "never"}, ["deny"], "deny", "rule", "deny"),
        ({"approval": "never"}, ["allow", "ask"], "ask", None, "ask"),
        ({"approval": "never"}, ["allow", "ask", "deny"], "deny", "rule", "deny"),
        ({}, ["allow"], "ask", None, None),
        ({}, ["ask"], "ask", None, None),
        ({}, ["deny"], "deny", "rule", "deny"),
        ({"rules": True}, [], "ask", None, None),
        ({"rules": True}, ["allow"], "allow", None, "allow"),
        ({"rules": True}, ["allow", "ask"], "ask", None, "ask"),
        ({"rules": True}, ["ask"], "ask", None, None),
        ({"rules": True}, ["allow", "deny"], "deny", "rule", "deny"),
        (None, ["allow"], "deny", "no-grant", None),
        (None, ["ask"], "deny", "no-grant", None),
        (None, ["deny"], "deny", "rule", "deny"),
    ],
)
async def test_what_rules_change(
    s: Any, grant: dict[str, Any] | None, effects: list[str], decision: str, reason: str | None, by: str | None
) -> None:
    """UR-02, UR-05, UR-07, UR-10, UR-11: and the id is there, in the hook too, exactly when the rule changed the decision."""
    if grant is not None:
        await sending(s, **grant)
    rules = {effect: await rule(s, effect) for effect in effects}
    answer = await s.gate.check(SEND)
    assert told(answer) == (decision, reason, None if by is None else rules[by].id)
    assert (s.events[-1].decision, s.events[-1].rule_id) == (decision, answer.rule_id)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [({"max_uses": 1}, "used-up"), ({"expires_at": 1_000_001.0}, "expired"), ({"tools": ["other"]}, "no-grant")],
)
async def test_an_allow_rule_lifts_no_limit(s: Any, limit: dict[str, Any], reason: str) -> None:
    """UR-06."""
    await sending(s, rules=True, **limit)
    await rule(s, "allow")
    if reason == "used-up":
        assert (await s.gate.check(SEND)).decision == "allow"
    s.wall.at += 1
    assert (await s.gate.check(SEND)).reason == reason


async def test_an_ask_rule_sends_every_grant_to_a_human_and_their_yes_counts(s: Any) -> None:
    """UR-10: the question is put once, and redeeming tells no rule."""
    await s.host.add_grant(scope="read", domains=["example.com"])
    asking = await rule(s, "ask", scope="read")
    asked = await s.gate.check(LOOK)
    assert told(asked) == ("ask", None, asking.id)
    assert (await s.gate.check(LOOK)).request_id == asked.request_id
    allowed = await s.gate.redeem(await s.host.approve(asked.request_id), LOOK)
    assert told(allowed) == ("allow", None, None)


async def test_what_a_human_refused_stays_refused_although_a_grant_needs_none(s: Any) -> None:
    """The no of an ask rule's question is put on the rule's account."""
    await s.host.add_grant(scope="read", domains=["example.com"])
    asking = await rule(s, "ask", scope="read")
    asked = await s.gate.check(LOOK)
    await s.host.reject(asked.request_id)
    assert told(await s.gate.check(LOOK)) == ("deny", "rejected", asking.id)


async def test_a_deny_rule_stops_an_approved_action_and_spends_its_token(s: Any) -> None:
    """UR-09: at redeem, only deny matters."""
    await sending(s)
    token = await s.approved(SEND)
    await rule(s, "ask")
    denying = await rule(s, "deny")
    assert told(await s.gate.redeem(token, SEND)) == ("deny", "rule", denying.id)
    assert s.events[-1].rule_id == denying.id
    assert await s.host.remove_rule(denying.id)
    assert (await s.gate.redeem(token, SEND)).reason == "token-used"
    assert (await s.gate.redeem(await s.approved(SEND), SEND)).decision == "allow"


async def test_a_changed_action_is_told_before_the_rule(s: Any) -> None:
    """The order of redeem: the digest, then the rules."""
    await sending(s)
    token = await s.approved(SEND)
    await rule(s, "deny")
    assert (await s.gate.redeem(token, attrs.evolve(SEND, args={"text": "x"}))).reason == "action-changed"


async def test_rules_are_listed_removed_and_stop_at_once(s: Any) -> None:
    """UR-15; the hook hears of it (GB-G9)."""
    await sending(s, approval="never")
    first, second = await rule(s, "deny"), await rule(s, "ask", tool="send", site="EXAMPLE.com.")
    assert await s.host.rules() == [first, second]
    assert await s.host.remove_rule(first.id) is True
    assert await s.host.remove_rule(first.id) is False
    assert await s.host.remove_rule(5) is False  # type: ignore[arg-type]
    assert (await s.gate.check(SEND)).rule_id == second.id
    heard = [(event.kind, event.rule_id, event.decision) for event in s.events if event.kind.startswith("rule")]
    assert heard == [("rule-added", first.id, None), ("rule-added", second.id, None), ("rule-removed", first.id, None)]


async def test_an_expired_rule_is_gone_for_good(s: Any) -> None:
    """UR-08: it is over at its expiry, deleted when somebody notices, and a clock that goes back does not revive it."""
    await sending(s, approval="never")
    denying = await rule(s, "deny", expires_at=s.wall.at + 10)
    assert (await s.gate.check(SEND)).reason == "rule"
    s.wall.at += 10
    assert (await s.gate.check(SEND)).decision == "allow"
    async with s.store.transaction() as tx:
        assert await tx.rules.all() == ()
    s.wall.at -= 10
    assert (await s.gate.check(SEND)).decision == "allow"
    assert await s.host.remove_rule(denying.id) is False
    with pytest.raises(GateError, match="future") as caught:
        await rule(s, "deny", expires_at=s.wall.at + 10)
    assert caught.value.code == "bad-rule"


async def test_there_is_room_for_so_many_rules_and_expired_ones_take_none(s: Any) -> None:
    """UR-14: 500 live ones."""
    for _ in range(MAX_RULES - 1):
        await rule(s, "allow")
    await rule(s, "allow", expires_at=s.wall.at + 10)
    with pytest.raises(GateError, match="remove some") as caught:
        await rule(s, "allow")
    assert caught.value.code == "bad-rule"
    s.wall.at += 10
    await rule(s, "allow")
    assert len(await s.host.rules()) == MAX_RULES


@pytest.mark.parametrize("broken", [{"site": "www.example.com"}, {"scope": "pay"}, {"tool": "nobody"}], ids=str)
async def test_broken_stored_rules_deny_everything(s: Any, broken: dict[str, Any]) -> None:
    """UR-12: also what no rule speaks of, since the broken one may have been a deny."""
    await sending(s)
    token = await s.approved(SEND)
    fields: dict[str, Any] = {"id": "r", "created_at": 1.0, "site": "example.com", "scope": "submit", "effect": "allow"}
    async with s.store.transaction() as tx:
        await tx.rules.put(Rule(**fields | broken))
    s.events.clear()
    assert told(await s.gate.check(LOOK)) == ("deny", "storage-error", None)
    assert told(await s.gate.redeem(token, SEND)) == ("deny", "storage-error", None)
    for call in (s.host.rules(), s.host.remove_rule("r"), rule(s, "deny")):
        with pytest.raises(GateError) as caught:
            await call
        assert caught.value.code == "bad-state"
    assert s.events == [], "nothing was decided"


@pytest.mark.parametrize("answer", ["soon", float("nan"), True])
async def test_rule_methods_need_the_clock(s: Any, answer: Any) -> None:
    """CK-01."""
    s.wall.answer = answer
    for call in (s.host.rules(), s.host.remove_rule("r"), rule(s, "deny")):
        with pytest.raises(GateError) as caught:
            await call
        assert caught.value.code == "bad-state"


async def test_a_hook_that_fails_keeps_a_rule_from_being_added_or_removed(setup: Any) -> None:
    """GB-G9."""
    failing: list[bool] = []

    def hook(event: DecisionEvent) -> None:
        if failing:
            raise ValueError("no")

    s = setup(on_decision=hook)
    kept = await rule(s, "deny")
    failing.append(True)
    for call in (rule(s, "ask"), s.host.remove_rule(kept.id)):
        with pytest.raises(GateError) as caught:
            await call
        assert caught.value.code == "hook-failed"
    failing.clear()
    assert await s.host.rules() == [kept]


async def test_rules_outlive_the_process_in_a_file(setup: Any, tmp_path: Path) -> None:
    """UR-16: another gate on the same file keeps to them."""
    async with SqliteGateStore(tmp_path / "gate.db") as store:
        s = setup(store=store)
        denying = await rule(s, "deny", tool="send", expires_at=s.wall.at + 50)
    async with SqliteGateStore(tmp_path / "gate.db") as store:
        again = setup(store=store, now=s.wall)
        assert await again.host.rules() == [denying]
        assert (await again.gate.check(SEND)).rule_id == denying.id
        s.wall.at += 50
        assert (await again.gate.check(SEND)).reason == "no-grant"
    async with SqliteGateStore(tmp_path / "gate.db") as store, store.transaction() as tx:
        assert list(await tx.rules.all()) == []


async def test_lost_rules_are_no_rules(setup: Any) -> None:
    """GR-13: a new memory store knows of none."""
    s = setup(store=MemoryGateStore())
    assert await s.host.rules() == []


def test_the_planner_side_has_no_rule_methods() -> None:
    """UR-17."""
    assert [name for name in dir(GateSide) if "rule" in name] == []
