"""Every wait of a run: who may cut it, when, and what it was that cut it; and the two clocks, of work and of people.

A scope is opened only where something is awaited: a step has three such waits but four or more events, and a scope in Trio fires
only once, so one a wait is both cheaper and simpler than one an `__anext__`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from math import inf as NEVER  # noqa: N812  # a limit that is none
from typing import Any, Final, Literal

import attrs
import trio
from trio import CancelScope, current_time
from trio.lowlevel import checkpoint_if_cancelled

from ..actions import unchecked
from ..events import LimitName
from ._effects import Limit, Ok, Stop
from ._interruptible import interruptible

STEP_SECONDS: Final = 30.0
"""Longest wait for one gate answer, `prepare`, `domain`, `describe` or completion check (ruling 7)."""

WaitLimit = LimitName | Literal["step_seconds"]


_ok = unchecked(Ok)


@attrs.define
class Waited:
    """How a wait ended in any other way than by returning undisturbed: what it returned or raised, and whether an abort or a limit
    cut it (at which Trio time).

    The limit of a single step counts as a fault of that step (ruling 43), so it is in `fault` and not in `cut`.
    """

    value: Any = None
    returned: bool = False
    fault: Exception | None = None
    cut: Stop | Limit | None = None
    cut_at: float = 0.0


class Waits:
    """The waits of one run. `work_seconds`: how long it may work, waiting for people not counted; may be infinite."""

    def __init__(self, work_seconds: float) -> None:
        self._work_seconds = work_seconds
        self._limited = work_seconds != NEVER
        self.quiet = not self._limited
        """Nothing can have stopped the run meanwhile: no abort, no pause, and no end of its work time. So nobody need look."""
        self.rested = False
        """Whether other tasks have had their turn since the planner was last about to be asked."""
        self.rested_since_tool = False
        """The same, since a tool last began."""
        self.clock: Callable[[], float] = current_time
        """Tells Trio's time. Once the run is open it is its clock's own method, which saves asking Trio for the clock each time."""
        self.now = 0.0
        """The time of the last look at the clock before a tool; good for the wait that comes right after it."""
        self.started_at = 0.0
        self.human_seconds = 0.0
        self.aborted = False
        self.aborted_at: float | None = None
        self.now_waiting: tuple[str, float] | None = None
        """What is awaited now, and since when; None between two waits."""
        self.hidden: Exception | None = None
        """What was raised beside a cancellation in this wait, and would be lost with it."""
        self.reader: trio.lowlevel.Task | None = None
        """The task that waits for an event."""
        self.helper: trio.lowlevel.Task | None = None
        """The task beside the reader's, while settle races the planner."""
        self._human_since: float | None = None
        self._scope: trio.CancelScope | None = None
        self._unpaused: trio.Event | None = None

    # Stopping and pausing, from any task

    def abort(self, now: float | None) -> None:
        self.aborted, self.aborted_at = True, now
        self.quiet = False
        if self._scope is not None:
            self._scope.cancel()

    def pause(self) -> None:
        if self._unpaused is None:
            self._unpaused = trio.Event()
            self.quiet = False

    def unpause(self) -> None:
        if self._unpaused is not None:
            self._unpaused.set()
            self._unpaused = None
            self.quiet = not (self.aborted or self._limited)

    @property
    def paused(self) -> bool:
        return self._unpaused is not None

    async def until_unpaused(self) -> None:
        while self._unpaused is not None:  # paused again before we were woken: go on waiting
            await self._unpaused.wait()

    def human_until(self, now: float) -> float:
        """Seconds in which a person was waited for, those of a wait that still goes on included."""
        return self.human_seconds + (now - self._human_since if self._human_since is not None else 0.0)

    def times(self) -> dict[str, int]:
        """What each event's record says of the clocks."""
        work = self.clock() - self.started_at - self.human_seconds
        return {"work_ms": round(work * 1000), "human_ms": round(self.human_seconds * 1000)}

    # Waiting

    def out_of_time(self) -> bool:
        """Whether the run's work time is used up."""
        return self._limited and self.clock() >= self.started_at + self.human_seconds + self._work_seconds

    def others_had_their_turn(self) -> None:
        self.rested = self.rested_since_tool = True

    async def wait(
        self,
        name: str,
        limit: WaitLimit,
        seconds: float,
        fn: Callable[..., Awaitable[Any]],
        *args: Any,
        human: bool = False,
        watched: bool = False,
        turned: bool = False,
    ) -> Ok | Waited:
        """Await `fn(*args)` until it ends, `limit` or the run's deadline passes, or the run is aborted: `Ok` when it returned and
        nothing of that came, else a `Waited` that tells which.

        What came all the same, late, is told too. Cancelled from outside passes through untouched. `watched`: whether other tasks
        get their turn in this wait is noted. `turned`: a cancel that was pending was looked for right before; and for a tool, which
        is not watched, the clock.
        """
        quick = self.quiet and seconds == NEVER and not human  # only an abort to come, or a cancel from outside, can cut it
        now = self.now if turned and not watched else self.clock()
        deadline = NEVER
        if not quick and (seconds != NEVER or (self._limited and not human)):
            deadline = now + seconds
            if not human:
                run_deadline = self.started_at + self.human_seconds + self._work_seconds
                if run_deadline <= deadline:
                    deadline, limit = run_deadline, "seconds"
        self._scope = scope = CancelScope() if deadline == NEVER else CancelScope(deadline=deadline)
        self.now_waiting, self.hidden = (name, now), None
        if not quick:
            if human:
                self._human_since = now
            if self.aborted:
                scope.cancel()
        value: Any = None
        returned = False
        fault: Exception | None = None
        sleeper = self.reader if watched else None
        if sleeper is not None:
            # Trio clears this whenever a task has slept, so afterwards it says whether others had their turn.
            before, sleeper.custom_sleep_data = sleeper.custom_sleep_data, self
        try:
            with scope:
                try:
                    if not (turned and quick):
                        # A cancel that came while a record was being written is seen before anything begins, not after.
                        await checkpoint_if_cancelled()
                    value = await interruptible(fn, *args)
                    returned = True
                except BaseExceptionGroup as group:
                    # With a cancellation in it, it is a cancellation (GB-L18); the rest is kept for the record.
                    cancelled, rest = group.split(trio.Cancelled)
                    if cancelled is None or (rest is not None and not isinstance(rest, Exception)):
                        raise
                    # What settle's race has kept already stays, when there is nothing more.
                    fault = rest
                    self.hidden = rest or self.hidden
                    raise cancelled from None
        except Exception as error:
            fault = error
        finally:
            self._scope = self.now_waiting = None
            if sleeper is not None:
                if sleeper.custom_sleep_data is self:
                    sleeper.custom_sleep_data = before
                else:
                    self.rested = self.rested_since_tool = True
            if human:
                self._human_since = None
                self.human_seconds += self.clock() - now
        if quick and returned and fault is None and self.quiet:
            return _ok(value)
        # An abort or a limit wins over what came back late, which the caller may still want to have on record.
        waited = Waited(value, returned, fault)
        if self.aborted:
            waited.cut, waited.cut_at = Stop("abort"), self.aborted_at if self.aborted_at is not None else now
            waited.fault = waited.fault or self.hidden
        elif scope.cancelled_caught or (deadline != NEVER and self.clock() >= deadline):
            waited.cut_at = deadline
            if limit == "step_seconds":
                waited.fault = TimeoutError(f"{name} took longer than {seconds:g} s")
            else:
                waited.cut = Limit(limit)
        return Ok(value) if returned and waited.cut is None and waited.fault is None else waited
