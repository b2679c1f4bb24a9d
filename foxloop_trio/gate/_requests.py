"""The request step of a check: find the question that already waits for a human, or put a new one."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from ..actions import Ask
from ._core import MAX_REQUESTS, Books, Core
from ._parse import Parsed
from ._reasons import DenyReason
from ._rows import ApprovalRow, Grant


async def ask_human(core: Core, books: Books, grant: Grant, action: Parsed, *, store: bool) -> Ask | DenyReason:
    """The question for this action under this grant, or why it is not put.

    With `store` False nothing is written: the answer is what a real check would say, without a request id.
    """
    if store:
        await books.tx.requests.forget(books.at)
    for row in await _live_about(books, action.digest):
        if row.grant_id != grant.id or row.status == "used":
            continue
        if row.status == "rejected":
            return "rejected"
        if row.status == "pending":
            return Ask(grant_id=grant.id, request_id=row.id if store else None, expires_at=row.expires_at)
        # Approved, but asked again instead of redeemed: the token was lost on its way. It dies, and a human is asked anew.
        if store:
            await books.tx.requests.put(attrs.evolve(row, status="used"))
    expires_at = books.at + core.request_ttl
    if not store:
        return Ask(grant_id=grant.id, request_id=None, expires_at=expires_at)
    waiting, stored = await books.tx.requests.counts()
    if waiting >= core.max_pending or stored >= MAX_REQUESTS:
        return "too-many-requests"
    row = ApprovalRow(
        id=core.new_id("request-id"),
        grant_id=grant.id,
        text=action.text,
        digest=action.digest,
        created_at=books.at,
        expires_at=expires_at,
    )
    await books.tx.requests.put(row)
    return Ask(grant_id=grant.id, request_id=row.id, expires_at=expires_at)


async def was_rejected(books: Books, grants: Sequence[Grant], digest: str) -> bool:
    """Whether a human has said no to this action under any of these grants, and that no still stands."""
    ids = {grant.id for grant in grants}
    return any(row.status == "rejected" and row.grant_id in ids for row in await _live_about(books, digest))


async def _live_about(books: Books, digest: str) -> list[ApprovalRow]:
    """The requests for exactly this action whose time is not up."""
    return [row for row in await books.tx.requests.about(digest) if row.expires_at > books.at]
