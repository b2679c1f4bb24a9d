"""Checkpoints that anybody can check: signed with one half of a key pair, checked with the other.

The trail's own key proves and forges alike. A signature with a key of its own, best kept where the trail is not, says of the
entries before the head that they were there when it was made, to whoever has the public half and no key of the trail.

Signatures are Ed25519 (RFC 8032). `Signer` is what makes them: `SigningKey` here, or an object of yours that asks a token or a
service. The arithmetic is that of the package ``cryptography``, which is only imported when it is needed.
"""

from __future__ import annotations

import re
from typing import Any, Final, Protocol, final

from ._errors import TrailKeyError

__all__ = ["PublicKey", "Signer", "SigningKey", "ed25519_of", "public_key_of", "signature_problem", "signed"]

SIGNATURE_DOMAIN: Final = "foxloop-trio/checkpoint-sig/v1\n"
KEY_BYTES: Final = 32
SIGNATURE_BYTES: Final = 64
"""Both from RFC 8032, section 5.1."""

PublicKey = bytes | str
"""32 bytes, or as many as hex text."""

_KEY_HEX = re.compile(r"[0-9a-fA-F]{64}\Z")
_SIGNATURE_HEX = re.compile(r"[0-9a-f]{128}\Z")


class Signer(Protocol):
    """Makes Ed25519 signatures for checkpoints: `public_key` is 32 bytes, and `sign` returns 64.

    `sign` may block, since it is called in a thread; but for a trail in memory.
    """

    @property
    def public_key(self) -> bytes: ...
    def sign(self, message: bytes, /) -> bytes: ...


@final
class SigningKey:
    """An Ed25519 private key of 32 bytes in the memory of this process. Its repr hides it, and it does not pickle.

    Raises TrailKeyError when it is not 32 bytes, or the package ``cryptography`` is missing.
    """

    __slots__ = ("_key", "_public")

    def __init__(self, private: bytes) -> None:
        if not isinstance(private, bytes | bytearray) or len(private) != KEY_BYTES:
            raise TrailKeyError(f"a signing key is {KEY_BYTES} bytes; load one from its file with load_signing_key")
        self._key: Final[Any] = ed25519_of().Ed25519PrivateKey.from_private_bytes(bytes(private))
        self._public: Final[bytes] = self._key.public_key().public_bytes_raw()

    @property
    def public_key(self) -> bytes:
        """What others check the signatures with; no secret."""
        return self._public

    def sign(self, message: bytes, /) -> bytes:
        """The signature of `message`, always the same for the same message."""
        signature: bytes = self._key.sign(message)
        return signature

    def __repr__(self) -> str:
        return f"<SigningKey, hidden, public {self._public.hex()}>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a SigningKey does not pickle; hand its file to the other process")


def public_key_of(value: object) -> bytes:
    """The 32 bytes of a public key. Raises TrailKeyError, also when signatures cannot be checked here."""
    if isinstance(value, str) and _KEY_HEX.match(value.strip()):
        value = bytes.fromhex(value.strip())
    if isinstance(value, SigningKey):
        raise TrailKeyError("a public key is needed here, not the signing key; give its public_key")
    if not isinstance(value, bytes | bytearray) or len(value) != KEY_BYTES:
        raise TrailKeyError(f"a public key is {KEY_BYTES} bytes, or {2 * KEY_BYTES} hex digits")
    ed25519_of()
    return bytes(value)


def signed(body: str, signer: Signer) -> dict[str, str]:
    """The fields ``pub`` and ``sig`` of a checkpoint with this canonical JSON. Raises TrailKeyError, or what the signer raises."""
    public: object = getattr(signer, "public_key", None)
    if type(public) is not bytes or len(public) != KEY_BYTES or not callable(getattr(signer, "sign", None)):
        raise TrailKeyError(f"a signer has a public_key of {KEY_BYTES} bytes and a method sign; {type(signer).__name__} has not")
    signature: object = signer.sign(message_of(body))
    if type(signature) is not bytes or len(signature) != SIGNATURE_BYTES:
        raise TrailKeyError(f"sign of {type(signer).__name__} must return the {SIGNATURE_BYTES} bytes of an Ed25519 signature")
    if not _fits(public, signature, message_of(body)):
        raise TrailKeyError(f"what sign of {type(signer).__name__} gave is no signature with its public_key; nobody could check it")
    return {"pub": public.hex(), "sig": signature.hex()}


def signature_problem(mark: dict[Any, Any], public_key: bytes, body: str) -> str | None:
    """What is wrong with the signature in a checkpoint; None when nothing is.

    The key is the caller's. The one in the checkpoint only says whose signature it claims to be: whoever forges the one forges the
    other with it.
    """
    public, signature = mark.get("pub"), mark.get("sig")
    if public is None and signature is None:
        return "the checkpoint is not signed, so a public key says nothing of it"
    if public != public_key.hex():
        return "the checkpoint is signed with another key than the public key that was given"
    if type(signature) is not str or not _SIGNATURE_HEX.match(signature):
        return f"sig of the checkpoint must be {2 * SIGNATURE_BYTES} lower-case hex digits"
    ed25519_of()
    if not _fits(public_key, bytes.fromhex(signature), message_of(body)):
        return "the signature of the checkpoint is wrong: it was changed, or is another's"
    return None


def _fits(public_key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether it is a signature of the message; taken for one where signatures cannot be checked, by a signer of the host's."""
    try:
        ed25519 = ed25519_of()
    except TrailKeyError:
        return True
    from cryptography.exceptions import InvalidSignature

    try:
        ed25519.Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def message_of(body: str) -> bytes:
    """What is signed: a domain line, which keeps it from being taken for anything else, and the three fields."""
    return (SIGNATURE_DOMAIN + body).encode()


def ed25519_of() -> Any:
    """The module that does the arithmetic. Raises TrailKeyError, naming the extra, when it is not installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as fault:
        raise TrailKeyError(
            "signed checkpoints need the package cryptography, which is not installed: pip install 'foxloop-trio[sign]'"
        ) from fault
    return ed25519
