"""Files of signing keys: the private half as PEM (PKCS #8), readable by its owner only; the public half as hex or as PEM.

``openssl genpkey -algorithm ed25519`` makes the same file, and ``openssl pkey -pubout`` its public half. These functions block for
a disk access.
"""

from __future__ import annotations

import os
from typing import Any

from ..ports import Ids
from ._errors import TrailKeyError
from ._keyfile import make_once, new_bytes, read_small
from ._signing import KEY_BYTES, SigningKey, ed25519_of, public_key_of

__all__ = ["load_or_create_signing_key", "load_public_key", "load_signing_key"]

_BEGINS = b"-----BEGIN "


def load_signing_key(path: str | os.PathLike[str], *, allow_shared: bool = False) -> SigningKey:
    """The signing key in the file `path`, an Ed25519 private key as PEM without a passphrase.

    Raises TrailKeyError when it cannot be read, is something else, is open to group or others (unless `allow_shared`), or when the
    package ``cryptography`` is missing.
    """
    name = os.fsdecode(path)
    ed25519 = ed25519_of()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    text = read_small(name, allow_shared=allow_shared)
    try:
        key: Any = load_pem_private_key(text, password=None)
    except TypeError:
        raise TrailKeyError(f"{name}: this key has a passphrase, which cannot be asked for; give a Signer of your own") from None
    except (ValueError, UnsupportedAlgorithm):
        raise TrailKeyError(f"{name}: not a private key as PEM; make one with `foxloop-trio trail keygen`") from None
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise TrailKeyError(f"{name}: a private key of another kind; signatures here are Ed25519")
    return SigningKey(key.private_bytes_raw())


def load_or_create_signing_key(path: str | os.PathLike[str], *, allow_shared: bool = False, ids: Ids | None = None) -> SigningKey:
    """The same, after the file was made with a new key and mode 0600 when it did not exist.

    Processes that make it at the same time all end with the same key. Raises TrailKeyError, also when it cannot be made.
    """
    name = os.fsdecode(path)
    if not os.path.lexists(name):
        make_once(name, _private_pem(new_bytes(KEY_BYTES, "signing-key", ids)))
    return load_signing_key(name, allow_shared=allow_shared)


def load_public_key(path: str | os.PathLike[str]) -> bytes:
    """The 32 bytes of the public key in the file `path`: 64 hex digits, or an Ed25519 public key as PEM.

    Raises TrailKeyError for anything else, a private key among them.
    """
    name = os.fsdecode(path)
    ed25519 = ed25519_of()
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    text = read_small(name, allow_shared=True)
    if not text.lstrip().startswith(_BEGINS):
        try:
            return public_key_of(text.decode("ascii", "replace"))
        except TrailKeyError as fault:
            raise TrailKeyError(f"{name}: {fault}") from None
    try:
        key: Any = load_pem_public_key(text)
    except (ValueError, UnsupportedAlgorithm):
        if b"PRIVATE KEY" in text:
            raise TrailKeyError(f"{name}: a private key; give its public half, which `foxloop-trio trail keygen` prints") from None
        raise TrailKeyError(f"{name}: not a public key as PEM") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise TrailKeyError(f"{name}: a public key of another kind; signatures here are Ed25519")
    raw: bytes = key.public_bytes_raw()
    return raw


def _private_pem(raw: bytes) -> bytes:
    key = ed25519_of().Ed25519PrivateKey.from_private_bytes(raw)
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem
