"""When the disk fails: no half line stays, nothing false is reported, and what cannot be known is said."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.trail import StoreError, TrailKey, read_trail, verify_trail
from foxloop_trio.trail._file import FileSystem


class Faulty(FileSystem):
    """Fails each call named in `faults` with that error number; `short` makes writes take so many bytes only."""

    def __init__(self) -> None:
        self.faults: dict[str, int] = {}
        self.short: int | None = None
        self.before_write: Callable[[], None] | None = None
        self.calls: list[str] = []

    def _pass(self, name: str) -> None:
        self.calls.append(name)
        if name in self.faults:
            raise OSError(self.faults[name], os.strerror(self.faults[name]))

    def write(self, fd: int, data: bytes) -> int:
        if self.before_write is not None:
            self.before_write()
        if self.short is not None:
            os.write(fd, data[: self.short])
        self._pass("write")
        return os.write(fd, data) if self.short is None else self.short

    def ftruncate(self, fd: int, size: int) -> None:
        self._pass("ftruncate")
        os.ftruncate(fd, size)

    def fsync(self, fd: int) -> None:
        self._pass("fsync")
        os.fsync(fd)

    def fsync_directory(self, path: str) -> None:
        self._pass("fsync_directory")
        super().fsync_directory(path)

    def fstat(self, fd: int) -> os.stat_result:
        self._pass("fstat")
        return os.fstat(fd)

    def lstat(self, path: str) -> os.stat_result:
        self._pass("lstat")
        return os.lstat(path)


@pytest.fixture
def files() -> Faulty:
    return Faulty()


@pytest.mark.parametrize(
    ("fault", "short"), [(errno.ENOSPC, None), (errno.ENOSPC, 100), (errno.EIO, 0), (None, 1), (None, 100), (None, 0)]
)
async def test_a_failed_or_short_write_is_undone_and_the_trail_goes_on(
    fault: int | None, short: int | None, path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """H4, T39: the file is as it was, the error names it, and when there is room again appends work."""
    async with open_over(path, key, files) as trail:
        await fill(trail, 2)
        before = path.read_bytes()
        files.short = short
        if fault is not None:
            files.faults["write"] = fault
        for _ in range(2):
            with pytest.raises(StoreError, match="nothing was written") as caught:
                await fill(trail, 1)
            assert str(path) in str(caught.value)
            assert path.read_bytes() == before
        files.short = None
        files.faults.clear()
        await fill(trail, 2)
    assert verify_trail(path, key=key).ok
    assert [entry.seq for entry in read_trail(path)] == [0, 1, 2, 3]


async def test_a_first_write_that_fails_leaves_an_empty_file(
    path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """T30, T39: and when the next one succeeds, the directory is synced all the same."""
    async with open_over(path, key, files) as trail:
        files.faults["write"] = errno.ENOSPC
        with pytest.raises(StoreError):
            await fill(trail, 1)
        assert path.read_bytes() == b""
        files.faults.clear()
        files.calls.clear()
        await fill(trail, 1)
        assert files.calls[-2:] == ["fsync", "fsync_directory"]


async def test_a_write_that_cannot_be_undone_breaks_the_store(
    path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """T39: every later append is refused at once, without touching the file."""
    async with open_over(path, key, files) as trail:
        await fill(trail, 2)
        files.short = 30
        files.faults["ftruncate"] = errno.EIO
        with pytest.raises(StoreError, match="could not be undone"):
            await fill(trail, 1)
        files.short = None
        files.faults.clear()
        files.calls.clear()
        torn = path.read_bytes()
        for _ in range(2):
            with pytest.raises(StoreError, match="nothing more is written"):
                await fill(trail, 1)
        assert files.calls == []
        assert path.read_bytes() == torn
    result = verify_trail(path, key=key)
    assert not result.ok
    assert (result.reason, result.index) == ("partial-line", 2)


@pytest.mark.parametrize("call", ["fsync", "fsync_directory"])
async def test_a_failed_fsync_breaks_the_store_and_is_not_retried(
    call: str, path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """H5, T39, EIO injected: a second fsync would report success without having written anything."""
    async with open_over(path, key, files) as trail:
        if call == "fsync":
            await fill(trail, 2)
        files.faults[call] = errno.EIO
        with pytest.raises(StoreError, match="unknown whether the last entry is on disk"):
            await fill(trail, 1)
        files.faults.clear()
        files.calls.clear()
        with pytest.raises(StoreError, match="nothing more is written"):
            await fill(trail, 1)
        assert files.calls == []


async def test_a_file_system_that_cannot_sync_directories_is_fine(
    path: Path, key: TrailKey, open_over: Any, fill: Any, monkeypatch: Any
) -> None:
    """EINVAL from the directory means that there is no such step; any other error counts."""
    fsync = os.fsync

    def picky(fd: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{fd}"):
            raise OSError(code, os.strerror(code))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", picky)
    code = errno.EINVAL
    async with open_over(path, key, FileSystem()) as trail:
        await fill(trail, 1)
    path.unlink()
    code = errno.EIO
    async with open_over(path, key, FileSystem()) as trail:
        with pytest.raises(StoreError, match="unknown"):
            await fill(trail, 1)


async def test_a_writer_that_came_in_between_is_noticed_and_success_is_not_reported(
    path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """T35: somebody wrote at the same time without taking turns."""
    async with open_over(path, key, files) as trail:
        await fill(trail, 2)
        line = path.read_bytes().splitlines(keepends=True)[0]

        def intrude() -> None:
            with path.open("ab") as file:
                file.write(line)

        files.before_write = intrude
        with pytest.raises(StoreError, match="at the same time"):
            await fill(trail, 1)
        files.before_write = None
        with pytest.raises(StoreError, match="nothing more is written"):
            await fill(trail, 1)


async def test_undoing_never_cuts_what_somebody_else_wrote(
    path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """A failed write of ours beside a stranger's line: his bytes stay, and the store is broken."""
    async with open_over(path, key, files) as trail:
        await fill(trail, 2)
        before = path.read_bytes()
        foreign = b"x" * 5000 + b"\n"

        def intrude() -> None:
            with path.open("ab") as file:
                file.write(foreign)

        files.before_write = intrude
        files.faults["write"] = errno.ENOSPC
        with pytest.raises(StoreError, match="could not be undone"):
            await fill(trail, 1)
    assert path.read_bytes() == before + foreign


@pytest.mark.parametrize("call", ["fstat", "lstat"])
async def test_a_file_that_cannot_be_looked_at_is_an_error_and_works_again_later(
    call: str, path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """Nothing was written yet, so nothing is broken."""
    async with open_over(path, key, files) as trail:
        files.faults[call] = errno.EIO
        with pytest.raises(StoreError):
            await fill(trail, 1)
        files.faults.clear()
        await fill(trail, 1)
        files.faults[call] = errno.EIO
        with pytest.raises(StoreError):
            await fill(trail, 1)
        files.faults.clear()
        await fill(trail, 1)
    assert [entry.seq for entry in read_trail(path)] == [0, 1]


async def test_losing_sight_of_the_file_after_a_write_breaks_the_store(
    path: Path, key: TrailKey, files: Faulty, open_over: Any, fill: Any
) -> None:
    """Whatever happens between the write and its end without an answer: no further append."""
    async with open_over(path, key, files) as trail:
        await fill(trail, 1)
        files.before_write = lambda: files.faults.update(fstat=errno.EIO)
        with pytest.raises(StoreError, match="looked at"):
            await fill(trail, 1)
        files.faults.clear()
        files.before_write = None
        with pytest.raises(StoreError, match="did not come to its end"):
            await fill(trail, 1)


FULL_DISK = """
import json, resource, signal, sys, trio
from foxloop_trio.trail import StoreError, open_trail, verify_trail

async def main(path):
    out = {"codes": []}
    async with open_trail(path, key="ab" * 32) as trail:
        for n in range(5):
            await trail.append(actor="a", kind="k", data="x" * 500)
        size = len(open(path, "rb").read())
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300, resource.RLIM_INFINITY))  # in the middle of the next line
        for n in range(2):
            try:
                await trail.append(actor="a", kind="k", data="x" * 500)
            except StoreError as error:
                out["codes"].append(error.code)
        out["grown"] = len(open(path, "rb").read()) - size
        out["full"] = verify_trail(path, key="ab" * 32).count
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        await trail.append(actor="a", kind="k", data="room again")
    out["after"] = verify_trail(path, key="ab" * 32).count
    print(json.dumps(out))

trio.run(main, sys.argv[1])
"""


async def test_a_full_disk_leaves_no_torn_line(path: Path, run_child: Any) -> None:
    """H4, T39 for real: a limit on the file's size cuts the write in the middle of a line."""
    child = run_child(FULL_DISK, str(path))
    out, err = await trio.to_thread.run_sync(lambda: child.communicate(timeout=60))
    assert child.returncode == 0, err
    assert json.loads(out) == {"codes": ["store", "store"], "grown": 0, "full": 5, "after": 6}
