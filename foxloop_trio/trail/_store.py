"""A trail over a store of somebody else's: a database, a bucket, whatever keeps entries in order.

The store keeps entries and refuses one that does not fit on its end. Everything else is done here: checks, redaction, the chain,
the MAC, and going on from the new end when another writer was faster.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Final, Protocol

import attrs
import trio

from ..ports import Ids, WallClock
from ._blobs import expand
from ._checkpoint import make_checkpoint_aside
from ._codec import entry_from_json
from ._draft import Drafter
from ._errors import ConflictError
from ._jsonl import checked_import, parse_jsonl
from ._key import TrailKey
from ._records import Entry, Fault, Head, Verified, line_of, seal
from ._redact import MarkerVersion
from ._signing import Signer
from ._verify import verify_entries

__all__ = ["StoreTrail", "TrailStore"]

MOST_CONFLICTS: Final = 100
"""Times that an entry is sealed anew because another writer was faster (trail format, section 4 step 5)."""


class TrailStore(Protocol):
    """Where entries are kept. `append` returns once the entry is durable.

    `append` compares and adds in one step that nobody else can come between: an entry whose `seq` is not the number of entries, or
    whose `prev` is not the hash of the last one, raises ConflictError and adds nothing. `append_all` fills an empty store, all or
    nothing; it raises ConflictError when there is an entry.
    """

    async def count(self) -> int: ...
    async def last(self) -> Entry | None: ...
    def all(self) -> AsyncIterator[Entry]: ...
    async def append(self, entry: Entry) -> None: ...
    async def append_all(self, entries: Sequence[Entry]) -> None: ...


class StoreTrail:
    """A trail over `store`. Options as `MemoryTrail` has them; all texts stay in the entries.

    Raises TrailKeyError for a bad key, BadOptionsError for another bad option.
    """

    def __init__(
        self,
        store: TrailStore,
        *,
        key: TrailKey | bytes | str,
        redact: Iterable[str] = (),
        now: WallClock | None = None,
        ids: Ids | None = None,
        markers: MarkerVersion = "v2",
        patterns: bool = False,
    ) -> None:
        self.key = TrailKey.of(key)
        self._store = store
        self._drafter = Drafter(names=redact, now=now, ids=ids, markers=markers, patterns=patterns)
        self._drafter.seal_markers_with(self.key)
        self._turn = trio.Lock()

    @trio.lowlevel.enable_ki_protection
    async def append(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """Add one entry, and return a copy of it once the store has it. Appends land in the order in which they were called.

        A cancel is seen before the store is given the entry, not while it takes it. Raises InvalidEntryError or EntryTooLargeError;
        ConflictError when 100 others were faster; whatever the store raises.
        """
        draft = self._drafter.draft(actor, kind, data)
        now_ms = self._drafter.now_ms()
        async with self._turn:
            for _ in range(MOST_CONFLICTS):
                last = await self._store.last()
                sealed = seal(draft, None if last is None else Head(last.seq, last.ts, last.hash), now_ms, self.key)
                await trio.lowlevel.checkpoint_if_cancelled()
                try:
                    with trio.CancelScope(shield=True):  # bounded by the store: an entry that it was given may be there
                        await self._store.append(Entry.of(sealed))
                except ConflictError:
                    continue
                return Entry.of(sealed)
        raise ConflictError(f"another writer was faster {MOST_CONFLICTS} times; the entry was not added")

    async def entries(self, *, whole: bool = False) -> list[Entry]:
        """All entries, oldest first. With `whole` their data is as it was given, as `read_trail` has it."""
        found = [entry async for entry in self._store.all()]
        return [attrs.evolve(entry, data=expand(entry.data, lambda *_: None)) for entry in found] if whole else found

    async def verify(self, checkpoint: Any = None) -> Verified | Fault:
        """Verify all entries, as `verify_entries` does."""
        return verify_entries(await self.entries(), key=self.key, checkpoint=checkpoint)

    async def checkpoint(self, signer: Signer | None = None) -> dict[str, Any]:
        """How many entries there are and where they end, sealed with the key: ``{count, head, ts, mac}``; signed by a `signer`."""
        last = await self._store.last()
        head = None if last is None else Head(last.seq, last.ts, last.hash)
        return await make_checkpoint_aside(self.key, head, self._drafter.now_ms(), signer)

    async def export_jsonl(self) -> str:
        """The entries as JSON lines."""
        return "".join([line_of(entry) async for entry in self._store.all()])

    async def import_jsonl(self, text: str) -> int:
        """Fill an empty store with entries that were exported, and return their number.

        Raises InvalidEntryError when a line is no strict JSON or the entries do not verify with this trail's key, ConflictError
        when the store is not empty. Then nothing was added.
        """
        lines, _ = checked_import(text, self.key)
        entries = [entry_from_json(value) for value in parse_jsonl(lines.decode())]
        await trio.lowlevel.checkpoint()
        with trio.CancelScope(shield=True):
            await self._store.append_all(entries)
        return len(entries)
