"""Taking turns, first come first served: what a `trio.Lock` does, for a part that takes its turn in every decision.

A turn that nobody waits for costs no call into Trio. Asking for one's own turn again is an error and not a deadlock.
"""

from __future__ import annotations

from typing import final

import trio


@final
class Turns:
    """One at a time, in the order of asking."""

    __slots__ = ("_lot", "_owner")

    def __init__(self) -> None:
        self._owner: trio.lowlevel.Task | None = None
        self._lot = trio.lowlevel.ParkingLot()

    def take_nowait(self) -> bool:
        """Take the turn when nobody has it or waits for it; whether it was taken. Raises RuntimeError when this task has it."""
        task = trio.lowlevel.current_task()
        if self._owner is None:
            self._owner = task
            return True
        if self._owner is task:
            raise RuntimeError("this task has its turn already; it would wait for itself")
        return False

    async def take(self) -> None:
        """Wait for the turn. A checkpoint when somebody else has it, and none when not; cancelled, it is not taken."""
        if not self.take_nowait():
            await self._lot.park()

    def give(self) -> None:
        """Hand it to whoever waited longest."""
        self._owner = self._lot.unpark()[0] if self._lot else None
