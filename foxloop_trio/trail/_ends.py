"""The first and the last entry of a file: where its part of the chain begins, and where it ends.

What a chain is continued from is checked alone: its hash, and its MAC. The cost does not grow with the file.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from ..canonical import canonical_json
from ..errors import NotJsonError
from ._codec import MAX_LINE_BYTES, entry_from_json, parse_line
from ._errors import InvalidEntryError, StoreError, TrailKeyError
from ._key import TrailKey
from ._records import ENTRY_DOMAIN, MAX_DATA_DEPTH, Entry, Head, body_text
from ._system import FileSystem

__all__ = ["first_entry", "last_head"]

TAIL_STEP: Final = 64 * 1024
"""Bytes read at a time when looking for the last line from the end; most entries are far smaller."""


def first_entry(files: FileSystem, fd: int, name: str) -> Entry:
    """The entry in the first line of a file that is not empty. Raises StoreError, OSError."""
    line = files.read_at(fd, TAIL_STEP, 0)
    while b"\n" not in line and len(line) <= MAX_LINE_BYTES:
        more = files.read_at(fd, TAIL_STEP, len(line))
        if not more:
            break
        line += more
    try:
        return entry_from_json(parse_line(line.partition(b"\n")[0], 1), 1)
    except InvalidEntryError as fault:
        raise StoreError(f"{name}: the first line is no entry; the file is left as it is. Verify it") from fault


def last_head(files: FileSystem, fd: int, size: int, name: str, key: TrailKey) -> Head:
    """The last entry of a file of `size` bytes, which is not empty. Raises StoreError, TrailKeyError, OSError."""
    line = _last_line(files, fd, size, name)
    try:
        entry = entry_from_json(parse_line(line, 0))
        intact = sha256(_body_of(entry)).hexdigest() == entry.hash
    except (InvalidEntryError, NotJsonError):
        intact = False
    if not intact:
        raise StoreError(f"{name}: the last line is not an intact entry; the file is left as it is. Verify it")
    if not key.proves(ENTRY_DOMAIN + entry.hash, entry.mac):
        raise TrailKeyError(f"{name}: the last entry was written with another key; use that key or another file")
    return Head(seq=entry.seq, ts=entry.ts, hash=entry.hash)


def _last_line(files: FileSystem, fd: int, size: int, name: str) -> bytes:
    steps: list[bytes] = []
    end = size
    while end > 0 and size - end <= MAX_LINE_BYTES:
        start = max(0, end - TAIL_STEP)
        step = files.read_at(fd, end - start, start)
        if len(step) != end - start:
            raise StoreError(f"{name}: the file shrank while it was read")
        if end == size:
            if not step.endswith(b"\n"):
                raise StoreError(
                    f"{name}: the last line has no line feed: a write was cut, and its entry was never reported as "
                    "written. The file is left as it is; `foxloop-trio trail repair` mends it"
                )
            step = step[:-1]
        steps.append(step)
        feed = step.rfind(b"\n")
        if feed >= 0:
            steps[-1] = step[feed + 1 :]
            return b"".join(reversed(steps))
        end = start
    if end > 0:
        raise StoreError(f"{name}: the last line has more than {MAX_LINE_BYTES} bytes; no entry is that long")
    return b"".join(reversed(steps))


def _body_of(entry: Entry) -> bytes:
    return body_text(
        seq=entry.seq,
        ts=entry.ts,
        actor_json=canonical_json(entry.actor),
        kind_json=canonical_json(entry.kind),
        data_json=canonical_json(entry.data, max_depth=MAX_DATA_DEPTH),
        prev=entry.prev,
    ).encode()
