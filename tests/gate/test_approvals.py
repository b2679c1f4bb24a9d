"""One-time approvals: bound to the exact action, good once, gone when in doubt."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action
from foxloop_trio.errors import GateError
from foxloop_trio.gate import DecisionEvent, GateKey, MemoryGateStore, create_gate


@pytest.fixture
async def s(setup: Any) -> Any:
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    return s


async def test_an_approved_action_runs_once(s: Any) -> None:
    """AP-01, AS-03: the second time the token is used."""
    token = await s.approved(s.send())
    assert (await s.gate.redeem(token, s.send())).action == s.send()
    assert (await s.gate.redeem(token, s.send())).reason == "token-used"
    assert [grant.uses for grant in await s.host.grants()] == [1]


@pytest.mark.parametrize(
    "changed",
    [
        {"args": {"text": "Hello!"}},
        {"args": {"text": "hello"}},
        {"args": {"text": "Hello", "more": None}},
        {"args": {}},
        {"domain": "other.local"},
        {"tool": "post"},
    ],
)
async def test_a_changed_action_is_refused_and_spends_the_token(setup: Any, changed: dict[str, Any]) -> None:
    """AP-02, AP-13, AS-02: action-changed, then token-used, also for the right action."""
    s = setup(tools={"send": "submit", "post": "submit"})
    await s.host.add_grant(scope="submit", domains=["notes.local", "other.local"])
    token = await s.approved(s.send())
    other = {"tool": "send", "args": {"text": "Hello"}, "domain": "notes.local", "scope": "submit"} | changed
    assert (await s.gate.redeem(token, other)).reason == "action-changed"
    assert (await s.gate.redeem(token, s.send())).reason == "token-used"


async def test_key_order_number_spelling_and_host_spelling_do_not_matter(s: Any) -> None:
    """AP-03, ruling 16."""
    token = await s.approved(Action(tool="send", args={"a": 1.0, "b": -0.0}, domain="notes.local", scope="submit"))
    twin = Action(tool="send", args={"b": 0, "a": 1}, domain="NOTES.local.", scope="submit")
    assert (await s.gate.redeem(token, twin)).decision == "allow"


async def test_a_number_of_any_size_means_the_same_in_what_was_allowed(s: Any) -> None:
    """A float that canonical JSON writes with all its digits is still itself when it is read back."""
    action = Action(tool="send", args={"x": 1e20}, domain="notes.local", scope="submit")
    token = await s.approved(action)
    await s.gate.check(Action(tool="send", args={"x": 1e20, "y": 1}, domain="notes.local", scope="submit"))
    [row] = await s.host.pending()
    assert type(row.action.args["x"]) is float
    assert (await s.gate.redeem(token, action)).decision == "allow"


@pytest.mark.parametrize(
    "token", [None, "", "yes", 5, True, b"fgt1.a.b", ["t"], "fgt1..", "fgt1.e30.e30", "x" * 10_000, "fgt1.\u00e9.a"]
)
async def test_an_invented_token_is_none(s: Any, token: Any) -> None:
    """AP-04: bad-token, and the real one still works."""
    real = await s.approved(s.send())
    assert (await s.gate.redeem(token, s.send())).reason == "bad-token"
    assert (await s.gate.redeem(real, s.send())).decision == "allow"


async def test_a_token_of_another_key_is_none(setup: Any) -> None:
    """AP-05: also on the same store and for the same request."""
    store = MemoryGateStore()
    s, other = setup(store=store), setup(store=store)
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    asked = await s.gate.check(s.send())
    token = await other.host.approve(asked.request_id)
    assert (await s.gate.redeem(token, s.send())).reason == "bad-token"
    assert (await other.gate.redeem(token, s.send())).decision == "allow"


async def test_a_gate_with_the_same_key_and_store_takes_the_token(setup: Any) -> None:
    """The key may be kept by the host, so that a restart loses no approval."""
    store = MemoryGateStore()
    s, other = (setup(store=store, key=GateKey(bytes(range(32)))) for _ in range(2))
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    token = await s.approved(s.send())
    assert (await other.gate.redeem(token, s.send())).decision == "allow"


async def test_a_token_expires_and_stays_expired(s: Any) -> None:
    """AP-06: at its very second, also when the clock goes back, and without being spent by the attempt."""
    token = await s.approved(s.send())
    s.wall.at += 120
    assert (await s.gate.redeem(token, s.send())).reason == "token-expired"
    s.wall.at -= 100
    assert (await s.gate.redeem(token, s.send())).reason == "token-expired"


async def test_a_token_lives_until_just_before_it_expires(s: Any) -> None:
    """AP-06, the twin; the request it came from may have been older than its own limit by then."""
    s.wall.at += 0.25
    asked = await s.gate.check(s.send())
    s.wall.at += 599.5
    token = await s.host.approve(asked.request_id)
    s.wall.at += 119.5
    assert (await s.gate.redeem(token, s.send())).decision == "allow"


@pytest.mark.parametrize("answer", ["approve", "reject"])
async def test_only_a_waiting_request_can_be_answered(s: Any, answer: str) -> None:
    """AP-07: unknown, expired, already answered: not-found."""
    respond = getattr(s.host, answer)
    for unknown in ("0" * 32, "", None, 5, ["x"]):
        with pytest.raises(GateError, match="waits for an answer") as caught:
            await respond(unknown)
        assert caught.value.code == "not-found"
    asked = await s.gate.check(s.send())
    s.wall.at += 600
    with pytest.raises(GateError) as caught:
        await respond(asked.request_id)
    assert caught.value.code == "not-found"
    asked = await s.gate.check(s.send())
    await respond(asked.request_id)
    for again in (s.host.approve, s.host.reject):
        with pytest.raises(GateError) as caught:
            await again(asked.request_id)
        assert caught.value.code == "not-found"


async def test_a_rejected_action_stays_rejected_until_it_is_forgotten(s: Any) -> None:
    """AP-08, AS-06: it leaves the list at once; afterwards it may be asked again, as a new request."""
    asked = await s.gate.check(s.send())
    await s.host.reject(asked.request_id)
    assert await s.host.pending() == []
    s.wall.at += 599
    assert (await s.gate.check(s.send())).reason == "rejected"
    assert (await s.gate.check(s.send("other"))).decision == "ask"
    s.wall.at += 1
    again = await s.gate.check(s.send())
    assert again.decision == "ask"
    assert again.request_id != asked.request_id


@pytest.mark.parametrize(("change", "reason"), [("revoke", "no-grant"), ("expire", "expired"), ("use-up", "used-up")])
async def test_an_approval_does_not_outlive_its_grant(setup: Any, change: str, reason: str) -> None:
    """AP-09: the grant is judged again when the token is redeemed."""
    s = setup()
    grant = await s.host.add_grant(scope="submit", domains=["notes.local"], expires_at=s.wall.at + 60, max_uses=1)
    token, other = await s.approved(s.send()), await s.approved(s.send("other"))
    if change == "revoke":
        await s.host.revoke_grant(grant.id)
    elif change == "expire":
        s.wall.at += 60
    else:
        assert (await s.gate.redeem(other, s.send("other"))).decision == "allow"
    assert (await s.gate.redeem(token, s.send())).reason == reason
    assert (await s.gate.redeem(token, s.send())).reason == "token-used"


async def test_of_two_redeems_at_once_one_is_allowed(s: Any) -> None:
    """AP-10: whatever the order in which Trio runs them."""
    for round_ in range(20):
        action = s.send(str(round_))
        token = await s.approved(action)
        reasons: list[str] = []

        async def redeem(token: str = token, action: Action = action, reasons: list[str] = reasons) -> None:
            answer = await s.gate.redeem(token, action)
            reasons.append(answer.reason if answer.decision == "deny" else "allow")

        async with trio.open_nursery() as nursery:
            nursery.start_soon(redeem)
            nursery.start_soon(redeem)
        assert sorted(reasons) == ["allow", "token-used"]


async def test_when_the_state_is_lost_tokens_are_worth_nothing(setup: Any) -> None:
    """AP-11, GR-13: bad-token, and no grant either."""
    s = setup(store=MemoryGateStore(), key=GateKey(b"k" * 32))
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    token = await s.approved(s.send())
    lost = setup(store=MemoryGateStore(), key=GateKey(b"k" * 32))
    await lost.host.add_grant(scope="submit", domains=["notes.local"])
    assert (await lost.gate.redeem(token, s.send())).reason == "bad-token"


@pytest.mark.parametrize("raw", [b"", b"x" * 31, "x" * 32, bytearray(32), None, 32, [0] * 32])
def test_a_key_needs_32_bytes(raw: Any) -> None:
    """AP-12: bad-key, and the bytes are not in the message."""
    with pytest.raises(GateError) as caught:
        GateKey(raw)
    assert caught.value.code == "bad-key"
    assert "xxx" not in str(caught.value)


@pytest.mark.parametrize("key", [b"k" * 32, "k" * 32, object(), True, 5])
def test_only_a_key_object_is_a_key(key: Any) -> None:
    """AP-12: bad-key when the gate is created."""
    with pytest.raises(GateError) as caught:
        create_gate(tools={"save": "fill"}, key=key)
    assert caught.value.code == "bad-key"


async def test_asking_again_for_an_approved_action_voids_the_approval(s: Any) -> None:
    """GB-G5, AS-07: a fresh request, and the old token is used up."""
    asked = await s.gate.check(s.send())
    token = await s.host.approve(asked.request_id)
    again = await s.gate.check(s.send())
    assert again.decision == "ask"
    assert again.request_id != asked.request_id
    assert (await s.gate.redeem(token, s.send())).reason == "token-used"
    assert (await s.gate.redeem(await s.host.approve(again.request_id), s.send())).decision == "allow"


async def test_a_hook_that_raises_leaves_the_request_waiting(setup: Any) -> None:
    """AP-14, GR-14: no token, no rejection, no token spent; the same calls work once the hook does."""
    failing: set[str] = set()

    def hook(event: DecisionEvent) -> None:
        if event.kind in failing:
            raise OSError("disk full")

    s = setup(on_decision=hook)
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    asked = await s.gate.check(s.send())
    failing |= {"approve", "reject", "redeem"}
    for answer in (s.host.approve, s.host.reject):
        with pytest.raises(GateError) as caught:
            await answer(asked.request_id)
        assert caught.value.code == "hook-failed"
        assert isinstance(caught.value.__cause__, OSError)
    failing -= {"approve"}
    token = await s.host.approve(asked.request_id)
    assert (await s.gate.redeem(token, s.send())).reason == "hook-failed"
    failing.clear()
    assert (await s.gate.redeem(token, s.send())).decision == "allow"


async def test_neither_key_nor_token_is_stored_shown_or_told(setup: Any) -> None:
    """AS-05: not in rows, events, or any repr."""
    events: list[DecisionEvent] = []
    raw = bytes(range(100, 140))
    key = GateKey(raw)
    s = setup(on_decision=events.append, key=key)
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    token = await s.approved(s.send())
    allowed = await s.gate.redeem(token, s.send())
    async with s.store.transaction() as tx:
        rows = [*await tx.grants.all(), *await tx.requests.all()]
    shown = " ".join(map(repr, [rows, events, s.gate, s.host, s.store, key, allowed]))
    for secret in (token, token.split(".")[1], token.split(".")[2], rows[1].nonce, raw.hex()):
        assert secret not in shown
