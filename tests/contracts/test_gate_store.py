"""The contract of a gate store, on both of ours; and that the suite finds what a bad store does."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.gate import MemoryGateStore, SqliteGateStore
from foxloop_trio.gate._turns import Turns
from foxloop_trio.testing import check_gate_store


async def test_the_memory_store_keeps_the_contract() -> None:
    """All parts but the one about reopening."""
    report = await check_gate_store(MemoryGateStore)
    assert len(report.passed) >= 12


async def test_the_sqlite_store_keeps_the_contract(tmp_path: Path) -> None:
    """All parts, that about reopening included."""
    paths = (tmp_path / f"{number}.db" for number in range(1000))
    made: list[Path] = []

    async def factory() -> SqliteGateStore:
        made.append(next(paths))
        return SqliteGateStore(made[-1])

    report = await check_gate_store(factory, reopen=lambda _: SqliteGateStore(made[-1]))
    assert "saved rows are there after reopening" in report.passed
    assert len(report.passed) >= 13


class Faulty:
    """A memory store with one fault: `method` of `table` ("" for the transaction itself) is replaced."""

    def __init__(self, table: str, method: str, replaced: Any) -> None:
        self.inner = MemoryGateStore()
        self.fault = (table, method, replaced)

    @asynccontextmanager
    async def transaction(self) -> Any:
        async with self.inner.transaction() as tx:
            yield Seen(tx, "", self.fault)


class Seen:
    def __init__(self, real: Any, table: str, fault: tuple[str, str, Any]) -> None:
        self.real, self.table, self.fault = real, table, fault

    def __getattr__(self, name: str) -> Any:
        table, method, replaced = self.fault
        value = getattr(self.real, name)
        if name in ("grants", "requests", "spends", "rules"):
            return Seen(value, name, self.fault)
        if name != method or (table and table != self.table):
            return value

        async def call(*args: Any, **options: Any) -> Any:
            return await replaced(value, *args, **options)

        return call


async def _reversed(real: Any, *args: Any) -> Any:
    return list(await real(*args))[::-1]


async def _first_name_only(real: Any, scope: Any, names: Any) -> Any:
    return await real(scope, list(names)[:1])


async def _each_name(real: Any, scope: Any, names: Any) -> Any:
    return [row for name in names for row in await real(scope, [name])]


async def _any_scope(real: Any, scope: Any, names: Any) -> Any:
    return [row for each in ("read", "fill", "submit", "pay") for row in await real(each, names)]


async def _always(real: Any, *args: Any) -> Any:
    await real(*args)
    return True


async def _too_early(real: Any, at: float) -> None:
    await real(at - 0.5)


async def _nothing(real: Any, *args: Any) -> None:
    pass


def _without(name: str) -> Any:
    async def total(real: Any, grant: str, **of_it: Any) -> Any:
        return await real(grant, **{key: value for key, value in of_it.items() if key != name})

    return total


async def _swapped(real: Any) -> Any:
    waiting, stored = await real()
    return stored, waiting


async def _no_time(real: Any) -> None:
    return None


async def _rounded(real: Any, at: float) -> None:
    await real(round(at, 3))


@pytest.mark.parametrize(
    ("table", "method", "replaced", "part"),
    [
        ("grants", "all", _reversed, "rows"),
        ("grants", "covering", _first_name_only, "grants are found"),
        ("grants", "covering", _each_name, "grants are found"),
        ("grants", "covering", _any_scope, "grants are found"),
        ("requests", "delete", _always, "empty"),
        ("grants", "delete", _always, "empty"),
        ("requests", "forget", _too_early, "requests"),
        ("requests", "about", _reversed, "requests"),
        ("requests", "counts", _swapped, "requests"),
        ("spends", "total", _without("run"), "money"),
        ("spends", "total", _without("day"), "money"),
        ("spends", "total", _without("host"), "money"),
        ("spends", "forget", _nothing, "money"),
        ("rules", "put", _nothing, "rows come back"),
        ("", "time", _no_time, "rows come back"),
        ("", "set_time", _rounded, "rows come back"),
    ],
)
async def test_the_suite_finds_a_planted_fault(table: str, method: str, replaced: Any, part: str) -> None:
    """And names the part of the contract that does not hold."""
    with pytest.raises(AssertionError) as caught:
        await check_gate_store(lambda: Faulty(table, method, replaced))
    first, claim, seen = str(caught.value).splitlines()[:3]
    assert part in first
    assert claim.startswith("  it must hold that: ")
    assert seen.startswith("  but: ")


class SavesAlways:
    """Saves what a transaction wrote although it was left by an exception."""

    def __init__(self) -> None:
        self.inner = MemoryGateStore()

    @asynccontextmanager
    async def transaction(self) -> Any:
        fault: BaseException | None = None
        async with self.inner.transaction() as tx:
            try:
                yield tx
            except BaseException as error:
                fault = error
        if fault is not None:
            raise fault


class Stale:
    """Two transactions at once: the later save wins."""

    def __init__(self) -> None:
        self.inner = MemoryGateStore()

    @asynccontextmanager
    async def transaction(self) -> Any:
        self.inner._turns = Turns()
        async with self.inner.transaction() as tx:
            yield tx


class HoldsOn:
    """Never lets the next one in after a transaction that failed."""

    def __init__(self) -> None:
        self.inner = MemoryGateStore()
        self.failed = False

    @asynccontextmanager
    async def transaction(self) -> Any:
        if self.failed:
            await trio.sleep_forever()
        try:
            async with self.inner.transaction() as tx:
                yield tx
        except BaseException:
            self.failed = True
            raise


@pytest.mark.parametrize(
    ("store", "part"),
    [(SavesAlways, "leaving by an exception"), (Stale, "transactions wait"), (HoldsOn, "leaving by an exception")],
)
async def test_the_suite_finds_a_broken_transaction(store: Any, part: str, autojump_clock: Any) -> None:
    """Not saving, not isolating, not letting go."""
    with pytest.raises(AssertionError, match=part):
        await check_gate_store(store)


async def test_a_factory_that_makes_no_store_is_told_so() -> None:
    """Before anything is tried."""
    with pytest.raises(AssertionError, match=r"no transaction\(\) method"):
        await check_gate_store(dict)
