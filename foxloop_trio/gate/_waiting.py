"""Waiting for what becomes of a request: woken by the change where it is made through this gate, and looked for once a second where
another gate or another process on the same store makes it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, Literal

import attrs
import trio

from ._core import Books, Core, Decided
from ._reasons import Failure
from ._shown import shown

RECHECK: Final = 1.0
"""Seconds between two looks at the store while nothing is heard: a human who answered elsewhere does not notice it."""

RequestOutcome = Literal["approved", "rejected", "expired", "revoked"]


async def wait_for_answer(core: Core, request_id: object) -> RequestOutcome:
    """Raises `Failure`: ``not-found`` when there is no such request, and whatever the store or the clock does."""
    expires_at: float | None = None

    def look(books: Books) -> Awaitable[Decided[RequestOutcome | _Waits]]:
        return _look(books, request_id, expires_at)

    while True:
        changed = core.requests_changed  # before the look, so that no change falls between
        found = await core.run(look)
        if not isinstance(found, _Waits):
            return found
        expires_at = found.expires_at
        with trio.move_on_after(min(RECHECK, found.seconds)):
            await changed.wait()


@attrs.frozen
class _Waits:
    """It still waits for an answer."""

    expires_at: float
    seconds: float


async def _look(books: Books, request_id: object, known_until: float | None) -> Decided[RequestOutcome | _Waits]:
    """What became of it. `known_until` is when it was to expire, if it was seen before."""
    row = await books.tx.requests.get(request_id) if isinstance(request_id, str) else None
    books.stage = "decide"
    outcome: RequestOutcome
    if row is None:
        if known_until is None:
            raise Failure("not-found", f"there is no request {shown(request_id, 80)}; it may have expired")
        outcome = "expired" if books.at >= known_until else "revoked"  # a check may have swept it away as soon as it was over
    elif row.status == "rejected":
        outcome = "rejected"
    elif row.status != "pending":
        outcome = "approved"
    elif row.expires_at <= books.at:
        outcome = "expired"
    else:
        return Decided(_Waits(row.expires_at, row.expires_at - books.at))
    return Decided(outcome)
