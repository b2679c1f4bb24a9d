"""The lock beside a trail's file, which puts its writers in order, those of other processes included.

`KernelLock` is `flock`: the kernel frees it when its holder dies, so a dead writer blocks nobody. `TokenLock` is for file systems
and platforms without it: whoever makes the file has the lock, and one that is older than `STALE_AFTER` is taken over.

Both are tried and never waited for: `try_acquire` answers at once. They are used by one thread at a time.
"""

from __future__ import annotations

import errno
import os
import secrets
import sys
import time
from contextlib import suppress
from typing import Final, Literal, Protocol

from ._errors import StoreError, words_of

__all__ = ["KernelLock", "LockKind", "TokenLock", "WriterLock", "lock_for"]

if sys.platform != "win32":
    import fcntl

LockKind = Literal["flock", "file"]

STALE_AFTER: Final = 10.0
"""Seconds after which a lock file of `TokenLock` counts as left behind by a dead writer (trail format, T34)."""

NAP_SECONDS: Final = (0.005, 0.012)
"""Shortest and longest wait between two looks at a lock that another writer has; the trail format allows 5 to 25 ms (T33)."""

_FLAGS: Final = os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WriterLock(Protocol):
    """What a writer needs of its lock. `path` is the lock file, for messages."""

    path: str

    def try_acquire(self) -> bool: ...
    def release(self) -> None: ...
    def close(self) -> None: ...


def lock_for(path: str, kind: LockKind | None) -> WriterLock:
    """The lock of the trail `path`; without a `kind` the best one of the platform."""
    if kind == "file" or (kind is None and sys.platform == "win32"):
        return TokenLock(path)
    return KernelLock(path)


class KernelLock:
    """`flock` on ``<file>.lock``, which stays and is never removed."""

    def __init__(self, path: str) -> None:
        self.path = f"{path}.lock"
        self._fd: int | None = None

    def try_acquire(self) -> bool:
        """Whether we have the lock now. Raises StoreError when there can be none."""
        try:
            for _ in range(3):
                fd = self._open()
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    if self._is_named(fd):
                        return False
                else:
                    if self._is_named(fd):
                        return True
                self.close()  # somebody removed or replaced the lock file: those who come now lock another one
        except (OSError, ValueError) as fault:
            raise StoreError(f"{self.path}: the lock file cannot be used ({words_of(fault)})") from fault
        return False

    def release(self) -> None:
        if self._fd is not None:
            fcntl.flock(self._fd, fcntl.LOCK_UN)

    def close(self) -> None:
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)

    def _open(self) -> int:
        if self._fd is None:
            self._fd = os.open(self.path, _FLAGS | os.O_CREAT, 0o600)
        return self._fd

    def _is_named(self, fd: int) -> bool:
        try:
            named = os.lstat(self.path)
        except FileNotFoundError:
            return False
        ours = os.fstat(fd)
        return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)


def announce_waiting(fd: int) -> None:
    """Let the holder of the lock see that somebody waits: a shared `flock` on the trail's own file, which nothing else uses."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)


def stop_waiting(fd: int) -> None:
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def somebody_waits(fd: int) -> bool:
    """Whether another writer has announced that it waits. A writer that never pauses would else keep the lock for itself."""
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(fd, fcntl.LOCK_UN)
    except OSError:
        return True
    return False


class TokenLock:
    """The file ``<file>.lock-token``: made exclusively, with a random token inside, and removed by whoever made it.

    A holder that needs longer than `STALE_AFTER` loses it; that somebody else wrote meanwhile is then found after the write (T35).
    """

    def __init__(self, path: str) -> None:
        self.path = f"{path}.lock-token"
        self._token = secrets.token_hex(16).encode()

    def try_acquire(self) -> bool:
        """Whether we have the lock now. Raises StoreError when there can be none."""
        try:
            return self._make() or (self._take_over() and self._make())
        except (OSError, ValueError) as fault:
            raise StoreError(f"{self.path}: the lock file cannot be used ({words_of(fault)})") from fault

    def release(self) -> None:
        """Give it back, if it is still ours."""
        with suppress(OSError):
            if self._read(self.path)[0] == self._token:
                os.unlink(self.path)

    def close(self) -> None:
        """Nothing is kept open."""

    def _make(self) -> bool:
        try:
            fd = os.open(self.path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return False
        try:
            os.write(fd, self._token)
        finally:
            os.close(fd)
        return True

    def _take_over(self) -> bool:
        """Move a stale lock away, and put it back when it was a fresh one that came in between."""
        try:
            token, made = self._read(self.path)
        except FileNotFoundError:
            return True
        if time.time() - made < STALE_AFTER:
            return False
        aside = f"{self.path}.{secrets.token_hex(8)}.stale"
        try:
            os.rename(self.path, aside)
        except FileNotFoundError:
            return True
        try:
            if self._read(aside)[0] == token:
                return True
            with suppress(FileExistsError):
                os.link(aside, self.path)
            return False
        finally:
            os.unlink(aside)

    def _read(self, path: str) -> tuple[bytes, float]:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            return os.read(fd, 64), os.fstat(fd).st_mtime
        except OSError as fault:
            if fault.errno == errno.EISDIR:
                raise StoreError(f"{path}: a folder is in the place of the lock file") from fault
            raise
        finally:
            os.close(fd)
