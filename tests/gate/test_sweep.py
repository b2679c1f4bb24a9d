"""Every operation of the gate, cancelled at each of its checkpoints: it has happened, or it has not, and nothing is left locked."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, Allow, Money
from foxloop_trio.gate import MemoryGateStore, SqliteGateStore
from foxloop_trio.gate._ledger import PermitLedger
from foxloop_trio.testing import SweepError, cancel_at_every_checkpoint

LEAST = {"memory": 3, "sqlite": 10}
"""Checkpoints that each operation has at least: its start, its turn and the hook; in a file also each hop to the thread."""


def buy(cents: int) -> Action:
    return Action(tool="buy", args={"cents": cents}, domain="shop.local", scope="pay")


@pytest.fixture(params=["memory", "sqlite"])
def make(request: Any, setup: Any, tmp_path: Path) -> Any:
    """Makes a gate with three grants, and a hook with a checkpoint, on a new store."""
    numbers = iter(range(10_000))

    async def make() -> Any:
        heard: list[str] = []

        async def hook(event: Any) -> None:
            heard.append(event.kind)
            await trio.lowlevel.checkpoint()

        store: Any = MemoryGateStore() if request.param == "memory" else SqliteGateStore(tmp_path / f"{next(numbers)}.db")
        s = setup(store=store, on_decision=hook)
        s.kind, s.heard = request.param, heard
        cap = Money(value=100, currency="EUR")
        await s.host.add_grant(scope="pay", domains=["shop.local"], approval="never", spend_cap=cap, cap_per_site=cap)
        await s.host.add_grant(scope="submit", domains=["notes.local"], max_uses=5)
        return s

    return make


async def done(s: Any) -> None:
    if isinstance(s.store, SqliteGateStore):
        await s.store.aclose()


async def books(s: Any) -> tuple[Any, ...]:
    async with s.store.transaction() as tx:
        grants, requests, spends = await tx.grants.all(), await tx.requests.all(), await tx.spends.all()
    return [(row.uses, row.spent) for row in grants], [row.status for row in requests], [row.status for row in spends]


async def swept(make: Any, prepare: Any, operate: Any, before: Any, after: Any, least: int | None = None) -> None:
    """`operate` is cut at each checkpoint; then the books are as `before` or as `after`, and the gate goes on working."""
    state: dict[str, Any] = {}

    async def run() -> Any:
        return await operate(state["s"], state["given"])

    async def fresh() -> None:
        if "s" in state:
            await done(state["s"])
        state["s"] = await make()
        state["given"] = await prepare(state["s"])
        state["s"].heard.clear()

    async def check(visit: Any) -> None:
        s = state["s"]
        found = await books(s)
        if visit.cancelled:
            assert found == before, f"cancelled, and the books say {found}"
            assert s.heard == [], f"cancelled, and the hook heard {s.heard}"
        else:
            assert found == after, f"returned {visit.result}, and the books say {found}"
        with trio.fail_after(5):  # nothing is left locked
            assert (await s.gate.check(buy(0))).decision == "allow"
        await fresh()

    await fresh()
    report = await cancel_at_every_checkpoint(run, check=check)
    assert report.checkpoints >= (LEAST[state["s"].kind] if least is None else least)
    await done(state["s"])


async def nothing(s: Any) -> None:
    return None


async def test_a_check_that_allows(make: Any) -> None:
    """One use and its money, or none of both; an allow that was saved is returned."""

    async def operate(s: Any, _: None) -> Any:
        return (await s.gate.check(buy(30))).decision

    empty = [(0, 0), (0, 0)]
    await swept(make, nothing, operate, (empty, [], []), ([(1, 30), (0, 0)], [], ["reserved"]))


async def test_a_check_that_asks(make: Any) -> None:
    """One request, or none."""

    async def operate(s: Any, _: None) -> Any:
        return (await s.gate.check(s.send())).decision

    empty = [(0, 0), (0, 0)]
    await swept(make, nothing, operate, (empty, [], []), (empty, ["pending"], []))


async def test_an_approval(make: Any) -> None:
    """A token and an approved request, or a request that waits on."""

    async def prepare(s: Any) -> Any:
        return (await s.gate.check(s.send())).request_id

    async def operate(s: Any, request_id: str) -> Any:
        return await s.host.approve(request_id)

    empty = [(0, 0), (0, 0)]
    await swept(make, prepare, operate, (empty, ["pending"], []), (empty, ["approved"], []))


async def test_a_redeem(make: Any) -> None:
    """A token spent and a use counted, or a token that is still good."""

    async def prepare(s: Any) -> Any:
        return await s.approved(s.send())

    async def operate(s: Any, token: str) -> Any:
        return (await s.gate.redeem(token, s.send())).decision

    await swept(make, prepare, operate, ([(0, 0), (0, 0)], ["approved"], []), ([(0, 0), (1, 0)], ["used"], []))


@pytest.mark.parametrize("how", ["settle", "release"])
async def test_closing_a_permit_is_never_cut(make: Any, how: str) -> None:
    """Ruling 41: shielded, so it ends as if nobody had cancelled. The first checkpoint of the sweep is before it begins."""

    async def prepare(s: Any) -> Any:
        answer = await s.gate.check(buy(30))
        assert isinstance(answer, Allow)
        return answer.permit

    async def operate(s: Any, permit: Any) -> Any:
        await getattr(permit, how)()
        return permit.alive

    before = ([(1, 30), (0, 0)], [], ["reserved"])
    after = ([(1, 30 if how == "settle" else 0), (0, 0)], [], ["settled"] if how == "settle" else [])
    await swept(make, prepare, operate, before, after, least=2)


EMPTY = [(0, 0), (0, 0)]


async def _asked(s: Any) -> Any:
    return (await s.gate.check(s.send())).request_id


async def _granted(s: Any) -> Any:
    return (await s.host.grants())[1].id


async def _ruled(s: Any) -> Any:
    return (await s.host.add_rule(site="example.com", scope="submit", effect="deny")).id


async def _rules(s: Any) -> int:
    async with s.store.transaction() as tx:
        return len(await tx.rules.all())


@pytest.mark.parametrize(
    ("prepare", "operate", "before", "after", "rules"),
    [
        (nothing, lambda s, _: s.host.add_grant(scope="read", domains=["a.local"]), (EMPTY, [], []), ([*EMPTY, (0, 0)], [], []), 0),
        (_granted, lambda s, grant: s.host.revoke_grant(grant), (EMPTY, [], []), (EMPTY[:1], [], []), 0),
        (_asked, lambda s, request: s.host.reject(request), (EMPTY, ["pending"], []), (EMPTY, ["rejected"], []), 0),
        (nothing, lambda s, _: _ruled(s), (EMPTY, [], []), (EMPTY, [], []), 1),
        (_ruled, lambda s, rule: s.host.remove_rule(rule), (EMPTY, [], []), (EMPTY, [], []), -1),
    ],
    ids=["add_grant", "revoke_grant", "reject", "add_rule", "remove_rule"],
)
async def test_a_change_of_the_host(make: Any, prepare: Any, operate: Any, before: Any, after: Any, rules: int) -> None:
    """Done and announced, or neither."""
    given: dict[str, Any] = {}

    async def counted(s: Any) -> Any:
        given["s"], given["for"] = s, await prepare(s)
        given["rules"] = await _rules(s)
        return given["for"]

    async def changed(s: Any, what: Any) -> Any:
        try:
            answer = await operate(s, what)
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                assert await _rules(s) == given["rules"]
            raise
        with trio.CancelScope(shield=True):
            assert await _rules(s) == given["rules"] + rules
        assert len(s.heard) == 1
        return answer

    await swept(make, counted, changed, before, after)


@pytest.mark.parametrize("look", ["grants", "pending", "rules", "valid", "wait_decision"])
async def test_a_look_changes_nothing(make: Any, look: str) -> None:
    """Whether it was cut or not; and nothing is announced."""

    async def prepare(s: Any) -> Any:
        request_id = await _asked(s)
        if look == "wait_decision":
            await s.host.reject(request_id)
            return request_id
        return (await s.gate.check(buy(0))).permit if look == "valid" else None

    async def operate(s: Any, given: Any) -> Any:
        if look == "valid":
            seen = await given.valid()
            assert seen is True
        elif look == "wait_decision":
            seen = await s.host.wait_decision(given)
            assert seen == "rejected"
        else:
            seen = await getattr(s.host, look)()
        assert s.heard == []
        return seen

    books = ([(1 if look == "valid" else 0, 0), (0, 0)], ["rejected" if look == "wait_decision" else "pending"], [])
    # A look has no hook, and in a file it has nothing to save but the time.
    await swept(make, prepare, operate, books, books, least=2)


async def test_the_sweep_finds_a_hook_that_is_not_shielded(make: Any, monkeypatch: Any) -> None:
    """Planted: without the shield the hook hears of an allow that is never saved."""

    async def operate(s: Any, _: None) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(trio.CancelScope, "shield", property(lambda scope: False, lambda scope, value: None))
            return (await s.gate.check(buy(30))).decision

    empty = [(0, 0), (0, 0)]
    with pytest.raises(SweepError):
        await swept(make, nothing, operate, (empty, [], []), ([(1, 30), (0, 0)], [], ["reserved"]))


async def test_the_sweep_finds_a_close_that_is_not_shielded(make: Any, monkeypatch: Any) -> None:
    """Planted: a cancel keeps money reserved that was certainly not spent."""

    async def close(self: Any, work: Any) -> None:
        await trio.lowlevel.checkpoint()
        await shielded(self, work)

    shielded = PermitLedger._close
    monkeypatch.setattr(PermitLedger, "_close", close)

    async def prepare(s: Any) -> Any:
        return (await s.gate.check(buy(30))).permit

    async def operate(s: Any, permit: Any) -> Any:
        with trio.CancelScope() as scope:
            await permit.release()
        return scope.cancel_called

    with pytest.raises(AssertionError):
        await swept(make, prepare, operate, ([(1, 0), (0, 0)], [], []), ([(1, 0), (0, 0)], [], []))


async def test_as_many_uses_are_counted_as_allows_were_returned(make: Any) -> None:
    """Ruling 41: many checks at once, each cut after a random time, none in doubt; and releases cut the same way all count."""
    s = await make()
    rng = random.Random(7)
    returned = 0
    released = 0

    async def worker() -> None:
        nonlocal returned, released
        for _ in range(12):
            answer: Any = None
            with trio.move_on_after(rng.choice([0, 0.0001, 0.001, 0.003, 0.01, 1])):
                answer = await s.gate.check(buy(1))
                if rng.random() < 0.5 and isinstance(answer, Allow):
                    await answer.permit.release()
                    released += 1
            if isinstance(answer, Allow):
                returned += 1

    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(worker)
    grant = (await s.host.grants())[0]
    assert grant.uses == returned
    assert grant.spent == returned - released
    assert 0 < returned < 96
    await done(s)
