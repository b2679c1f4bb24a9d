"""The gate's time: it never runs backwards, and an unusable clock opens nothing."""

from __future__ import annotations

from typing import Any

import pytest

from foxloop_trio.errors import BadOptionsError, GateError
from foxloop_trio.gate import MemoryGateStore, create_gate

UNUSABLE: list[Any] = [float("nan"), float("inf"), float("-inf"), "1000000", True, 10**400, [], 1j, 1e13, -1e13, 1e308, 2**60]


@pytest.mark.parametrize("answer", UNUSABLE)
async def test_an_unusable_clock_denies_and_raises(setup: Any, answer: Any) -> None:
    """CK-01, CK-03: clock-error for the planner, bad-state for the host; nothing is saved, and all is well afterwards."""
    s = setup()
    grant = await s.host.add_grant(scope="submit", domains=["notes.local"])
    asked = await s.gate.check(s.send())
    token = await s.approved(s.send("other"))
    s.wall.answer = answer
    assert (await s.gate.check(s.save())).reason == "clock-error"
    assert (await s.gate.redeem(token, s.send("other"))).reason == "clock-error"
    for call in (
        s.host.add_grant(scope="fill", domains=["notes.local"]),
        s.host.pending(),
        s.host.approve(asked.request_id),
        s.host.reject(asked.request_id),
    ):
        with pytest.raises(GateError) as caught:
            await call
        assert caught.value.code == "bad-state"
    assert await s.host.grants() == [grant]
    s.wall.answer = None
    assert (await s.gate.redeem(token, s.send("other"))).decision == "allow"
    assert await s.host.approve(asked.request_id)


async def test_a_clock_that_raises_is_unusable(setup: Any) -> None:
    """CK-01, with a cause for the host to see."""

    def broken() -> float:
        raise OSError("no clock")

    s = setup(now=broken)
    assert (await s.gate.check(s.save())).reason == "clock-error"
    with pytest.raises(GateError) as caught:
        await s.host.pending()
    assert caught.value.code == "bad-state"
    assert isinstance(caught.value.__cause__, OSError)


async def test_revoking_needs_no_clock(setup: Any) -> None:
    """Taking a permission away works whatever the clock says, and so does looking at what is granted."""
    s = setup()
    grant = await s.host.add_grant(scope="fill", domains=["notes.local"])
    s.wall.answer = float("nan")
    assert await s.host.grants() == [grant]
    assert await s.host.revoke_grant(grant.id) is True


@pytest.mark.parametrize("stored", [float("nan"), float("inf"), "1", True, 1e13])
async def test_a_stored_time_that_is_not_finite_is_a_broken_state(setup: Any, stored: Any) -> None:
    """CK-02: storage-error, also where the clock is not needed."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"])
    async with s.store.transaction() as tx:
        await tx.set_time(stored)
    assert (await s.gate.check(s.save())).reason == "storage-error"
    with pytest.raises(GateError) as caught:
        await s.host.grants()
    assert caught.value.code == "bad-state"


async def test_time_goes_on_from_the_latest_stored_also_in_a_new_gate(setup: Any) -> None:
    """GB-G8, GR-08: what any operation saw, add_grant included, is never undone by a clock set back or a restart."""
    store = MemoryGateStore()
    s = setup(store=store)
    await s.host.add_grant(scope="fill", domains=["notes.local"], expires_at=s.wall.at + 50)
    s.wall.at += 60
    await s.host.add_grant(scope="read", domains=["notes.local"])
    again = setup(store=store)
    assert again.wall.at < s.wall.at
    assert (await again.gate.check(s.save())).reason == "expired"


async def test_a_clock_that_is_far_off_once_expires_nothing_for_good(setup: Any) -> None:
    """Time never runs backwards, so such an answer must not be taken for a time; the last time of a calendar still is one."""
    s = setup()
    await s.host.add_grant(scope="fill", domains=["notes.local"], expires_at=s.wall.at + 100)
    s.wall.answer = 1e13
    assert (await s.gate.check(s.save())).reason == "clock-error"
    s.wall.answer = None
    assert (await s.gate.check(s.save())).decision == "allow"
    s.wall.answer = 8.64e12
    assert (await s.gate.check(s.save())).reason == "expired"


@pytest.mark.parametrize("option", ["now", "ids"])
def test_an_async_clock_or_source_of_ids_is_refused_when_the_gate_is_made(option: str) -> None:
    """Its coroutine would never be awaited, and every decision would be a clock error."""

    async def later(*args: Any) -> float:
        raise AssertionError

    with pytest.raises(BadOptionsError, match=f"{option} must be a plain function"):
        create_gate(tools={"look": "read"}, **{option: later})
