"""The store in memory: whole transactions or none, one after the other, rows in the order of adding."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import trio
import trio.testing

from foxloop_trio.actions import Money
from foxloop_trio.gate import ApprovalRow, Grant, MemoryGateStore, SpendRow


def _grant(name: str, **changes: Any) -> Grant:
    fields: dict[str, Any] = {"id": name, "scope": "fill", "domains": ("a.local",), "approval": "never", "created_at": 1.0}
    return Grant(**fields | changes)


def _request(name: str) -> ApprovalRow:
    return ApprovalRow(id=name, grant_id="g", text="{}", digest="d", created_at=1.0, expires_at=2.0)


def _spend(name: str) -> SpendRow:
    return SpendRow(id=name, grant_id="g", amount=Money(value=1, currency="EUR"), host="a.local", at=1.0, day=0)


async def test_a_transaction_sees_its_own_writes_and_saves_them_together() -> None:
    """Grants, requests, spends and time, from one transaction to the next."""
    store = MemoryGateStore()
    async with store.transaction() as tx:
        assert await tx.time() is None
        for row in (_grant("1"), _grant("2")):
            await tx.grants.put(row)
        await tx.requests.put(_request("r"))
        await tx.spends.put(_spend("s"))
        await tx.set_time(5.0)
        assert await tx.grants.get("2") == _grant("2")
        assert [row.id for row in await tx.grants.covering("fill", ["a.local"])] == ["1", "2"]
        assert await tx.time() == 5.0
    async with store.transaction() as tx:
        assert [row.id for row in await tx.grants.all()] == ["1", "2"]
        assert await tx.requests.get("r") == _request("r")
        assert list(await tx.spends.all()) == [_spend("s")]
        assert await tx.spends.get("x") is None
        assert await tx.time() == 5.0


@pytest.mark.parametrize("end", ["error", "cancelled"])
async def test_a_transaction_that_is_left_by_an_exception_saves_nothing(end: str) -> None:
    """Neither a row, nor a deletion, nor the time; and the next one is not held up."""
    store = MemoryGateStore()
    async with store.transaction() as tx:
        await tx.grants.put(_grant("1"))
    with trio.CancelScope() as scope:
        try:
            async with store.transaction() as tx:
                await tx.grants.delete("1")
                await tx.grants.put(_grant("2"))
                await tx.requests.put(_request("r"))
                await tx.set_time(9.0)
                if end == "error":
                    raise OSError
                scope.cancel()
                await trio.lowlevel.checkpoint()
        except OSError:
            pass
    async with store.transaction() as tx:
        assert list(await tx.grants.all()) == [_grant("1")]
        assert [row.id for row in await tx.grants.covering("fill", ["a.local"])] == ["1"]
        assert list(await tx.requests.all()) == []
        assert await tx.time() is None


async def test_a_replaced_row_keeps_its_place_and_a_deleted_one_is_gone() -> None:
    """The order of adding is the order of trying."""
    store = MemoryGateStore()
    async with store.transaction() as tx:
        for name in "abc":
            await tx.grants.put(_grant(name))
    async with store.transaction() as tx:
        await tx.grants.put(_grant("a").used_once_more())
        assert await tx.grants.delete("b") is True
        assert await tx.grants.delete("b") is False
        assert await tx.grants.delete("x") is False
        assert [row.id for row in await tx.grants.all()] == ["a", "c"]
    async with store.transaction() as tx:
        assert [(row.id, row.uses) for row in await tx.grants.all()] == [("a", 1), ("c", 0)]
        assert [row.id for row in await tx.grants.covering("fill", ["a.local"])] == ["a", "c"]


async def test_grants_are_found_by_scope_and_domain() -> None:
    """Also after their domains changed, and inside the transaction that changes them."""
    store = MemoryGateStore()
    rows = [
        _grant("1", domains=("a.local", "b.local")),
        _grant("2", scope="read"),
        _grant("3", domains=("b.local",)),
    ]
    async with store.transaction() as tx:
        for row in rows:
            await tx.grants.put(row)

    async def names(tx: Any, scope: Any, domain: str) -> list[str]:
        return [row.id for row in await tx.grants.covering(scope, [domain])]

    async with store.transaction() as tx:
        assert await names(tx, "fill", "b.local") == ["1", "3"]
        assert await names(tx, "fill", "a.local") == ["1"]
        assert await names(tx, "read", "a.local") == ["2"]
        assert await names(tx, "read", "b.local") == []
        await tx.grants.put(attrs.evolve(rows[0], domains=("c.local",)))
        await tx.grants.put(_grant("4", domains=("c.local",)))
        assert await names(tx, "fill", "c.local") == ["1", "4"]
        assert await names(tx, "fill", "b.local") == ["3"]
    async with store.transaction() as tx:
        assert await names(tx, "fill", "c.local") == ["1", "4"]
        assert await names(tx, "fill", "b.local") == ["3"]
        assert await names(tx, "fill", "a.local") == []


async def test_transactions_wait_for_each_other_in_the_order_of_asking() -> None:
    """Isolation: nothing of an open transaction is seen by another."""
    store = MemoryGateStore()
    order: list[str] = []

    async def second() -> None:
        async with store.transaction() as tx:
            order.append(f"second sees {len(await tx.grants.all())}")

    async with trio.open_nursery() as nursery, store.transaction() as tx:
        await tx.grants.put(_grant("1"))
        nursery.start_soon(second)
        await trio.testing.wait_all_tasks_blocked()
        order.append("first ends")
    assert order == ["first ends", "second sees 1"]


def test_a_store_outlives_one_trio_run() -> None:
    """A host may run Trio several times over one store."""
    store = MemoryGateStore()

    async def put() -> None:
        async with store.transaction() as tx:
            await tx.grants.put(_grant("1"))

    async def count() -> int:
        async with store.transaction() as tx:
            return len(await tx.grants.all())

    trio.run(put)
    assert trio.run(count) == 1


@pytest.mark.parametrize(
    "change",
    [{"id": 5}, {"scope": "write"}, {"domains": ["a.local"]}, {"approval": None}, {"uses": "1"}, {"expires_at": "soon"}],
)
def test_a_row_of_a_wrong_shape_cannot_be_built(change: dict[str, Any]) -> None:
    """So a store that reads rows from outside fails where it reads them."""
    with pytest.raises((TypeError, ValueError)):
        _grant("1", **change)


async def test_two_gates_on_one_store_share_grants_and_uses(setup: Any) -> None:
    """GB-G3: a use is never spent twice, not even when the hook of one lets the other in between."""
    store = MemoryGateStore()
    one = setup(store=store, on_decision=lambda event: trio.testing.wait_all_tasks_blocked())
    two = setup(store=store)
    await one.host.add_grant(scope="fill", domains=["notes.local"], max_uses=1)
    decisions: list[str] = []

    async def check(side: Any) -> None:
        decisions.append((await side.gate.check(side.save())).decision)

    async with trio.open_nursery() as nursery:
        for side in (one, two, one, two):
            nursery.start_soon(check, side)
    assert sorted(decisions) == ["allow", "deny", "deny", "deny"]
