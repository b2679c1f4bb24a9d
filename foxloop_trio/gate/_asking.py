"""What every approver does around its question: look up what the gate has stored, and hand the human's answer to the host side."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import GateError
from ._host_side import HostSide
from ._rows import ApprovalRow


async def stored(host: HostSide, request_id: str) -> ApprovalRow | None:
    """The request as it waits in the gate, which is what a token will be bound to; None when it does not wait any more."""
    for row in await host.pending():
        if row.id == request_id:
            return row
    return None


async def answer(host: HostSide, request_id: str, said_yes: bool, tell: Callable[[str], None]) -> str | None:
    """The token for a yes, None for a no, which is put on record. `tell` is told what came of it, in our words.

    An answer that comes too late is a no: the gate has the last word on the time.
    """
    try:
        token = await host.approve(request_id) if said_yes else None
        if not said_yes:
            await host.reject(request_id)
    except GateError as error:
        if error.code != "not-found":
            raise
        tell("Too late: the request has expired. Not approved.")
        return None
    tell("Approved." if said_yes else "Not approved.")
    return token
