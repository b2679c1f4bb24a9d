"""`seeded_ids`: ids, nonces and keys from a seed, so that two runs are equal byte for byte."""

from __future__ import annotations

import hashlib
import threading
from typing import Final, final

from ..errors import BadOptionsError, UsageError

__all__ = ["SeededIds", "seeded_ids"]

_LABEL: Final = b"foxloop-trio/seeded-ids/v1"
MAX_BYTES: Final = 1 << 20
"""Most bytes of one call. Ids, nonces and keys have 8 to 64; a call for more than this is a mistake."""


@final
class SeededIds:
    """``ids(nbytes, purpose) -> bytes``. Made by `seeded_ids`."""

    def __init__(self, seed: bytes, shown: str) -> None:
        self._seed = seed
        self._shown = shown
        self._calls: dict[str, int] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"<SeededIds {self._shown}>"

    def __call__(self, nbytes: int, purpose: str) -> bytes:
        """The next `nbytes` bytes for this purpose.

        Raises UsageError for a size that is not 0 to 1 MiB, or a purpose that is no text.
        """
        if isinstance(nbytes, bool) or not isinstance(nbytes, int) or not 0 <= nbytes <= MAX_BYTES:
            raise UsageError(f"ids: nbytes must be a whole number from 0 to {MAX_BYTES}, not {nbytes!r}")
        if not isinstance(purpose, str):
            raise UsageError(f"ids: purpose must be text, not {type(purpose).__name__}")
        with self._lock:
            call = self._calls.get(purpose, 0)
            self._calls[purpose] = call + 1
        head = b"".join(_with_length(part) for part in (_LABEL, self._seed, purpose.encode("utf-8", "surrogatepass")))
        made = bytearray()
        block = 0
        while len(made) < nbytes:
            made += hashlib.sha256(head + call.to_bytes(8, "big") + block.to_bytes(8, "big")).digest()
            block += 1
        return bytes(made[:nbytes])


def seeded_ids(seed: int | str | bytes = 0) -> SeededIds:
    """For every `ids=`: bytes that depend on nothing but the seed, the purpose and how often that purpose was asked for.

    Each purpose has its own sequence, so a part that draws more or fewer ids changes nobody else's. The bytes are SHA-256 in
    counter mode: the same in every process, on every platform and in every version of Python, which the `random` module does not
    promise. They are no secret: whoever knows the seed knows them all. Raises BadOptionsError for another kind of seed.
    """
    if isinstance(seed, bytes):
        raw = b"b" + seed
    elif isinstance(seed, str):
        raw = b"s" + seed.encode("utf-8", "surrogatepass")
    elif isinstance(seed, int) and not isinstance(seed, bool):
        raw = b"i" + str(seed).encode()
    else:
        raise BadOptionsError(f"seed must be a whole number, text or bytes, not {type(seed).__name__}")
    return SeededIds(raw, repr(seed))


def _with_length(part: bytes) -> bytes:
    return len(part).to_bytes(8, "big") + part
