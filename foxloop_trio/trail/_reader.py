"""Reading the files of a trail from the beginning, one line at a time, however long they are.

Only what was there when reading began is read, so a writer beside us does not look like a cut line. Reading blocks for disk
accesses; from Trio code hand whole jobs (`list`, `verify_trail`) to `trio.to_thread.run_sync` when the trail is large.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO

import attrs

from ._blobs import BLOB, LITERAL, expand, load_blob_from
from ._codec import BYTE_ORDER_MARK, MAX_LINE_BYTES, entry_from_json, parse_line
from ._errors import InvalidEntryError, StoreError, words_of
from ._parts import TrailPath, blob_folders, parts_of
from ._records import Entry

__all__ = ["MissingFile", "read_lines", "read_parts", "read_text", "read_trail"]


class MissingFile(InvalidEntryError):
    """A file of a trail is not there, and later ones are."""

    def __init__(self, name: str) -> None:
        super().__init__("this file of the trail is missing, and later ones are there", file=name)


def read_trail(path: TrailPath, *, whole: bool = False, size: int | None = None) -> Iterator[Entry]:
    """The entries of a trail, in order; at most one line is held in memory. Nothing is verified: see `verify_trail`.

    `path` is the first file, whose later ones (``<path>.1``, …) are found beside it, or a list of all files in their order. With
    `whole`, texts that lie beside the file are put back where they were, as far as they are there, and objects that looked like a
    marker of ours come out of their ``$literal``; such an entry's `hash` is not that of its data any more. `size` is how many bytes
    of all files together are read, for a trail that somebody writes to.

    A missing line feed after the last line is fine. Raises InvalidEntryError, with the 1-based `line`, for a line that is no strict
    JSON (also when a key is repeated) or no entry, and when a file is missing before others; StoreError when one cannot be read.
    """
    load = partial(load_blob_from, blob_folders(path))
    for place, (name, lines) in enumerate(read_parts(path, size)):
        number = 0
        try:
            for number, line in enumerate(lines, 1):
                entry = entry_from_json(parse_line(line.removesuffix(b"\n"), number), number)
                if whole and (BLOB.encode() in line or LITERAL.encode() in line):
                    entry = attrs.evolve(entry, data=expand(entry.data, load))
                yield entry
        except InvalidEntryError as fault:
            if place == 0 or fault.line is None:
                raise
            raise InvalidEntryError(fault.problem, line=fault.line, file=name) from None


def read_text(path: str, size: int) -> str:
    """The first `size` bytes of a trail, which are whole lines, as text."""
    return b"".join(line for _, lines in read_parts(path, size) for line in lines).decode()


def read_parts(path: TrailPath, size: int | None = None) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Each file with its lines. Raises as `read_lines` does, and MissingFile when a file is not there and later ones are."""
    names, missing = parts_of(path)
    left = size
    for name in names:
        if left is not None and left <= 0 and name != names[0]:
            return
        yield name, read_lines(name, left)
        if left is not None:
            left -= _size_of(name)
    if missing is not None and (left is None or left > 0):
        raise MissingFile(missing)


def _size_of(name: str) -> int:
    """Bytes of a file; of one that others follow, which does not grow any more, all that there will ever be."""
    try:
        return os.stat(name).st_size
    except (OSError, ValueError) as fault:
        raise StoreError(f"{name}: cannot be looked at ({words_of(fault)})") from fault


def read_lines(path: str | os.PathLike[str], size: int | None = None) -> Iterator[bytes]:
    """The lines of one file with their LF, without a leading byte order mark; only those in the first `size` bytes, if given.

    Raises StoreError when it cannot be read, InvalidEntryError for a line over the limit.
    """
    name = os.fsdecode(path)
    try:
        with open(name, "rb", opener=_open_at_once) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                # A pipe or a device has no size to read up to, and would look like an empty trail.
                raise StoreError(f"{name}: not a regular file; save what it gives to a file first")
            yield from _lines(file, status.st_size if size is None else min(size, status.st_size))
    except (OSError, ValueError) as fault:
        raise StoreError(f"{name}: cannot be read ({words_of(fault)})") from fault


def _open_at_once(name: str, flags: int) -> int:
    """Opening a pipe by mistake must not wait for somebody to write into it."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _lines(file: BinaryIO, left: int) -> Iterator[bytes]:
    number = 0
    while left > 0:
        number += 1
        line = file.readline(min(left, MAX_LINE_BYTES + 1))
        if not line:
            return
        left -= len(line)
        if len(line) > MAX_LINE_BYTES:
            raise InvalidEntryError(f"more than {MAX_LINE_BYTES} bytes; no entry is that long", line=number)
        if number == 1:
            line = line.removeprefix(BYTE_ORDER_MARK)
            if not line:
                return
        yield line
