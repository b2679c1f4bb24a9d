"""The file of a trail: adding entries so that they are on disk, and never leaving half a line behind.

Plain blocking code that runs in a worker thread, under the lock beside the file. The rules it keeps: one write of whole lines in
append mode, then one fsync for all of them, before anybody is told; a new file's directory is synced too; a failed or short write
is undone by cutting the file back; a file that is not as we left it is not touched. After a failed fsync nobody knows what is on
disk (Linux drops the dirty pages, so a second fsync would report success without having written anything): the store stays broken
for good.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from ..errors import TrailError
from ._aside import put_in_place
from ._blobs import write_blob
from ._errors import ConflictError, StoreError, words_of
from ._key import TrailKey
from ._newest import NewestFile
from ._parts import folder_of, numbers_of, part_name
from ._records import Draft, Head, Sealed, seal
from ._system import FileSystem

__all__ = ["Addition", "EntryFile", "FileSystem"]


class Addition:
    """One entry that is to be added, or blobs alone when there is no draft; afterwards what it became, or why it did not."""

    __slots__ = ("blobs", "draft", "error", "line", "now_ms", "sealed")

    def __init__(self, draft: Draft | None, now_ms: int, blobs: Mapping[str, bytes]) -> None:
        self.draft = draft
        self.now_ms = now_ms
        self.blobs = blobs
        self.sealed: Sealed | None = None
        self.line = b""
        self.error: Exception | None = None


class EntryFile:
    """The files of one trail, of which the newest is appended to. Opened, and made when there is none, at the first append.

    With `rotate_bytes`, an entry that would make a file larger than that begins the next one. Everything here is called by one
    thread at a time, which holds the lock beside the first file (but for `prepare`).
    """

    def __init__(self, path: str, key: TrailKey, files: FileSystem, rotate_bytes: int | None = None) -> None:
        self.path = path
        self._key = key
        self._files = files
        self._rotate_bytes = rotate_bytes
        self._newest = NewestFile(path, key, files)
        self._broken: str | None = None

    @property
    def fd(self) -> int | None:
        """The open file, None before the first append."""
        return self._newest.fd

    def add(self, additions: Sequence[Addition]) -> None:
        """Put the additions at the end of the trail, durably, and fill in what became of each.

        An error of the whole file is every addition's: StoreError, TrailKeyError. One of a single entry (EntryTooLargeError, a blob
        that cannot be written) is that entry's alone. An addition with an error is not in the file, unless the message says that
        this is unknown.
        """
        left = deque(additions)
        try:
            self.prepare()
            self._newest.settle()
            while left:
                batch = self._sealed(left)
                if batch:
                    self._put_all(batch)
                    if self._broken is not None:  # nobody knows what the file ends in, so nothing can go on from it
                        raise self._refusal()
                elif left:
                    self._newest.begin_next()
        except TrailError as fault:
            _fail(left, fault)

    def add_lines(self, lines: bytes, head: Head | None) -> None:
        """Put whole lines that end in `head` into a trail that must be empty: all or none, also when we are killed meanwhile.

        They are one file, however long. Raises StoreError, or ConflictError when there are entries already.
        """
        self.prepare()
        self._newest.settle()
        if self._newest.head is not None:
            raise ConflictError(f"{self.path}: there are entries already; import into an empty trail")
        if head is None:
            return
        name = self._newest.name
        try:
            put_in_place(name, lines, self._files.fsync, self._files.fsync_directory)
        except (OSError, ValueError) as fault:
            if not self._newest.is_named_as_it_was():
                self._broken = f"a sync failed ({words_of(fault)}), so it is unknown whether the imported entries are on disk"
                raise StoreError(f"{name}: {self._broken}") from fault
            raise StoreError(f"{name}: the entries cannot be imported ({words_of(fault)}); nothing was written") from fault
        self._newest.settle()

    def size(self) -> int:
        """Bytes of all files, 0 when there is none."""
        try:
            return sum(self._files.lstat(part_name(self.path, number)).st_size for number in numbers_of(self.path))
        except (OSError, ValueError) as fault:
            raise StoreError(f"{self.path}: cannot be looked at ({words_of(fault)})") from fault

    def state(self) -> tuple[int, Head | None]:
        """The size of all files and the last entry, 0 and None when there is nothing. Raises StoreError or TrailKeyError."""
        if self._broken is not None:
            raise self._refusal()
        if self.fd is None:
            with suppress(OSError, ValueError):  # opening it says what is wrong
                if not numbers_of(self.path):
                    return 0, None
        self.prepare()
        self._newest.settle()
        return self.size(), self._newest.head

    def prepare(self) -> int:
        """Open the newest file, and make the first when there is none. Needs no lock.

        Raises StoreError, also when the store is broken.
        """
        if self._broken is not None:
            raise self._refusal()
        return self._newest.find()

    def close(self) -> None:
        """Give the descriptor back. Every entry that was reported is on disk already."""
        self._broken = "the trail was closed"
        self._newest.close()

    def _refusal(self) -> StoreError:
        words = f"{self._newest.name}: {self._broken}; nothing more is written"
        return StoreError(f"{words}. Verify the file, then open the trail anew")

    def _sealed(self, left: deque[Addition]) -> list[Addition]:
        """Take from `left` what fits into the file, as the next entries of the chain. Nothing of it: the file is full."""
        head, size = self._newest.head, self._newest.size or 0
        batch: list[Addition] = []
        while left:
            addition = left[0]
            try:
                self._write_blobs(addition.blobs)
                addition.blobs = {}
                if addition.draft is not None:
                    addition.sealed = seal(addition.draft, head, addition.now_ms, self._key)
                    addition.line = addition.sealed.line.encode()
                    if self._rotate_bytes is not None and 0 < size > self._rotate_bytes - len(addition.line):
                        addition.sealed = None
                        break
                    size += len(addition.line)
                    head = addition.sealed.head
                    batch.append(addition)
            except TrailError as fault:
                addition.error = fault
            left.popleft()
        return batch

    def _put_all(self, batch: Sequence[Addition]) -> None:
        """Put them into the file together. Where all of them have no room, the first of them may have."""
        last = batch[-1].sealed
        assert last is not None
        try:
            self._put(b"".join([addition.line for addition in batch]), last.head)
        except TrailError as fault:
            if self._broken is not None or len(batch) == 1:
                _fail(batch, fault)
            else:
                self._put_each(batch)  # the file is as it was
        except BaseException:
            for addition in batch:
                addition.sealed = None
            raise

    def _put_each(self, batch: Sequence[Addition]) -> None:
        for addition in batch:
            addition.sealed = None
        for place, addition in enumerate(batch):
            assert addition.draft is not None
            try:
                sealed = seal(addition.draft, self._newest.head, addition.now_ms, self._key)
                self._put(sealed.line.encode(), sealed.head)
                addition.sealed = sealed
            except TrailError as fault:
                _fail([addition], fault)
                if self._broken is not None:
                    _fail(batch[place + 1 :], self._refusal())
                    return

    def _put(self, lines: bytes, head: Head) -> None:
        """Write lines that end in `head`, and sync. Raises StoreError."""
        fd, size = self._newest.fd, self._newest.size
        assert fd is not None
        assert size is not None
        # Whatever leaves this method without saying how the write ended leaves the store broken.
        self._broken = "a write did not come to its end"
        self._write(fd, lines, size)
        self._sync(fd)
        self._newest.size, self._newest.head = size + len(lines), head
        self._broken = None

    def _write_blobs(self, blobs: Mapping[str, bytes]) -> None:
        folder = folder_of(self.path)
        for digest, raw in blobs.items():
            try:
                write_blob(folder, digest, raw, self._files.fsync, self._files.fsync_directory)
            except (OSError, ValueError) as fault:
                raise StoreError(f"{folder}: a blob of {len(raw)} bytes cannot be written ({words_of(fault)})") from fault

    def _write(self, fd: int, line: bytes, size: int) -> None:
        try:
            written = self._files.write(fd, line)
        except OSError as fault:
            self._undo(fd, line, size, words_of(fault), fault)
        if written != len(line):
            self._undo(fd, line, size, f"only {written} of {len(line)} bytes went in; is the disk full?", None)
        try:
            alone = self._files.fstat(fd).st_size == size + len(line) and not self._newest.is_followed()
        except OSError as fault:
            raise StoreError(f"{self._newest.name}: the file cannot be looked at after a write ({words_of(fault)})") from fault
        if not alone:
            self._broken = "somebody else wrote to the file at the same time"
            raise StoreError(f"{self._newest.name}: {self._broken}; the chain may be forked there. Verify the file")

    def _undo(self, fd: int, line: bytes, size: int, problem: str, cause: OSError | None) -> NoReturn:
        """Cut the file back to `size`, unless somebody else's line would go too. Broken when that fails."""
        words = f"{self._newest.name}: nothing was written ({problem})"
        try:
            intact = self._files.fstat(fd).st_size <= size + len(line)
            if intact:
                self._files.ftruncate(fd, size)
        except OSError:
            intact = False
        if intact:
            self._broken = None
            raise StoreError(f"{words}; the file is as it was") from cause
        self._broken = "a write failed and could not be undone"
        raise StoreError(f"{words}, and {self._broken}; the last line is cut") from cause

    def _sync(self, fd: int) -> None:
        try:
            self._files.fsync(fd)
            if not self._newest.is_named:  # also when somebody else made the file: nobody knows whether they came that far
                self._files.fsync_directory(self._newest.name)
                self._newest.is_named = True
        except OSError as fault:
            self._broken = f"an fsync failed ({words_of(fault)}), so it is unknown whether the last entry is on disk"
            raise StoreError(f"{self._newest.name}: {self._broken}") from fault


def _fail(additions: Iterable[Addition], fault: TrailError) -> None:
    """Give each of them the error, as an object of its own: it is raised in several tasks."""
    for addition in additions:
        own = copy.copy(fault)
        own.__cause__ = fault.__cause__
        addition.sealed, addition.error = None, own
