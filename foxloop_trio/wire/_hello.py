"""The proofs of the hello: each side shows that it knows the token, and neither says it.

Synopsis::

    runtime -> hello.challenge  nonce of the runtime
    add-on  -> hello.open       nonce and incarnation of the add-on, addon_proof(token, …)
    runtime -> its result       session id, runtime_proof(token, …)

Both nonces go into both proofs, so that neither can be used again; the two purposes have different prefixes, so that a proof cannot
be sent back to its maker. A program that took our port learns nothing it could use, and a page that guessed it learns nothing at
all.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final

__all__ = ["ADDON_PREFIX", "RUNTIME_PREFIX", "addon_proof", "proofs_equal", "runtime_proof"]

ADDON_PREFIX: Final = "foxloop-trio/hello/addon/v1\n"
RUNTIME_PREFIX: Final = "foxloop-trio/hello/runtime/v1\n"


def _proof(token: str, text: str) -> str:
    return hmac.new(token.encode("utf-8"), text.encode("utf-8"), hashlib.sha256).hexdigest()


def addon_proof(token: str, *, runtime_nonce: str, addon_nonce: str, incarnation: str) -> str:
    """64 hex digits of HMAC-SHA-256, keyed by the UTF-8 text of the token, that the add-on sends in ``hello.open``."""
    return _proof(token, f"{ADDON_PREFIX}{runtime_nonce}\n{addon_nonce}\n{incarnation}")


def runtime_proof(token: str, *, addon_nonce: str, runtime_nonce: str, session: str) -> str:
    """64 hex digits of HMAC-SHA-256 that the runtime sends in the result of ``hello.open``."""
    return _proof(token, f"{RUNTIME_PREFIX}{addon_nonce}\n{runtime_nonce}\n{session}")


def proofs_equal(ours: str, theirs: str) -> bool:
    """Compare in a time that does not tell where they differ. Any text may be given; only equal text is equal."""
    return hmac.compare_digest(ours.encode("utf-8", "surrogatepass"), theirs.encode("utf-8", "surrogatepass"))
