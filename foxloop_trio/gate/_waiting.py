"""Waiting for what becomes of a request: woken by the change where it is made through this gate, and looked for once a second where
another gate or another process on the same store makes it.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final, Literal

import trio

from ._core import Books, Core, Decided
from ._reasons import Failure

RECHECK: Final = 1.0
"""Seconds between two looks at the store while nothing is heard: a human who answered elsewhere does not notice it."""

RequestOutcome = Literal["approved", "rejected", "expired", "revoked"]


async def wait_for_answer(core: Core, request_id: object) -> RequestOutcome:
    """Raises `Failure`: ``not-found`` when there is no such request, and whatever the store or the clock does."""
    known = False

    def look(books: Books) -> Awaitable[Decided[tuple[RequestOutcome | None, float]]]:
        return _look(books, request_id, known)

    while True:
        changed = core.requests_changed  # before the look, so that no change falls between
        outcome, seconds = await core.run(look)
        if outcome is not None:
            return outcome
        known = True
        with trio.move_on_after(min(RECHECK, seconds)):
            await changed.wait()


async def _look(books: Books, request_id: object, known: bool) -> Decided[tuple[RequestOutcome | None, float]]:
    """What became of it, or None and the seconds until it expires."""
    row = await books.tx.requests.get(request_id) if isinstance(request_id, str) else None
    books.stage = "decide"
    outcome: RequestOutcome | None = None
    if row is None:
        if not known:
            raise Failure("not-found", f"there is no request {repr(request_id)[:80]}; it may have expired")
        outcome = "revoked"
    elif row.status == "rejected":
        outcome = "rejected"
    elif row.status != "pending":
        outcome = "approved"
    elif row.expires_at <= books.at:
        outcome = "expired"
    return Decided((outcome, 0.0 if row is None else max(0.0, row.expires_at - books.at)))
