"""Repair: a cut last line is mended, what was reported stays, what is cut off is kept, and nothing else is ever touched."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.trail import (
    Fault,
    Repaired,
    StoreError,
    TrailKey,
    TrailKeyError,
    Verified,
    open_trail,
    read_trail,
    repair_trail,
    verify_trail,
)


@pytest.fixture
def whole(path: Path, key: TrailKey, fill: Any) -> bytes:
    """The bytes of a good trail of four entries at `path`."""

    async def write() -> None:
        async with open_trail(path, key=key) as trail:
            await fill(trail, 4)

    trio.run(write)
    return path.read_bytes()


def test_a_whole_trail_is_left_as_it_is(whole: bytes, path: Path, key: TrailKey) -> None:
    """T86: also an empty one."""
    head = list(read_trail(path))[-1].hash
    assert repair_trail(path, key=key) == Repaired(torn=0, saved=None, entry=None, count=4, head=head)
    assert path.read_bytes() == whole
    path.write_bytes(b"")
    assert repair_trail(path, key=key) == Repaired(torn=0, saved=None, entry=None, count=0, head="0" * 64)


def test_a_cut_last_line_is_moved_aside_wherever_it_was_cut(whole: bytes, path: Path, key: TrailKey) -> None:
    """H3, T36, T86: at every fourth byte; three entries and the record of the repair are left, and the torn bytes are kept."""
    start = whole[:-1].rindex(b"\n") + 1
    kept = whole[:start]
    for number, cut in enumerate(range(start + 1, len(whole) - 1, 4), 1):
        torn = whole[start:cut]
        path.write_bytes(whole[:cut])
        done = repair_trail(path, key=key, now=lambda: 5.0)
        assert isinstance(done, Repaired)
        saved = path.with_name(f"{path.name}.torn-{number}")
        assert (done.torn, done.saved, done.count) == (len(torn), str(saved), 4)
        assert saved.read_bytes() == torn
        assert path.read_bytes().startswith(kept)
        assert verify_trail(path, key=key) == Verified(count=4, head=done.head)
        entry = list(read_trail(path))[-1]
        assert entry == done.entry
        assert (entry.actor, entry.kind) == ("foxloop-trio", "trail.repaired")
        assert entry.data == {
            "bytes": len(torn),
            "sha256": sha256(torn).hexdigest(),
            "line": 4,
            "done": f"moved to {saved.name}",
        }
    assert number > 50


def test_a_line_that_lacks_only_its_line_feed_is_completed(whole: bytes, path: Path, key: TrailKey) -> None:
    """An editor may have cut it off: then the entry had been reported, and must not be lost."""
    path.write_bytes(whole[:-1])
    done = repair_trail(path, key=key)
    assert isinstance(done, Repaired)
    assert (done.saved, done.count) == (None, 5)
    assert path.read_bytes().startswith(whole)
    assert done.entry is not None
    assert done.entry.data["done"] == "completed"
    assert verify_trail(path, key=key).ok
    assert [name.name for name in path.parent.iterdir() if "torn" in name.name] == []


def test_a_first_line_that_was_cut_leaves_the_record_of_the_repair_alone(whole: bytes, path: Path, key: TrailKey) -> None:
    """The chain begins anew from genesis."""
    path.write_bytes(whole[:50])
    done = repair_trail(path, key=key)
    assert isinstance(done, Repaired)
    assert done.count == 1
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize("reason", ["bad-hash", "bad-line", "bad-sequence", "bad-mac"])
def test_a_trail_with_another_fault_is_not_touched(reason: str, whole: bytes, path: Path, key: TrailKey) -> None:
    """Only a cut last line is mended; a fault before it is for a person to look at, cut end or not."""
    lines = whole.splitlines(keepends=True)
    broken = {
        "bad-hash": whole.replace(b'{"n":1}', b'{"n":9}'),
        "bad-line": whole.replace(b'{"n":1}', b'{"n":x}'),
        "bad-sequence": b"".join([lines[0], *lines[2:]]),
        "bad-mac": whole,
    }[reason]
    for text in (broken, broken[:-7]):
        path.write_bytes(text)
        fault = repair_trail(path, key=key if reason != "bad-mac" else "cd" * 32)
        assert isinstance(fault, Fault)
        assert fault.reason == reason
        assert path.read_bytes() == text
    assert not [name for name in path.parent.iterdir() if "torn" in name.name]


def test_a_repair_without_a_key_or_a_file_changes_nothing(whole: bytes, path: Path, key: TrailKey) -> None:
    """And makes nothing: no lock file beside a file that is not there."""
    with pytest.raises(TrailKeyError):
        repair_trail(path, key="")
    for name in ("nowhere", "."):
        with pytest.raises(StoreError):
            repair_trail(path.parent / name, key=key)
    assert not path.with_name("nowhere.lock").exists()
    assert path.read_bytes() == whole


async def test_a_trail_goes_on_after_its_repair(path: Path, key: TrailKey, fill: Any) -> None:
    """T36: refused before, fine after."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 3)
    path.write_bytes(path.read_bytes()[:-20])
    async with open_trail(path, key=key) as trail:
        with pytest.raises(StoreError, match="trail repair"):
            await fill(trail, 1)
        for read in (trail.entries, trail.export_jsonl, trail.checkpoint):
            with pytest.raises(StoreError, match="no line feed"):
                await read()
        fault = await trail.verify()
        assert isinstance(fault, Fault)
        assert fault.reason == "partial-line"
    repair_trail(path, key=key)
    async with open_trail(path, key=key) as trail:
        await fill(trail, 1)
    assert [entry.kind for entry in read_trail(path)] == ["test.step", "test.step", "trail.repaired", "test.step"]
    assert verify_trail(path, key=key).ok
