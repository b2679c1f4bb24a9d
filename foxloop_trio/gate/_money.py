"""The money of the books: what was spent so far where a cap asks for it, and what one allow reserves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ..actions import Money
from ._core import Books
from ._rows import Grant, SpendRow
from ._rules import Spent

DAY: Final = 86_400
"""Seconds of a UTC day; wall-clock seconds since 1970 have no leap seconds."""


async def spent_so_far(books: Books, grants: Iterable[Grant], amount: Money | None, run: str) -> dict[str, Spent]:
    """For each grant that caps a day or a run, what was reserved or spent on this day and in this run."""
    if amount is None:
        return {}
    found = {}
    for grant in grants:
        if grant.cap_per_day is not None or grant.cap_per_run is not None:
            found[grant.id] = Spent(
                today=0 if grant.cap_per_day is None else await books.tx.spends.total(grant.id, day=_day(books.at)),
                in_run=0 if grant.cap_per_run is None else await books.tx.spends.total(grant.id, run=run),
            )
    return found


async def reserve(books: Books, grant: Grant, amount: Money | None, permit_id: str, run: str) -> int:
    """Write down that the permit may spend `amount`; how much of the grant's caps that takes, in minor units."""
    if amount is None or amount.value == 0 or not grant.capped:
        return 0
    await books.tx.spends.put(SpendRow(id=permit_id, grant_id=grant.id, amount=amount, at=books.at, day=_day(books.at), run=run))
    return amount.value


def _day(at: float) -> int:
    return int(at // DAY)
