"""The contract of a trail, over every store of ours and over one that is written as a user would write it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.testing import check_trail_store
from foxloop_trio.trail import ConflictError, Entry, MemoryTrail, StoreTrail, open_trail


class ListStore:
    """A store of the test's own: a list, with a checkpoint wherever a database would have one."""

    def __init__(self) -> None:
        self.kept: list[Entry] = []

    async def count(self) -> int:
        await trio.lowlevel.checkpoint()
        return len(self.kept)

    async def last(self) -> Entry | None:
        await trio.lowlevel.checkpoint()
        return self.kept[-1] if self.kept else None

    async def all(self) -> AsyncIterator[Entry]:
        for entry in list(self.kept):
            await trio.lowlevel.checkpoint()
            yield entry

    def fits(self, entry: Entry) -> bool:
        return entry.seq == len(self.kept) and entry.prev == (self.kept[-1].hash if self.kept else "0" * 64)

    async def append(self, entry: Entry) -> None:
        await trio.lowlevel.checkpoint()
        if not self.fits(entry):
            raise ConflictError("somebody else was faster")
        self.kept.append(entry)

    async def append_all(self, entries: Sequence[Entry]) -> None:
        await trio.lowlevel.checkpoint()
        if self.kept:
            raise ConflictError("there are entries already")
        self.kept.extend(entries)


Factory = Callable[..., AbstractAsyncContextManager[Any]]


def over(store_class: Callable[[], Any]) -> Factory:
    places: dict[str, Any] = {}

    @asynccontextmanager
    async def opened(name: str, **options: Any) -> AsyncIterator[StoreTrail]:
        yield StoreTrail(places.setdefault(name, store_class()), **options)

    return opened


def memory() -> Factory:
    places: dict[str, MemoryTrail] = {}

    @asynccontextmanager
    async def opened(name: str, **options: Any) -> AsyncIterator[MemoryTrail]:
        if name not in places:
            places[name] = MemoryTrail(**options)
        yield places[name]

    return opened


@pytest.fixture(params=["memory", "file", "file with a lock file", "a store of one's own"])
def factory(request: pytest.FixtureRequest, tmp_path: Path) -> Factory:
    if request.param == "memory":
        return memory()
    if request.param == "a store of one's own":
        return over(ListStore)
    lock = "file" if "lock file" in request.param else "flock"
    return lambda name, **options: open_trail(tmp_path / name, lock=lock, **options)


async def test_every_store_keeps_the_contract(factory: Factory) -> None:
    """T20 to T23, T50, T60, T61, T74: one suite for all."""
    passed = await check_trail_store(factory)
    assert len(passed) == len(set(passed)) == 15


class Forgets(ListStore):
    """A planted fault: it loses every third entry."""

    async def append(self, entry: Entry) -> None:
        if entry.seq != 2:
            await super().append(entry)


class TakesAnything(ListStore):
    """A planted fault: it does not look whether an entry fits on its end."""

    def fits(self, entry: Entry) -> bool:
        return True


class Shares(ListStore):
    """A planted fault: what it hands in later is not in the order in which it came."""

    async def append(self, entry: Entry) -> None:
        await super().append(entry)
        self.kept.sort(key=lambda kept: kept.hash)


class HalfImports(ListStore):
    """A planted fault: it keeps what it had when it refuses."""

    async def append_all(self, entries: Sequence[Entry]) -> None:
        self.kept.extend(entries)


@pytest.mark.parametrize("bad", [Forgets, TakesAnything, Shares, HalfImports], ids=lambda bad: bad.__name__)
async def test_the_suite_finds_planted_faults(bad: type[ListStore]) -> None:
    """A suite that finds nothing must be able to find something; the message names the check."""
    with pytest.raises((AssertionError, ConflictError)) as caught:
        await check_trail_store(over(bad))
    assert str(caught.value)


async def test_a_store_that_is_always_ahead_is_given_up_on_after_a_hundred_times() -> None:
    """Section 4 step 5: ConflictError, and nothing is added by it."""

    class Ahead(ListStore):
        tries = 0

        async def append(self, entry: Entry) -> None:
            self.tries += 1
            raise ConflictError("somebody else was faster")

    store = Ahead()
    with pytest.raises(ConflictError, match="100 times") as caught:
        await StoreTrail(store, key="ab" * 32).append(actor="a", kind="k")
    assert (store.tries, caught.value.code) == (100, "conflict")


async def test_an_entry_is_sealed_anew_when_another_writer_was_faster() -> None:
    """Section 4 step 5, T21: it goes on from the new end."""
    store = ListStore()
    other = StoreTrail(store, key="ab" * 32)

    class Slow(ListStore):
        async def last(self) -> Entry | None:
            last = await store.last()
            if len(store.kept) < 3:
                await other.append(actor="other", kind="k")
            return last

        async def append(self, entry: Entry) -> None:
            await store.append(entry)

    entry = await StoreTrail(Slow(), key="ab" * 32).append(actor="slow", kind="k")
    assert [kept.actor for kept in store.kept] == ["other", "other", "other", "slow"]
    assert entry.seq == 3
    assert (await other.verify()).ok
    assert await store.count() == 4
    assert [kept.seq for kept in await other.entries()] == [0, 1, 2, 3]
