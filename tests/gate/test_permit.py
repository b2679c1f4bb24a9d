"""Permits: valid while the grant behind them stands, closed once, uses counted for good."""

from __future__ import annotations

from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, Allow
from foxloop_trio.canonical import canonical_json
from foxloop_trio.gate import MemoryGateStore, create_gate


@pytest.fixture
async def s(setup: Any) -> Any:
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"], expires_at=s.wall.at + 60, max_uses=1)
    return s


async def test_a_permit_stays_valid_while_its_grant_stands(s: Any) -> None:
    """Also when its own use was the grant's last."""
    permit = (await s.gate.check(s.save())).permit
    assert (await s.gate.check(s.save())).reason == "used-up"
    s.wall.at += 59
    assert await permit.valid()


@pytest.mark.parametrize("end", ["revoked", "expired", "clock", "lost"])
async def test_a_permit_is_invalid_once_its_grant_cannot_be_relied_on(s: Any, end: str) -> None:
    """Ruling 17 and engine.md, pause: revoked, expired, or not to be found out."""
    permit = (await s.gate.check(s.save())).permit
    if end == "revoked":
        await s.host.revoke_grant(permit.grant_id)
    elif end == "expired":
        s.wall.at += 60
    elif end == "clock":
        s.wall.answer = float("nan")
    else:
        async with s.store.transaction() as tx:
            await tx.set_time(float("nan"))
    assert permit.alive
    assert not await permit.valid()


@pytest.mark.parametrize("how", ["settle", "release"])
async def test_a_closed_permit_is_dead_and_its_use_stays_counted(s: Any, how: str) -> None:
    """Ruling 41."""
    permit = (await s.gate.check(s.save())).permit
    await getattr(permit, how)()
    assert not permit.alive
    assert not await permit.valid()
    await permit.release()
    assert [grant.uses for grant in await s.host.grants()] == [1]


@pytest.mark.parametrize("how", ["settle", "release"])
async def test_closing_a_permit_is_shielded_and_takes_no_time(s: Any, how: str, autojump_clock: Any) -> None:
    """Ruling 41: it ends although the caller was cancelled."""
    permit = (await s.gate.check(s.save())).permit
    with trio.CancelScope() as scope:
        scope.cancel()
        await getattr(permit, how)()
    assert not scope.cancelled_caught
    assert trio.current_time() == 0.0


async def test_permits_of_one_gate_know_their_own_grant(setup: Any) -> None:
    """Revoking one grant leaves the permits of the others valid."""
    s = setup(store=MemoryGateStore())
    for domain in ("a.local", "b.local"):
        await s.host.add_grant(scope="fill", domains=[domain])
    one, two = [(await s.gate.check(s.save(domain=domain))).permit for domain in ("a.local", "b.local")]
    await s.host.revoke_grant(one.grant_id)
    assert [await one.valid(), await two.valid()] == [False, True]


async def test_a_large_float_survives_the_way_through_the_permit() -> None:
    """Canonical JSON writes 1e20 as digits; read back as an int it could never be put on record again."""
    gate, host = create_gate(tools={"t": "fill"})
    await host.add_grant(scope="fill", domains=["a.example"])
    allowed = await gate.check(Action(tool="t", args={"n": 1e20}, domain="a.example", scope="fill"))
    assert isinstance(allowed, Allow)
    assert allowed.permit.action.args == {"n": 1e20}
    assert canonical_json(allowed.permit.action.to_json()["args"]) == '{"n":100000000000000000000}'
