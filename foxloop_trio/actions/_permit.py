"""The permit: proof, held by the part that acts, that the gate allowed exactly this action.

A permit cannot be built by anybody but the gate (`_mint.py`, which an import contract keeps to the gate). Environments ask for
one and compare it with what they are about to do, so that a denied action is unsayable and not merely unsaid.
"""

from __future__ import annotations

from typing import Any, Protocol, final

from ..canonical import canonical_json, canonical_sha256
from ._nouns import Action, action_from_text


class Ledger(Protocol):
    """The gate's books, as a permit sees them."""

    async def still_allows(self, permit_id: str) -> bool: ...
    async def settle(self, permit_id: str) -> None: ...
    async def release(self, permit_id: str) -> None: ...


@final
class Permit:
    """The gate's leave to run one action once; dies when its call closes.

    Hold it, compare it, but do not try to make one: the constructor raises TypeError.
    """

    __slots__ = ("_alive", "_digest", "_grant_id", "_id", "_ledger", "_reserved", "_text", "_whole")

    _id: str
    _grant_id: str
    _digest: str
    _text: str
    _ledger: Ledger
    _reserved: bool
    _alive: bool
    _whole: Action | None

    def __init__(self) -> None:
        raise TypeError("a Permit is minted by the gate only; call gate.check or gate.redeem and use the Allow it returns")

    def __repr__(self) -> str:
        return f"<Permit {self.action.tool!r} on {self.action.domain!r}, {'alive' if self._alive else 'closed'}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a Permit does not pickle; it is valid in the process of its gate only")

    @property
    def id(self) -> str:
        """What the gate's books keep it under."""
        return self._id

    @property
    def grant_id(self) -> str:
        """The grant that it rests on."""
        return self._grant_id

    @property
    def digest(self) -> str:
        """SHA-256 of the action's canonical JSON, as hex."""
        return self._digest

    @property
    def action(self) -> Action:
        """The normalised action, as a fresh copy: changing it changes nothing."""
        if self._whole is None:
            self._whole = action_from_text(self._text)
        return self._whole.copy()

    @property
    def alive(self) -> bool:
        """False once the call that this permit belongs to has been settled or released."""
        return self._alive

    async def valid(self) -> bool:
        """Alive, and the grant behind it neither revoked nor expired. Ask again after a long wait."""
        return self._alive and await self._ledger.still_allows(self._id)

    async def settle(self) -> None:
        """The action was, or may have been, done: what was reserved is spent. Closes the permit; a second call does nothing."""
        if self._alive:
            self._alive = False
            await self._ledger.settle(self._id)

    async def release(self) -> None:
        """The action was certainly not done: reserved money is free again; the use stays counted. Closes the permit."""
        if self._alive:
            self._alive = False
            await self._ledger.release(self._id)

    def close_now(self) -> bool:
        """Settle or release, which are one and the same where nothing was reserved: then the books do not change, and nothing need
        be awaited. False, and nothing has happened, where something was."""
        if self._reserved:
            return False
        self._alive = False
        return True


def closed_permit(action: Action) -> Permit:
    """A permit that is closed from the beginning: what stands for the one of a recorded call when a trail is replayed.

    It opens nothing. No environment takes a permit that is not alive, and none comes back to life.
    """
    permit = object.__new__(Permit)
    permit._id = permit._grant_id = "closed"
    permit._text = canonical_json(action.to_json())
    permit._digest = canonical_sha256(permit._text)
    permit._ledger = _NoLedger()
    permit._reserved = False
    permit._alive = False
    permit._whole = action.copy()
    return permit


class _NoLedger:
    async def still_allows(self, permit_id: str) -> bool:
        return False

    async def settle(self, permit_id: str) -> None:
        """Nothing to close."""

    async def release(self, permit_id: str) -> None:
        """Nothing to close."""
