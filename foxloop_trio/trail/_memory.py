"""A trail in memory: the same chain, checks and redaction as in a file, gone with the process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs
import trio

from ..ports import Ids, WallClock
from ._blobs import expand
from ._checkpoint import make_checkpoint
from ._codec import entry_from_json, parse_line
from ._draft import Drafter
from ._errors import ConflictError
from ._jsonl import checked_import
from ._key import TrailKey
from ._records import Entry, Fault, Head, Verified, seal
from ._redact import MarkerVersion
from ._signing import Signer
from ._verify import verify_entries

__all__ = ["MemoryTrail"]


class MemoryTrail:
    """A trail that keeps its entries in memory, for tests and for runs whose record need not last.

    Without a `key` it makes one of its own; `key` is there for `verify_entries`. `now` gives wall-clock seconds since 1970, `ids`
    random bytes; both default to the system's. Texts of more than `blobs_over` bytes become blobs (None: none do); `markers` and
    `patterns` are as `open_trail` has them. Raises TrailKeyError for a bad key, BadOptionsError for another bad option.
    """

    def __init__(
        self,
        *,
        key: TrailKey | bytes | str | None = None,
        redact: Iterable[str] = (),
        now: WallClock | None = None,
        ids: Ids | None = None,
        blobs_over: int | None = None,
        markers: MarkerVersion = "v2",
        patterns: bool = False,
    ) -> None:
        self._drafter = Drafter(names=redact, now=now, ids=ids, blobs_over=blobs_over, markers=markers, patterns=patterns)
        self.key = TrailKey.of(self._drafter.ids(32, "trail-key") if key is None else key)
        self._drafter.seal_markers_with(self.key)
        self._lines: list[str] = []
        self._head: Head | None = None
        self.blobs: dict[str, bytes] = {}
        """The blobs by their hash, where a file has them beside it."""

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C comes before or after, so that an entry is there exactly when this returns
    async def append(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """Add one entry and return a copy of it. Appends land in the order in which they were called.

        A cancel is seen before the entry is added, never after. Raises InvalidEntryError or EntryTooLargeError; then nothing was
        added.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        entry = self.append_nowait(actor=actor, kind=kind, data=data)
        await trio.lowlevel.cancel_shielded_checkpoint()  # others get their turn
        return entry

    @trio.lowlevel.enable_ki_protection
    def append_nowait(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """The same without a checkpoint, for whoever has one of their own: nothing here waits for anything."""
        draft = self._drafter.draft(actor, kind, data)
        sealed = seal(draft, self._head, self._drafter.now_ms(), self.key)
        if draft.blobs:
            self.blobs.update(draft.blobs)
        self._lines.append(sealed.line)
        self._head = sealed.head
        return Entry.of(sealed)

    async def blob(self, data: bytes, media_type: str) -> dict[str, Any]:
        """Keep bytes, and return the marker that stands for them in an entry's data. Raises as `FileTrail.blob` does."""
        await trio.lowlevel.checkpoint()
        marker, raw = self._drafter.blob(data, media_type)
        self.blobs[marker["$blob"]] = raw
        return marker

    async def verify(self, checkpoint: Any = None) -> Verified | Fault:
        """Verify all entries, as `verify_entries` does."""
        await trio.lowlevel.checkpoint()
        return verify_entries(self.entries(), key=self.key, checkpoint=checkpoint)

    async def checkpoint(self, signer: Signer | None = None) -> dict[str, Any]:
        """How many entries there are and where they end, sealed with the key: ``{count, head, ts, mac}``; signed by a `signer`."""
        await trio.lowlevel.checkpoint()
        return make_checkpoint(self.key, self._head, self._drafter.now_ms(), signer)

    async def export_jsonl(self) -> str:
        """The same as `text`."""
        await trio.lowlevel.checkpoint()
        return self.text()

    async def import_jsonl(self, text: str) -> int:
        """Fill an empty trail with entries that were exported, and return their number.

        Raises InvalidEntryError when a line is no strict JSON or the entries do not verify with this trail's key, ConflictError
        when the trail is not empty. Then nothing was added.
        """
        await trio.lowlevel.checkpoint()
        lines, head = checked_import(text, self.key)
        if self._lines:
            raise ConflictError("there are entries already; import into an empty trail")
        self._lines = [f"{line}\n" for line in lines.decode().split("\n")[:-1]]
        self._head = head
        return len(self._lines)

    def entries(self, *, whole: bool = False) -> list[Entry]:
        """Copies of all entries, oldest first. With `whole` their data is as it was given, as `read_trail` has it."""
        found = [entry_from_json(parse_line(line.encode(), number), number) for number, line in enumerate(self._lines, 1)]
        return [attrs.evolve(entry, data=expand(entry.data, self._blob)) for entry in found] if whole else found

    def _blob(self, digest: str, length: int) -> bytes | None:
        return self.blobs.get(digest)

    def text(self) -> str:
        """All entries as the JSON lines that a file of them would hold."""
        return "".join(self._lines)

    def __len__(self) -> int:
        return len(self._lines)
