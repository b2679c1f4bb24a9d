"""The books behind the permits: whether a permit still stands, and what becomes of the money reserved for it.

No grant has a money cap yet, so nothing is ever reserved, and settling or releasing has nothing to write: the use was counted when
the action was allowed, and stays counted.
"""

from __future__ import annotations

from typing import Any, final
from weakref import WeakKeyDictionary

from ._core import Books, Core, Decided
from ._reasons import Failure
from ._rules import blocked_by

_ID_DIGITS = 32
"""Hex digits of a grant's id, with which the ids of its permits begin."""

# Kept beside the objects and not in them, so that no attribute of a permit leads to the store.
_CORES: WeakKeyDictionary[PermitLedger, Core] = WeakKeyDictionary()


@final
class PermitLedger:
    """What the permits of one gate ask."""

    __slots__ = ("__weakref__",)

    async def still_allows(self, permit_id: str) -> bool:
        """Whether the permit's grant is there and not expired. When the store or the clock fails, it is not."""

        async def look(books: Books) -> Decided[bool]:
            grant = await books.tx.grants.get(permit_id[:_ID_DIGITS])
            # Its own use was counted already, so a grant that is used up by it still carries it.
            return Decided(grant is not None and blocked_by(grant, books.at) != "expired")

        try:
            return await _CORES[self].run(look)
        except Failure:
            return False

    async def settle(self, permit_id: str) -> None:
        """Nothing was reserved, so nothing is spent, and nothing is waited for."""

    async def release(self, permit_id: str) -> None:
        """Nothing was reserved, so nothing is freed; the use stays counted."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a ledger does not pickle or copy")


def open_ledger(core: Core) -> PermitLedger:
    ledger = PermitLedger()
    _CORES[ledger] = core
    return ledger
