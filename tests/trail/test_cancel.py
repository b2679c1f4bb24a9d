"""Cancelling an append at any point: either it raises Cancelled and nothing was written, or it returns and the entry is there."""

from __future__ import annotations

import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.trail import MemoryTrail, TrailError, TrailKey, open_trail, read_trail, verify_entries, verify_trail
from foxloop_trio.trail._file import Addition, FileSystem


class CancelAtStep(trio.abc.Instrument):
    """Cancels `scope` after the watched task was scheduled for the `step`-th time."""

    def __init__(self, scope: trio.CancelScope, step: int) -> None:
        self._scope = scope
        self._step = step
        self._task = trio.lowlevel.current_task()
        self.steps = 0

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        if task is self._task:
            self.steps += 1
            if self.steps == self._step:
                self._scope.cancel()


async def sweep(make: Any) -> tuple[int, list[str]]:
    """Append three entries, cancelled at the 1st, 2nd, … step until it runs through; how many steps, and what was wrong."""
    problems: list[str] = []
    step = 0
    while True:
        step += 1
        acknowledged: list[int] = []
        async with make() as (trail, entries):
            with trio.CancelScope() as scope:
                watch = CancelAtStep(scope, step)
                trio.lowlevel.add_instrument(watch)
                try:
                    for n in range(3):
                        await trail.append(actor="a", kind="k", data=n)
                        acknowledged.append(n)
                    await trio.lowlevel.checkpoint()
                finally:
                    trio.lowlevel.remove_instrument(watch)
            for wanted in (acknowledged, [*acknowledged, "next"]):
                try:
                    if wanted != acknowledged:
                        await trail.append(actor="a", kind="k", data="next")
                    there = entries()
                    if [entry.data for entry in there] != wanted or not verify_entries(there, key=trail.key):
                        problems.append(f"step {step}: {wanted} acknowledged, {[entry.data for entry in there]} there")
                except TrailError as error:
                    problems.append(f"step {step}: {error}")
        if watch.steps < step:
            return step - 1, problems


class LateCheckpoint:
    """A planted fault: a checkpoint after the write."""

    def __init__(self, trail: Any) -> None:
        self._trail = trail
        self.key = trail.key

    async def append(self, **entry: Any) -> Any:
        written = await self._trail.append(**entry)
        await trio.lowlevel.checkpoint()
        return written


class Abandoning:
    """A planted fault: the write's thread is left alone when a cancel comes."""

    def __init__(self, trail: Any) -> None:
        self._trail = trail
        self.key = trail.key

    async def append(self, *, actor: str, kind: str, data: Any) -> Any:
        draft = self._trail._drafter.draft(actor, kind, data)
        return await trio.to_thread.run_sync(self._trail._file.add, [Addition(draft, 1, {})], abandon_on_cancel=True)


def maker(kind: str, tmp_path: Path, key: TrailKey, wrap: Any = lambda trail: trail) -> Any:
    count = 0

    @asynccontextmanager
    async def make() -> AsyncIterator[Any]:
        nonlocal count
        count += 1
        if kind == "memory":
            trail: Any = MemoryTrail(key=key)
            yield wrap(trail), trail.entries
        else:
            path = tmp_path / f"{count}.trail"
            async with open_trail(path, key=key) as trail:
                yield wrap(trail), lambda: list(read_trail(path)) if path.exists() else []

    return make


@pytest.mark.parametrize(("kind", "least"), [("memory", 4), ("file", 4)])
async def test_an_append_cancelled_at_any_step_is_there_or_raised(kind: str, least: int, tmp_path: Path, key: TrailKey) -> None:
    """H14, T22: acknowledged and written are the same, the chain verifies, and it can be continued."""
    with trio.fail_after(60):
        steps, problems = await sweep(maker(kind, tmp_path, key))
    assert problems == []
    assert steps >= least


@pytest.mark.parametrize(("kind", "fault"), [("memory", LateCheckpoint), ("file", LateCheckpoint), ("file", Abandoning)])
async def test_the_sweep_finds_planted_faults(kind: str, fault: Any, tmp_path: Path, key: TrailKey) -> None:
    """A sweep that finds nothing must be able to find something."""
    with trio.fail_after(60):
        _, problems = await sweep(maker(kind, tmp_path, key, fault))
    assert problems != []


class Held(FileSystem):
    """Writes wait until they are let go, half of the line already written."""

    def __init__(self) -> None:
        self.token = trio.lowlevel.current_trio_token()
        self.begun = trio.Event()
        self.let_go = threading.Event()
        self.hold = True

    def write(self, fd: int, data: bytes) -> int:
        if not self.hold:
            return os.write(fd, data)
        half = len(data) // 2
        os.write(fd, data[:half])
        self.token.run_sync_soon(self.begun.set)
        assert self.let_go.wait(30)
        return half + os.write(fd, data[half:])


async def test_cancels_before_in_and_behind_a_write_do_what_they_should(path: Path, key: TrailKey, open_over: Any) -> None:
    """T22: the one being written ends and returns normally, the one that waits is gone, those behind it land; cancelled ones before
    the call write nothing."""
    files = Held()
    seen: dict[str, str] = {}

    async def one(name: str, scope: trio.CancelScope) -> None:
        with scope:
            try:
                await trail.append(actor="a", kind="k", data=name)
            except trio.Cancelled:
                seen[name] = "cancelled"
                raise
            seen[name] = "written"
            await trio.lowlevel.checkpoint_if_cancelled()
            seen[name] = "written, not cancelled"

    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            early, writing, waiting, behind = (trio.CancelScope() for _ in range(4))
            early.cancel()
            await one("early", early)
            nursery.start_soon(one, "writing", writing)
            await files.begun.wait()
            for name, scope in (("waiting", waiting), ("behind", behind)):
                nursery.start_soon(one, name, scope)
                await trio.testing.wait_all_tasks_blocked()
            writing.cancel()
            waiting.cancel()
            await trio.testing.wait_all_tasks_blocked()
            assert seen == {"early": "cancelled", "waiting": "cancelled"}
            files.hold = False
            files.let_go.set()
    assert seen == {"early": "cancelled", "waiting": "cancelled", "writing": "written", "behind": "written, not cancelled"}
    assert [entry.data for entry in read_trail(path)] == ["writing", "behind"]
    assert verify_trail(path, key=key).ok


async def test_a_timeout_bounds_the_wait_for_a_turn_but_no_write_that_has_begun(path: Path, key: TrailKey, open_over: Any) -> None:
    """T22a: the second append gives up on time though the first still writes."""
    files = Held()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            nursery.start_soon(lambda: trail.append(actor="a", kind="k", data=1))
            await files.begun.wait()
            with trio.move_on_after(0.05) as limit:
                await trail.append(actor="a", kind="k", data=2)
            assert limit.cancelled_caught
            files.hold = False
            files.let_go.set()
    assert [entry.data for entry in read_trail(path)] == [1]


async def test_a_cancelled_scope_that_is_shielded_still_appends(path: Path, key: TrailKey) -> None:
    """How the record of a stop gets out."""
    async with open_trail(path, key=key) as trail:
        with trio.CancelScope() as outer:
            outer.cancel()
            with trio.CancelScope(shield=True):
                await trail.append(actor="a", kind="stop")
    assert verify_trail(path, key=key).ok


async def test_appends_stand_still_on_an_unbroken_chain_when_a_run_is_cancelled(path: Path, key: TrailKey) -> None:
    """Many tasks append, then the whole nursery is cancelled: what was acknowledged is there, and nothing else."""
    acknowledged: list[int] = []
    enough = trio.Event()

    async def endless(trail: Any, base: int) -> None:
        for n in range(base, base + 1000):
            await trail.append(actor="a", kind="k", data=n)
            acknowledged.append(n)
            if len(acknowledged) == 40:
                enough.set()

    with trio.fail_after(30):
        async with open_trail(path, key=key) as trail, trio.open_nursery() as nursery:
            for base in range(0, 8000, 1000):
                nursery.start_soon(endless, trail, base)
            await enough.wait()
            nursery.cancel_scope.cancel()
    there = [entry.data for entry in read_trail(path)]
    assert sorted(there) == sorted(acknowledged)  # those of one sync are told at once, in any order
    for base in range(0, 8000, 1000):
        mine = [n for n in there if base <= n < base + 1000]
        assert mine == list(range(base, base + len(mine)))
    assert verify_trail(path, key=key).ok
