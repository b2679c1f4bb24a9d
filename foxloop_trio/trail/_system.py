"""The few system calls that an append depends on, in one place, so that a test can make any of them fail."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final

__all__ = ["APPENDING", "READING", "FileSystem"]

# O_NONBLOCK: opening a pipe by mistake must not hang. O_NOFOLLOW: a link planted at the path must not lead us elsewhere.
APPENDING: Final = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_BINARY", 0)
)

READING: Final = (
    os.O_RDONLY
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
