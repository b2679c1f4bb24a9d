"""The gate's store in an SQLite file: the same rows and the same transactions as in memory, durable and shared by processes.

All of SQLite runs in worker threads, with a limiter of its own, so that threads of other parts never hold up a decision. Writes are
kept back until something is read or the transaction ends, so that an operation costs few hops to a thread: one to begin, one to
read, one to save.

A thread cannot be cancelled. So no thread waits for long: while another process has the file, the waiting is done here, where a
cancel gets through. A save that has begun ends, and counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Generic, TypeVar, final

import trio

from ..actions import Scope
from ..errors import BadOptionsError, GateError
from ._rows import ApprovalRow, Grant, Rule, SpendRow
from ._sqlite_file import Busy, SqliteFile, Statement
from ._sqlite_schema import (
    GRANT_COLUMNS,
    REQUEST_COLUMNS,
    RULE_COLUMNS,
    SPEND_COLUMNS,
    Values,
    grant_from,
    grant_values,
    request_from,
    request_values,
    rule_from,
    rule_values,
    spend_from,
    spend_values,
    upsert,
)
from ._store import GateTransaction, GrantRows, R, RequestRows, Rows, SpendRows

BUSY_PAUSE: Final = 0.002
"""Seconds between two tries for a file that another process has; a transaction holds it for about as long."""

T = TypeVar("T")


@final
class SqliteGateStore:
    """Rows in an SQLite file, which outlive the process; several gates and several processes may share one file.

    `path` is made with mode 0600 when it does not exist; a file that others can read is refused. Nothing is opened before the first
    use, or before ``async with store:``, which says at once when the file cannot be used, and closes it at the end. Keep it on a
    local disk.

    Saved decisions survive a crash and the loss of power. Requests that wait for a human survive a restart too; tokens do when the
    gate is given the same `key`.

    When the file is locked for too long, full, damaged, or of a newer version, the gate denies with ``storage-error``, and the host
    side raises GateError, code ``bad-state``, which names the file and what is wrong.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise BadOptionsError(f"SqliteGateStore: path must name a file, not {path!r}")
        self._file = SqliteFile(os.path.abspath(os.fsdecode(path)))
        self._lock = trio.Lock()
        self._limiter = trio.CapacityLimiter(1)
        self._closed = False

    def __repr__(self) -> str:
        return f"<SqliteGateStore {self._file.path!r}{' closed' if self._closed else ''}>"

    def transaction(self) -> AbstractAsyncContextManager[GateTransaction]:
        """Raises GateError, code ``bad-state``, when it is entered and the file cannot be used, or the store was closed."""
        return _SqliteTransaction(self)

    async def __aenter__(self) -> SqliteGateStore:
        async with self.transaction():
            pass
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the file once the transaction in progress is over. Shielded; a second call does nothing."""
        with trio.CancelScope(shield=True):
            async with self._lock:
                self._closed = True
                await self._in_thread(self._file.close)

    async def _in_thread(self, fn: Callable[..., T], *args: Any) -> T:
        return await trio.to_thread.run_sync(fn, *args, limiter=self._limiter)


class _SqliteTransaction:
    __slots__ = ("_loaded_time", "_store", "_time", "_writes", "grants", "requests", "ruled", "rules", "spends")

    ruled: bool
    """Whether there may be rules: known from the start, since each operation asks and mostly there are none."""

    grants: GrantRows
    requests: RequestRows
    spends: SpendRows
    rules: Rows[Rule]

    def __init__(self, store: SqliteGateStore) -> None:
        self._store = store
        self._writes: list[Statement] = []
        self.grants = _Grants(self)
        self.requests = _Requests(self)
        self.spends = _Spends(self)
        self.rules = _Rules(self)

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C must not fall between the lock and the transaction that it is for
    async def __aenter__(self) -> GateTransaction:
        store = self._store
        await store._lock.acquire()
        try:
            if store._closed:
                raise GateError(f"{store._file.path}: the store is closed", code="bad-state")
            while True:
                try:
                    self._loaded_time, self.ruled = await store._in_thread(store._file.begin)
                    self._time = self._loaded_time
                    return self
                except Busy:
                    await trio.sleep(BUSY_PAUSE)
        except BaseException:
            store._lock.release()
            raise

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        store = self._store
        try:
            with trio.CancelScope(shield=True):
                if kind is None:
                    await self._commit()
                else:
                    await store._in_thread(store._file.rollback)
        finally:
            store._lock.release()

    async def _commit(self) -> None:
        if self._time is not self._loaded_time:
            put = "INSERT INTO clock (one, at) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET at = excluded.at"
            self._writes.append((put, (self._time,)))
        file = self._store._file
        try:
            await self._store._in_thread(file.commit, self._writes)
        except Busy as busy:
            raise GateError(f"{file.path}: another process holds up the save", code="bad-state") from busy

    async def time(self) -> float | None:
        time: float | None = self._time  # whatever stands in the file: the gate looks at it before it believes it
        return time

    async def set_time(self, at: float, /) -> None:
        self._time = at

    def write(self, statement: str, values: Values) -> None:
        self._writes.append((statement, values))

    async def read(self, statement: str, values: Values = ()) -> list[Any]:
        return (await self._flush((statement, values)))[0]

    async def change(self, statement: str, values: Values) -> int:
        """How many rows `statement` changed."""
        return (await self._flush((statement, values)))[1]

    async def _flush(self, query: Statement) -> tuple[list[Any], int]:
        writes, self._writes = self._writes, []
        file = self._store._file
        try:
            return await self._store._in_thread(file.work, writes, query)
        except Busy as busy:
            raise GateError(f"{file.path}: another process holds up the transaction", code="bad-state") from busy


class _Table(Generic[R]):
    """One table of one transaction."""

    table: str
    columns: str
    values: Callable[[R], Values]
    from_values: Callable[[Values], R]

    def __init__(self, tx: _SqliteTransaction) -> None:
        self._tx = tx
        self._put = upsert(self.table, self.columns)

    async def all(self) -> Sequence[R]:
        return await self._select("ORDER BY place")

    async def get(self, row_id: str, /) -> R | None:
        rows = await self._select("WHERE id = ?", row_id)
        return rows[0] if rows else None

    async def put(self, row: R, /) -> None:
        self._tx.write(self._put, type(self).values(row))

    async def delete(self, row_id: str, /) -> bool:
        return await self._tx.change(f"DELETE FROM {self.table} WHERE id = ?", (row_id,)) > 0

    async def _select(self, condition: str, *values: Any) -> list[R]:
        rows = await self._tx.read(f"SELECT {self.columns} FROM {self.table} {condition}", values)
        return [type(self).from_values(row) for row in rows]


class _Grants(_Table[Grant]):
    table, columns, values, from_values = "grants", GRANT_COLUMNS, staticmethod(grant_values), staticmethod(grant_from)

    def __init__(self, tx: _SqliteTransaction) -> None:
        super().__init__(tx)
        self._covers: dict[str, tuple[Scope, tuple[str, ...]]] = {}

    async def put(self, row: Grant, /) -> None:
        await super().put(row)
        covers = (row.scope, row.domains)
        if self._covers.get(row.id) == covers:
            return  # only a use was counted
        self._covers[row.id] = covers
        self._tx.write("DELETE FROM covered WHERE grant_id = ?", (row.id,))
        for domain in row.domains:
            self._tx.write("INSERT OR IGNORE INTO covered (scope, domain, grant_id) VALUES (?, ?, ?)", (row.scope, domain, row.id))

    async def delete(self, row_id: str, /) -> bool:
        self._covers.pop(row_id, None)
        self._tx.write("DELETE FROM covered WHERE grant_id = ?", (row_id,))
        return await super().delete(row_id)

    async def _select(self, condition: str, *values: Any) -> list[Grant]:
        rows = await super()._select(condition, *values)
        self._covers.update((row.id, (row.scope, row.domains)) for row in rows)
        return rows

    async def covering(self, scope: Scope, names: Sequence[str], /) -> Sequence[Grant]:
        marks = ", ".join("?" for _ in names)
        rows = await self._select(
            f"WHERE id IN (SELECT grant_id FROM covered WHERE scope = ? AND domain IN ({marks})) ORDER BY place", scope, *names
        )
        if any(row.scope != scope or set(names).isdisjoint(row.domains) for row in rows):
            raise GateError("the index of the grants and the grants themselves say different things", code="bad-state")
        return rows


class _Requests(_Table[ApprovalRow]):
    table, columns, values, from_values = "requests", REQUEST_COLUMNS, staticmethod(request_values), staticmethod(request_from)

    async def about(self, digest: str, /) -> Sequence[ApprovalRow]:
        return await self._select("WHERE digest = ? ORDER BY place", digest)

    async def forget(self, at: float, /) -> None:
        self._tx.write("DELETE FROM requests WHERE expires_at <= ?", (at,))

    async def counts(self) -> tuple[int, int]:
        ((pending, stored),) = await self._tx.read("SELECT COALESCE(SUM(status = 'pending'), 0), COUNT(*) FROM requests")
        return pending, stored


class _Spends(_Table[SpendRow]):
    table, columns, values, from_values = "spends", SPEND_COLUMNS, staticmethod(spend_values), staticmethod(spend_from)

    async def total(self, grant_id: str, /, *, day: int | None = None, run: str | None = None, host: str | None = None) -> int:
        wanted: dict[str, Any] = {"grant_id": grant_id}
        wanted |= {} if day is None else {"day": day}
        wanted |= {} if run is None else {"run": run}
        wanted |= {} if host is None else {"host": host}
        condition = " AND ".join(f"{name} = ?" for name in wanted)
        rows = await self._tx.read(f"SELECT COALESCE(SUM(value), 0) FROM spends WHERE {condition}", tuple(wanted.values()))
        ((total,),) = rows
        if type(total) is not int:
            raise GateError("the money of a grant does not add up to a whole number", code="bad-state")
        return total

    async def forget(self, grant_id: str, /) -> None:
        self._tx.write("DELETE FROM spends WHERE grant_id = ?", (grant_id,))


class _Rules(_Table[Rule]):
    table, columns, values, from_values = "rules", RULE_COLUMNS, staticmethod(rule_values), staticmethod(rule_from)

    async def all(self) -> Sequence[Rule]:
        return await super().all() if self._tx.ruled else ()

    async def put(self, row: Rule, /) -> None:
        self._tx.ruled = True
        await super().put(row)
