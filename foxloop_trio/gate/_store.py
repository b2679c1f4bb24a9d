"""What the gate asks of a place to keep its rows: the store protocol.

A store hands out transactions; that is all the gate knows of it. Everything that one operation of the gate reads and writes goes
through one transaction, so a decision and what it counts are saved together or not at all, and two gates on one store (or two
processes, where the store allows that) can never spend the same use or the same money twice.

`foxloop_trio.testing.check_gate_store` tries all of this on a store of your own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from ..actions import Scope
from ._rows import ApprovalRow, Grant, Rule, SpendRow


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

    async def delete(self, row_id: str, /) -> bool:
        """Remove the row; whether it was there."""


class GrantRows(Rows[Grant], Protocol):
    """Grants, which are also looked up by what they cover, so that a check need not walk all of them."""

    async def covering(self, scope: Scope, names: Sequence[str], /) -> Sequence[Grant]:
        """The grants of this scope that have one or more of `names` among their domains, each once, in the order of adding.

        Names are compared as they are: the gate passes the host itself and each pattern that matches it.
        """


class RequestRows(Rows[ApprovalRow], Protocol):
    """Requests, which are also looked up by what they ask, and forgotten when their time is up."""

    async def about(self, digest: str, /) -> Sequence[ApprovalRow]:
        """The requests whose action has this digest, in the order of adding."""

    async def forget(self, at: float, /) -> None:
        """Remove the requests whose `expires_at` is not after `at`."""

    async def counts(self) -> tuple[int, int]:
        """How many are ``pending``, and how many there are in all."""


class SpendRows(Rows[SpendRow], Protocol):
    """Money, which is also added up."""

    async def total(self, grant_id: str, /, *, day: int | None = None, run: str | None = None, host: str | None = None) -> int:
        """The sum in minor units under this grant; reserved and settled count alike.

        Of one day, run or host when that is given; at most one of them is.
        """

    async def forget(self, grant_id: str, /) -> None:
        """Remove the rows of this grant."""


class GateTransaction(Protocol):
    """What is seen and done in one transaction: isolated from all others, and its own writes visible in its own reads."""

    @property
    def grants(self) -> GrantRows: ...
    @property
    def requests(self) -> RequestRows: ...
    @property
    def spends(self) -> SpendRows: ...
    @property
    def rules(self) -> Rows[Rule]: ...
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
