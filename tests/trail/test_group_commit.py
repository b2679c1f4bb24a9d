"""What gathers while a sync runs goes out with the next one, and each append returns only when its own entry is on disk."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import errno
import logging
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.trail import EntryTooLargeError, StoreError, TrailKey, read_trail, verify_trail
from foxloop_trio.trail._file import FileSystem


class Slow(FileSystem):
    """A disk whose syncs wait until they are let go, one by one; notes how many lines each write had."""

    def __init__(self) -> None:
        self.token = trio.lowlevel.current_trio_token()
        self.begun = trio.Event()
        self.go = threading.Semaphore(0)
        self.writes: list[int] = []
        self.syncs = 0
        self.fault: int | None = None
        self.room: int | None = None

    def write(self, fd: int, data: bytes) -> int:
        if self.room is not None and len(data) > self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.writes.append(data.count(b"\n"))
        if self.room is not None:
            self.room -= len(data)
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        self.token.run_sync_soon(self.begun.set)
        assert self.go.acquire(timeout=30)
        if self.fault is not None:
            raise OSError(self.fault, os.strerror(self.fault))
        os.fsync(fd)
        self.syncs += 1


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that another thread does, and that tells nobody."""
    while not holds():  # noqa: ASYNC110 - a thread sets no Trio event
        await trio.sleep(0.01)


class Party:
    """Appends by several tasks, and what became of each."""

    def __init__(self, trail: Any, nursery: trio.Nursery) -> None:
        self._trail = trail
        self._nursery = nursery
        self.ends: dict[Any, Any] = {}

    async def call(self, *datas: Any) -> None:
        for data in datas:
            self._nursery.start_soon(self._one, data)
            await trio.testing.wait_all_tasks_blocked()

    async def _one(self, data: Any) -> None:
        try:
            await self._trail.append(actor="a", kind="k", data=data)
            self.ends[str(data)[:20]] = "written"
        except (StoreError, EntryTooLargeError) as fault:
            self.ends[str(data)[:20]] = fault


async def test_what_gathers_during_a_sync_shares_the_next_one(path: Path, key: TrailKey, open_over: Any) -> None:
    """T31: six appends, two writes of whole lines, two syncs; nobody is told before the sync of its own entry."""
    files = Slow()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call(0)
            await files.begun.wait()
            await party.call(1, 2, 3, 4, 5)
            assert party.ends == {}
            assert len(path.read_bytes().splitlines()) == 1
            files.begun = trio.Event()
            files.go.release()
            await files.begun.wait()
            await trio.testing.wait_all_tasks_blocked()
            assert party.ends == {"0": "written"}
            assert len(path.read_bytes().splitlines()) == 6  # written, but not on disk yet
            files.go.release()
    assert files.writes == [1, 5]
    assert files.syncs == 2
    assert [entry.data for entry in read_trail(path)] == [0, 1, 2, 3, 4, 5]
    assert verify_trail(path, key=key).ok


async def test_a_failed_sync_is_the_error_of_all_who_share_it(path: Path, key: TrailKey, open_over: Any) -> None:
    """T39: each has an error of its own; the one before keeps its success, and nothing is retried."""
    files = Slow()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call("first")
            await files.begun.wait()
            await party.call("a", "b", "c")
            files.begun = trio.Event()
            files.go.release()
            await files.begun.wait()
            files.fault = errno.EIO
            files.go.release()
    errors = [party.ends[name] for name in "abc"]
    assert party.ends["first"] == "written"
    assert all(isinstance(error, StoreError) and "unknown whether" in str(error) for error in errors)
    assert len({id(error) for error in errors}) == 3
    assert all(isinstance(error.__cause__, OSError) for error in errors)
    assert files.writes == [1, 3]


async def test_when_there_is_no_room_for_all_those_that_fit_go_in(path: Path, key: TrailKey, open_over: Any) -> None:
    """T39, T20: the disk has room for two of four; two are there, two are told, no half line stays."""
    files = Slow()
    for _ in range(20):
        files.go.release()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            entry = await trail.append(actor="a", kind="k", data="x")
            size = path.stat().st_size
            files.room = 2 * size + size // 2
            with files_held(files):
                await party.call("a")
                await party.call("b", "c", "d")
    assert [party.ends[name] for name in "ab"] == ["written", "written"]
    for name in "cd":
        assert "nothing was written" in str(party.ends[name])
    assert verify_trail(path, key=key).ok
    assert [entry.data, *(later.data for later in list(read_trail(path))[1:])] == ["x", "a", "b"]


class files_held:  # noqa: N801 - reads like a function
    """While it lasts, no sync ends."""

    def __init__(self, files: Slow) -> None:
        self._files = files

    def __enter__(self) -> None:
        while self._files.go.acquire(blocking=False):
            pass

    def __exit__(self, *error: object) -> None:
        for _ in range(20):
            self._files.go.release()


async def test_one_that_is_too_large_fails_alone(path: Path, key: TrailKey, open_over: Any) -> None:
    """T20: its neighbours in the same write are there, without a gap."""
    files = Slow()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call("first")
            await files.begun.wait()
            await party.call("a", "x" * 1_048_500, "b")
            files.go.release()
            files.go.release()
    assert party.ends["a"] == party.ends["b"] == "written"
    assert isinstance(party.ends["x" * 20], EntryTooLargeError)
    assert [entry.seq for entry in read_trail(path)] == [0, 1, 2]
    assert verify_trail(path, key=key).ok


async def test_one_that_is_cancelled_before_its_write_leaves_no_gap(path: Path, key: TrailKey, open_over: Any) -> None:
    """T22: taken out of the queue at once, while the sync before it runs."""
    files = Slow()
    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call("first")
            await files.begun.wait()
            await party.call("a")
            with trio.move_on_after(0.01) as limit:
                await trail.append(actor="a", kind="k", data="never")
            assert limit.cancelled_caught
            await party.call("b")
            files.go.release()
            files.go.release()
    assert [entry.data for entry in read_trail(path)] == ["first", "a", "b"]
    assert files.writes == [1, 2]


async def test_one_that_is_cancelled_while_its_write_goes_on_is_not_told_so(path: Path, key: TrailKey, open_over: Any) -> None:
    """T22: it returns its entry; the cancel is there at the next checkpoint. Its neighbour in the same write notices nothing."""
    files = Slow()
    seen: list[str] = []

    async def cancelled(scope: trio.CancelScope) -> None:
        with scope:
            await trail.append(actor="a", kind="k", data="mine")
            seen.append("returned")
            await trio.lowlevel.checkpoint()
            seen.append("not cancelled")

    with trio.fail_after(30):
        async with open_over(path, key, files) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call("first")
            await files.begun.wait()
            scope = trio.CancelScope()
            nursery.start_soon(cancelled, scope)
            await trio.testing.wait_all_tasks_blocked()
            await party.call("neighbour")
            files.begun = trio.Event()
            files.go.release()
            await files.begun.wait()
            scope.cancel()
            await trio.testing.wait_all_tasks_blocked()
            assert seen == []
            files.go.release()
    assert seen == ["returned"]
    assert scope.cancelled_caught
    assert party.ends["neighbour"] == "written"
    assert [entry.data for entry in read_trail(path)] == ["first", "mine", "neighbour"]


async def test_a_write_that_hangs_is_reported_once_and_nothing_is_taken_until_it_returns(
    path: Path, key: TrailKey, caplog: pytest.LogCaptureFixture, open_over: Any
) -> None:
    """T22a, T40: `stuck_after` is 30 s by default; the append that hangs is waited for, and ends well when it can."""
    files = Slow()
    with trio.fail_after(30), caplog.at_level(logging.ERROR, logger="foxloop_trio.trail"):
        async with open_over(path, key, files, stuck_after=0.1) as trail, trio.open_nursery() as nursery:
            party = Party(trail, nursery)
            await party.call("stuck")
            await files.begun.wait()
            await until(lambda: bool(caplog.records))
            for _ in range(2):
                with pytest.raises(StoreError, match="has not come back"):
                    await trail.append(actor="a", kind="k")
            await trio.sleep(0.2)
            files.go.release()
            await until(lambda: bool(party.ends))
            files.go.release()
            await trail.append(actor="a", kind="k", data="again")
    assert [str(path) in record.getMessage() for record in caplog.records] == [True]
    assert party.ends == {"stuck": "written"}
    assert [entry.data for entry in read_trail(path)] == ["stuck", "again"]


async def test_a_trail_at_rest_has_no_writing_thread(path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """T40: one at most while it writes, none of it after it was closed."""
    most = 0

    class Counting(FileSystem):
        def write(self, fd: int, data: bytes) -> int:
            nonlocal most
            most = max(most, sum(thread.name == "foxloop-trio trail" for thread in threading.enumerate()))
            return os.write(fd, data)

    async with open_over(path, key, Counting()) as trail, trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(fill, trail, 5)
    assert most == 1
    with trio.fail_after(5):
        await until(lambda: not any(thread.name.startswith("foxloop-trio trail") for thread in threading.enumerate()))


async def test_a_bug_in_the_writing_thread_leaves_nobody_waiting(
    path: Path, key: TrailKey, open_over: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """T20: those who wait are told, with the cause, and the trail can be closed."""
    with trio.fail_after(10):
        async with open_over(path, key, FileSystem()) as trail:
            monkeypatch.setattr(trail._writer, "_take", lambda: 1 / 0)
            for _ in range(2):
                with pytest.raises(StoreError, match="writing thread failed") as caught:
                    await trail.append(actor="a", kind="k")
                assert isinstance(caught.value.__cause__, ZeroDivisionError)
