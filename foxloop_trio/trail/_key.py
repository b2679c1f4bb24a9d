"""The secret that makes the trail tamper-evident: held, used, never shown."""

from __future__ import annotations

import re
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, final

from ._errors import TrailKeyError

__all__ = ["MIN_KEY_BYTES", "TrailKey"]

MIN_KEY_BYTES: Final = 32
"""Shortest key taken: the output size of SHA-256, below which HMAC loses strength (RFC 2104, section 3)."""

_FILE: Final = "; a key that is in a file is read with load_key or load_or_create_key"
_BLOCK: Final = 64
"""Bytes of a block of SHA-256, to which HMAC fills up a key."""

_HEX = re.compile(r"(?:[0-9a-fA-F]{2})+\Z")


@final
class TrailKey:
    """A key of at least 32 bytes, from raw bytes or from hex text (any case, white space around it ignored).

    Its repr hides it and it does not pickle. With ``exportable=False`` it also refuses `export_hex`.
    Raises TrailKeyError when it is missing, short, or not hex.
    """

    __slots__ = ("_exportable", "_inner", "_outer", "_raw")

    def __init__(self, material: bytes | str | None, *, exportable: bool = True) -> None:
        self._raw: Final = _raw_key(material)
        # HMAC's two hashes (RFC 2104, section 2) as far as they depend on the key alone. Going on from copies of them takes less
        # than half the time of `hmac.digest`, which begins anew each time, and every entry has one.
        block = (self._raw if len(self._raw) <= _BLOCK else sha256(self._raw).digest()).ljust(_BLOCK, b"\0")
        self._inner: Final = sha256(bytes(byte ^ 0x36 for byte in block))
        self._outer: Final = sha256(bytes(byte ^ 0x5C for byte in block))
        self._exportable: Final = exportable

    @classmethod
    def of(cls, key: TrailKey | bytes | str | None) -> TrailKey:
        """`key` itself, or a key made of it."""
        return key if isinstance(key, TrailKey) else cls(key)

    def __repr__(self) -> str:
        return "<TrailKey, hidden>"

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a TrailKey does not pickle; hand its file to the other process")

    def export_hex(self) -> str:
        """The key as lower-case hex. Raises TrailKeyError when it was marked not exportable."""
        if not self._exportable:
            raise TrailKeyError("this key was marked not exportable")
        return self._raw.hex()

    def mac(self, message: str) -> str:
        """HMAC-SHA-256 over the UTF-8 of `message`, as 64 lower-case hex digits."""
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(message.encode())
        outer.update(inner.digest())
        return outer.hexdigest()

    def proves(self, message: str, mac: str) -> bool:
        """Whether `mac` (ASCII text) is that of `message`; compared in constant time."""
        return compare_digest(self.mac(message), mac)


def _raw_key(material: object) -> bytes:
    if isinstance(material, str):
        text = material.strip()
        if text and not _HEX.match(text):
            raise TrailKeyError(f"the key is not hex; expected an even number of the digits 0-9 a-f{_FILE}")
        material = bytes.fromhex(text)
    elif isinstance(material, bytearray):
        material = bytes(material)
    if material is None:
        raise TrailKeyError("there is no key; give one, or load it with load_key or load_or_create_key")
    if not isinstance(material, bytes):
        raise TrailKeyError(f"a key is bytes, hex text or a TrailKey, not {type(material).__name__}{_FILE}")
    if len(material) < MIN_KEY_BYTES:
        raise TrailKeyError(f"the key has {len(material)} bytes; at least {MIN_KEY_BYTES} are needed")
    return material
