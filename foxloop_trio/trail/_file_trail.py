"""The trail in a file, as Trio code sees it: appends in call order, each durable before it returns, none ever half-cancelled."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Final, get_args

import trio

from ..errors import BadOptionsError
from ..ports import Ids, WallClock
from ._checkpoint import make_checkpoint_aside
from ._draft import BLOBS_OVER, Drafter
from ._file import EntryFile
from ._follow import Follower
from ._jsonl import checked_import
from ._keeper import CheckpointSink, Keeper
from ._key import TrailKey
from ._keyfile import load_default_key
from ._lock import LockKind, lock_for
from ._reader import read_text, read_trail
from ._records import Entry, Fault, Head, Verified
from ._redact import MarkerVersion
from ._signing import Signer
from ._system import FileSystem
from ._verify import verify_entries, verify_trail
from ._writer import Request, Writer

__all__ = ["FileTrail", "open_trail"]

LOCK_TIMEOUT: Final = 5.0
STUCK_AFTER: Final = 30.0
"""Seconds; both from the trail's format (section 5 and T22a)."""


class FileTrail:
    """A trail in a file of JSON lines. Made by `open_trail`; `path` and `key` are there for `verify_trail`."""

    def __init__(
        self,
        path: str,
        key: TrailKey,
        drafter: Drafter,
        file: EntryFile,
        writer: Writer,
        keeper: Keeper,
        signer: Signer | None = None,
    ) -> None:
        self.path = path
        self.key = key
        self._drafter = drafter
        self._file = file
        self._writer = writer
        self._keeper = keeper
        self._signer = signer

    def __repr__(self) -> str:
        return f"<FileTrail {self.path!r}{', closed' if self._writer.closed else ''}>"

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C comes before or after, so that an entry is there exactly when this returns
    async def append(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """Add one entry, and return a copy of it once it is on disk. Appends land in the order in which they were called.

        Appends of several tasks share a sync: what gathers while one runs goes out with the next. A cancel that comes while an
        append waits leaves nothing behind. Once its write has begun it ends, cancelled or not, and `append` returns normally; the
        cancel is then delivered at the caller's next checkpoint.

        Raises InvalidEntryError or EntryTooLargeError for the entry; TrailKeyError when the file was written with another key;
        StoreError when the file cannot be written, is cut, or is not as it was left, or when another writer keeps the lock. Then
        nothing was added, unless the message says that this is unknown.
        """
        draft = self._drafter.draft(actor, kind, data)
        request = Request(draft=draft, now_ms=self._drafter.now_ms(), blobs=draft.blobs)
        await self._writer.submit(request)
        assert request.sealed is not None
        if self._keeper.wants(request.sealed.head):
            await self._keeper.keep(partial(self._checkpoint_at, request.sealed.head, self._signer))
        return Entry.of(request.sealed)

    @trio.lowlevel.enable_ki_protection
    async def blob(self, data: bytes, media_type: str) -> dict[str, Any]:
        """Put bytes beside the trail, durably, and return the marker that stands for them in an entry's data.

        The same bytes are kept once. A blob that no entry names does no harm. Raises InvalidEntryError when `data` is not bytes or
        `media_type` is no text, EntryTooLargeError above 64 MiB, StoreError when it cannot be written.
        """
        marker, raw = self._drafter.blob(data, media_type)
        await self._writer.submit(Request(blobs={marker["$blob"]: raw}))
        return marker

    async def entries(self, *, whole: bool = False) -> list[Entry]:
        """All entries that were durable when this was called, oldest first. `whole`, and what it raises, are as of `read_trail`."""
        size, _ = await self._state()
        return await trio.to_thread.run_sync(lambda: list(read_trail(self.path, whole=whole, size=size)) if size else [])

    async def verify(self, checkpoint: Any = None) -> Verified | Fault:
        """Verify all entries that were durable when this was called, as `verify_trail` does."""
        size = await self._job(self._file.size)
        if size == 0:  # there may be no file yet
            return verify_entries([], key=self.key, checkpoint=checkpoint)
        return await trio.to_thread.run_sync(lambda: verify_trail(self.path, key=self.key, checkpoint=checkpoint, size=size))

    async def checkpoint(self, signer: Signer | None = None) -> dict[str, Any]:
        """How many entries there are and where they end, sealed with the key: ``{count, head, ts, mac}``. Keep it elsewhere.

        With a signer, this one or that of the trail, also ``pub`` and ``sig``, so that it can be checked without the key. Raises
        TrailKeyError when the signer is none, or what it raises.
        """
        _, head = await self._state()
        return await self._checkpoint_at(head, self._signer if signer is None else signer)

    async def _checkpoint_at(self, head: Head | None, signer: Signer | None) -> dict[str, Any]:
        return await make_checkpoint_aside(self.key, head, self._drafter.now_ms(), signer)

    @asynccontextmanager
    async def follow(self, from_seq: int = 0) -> AsyncGenerator[Follower, None]:
        """The entries from number `from_seq` on, as they land: ``async with trail.follow() as new: async for entry in new: …``.

        Those of other processes come too. It verifies nothing, and ends only with its block.
        """
        yield Follower(self.path, from_seq)

    async def export_jsonl(self) -> str:
        """The entries as JSON lines, as they stand in the file."""
        size, _ = await self._state()
        return await trio.to_thread.run_sync(lambda: read_text(self.path, size) if size else "")

    @trio.lowlevel.enable_ki_protection
    async def import_jsonl(self, text: str) -> int:
        """Fill an empty trail with entries that were exported, in one durable write, and return their number.

        Raises InvalidEntryError for a line that is no strict JSON, or when the entries do not verify with this trail's key;
        ConflictError when the trail is not empty; StoreError. Then nothing was written.
        """
        lines, head = await trio.to_thread.run_sync(checked_import, text, self.key)
        await self._job(lambda: self._file.add_lines(lines, head))
        return 0 if head is None else head.seq + 1

    @trio.lowlevel.enable_ki_protection  # it must not fall between closing and having closed
    async def aclose(self) -> None:
        """Wait for the appends that were called before, then close the file. Every later append raises StoreError."""
        with trio.CancelScope(shield=True):  # bounded by those writes, which cannot be left anyway, and by the sink's time
            if not self._writer.closed:
                await self._keeper.at_the_end(self.checkpoint)
            await self._writer.aclose()

    @trio.lowlevel.enable_ki_protection
    async def _job(self, job: Any) -> Any:
        request = Request(job=job)
        await self._writer.submit(request)
        return request.result

    async def _state(self) -> Any:
        return await self._job(self._file.state)


@asynccontextmanager
async def open_trail(
    path: str | os.PathLike[str],
    *,
    key: TrailKey | bytes | str | None = None,
    redact: Iterable[str] = (),
    now: WallClock | None = None,
    ids: Ids | None = None,
    blobs_over: int | None = BLOBS_OVER,
    lock: LockKind | None = None,
    lock_timeout: float = LOCK_TIMEOUT,
    stuck_after: float = STUCK_AFTER,
    follow: bool = False,
    markers: MarkerVersion = "v2",
    patterns: bool = False,
    checkpoint_every: int | None = None,
    sink: CheckpointSink | None = None,
    signer: Signer | None = None,
    rotate_bytes: int | None = None,
) -> AsyncGenerator[FileTrail, None]:
    """A trail in the file `path`, which is made (mode 0600) at the first append, or continued when it exists.

    `key` is a TrailKey, at least 32 raw bytes, or hex text; without one the key file in the user's state directory is used and, at
    first use, made. `redact` lists names of keys whose values are hidden at any depth, compared without case, ``-`` and ``_``.
    `now` gives wall-clock seconds since 1970, `ids` random bytes; both default to the system's. Texts of more than `blobs_over`
    bytes go beside the file (None: all texts stay in it).

    Several processes may have the file open: they take turns by a lock beside it, ``flock`` where there is one. `lock` ``"file"``
    is for file systems without it; all writers of a file must use the same. `lock_timeout` is how long one append waits for it, and
    `stuck_after` when a write that hangs is reported, in seconds of the real clock. The last component of the path may not be a
    symbolic link, unless `follow`: then the file is the one that it led to when the trail was opened.

    With `rotate_bytes`, an entry that would make the file larger than that goes into a new one: ``<path>.1``, then ``<path>.2``, …;
    the highest number is the newest. A single larger entry has a file of its own. Processes that were given another limit, or none,
    go on in the newest file too.

    Hidden values can be tested with the key only, or with `markers` ``"v1"`` by whoever has the file. With `patterns`, whatever
    looks like a key of a known provider, a bearer token, or a password or query value in a URL is masked in all texts, keys, actors
    and kinds.

    `sink` is an async function that keeps checkpoints elsewhere: it is given one when the trail is left and, with
    `checkpoint_every`, after each so many entries. It gets 5 seconds; what it raises goes to the log, since the entry is written
    whatever becomes of the checkpoint. All checkpoints are signed by the `signer`, if there is one.

    Raises TrailKeyError or BadOptionsError when entered. Problems with the file are raised by the first append.
    """
    if lock is not None and lock not in get_args(LockKind):
        raise BadOptionsError(f'lock is "flock", "file" or None, not {lock!r}')
    for name, value in (("lock_timeout", lock_timeout), ("stuck_after", stuck_after)):
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise BadOptionsError(f"{name} is a number of seconds above 0, not {value!r}")
    if rotate_bytes is not None and (type(rotate_bytes) is not int or rotate_bytes < 1):
        raise BadOptionsError(f"rotate_bytes is a number of bytes above 0, or None, not {rotate_bytes!r}")
    drafter = Drafter(names=redact, now=now, ids=ids, blobs_over=blobs_over, markers=markers, patterns=patterns)
    keeper = Keeper(sink, checkpoint_every)
    options: dict[str, Any] = {"lock": lock, "lock_timeout": lock_timeout, "stuck_after": stuck_after, "follow": follow}
    options |= {"keeper": keeper, "signer": signer, "rotate_bytes": rotate_bytes}
    async with _open_trail(os.fsdecode(path), key, drafter, FileSystem(), **options) as trail:
        yield trail


@asynccontextmanager
async def _open_trail(
    path: str,
    key: TrailKey | bytes | str | None,
    drafter: Drafter,
    files: FileSystem,
    *,
    lock: Any = None,
    lock_timeout: float = LOCK_TIMEOUT,
    stuck_after: float = STUCK_AFTER,
    follow: bool = False,
    keeper: Keeper | None = None,
    signer: Signer | None = None,
    rotate_bytes: int | None = None,
) -> AsyncGenerator[FileTrail, None]:
    key = TrailKey.of(key) if key is not None else await trio.to_thread.run_sync(load_default_key)
    # An absolute path keeps its meaning when the program changes its directory; normalising it would not, where links are about.
    path = os.path.join(os.getcwd(), path)
    if follow:
        path = os.path.realpath(path)  # noqa: ASYNC240 - a few looks at a directory, once
    file = EntryFile(path, key, files, rotate_bytes)
    writer = Writer(file, lock_for(path, lock), lock_timeout=lock_timeout, stuck_after=stuck_after)
    drafter.seal_markers_with(key)
    trail = FileTrail(path, key, drafter, file, writer, Keeper(None, None) if keeper is None else keeper, signer)
    try:
        yield trail
    finally:
        await trail.aclose()
