"""Entries as they land, whoever writes them: for a screen beside a run, or a copy elsewhere."""

from __future__ import annotations

import os
from collections import deque
from typing import Any, BinaryIO, Final

import trio

from ._codec import BYTE_ORDER_MARK, MAX_LINE_BYTES, entry_from_json, parse_line
from ._errors import InvalidEntryError, StoreError, words_of
from ._parts import numbers_of, part_name
from ._records import Entry

__all__ = ["Follower"]

LOOK_EVERY: Final = 0.05
"""Seconds between two looks at a file that has not grown: a person sees no delay, and the cost is one `stat`."""

STEP: Final = 256 * 1024
"""Bytes read at a time."""


class Follower:
    """An async iterator over the entries of a trail from number `from_seq` on, which waits for more at the end of the newest file.

    It verifies nothing but that each goes on from the one before: of a group of appends that is undone, for a full disk, the first
    may have been seen. Raises InvalidEntryError for a line that is no entry, StoreError when a file cannot be read, became shorter,
    or goes on from something else.
    """

    def __init__(self, path: str, from_seq: int) -> None:
        self._path = path
        self._from_seq = from_seq
        self._number: int | None = None
        self._offset = 0
        self._lines = 0
        self._head: str | None = None
        self._ready: deque[Entry] = deque()

    def __aiter__(self) -> Follower:
        return self

    async def __anext__(self) -> Entry:
        if self._ready:
            await trio.lowlevel.checkpoint()
        while not self._ready:
            if not await trio.to_thread.run_sync(self._read_more):
                await trio.sleep(LOOK_EVERY)
        return self._ready.popleft()

    def _read_more(self) -> bool:
        """Read what is new; whether there was anything. What is behind the last line feed waits for its end."""
        name = self._path
        try:
            if self._number is None:
                numbers = numbers_of(self._path)
                if not numbers:
                    return False
                self._number = numbers[0]
            name = part_name(self._path, self._number)
            # Looked for before reading: once it is there, this file has all that it will ever have.
            is_last = not os.path.lexists(part_name(self._path, self._number + 1))
            with open(name, "rb", opener=_open_at_once) as file:
                size = os.fstat(file.fileno()).st_size
                if size < self._offset:
                    raise StoreError(f"{name}: the file became shorter while it was followed")
                file.seek(self._offset)
                new = _whole_lines(file)
        except FileNotFoundError:
            return False
        except (OSError, ValueError) as fault:
            raise StoreError(f"{name}: cannot be read ({words_of(fault)})") from fault
        if not new and not is_last and size == self._offset:
            self._number, self._offset, self._lines = self._number + 1, 0, 0
            return True
        for line in new.split(b"\n")[:-1]:
            self._lines += 1
            self._offset += len(line) + 1
            if self._lines == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            entry = entry_from_json(parse_line(line, self._lines), self._lines)
            if self._head not in (None, entry.prev):
                raise StoreError(f"{name}: line {self._lines} does not go on from the entry before; it was undone, or changed")
            self._head = entry.hash
            if entry.seq >= self._from_seq:
                self._ready.append(entry)
        if len(new) > MAX_LINE_BYTES and b"\n" not in new:
            raise InvalidEntryError(f"more than {MAX_LINE_BYTES} bytes; no entry is that long", line=self._lines + 1)
        return b"\n" in new


def _whole_lines(file: BinaryIO) -> bytes:
    """About `STEP` bytes from here on, and more up to the first line feed.

    What stands behind the last one is read again the next time: it may be half a write, which is undone when the disk is full and
    moved away by a repair, and what comes there instead must not be joined to it.
    """
    pieces: list[bytes] = []
    total = 0
    while total <= MAX_LINE_BYTES:
        piece = file.read(STEP)
        pieces.append(piece)
        total += len(piece)
        if not piece or b"\n" in piece:
            break
    return b"".join(pieces)


def _open_at_once(name: str, flags: int) -> Any:
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))
