"""The money of the books: what was spent so far where a cap asks for it, and what one allow reserves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ._core import Books
from ._parse import Parsed
from ._rows import Grant, SpendRow
from ._rules import Spent

DAY: Final = 86_400
"""Seconds of a UTC day; wall-clock seconds since 1970 have no leap seconds."""


async def spent_so_far(books: Books, grants: Iterable[Grant], action: Parsed, run: str) -> dict[str, Spent]:
    """For each grant that caps a day, a run or a site, what was reserved or spent on this day, in this run, and at this host."""
    if action.amount is None:
        return {}
    total = books.tx.spends.total
    found = {}
    for grant in grants:
        if grant.cap_per_day is not None or grant.cap_per_run is not None or grant.cap_per_site is not None:
            found[grant.id] = Spent(
                in_run=0 if grant.cap_per_run is None else await total(grant.id, run=run),
                at_site=0 if grant.cap_per_site is None else await total(grant.id, host=action.host),
                today=0 if grant.cap_per_day is None else await total(grant.id, day=_day(books.at)),
            )
    return found


async def reserve(books: Books, grant: Grant, action: Parsed, permit_id: str, run: str) -> int:
    """Write down that the permit may spend the action's amount; how much of the grant's caps that takes, in minor units."""
    amount = action.amount
    if amount is None or amount.value == 0 or not grant.capped:
        return 0
    row = SpendRow(id=permit_id, grant_id=grant.id, amount=amount, host=action.host, at=books.at, day=_day(books.at), run=run)
    await books.tx.spends.put(row)
    return amount.value


def _day(at: float) -> int:
    return int(at // DAY)
