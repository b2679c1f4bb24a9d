"""The gate's key, and the approval tokens signed with it.

A token is ``fgt1.<payload>.<mac>``: the payload is compact JSON in unpadded base64url, the MAC is HMAC-SHA-256 over the payload's
*text*, in the same alphabet. It names one request, one nonce, one digest and an expiry. Texts are compared, never decoded MACs,
since base64 has several spellings for the same bytes.
"""

from __future__ import annotations

import hmac
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final, final

import attrs

from ..errors import GateError

MIN_KEY_BYTES: Final = 32
"""As long as the output of SHA-256; a shorter key would be the weakest part (RFC 2104 section 3)."""

MAX_TOKEN: Final = 1024
"""Longest text that is looked at as a token, in characters. Ours have about 280."""

_PREFIX: Final = "fgt1"
_SHAPE = re.compile(r"fgt1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{43})", re.ASCII)
_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)


@final
class GateKey:
    """A signing key made from at least 32 random bytes. It can sign and nothing else: it does not show, copy or pickle itself.

    Raises GateError, code ``bad-key``, for fewer bytes or anything else.
    """

    __slots__ = ("_mac",)

    def __init__(self, raw: bytes) -> None:
        if type(raw) is not bytes or len(raw) < MIN_KEY_BYTES:
            given = f"{len(raw)} bytes" if isinstance(raw, bytes) else type(raw).__name__
            raise GateError(f"a gate key is made from at least {MIN_KEY_BYTES} random bytes, not from {given}", code="bad-key")
        self._mac = hmac.new(raw, digestmod="sha256")

    def __repr__(self) -> str:
        return "<GateKey>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("a GateKey does not pickle or copy; keep its bytes where secrets are kept and build it anew")

    def mac(self, text: str) -> str:
        """HMAC-SHA-256 of an ASCII text, in unpadded base64url."""
        mac = self._mac.copy()
        mac.update(text.encode("ascii"))
        return _b64(mac.digest())


@attrs.frozen(kw_only=True)
class Token:
    """What a token says. `expires_at_ms` is milliseconds since 1970."""

    request_id: str
    nonce: str = attrs.field(repr=False)
    expires_at_ms: int
    digest: str


def sign_token(key: GateKey, token: Token) -> str:
    body = {"v": 1, "rid": token.request_id, "nonce": token.nonce, "exp": token.expires_at_ms, "dig": token.digest}
    payload = _b64(json.dumps(body, separators=(",", ":")).encode("ascii"))
    return f"{_PREFIX}.{payload}.{key.mac(payload)}"


def read_token(key: GateKey, text: object) -> Token | None:
    """What `text` says, or None when it is not a token signed with `key`."""
    if type(text) is not str or len(text) > MAX_TOKEN:
        return None
    parts = _SHAPE.fullmatch(text)
    if parts is None or not hmac.compare_digest(parts[2], key.mac(parts[1])):
        return None
    try:
        body: Any = json.loads(urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except ValueError:
        return None
    # Only the holder of the key gets this far, but a key may also have signed tokens of another version.
    match body:
        case {"v": 1, "rid": str(request_id), "nonce": str(nonce), "exp": int(exp), "dig": str(digest)} if len(body) == 5:
            if type(body["v"]) is int and type(exp) is int and _ID.fullmatch(request_id) and _ID.fullmatch(nonce):
                return (
                    Token(request_id=request_id, nonce=nonce, expires_at_ms=exp, digest=digest)
                    if _DIGEST.fullmatch(digest)
                    else None
                )
    return None


def _b64(raw: bytes) -> str:
    return urlsafe_b64encode(raw).rstrip(b"=").decode("ascii")
