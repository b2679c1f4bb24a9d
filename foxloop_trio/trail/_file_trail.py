"""The trail in a file, as Trio code sees it: appends in call order, each durable before it returns, none ever half-cancelled."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import trio

from ..ports import Ids, WallClock
from ._codec import sealed_entry
from ._draft import Drafter
from ._errors import StoreError
from ._file import EntryFile, FileSystem
from ._key import TrailKey
from ._keyfile import load_default_key
from ._records import Entry

__all__ = ["FileTrail", "open_trail"]


class FileTrail:
    """A trail in a file of JSON lines. Made by `open_trail`; `path` and `key` are there for `verify_trail`."""

    def __init__(self, path: str, key: TrailKey, drafter: Drafter, files: FileSystem) -> None:
        self.path = path
        self.key = key
        self._drafter = drafter
        self._file = EntryFile(path, key, files)
        self._turn = trio.Lock()
        self._threads = trio.CapacityLimiter(1)
        self._closed = False

    def __repr__(self) -> str:
        return f"<FileTrail {self.path!r}{', closed' if self._closed else ''}>"

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C comes before or after, so that an entry is there exactly when this returns
    async def append(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """Add one entry, and return a copy of it once it is on disk. Appends land in the order in which they were called.

        A cancel that comes while it waits for its turn leaves nothing behind. Once the write has begun it ends, cancelled or not,
        and `append` returns normally; the cancel is then delivered at the caller's next checkpoint.

        Raises InvalidEntryError or EntryTooLargeError for the entry; TrailKeyError when the file was written with another key;
        StoreError when the file cannot be written, is cut, or is not as it was left. Then nothing was added, unless the message
        says that this is unknown.
        """
        draft = self._drafter.draft(actor, kind, data)
        async with self._turn:
            if self._closed:
                raise StoreError(f"{self.path}: the trail was closed; append inside its `async with`")
            # The clock may be Trio's, which can be read in this thread only. run_sync looks for a cancel before it starts the
            # worker thread, and never after.
            now_ms = self._drafter.now_ms()
            sealed = await trio.to_thread.run_sync(self._file.append, draft, now_ms, limiter=self._threads)
        return sealed_entry(sealed)

    @trio.lowlevel.enable_ki_protection  # it must not fall between taking the turn and giving it back
    async def aclose(self) -> None:
        """Wait for the appends that were called before, then close the file. Every later append raises StoreError."""
        with trio.CancelScope(shield=True):  # bounded by those writes: they cannot be left anyway
            async with self._turn:
                if not self._closed:
                    self._closed = True
                    await trio.to_thread.run_sync(self._file.close, limiter=self._threads)


@asynccontextmanager
async def open_trail(
    path: str | os.PathLike[str],
    *,
    key: TrailKey | bytes | str | None = None,
    redact: Iterable[str] = (),
    now: WallClock | None = None,
    ids: Ids | None = None,
) -> AsyncGenerator[FileTrail, None]:
    """A trail in the file `path`, which is made (mode 0600) at the first append, or continued when it exists.

    `key` is a TrailKey, at least 32 raw bytes, or hex text; without one the key file in the user's state directory is used and, at
    first use, made. `redact` lists names of keys whose values are hidden at any depth, compared without case, ``-`` and ``_``.
    `now` gives wall-clock seconds since 1970, `ids` random bytes; both default to the system's. The last component of the path may
    not be a symbolic link.

    Raises TrailKeyError or BadOptionsError when entered. Problems with the file are raised by the first append.
    """
    async with _open_trail(os.fsdecode(path), key, Drafter(names=redact, now=now, ids=ids), FileSystem()) as trail:
        yield trail


@asynccontextmanager
async def _open_trail(
    path: str, key: TrailKey | bytes | str | None, drafter: Drafter, files: FileSystem
) -> AsyncGenerator[FileTrail, None]:
    key = TrailKey.of(key) if key is not None else await trio.to_thread.run_sync(load_default_key)
    # An absolute path keeps its meaning when the program changes its directory; normalising it would not, where links are about.
    trail = FileTrail(os.path.join(os.getcwd(), path), key, drafter, files)
    try:
        yield trail
    finally:
        await trail.aclose()
