"""Making permits. Only `foxloop_trio.gate` may import this module; an import contract in pyproject.toml holds it to that."""

from __future__ import annotations

from ._nouns import Action
from ._permit import Ledger, Permit


def mint_permit(
    *,
    permit_id: str,
    grant_id: str,
    text: str,
    digest: str,
    ledger: Ledger,
    reserved: bool = True,
    whole: Action | None = None,
) -> Permit:
    """A live permit for the action whose canonical JSON is `text` and whose SHA-256 is `digest`.

    `reserved`: whether its end is something for the ledger's books. `whole` is what reading `text` gives, if it is known; it
    belongs to the permit from then on.
    """
    permit = object.__new__(Permit)
    permit._id = permit_id
    permit._grant_id = grant_id
    permit._digest = digest
    permit._text = text
    permit._ledger = ledger
    permit._reserved = reserved
    permit._alive = True
    permit._whole = whole
    return permit
