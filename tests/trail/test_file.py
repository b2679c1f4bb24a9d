"""The file of a trail: made and continued by the rules, refused when it is not what it should be."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.trail import (
    GENESIS,
    FileTrail,
    StoreError,
    TrailKey,
    TrailKeyError,
    Verified,
    open_trail,
    read_trail,
    verify_trail,
)
from foxloop_trio.trail._ends import TAIL_STEP
from foxloop_trio.trail._file import FileSystem


class Recorded(FileSystem):
    """Notes the calls that make an entry durable."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def write(self, fd: int, data: bytes) -> int:
        self.calls.append(("write", data))
        return os.write(fd, data)

    def fsync(self, fd: int) -> None:
        self.calls.append("fsync")
        os.fsync(fd)

    def fsync_directory(self, path: str) -> None:
        self.calls.append("fsync directory")
        super().fsync_directory(path)

    def read_at(self, fd: int, nbytes: int, offset: int) -> bytes:
        self.calls.append(("read", nbytes))
        return super().read_at(fd, nbytes, offset)


async def test_no_file_is_made_before_the_first_append(path: Path, key: TrailKey) -> None:
    """T30: no file is an empty log."""
    async with open_trail(path, key=key) as trail:
        assert not path.exists()
        assert (await trail.append(actor="a", kind="k")).prev == GENESIS
        assert path.exists()


async def test_a_new_file_has_mode_0600_whatever_the_umask(path: Path, key: TrailKey) -> None:
    """T30: what a run did is its owner's business."""
    before = os.umask(0)
    try:
        async with open_trail(path, key=key) as trail:
            await trail.append(actor="a", kind="k")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_each_append_is_one_write_of_a_whole_line_and_an_fsync(path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """H2, T30, T31: before `append` returns; for the first one the directory too. T38: the end is not read again."""
    files = Recorded()
    async with open_over(path, key, files) as trail:
        for n in range(3):
            del files.calls[:]
            await fill(trail, 1)
            line = path.read_bytes().splitlines(keepends=True)[n]
            assert files.calls == [("write", line), "fsync", *(["fsync directory"] if n == 0 else [])]


async def test_lines_hold_the_fields_in_their_order(path: Path, key: TrailKey, fill: Any) -> None:
    """Section 5: UTF-8, fixed order, one LF at the end of each."""
    async with open_trail(path, key=key) as trail:
        await trail.append(actor="agent", kind="k", data={"text": "caf\u00e9\u2028"})
        await fill(trail, 1)
    text = path.read_bytes()
    assert text.count(b"\n") == 2
    assert text.endswith(b"}\n")
    assert "caf\u00e9\u2028".encode() in text
    for line in text.decode().split("\n")[:-1]:
        assert list(json.loads(line)) == ["seq", "ts", "actor", "kind", "data", "prev", "hash", "mac"]


async def test_an_existing_file_is_continued(path: Path, key: TrailKey, clock: Any, fill: Any) -> None:
    """Its seq, hash and time; a clock that went back meanwhile included."""
    clock.seconds = 50.0
    async with open_trail(path, key=key, now=clock) as trail:
        await fill(trail, 3)
    clock.seconds = 20.0
    async with open_trail(path, key=key, now=clock) as trail:
        (entry,) = await fill(trail, 1)
    assert (entry.seq, entry.ts) == (3, 50_000)
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize("size", [1, TAIL_STEP - 700, TAIL_STEP - 400, TAIL_STEP, 3 * TAIL_STEP, 1_000_000])
async def test_the_last_entry_is_found_whatever_its_size(size: int, path: Path, key: TrailKey, fill: Any) -> None:
    """T37: read from the end in steps of 64 KiB; entries around and above a step work, first in the file or not."""
    for count in range(3):
        async with open_trail(path, key=key, blobs_over=None) as trail:
            entry = await trail.append(actor="a", kind="k", data="x" * size)
        assert entry.seq == count
    assert verify_trail(path, key=key) == Verified(count=3, head=entry.hash)


async def test_finding_the_end_does_not_cost_more_in_a_longer_file(path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """T37: one step of 64 KiB, though the file is larger."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 300)
    assert path.stat().st_size > TAIL_STEP
    files = Recorded()
    async with open_over(path, key, files) as trail:
        await fill(trail, 1)
    assert files.calls[0] == ("read", TAIL_STEP)
    assert [call for call in files.calls if call[0] == "read"] == [("read", TAIL_STEP)]


@pytest.mark.parametrize("cut", [1, 2, 50])
async def test_a_cut_last_line_is_refused_and_left_as_it_is(cut: int, path: Path, key: TrailKey, fill: Any) -> None:
    """T36: each append fails, and not a byte changes."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 2)
    path.write_bytes(path.read_bytes()[:-cut])
    before = path.read_bytes()
    async with open_trail(path, key=key) as trail:
        for _ in range(2):
            with pytest.raises(StoreError, match="no line feed") as caught:
                await fill(trail, 1)
            assert str(path) in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("tail", [b"\n", b"{}\n", b"null\n", b"garbage\n", b"\xff\n", b"x" * 200_000 + b"\n"])
async def test_a_chain_is_not_continued_from_what_is_no_entry(tail: bytes, path: Path, key: TrailKey, fill: Any) -> None:
    """The file is left as it is; its state is for verify to tell."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 2)
    before = path.read_bytes() + tail
    path.write_bytes(before)
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="not an intact entry"):
            await fill(trail, 1)
    assert path.read_bytes() == before


async def test_a_chain_is_not_continued_from_an_edited_entry(path: Path, key: TrailKey, fill: Any) -> None:
    """The hash of the last line is checked before anything is built on it."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 2)
    path.write_bytes(path.read_bytes().replace(b'{"n":1}', b'{"n":7}'))
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="not an intact entry"):
            await fill(trail, 1)


async def test_a_file_of_another_key_is_not_continued(path: Path, key: TrailKey, fill: Any) -> None:
    """It would verify with neither key."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 2)
    async with open_trail(path, key="cd" * 32) as trail:
        with pytest.raises(TrailKeyError, match="another key"):
            await fill(trail, 1)
    assert verify_trail(path, key=key).ok


async def test_a_line_longer_than_any_entry_is_refused_without_reading_it_whole(
    path: Path, key: TrailKey, monkeypatch: pytest.MonkeyPatch, fill: Any
) -> None:
    """A bound on what a bad file can make us read."""
    monkeypatch.setattr("foxloop_trio.trail._ends.MAX_LINE_BYTES", 100_000)
    path.write_bytes(b"x" * 1_000_000 + b"\n")
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="no entry is that long"):
            await fill(trail, 1)


async def test_a_path_that_cannot_be_a_trail_is_refused_and_named(tmp_path: Path, key: TrailKey) -> None:
    """T41: at the first append: a folder, a link, a dangling link, a pipe, a device, a missing folder, a file in the way."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "real").write_bytes(b"")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    names = [tmp_path / name for name in ("folder", "link", "dangling", "pipe", "no/such", "real/below")]
    for name in (*names, Path("/dev/null")):
        async with open_trail(name, key=key) as trail:
            for _ in range(2):
                with trio.fail_after(5), pytest.raises(StoreError) as caught:
                    await trail.append(actor="a", kind="k")
                assert str(name) in str(caught.value)
    assert (tmp_path / "real").read_bytes() == b""
    assert not (tmp_path / "nowhere").exists()


async def test_a_link_is_followed_when_that_is_asked_for(tmp_path: Path, key: TrailKey, fill: Any) -> None:
    """T41, `follow=True`: the file it leads to is made and locked, whatever becomes of the link."""
    link = tmp_path / "link"
    link.symlink_to("real")
    async with open_trail(link, key=key, follow=True) as trail, open_trail(tmp_path / "real", key=key) as other:
        await fill(trail, 1)
        await fill(other, 1)
        await fill(trail, 1)
        assert verify_trail(tmp_path / "real", key=key).ok
        assert sorted(name.name for name in tmp_path.iterdir()) == ["link", "real", "real.lock"]
        link.unlink()
        link.symlink_to("elsewhere")
        await fill(trail, 1)
        assert trail.path == str(tmp_path / "real")
    assert verify_trail(tmp_path / "real", key=key).ok
    assert not (tmp_path / "elsewhere").exists()


WITHOUT_RIGHTS = """
import os, sys, trio
from foxloop_trio.trail import StoreError, TrailKey, open_trail
import concurrent.futures, tempfile  # whatever is loaded late is loaded before the rights go

async def main():
    async with open_trail(sys.argv[1], key=TrailKey(b"k" * 32)) as trail:
        try:
            await trail.append(actor="a", kind="k")
        except StoreError as error:
            print(error)

if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere; nobody may not
trio.run(main)
"""


def test_a_file_that_is_not_writable_is_refused() -> None:
    """T41, as a user who may read the file and no more."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = Path(folder, "trail.jsonl")
        path.write_bytes(b"")
        path.chmod(0o444)
        child = subprocess.run(
            [sys.executable, "-c", WITHOUT_RIGHTS, str(path)], capture_output=True, text=True, timeout=60, check=False
        )
        assert f"{path}: cannot be opened" in child.stdout, child.stderr
        assert path.read_bytes() == b""


async def test_a_relative_path_keeps_its_meaning(tmp_path: Path, key: TrailKey, monkeypatch: pytest.MonkeyPatch, fill: Any) -> None:
    """Also when the program changes its directory in between."""
    monkeypatch.chdir(tmp_path)
    async with open_trail("t", key=key) as trail:
        await fill(trail, 1)
        monkeypatch.chdir("/")
        await fill(trail, 1)
        assert trail.path == str(tmp_path / "t")
    assert verify_trail(tmp_path / "t", key=key).ok


async def test_a_file_that_was_moved_replaced_or_removed_is_noticed(path: Path, key: TrailKey, fill: Any) -> None:
    """Entries in a file without a name would be lost, and a new chain must not begin by itself."""
    for damage in (lambda: path.rename(path.with_name("moved")), path.unlink, lambda: os.replace(path.with_name("moved"), path)):
        async with open_trail(path, key=key) as trail:
            await fill(trail, 1)
            damage()
            for _ in range(2):
                with pytest.raises(StoreError, match="moved, replaced or removed"):
                    await fill(trail, 1)


async def test_a_tail_that_was_cut_while_the_trail_was_open_is_noticed(path: Path, key: TrailKey, fill: Any) -> None:
    """Continuing from the new end would hide it for ever."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 3)
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
        with pytest.raises(StoreError, match="cut off"):
            await fill(trail, 1)


async def test_several_trails_on_one_file_give_one_chain(path: Path, key: TrailKey) -> None:
    """T21: in one process, at the same time, from its creation on, also under two names of the same folder."""
    other_name = path.parent / ".." / path.parent.name / path.name
    async with open_trail(path, key=key) as one, open_trail(other_name, key=key) as two, open_trail(path, key=key) as three:

        async def some(trail: FileTrail, name: str) -> None:
            for n in range(20):
                await trail.append(actor=name, kind="k", data=n)

        with trio.fail_after(30):
            async with trio.open_nursery() as nursery:
                for trail, name in ((one, "one"), (two, "two"), (three, "three")):
                    nursery.start_soon(some, trail, name)
    assert verify_trail(path, key=key).ok
    entries = list(read_trail(path))
    for name in ("one", "two", "three"):
        assert [entry.data for entry in entries if entry.actor == name] == list(range(20))


async def test_a_second_trail_with_another_key_is_refused(path: Path, key: TrailKey, fill: Any) -> None:
    """One file, one key, also while both are open."""
    async with open_trail(path, key=key) as one, open_trail(path, key="cd" * 32) as two:
        await fill(one, 1)
        with pytest.raises(TrailKeyError):
            await fill(two, 1)
        await fill(one, 1)
    assert verify_trail(path, key=key) == Verified(count=2, head=list(read_trail(path))[-1].hash)


async def test_a_closed_trail_refuses_appends_and_leaves_no_descriptor(path: Path, key: TrailKey, fill: Any) -> None:
    """Its exit closes the file; leaving twice is fine."""
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    async with open_trail(path, key=key) as trail:
        await fill(trail, 1)
    with pytest.raises(StoreError, match="closed"):
        await fill(trail, 1)
    await trail.aclose()
    assert "closed" in repr(trail)
    after = set(os.listdir("/proc/self/fd")) if before else set()
    names = {os.readlink(f"/proc/self/fd/{fd}") for fd in after - before if os.path.exists(f"/proc/self/fd/{fd}")}
    assert str(path) not in names


async def test_appends_called_before_the_exit_are_in_the_file(path: Path, key: TrailKey, fill: Any) -> None:
    """The exit waits for its turn behind them, also when it is left by a cancel."""
    async with trio.open_nursery() as nursery:
        with trio.CancelScope() as scope:
            async with open_trail(path, key=key) as trail:
                for n in range(5):
                    nursery.start_soon(fill, trail, 1, n)
                await trio.testing.wait_all_tasks_blocked()
                scope.cancel()
                await trio.lowlevel.checkpoint()
        assert "closed" in repr(trail)
    assert verify_trail(path, key=key) == Verified(count=5, head=list(read_trail(path))[-1].hash)


async def test_an_error_in_the_body_passes_through_unchanged(path: Path, key: TrailKey, fill: Any) -> None:
    """And what was appended before it is there."""

    async def body() -> None:
        async with open_trail(path, key=key) as trail:
            await fill(trail, 1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await body()
    assert verify_trail(path, key=key).ok
