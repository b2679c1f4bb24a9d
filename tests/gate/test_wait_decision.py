"""Waiting for the answer to a request, wherever it is given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.errors import GateError
from foxloop_trio.gate import MemoryGateStore, SqliteGateStore
from foxloop_trio.gate._waiting import RECHECK


async def asked(s: Any, text: str = "Hello") -> str:
    if not await s.host.grants():
        await s.host.add_grant(scope="submit", domains=["notes.local"])
    request_id = (await s.gate.check(s.send(text))).request_id
    assert isinstance(request_id, str)
    return request_id


@pytest.mark.parametrize("end", ["approved", "rejected", "revoked"])
async def test_a_waiter_is_woken_by_the_answer(setup: Any, end: str, autojump_clock: Any) -> None:
    """GB-G14: at once, not at the next look."""
    s = setup()
    request_id = await asked(s)
    heard: list[tuple[str, float]] = []

    async def wait() -> None:
        heard.append((await s.host.wait_decision(request_id), trio.current_time()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        nursery.start_soon(wait)
        await trio.sleep(0.25)
        if end == "approved":
            await s.host.approve(request_id)
        elif end == "rejected":
            await s.host.reject(request_id)
        else:
            await s.host.revoke_grant((await s.host.grants())[0].id)
    assert heard == [(end, 0.25)] * 2


async def test_an_answer_that_was_given_before_is_told_at_once(setup: Any, autojump_clock: Any) -> None:
    """Also when the token was used meanwhile; AS-08: each request has an id and an answer of its own."""
    s = setup()
    one, two = await asked(s, "1"), await asked(s, "2")
    token = await s.host.approve(one)
    assert await s.host.wait_decision(one) == "approved"
    assert (await s.gate.redeem(token, s.send("1"))).decision == "allow"
    await s.host.reject(two)
    assert [await s.host.wait_decision(each) for each in (one, two)] == ["approved", "rejected"]
    assert trio.current_time() == 0.0


async def test_an_expiry_ends_the_wait(setup: Any, autojump_clock: Any) -> None:
    """GB-G14: when the request's time is up by the gate's clock."""
    start = trio.current_time()
    s = setup(now=lambda: 1000.0 + trio.current_time() - start, request_ttl=90.5)
    request_id = await asked(s)
    assert await s.host.wait_decision(request_id) == "expired"
    assert trio.current_time() - start == pytest.approx(90.5)


async def test_an_expired_request_that_a_check_has_swept_away_is_not_taken_for_a_revoked_one(
    setup: Any, autojump_clock: Any
) -> None:
    """The clock leaps over the expiry, and another question comes before the waiter looks again."""
    s = setup()
    request_id = await asked(s)
    heard: list[str] = []

    async def wait() -> None:
        heard.append(await s.host.wait_decision(request_id))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.sleep(0.25)
        s.wall.at += 3600
        await asked(s, "another")
        async with s.store.transaction() as tx:
            assert await tx.requests.get(request_id) is None
    assert heard == ["expired"]


async def test_a_cancelled_wait_changes_nothing(setup: Any, autojump_clock: Any) -> None:
    """It is bounded by the caller."""
    s = setup()
    request_id = await asked(s)
    with trio.move_on_after(300) as scope:
        await s.host.wait_decision(request_id)
    assert scope.cancelled_caught
    assert [row.id for row in await s.host.pending()] == [request_id]


@pytest.mark.parametrize("request_id", ["x", None, 5])
async def test_an_unknown_request_is_not_found(setup: Any, request_id: Any) -> None:
    """AP-07."""
    with pytest.raises(GateError) as caught:
        await setup().host.wait_decision(request_id)
    assert caught.value.code == "not-found"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_an_answer_through_another_gate_is_noticed(setup: Any, kind: str, tmp_path: Path) -> None:
    """The human may sit at another process."""
    first: Any = MemoryGateStore() if kind == "memory" else SqliteGateStore(tmp_path / "gate.db")
    second: Any = first if kind == "memory" else SqliteGateStore(tmp_path / "gate.db")
    one, two = setup(store=first), setup(store=second)
    request_id = await asked(one)
    heard: list[str] = []

    async def wait() -> None:
        heard.append(await one.host.wait_decision(request_id))

    with trio.fail_after(10 * RECHECK):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(wait)
            await trio.testing.wait_all_tasks_blocked(0.05)
            await two.host.reject(request_id)
    assert heard == ["rejected"]
    if kind == "sqlite":
        await first.aclose()
        await second.aclose()
