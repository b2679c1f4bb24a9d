"""Checks and grants: what is allowed, what is asked, what is denied and why."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foxloop_trio.actions import Action
from foxloop_trio.canonical import canonical_json, canonical_sha256
from foxloop_trio.errors import GateError
from foxloop_trio.gate._parse import MAX_BYTES, Parsed, parse_action
from foxloop_trio.gate._registry import read_registry


async def test_without_a_grant_nothing_runs(setup: Any) -> None:
    """GR-01."""
    s = setup()
    assert (await s.gate.check(s.save())).reason == "no-grant"


async def test_an_allow_carries_the_action_in_normal_form_and_a_live_permit(setup: Any) -> None:
    """EX-01: that action is what runs."""
    s = setup()
    grant = await s.host.add_grant(scope="fill", domains=["notes.local"])
    allowed = await s.gate.check(s.save(domain="NOTES.local."))
    assert allowed.grant_id == grant.id
    assert allowed.action == s.save()
    assert allowed.permit.digest == canonical_sha256(canonical_json(s.save().to_json()))
    assert allowed.permit.alive
    assert [len(allowed.permit.id), len(grant.id)] == [64, 32]


async def test_altering_a_returned_action_changes_nothing(setup: Any) -> None:
    """EX-02, GB-G11: neither the permit nor later decisions, nor does altering what was submitted."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    action = Action(tool="save", args={"text": "a", "more": [1]}, domain="notes.local", scope="fill")
    allowed = await s.gate.check(action)
    allowed.action.args["more"].append(2)
    action.args["more"].append(3)
    assert allowed.action.args == {"text": "a", "more": [1]}
    assert allowed.permit.action.args == {"text": "a", "more": [1]}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"tools": ["look"]}, "no-grant"),
        ({"tools": []}, "no-grant"),
        ({"domains": ["other.local"]}, "no-grant"),
        ({"scope": "read"}, "no-grant"),
        ({"scope": "submit"}, "no-grant"),
    ],
)
async def test_a_grant_for_something_else_does_not_cover_it(setup: Any, change: dict[str, Any], reason: str) -> None:
    """GR-02, GR-03: host, tool and scope must all be the grant's; the unchanged grant allows."""
    s = setup()
    await s.host.add_grant(**{"scope": "fill", "domains": ["notes.local"], "tools": ["save"]} | change)
    assert (await s.gate.check(s.save())).reason == reason
    await s.host.add_grant(scope="fill", domains=["notes.local"], tools=["save"])
    assert (await s.gate.check(s.save())).decision == "allow"


async def test_an_expired_grant_denies_from_its_very_second_on(setup: Any) -> None:
    """GR-07, GR-08: expired at expiry, and still when the clock goes back."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"], expires_at=s.wall.at + 10)
    s.wall.at += 9.999
    assert (await s.gate.check(s.save())).decision == "allow"
    s.wall.at += 0.001
    assert (await s.gate.check(s.save())).reason == "expired"
    s.wall.at -= 5
    assert (await s.gate.check(s.save())).reason == "expired"


async def test_uses_are_counted_on_allow_only(setup: Any) -> None:
    """GR-09: used-up after max_uses; asks and denials use nothing."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=2)
    ask = await s.host.add_grant(scope="submit", domains=["notes.local"], max_uses=2)
    await s.gate.check(s.send())
    await s.gate.check(s.save(domain="other.local"))
    for _ in range(2):
        assert (await s.gate.check(s.save())).decision == "allow"
    assert (await s.gate.check(s.save())).reason == "used-up"
    assert [grant.uses for grant in await s.host.grants()] == [2, 0]
    assert (await s.host.grants())[1] == ask


async def test_the_second_grant_serves_when_the_first_cannot(setup: Any) -> None:
    """GR-16; and when none can, the first one's reason is given."""
    s = setup()
    first = await s.host.add_grant(scope="fill", domains=["notes.local"], max_uses=1)
    second = await s.host.add_grant(scope="fill", domains=["notes.local"], expires_at=s.wall.at + 5)
    assert [(await s.gate.check(s.save())).grant_id for _ in range(2)] == [first.id, second.id]
    s.wall.at += 5
    assert (await s.gate.check(s.save())).reason == "used-up"


async def test_a_grant_that_needs_no_human_is_preferred(setup: Any) -> None:
    """GB-G6: an earlier grant that asks does not hide it."""
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    free = await s.host.add_grant(scope="submit", domains=["notes.local"], approval="never")
    assert (await s.gate.check(s.send())).grant_id == free.id


async def test_a_grant_that_needs_no_human_does_not_override_a_no(setup: Any) -> None:
    """GB-G6: the action that was rejected stays rejected; others run."""
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    asked = await s.gate.check(s.send())
    await s.host.reject(asked.request_id)
    await s.host.add_grant(scope="submit", domains=["notes.local"], approval="never")
    assert (await s.gate.check(s.send())).reason == "rejected"
    assert (await s.gate.check(s.send("another"))).decision == "allow"


async def test_a_revoked_grant_is_gone_with_its_waiting_requests(setup: Any) -> None:
    """GR-15: the next check finds no grant."""
    s = setup()
    grant = await s.host.add_grant(scope="submit", domains=["notes.local"])
    await s.gate.check(s.send())
    assert await s.host.revoke_grant(grant.id) is True
    assert await s.host.revoke_grant(grant.id) is False
    assert await s.host.revoke_grant(5) is False
    assert await s.host.pending() == []
    assert await s.host.grants() == []
    assert (await s.gate.check(s.send())).reason == "no-grant"


async def test_submit_and_pay_ask_unless_told_otherwise(setup: Any) -> None:
    """GR-10: the defaults of `approval`."""
    s = setup()
    granted = [await s.host.add_grant(scope=scope, domains=["a.local"]) for scope in ("read", "fill", "submit", "pay")]
    assert [grant.approval for grant in granted] == ["never", "never", "always", "always"]


async def test_the_same_action_gives_the_same_request_while_it_waits(setup: Any) -> None:
    """GR-10: key order and spelling of the host do not make another action; other arguments do."""
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    one = await s.gate.check(Action(tool="send", args={"a": 1, "b": 2}, domain="notes.local", scope="submit"))
    two = await s.gate.check(Action(tool="send", args={"b": 2.0, "a": 1}, domain="NOTES.LOCAL", scope="submit"))
    other = await s.gate.check(Action(tool="send", args={"a": 1, "b": "2"}, domain="notes.local", scope="submit"))
    assert one == two
    assert one.expires_at == s.wall.at + 600.0
    assert other.request_id != one.request_id
    assert [row.text for row in await s.host.pending()] == [
        '{"args":{"a":1,"b":2},"domain":"notes.local","scope":"submit","tool":"send"}',
        '{"args":{"a":1,"b":"2"},"domain":"notes.local","scope":"submit","tool":"send"}',
    ]


async def test_too_many_waiting_requests_are_refused_until_some_are_gone(setup: Any) -> None:
    """GR-11: the limit holds over all grants; expired requests do not count."""
    s = setup(max_pending=3, request_ttl=60)
    for domain in ("a.local", "b.local"):
        await s.host.add_grant(scope="submit", domains=[domain])
    for index, domain in enumerate(["a.local", "b.local", "a.local"]):
        assert (await s.gate.check(s.send(str(index), domain))).decision == "ask"
    assert (await s.gate.check(s.send("more", "b.local"))).reason == "too-many-requests"
    assert (await s.gate.check(s.send("0", "a.local"))).decision == "ask"
    s.wall.at += 60
    assert (await s.gate.check(s.send("more", "b.local"))).decision == "ask"
    assert len(await s.host.pending()) == 1


async def test_stored_requests_are_bounded_in_all_states_together(setup: Any, monkeypatch: Any) -> None:
    """GB-G13: answered requests count too until they are forgotten."""
    monkeypatch.setattr("foxloop_trio.gate._requests.MAX_REQUESTS", 3)
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    for index in range(3):
        asked = await s.gate.check(s.send(str(index)))
        await s.host.reject(asked.request_id)
    assert (await s.gate.check(s.send("more"))).reason == "too-many-requests"
    s.wall.at += 600
    assert (await s.gate.check(s.send("more"))).decision == "ask"


async def test_a_probe_asks_without_a_trace(setup: Any) -> None:
    """GB-G7: no request id and nothing stored; an allow is an allow all the same."""
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    await s.host.add_grant(scope="read", domains=["notes.local"], max_uses=1)
    probe = await s.gate.check(s.send(), store_request=False)
    assert (probe.decision, probe.request_id, probe.expires_at) == ("ask", None, s.wall.at + 600.0)
    assert await s.host.pending() == []
    look = Action(tool="look", args={}, domain="notes.local", scope="read")
    assert (await s.gate.check(look, store_request=False)).decision == "allow"
    assert (await s.gate.check(look, store_request=False)).reason == "used-up"


async def test_a_probe_leaves_waiting_and_approved_requests_as_they_are(setup: Any) -> None:
    """GB-G7: it neither hands out a request id nor voids an approval, but it hears a no."""
    s = setup()
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    token = await s.approved(s.send())
    assert (await s.gate.check(s.send(), store_request=False)).request_id is None
    assert (await s.gate.redeem(token, s.send())).decision == "allow"
    asked = await s.gate.check(s.send())
    assert (await s.gate.check(s.send(), store_request=False)).request_id is None
    await s.host.reject(asked.request_id)
    assert (await s.gate.check(s.send(), store_request=False)).reason == "rejected"


class Odd:
    scope = "fill"


class SubAction(Action):
    pass


class SubDict(dict[str, Any]):
    pass


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _cycle() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


class Loud(str):
    """A text whose repr is code of somebody else."""

    __slots__ = ()

    def __repr__(self) -> str:
        raise RuntimeError


GOOD: dict[str, Any] = {"tool": "save", "args": {"text": "a"}, "domain": "notes.local", "scope": "fill"}


@pytest.mark.parametrize(
    "action",
    [
        None,
        5,
        "save",
        [],
        Odd(),
        SubAction(**GOOD),
        SubDict(GOOD),
        {},
        GOOD | {"grant_id": "x"},
        GOOD | {"approved": True},
        GOOD | {"token": "fgt1.a.b"},
        GOOD | {5: 5},
        GOOD | {"tool": None},
        GOOD | {"tool": ""},
        GOOD | {"tool": "x" * 129},
        GOOD | {"tool": ["save"]},
        GOOD | {"args": None},
        GOOD | {"args": []},
        GOOD | {"args": SubDict()},
        GOOD | {"args": {"x": float("nan")}},
        GOOD | {"args": {"x": float("inf")}},
        GOOD | {"args": {"x": 2**53}},
        GOOD | {"args": {"x": (1, 2)}},
        GOOD | {"args": {"x": b"bytes"}},
        GOOD | {"args": {"x": {1}}},
        GOOD | {"args": {"x": Odd()}},
        GOOD | {"args": {5: "x"}},
        GOOD | {"args": {"x": _cycle()}},
        GOOD | {"args": {"x": _deep(31)}},
        GOOD | {"args": {"x": _deep(500)}},
        GOOD | {"args": {"x": "a" * MAX_BYTES}},
        GOOD | {"args": {"x": "a" * (MAX_BYTES - 20)}},
        GOOD | {"args": {"x": "\u20ac" * (MAX_BYTES // 3)}},
        GOOD | {"scope": None},
        GOOD | {"scope": "all"},
        GOOD | {"scope": ["fill"]},
        GOOD | {"domain": None},
        GOOD | {"domain": "https://notes.local/"},
        GOOD | {"domain": "*.local"},
        GOOD | {"domain": ""},
        GOOD | {"amount": None},
        Action(**GOOD | {"args": None}),
        Action(**GOOD | {"tool": object()}),
        Action(**GOOD | {"domain": object()}),
        Action(**GOOD | {"scope": object()}),
        GOOD | {"domain": Loud("notes.local")},
        Action(**GOOD | {"domain": Loud("notes.local")}),
    ],
    ids=type,
)
async def test_a_malformed_action_is_denied_and_never_raised(setup: Any, action: Any) -> None:
    """GR-04, GR-06, CJ: bad-action, in check and at redeem, where it also spends the token; the well-formed twin passes."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    assert (await s.gate.check(action)).reason == "bad-action"
    assert (await s.gate.check(GOOD)).decision == "allow"
    await s.host.add_grant(scope="submit", domains=["notes.local"])
    token = await s.approved(s.send())
    assert (await s.gate.redeem(token, action)).reason == "bad-action"
    assert (await s.gate.redeem(token, s.send())).reason == "token-used"


async def test_the_deepest_and_the_largest_action_pass(setup: Any) -> None:
    """The twins of the refused ones: 32 levels and 65536 bytes are still fine."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    room = MAX_BYTES - len(canonical_json(GOOD | {"args": {"x": ""}}))
    for value in (_deep(30), "a" * room):
        allowed = await s.gate.check(GOOD | {"args": {"x": value}})
        assert allowed.action.args == {"x": value}
    assert (await s.gate.check(GOOD | {"args": {"x": "a" * (room + 1)}})).reason == "bad-action"


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(args=st.dictionaries(st.text(), _json, max_size=4), name=st.text(min_size=1, max_size=10))
def test_the_judged_text_is_the_canonical_json_of_the_action(args: dict[str, Any], name: str) -> None:
    """The text is put together from parts; it is the same as if made whole, and judging what it says gives it again."""
    action = {"tool": name, "args": args, "domain": 'a"b.local', "scope": "fill"}
    tools = read_registry({name: "fill"})
    parsed = parse_action(action, tools)
    assert isinstance(parsed, Parsed)
    assert parsed.text == canonical_json(action)
    assert parsed.digest == canonical_sha256(parsed.text)


BAD_GRANTS: list[dict[str, Any]] = [
    {"scope": "write"},
    {"scope": None},
    {"scope": ["fill"]},
    {"domains": []},
    {"domains": None},
    {"domains": "notes.local"},
    {"tools": "save"},
    {"tools": [""]},
    {"tools": [5]},
    {"expires_at": 1_000_000.0},
    {"expires_at": 0},
    {"expires_at": float("inf")},
    {"expires_at": float("nan")},
    {"expires_at": True},
    {"expires_at": "tomorrow"},
    {"expires_at": 10**400},
    {"max_uses": 0},
    {"max_uses": -1},
    {"max_uses": 1.0},
    {"max_uses": True},
    {"max_uses": 2**53},
    {"approval": "sometimes"},
    {"approval": True},
]
BAD_DOMAINS: list[Any] = [["notes.local", ""], ["notes.local", "https://x"], ["a.*.b"], ["*"], ["*."], ["*.a..b"], [5], [None]]


@pytest.mark.parametrize(
    ("change", "code"),
    [(change, "bad-grant") for change in BAD_GRANTS] + [({"domains": domains}, "bad-domain") for domains in BAD_DOMAINS],
)
async def test_a_bad_grant_raises_and_stores_nothing(setup: Any, change: dict[str, Any], code: str) -> None:
    """GR-12: bad-grant or bad-domain, naming what is wrong."""
    s = setup()
    with pytest.raises(GateError) as caught:
        await s.host.add_grant(**{"scope": "fill", "domains": ["notes.local"]} | change)
    assert caught.value.code == code
    assert await s.host.grants() == []


async def test_grants_that_the_host_reads_cannot_be_altered(setup: Any) -> None:
    """GB-G11: frozen rows, and the list is a copy."""
    s = setup()
    grant = await s.host.add_grant(scope="fill", domains=["notes.local"])
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        grant.uses = -5
    (await s.host.grants()).clear()
    assert await s.host.grants() == [grant]
