"""The contract of a trail, as a suite that any store of entries can be held against."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final

import trio

from ..errors import NotJsonError, TrailError
from ..trail import (
    GENESIS,
    ConflictError,
    EntryTooLargeError,
    InvalidEntryError,
    MemoryTrail,
    Verified,
    check_redacted,
    secret,
    verify_entries,
)
from ..trail._jsonl import parse_jsonl

__all__ = ["check_trail_store"]

KEY: Final = "ab" * 32
"""The key of the trail format's test vectors (section 13)."""

Factory = Callable[..., AbstractAsyncContextManager[Any]]


class _Clock:
    def __init__(self) -> None:
        self.seconds = 1.0

    def __call__(self) -> float:
        return self.seconds


class _Place:
    """One storage: opens trails on it, each with the same key and clock."""

    def __init__(self, factory: Factory, name: str) -> None:
        self._factory = factory
        self._name = name
        self.clock = _Clock()

    def open(self, **options: Any) -> AbstractAsyncContextManager[Any]:
        return self._factory(self._name, **{"key": KEY, "now": self.clock, **options})


async def check_trail_store(factory: Factory) -> tuple[str, ...]:
    """Hold a store of trail entries against the trail's contract; returns the names of the checks that it passed.

    `factory(name, *, key, now, redact=())` gives an async context manager of a trail: something with `append`, `verify`,
    `checkpoint`, `export_jsonl` and `import_jsonl` as `FileTrail` has them, such as a `StoreTrail` over a store of your own, which
    gets the options. The same `name` again must open the same entries, also while they are open already.

    Raises AssertionError that names the check and what was wrong.
    """
    passed: list[str] = []
    for check in _CHECKS:
        name = check.__name__.removeprefix("_").replace("_", " ")
        try:
            with trio.fail_after(60):
                await check(_Place(factory, check.__name__.strip("_")))
        except AssertionError as fault:
            raise AssertionError(f"{name}: {fault}") from fault
        except trio.TooSlowError as fault:
            raise AssertionError(f"{name}: not done within 60 s") from fault
        passed.append(name)
    return tuple(passed)


def _equal(seen: object, expected: object, what: str) -> None:
    assert seen == expected, f"{what}: {seen!r:.300} instead of {expected!r:.300}"


async def _held(trail: Any) -> list[Mapping[str, Any]]:
    """The entries that the trail holds, by way of its export."""
    return parse_jsonl(await trail.export_jsonl())


async def _refuses(what: str, error: type[Exception], call: Callable[[], Awaitable[Any]]) -> None:
    try:
        await call()
    except error:
        return
    except Exception as fault:
        raise AssertionError(f"{what} must raise {error.__name__}, not {type(fault).__name__}: {fault}") from fault
    raise AssertionError(f"{what} must raise {error.__name__}")


async def _an_empty_trail_verifies_and_has_a_checkpoint(place: _Place) -> None:
    async with place.open() as trail:
        _equal(await trail.export_jsonl(), "", "the text of an empty trail")
        _equal(await trail.verify(), Verified(count=0, head=GENESIS), "the verdict on an empty trail")
        checkpoint = await trail.checkpoint()
        _equal((checkpoint["count"], checkpoint["head"]), (0, GENESIS), "the checkpoint of an empty trail")
        assert await trail.verify(checkpoint), "the checkpoint of an empty trail does not verify"


async def _entries_form_a_chain_and_are_what_append_returned(place: _Place) -> None:
    async with place.open() as trail:
        returned = [await trail.append(actor="agent", kind="test", data={"n": n}) for n in range(4)]
        _equal([entry["seq"] for entry in await _held(trail)], [0, 1, 2, 3], "the numbers of the entries")
        _equal(await _held(trail), [dict(entry) for entry in returned], "the entries")
        _equal(returned[0].prev, GENESIS, "prev of the first entry")
        _equal([entry.prev for entry in returned[1:]], [entry.hash for entry in returned[:-1]], "prev of the others")
        _equal(await trail.verify(), Verified(count=4, head=returned[-1].hash), "the verdict")


async def _the_published_vectors_come_out(place: _Place) -> None:
    async with place.open() as trail:
        first = await trail.append(actor="agent", kind="run.start")
        place.clock.seconds = 1.01
        second = await trail.append(actor="agent", kind="loop.plan", data={"b": 1, "a": {"y": [1, {"d": 4, "c": 3}], "x": None}})
    _equal(first.mac, "99cfae8717f58c61b969ec3e830b4e330a2ec937b03c03982415be468aaf2075", "the mac of the first vector")
    _equal(second.hash, "16fd1c1c37dd790a9074575c8d6657be913370e4ca9ef4c66e44e1b5d37ec98a", "the hash of the second vector")
    _equal(second.mac, "f4d3894db29e3b93adeb6aa8cd7abf2383a3992946ac22505cb57cc1be77be00", "the mac of the second vector")


async def _text_of_all_kinds_comes_back(place: _Place) -> None:
    data: dict[str, Any] = {
        "text": 'caf\u00e9 \u2028 \x7f \x01 "q" \\ /\r\n',
        "\U0001f600": [0.1, 1e21, 1e-7, 5],
        "\ufb33": None,
        "": {},
        "x" * 500: [],
    }
    async with place.open() as trail:
        await trail.append(actor='a"\n\u2028\x85', kind="k\t", data=data)
        await trail.append(actor="b", kind="k", data="x" * 300_000)
        held = await _held(trail)
        _equal(held[0]["data"], data, "the data")
        _equal(held[0]["actor"], 'a"\n\u2028\x85', "the actor")
        assert await trail.verify(), "the trail does not verify"


async def _what_callers_change_afterwards_does_not_show(place: _Place) -> None:
    data: dict[str, Any] = {"list": [1]}
    async with place.open() as trail:
        entry = await trail.append(actor="a", kind="k", data=data)
        data["list"].append(2)
        entry.data["list"].append(3)
        _equal((await _held(trail))[0]["data"], {"list": [1]}, "the data")
        assert await trail.verify(), "the trail does not verify"


async def _bad_entries_are_refused_and_leave_nothing(place: _Place) -> None:
    async with place.open() as trail:
        bad: list[dict[str, Any]] = [{"actor": "", "kind": "k"}, {"actor": "a", "kind": ""}]
        bad += [{"actor": "a", "kind": "k", "data": data} for data in ({1, 2}, float("nan"), 2**53)]
        for entry in bad:
            await _refuses(f"the entry {entry}", InvalidEntryError, partial(trail.append, **entry))
        await _refuses("2 MB of data", EntryTooLargeError, lambda: trail.append(actor="a", kind="k", data=["x" * 1000] * 2000))
        _equal(await _held(trail), [], "what is there after refusals")
        _equal((await trail.append(actor="a", kind="k")).seq, 0, "the number of the next good entry")


async def _appends_land_in_the_order_of_the_calls(place: _Place) -> None:
    called: list[int] = []
    async with place.open() as trail:

        async def one(n: int) -> None:
            called.append(n)
            await trail.append(actor="a", kind="k", data=n)

        async with trio.open_nursery() as nursery:
            for n in range(50):
                nursery.start_soon(one, n)
        _equal([entry["data"] for entry in await _held(trail)], called, "the order")
        assert await trail.verify(), "the trail does not verify"


async def _a_failed_append_does_not_hold_up_the_next(place: _Place) -> None:
    outcomes: list[str] = []
    async with place.open() as trail:

        async def one(data: Any) -> None:
            try:
                await trail.append(actor="a", kind="k", data=data)
                outcomes.append("written")
            except (TrailError, NotJsonError) as fault:
                outcomes.append(fault.code)

        async with trio.open_nursery() as nursery:
            for data in ({1}, "fine", ["x" * 1000] * 2000, "fine too"):
                nursery.start_soon(one, data)
        _equal(sorted(outcomes), ["entry-too-large", "invalid-entry", "written", "written"], "the outcomes")
        _equal((await trail.verify()).count, 2, "the number of entries")


async def _two_trails_on_one_store_give_one_chain(place: _Place) -> None:
    async with place.open() as one, place.open() as two:

        async def some(trail: Any, name: str) -> None:
            for n in range(10):
                await trail.append(actor=name, kind="k", data=n)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(some, one, "one")
            nursery.start_soon(some, two, "two")
        held = await _held(one)
        assert verify_entries(held, key=KEY), "the chain is broken"
        for name in ("one", "two"):
            _equal([entry["data"] for entry in held if entry["actor"] == name], list(range(10)), f"the entries of trail {name}")
        _equal(await _held(two), held, "what the other trail holds")


async def _a_trail_goes_on_where_it_was_left(place: _Place) -> None:
    place.clock.seconds = 50.0
    async with place.open() as trail:
        first = await trail.append(actor="a", kind="k", data=1)
    place.clock.seconds = 20.0
    async with place.open() as trail:
        second = await trail.append(actor="a", kind="k", data=2)
        _equal((second.seq, second.prev), (1, first.hash), "number and prev of the next entry")
        _equal(second.ts, 50_000, "its time after the clock went back, in ms")
        assert await trail.verify(), "the trail does not verify"


async def _secrets_are_nowhere_in_it(place: _Place) -> None:
    async with place.open(redact=["password"]) as trail:
        entry = await trail.append(actor="a", kind="k", data={"x": secret("hunter2"), "Pass-Word": "hunter2", "n": 1})
        text = await trail.export_jsonl()
    assert "hunter2" not in text, "the plain value is in the text"
    assert check_redacted(entry.data["x"], "hunter2", key=KEY), "the marker does not fit its value"
    assert check_redacted(entry.data["Pass-Word"], "hunter2", key=KEY), "the marker under a hidden name does not fit its value"


async def _a_checkpoint_finds_a_cut_end_and_stays_good(place: _Place) -> None:
    async with place.open() as trail:
        for n in range(3):
            await trail.append(actor="a", kind="k", data=n)
        checkpoint = await trail.checkpoint()
        await trail.append(actor="a", kind="k", data="later")
        assert await trail.verify(checkpoint), "the checkpoint went bad when the trail grew"
        held = await _held(trail)
    fault = verify_entries(held[:2], key=KEY, checkpoint=checkpoint)
    assert not fault.ok, "a cut end is not found"
    _equal(fault.reason, "truncated", "the fault of a cut end")


async def _an_export_can_be_imported_whole_or_not_at_all(place: _Place) -> None:
    good = await _text_of_three(KEY)
    lines = good.splitlines(keepends=True)
    async with place.open() as trail:
        for what, text in (
            ("an edited text", good.replace('"data":1', '"data":7')),
            ("a text with a line missing", lines[0] + lines[2]),
            ("a text with a blank line", lines[0] + "\n" + lines[1]),
            ("a text of another key", await _text_of_three("cd" * 32)),
        ):
            await _refuses(what, InvalidEntryError, partial(trail.import_jsonl, text))
            _equal(await trail.export_jsonl(), "", f"what is there after {what}")
        _equal(await trail.import_jsonl(good), 3, "the number that an import returns")
        _equal(await trail.export_jsonl(), good, "the text after the import")
        await _refuses("a second import", ConflictError, lambda: trail.import_jsonl(good))
        _equal((await trail.append(actor="a", kind="k")).seq, 3, "the number of the next entry")
        assert await trail.verify(), "the trail does not verify"


async def _text_of_three(key: str) -> str:
    trail = MemoryTrail(key=key, now=lambda: 1.0)
    for n in range(3):
        await trail.append(actor="a", kind="k", data=n)
    return trail.text()


async def _a_cancelled_append_is_there_or_it_is_not(place: _Place) -> None:
    """Cancelled at its first step, its second, and so on: acknowledged and there are the same thing."""
    async with place.open() as trail:
        expected: list[str] = []
        step = 0
        while True:
            step += 1
            with trio.CancelScope() as scope:
                watch = _CancelAtStep(scope, step)
                trio.lowlevel.add_instrument(watch)
                try:
                    await trail.append(actor="a", kind="k", data=f"step {step}")
                    expected.append(f"step {step}")
                finally:
                    trio.lowlevel.remove_instrument(watch)
            _equal([entry["data"] for entry in await _held(trail)], expected, f"after a cancel at step {step}")
            if watch.steps < step:
                break
        assert await trail.verify(), "the trail does not verify"


class _CancelAtStep(trio.abc.Instrument):
    """Cancels `scope` before the watched task is scheduled for the `step`-th time; step 1 is before it begins."""

    def __init__(self, scope: trio.CancelScope, step: int) -> None:
        self._scope = scope
        self._step = step
        self._task = trio.lowlevel.current_task()
        self.steps = 0
        self._count()

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self._task:
            self._count()

    def _count(self) -> None:
        self.steps += 1
        if self.steps == self._step:
            self._scope.cancel()


async def _blobs_are_kept_beside_the_entries(place: _Place) -> None:
    async with place.open() as trail:
        if not hasattr(trail, "blob"):
            return  # a store without blobs keeps everything in its entries
        marker = await trail.blob(b"\x89PNG", "image/png")
        _equal((marker["bytes"], marker["type"]), (4, "image/png"), "length and type in the marker")
        entry = await trail.append(actor="a", kind="k", data={"shot": marker})
        _equal(entry.data, {"shot": marker}, "the data with the marker")
        _equal(await trail.verify(), Verified(count=1, head=entry.hash), "the verdict")


_CHECKS: Final[tuple[Callable[[_Place], Awaitable[None]], ...]] = (
    _an_empty_trail_verifies_and_has_a_checkpoint,
    _entries_form_a_chain_and_are_what_append_returned,
    _the_published_vectors_come_out,
    _text_of_all_kinds_comes_back,
    _what_callers_change_afterwards_does_not_show,
    _bad_entries_are_refused_and_leave_nothing,
    _appends_land_in_the_order_of_the_calls,
    _a_failed_append_does_not_hold_up_the_next,
    _two_trails_on_one_store_give_one_chain,
    _a_trail_goes_on_where_it_was_left,
    _secrets_are_nowhere_in_it,
    _a_checkpoint_finds_a_cut_end_and_stays_good,
    _an_export_can_be_imported_whole_or_not_at_all,
    _a_cancelled_append_is_there_or_it_is_not,
    _blobs_are_kept_beside_the_entries,
)
