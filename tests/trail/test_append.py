"""Appending, whatever the store: what an entry may be, where it lands, and that nobody can change it afterwards."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError, TrailError
from foxloop_trio.ports import TrailSink
from foxloop_trio.trail import (
    GENESIS,
    EntryTooLargeError,
    InvalidEntryError,
    MemoryTrail,
    StoreError,
    TrailKey,
    TrailKeyError,
    open_trail,
    read_trail,
    verify_entries,
    verify_trail,
)


class Bench:
    """A trail of either kind, and a way to look at what is in it."""

    def __init__(self, trail: Any, path: Path | None) -> None:
        self.trail = trail
        self._path = path

    def entries(self) -> list[Any]:
        if self._path is None:
            return list(self.trail.entries())
        return list(read_trail(self._path)) if self._path.exists() else []

    def verified(self) -> Any:
        return verify_entries(self.entries(), key=self.trail.key)


@pytest.fixture(params=["memory", "file"])
def bench(request: pytest.FixtureRequest, path: Path, key: TrailKey, clock: Any) -> Any:
    @asynccontextmanager
    async def opened(**options: Any) -> AsyncIterator[Bench]:
        options = {"key": key, "now": clock, "blobs_over": None, **options}
        if request.param == "memory":
            yield Bench(MemoryTrail(**options), None)
        else:
            async with open_trail(path, **options) as trail:
                yield Bench(trail, path)

    return opened


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


async def test_entries_form_a_chain_from_genesis(bench: Any, fill: Any) -> None:
    """Section 1: seq from 0 without gaps, each `prev` the hash before."""
    async with bench() as b:
        assert b.entries() == []
        assert b.verified().count == 0
        entries = await fill(b.trail, 4)
        assert [entry.seq for entry in entries] == [0, 1, 2, 3]
        assert [entry.prev for entry in entries] == [GENESIS, *(entry.hash for entry in entries[:-1])]
        assert b.entries() == entries
        assert b.verified().head == entries[-1].hash


async def test_both_trails_are_what_the_loop_calls_a_sink(bench: Any) -> None:
    """The port of the loop, checked structurally; `data` may be left out."""
    async with bench() as b:
        assert isinstance(b.trail, TrailSink)
        assert (await b.trail.append(actor="a", kind="k")).data is None


async def test_a_trail_in_memory_takes_entries_without_waiting(key: TrailKey) -> None:
    """`append_nowait` is `append` without its checkpoint, and may be mixed with it."""
    trail = MemoryTrail(key=key)
    with trio.testing.assert_no_checkpoints():
        first = trail.append_nowait(actor="a", kind="k", data=[1])
    with trio.testing.assert_checkpoints():
        second = await trail.append(actor="a", kind="k", data=[2])
    with pytest.raises(InvalidEntryError):
        trail.append_nowait(actor="", kind="k")
    assert trail.entries() == [first, second]
    assert verify_entries(trail.entries(), key=key)


async def test_an_entry_reads_as_attributes_and_as_the_object_it_is(bench: Any) -> None:
    """Fields in the order of the file."""
    async with bench() as b:
        entry = await b.trail.append(actor="agent", kind="k", data=[1])
    assert list(dict(entry)) == ["seq", "ts", "actor", "kind", "data", "prev", "hash", "mac"]
    assert dict(entry) == entry.to_json()
    assert entry["actor"] == entry.actor == "agent"
    with pytest.raises(KeyError):
        entry["to_json"]


@pytest.mark.parametrize(
    ("actor", "kind"), [("", "k"), ("a", ""), (None, "k"), ("a", 7), (b"a", "k"), ("a", ["k"])], ids=lambda value: repr(value)
)
async def test_an_entry_without_actor_or_kind_is_refused(actor: Any, kind: Any, bench: Any) -> None:
    """Section 4 step 1: nothing is written, and the next good one is number 0."""
    async with bench() as b:
        with pytest.raises(InvalidEntryError) as caught:
            await b.trail.append(actor=actor, kind=kind, data=None)
        assert caught.value.code == "invalid-entry"
        assert b.entries() == []
        assert (await b.trail.append(actor="a", kind="k")).seq == 0


@pytest.mark.parametrize(
    "data",
    [{1, 2}, (1,), b"x", math.nan, math.inf, 2**53, {1: 2}, [object()], {"a": {"b": [b"x"]}}, nested(64)],
    ids=["set", "tuple", "bytes", "nan", "infinity", "2**53", "key", "object", "deep inside", "65 levels"],
)
async def test_data_that_is_no_json_is_refused_and_nothing_is_written(data: Any, bench: Any) -> None:
    """T5, T6: never dropped, never coerced."""
    async with bench() as b:
        with pytest.raises(InvalidEntryError):
            await b.trail.append(actor="a", kind="k", data=data)
        assert b.entries() == []


async def test_data_may_nest_63_levels_since_it_is_itself_at_depth_one(bench: Any) -> None:
    """T6: the innermost number is then at depth 64, and verify agrees."""
    async with bench() as b:
        await b.trail.append(actor="a", kind="k", data=nested(63))
        assert b.verified()


@pytest.mark.parametrize("redact", [(), ("password",)])
async def test_data_that_contains_itself_is_refused(redact: Any, bench: Any) -> None:
    """T6, with and without redaction, which copies the data first."""
    loop: list[Any] = []
    loop.extend([loop, {"x": loop}])
    async with bench(redact=redact) as b:
        with pytest.raises(InvalidEntryError, match="contains itself"):
            await b.trail.append(actor="a", kind="k", data=loop)
        assert b.entries() == []


@pytest.mark.parametrize("redact", [(), ("password",)])
async def test_a_nesting_bomb_is_refused_without_recursion(redact: Any, bench: Any) -> None:
    """T6: 100,000 levels."""
    async with bench(redact=redact) as b:
        with pytest.raises(InvalidEntryError, match="deeper"):
            await b.trail.append(actor="a", kind="k", data=nested(100_000))


@pytest.mark.parametrize("redact", [(), ("password",)])
async def test_an_entry_over_one_mebibyte_is_refused_and_nothing_is_written(redact: Any, bench: Any) -> None:
    """Section 4 step 4; the limit counts UTF-8 bytes of the whole canonical body, so exactly the largest one passes."""
    async with bench(redact=redact) as b:
        body = len(
            '{"actor":"a","data":"","kind":"k","prev":"' + GENESIS + '","seq":0,"ts":1000}'  # the wall clock says 1 s
        )
        fits = 1_048_576 - body
        for data in ("x" * (fits + 1), "\xe9" * (fits // 2 + 1), ["x"] * 600_000, {"k": "x" * 2_000_000}):
            with pytest.raises(EntryTooLargeError) as caught:
                await b.trail.append(actor="a", kind="k", data=data)
            assert caught.value.code == "entry-too-large"
            assert b.entries() == []
        await b.trail.append(actor="a", kind="k", data="x" * fits)
        await b.trail.append(actor="a", kind="k", data="small again")
        assert b.verified().count == 2


async def test_changing_the_objects_afterwards_changes_nothing(bench: Any) -> None:
    """Section 4 step 2: neither the caller's object nor the returned entry nor a read one is the log's own."""
    data = {"list": [1], "deep": {"x": 1}}
    async with bench() as b:
        entry = await b.trail.append(actor="a", kind="k", data=data)
        data["list"].append(2)
        entry.data["deep"]["x"] = 2
        b.entries()[0].data["list"].clear()
        assert b.entries()[0].data == {"list": [1], "deep": {"x": 1}}
        assert b.verified()


async def test_data_is_frozen_when_append_is_called_not_when_its_turn_comes(bench: Any) -> None:
    """A change made while the append waits in the queue does not show."""
    async with bench() as b:
        data = {"n": 1}

        async def change() -> None:
            data["n"] = 2

        async with trio.open_nursery() as nursery:
            nursery.start_soon(change)
            await b.trail.append(actor="a", kind="k", data=data)
        assert data == {"n": 2}
        assert b.entries()[0].data == {"n": 1}


@pytest.mark.parametrize(
    "data", [{"n": 12345678901234567000.0}, [1e21, 5.0, -0.0], "\ud83d", {"\U0001f600": 1, "\ufb33": 2}, "\ud83d\ude00"]
)
async def test_data_verifies_after_it_was_written_and_read(data: Any, bench: Any) -> None:
    """T4: digits beyond 2**53 are a double's; T3: surrogates come back as what the text says."""
    async with bench() as b:
        await b.trail.append(actor="a", kind="k", data=data)
        assert b.verified()


async def test_actor_and_kind_may_be_any_text(bench: Any) -> None:
    """Also with quotes, line separators and a lone surrogate: the line stays one line."""
    async with bench() as b:
        await b.trail.append(actor='a"\n\u2028\x85', kind="\ud800", data=None)
        await b.trail.append(actor="b", kind="k", data=None)
        assert b.verified().count == 2
        assert b.entries()[0].actor == 'a"\n\u2028\x85'


async def test_a_clock_that_goes_back_does_not_take_the_trail_with_it(bench: Any, clock: Any) -> None:
    """Section 4 step 3: ts stays until the clock has caught up; whole milliseconds, never below zero."""
    async with bench() as b:
        seen = []
        for seconds in (-5.0, 10.0, 3.0, 9.9999, 10.0016, 12.5):
            clock.seconds = seconds
            seen.append((await b.trail.append(actor="a", kind="k")).ts)
        assert seen == [0, 10_000, 10_000, 10_000, 10_002, 12_500]
        assert b.verified()


@pytest.mark.parametrize("seconds", [math.nan, math.inf, 1e300])
async def test_a_broken_clock_is_an_error_and_nothing_is_written(seconds: float, bench: Any, clock: Any) -> None:
    """No time, no entry; the next one is fine."""
    async with bench() as b:
        clock.seconds = seconds
        with pytest.raises(StoreError, match="clock"):
            await b.trail.append(actor="a", kind="k")
        clock.seconds = 1.0
        await b.trail.append(actor="a", kind="k")
        assert b.verified().count == 1


async def test_fifty_appends_at_once_land_in_call_order_in_one_chain(bench: Any) -> None:
    """T20: the order of the calls, though Trio runs ready tasks in random order."""
    async with bench() as b:
        called: list[int] = []

        async def one(n: int) -> None:
            called.append(n)
            await b.trail.append(actor="a", kind="k", data=n)

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                for n in range(50):
                    nursery.start_soon(one, n)
        assert [entry.data for entry in b.entries()] == called
        assert b.verified().count == 50


async def test_a_failed_append_does_not_hold_up_the_next(bench: Any, clock: Any) -> None:
    """T20: one fails before its turn, one in it (the clock), and those behind them land."""
    async with bench() as b:
        outcomes: list[str] = []

        async def one(data: Any) -> None:
            try:
                await b.trail.append(actor="a", kind="k", data=data)
                outcomes.append("ok")
            except TrailError as error:
                outcomes.append(error.code)

        async with trio.open_nursery() as nursery:
            for data in ({1}, "x" * 1_048_500, 1, 2):
                nursery.start_soon(one, data)
        assert sorted(outcomes) == ["entry-too-large", "invalid-entry", "ok", "ok"]
        assert b.verified().count == 2


@pytest.mark.parametrize("bad", [None, "", "ab", "ab" * 31, "zz" * 32, b"short", "abc" * 21, 7])
async def test_a_bad_key_is_refused_before_anything_is_made(bad: Any, path: Path) -> None:
    """T10; None means the default key for `open_trail`, so it is left out there."""
    if bad is not None:
        with pytest.raises(TrailKeyError):
            MemoryTrail(key=bad)
        with pytest.raises(TrailKeyError):
            async with open_trail(path, key=bad):
                pass
        assert not path.exists()
    with pytest.raises(TrailKeyError):
        verify_trail(path, key=bad)


@pytest.mark.parametrize("redact", ["password", [1], ["ok", None]])
async def test_a_redact_option_that_is_no_list_of_names_is_refused(redact: Any, bench: Any) -> None:
    """A single text would hide every one-letter key and not the one that was meant."""
    with pytest.raises(BadOptionsError):
        async with bench(redact=redact):
            pass


async def test_a_memory_trail_makes_a_key_of_its_own_from_the_ids(ids: Any) -> None:
    """So that seeded ids give the same bytes again, and two trails without them do not share a key."""
    texts = []
    for _ in range(2):
        ids.count = 0
        trail = MemoryTrail(now=lambda: 1.0, ids=ids)
        await trail.append(actor="a", kind="k")
        texts.append(trail.text())
        assert verify_entries(trail.entries(), key=trail.key)
    assert texts[0] == texts[1]
    assert ids.purposes == ["trail-key", "trail-key"]
    assert MemoryTrail().key.export_hex() != MemoryTrail().key.export_hex()
