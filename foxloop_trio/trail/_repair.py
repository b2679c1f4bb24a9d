"""Mending a file whose last write was cut: never by itself, never losing an entry that was reported, and keeping what is cut off.

Only what stands behind the last line feed can be torn, and an entry is reported as written only when its line feed is on disk. So
what is cut off here was never reported. A line that lacks nothing but its line feed is completed instead.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

import attrs

from ..ports import Ids, WallClock
from ._draft import Drafter
from ._errors import StoreError, words_of
from ._file import Addition, EntryFile
from ._key import TrailKey
from ._lock import NAP_SECONDS, LockKind, WriterLock, lock_for
from ._parts import numbers_of, part_name, real_name
from ._reader import read_lines, read_parts
from ._records import Entry, Fault, Verified
from ._system import FileSystem
from ._verify import verify_parts, verify_trail

__all__ = ["Repaired", "repair_trail"]

REPAIRED: Final = "trail.repaired"
"""The kind of the entry that a repair leaves."""

ACTOR: Final = "foxloop-trio"


@attrs.frozen(kw_only=True)
class Repaired:
    """What a repair did: `torn` bytes behind the last line feed were moved to the file `saved`, or completed (`saved` is None), and
    `entry` says so in the trail. Nothing was torn: `torn` is 0 and `entry` None. `count` and `head` are those of the trail now.
    """

    torn: int
    saved: str | None
    entry: Entry | None
    count: int
    head: str


def repair_trail(
    path: str | os.PathLike[str],
    *,
    key: TrailKey | bytes | str,
    now: WallClock | None = None,
    ids: Ids | None = None,
    lock: LockKind | None = None,
    lock_timeout: float = 5.0,
) -> Repaired | Fault:
    """Mend the cut last line of the trail `path`, which is in its newest file. The fault instead when the lines before it do not
    verify; then nothing is changed.

    The torn bytes go to ``<file>.torn-<n>`` and are on disk before the file is cut. Then an entry ``trail.repaired`` with their
    number and SHA-256 is appended. Raises TrailKeyError without a good key, StoreError when the file cannot be read or written, or
    when another writer keeps its lock for longer than `lock_timeout` seconds. Blocks.
    """
    # Of a link the file itself: the lock that its writers take is beside that, and so are the other files.
    name = os.path.join(os.getcwd(), real_name(path))
    whole_key = TrailKey.of(key)
    drafter = Drafter(now=now, ids=ids)
    drafter.seal_markers_with(whole_key)
    _must_be_there(name)
    beside = lock_for(name, lock)
    _acquire(beside, lock_timeout)
    try:
        return _repair(name, whole_key, drafter)
    finally:
        beside.release()
        beside.close()


def _repair(path: str, key: TrailKey, drafter: Drafter) -> Repaired | Fault:
    found = verify_trail(path, key=key)
    if isinstance(found, Verified):
        return Repaired(torn=0, saved=None, entry=None, count=found.count, head=found.head)
    newest = part_name(path, max(numbers_of(path)))
    if found.reason != "partial-line" or (found.file or path) != newest:
        return found
    torn = _torn_bytes(newest)
    completed = isinstance(verify_parts(_with_line_feed(path, newest), key=key), Verified)
    saved = None if completed else _save(newest, torn)
    try:
        _change(newest, b"\n" if completed else b"", 0 if completed else len(torn))
    except OSError as fault:
        raise StoreError(f"{newest}: cannot be mended ({words_of(fault)})") from fault
    data: dict[str, Any] = {"bytes": len(torn), "sha256": sha256(torn).hexdigest(), "line": found.line}
    if found.file is not None:
        data["file"] = os.path.basename(found.file)
    data["done"] = "completed" if saved is None else f"moved to {os.path.basename(saved)}"
    addition = Addition(drafter.draft(ACTOR, REPAIRED, data), drafter.now_ms(), {})
    file = EntryFile(path, key, FileSystem())
    try:
        file.add([addition])
    finally:
        file.close()
    if addition.error is not None:
        raise addition.error
    assert addition.sealed is not None
    entry = Entry.of(addition.sealed)
    return Repaired(torn=len(torn), saved=saved, entry=entry, count=entry.seq + 1, head=entry.hash)


def _must_be_there(path: str) -> None:
    """No lock file is made beside a file that does not exist."""
    try:
        os.stat(path)
    except (OSError, ValueError) as fault:
        raise StoreError(f"{path}: cannot be read ({words_of(fault)})") from fault


def _acquire(lock: WriterLock, timeout: float) -> None:
    until = time.monotonic() + timeout
    while not lock.try_acquire():
        if time.monotonic() >= until:
            lock.close()
            raise StoreError(f"{lock.path}: another writer has had the lock for {timeout} s; end it first. Nothing was changed")
        time.sleep(NAP_SECONDS[1])


def _torn_bytes(path: str) -> bytes:
    last = b""
    for line in read_lines(path):
        last = line
    return last


def _with_line_feed(path: str, newest: str) -> Iterator[tuple[str, Iterator[bytes]]]:
    for name, lines in read_parts(path):
        yield name, (line if line.endswith(b"\n") or name != newest else line + b"\n" for line in lines)


def _save(path: str, torn: bytes) -> str:
    number = 1
    while True:
        name = f"{path}.torn-{number}"
        try:
            fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileExistsError:
            number += 1
            continue
        except OSError as fault:
            raise StoreError(f"{name}: the torn bytes cannot be kept ({words_of(fault)}); nothing was changed") from fault
        try:
            with open(fd, "wb") as file:
                file.write(torn)
                file.flush()
                os.fsync(fd)
            FileSystem().fsync_directory(name)
        except OSError as fault:
            raise StoreError(f"{name}: the torn bytes cannot be kept ({words_of(fault)}); the trail is as it was") from fault
        return name


def _change(path: str, more: bytes, less: int) -> None:
    fd = os.open(path, os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0))
    try:
        if less:
            os.ftruncate(fd, os.fstat(fd).st_size - less)
        if more:
            os.write(fd, more)
        os.fsync(fd)
    finally:
        os.close(fd)
