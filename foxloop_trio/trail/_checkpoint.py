"""Checkpoints: so many entries, ending in this hash, at that time, sealed with the key.

Kept elsewhere, one shows that the end of a trail was cut off, which nothing in the trail itself can show. It stays good while the
trail grows.
"""

from __future__ import annotations

import os
import time
from typing import Any

from ..ports import WallClock
from ._draft import Drafter
from ._key import TrailKey
from ._records import GENESIS, Fault, Head, checkpoint_text
from ._verify import verify_trail

__all__ = ["checkpoint_trail", "make_checkpoint"]


def make_checkpoint(key: TrailKey, head: Head | None, now_ms: int) -> dict[str, Any]:
    """The checkpoint ``{count, head, ts, mac}`` of a trail whose last entry is `head`."""
    count, digest = (0, GENESIS) if head is None else (head.seq + 1, head.hash)
    ts = max(now_ms, 0)
    return {"count": count, "head": digest, "ts": ts, "mac": key.mac(checkpoint_text(count=count, head=digest, ts=ts))}


def checkpoint_trail(
    path: str | os.PathLike[str], *, key: TrailKey | bytes | str, now: WallClock = time.time
) -> dict[str, Any] | Fault:
    """Verify the file `path`, then make a checkpoint of it; the fault instead when it does not verify.

    Raises TrailKeyError without a good key, StoreError when the file cannot be read or `now` gives no time. Blocks while it reads.
    """
    key = TrailKey.of(key)
    result = verify_trail(path, key=key)
    if isinstance(result, Fault):
        return result
    head = None if result.count == 0 else Head(result.count - 1, 0, result.head)
    return make_checkpoint(key, head, Drafter(now=now).now_ms())
