"""Which file of a trail is written to: the newest, its size and the entry that the next one goes on from.

A file that is full is left for good, and the next one goes on from its last entry. Whoever comes after finds it by its name, also
those who had the one before open. That a file has the right name is not enough: it must begin where the one before it ends, or a
copy, or the log of something else, would be taken for the newest part.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from ._ends import first_entry, last_head
from ._errors import StoreError, words_of
from ._key import TrailKey
from ._parts import begins_as_trail, file_before, first_of, numbers_of, part_name
from ._records import Head
from ._system import APPENDING, READING, FileSystem

__all__ = ["NewestFile"]


class NewestFile:
    """The newest file of the trail `path`, once it was found. `find` needs no lock; everything else does.

    `size` and `head` are those at which we left it, or found it in `settle`.
    """

    def __init__(self, path: str, key: TrailKey, files: FileSystem) -> None:
        self.path = path
        self.name = path
        self.fd: int | None = None
        self.size: int | None = None
        self.head: Head | None = None
        self.is_named = False
        """Whether we made sure that its name is on disk."""
        self._key = key
        self._files = files
        self._number = 0
        self._place: tuple[int, int] = (0, 0)
        self._begins_after: Head | None = None
        self._is_linked = False

    def find(self) -> int:
        """Have the newest file open, and make the first when there is none. Raises StoreError.

        A file that others follow stays as it is, so going on to the next one is right whether we have the lock or not.
        """
        try:
            if self.fd is None:
                numbers = numbers_of(self.path)
                if not any(numbers):
                    with suppress(OSError, ValueError):  # opening it says what is wrong
                        self._must_be_a_name_for_a_first_file(made=bool(numbers))
                self._open(max(numbers, default=0))
            while self.is_followed():
                self._open(self._number + 1)
        except (OSError, ValueError) as fault:
            raise StoreError(f"{self.name}: cannot be looked at ({words_of(fault)})") from fault
        assert self.fd is not None
        return self.fd

    def settle(self) -> None:
        """Make sure of `size` and `head`. Raises StoreError or TrailKeyError when the file is not as it should be."""
        assert self.fd is not None
        try:
            if self.head is None and not self.size and not self.is_named_as_it_was():
                self._open(self._number)  # empty as we saw it, and then somebody imported a whole trail
            size = self._current_size(self.fd)
            changed = size != self.size
            # The end before the beginning: a cut write is what goes wrong most, and it has words of its own.
            head = last_head(self._files, self.fd, size, self.name, self._key) if size and changed else None
            if not self._is_linked:
                self._begins_after = self._link(self.fd, size)
                self._is_linked = True
            if changed:
                self.head = head if size else self._begins_after
                self.size = size
        except OSError as fault:
            raise StoreError(f"{self.name}: cannot be read ({words_of(fault)})") from fault

    def begin_next(self) -> None:
        """Make the next file, which is empty until something is put into it, and go on with it. Raises StoreError."""
        head, number = self.head, self._number + 1
        name = part_name(self.path, number)
        try:
            fd = self._files.open(name, APPENDING | os.O_CREAT | os.O_EXCL, 0o600)
        except (OSError, ValueError) as fault:
            raise StoreError(f"{name}: the next file cannot be made ({words_of(fault)}); nothing was written") from fault
        # Whoever comes from here on finds the next file. Somebody who was faster, without the lock, has written into this one.
        try:
            left = self.fd is not None and self._files.fstat(self.fd).st_size == self.size
        except OSError:
            left = False
        if not left:
            self._files.close(fd)
            raise StoreError(
                f"{self.name}: somebody else wrote to the file at the same time; nothing was written. Verify the trail"
            )
        self._take(fd, number)
        self._begins_after, self._is_linked, self.size = head, True, 0

    def is_followed(self) -> bool:
        """Whether there is a next file, which nobody makes while we have the lock. Raises OSError."""
        return self._is_there(self._number + 1)

    def is_named_as_it_was(self) -> bool:
        """Whether the file that we have open still has its name."""
        try:
            named = self._files.lstat(self.name)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == self._place

    def close(self) -> None:
        fd, self.fd = self.fd, None
        if fd is not None:
            self._files.close(fd)

    def _must_be_a_name_for_a_first_file(self, *, made: bool) -> None:
        """Nobody begins a trail under a name by which it would be taken for the next file of another, or another for its own.

        Raises StoreError, before the file is made; OSError, ValueError.
        """
        before = file_before(self.path)
        if before is not None and (not made or self._files.lstat(self.path).st_size == 0) and begins_as_trail(before):
            raise StoreError(
                f"{self.path}: by its name this is the next file of the trail {first_of(self.path)}; choose another name"
            )
        if not made and self._is_there(1):
            raise StoreError(
                f"{self.path}: {part_name(self.path, 1)} is there, which by its name would be the next file of this trail and is "
                "not; choose another name, or move that away"
            )

    def _is_there(self, number: int) -> bool:
        try:
            self._files.lstat(part_name(self.path, number))
        except FileNotFoundError:
            return False
        return True

    def _open(self, number: int) -> None:
        name = part_name(self.path, number)
        try:
            fd = self._descriptor(name, make=number == 0)
        except (OSError, ValueError) as fault:  # ValueError: a path that no file can have, such as one with a NUL
            hint = "a symbolic link; name the file itself" if getattr(fault, "errno", None) == errno.ELOOP else words_of(fault)
            raise StoreError(f"{name}: cannot be opened for appending ({hint})") from fault
        self._take(fd, number)

    def _descriptor(self, name: str, *, make: bool) -> int:
        with suppress(FileNotFoundError):
            return self._files.open(name, APPENDING, 0)
        if make:
            with suppress(FileExistsError):  # made by somebody else in between
                return self._files.open(name, APPENDING | os.O_CREAT | os.O_EXCL, 0o600)
        return self._files.open(name, APPENDING, 0)

    def _take(self, fd: int, number: int) -> None:
        """Go on with `fd` in place of the file before. When it cannot be used, nothing changes."""
        name = part_name(self.path, number)
        try:
            status = self._files.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise StoreError(f"{name}: not a regular file")
        except OSError as fault:
            self._files.close(fd)
            raise StoreError(f"{name}: cannot be looked at ({words_of(fault)})") from fault
        except StoreError:
            self._files.close(fd)
            raise
        old, self.fd = self.fd, fd
        self.name, self._number, self._place = name, number, (status.st_dev, status.st_ino)
        self.size, self.is_named, self._is_linked = None, False, False
        if old is not None:
            with suppress(OSError):  # what was reported of it is on disk
                self._files.close(old)

    def _current_size(self, fd: int) -> int:
        if not self.is_named_as_it_was():
            raise StoreError(f"{self.name}: the file was moved, replaced or removed while the trail was open; open the trail anew")
        size = self._files.fstat(fd).st_size
        if self.size is not None and size < self.size:
            raise StoreError(f"{self.name}: the file is shorter than it was left: its end was cut off by somebody else")
        return size

    def _link(self, fd: int, size: int) -> Head | None:
        """The last entry before this file, which the first one in it must fit. None for the first file."""
        whole = first_of(self.path)
        if self._number == 0:
            if size and whole is not None and os.path.lexists(whole) and first_entry(self._files, fd, self.name).seq > 0:
                raise StoreError(f"{self.path}: a later file of the trail {whole}; open that one")
            return None
        earlier = part_name(self.path, self._number - 1)
        before = self._end_of(earlier)
        if size:
            first = first_entry(self._files, fd, self.name)
            if before is None:
                earlier, least = self._least_seq()
                fits = first.seq >= least
            else:
                fits = (first.prev, first.seq) == (before.hash, before.seq + 1)
            if not fits:
                raise StoreError(
                    f"{self.name}: does not go on from the end of {earlier}, though its name says so; if it is no part of this "
                    "trail, move it away. Verify the trail"
                )
        elif before is None:
            raise StoreError(f"{self.name}: empty, and {earlier} is not there: nothing says what it goes on from")
        return before

    def _least_seq(self) -> tuple[str, int]:
        """The nearest earlier file that is there, and the least number that the first entry here may have when those between were
        moved away. With none left nothing can be said but that each had an entry."""
        for number in reversed([number for number in numbers_of(self.path) if number < self._number]):
            name = part_name(self.path, number)
            head = self._end_of(name)
            if head is not None:
                return name, head.seq + self._number - number
        return part_name(self.path, self._number - 1), self._number

    def _end_of(self, name: str) -> Head | None:
        """The last entry of a file that was left for this one; None when it has been moved away."""
        try:
            fd = self._files.open(name, READING, 0)
        except FileNotFoundError:
            return None
        try:
            size = self._files.fstat(fd).st_size
            if size == 0:
                raise StoreError(f"{name}: empty, though {self.name} should go on from its end. Verify the trail")
            return last_head(self._files, fd, size, name, self._key)
        finally:
            self._files.close(fd)
