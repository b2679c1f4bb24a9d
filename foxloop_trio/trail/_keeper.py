"""Handing checkpoints to a place of the host's: the end of a trail can be cut unnoticed only as far as the last one of them."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import trio

from ..errors import BadOptionsError
from ._records import Head

__all__ = ["CheckpointSink", "Keeper"]

CheckpointSink = Callable[[dict[str, Any]], Awaitable[object]]
"""Keeps a checkpoint on another disk, a server, in a mail."""

PATIENCE: Final = 5.0
"""Seconds that a sink has for one checkpoint; as long as the lock of a trail is waited for."""

_log = logging.getLogger("foxloop_trio.trail")


class Keeper:
    """Calls `sink` after each `every` entries and at the end. Raises BadOptionsError when these are not what they should be."""

    def __init__(self, sink: CheckpointSink | None, every: int | None) -> None:
        if sink is not None and not callable(sink):
            raise BadOptionsError(f"sink must be an async function, not {type(sink).__name__}")
        if every is not None and (type(every) is not int or every < 1):
            raise BadOptionsError(f"checkpoint_every is a number of entries above 0, not {every!r}")
        if every is not None and sink is None:
            raise BadOptionsError("checkpoint_every needs a sink, to which the checkpoints go")
        self._sink = sink
        self._every = every
        self._written = False

    def wants(self, head: Head) -> bool:
        """Whether the entry that was just written is one after which a checkpoint is made."""
        self._written = True
        return self._every is not None and (head.seq + 1) % self._every == 0

    async def keep(self, make: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """Make it and hand it over; the entry is written already, so neither a cancel nor an error of the sink gets out of here."""
        assert self._sink is not None
        words = "a checkpoint"
        try:
            with trio.move_on_after(PATIENCE, shield=True) as limit:
                try:
                    checkpoint = await make()
                except Exception:
                    _log.exception("no checkpoint could be made")
                    return
                words = f"the checkpoint of {checkpoint['count']} entries"
                answer: Any = self._sink(checkpoint)
                if inspect.isawaitable(answer):
                    await answer
        except Exception:
            _log.exception("the sink did not take %s", words)
        if limit.cancelled_caught:
            _log.error("the sink did not take %s within %s s", words, PATIENCE)

    async def at_the_end(self, make: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        """One more checkpoint when anything was written; a trail that cannot be read any more has none."""
        if self._sink is not None and self._written:
            await self.keep(make)
