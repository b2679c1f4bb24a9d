"""A trail in several files: one chain that goes on from file to file, whoever writes, and no file of it can be lost unseen."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.errors import BadOptionsError, UsageError
from foxloop_trio.trail import (
    ConflictError,
    Entry,
    Fault,
    InvalidEntryError,
    MemoryTrail,
    Repaired,
    StoreError,
    TrailKey,
    Verified,
    checkpoint_trail,
    open_trail,
    read_blob,
    read_trail,
    repair_trail,
    trail_files,
    verify_trail,
)
from foxloop_trio.trail._draft import Drafter
from foxloop_trio.trail._file import Addition, EntryFile
from foxloop_trio.trail._lock import lock_for
from foxloop_trio.trail._system import FileSystem

LINE = 340
"""Bytes of one of our lines, about."""


def names(path: Path) -> list[str]:
    return [file.name for file in trail_files(path)]


async def filled(path: Path, key: TrailKey, fill: Any, count: int = 10, **options: Any) -> list[Entry]:
    """Three entries to a file."""
    async with open_trail(path, key=key, rotate_bytes=3 * LINE + LINE // 2, **options) as trail:
        entries: list[Entry] = await fill(trail, count)
    return entries


async def test_an_entry_that_has_no_room_begins_the_next_file(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: the next file continues seq and prev, none is over the limit, and what is read is one trail."""
    written = await filled(path, key, fill)
    assert names(path) == ["run.trail", "run.trail.1", "run.trail.2", "run.trail.3"]
    assert [len(file.read_bytes().splitlines()) for file in trail_files(path)] == [3, 3, 3, 1]
    assert all(file.stat().st_size <= 3 * LINE + LINE // 2 for file in trail_files(path))
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in trail_files(path))
    assert [dict(entry) for entry in read_trail(path)] == [dict(entry) for entry in written]
    assert verify_trail(path, key=key) == Verified(count=10, head=written[-1].hash)
    assert checkpoint_trail(path, key=key)["count"] == 10  # type: ignore[index]


async def test_a_trail_goes_on_in_its_newest_file_with_and_without_the_option(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: also for a process that knows nothing of rotation."""
    await filled(path, key, fill, 5)
    before = [file.read_bytes() for file in trail_files(path)]
    async with open_trail(path, key=key) as trail:
        await fill(trail, 5, 5)
        assert [entry.data["n"] for entry in await trail.entries()] == list(range(10))
        assert await trail.verify()
        assert (await trail.checkpoint())["count"] == 10
        assert (await trail.export_jsonl()).encode() == b"".join(file.read_bytes() for file in trail_files(path))
    assert names(path) == ["run.trail", "run.trail.1"]
    assert path.read_bytes() == before[0]
    assert trail_files(path)[1].read_bytes().startswith(before[1])
    await filled(path, key, fill, 1)
    assert names(path) == ["run.trail", "run.trail.1", "run.trail.2"]
    assert verify_trail(path, key=key)


async def test_an_entry_that_is_larger_than_the_limit_has_a_file_of_its_own(path: Path, key: TrailKey) -> None:
    """H13: the limit is no limit of entries, and no file is empty."""
    async with open_trail(path, key=key, rotate_bytes=1) as trail:
        for n in range(4):
            await trail.append(actor="a", kind="k", data="x" * 1000 * n)
    assert [len(file.read_bytes().splitlines()) for file in trail_files(path)] == [1, 1, 1, 1]
    assert verify_trail(path, key=key)


async def test_a_group_of_appends_is_spread_over_files_in_their_order(path: Path, key: TrailKey) -> None:
    """H13, T31: with group commit, fifty appends at once."""
    async with open_trail(path, key=key, rotate_bytes=2000) as trail, trio.open_nursery() as nursery:
        for n in range(50):
            nursery.start_soon(lambda n=n: trail.append(actor="a", kind="k", data=n))
    assert len(names(path)) > 5
    assert all(file.stat().st_size <= 2000 for file in trail_files(path))
    assert sorted(entry.data for entry in read_trail(path)) == list(range(50))
    assert verify_trail(path, key=key)


async def test_several_writers_rotate_one_trail_together(path: Path, key: TrailKey, fill: Any) -> None:
    """H13, T21, T32: each finds the file that another has begun; with limits of their own, and one with none."""
    with trio.fail_after(30):
        async with (
            open_trail(path, key=key, rotate_bytes=1000) as one,
            open_trail(path, key=key, rotate_bytes=700) as two,
            open_trail(path, key=key) as three,
            trio.open_nursery() as nursery,
        ):
            for trail in (one, two, three):
                nursery.start_soon(fill, trail, 30)
    assert len(names(path)) >= 15
    assert len(list(read_trail(path))) == 90
    assert verify_trail(path, key=key)


async def test_blobs_of_all_files_are_in_one_folder(path: Path, key: TrailKey) -> None:
    """H13: that of the first; texts come back wherever their entry is."""
    text = "long " * 100
    async with open_trail(path, key=key, rotate_bytes=1, blobs_over=100) as trail:
        for n in range(3):
            await trail.append(actor="a", kind="k", data={"text": f"{text}{n}"})
    assert names(path) == ["run.trail", "run.trail.1", "run.trail.2"]
    assert len(list(Path(f"{path}.blobs").iterdir())) == 3
    assert [entry.data["text"] for entry in read_trail(path, whole=True)] == [f"{text}{n}" for n in range(3)]
    last = list(read_trail(path))[-1]
    assert read_blob(path, last.data["text"]) == f"{text}2".encode()
    Path(f"{path}.blobs", last.data["text"]["$blob"]).write_bytes(b"x" * 501)
    fault = verify_trail(path, key=key)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.index, fault.place) == ("bad-blob", 2, "run.trail.2: line 1")


@pytest.mark.parametrize("from_seq", [0, 4])
async def test_who_follows_a_trail_goes_on_in_the_next_file(from_seq: int, path: Path, key: TrailKey, fill: Any) -> None:
    """H13, H19: also when several were begun since the last look."""
    seen: list[int] = []
    with trio.fail_after(10):
        async with open_trail(path, key=key, rotate_bytes=500) as trail, trail.follow(from_seq) as entries:
            await fill(trail, 5)
            while not seen or seen[-1] < 4:
                seen.append((await anext(entries)).seq)
            await fill(trail, 5)
            while seen[-1] < 9:
                seen.append((await anext(entries)).seq)
    assert seen == list(range(from_seq, 10))
    assert len(names(path)) > 3


async def test_an_import_is_one_write_into_one_file(path: Path, key: TrailKey, fill: Any) -> None:
    """H13, T74: whatever the limit is; what is appended then goes into the next one. A trail of several files is not empty."""
    other = MemoryTrail(key=key)
    await fill(other, 10)
    async with open_trail(path, key=key, rotate_bytes=500) as trail:
        assert await trail.import_jsonl(other.text()) == 10
        await fill(trail, 1)
        with pytest.raises(ConflictError):
            await trail.import_jsonl(other.text())
    assert [len(file.read_bytes().splitlines()) for file in trail_files(path)] == [10, 1]
    assert verify_trail(path, key=key)


def remove(files: list[Path], number: int) -> None:
    files[number].unlink()


def repeat_at_end(files: list[Path], number: int) -> None:
    shutil.copy(files[number], f"{files[0]}.{len(files)}")


def repeat_inside(files: list[Path], number: int) -> None:
    shutil.copy(files[number], files[number + 1])


def swap(files: list[Path], number: int) -> None:
    one, two = files[number].read_bytes(), files[number + 1].read_bytes()
    files[number].write_bytes(two)
    files[number + 1].write_bytes(one)


def empty(files: list[Path], number: int) -> None:
    files[number].write_bytes(b"")


def cut(files: list[Path], number: int) -> None:
    files[number].write_bytes(files[number].read_bytes()[:-1])


def shorten(files: list[Path], number: int) -> None:
    files[number].write_bytes(b"".join(files[number].read_bytes().splitlines(keepends=True)[:-1]))


@pytest.mark.parametrize(
    ("change", "number", "reason", "index", "place"),
    [
        (remove, 0, "missing-file", 0, "run.trail"),
        (remove, 1, "missing-file", 3, "run.trail.1"),
        (remove, 2, "missing-file", 6, "run.trail.2"),
        (repeat_at_end, 0, "bad-sequence", 10, "run.trail.4: line 1"),
        (repeat_at_end, 3, "bad-sequence", 10, "run.trail.4: line 1"),
        (repeat_inside, 1, "bad-sequence", 6, "run.trail.2: line 1"),
        (swap, 0, "bad-sequence", 0, "line 1"),
        (swap, 1, "bad-sequence", 3, "run.trail.1: line 1"),
        (swap, 2, "bad-sequence", 6, "run.trail.2: line 1"),
        (empty, 1, "bad-sequence", 3, "run.trail.2: line 1"),
        (cut, 1, "partial-line", 5, "run.trail.1: line 3"),
        (cut, 3, "partial-line", 9, "run.trail.3: line 1"),
        (shorten, 0, "bad-sequence", 2, "run.trail.1: line 1"),
    ],
)
async def test_what_is_done_to_files_of_a_trail_is_found(
    change: Callable[[list[Path], int], None],
    number: int,
    reason: str,
    index: int,
    place: str,
    path: Path,
    key: TrailKey,
    fill: Any,
) -> None:
    """H13: a missing, repeated, swapped, emptied or cut file; the fault names the file and the line in it."""
    await filled(path, key, fill)
    change(trail_files(path), number)
    fault = verify_trail(path, key=key)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.index, fault.place) == (reason, index, place)


async def test_the_loss_of_the_newest_files_is_found_with_a_checkpoint(path: Path, key: TrailKey, fill: Any) -> None:
    """H13, T60: without one the trail is only shorter. A checkpoint of an earlier file stays good."""
    await filled(path, key, fill)
    checkpoint = checkpoint_trail(path, key=key)
    trail_files(path)[3].unlink()
    assert verify_trail(path, key=key)
    early = checkpoint_trail(path, key=key)
    fault = verify_trail(path, key=key, checkpoint=checkpoint)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.index) == ("truncated", 9)
    trail_files(path)[2].unlink()
    await filled(path, key, fill, 4)
    fault = verify_trail(path, key=key, checkpoint=early)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.place) == ("checkpoint-mismatch", "run.trail.2: line 3")


async def test_any_byte_that_is_flipped_in_any_file_is_found_or_harmless(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: around the ends of files too."""
    await filled(path, key, fill, 7)
    for file in trail_files(path):
        whole = file.read_bytes()
        for at in [*range(0, len(whole), 11), *range(len(whole) - 5, len(whole))]:
            file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            found = verify_trail(path, key=key)
            assert not found, (file.name, at, whole[at : at + 1])
            assert file.name == "run.trail" or file.name in found.place or found.index == 6
        file.write_bytes(whole)


async def test_files_that_lie_elsewhere_are_verified_in_the_order_in_which_they_are_named(
    path: Path, tmp_path: Path, key: TrailKey, fill: Any
) -> None:
    """H13: old files may be archived; writing goes on, and all of them together verify."""
    await filled(path, key, fill)
    old = tmp_path / "archive"
    old.mkdir()
    for file in trail_files(path)[:2]:
        file.rename(old / file.name)
    await filled(path, key, fill, 3)
    assert names(path) == ["run.trail.2", "run.trail.3", "run.trail.4"]
    whole = [*sorted(old.iterdir()), *trail_files(path)]
    assert verify_trail(whole, key=key).count == 13  # type: ignore[union-attr]
    assert [entry.seq for entry in read_trail(whole)] == list(range(13))
    for wrong in (whole[1:], [*whole[:2], *whole[3:]], [whole[1], whole[0], *whole[2:]], [whole[0], *whole]):
        assert not verify_trail(wrong, key=key)
    with pytest.raises(UsageError, match="no file"):
        verify_trail([], key=key)
    with pytest.raises(InvalidEntryError, match="missing"):
        list(read_trail(path))


async def test_a_file_that_only_has_the_name_is_not_gone_on_with(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: a copy, another trail, or nothing at all where the chain should go on; no entry is written, and the name is said."""
    await filled(path, key, fill, 4)
    copy = Path(f"{path}.2")
    shutil.copy(path, copy)
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match=r"run\.trail\.2: does not go on"):
            await fill(trail, 1)
    for content, words in ((b"no entry\n", "not an intact entry"), (b"no entry\n" + path.read_bytes(), "first line is no entry")):
        copy.write_bytes(content)
        async with open_trail(path, key=key) as trail:
            with pytest.raises(StoreError, match=words):
                await fill(trail, 1)
    copy.write_bytes(b"")
    Path(f"{path}.1").rename(f"{path}.away")
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="nothing says what it goes on from"):
            await fill(trail, 1)
    copy.unlink()
    copy.mkdir()
    Path(f"{path}.away").rename(f"{path}.1")
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="cannot be opened"):
            await fill(trail, 1)


async def test_a_file_that_appears_while_the_trail_is_open_is_not_gone_on_with_either(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: the next append looks at what it is."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 2)
        Path(f"{path}.1").write_bytes(path.read_bytes())
        with pytest.raises(StoreError, match="does not go on"):
            await fill(trail, 1)
        Path(f"{path}.1").unlink()
    assert verify_trail(path, key=key).count == 2  # type: ignore[union-attr]


async def test_another_trail_whose_name_ends_in_a_number_is_left_alone(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: `run.trail.20250101` beside `run.trail` begins a trail of its own, so it is no later file of it; nor is a folder."""
    dated = Path(f"{path}.20250101")
    async with open_trail(dated, key=key) as trail:
        await fill(trail, 2)
    Path(f"{path}.2024").mkdir()
    Path(f"{path}.2023").symlink_to("nowhere")
    Path(f"{path}.0").touch()
    Path(f"{path}.01").touch()
    await filled(path, key, fill, 4)
    assert names(path) == ["run.trail", "run.trail.1"]
    assert verify_trail(path, key=key).count == 4  # type: ignore[union-attr]
    assert verify_trail(dated, key=key).count == 2  # type: ignore[union-attr]


async def test_whoever_names_a_later_file_is_told_which_one_to_name(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: by verify and by append."""
    await filled(path, key, fill, 4)
    fault = verify_trail(f"{path}.1", key=key)
    assert isinstance(fault, Fault)
    assert fault.reason == "bad-sequence"
    assert f"later file of {path}: name that one" in fault.message
    async with open_trail(f"{path}.1", key=key) as trail:
        with pytest.raises(StoreError, match="open that one"):
            await fill(trail, 1)


async def test_a_link_to_a_trail_leads_to_all_its_files(path: Path, tmp_path: Path, key: TrailKey, fill: Any) -> None:
    """H13: for readers, and with `follow` for writers."""
    await filled(path, key, fill, 4)
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    assert verify_trail(link, key=key).count == 4  # type: ignore[union-attr]
    await filled(link, key, fill, 4, follow=True)
    assert len(list(read_trail(link))) == 8
    assert trail_files(link) == trail_files(path)
    assert [file.name for file in link.parent.iterdir()] == ["link"]


@pytest.mark.parametrize("cut_first", [False, True])
async def test_a_cut_last_line_of_the_newest_file_is_mended_there(cut_first: bool, path: Path, key: TrailKey, fill: Any) -> None:
    """H3, H13: refused until then; also when it is the first line of a file that was just begun."""
    await filled(path, key, fill, 4 if cut_first else 5)
    newest = Path(f"{path}.1")
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-30])
    async with open_trail(path, key=key, rotate_bytes=2000) as trail:
        with pytest.raises(StoreError, match="no line feed"):
            await fill(trail, 1)
    mended = repair_trail(path, key=key)
    assert isinstance(mended, Repaired)
    assert mended.saved == f"{newest}.torn-1"
    assert Path(mended.saved).read_bytes() == whole.splitlines(keepends=True)[-1][:-30]
    assert mended.entry is not None
    assert (mended.entry.data["file"], mended.entry.data["line"]) == ("run.trail.1", 1 if cut_first else 2)
    assert verify_trail(path, key=key).count == mended.count == (4 if cut_first else 5)  # type: ignore[union-attr]
    newest.write_bytes(newest.read_bytes()[:-1])
    completed = repair_trail(path, key=key)
    assert isinstance(completed, Repaired)
    assert (completed.saved, completed.count) == (None, mended.count + 1)
    await filled(path, key, fill, 4)
    assert verify_trail(path, key=key)


async def test_a_cut_line_in_an_older_file_is_not_mended(path: Path, key: TrailKey, fill: Any) -> None:
    """H3, H13: no crash cuts there, and mending it would break the chain."""
    await filled(path, key, fill, 4)
    path.write_bytes(path.read_bytes()[:-1])
    before = path.read_bytes()
    fault = repair_trail(path, key=key)
    assert isinstance(fault, Fault)
    assert fault.reason == "partial-line"
    assert path.read_bytes() == before


class Faulty(FileSystem):
    """A file layer on which the next file cannot be made, written or synced."""

    def __init__(self) -> None:
        self.fault: str | None = None

    def open(self, path: str, flags: int, mode: int) -> int:  # type: ignore[override]
        if self.fault == "make" and path.endswith(".1") and flags & os.O_CREAT:
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.open(path, flags, mode)

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        if self.fault == "write":
            raise OSError(errno.ENOSPC, "No space left on device")
        return os.write(fd, data[:20] if self.fault == "short" else data)

    def fsync_directory(self, path: str) -> None:
        if self.fault == "sync":
            raise OSError(errno.EIO, "Input/output error")
        super().fsync_directory(path)


@pytest.mark.parametrize("fault", ["make", "write", "short"])
async def test_a_full_disk_at_the_rotation_loses_nothing(fault: str, path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """H4, H13, T39: the append fails, the file is as it was, and when there is room again the trail goes on."""
    files = Faulty()
    async with open_over(path, key, files, rotate_bytes=500) as trail:
        await fill(trail, 1)
        files.fault = fault
        for _ in range(2):
            with pytest.raises(StoreError, match="nothing was written"):
                await fill(trail, 1)
            assert verify_trail(path, key=key).count == 1  # type: ignore[union-attr]
        assert (await trail.checkpoint())["count"] == 1
        files.fault = None
        await fill(trail, 2)
    assert names(path) == ["run.trail", "run.trail.1", "run.trail.2"]
    assert [len(file.read_bytes().splitlines()) for file in trail_files(path)] == [1, 1, 1]
    assert verify_trail(path, key=key).count == 3  # type: ignore[union-attr]


async def test_a_folder_that_cannot_be_synced_at_the_rotation_breaks_the_store(
    path: Path, key: TrailKey, open_over: Any, fill: Any
) -> None:
    """H2, H5, H13: the new file's name may not be on disk; nothing is retried."""
    files = Faulty()
    async with open_over(path, key, files, rotate_bytes=500) as trail:
        await fill(trail, 1)
        files.fault = "sync"
        with pytest.raises(StoreError, match="unknown whether"):
            await fill(trail, 1)
        files.fault = None
        with pytest.raises(StoreError, match="nothing more is written"):
            await fill(trail, 1)


async def test_the_name_of_a_file_that_somebody_else_made_is_synced_too(
    path: Path, key: TrailKey, open_over: Any, fill: Any
) -> None:
    """H2: its maker may have died in between; once for each file that is opened."""
    synced: list[str] = []

    class Counting(FileSystem):
        def fsync_directory(self, path: str) -> None:
            synced.append(os.path.basename(path))
            super().fsync_directory(path)

    path.touch()
    async with open_over(path, key, Counting(), rotate_bytes=1) as trail:
        await fill(trail, 3)
    async with open_over(path, key, Counting()) as trail:
        await fill(trail, 2)
    assert synced == ["run.trail", "run.trail.1", "run.trail.2", "run.trail.2"]


async def test_a_trail_in_a_folder_that_cannot_be_listed_is_found_by_its_names(
    path: Path, key: TrailKey, fill: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H13: one after the other, up to the first that is not there."""
    await filled(path, key, fill)

    def refused(_: str) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("foxloop_trio.trail._parts.os.scandir", refused)
    assert names(path) == ["run.trail", "run.trail.1", "run.trail.2", "run.trail.3"]
    assert verify_trail(path, key=key).count == 10  # type: ignore[union-attr]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "1000"])
async def test_a_limit_that_is_none_is_refused(value: Any, path: Path, key: TrailKey) -> None:
    """H13: when the trail is opened."""
    with pytest.raises(BadOptionsError, match="rotate_bytes"):
        async with open_trail(path, key=key, rotate_bytes=value):
            raise AssertionError


class FailingOnce(FileSystem):
    """The first sync fails, the first write comes to nothing, or so does cutting the file back after it; then all is well."""

    def __init__(self, fault: str) -> None:
        self.faults = {"write", "ftruncate"} if fault == "undo" else {fault}

    def _pass(self, name: str) -> None:
        if name in self.faults:
            self.faults.discard(name)
            raise OSError(errno.EIO, "Input/output error")

    def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
        self._pass("write")
        return os.write(fd, data)

    def ftruncate(self, fd: int, size: int) -> None:  # type: ignore[override]
        self._pass("ftruncate")
        os.ftruncate(fd, size)

    def fsync(self, fd: int) -> None:  # type: ignore[override]
        self._pass("fsync")
        os.fsync(fd)


@pytest.mark.parametrize("fault", ["fsync", "undo"])
@pytest.mark.parametrize("large", [1, 300, 5000])
def test_nothing_of_a_group_is_written_after_a_fault_that_breaks_the_store(
    fault: str, large: int, path: Path, key: TrailKey
) -> None:
    """H5, H13, T39: neither behind what may be on disk, nor in a next file that would go on from another end."""
    drafter = Drafter()
    drafter.seal_markers_with(key)

    def addition(chars: int) -> Addition:
        return Addition(drafter.draft("a", "k", "x" * chars), 1000, {})

    file = EntryFile(os.fspath(path), key, FileSystem(), 3 * LINE)
    file.add([addition(1)])
    file.close()
    file = EntryFile(os.fspath(path), key, FailingOnce(fault), 3 * LINE)
    group = [addition(1), *(addition(large) for _ in range(5))]
    file.add(group)
    assert all(each.error is not None and each.sealed is None for each in group)
    with pytest.raises(StoreError, match="nothing more is written"):
        file.prepare()
    file.close()
    assert names(path) == ["run.trail"]
    found = verify_trail(path, key=key)
    assert isinstance(found, Verified)
    assert found.count == 1 if fault == "undo" else found.count > 1


async def test_blobs_of_files_that_lie_elsewhere_are_checked_and_put_back(path: Path, tmp_path: Path, key: TrailKey) -> None:
    """H13: in the folder that stayed with the newest files, or the one that went with the first; a changed one is found."""
    async with open_trail(path, key=key, rotate_bytes=1, blobs_over=10) as trail:
        for n in range(3):
            await trail.append(actor="a", kind="k", data=f"{n}" * 100)
    old = tmp_path / "old"
    old.mkdir()
    whole = [path.rename(old / path.name), *trail_files(path)]
    folder = Path(f"{path}.blobs")
    for _ in range(2):
        found = verify_trail(whole, key=key)
        assert isinstance(found, Verified)
        assert found.missing == ()
        assert [entry.data for entry in read_trail(whole, whole=True)] == [f"{n}" * 100 for n in range(3)]
        folder = folder.rename(old / folder.name)
    for blob in folder.iterdir():
        blob.write_bytes(b"y" * 100)
    fault = verify_trail(whole, key=key)
    assert isinstance(fault, Fault)
    assert (fault.reason, fault.index) == ("bad-blob", 0)


@pytest.mark.parametrize("gone", [[], [0], [0, 1], [1], [0, 1, 2]])
async def test_a_copy_is_not_gone_on_with_though_files_before_it_were_moved_away(
    gone: list[int], path: Path, key: TrailKey, fill: Any
) -> None:
    """H13: what comes after a gap must be further on than what is before it, or as far as so many files are at least."""
    await filled(path, key, fill)
    files = trail_files(path)
    shutil.copy(files[1], f"{path}.9")
    for number in gone:
        files[number].rename(f"{path}.away-{number}")
    for _ in range(2):
        async with open_trail(path, key=key) as trail:
            with pytest.raises(StoreError, match=r"run\.trail\.9: does not go on"):
                await fill(trail, 1)
    Path(f"{path}.9").unlink()
    await filled(path, key, fill, 1)


@pytest.mark.parametrize("later", ["run.trail.1", "run.trail.2"])
async def test_no_trail_is_begun_under_the_name_of_the_next_file_of_another(
    later: str, path: Path, tmp_path: Path, key: TrailKey, fill: Any
) -> None:
    """H13: the other one could not go on any more; also when a writer was killed after it had made that file."""
    await filled(path, key, fill, 3 if later.endswith("1") else 6)
    other = tmp_path / later
    for _ in range(2):
        async with open_trail(other, key=key) as trail:
            with pytest.raises(StoreError, match="the next file of the trail"):
                await fill(trail, 1)
        assert not other.exists() or other.stat().st_size == 0
        other.touch()
    await filled(path, key, fill, 1)
    assert verify_trail(path, key=key)


async def test_no_trail_is_begun_when_another_has_the_name_of_its_next_file(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: it would be taken for its own; nothing is made."""
    async with open_trail(f"{path}.1", key=key) as trail:
        await fill(trail, 1)
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="choose another name"):
            await fill(trail, 1)
    assert not path.exists()
    assert verify_trail(f"{path}.1", key=key)


async def test_trails_with_years_in_their_names_are_begun_one_after_the_other(path: Path, key: TrailKey, fill: Any) -> None:
    """H13: there is no trail whose files they would be."""
    for year in (2024, 2025, 2026):
        async with open_trail(f"{path}.{year}", key=key) as trail:
            await fill(trail, 2)
    async with open_trail(path, key=key) as trail:
        await fill(trail, 1)
    async with open_trail(f"{path}.2025", key=key) as trail:
        await fill(trail, 1)
    assert [verify_trail(name, key=key).count for name in (path, f"{path}.2024", f"{path}.2025")] == [1, 2, 3]  # type: ignore[union-attr]


async def test_a_link_to_a_trail_leads_to_its_blobs_and_to_its_lock(path: Path, tmp_path: Path, key: TrailKey) -> None:
    """H3, H13: blobs are read from beside the file itself, and a repair takes the lock that writers take, and mends that file."""
    async with open_trail(path, key=key, rotate_bytes=1, blobs_over=10) as trail:
        for n in range(2):
            await trail.append(actor="a", kind="k", data=f"{n}" * 100)
    link = tmp_path / "elsewhere" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    assert [read_blob(link, entry.data) for entry in read_trail(link)] == [b"0" * 100, b"1" * 100]
    newest = trail_files(path)[-1]
    newest.write_bytes(newest.read_bytes() + b"torn")
    lock = lock_for(os.fspath(path), None)
    assert lock.try_acquire()
    with pytest.raises(StoreError, match="another writer"):
        repair_trail(link, key=key, lock_timeout=0.05)
    lock.close()
    mended = repair_trail(link, key=key)
    assert isinstance(mended, Repaired)
    assert (mended.saved, mended.count) == (f"{newest}.torn-1", 3)
    assert [file.name for file in link.parent.iterdir()] == ["link"]


@pytest.mark.parametrize("ours", [1, 2000], ids=["into the file", "into the next one"])
@pytest.mark.parametrize("theirs", [1, 2000], ids=["into the file", "into the next one"])
def test_a_writer_that_lost_its_lock_reports_nothing_that_forks_the_trail(
    ours: int, theirs: int, path: Path, key: TrailKey
) -> None:
    """T35, H13: another one writes between our look at the end and our write, into the same file or into one after it."""
    drafter = Drafter()
    drafter.seal_markers_with(key)

    def addition(chars: int) -> Addition:
        return Addition(drafter.draft("a", "k", "x" * chars), 1000, {})

    def other_writes() -> None:
        file = EntryFile(os.fspath(path), key, FileSystem(), 1000)
        added = addition(theirs)
        file.add([added])
        file.close()
        assert added.error is None

    class Slow(FileSystem):
        """Falls asleep right before it writes, or makes the next file."""

        def __init__(self) -> None:
            self.armed = False

        def _sleep(self) -> None:
            if self.armed:
                self.armed = False
                other_writes()

        def open(self, path: str, flags: int, mode: int) -> int:  # type: ignore[override]
            if flags & os.O_CREAT:
                self._sleep()
            return os.open(path, flags, mode)

        def write(self, fd: int, data: bytes) -> int:  # type: ignore[override]
            self._sleep()
            return os.write(fd, data)

    files = Slow()
    file = EntryFile(os.fspath(path), key, files, 1000)
    first, second = addition(1), addition(ours)
    file.add([first])
    assert first.error is None
    files.armed = True
    file.add([second])
    assert not files.armed
    file.close()
    assert second.sealed is None
    assert isinstance(second.error, StoreError)
    if ours == 1:  # what was written twice is there for whoever looks
        assert not verify_trail(path, key=key)
    else:
        assert verify_trail(path, key=key).count == 2  # type: ignore[union-attr]
