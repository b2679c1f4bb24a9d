"""Writing a run into its trail: one entry for each event and note, durable before the loop goes on.

Only `trail_timeout` cuts the wait for the trail's queue and lock, and the caller while the write has not begun; a record that was
pending then is kept in `unwritten`, to go out shielded with the stop record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..events import event_to_json
from ..ports import TrailSink
from ._effects import Emit, Note, TrailFailed
from ._shortcuts import shortcut
from ._words import raised


class Recorder:
    """`times` gives what each event's record says of the clocks."""

    def __init__(self, trail: TrailSink | None, *, run_id: str, timeout: float, times: Callable[[], dict[str, int]]) -> None:
        self._trail = trail
        self.on = trail is not None
        # One that waits for nothing needs no limit either. (A limit of nothing lets nothing through, though.)
        self._append_nowait = shortcut(trail, "append_nowait", "append") if timeout > 0 else None
        self._run_id = run_id
        self._timeout = timeout
        self._times = times
        self.unwritten: Emit | Note | None = None
        self.until: float | None = None
        """The end of all writing, as a Trio time, once the run is being wound up."""

    async def record(self, effect: Emit | Note) -> TrailFailed | None:
        """Write one entry; None when it is durable, else why not."""
        trail = self._trail
        if trail is None:
            return None
        if isinstance(effect, Emit):
            plain = event_to_json(effect.event)
            kind = f"loop.{plain.pop('type')}"
            data: dict[str, Any] = {**plain, "run": self._run_id, "record": {**effect.record, **self._times()}}
        else:
            kind, data = effect.kind, {**effect.data, "run": self._run_id}
        self.unwritten = effect
        if self._append_nowait is not None and self.until is None:
            await checkpoint_if_cancelled()
            try:
                self._append_nowait(actor="foxloop", kind=kind, data=data)
            except Exception as fault:
                return TrailFailed(raised(fault).message)
            finally:
                self.unwritten = None
            return None
        error: Exception | None = None
        until = trio.current_time() + self._timeout
        if self.until is not None:
            until = min(until, self.until)
        with trio.move_on_at(until) as scope:
            try:
                await trail.append(actor="foxloop", kind=kind, data=data)
            except Exception as fault:
                error = fault
            except BaseExceptionGroup as group:
                cancelled, rest = group.split(trio.Cancelled)
                if cancelled is None or not isinstance(rest, Exception):
                    raise
                error = rest
                raise cancelled from None
            self.unwritten = None
        if error is not None:
            return TrailFailed(raised(error).message)
        if self.unwritten is not None:
            assert scope.cancelled_caught
            self.unwritten = None
            return TrailFailed(f"the trail did not take the record within {self._timeout} s (trail_timeout)")
        return None
