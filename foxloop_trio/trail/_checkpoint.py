"""Checkpoints: so many entries, ending in this hash, at that time, sealed with the key and, if wanted, signed.

Kept elsewhere, one shows that the end of a trail was cut off, which nothing in the trail itself can show. It stays good while the
trail grows.
"""

from __future__ import annotations

import os
import time
from typing import Any

import trio

from ..ports import WallClock
from ._draft import Drafter
from ._key import TrailKey
from ._records import GENESIS, Fault, Head, checkpoint_body, checkpoint_text
from ._signing import Signer, signed
from ._verify import verify_trail

__all__ = ["checkpoint_trail", "make_checkpoint", "make_checkpoint_aside"]


def make_checkpoint(key: TrailKey, head: Head | None, now_ms: int, signer: Signer | None = None) -> dict[str, Any]:
    """The checkpoint ``{count, head, ts, mac}`` of a trail whose last entry is `head`, with ``pub`` and ``sig`` of a signer.

    Raises TrailKeyError when the signer is none, or what it raises.
    """
    count, digest = (0, GENESIS) if head is None else (head.seq + 1, head.hash)
    ts = max(now_ms, 0)
    mark: dict[str, Any] = {"count": count, "head": digest, "ts": ts}
    mark["mac"] = key.mac(checkpoint_text(count=count, head=digest, ts=ts))
    return mark if signer is None else {**mark, **signed(checkpoint_body(count=count, head=digest, ts=ts), signer)}


async def make_checkpoint_aside(key: TrailKey, head: Head | None, now_ms: int, signer: Signer | None) -> dict[str, Any]:
    """The same, with the signer in a thread: it may ask a token or a service. A cancel does not wait for it."""
    if signer is None:
        return make_checkpoint(key, head, now_ms)
    return await trio.to_thread.run_sync(make_checkpoint, key, head, now_ms, signer, abandon_on_cancel=True)


def checkpoint_trail(
    path: str | os.PathLike[str], *, key: TrailKey | bytes | str, now: WallClock = time.time, signer: Signer | None = None
) -> dict[str, Any] | Fault:
    """Verify the trail `path`, then make a checkpoint of it, signed if there is a `signer`; the fault instead when it does not
    verify.

    Raises TrailKeyError without a good key, or when the signer is none; StoreError when the file cannot be read or `now` gives no
    time. Blocks while it reads.
    """
    key = TrailKey.of(key)
    result = verify_trail(path, key=key)
    if isinstance(result, Fault):
        return result
    head = None if result.count == 0 else Head(result.count - 1, 0, result.head)
    return make_checkpoint(key, head, Drafter(now=now).now_ms(), signer)
