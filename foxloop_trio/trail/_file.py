"""The file of a trail: finding its end, adding one line so that it is on disk, and never leaving half a line behind.

Plain blocking code that runs in a worker thread, under the lock beside the file. The rules it keeps: one write of whole lines in
append mode, then one fsync for all of them, before anybody is told; a new file's directory is synced too; a failed or short write
is undone by cutting the file back; a file that is not as we left it is not touched. After a failed fsync nobody knows what is on
disk (Linux drops the dirty pages, so a second fsync would report success without having written anything): the store stays broken
for good.
"""

from __future__ import annotations

import copy
import errno
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Final, NoReturn

from ..canonical import canonical_json
from ..errors import NotJsonError, TrailError
from ._blobs import folder_of, write_blob
from ._codec import MAX_LINE_BYTES, entry_from_json, parse_line
from ._errors import ConflictError, InvalidEntryError, StoreError, TrailKeyError, words_of
from ._key import TrailKey
from ._records import ENTRY_DOMAIN, MAX_DATA_DEPTH, Draft, Entry, Head, Sealed, body_text, seal

__all__ = ["Addition", "EntryFile", "FileSystem"]

TAIL_STEP: Final = 64 * 1024
"""Bytes read at a time when looking for the last line from the end; most entries are far smaller."""

# O_NONBLOCK: opening a pipe by mistake must not hang. O_NOFOLLOW: a link planted at the path must not lead us elsewhere.
_FLAGS: Final = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)


class FileSystem:
    """The few system calls that an append depends on; tests replace single ones to make them fail."""

    open: Callable[[str, int, int], int] = staticmethod(os.open)
    close: Callable[[int], None] = staticmethod(os.close)
    fstat: Callable[[int], os.stat_result] = staticmethod(os.fstat)
    lstat: Callable[[str], os.stat_result] = staticmethod(os.lstat)
    write: Callable[[int, bytes], int] = staticmethod(os.write)
    ftruncate: Callable[[int, int], None] = staticmethod(os.ftruncate)
    fsync: Callable[[int], None] = staticmethod(os.fsync)

    def read_at(self, fd: int, nbytes: int, offset: int) -> bytes:
        """Not `pread`, which Windows lacks. Moving the position is harmless: writes go to the end, and one thread reads."""
        os.lseek(fd, offset, os.SEEK_SET)
        return os.read(fd, nbytes)

    def fsync_directory(self, path: str) -> None:
        """Make the name of a new file durable. A file system that cannot sync directories (EINVAL) has no such step."""
        if os.name == "nt":
            return
        fd = os.open(os.path.dirname(path) or ".", os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(fd)
        except OSError as fault:
            if fault.errno != errno.EINVAL:
                raise
        finally:
            os.close(fd)


class Addition:
    """One entry that is to be added, or blobs alone when there is no draft; afterwards what it became, or why it did not."""

    __slots__ = ("blobs", "draft", "error", "now_ms", "sealed")

    def __init__(self, draft: Draft | None, now_ms: int, blobs: Mapping[str, bytes]) -> None:
        self.draft = draft
        self.now_ms = now_ms
        self.blobs = blobs
        self.sealed: Sealed | None = None
        self.error: Exception | None = None


class EntryFile:
    """One file of entries that we append to. Opened, and made when it does not exist, at the first append.

    Everything here is called by one thread at a time, which holds the lock beside the file.
    """

    def __init__(self, path: str, key: TrailKey, files: FileSystem) -> None:
        self.path = path
        self._key = key
        self._files = files
        self._fd: int | None = None
        self._place: tuple[int, int] = (0, 0)
        # The size at which we left the file, and its last entry then; None until the end was read once.
        self._size: int | None = None
        self._head: Head | None = None
        self._broken: str | None = None

    @property
    def fd(self) -> int | None:
        """The open file, None before the first append."""
        return self._fd

    def add(self, additions: Sequence[Addition]) -> None:
        """Put the additions at the end of the file, durably, and fill in what became of each.

        An error of the whole file is every addition's: StoreError, TrailKeyError. One of a single entry (EntryTooLargeError, a blob
        that cannot be written) is that entry's alone. An addition with an error is not in the file, unless the message says that
        this is unknown.
        """
        try:
            fd = self.prepare()
            size = self._settle(fd)
        except TrailError as fault:
            _fail(additions, fault)
            return
        self._add(fd, additions, size)

    def add_lines(self, lines: bytes, head: Head | None) -> None:
        """Put whole lines that end in `head` into a file that must be empty: in one write, all or none.

        Raises StoreError, or ConflictError when there are entries already.
        """
        fd = self.prepare()
        size = self._settle(fd)
        if size:
            raise ConflictError(f"{self.path}: there are entries already; import into an empty trail")
        if lines:
            self._put(fd, lines, size)
            self._head = head

    def size(self) -> int:
        """Bytes of the file, 0 when there is none."""
        try:
            return self._files.lstat(self.path).st_size
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except (OSError, ValueError) as fault:
            raise StoreError(f"{self.path}: cannot be looked at ({words_of(fault)})") from fault

    def state(self) -> tuple[int, Head | None]:
        """The file's size and its last entry, None for both when nothing is there. Raises StoreError or TrailKeyError."""
        if self._broken is not None:
            raise self._refusal()
        if self._fd is None:
            try:
                self._files.lstat(self.path)
            except (FileNotFoundError, NotADirectoryError):
                return 0, None
            except (OSError, ValueError):
                pass  # opening it says what is wrong
        return self._settle(self._open()), self._head

    def prepare(self) -> int:
        """Open the file, and make it when it does not exist. Needs no lock. Raises StoreError, also when the store is broken."""
        if self._broken is not None:
            raise self._refusal()
        return self._open()

    def _refusal(self) -> StoreError:
        return StoreError(f"{self.path}: {self._broken}; nothing more is written. Verify the file, then open the trail anew")

    def _settle(self, fd: int) -> int:
        """The size of the file, once `_head` is its last entry."""
        try:
            size = self._current_size(fd)
            if size != self._size:
                self._head = self._read_head(fd, size)
                self._size = size
        except OSError as fault:
            raise StoreError(f"{self.path}: cannot be read ({words_of(fault)})") from fault
        return size

    def _add(self, fd: int, additions: Sequence[Addition], size: int) -> None:
        head = self._head
        lines: list[bytes] = []
        in_it: list[Addition] = []
        for addition in additions:
            try:
                self._write_blobs(addition.blobs)
                if addition.draft is None:
                    continue
                addition.sealed = seal(addition.draft, head, addition.now_ms, self._key)
            except TrailError as fault:
                addition.error = fault
                continue
            head = addition.sealed.head
            lines.append(addition.sealed.line.encode())
            in_it.append(addition)
        if not lines:
            return
        try:
            self._put(fd, b"".join(lines), size)
            self._head = head
        except TrailError as fault:
            if self._broken is None and len(in_it) > 1:
                # The file is as it was. Where all of them have no room, the first of them may have.
                for addition in in_it:
                    addition.blobs = {}
                    self._add(fd, [addition], self._size or 0)
                    if self._broken is not None:
                        _fail(in_it[in_it.index(addition) + 1 :], self._refusal())
                        return
            else:
                _fail(in_it, fault)

    def _put(self, fd: int, lines: bytes, size: int) -> None:
        # Whatever leaves this method without saying how the write ended leaves the store broken.
        self._broken = "a write did not come to its end"
        self._write(fd, lines, size)
        self._sync(fd, new=size == 0)
        self._size = size + len(lines)
        self._broken = None

    def _write_blobs(self, blobs: Mapping[str, bytes]) -> None:
        folder = folder_of(self.path)
        for digest, raw in blobs.items():
            try:
                write_blob(folder, digest, raw, self._files.fsync, self._files.fsync_directory)
            except (OSError, ValueError) as fault:
                raise StoreError(f"{folder}: a blob of {len(raw)} bytes cannot be written ({words_of(fault)})") from fault

    def close(self) -> None:
        """Give the descriptor back. Every entry that was reported is on disk already."""
        fd, self._fd = self._fd, None
        self._broken = "the trail was closed"
        if fd is not None:
            self._files.close(fd)

    def _open(self) -> int:
        if self._fd is not None:
            return self._fd
        try:
            fd = self._open_descriptor()
        except (OSError, ValueError) as fault:  # ValueError: a path that no file can have, such as one with a NUL
            hint = "a symbolic link; name the file itself" if getattr(fault, "errno", None) == errno.ELOOP else words_of(fault)
            raise StoreError(f"{self.path}: cannot be opened for appending ({hint})") from fault
        try:
            status = self._files.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise StoreError(f"{self.path}: not a regular file")
        except OSError as fault:
            self._files.close(fd)
            raise StoreError(f"{self.path}: cannot be looked at ({words_of(fault)})") from fault
        except StoreError:
            self._files.close(fd)
            raise
        self._place = (status.st_dev, status.st_ino)
        self._fd = fd
        return fd

    def _open_descriptor(self) -> int:
        with suppress(FileNotFoundError):
            return self._files.open(self.path, _FLAGS, 0)
        try:
            return self._files.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:  # made by somebody else in between
            return self._files.open(self.path, _FLAGS, 0)

    def _current_size(self, fd: int) -> int:
        try:
            named = self._files.lstat(self.path)
        except FileNotFoundError:
            named = None
        if named is None or (named.st_dev, named.st_ino) != self._place:
            raise StoreError(f"{self.path}: the file was moved, replaced or removed while the trail was open; open the trail anew")
        size = self._files.fstat(fd).st_size
        if self._size is not None and size < self._size:
            raise StoreError(f"{self.path}: the file is shorter than it was left: its end was cut off by somebody else")
        return size

    def _read_head(self, fd: int, size: int) -> Head | None:
        """The last entry of the file, checked alone: a chain must not be continued from a false one."""
        if size == 0:
            return None
        line = self._read_last_line(fd, size)
        try:
            entry = entry_from_json(parse_line(line, 0))
            intact = sha256(_body_of(entry)).hexdigest() == entry.hash
        except (InvalidEntryError, NotJsonError):
            intact = False
        if not intact:
            raise StoreError(f"{self.path}: the last line is not an intact entry; the file is left as it is. Verify it")
        if not self._key.proves(ENTRY_DOMAIN + entry.hash, entry.mac):
            raise TrailKeyError(f"{self.path}: the last entry was written with another key; use that key or another file")
        return Head(seq=entry.seq, ts=entry.ts, hash=entry.hash)

    def _read_last_line(self, fd: int, size: int) -> bytes:
        steps: list[bytes] = []
        end = size
        while end > 0 and size - end <= MAX_LINE_BYTES:
            start = max(0, end - TAIL_STEP)
            step = self._files.read_at(fd, end - start, start)
            if len(step) != end - start:
                raise StoreError(f"{self.path}: the file shrank while it was read")
            if end == size:
                if not step.endswith(b"\n"):
                    raise StoreError(
                        f"{self.path}: the last line has no line feed: a write was cut, and its entry was never reported as "
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
            raise StoreError(f"{self.path}: the last line has more than {MAX_LINE_BYTES} bytes; no entry is that long")
        return b"".join(reversed(steps))

    def _write(self, fd: int, line: bytes, size: int) -> None:
        try:
            written = self._files.write(fd, line)
        except OSError as fault:
            self._undo(fd, line, size, words_of(fault), fault)
        if written != len(line):
            self._undo(fd, line, size, f"only {written} of {len(line)} bytes went in; is the disk full?", None)
        try:
            alone = self._files.fstat(fd).st_size == size + len(line)
        except OSError as fault:
            raise StoreError(f"{self.path}: the file cannot be looked at after a write ({words_of(fault)})") from fault
        if not alone:
            self._broken = "somebody else wrote to the file at the same time"
            raise StoreError(f"{self.path}: {self._broken}; the chain may be forked there. Verify the file")

    def _undo(self, fd: int, line: bytes, size: int, problem: str, cause: OSError | None) -> NoReturn:
        """Cut the file back to `size`, unless somebody else's line would go too. Broken when that fails."""
        try:
            intact = self._files.fstat(fd).st_size <= size + len(line)
            if intact:
                self._files.ftruncate(fd, size)
        except OSError:
            intact = False
        if intact:
            self._broken = None
            raise StoreError(f"{self.path}: nothing was written ({problem}); the file is as it was") from cause
        self._broken = "a write failed and could not be undone"
        raise StoreError(f"{self.path}: nothing was written ({problem}), and {self._broken}; the last line is cut") from cause

    def _sync(self, fd: int, *, new: bool) -> None:
        try:
            self._files.fsync(fd)
            if new:
                self._files.fsync_directory(self.path)
        except OSError as fault:
            self._broken = f"an fsync failed ({words_of(fault)}), so it is unknown whether the last entry is on disk"
            raise StoreError(f"{self.path}: {self._broken}") from fault


def _fail(additions: Sequence[Addition], fault: TrailError) -> None:
    """Give each of them the error, as an object of its own: it is raised in several tasks."""
    for addition in additions:
        own = copy.copy(fault)
        own.__cause__ = fault.__cause__
        addition.sealed, addition.error = None, own


def _body_of(entry: Entry) -> bytes:
    return body_text(
        seq=entry.seq,
        ts=entry.ts,
        actor_json=canonical_json(entry.actor),
        kind_json=canonical_json(entry.kind),
        data_json=canonical_json(entry.data, max_depth=MAX_DATA_DEPTH),
        prev=entry.prev,
    ).encode()
