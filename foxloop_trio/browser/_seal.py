"""Seals: what stands in judged arguments for a secret value, so that exactly this value may be typed and nobody can read it.

The gate judges a keyed digest; the key, and the value itself, stay in the memory of the host program. Without the key, which nobody
is shown, a digest says nothing about a value, be it ever so short.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Any, Final

from ..canonical import canonical_json

__all__ = ["SALT_BYTES", "seal"]

SALT_BYTES: Final = 32
"""As long as the digest (RFC 2104, section 3)."""


def seal(salt: bytes, pin: Mapping[str, Any], value: str) -> str:
    """The digest of a value for one pinned control, 64 hex digits. Equal values in two controls have different ones."""
    text = canonical_json([pin["document"], pin["control"], value])
    return hmac.new(salt, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
