"""Reading a file of entries from its beginning, one line at a time, however long it is.

Only what was in the file when reading began is read, so a writer beside us does not look like a cut line. Reading blocks for disk
accesses; from Trio code hand whole jobs (`list`, `verify_trail`) to `trio.to_thread.run_sync` when the file is large.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import BinaryIO

import attrs

from ._blobs import BLOB, LITERAL, expand, folder_of, load_blob
from ._codec import BYTE_ORDER_MARK, MAX_LINE_BYTES, entry_from_json, parse_line
from ._errors import InvalidEntryError, StoreError, words_of
from ._records import Entry

__all__ = ["read_lines", "read_text", "read_trail"]


def read_trail(path: str | os.PathLike[str], *, whole: bool = False, size: int | None = None) -> Iterator[Entry]:
    """The entries of a file, in order; at most one line is held in memory. Nothing is verified: see `verify_trail`.

    With `whole`, texts that lie beside the file are put back where they were, as far as they are there, and objects that looked
    like a marker of ours come out of their ``$literal``; such an entry's `hash` is not that of its data any more. `size` is how
    many bytes are read, for a file that somebody writes to.

    A missing line feed after the last line is fine. Raises InvalidEntryError, with the 1-based `line`, for a line that is no strict
    JSON (also when a key is repeated) or no entry; StoreError when the file cannot be read.
    """
    folder = folder_of(os.fsdecode(path))
    for number, line in enumerate(read_lines(path, size), 1):
        entry = entry_from_json(parse_line(line.removesuffix(b"\n"), number), number)
        if whole and (BLOB.encode() in line or LITERAL.encode() in line):
            entry = attrs.evolve(entry, data=expand(entry.data, lambda digest, length: load_blob(folder, digest, length)))
        yield entry


def read_text(path: str, size: int) -> str:
    """The first `size` bytes of a file, which are whole lines, as text."""
    return b"".join(read_lines(path, size)).decode()


def read_lines(path: str | os.PathLike[str], size: int | None = None) -> Iterator[bytes]:
    """The lines of a file with their LF, without a leading byte order mark; only those in the first `size` bytes, if given.

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
