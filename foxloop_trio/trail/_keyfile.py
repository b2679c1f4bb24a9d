"""Key files: one key as hex and a line feed, readable by its owner only, made once however many processes ask at the same time.

A new key is written aside and then linked to its name, so nobody can ever read half a key. These functions block for a disk access;
from Trio code call them through `trio.to_thread.run_sync` when that matters.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from typing import Final

from ..ports import Ids
from ._errors import TrailKeyError, words_of
from ._key import TrailKey

__all__ = ["KEY_VARIABLE", "default_key_path", "load_key", "load_or_create_key", "make_once", "new_bytes", "read_small"]

KEY_VARIABLE: Final = "FOXTRAIL_KEY"
"""The environment variable with a key as hex, when no file is named."""

_NEW_KEY_BYTES: Final = 32
_MAX_FILE_BYTES: Final = 4096
"""More than any key file we or the TypeScript log write (65 bytes); keeps a wrong path from being read whole."""


def default_key_path(env: Mapping[str, str] | None = None) -> str:
    """``$XDG_STATE_HOME/foxloop-trio/trail.key``, or below ``~/.local/state`` when that is not set to an absolute path.

    (XDG Base Directory Specification 0.8: relative paths in the variable are to be ignored.)
    """
    env = os.environ if env is None else env
    base = env.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(base, "foxloop-trio", "trail.key")


def load_key(path: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None) -> TrailKey:
    """The key in the file `path`; without a path the one in the variable ``FOXTRAIL_KEY``.

    Raises TrailKeyError when there is none, or when the file named cannot be read or is bad: then the variable is not looked at.
    """
    if path is not None:
        return _read(os.fsdecode(path))
    value = (os.environ if env is None else env).get(KEY_VARIABLE, "")
    if not value.strip():
        raise TrailKeyError(f"there is no key: name a key file, or set {KEY_VARIABLE} to the key as hex")
    try:
        return TrailKey(value)
    except TrailKeyError as fault:
        raise TrailKeyError(f"{KEY_VARIABLE}: {fault}") from None


def load_or_create_key(path: str | os.PathLike[str], *, allow_shared: bool = False, ids: Ids | None = None) -> TrailKey:
    """The key in the file `path`, which is made with 32 random bytes and mode 0600 when it does not exist.

    Processes that make it at the same time all end with the same key. Raises TrailKeyError when the file cannot be read or made, is
    bad, or is open to group or others (unless `allow_shared`).
    """
    name = os.fsdecode(path)
    if not os.path.lexists(name):
        make_once(name, new_bytes(_NEW_KEY_BYTES, "trail-key", ids).hex().encode() + b"\n")
    return _read(name, allow_shared=allow_shared)


def load_default_key(ids: Ids | None = None) -> TrailKey:
    """The key in the user's state directory; the directory (mode 0700) and the key are made at first use."""
    path = default_key_path()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except (OSError, ValueError) as fault:
        raise TrailKeyError(
            f"{path}: the directory cannot be made ({words_of(fault)}); give a key, or set XDG_STATE_HOME"
        ) from fault
    return load_or_create_key(path, ids=ids)


def new_bytes(nbytes: int, purpose: str, ids: Ids | None) -> bytes:
    """What a new key is made of. Raises TrailKeyError when `ids` gives anything else: what is in the file then stays there."""
    if ids is None:
        return secrets.token_bytes(nbytes)
    try:
        raw: object = ids(nbytes, purpose)
    except Exception as fault:
        raise TrailKeyError(f"ids({nbytes}, {purpose!r}) raised {type(fault).__name__}, so there is no key") from fault
    if type(raw) is not bytes or len(raw) != nbytes:
        raise TrailKeyError(f"ids({nbytes}, {purpose!r}) must return {nbytes} bytes; no key was made")
    return raw


def make_once(path: str, content: bytes) -> None:
    """A new file with mode 0600, whole or not at all; one that is there already is left as it is. Raises TrailKeyError."""
    aside = f"{path}.{secrets.token_hex(8)}.new"
    try:
        fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            with open(fd, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(fd)
            with contextlib.suppress(FileExistsError):  # another process was first: its key is the key
                os.link(aside, path)
        finally:
            os.unlink(aside)
        _sync_directory(path)
    except (OSError, ValueError) as fault:
        raise TrailKeyError(f"{path}: the key file cannot be made ({words_of(fault)})") from fault


def _sync_directory(path: str) -> None:
    if os.name != "posix":
        return
    fd = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _read(path: str, *, allow_shared: bool = False) -> TrailKey:
    text = read_small(path, allow_shared=allow_shared)
    try:
        return TrailKey(text.decode("ascii", "replace"))
    except TrailKeyError as fault:
        raise TrailKeyError(f"{path}: {fault}") from None


def read_small(path: str, *, allow_shared: bool = False) -> bytes:
    """What is in a key file. Raises TrailKeyError when it cannot be read, is too large for one, or is open to others."""
    try:
        # O_NONBLOCK: opening a pipe by mistake must not hang.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(fd, "rb") as file:
            mode = os.fstat(fd).st_mode
            text = file.read(_MAX_FILE_BYTES + 1) if stat.S_ISREG(mode) else b""
    except (OSError, ValueError) as fault:
        raise TrailKeyError(f"{path}: the key file cannot be read ({words_of(fault)})") from fault
    if not stat.S_ISREG(mode):
        raise TrailKeyError(f"{path}: not a regular file")
    if os.name == "posix" and mode & 0o077 and not allow_shared:
        raise TrailKeyError(f"{path}: others can read or write this key file; make it yours alone with: chmod 600 {path}")
    if len(text) > _MAX_FILE_BYTES:
        raise TrailKeyError(f"{path}: more than {_MAX_FILE_BYTES} bytes; this is no key file")
    return text
