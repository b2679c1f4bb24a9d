"""A trail in memory: the same chain, checks and redaction as in a file, gone with the process."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import trio

from ..ports import Ids, WallClock
from ._codec import entry_from_json, parse_own, sealed_entry
from ._draft import Drafter
from ._key import TrailKey
from ._records import Entry, Sealed, seal

__all__ = ["MemoryTrail"]


class MemoryTrail:
    """A trail that keeps its entries in memory, for tests and for runs whose record need not last.

    Without a `key` it makes one of its own; `key` is there for `verify_entries`. `now` gives wall-clock seconds since 1970, `ids`
    random bytes; both default to the system's. Raises TrailKeyError for a bad key, BadOptionsError for a bad `redact`.
    """

    def __init__(
        self,
        *,
        key: TrailKey | bytes | str | None = None,
        redact: Iterable[str] = (),
        now: WallClock | None = None,
        ids: Ids | None = None,
    ) -> None:
        self._drafter = Drafter(names=redact, now=now, ids=ids)
        self.key = TrailKey.of(self._drafter.ids(32, "trail-key") if key is None else key)
        self._sealed: list[Sealed] = []
        self._turn = trio.Lock()

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C comes before or after, so that an entry is there exactly when this returns
    async def append(self, *, actor: str, kind: str, data: Any = None) -> Entry:
        """Add one entry and return a copy of it. Appends land in the order in which they were called.

        The only checkpoint comes before the entry is added. Raises InvalidEntryError or EntryTooLargeError; then nothing was added.
        """
        draft = self._drafter.draft(actor, kind, data)
        async with self._turn:
            before = self._sealed[-1].head if self._sealed else None
            sealed = seal(draft, before, self._drafter.now_ms(), self.key)
            self._sealed.append(sealed)
        return sealed_entry(sealed)

    def entries(self) -> list[Entry]:
        """Copies of all entries, oldest first."""
        return [entry_from_json(parse_own(sealed.line)) for sealed in self._sealed]

    def text(self) -> str:
        """All entries as the JSON lines that a file of them would hold."""
        return "".join(sealed.line for sealed in self._sealed)

    def __len__(self) -> int:
        return len(self._sealed)
