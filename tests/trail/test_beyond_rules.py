"""The checks of what goes beyond the format (H1 to H19) that no other module has."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import errno
import json
import os
import random
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio import ChatReply, Loop, Tool, ToolOutput, function_planner
from foxloop_trio.gate import create_gate
from foxloop_trio.trail import (
    ConflictError,
    MemoryTrail,
    StoreError,
    TrailKey,
    open_trail,
    read_trail,
    trail_files,
    verify_trail,
)
from foxloop_trio.trail._lock import KernelLock
from foxloop_trio.trail._system import FileSystem

MID_APPEND = """
import os, sys, trio
from foxloop_trio.trail._draft import Drafter
from foxloop_trio.trail._file_trail import _open_trail
from foxloop_trio.trail._key import TrailKey
from foxloop_trio.trail._system import FileSystem

class Hanging(FileSystem):
    def fsync(self, fd):
        print("written", flush=True)
        sys.stdin.readline()

async def main(path):
    async with _open_trail(path, TrailKey("ab" * 32), Drafter(), Hanging()) as trail:
        await trail.append(actor="a", kind="k", data="x")

trio.run(main, sys.argv[1])
"""


def test_the_lock_of_a_writer_that_was_killed_in_mid_append_is_free_at_once(path: Path, key: TrailKey, run_child: Any) -> None:
    """H1: at the first try, without a single wait; while it lived the lock was taken."""
    child = run_child(MID_APPEND, str(path))
    assert child.stdout.readline() == "written\n", child.stderr.read()
    lock = KernelLock(str(path))
    assert not lock.try_acquire()
    child.kill()
    child.communicate(timeout=30)
    assert lock.try_acquire()
    lock.close()
    assert verify_trail(path, key=key).ok


class Counting(FileSystem):
    """Counts what an append costs in system calls, by name."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}

    def _count(self, name: str) -> None:
        self.calls[name] = self.calls.get(name, 0) + 1

    def open(self, path: str, flags: int, mode: int) -> int:  # type: ignore[override]
        self._count("open")
        return os.open(path, flags, mode)

    def close(self, fd: int) -> None:  # type: ignore[override]
        self._count("close")
        os.close(fd)

    def read_at(self, fd: int, nbytes: int, offset: int) -> bytes:
        self._count("read")
        return super().read_at(fd, nbytes, offset)

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        self._count("write")
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:  # type: ignore[override]
        self._count("fsync")
        os.fsync(fd)


async def test_an_append_opens_closes_and_reads_nothing(path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """H6: one descriptor and the head in memory; each of a hundred appends is one write and one sync."""
    files = Counting()
    async with open_over(path, key, files) as trail:
        await fill(trail, 1)
        files.calls.clear()
        await fill(trail, 100, 1)
        assert files.calls == {"write": 100, "fsync": 100}


def written_in_bulk(path: Path, key: TrailKey, entries: int, size: int) -> None:
    trail = MemoryTrail(key=key)
    with path.open("w", encoding="utf-8", newline="") as file:
        for _ in range(entries):
            trail.append_nowait(actor="a", kind="k", data="x" * size)
            if len(trail) % 1000 == 0:
                file.write("".join(trail._lines))
                # Only the head is needed to go on, and the test is to hold as little as what it tests.
                trail._lines.clear()
        file.write(trail.text())


async def test_verifying_holds_one_line_at_a_time(path: Path, key: TrailKey) -> None:
    """H7: of 8 MB of entries in two files, less than 1 MB at any time; by the quick way and by the long one."""
    written_in_bulk(path, key, 8_000, 700)
    async with open_trail(path, key=key, rotate_bytes=1) as trail:
        await trail.append(actor="a", kind="k")
    assert len(trail_files(path)) == 2
    assert path.stat().st_size > 7_500_000
    with open_spelled_otherwise(path) as other:
        for name in (path, other):
            tracemalloc.start()
            found = verify_trail(name, key=key)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert found.ok
            assert peak < 1_000_000


class open_spelled_otherwise:  # noqa: N801 - reads like a function
    """The first hundred entries with spaces, so that each line must be parsed."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name("spelled")
        with path.open("rb") as file, self._path.open("w", encoding="utf-8") as other:
            for _ in range(100):
                other.write(json.dumps(json.loads(file.readline())) + "\n")

    def __enter__(self) -> Path:
        return self._path

    def __exit__(self, *error: object) -> None:
        self._path.unlink()


VERIFIER = """
import resource, sys
from foxloop_trio.trail import verify_trail
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = verify_trail(sys.argv[1], key="ab" * 32)
print(found.count, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


@pytest.mark.long
def test_two_hundred_megabytes_are_verified_within_64_of_memory(path: Path, key: TrailKey, run_child: Any) -> None:
    """H7: in a process of its own, by what the system counts."""
    written_in_bulk(path, key, 330_000, 330)
    assert path.stat().st_size > 200_000_000
    child = run_child(VERIFIER, str(path))
    out, err = child.communicate(timeout=300)
    assert child.returncode == 0, err
    count, kilobytes = map(int, out.split())
    assert count == 330_000
    assert kilobytes < 64 * 1024


IMPORTER = """
import sys, trio
from foxloop_trio.trail import _file, open_trail

put = _file.put_in_place

def put_and_tell(*arguments):
    print("go", flush=True)
    put(*arguments)

_file.put_in_place = put_and_tell

async def main(path, source):
    text = open(source, encoding="utf-8").read()
    async with open_trail(path, key="ab" * 32) as trail:
        await trail.import_jsonl(text)
    await trio.sleep_forever()

trio.run(main, *sys.argv[1:])
"""


def kill_imports(runs: int, tmp_path: Path, key: TrailKey, run_child: Any, seed: int) -> None:
    draw = random.Random(seed)
    source = tmp_path / "source"
    written_in_bulk(source, key, 1000, 2000)
    for run in range(runs):
        place = tmp_path / f"run {run}"
        place.mkdir()
        file = place / "trail"
        child = run_child(IMPORTER, str(file), str(source))
        assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(draw.uniform(0, 0.02))
        child.kill()
        child.communicate(timeout=30)
        found = verify_trail(file, key=key)
        assert found.ok
        assert found.count in (0, 1000)
        assert trio.run(append_one, file, key) == found.count


async def append_one(file: Path, key: TrailKey) -> int:
    async with open_trail(file, key=key) as trail:
        return (await trail.append(actor="a", kind="k")).seq


def test_an_import_that_is_killed_leaves_all_or_nothing(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """H15: a seeded sample of kill -9; the trail can be written to afterwards."""
    kill_imports(4, tmp_path, key, run_child, seed=15)


@pytest.mark.long
@pytest.mark.parametrize("part", range(3))
def test_many_imports_that_are_killed_leave_all_or_nothing(part: int, tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """H15: sixty times, in three parts."""
    kill_imports(20, tmp_path, key, run_child, seed=150 + part)


async def test_an_import_that_finds_no_room_leaves_the_trail_empty(
    path: Path, key: TrailKey, open_over: Any, fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H15: neither half of it nor what was written aside; there is room again, and it is imported."""
    text = await text_of(20, key, fill)

    def full(fd: int, data: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with open_over(path, key, FileSystem()) as trail:
        with monkeypatch.context() as patched:
            patched.setattr("foxloop_trio.trail._aside.os.write", full)
            with pytest.raises(StoreError, match="nothing was written"):
                await trail.import_jsonl(text)
        assert path.read_bytes() == b""
        assert sorted(file.name for file in path.parent.iterdir()) == ["run.trail", "run.trail.lock"]
        assert await trail.import_jsonl(text) == 20


async def test_an_import_whose_name_may_not_be_on_disk_breaks_the_store(
    path: Path, key: TrailKey, open_over: Any, fill: Any
) -> None:
    """H5, H15: it is said that this is unknown, and nothing is retried."""

    class Faulty(FileSystem):
        def fsync_directory(self, path: str) -> None:
            raise OSError(errno.EIO, "Input/output error")

    async with open_over(path, key, Faulty()) as trail:
        with pytest.raises(StoreError, match="unknown whether"):
            await trail.import_jsonl(await text_of(3, key, fill))
        with pytest.raises(StoreError, match="nothing more is written"):
            await fill(trail, 1)


async def test_who_had_the_empty_trail_open_goes_on_after_the_import(path: Path, key: TrailKey, fill: Any) -> None:
    """H15: the import gives the trail another file; whoever had looked at the empty one finds it."""
    text = await text_of(3, key, fill)
    path.touch()
    async with open_trail(path, key=key) as one, open_trail(path, key=key) as two:
        assert (await one.checkpoint())["count"] == 0
        assert await two.import_jsonl(text) == 3
        assert (await fill(one, 1))[0].seq == 3
        assert (await fill(two, 1))[0].seq == 4
        with pytest.raises(ConflictError):
            await one.import_jsonl(text)
    assert verify_trail(path, key=key).count == 5  # type: ignore[union-attr]


async def text_of(count: int, key: TrailKey, fill: Any) -> str:
    trail = MemoryTrail(key=key)
    await fill(trail, count)
    return trail.text()


async def test_a_jump_of_the_wall_clock_can_be_told_from_the_records_of_a_run(path: Path, key: TrailKey, clock: Any) -> None:
    """H18: the first entry of a run says which run and which start of the process it is of; each event, the seconds that passed."""

    async def plan(messages: Any, tools: Any) -> ChatReply:
        clock.seconds += 3600.0  # somebody sets the clock
        await trio.lowlevel.checkpoint()
        return ChatReply(message={"content": "I do not know what to do."})

    async def nothing(args: dict[str, Any], ctx: Any) -> ToolOutput:
        return ToolOutput(ok=True, summary="Nothing.")

    tool = Tool(name="nothing", description="Nothing.", parameters={"type": "object"}, scope="read", domain="x.local", run=nothing)
    gate, _ = create_gate(tools=[tool])
    async with open_trail(path, key=key, now=clock) as trail:
        loop = Loop(planner=function_planner(plan), gate=gate, tools=[tool], trail=trail)
        for _ in range(2):
            await loop.complete("Nothing")
    entries = list(read_trail(path))
    starts = [entry for entry in entries if entry.kind == "loop.start"]
    assert len({entry.data["run"] for entry in starts}) == 2
    assert len(starts[0].data["boot"]) >= 16
    assert starts[0].data["boot"] == starts[1].data["boot"]
    plans = [next(entry for entry in entries if entry.kind == "loop.plan" and entry.seq > start.seq) for start in starts]
    for start, planned in zip(starts, plans, strict=True):
        record = planned.data["record"]
        assert planned.ts - start.ts == 3_600_000
        assert record["work_ms"] + record["human_ms"] < 60_000
