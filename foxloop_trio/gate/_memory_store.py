"""The gate's store in memory: tables, an index of grants by what they cover, and transactions whose changes lie beside the tables
until they are applied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Generic, final

import trio

from ..actions import Scope
from ._rows import ApprovalRow, Grant, Rule, SpendRow
from ._store import GateTransaction, GrantRows, R, RequestRows, Rows, SpendRows
from ._turns import Turns


@final
class MemoryGateStore:
    """Rows in memory, gone with the process. Lost state denies: no grant is left, and no token has a request behind it.

    Several gates may share one store. It may be used by one `trio.run` after another, but not by two at once.
    """

    def __init__(self) -> None:
        self._time: float | None = None
        self._grants: dict[str, Grant] = {}
        self._requests: dict[str, ApprovalRow] = {}
        self._spends: dict[str, SpendRow] = {}
        self._rules: dict[str, Rule] = {}
        self._index = _GrantIndex()
        self._totals: dict[_Sum, int] = {}
        self._turns = Turns()

    def __repr__(self) -> str:
        return f"<MemoryGateStore with {len(self._grants)} grants, {len(self._requests)} requests>"

    def transaction(self) -> AbstractAsyncContextManager[GateTransaction]:
        return MemoryTransaction(self)

    def transaction_nowait(self) -> MemoryTransaction | None:
        """A transaction as a plain context manager, entered, when nobody else is in one: nothing in it ever waits."""
        if not self._turns.take_nowait():
            return None
        return MemoryTransaction(self).begin()


_Sum = tuple[str, str, int | str | None]
"""What is added up: grant, and of it a day, run or host, as the name of the field and its value."""


class _GrantIndex:
    """Which grants name a domain under a scope, in the order of adding. Kept in step with the saved table."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._next = 0
        self._named: dict[tuple[str, str], dict[str, int]] = {}

    def find(self, scope: str, names: Sequence[str]) -> Iterable[str]:
        """Ids, each once."""
        hits = [hit for name in names if (hit := self._named.get((scope, name)))]
        if len(hits) == 1:
            return hits[0]
        places = {grant_id: place for hit in hits for grant_id, place in hit.items()}
        return sorted(places, key=places.__getitem__)

    def changed(self, old: Grant | None, new: Grant | None) -> None:
        """One grant was added (no `old`), replaced or deleted (no `new`)."""
        if old is not None and new is not None and old.scope == new.scope and old.domains == new.domains:
            return  # a use was counted
        if old is not None:
            for domain in old.domains:
                named = self._named[old.scope, domain]
                del named[old.id]
                if not named:
                    del self._named[old.scope, domain]
            if new is None:
                del self._places[old.id]
        if new is not None:
            if old is None:
                self._places[new.id] = self._next
                self._next += 1
            place = self._places[new.id]
            for domain in new.domains:
                key = (new.scope, domain)
                named = self._named.get(key, {})
                behind = bool(named) and next(reversed(named.values())) > place
                named[new.id] = place
                # A grant that is given other domains keeps its place in the order, which is then not the last.
                self._named[key] = dict(sorted(named.items(), key=lambda item: item[1])) if behind else named


class _Table(Generic[R]):
    """A table and the changes of one transaction, which lie beside it until they are applied."""

    __slots__ = ("_changes", "_moved", "_saved")

    def __init__(self, saved: dict[str, R]) -> None:
        self._saved = saved
        self._changes: dict[str, R | None] = {}
        self._moved: set[str] = set()  # deleted and then added again, so no longer in its place

    async def all(self) -> Sequence[R]:
        return self._rows()

    async def get(self, row_id: str, /) -> R | None:
        return self._changes[row_id] if row_id in self._changes else self._saved.get(row_id)

    async def put(self, row: R, /) -> None:
        if self._changes.get(row.id, row) is None:
            del self._changes[row.id]
            self._moved.add(row.id)
        self._changes[row.id] = row

    async def delete(self, row_id: str, /) -> bool:
        known = await self.get(row_id) is not None
        if known:
            self._changes[row_id] = None
        return known

    def apply(self) -> None:
        for row_id, row in self._changes.items():
            old = self._saved.get(row_id)
            if old is not None and (row is None or row_id in self._moved):
                del self._saved[row_id]
                self._changed(old, None)
                old = None
            if row is not None:
                self._saved[row_id] = row
                self._changed(old, row)

    def _rows(self) -> Sequence[R]:
        if not self._changes:
            return tuple(self._saved.values())
        saved = {row_id: row for row_id, row in self._saved.items() if row_id not in self._moved} if self._moved else self._saved
        return tuple(row for row in (saved | self._changes).values() if row is not None)

    def _changed(self, old: R | None, new: R | None) -> None:
        """Keeps what is derived from the table in step with it."""


class _Grants(_Table[Grant]):
    __slots__ = ("_index",)

    def __init__(self, saved: dict[str, Grant], index: _GrantIndex) -> None:
        super().__init__(saved)
        self._index = index

    async def covering(self, scope: Scope, names: Sequence[str], /) -> Sequence[Grant]:
        if self._changes:
            wanted = frozenset(names)
            return [grant for grant in self._rows() if grant.scope == scope and not wanted.isdisjoint(grant.domains)]
        saved = self._saved
        return [saved[grant_id] for grant_id in self._index.find(scope, names)]

    def _changed(self, old: Grant | None, new: Grant | None) -> None:
        self._index.changed(old, new)


class _Requests(_Table[ApprovalRow]):
    __slots__ = ()

    async def about(self, digest: str, /) -> Sequence[ApprovalRow]:
        return [row for row in self._rows() if row.digest == digest]

    async def forget(self, at: float, /) -> None:
        for row in self._rows():
            if row.expires_at <= at:
                self._changes[row.id] = None

    async def counts(self) -> tuple[int, int]:
        rows = self._rows()
        return sum(row.status == "pending" for row in rows), len(rows)


class _Spends(_Table[SpendRow]):
    __slots__ = ("_totals",)

    def __init__(self, saved: dict[str, SpendRow], totals: dict[_Sum, int]) -> None:
        super().__init__(saved)
        self._totals = totals

    async def total(self, grant_id: str, /, *, day: int | None = None, run: str | None = None, host: str | None = None) -> int:
        wanted: _Sum
        if host is not None:
            wanted = (grant_id, "host", host)
        elif run is not None:
            wanted = (grant_id, "run", run)
        else:
            wanted = (grant_id, "", None) if day is None else (grant_id, "day", day)
        total = self._totals.get(wanted, 0)
        for row_id, new in self._changes.items():
            old = self._saved.get(row_id)
            total -= old.amount.value if old is not None and wanted in _sums_of(old) else 0
            total += new.amount.value if new is not None and wanted in _sums_of(new) else 0
        return total

    async def forget(self, grant_id: str, /) -> None:
        for row in self._rows():
            if row.grant_id == grant_id:
                self._changes[row.id] = None

    def _changed(self, old: SpendRow | None, new: SpendRow | None) -> None:
        for row, sign in ((old, -1), (new, 1)):
            for key in () if row is None else _sums_of(row):
                total = self._totals.get(key, 0) + sign * (0 if row is None else row.amount.value)
                if total:
                    self._totals[key] = total
                else:
                    self._totals.pop(key, None)


def _sums_of(row: SpendRow) -> tuple[_Sum, ...]:
    """Each sum that this row is part of."""
    grant = row.grant_id
    return (grant, "", None), (grant, "day", row.day), (grant, "run", row.run), (grant, "host", row.host)


@final
class MemoryTransaction:
    """One transaction. Its tables are made when they are first used: most operations touch one or two of the four."""

    __slots__ = ("_grants", "_requests", "_rules", "_spends", "_store", "_time")

    def __init__(self, store: MemoryGateStore) -> None:
        self._store = store
        self._grants: _Grants | None = None
        self._requests: _Requests | None = None
        self._spends: _Spends | None = None
        self._rules: _Table[Rule] | None = None

    async def __aenter__(self) -> GateTransaction:
        await self._store._turns.take()
        return self.begin()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end(save=kind is None)

    def begin(self) -> MemoryTransaction:
        """Start, now that it is this task's turn."""
        self._time = self._store._time
        return self

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C must not fall between two of the tables
    def end(self, *, save: bool) -> None:
        """Apply all changes, or none, and give the turn to the next."""
        try:
            if save:
                for table in (self._grants, self._requests, self._spends, self._rules):
                    if table is not None:
                        table.apply()
                self._store._time = self._time
        finally:
            self._store._turns.give()

    @property
    def latest(self) -> float | None:
        """What `time` returns."""
        return self._time

    @property
    def grants(self) -> GrantRows:
        if self._grants is None:
            self._grants = _Grants(self._store._grants, self._store._index)
        return self._grants

    @property
    def requests(self) -> RequestRows:
        if self._requests is None:
            self._requests = _Requests(self._store._requests)
        return self._requests

    @property
    def spends(self) -> SpendRows:
        if self._spends is None:
            self._spends = _Spends(self._store._spends, self._store._totals)
        return self._spends

    @property
    def rules(self) -> Rows[Rule]:
        if self._rules is None:
            self._rules = _Table(self._store._rules)
        return self._rules

    async def time(self) -> float | None:
        return self._time

    async def set_time(self, at: float, /) -> None:
        self._time = at
