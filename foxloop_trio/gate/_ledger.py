"""The books behind the permits: whether a permit still stands, and what becomes of the money reserved for it.

A use is counted when the action is allowed, and stays counted. Money is reserved then, and counts against the caps from that
moment: settling says that it is spent, releasing that it certainly is not. What is never closed, because the process died or nobody
knows what came of the action, stays reserved and so stays spent.
"""

from __future__ import annotations

from typing import Any, Final, final
from weakref import WeakKeyDictionary

import attrs
import trio

from ..errors import GateError
from ._core import Books, Core, Decided, Work, host_error
from ._reasons import Failure
from ._rules import EXPIRED, blocked_by

CLOSE_TIMEOUT: Final = 10.0
"""Seconds that closing a permit may wait for its turn and load, as long as the store may take to load; then it saves, and what a
save takes is up to the store."""

_ID_DIGITS = 32
"""Hex digits of a grant's id, with which the ids of its permits begin."""

# Kept beside the objects and not in them, so that no attribute of a permit leads to the store.
_CORES: WeakKeyDictionary[PermitLedger, Core] = WeakKeyDictionary()


@final
class PermitLedger:
    """What the permits of one gate ask. Each gate has two: one for permits with reserved money, one for the others."""

    __slots__ = ("__weakref__", "_money")

    _money: bool

    async def still_allows(self, permit_id: str) -> bool:
        """Whether the permit's grant is there and not expired. When the store or the clock fails, it is not."""

        async def look(books: Books) -> Decided[bool]:
            grant = await books.tx.grants.get(permit_id[:_ID_DIGITS])
            # Its own use and money were counted already, so a grant that is used up by it still carries it.
            return Decided(grant is not None and blocked_by(grant, books.at) is not EXPIRED)

        try:
            return await _CORES[self].run(look)
        except Failure:
            return False

    async def settle(self, permit_id: str) -> None:
        """What was reserved is spent. Shielded, and bounded by `CLOSE_TIMEOUT` and the save.

        Raises GateError, code ``bad-state``, when that could not be written; the money stays reserved, which counts the same.
        """

        async def settle(books: Books) -> Decided[None]:
            row = await books.tx.spends.get(permit_id)
            if row is not None:  # else its grant was revoked meanwhile
                await books.tx.spends.put(attrs.evolve(row, status="settled"))
            return Decided(None)

        await self._close(settle)

    async def release(self, permit_id: str) -> None:
        """What was reserved is free again; the use stays counted. Shielded and bounded as `settle`.

        Raises GateError, code ``bad-state``, when that could not be written; the money stays reserved.
        """

        async def release(books: Books) -> Decided[None]:
            row = await books.tx.spends.get(permit_id)
            if row is None or row.status != "reserved":
                return Decided(None)
            grant = await books.tx.grants.get(row.grant_id)
            await books.tx.spends.delete(permit_id)
            if grant is not None:
                await books.tx.grants.put(attrs.evolve(grant, spent=grant.spent - row.amount.value))
            return Decided(None)

        await self._close(release)

    async def _close(self, work: Work[None]) -> None:
        if not self._money:
            return  # nothing was reserved, so there is nothing to write, and nothing is waited for
        try:
            with trio.CancelScope(deadline=trio.current_time() + CLOSE_TIMEOUT, shield=True) as scope:
                await _CORES[self].run(work, needs_clock=False)
        except Failure as problem:
            raise host_error(problem) from problem.__cause__
        if scope.cancelled_caught:
            raise GateError(f"closing a permit took longer than {CLOSE_TIMEOUT:g} s; its money stays reserved", code="bad-state")

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a ledger does not pickle or copy")


def open_ledger(core: Core, *, money: bool) -> PermitLedger:
    ledger = PermitLedger()
    ledger._money = money
    _CORES[ledger] = core
    return ledger
