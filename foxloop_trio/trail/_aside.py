"""A file that is there whole or not at all, whatever is killed in between: written aside, synced, then given its name."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable
from contextlib import suppress

__all__ = ["put_in_place"]


def put_in_place(name: str, raw: bytes, sync: Callable[[int], None], sync_folder: Callable[[str], None]) -> None:
    """Make `name` a file with mode 0600 that holds `raw`, in place of the one that is there. Raises OSError.

    `sync` and `sync_folder` are what makes a descriptor and the name of a file durable. What a killed process leaves is called
    ``<name>.<random>.new`` and may be removed.
    """
    aside = f"{name}.{secrets.token_hex(8)}.new"
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), 0o600)
    try:
        try:
            view = memoryview(raw)
            while view:
                written = os.write(fd, view)
                if written == 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                view = view[written:]
            sync(fd)
        finally:
            os.close(fd)
        os.replace(aside, name)
    except BaseException:
        with suppress(OSError):
            os.unlink(aside)
        raise
    sync_folder(name)
