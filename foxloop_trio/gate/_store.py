"""Where the gate keeps its rows: the store protocol, and the store in memory.

A store hands out transactions; that is all the gate knows of it. Everything that one operation of the gate reads and writes goes
through one transaction, so a decision and what it counts are saved together or not at all, and two gates on one store (or two
processes, where the store allows that) can never spend the same use twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Protocol, TypeVar, final

import trio

from ..actions import Scope
from ._rows import ApprovalRow, Grant, SpendRow


class _Row(Protocol):
    @property
    def id(self) -> str: ...


R = TypeVar("R", bound=_Row)


class Rows(Protocol[R]):
    """One kind of row, by id, in the order of adding."""

    async def all(self) -> Sequence[R]: ...
    async def get(self, row_id: str, /) -> R | None: ...
    async def put(self, row: R, /) -> None:
        """Add the row, or replace the one with its id, which keeps its place in the order."""

    async def delete(self, row_id: str, /) -> bool: ...


class GrantRows(Rows[Grant], Protocol):
    """Grants, which are also looked up by what they cover, so that a check need not walk all of them."""

    async def covering(self, scope: Scope, domain: str, /) -> Sequence[Grant]:
        """The grants of this scope that name this domain, in the order of adding."""


class GateTransaction(Protocol):
    """What is seen and done in one transaction: isolated from all others, and its own writes visible in its own reads."""

    @property
    def grants(self) -> GrantRows: ...
    @property
    def requests(self) -> Rows[ApprovalRow]: ...
    @property
    def spends(self) -> Rows[SpendRow]: ...
    async def time(self) -> float | None:
        """The latest time ever saved, None on a new store."""

    async def set_time(self, at: float, /) -> None: ...


class GateStore(Protocol):
    """Keeps the gate's rows.

    Leaving a transaction normally saves it, and returns only once that is as durable as the store can make it. Leaving it by an
    exception, Cancelled included, saves nothing. When leaving raises, nothing was saved: a store that cannot stop a write which
    has begun finishes it and returns. Transactions wait for each other in the order of asking.
    """

    def transaction(self) -> AbstractAsyncContextManager[GateTransaction]: ...


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
        self._covering: dict[tuple[str, str], dict[str, None]] = {}
        self._lock = trio.Lock()

    def __repr__(self) -> str:
        return f"<MemoryGateStore with {len(self._grants)} grants, {len(self._requests)} requests>"

    def transaction(self) -> AbstractAsyncContextManager[GateTransaction]:
        return _MemoryTransaction(self)


class _MemoryRows(Rows[R]):
    """A table and the changes of one transaction, which lie beside it until they are applied."""

    __slots__ = ("_changes", "_saved")

    def __init__(self, saved: dict[str, R]) -> None:
        self._saved = saved
        self._changes: dict[str, R | None] = {}

    async def all(self) -> Sequence[R]:
        if not self._changes:
            return tuple(self._saved.values())
        return tuple(row for row in (self._saved | self._changes).values() if row is not None)

    async def get(self, row_id: str, /) -> R | None:
        return self._changes[row_id] if row_id in self._changes else self._saved.get(row_id)

    async def put(self, row: R, /) -> None:
        self._changes[row.id] = row

    async def delete(self, row_id: str, /) -> bool:
        known = await self.get(row_id) is not None
        if known:
            self._changes[row_id] = None
        return known

    def apply(self) -> None:
        for row_id, row in self._changes.items():
            if row is None:
                self._saved.pop(row_id, None)
            else:
                self._saved[row_id] = row


class _MemoryGrants(_MemoryRows[Grant]):
    __slots__ = ("_covering",)

    def __init__(self, saved: dict[str, Grant], covering: dict[tuple[str, str], dict[str, None]]) -> None:
        super().__init__(saved)
        self._covering = covering

    async def covering(self, scope: Scope, domain: str, /) -> Sequence[Grant]:
        if self._changes:
            return [grant for grant in await self.all() if grant.scope == scope and domain in grant.domains]
        saved = self._saved
        return [saved[grant_id] for grant_id in self._covering.get((scope, domain), ())]

    def apply(self) -> None:
        before = {grant_id: self._saved.get(grant_id) for grant_id in self._changes}
        super().apply()
        for grant_id, old in before.items():
            new = self._changes[grant_id]
            if old is not None and new is not None and old.scope == new.scope and old.domains == new.domains:
                continue  # a use was counted
            if old is not None:
                self._reindex()
                return
            if new is not None:
                self._index(new)

    def _reindex(self) -> None:
        self._covering.clear()
        for grant in self._saved.values():
            self._index(grant)

    def _index(self, grant: Grant) -> None:
        for domain in grant.domains:
            self._covering.setdefault((grant.scope, domain), {})[grant.id] = None


class _MemoryTransaction:
    __slots__ = ("_store", "_time", "grants", "requests", "spends")

    def __init__(self, store: MemoryGateStore) -> None:
        self._store = store

    async def __aenter__(self) -> GateTransaction:
        store = self._store
        try:
            store._lock.acquire_nowait()  # the common case, without a trip through the scheduler: the gate makes one per operation
        except trio.WouldBlock:
            await store._lock.acquire()
        self._time = store._time
        self.grants = _MemoryGrants(store._grants, store._covering)
        self.requests = _MemoryRows(store._requests)
        self.spends = _MemoryRows(store._spends)
        return self

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C must not fall between two of the tables
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.grants.apply()
                self.requests.apply()
                self.spends.apply()
                self._store._time = self._time
        finally:
            self._store._lock.release()

    async def time(self) -> float | None:
        return self._time

    async def set_time(self, at: float, /) -> None:
        self._time = at


class SqliteGateStore:
    """Rows in an SQLite file. Not there yet."""

    def __init__(self, path: Any) -> None:
        raise NotImplementedError("SqliteGateStore(path) is not supported yet; use MemoryGateStore()")
