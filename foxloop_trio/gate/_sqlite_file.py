"""One SQLite file as the gate uses it: opened with every check, one transaction at a time, each write on the disk when it returns.

Everything here blocks and is called from a worker thread. Nothing here knows Trio, or what the rows mean.

* ``journal_mode=WAL`` with ``synchronous=FULL``: a commit that returned survives the loss of power, one that did not leaves
  nothing.
* ``BEGIN IMMEDIATE``: a transaction has the file to itself before it reads, so what it decides on cannot change under it.
* The file is made with mode 0600; SQLite gives the files beside it (``-wal``, ``-shm``) the same.
* A file that was replaced under its name (a backup put back, say) is noticed, and opened anew.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from ..errors import GateError
from ._sqlite_schema import APPLICATION_ID, SCHEMA_VERSION, TABLES

BUSY_WAIT: Final = 0.05
"""Seconds that a thread waits inside SQLite for another process. Short, since a thread cannot be cancelled; the wait goes on
outside."""

Statement = tuple[str, tuple[Any, ...]]

_BUSY_CODES: Final = (5, 6)
"""SQLITE_BUSY and SQLITE_LOCKED; extended codes have more in their upper bytes (https://www.sqlite.org/rescode.html)."""


class Busy(Exception):
    """Another process has the file; nothing was done."""


class SqliteFile:
    """The file, and the connection to it, which is made when it is first needed and after each failure."""

    _inherited: ClassVar[list[sqlite3.Connection]] = []
    """Connections of a parent process: never to be used or closed here (https://www.sqlite.org/howtocorrupt.html, section 2.6)."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._process = 0

    def begin(self) -> tuple[Any, bool]:
        """Start a transaction; returns the saved time, None on a new file, and whether there are rules, which each operation asks.

        Raises Busy, and GateError, code ``bad-state``.
        """
        connection = self._open()
        with self._failing_closed():
            if connection.in_transaction:  # left open by somebody who was killed on the way: it was never said to be saved
                connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            ((version,),) = connection.execute("PRAGMA user_version").fetchall()
            if version != SCHEMA_VERSION:
                raise self._bad_version(version)
            row = connection.execute("SELECT at FROM clock").fetchone()
            ruled = connection.execute("SELECT 1 FROM rules LIMIT 1").fetchone() is not None
        return None if row is None else row[0], ruled

    def work(self, writes: Iterable[Statement], query: Statement | None) -> tuple[list[Any], int]:
        """Run `writes`, then `query`: its rows, and how many rows it changed."""
        connection = self._in_transaction()
        with self._failing_closed():
            for statement, values in writes:
                connection.execute(statement, values)
            if query is None:
                return [], 0
            cursor = connection.execute(*query)
            return cursor.fetchall(), cursor.rowcount

    def commit(self, writes: Iterable[Statement]) -> None:
        """Run `writes` and save all. When it raises, nothing is saved."""
        self.work(writes, ("COMMIT", ()))

    def rollback(self) -> None:
        """Undo all since `begin`. Never raises: a connection that cannot is closed, which undoes it too."""
        if self._connection is not None and self._connection.in_transaction:
            try:
                self._connection.execute("ROLLBACK")
            except sqlite3.Error:
                self.close()

    def close(self) -> None:
        """Close the connection, if there is one. What is not committed is undone."""
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if self._process != os.getpid():
            self._inherited.append(connection)  # the last reference would close it too
            return
        with contextlib.suppress(sqlite3.Error):
            connection.close()

    def __del__(self) -> None:
        self.close()  # a store that was dropped without being closed

    def _in_transaction(self) -> sqlite3.Connection:
        if self._connection is None or not self._connection.in_transaction:
            raise GateError(f"{self.path}: the transaction is over, its connection was lost", code="bad-state")
        return self._connection

    @contextlib.contextmanager
    def _failing_closed(self) -> Any:
        """Whatever goes wrong, nothing of the transaction stays, and the next one starts from the file anew."""
        try:
            yield
        except sqlite3.Error as fault:
            if (getattr(fault, "sqlite_errorcode", 0) & 0xFF) in _BUSY_CODES:
                self.rollback()
                raise Busy from fault
            self.close()
            raise GateError(f"{self.path}: {fault}", code="bad-state") from fault
        except BaseException:
            self.close()
            raise

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self._process == os.getpid() and self._identity == _identity(self.path):
                return self._connection
            # Another file stands there now; or this is a child process, which must leave the connection to its parent.
            self.close()
        try:
            _make_private(self.path)
            self._identity = _identity(self.path)
        except (OSError, ValueError) as fault:
            words = getattr(fault, "strerror", None) or fault  # without the name of a file that is not theirs
            raise GateError(f"{self.path}: the store's file cannot be made or opened: {words}", code="bad-state") from fault
        self._process = os.getpid()
        with self._failing_closed():
            connection = sqlite3.connect(self.path, timeout=BUSY_WAIT, isolation_level=None, check_same_thread=False)
            try:
                self._prepare(connection)
            except BaseException:  # Busy above all: the next try starts from nothing, since no check and no setting may be left out
                connection.close()
                raise
            self._connection = connection
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("BEGIN")  # one look at all three: another process may be making the tables right now
        ((objects,),) = connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchall()
        ((application,),) = connection.execute("PRAGMA application_id").fetchall()
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        connection.execute("COMMIT")
        if application != APPLICATION_ID and (application or version or objects):
            raise GateError(f"{self.path}: this SQLite file belongs to another program, not to a gate", code="bad-state")
        if version > SCHEMA_VERSION:
            raise self._bad_version(version)
        ((mode,),) = connection.execute("PRAGMA journal_mode = WAL").fetchall()
        if mode != "wal":
            raise GateError(
                f"{self.path}: SQLite cannot use a write-ahead log here ({mode}); keep the file on a local disk", code="bad-state"
            )
        connection.execute("PRAGMA synchronous = FULL")
        if version == 0:
            self._create(connection)
        problems = connection.execute("PRAGMA integrity_check(1)").fetchall()
        if problems != [("ok",)]:
            raise GateError(f"{self.path}: the file is damaged: {str(problems[0][0])[:200]}", code="bad-state")

    def _create(self, connection: sqlite3.Connection) -> None:
        """All tables in one transaction; another process may have made them meanwhile."""
        connection.execute("BEGIN IMMEDIATE")
        ((version,),) = connection.execute("PRAGMA user_version").fetchall()
        if version == 0:
            for statement in TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")

    def _bad_version(self, version: int) -> GateError:
        return GateError(
            f"{self.path}: written by a newer foxloop_trio (schema {version}, this one knows {SCHEMA_VERSION}); update it"
            if version > SCHEMA_VERSION
            else f"{self.path}: its schema version is {version}, not {SCHEMA_VERSION}",
            code="bad-state",
        )


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _make_private(path: str) -> None:
    """Make the file for its owner alone, or see that it is so. Raises OSError; GateError when others can read or write it."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        _create(path)
        mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise GateError(f"{path}: not a regular file", code="bad-state")
    if os.name == "posix" and mode & 0o077:
        raise GateError(
            f"{path}: others can read or write this store; make it yours alone with: chmod 600 {path}", code="bad-state"
        )


def _create(path: str) -> None:
    """An empty file of that name, unless another process makes one first.

    It is made under another name and closed before it gets its own: closing any descriptor of a file ends all locks of this process
    on it (POSIX), and another store of this process may have locked it already.
    """
    aside = f"{path}.{secrets.token_hex(8)}.new"
    os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(aside, path)
    finally:
        os.unlink(aside)
    if os.name == "posix":
        directory = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)  # the name of the new file must be as durable as what will be in it
        finally:
            os.close(directory)
