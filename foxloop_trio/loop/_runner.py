"""The one driver of the engine on Trio: a run's life, and the hand-over of its events.

The run lives in its caller's task. Each `__anext__` drives the engine to its next event and nothing goes on between two of
them, so no event is ever ahead of its reader and a `break` is safe. What the engine asks for is done in `_performing`, within the
waits of `_waits`, and put on record in `_recording`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from types import TracebackType
from typing import Any, Final, Literal, NoReturn, get_args

import attrs
import trio
from trio.lowlevel import checkpoint_if_cancelled, current_task

from ..actions import Money
from ..errors import BusyError
from ..events import STOP_EVENTS, Aborted, ApprovalNeeded, Blocked, Done, LoopEvent, Outcome, StopEvent, outcome_of
from ..guarding import GuardChain
from ._effects import OK, YES, Answer, Emit, EngineEffect, Limit, Steps, Stop, StopCause, Turn, as_effect
from ._engine import Engine
from ._outside import Ports
from ._performing import HANDLERS, Performer
from ._recording import Recorder
from ._waits import Waits


@attrs.frozen(kw_only=True)
class Statistics:
    """A snapshot of a run. Seconds are on Trio's clock; `human_seconds` are those in which a person was waited for."""

    step: int
    tokens: int
    tool_runs: int
    cost: Money | None
    work_seconds: float
    human_seconds: float
    waiting_for: str | None
    """What is awaited now, such as ``planner`` or ``tool save_note``; None between two events."""
    waiting_since: float | None


NOTABLE: Final = STOP_EVENTS | {ApprovalNeeded}
"""Events with which more begins or ends than one step."""
PASSING: Final = frozenset(get_args(LoopEvent)) - NOTABLE

STOP_RESERVE: Final = 1.0
"""Seconds of `trail_timeout` (at most half of it) that what goes before the stop record leaves to it. Ours."""


class LoopRun:
    """One run: an async context manager that is read with `async for`.

    Leaving the context ends the run and puts its end on record. After the stop event, iteration is over and the loop is free.
    """

    def __init__(
        self,
        *,
        run_id: str,
        engine: Engine,
        ports: Ports,
        acquire: Callable[[], None],
        release: Callable[[], None],
        steps: Steps[None] | None = None,
        carried: tuple[float, float] = (0.0, 0.0),
        guards: GuardChain | None = None,
    ) -> None:
        """`steps` are the engine's effects when they do not begin at the beginning; `carried` the seconds of work and of people
        that were spent before."""
        self.id = run_id
        self._engine = engine
        self._acquire = acquire
        self._release = release
        self._guards = guards
        self._generator = engine.run() if steps is None else steps
        self._carried = carried
        self._waits = Waits(ports.budget.work_seconds)
        self._recorder = Recorder(ports.trail, run_id=run_id, timeout=ports.trail_timeout, times=self._waits.times)
        self._performer = Performer(ports, engine, self._waits, self._recorder, guards)
        self._parts = self._waits, self._generator.send, self._performer
        self._trail_timeout = ports.trail_timeout
        self._state: Literal["new", "open", "ended", "left"] = "new"
        self._outcome: Outcome | None = None
        self._begun = False
        self._usual = False
        """The consumer holds an event, and one whose answer is `OK` as long as nothing has stopped or paused the run."""
        self._current: EngineEffect[Any] | None = None
        self._handed_at: float | None = None
        """Since when the consumer holds what a human is asked; None when it holds anything else."""
        self._idle: trio.Event | None = None
        self._leaving = False
        self._wound_up_by = 0.0
        self._ended_at: float | None = None

    def __repr__(self) -> str:
        return f"<LoopRun {self.id} {self._state} step={self._engine.step}>"

    # What the host sees

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended; None until then."""
        return self._outcome

    def abort(self) -> None:
        """Stop the run from any task of the same Trio run: what is in flight is cancelled, and the next event is `aborted`.

        Does nothing once the run has ended.
        """
        if self._state in ("new", "open") and not self._waits.aborted:
            self._waits.abort(trio.current_time() if self._state == "open" else None)

    def pause(self) -> None:
        """Begin nothing new: no planner call, tool or approval; what is in flight ends. Paused time is a human's time.

        An abort, the expiry of a request that waits, and a lost browser wake a paused run. A plain function, from any task of the
        same Trio run; pausing twice is pausing once.
        """
        self._waits.pause()

    def unpause(self) -> None:
        """Go on. Does nothing when the run is not paused."""
        self._waits.unpause()

    def statistics(self) -> Statistics:
        """Where the run is now."""
        now = 0.0
        if self._state != "new":
            now = self._ended_at if self._ended_at is not None else trio.current_time()
        human = self._waits.human_until(now) + self._held_human(now)
        waiting = self._waits.now_waiting
        return Statistics(
            step=self._engine.step,
            tokens=self._engine.tokens,
            tool_runs=self._engine.tool_runs,
            cost=self._engine.cost,
            work_seconds=max(0.0, now - self._waits.started_at - human) if self._state != "new" else 0.0,
            human_seconds=human,
            waiting_for=waiting[0] if waiting is not None else None,
            waiting_since=waiting[1] if waiting is not None else None,
        )

    # Life. Ctrl-C is held back in all of it, so that it cannot fall between an act and its record.

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> LoopRun:
        if self._state != "new":
            raise BusyError("this run was opened already; call loop.run(goal) again for another run")
        self._acquire()
        if self._guards is not None:
            try:
                self._guards.take()
            except BaseException:
                self._release()
                raise
        self._state = "open"
        work, human = self._carried
        self._waits.clock = trio.lowlevel.current_clock().current_time
        self._waits.started_at = self._waits.clock() - work - human
        self._waits.human_seconds = human
        return self

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._waits.reader is not None:
            if trio.lowlevel.current_task() in (self._waits.reader, self._waits.helper):
                raise BusyError("this run was left from inside one of its own tools or hooks; leave it where it was opened")
            # Another task still waits for an event. It gets the next one, most likely `aborted`, and no other after it.
            self.abort()
            self._leaving = True
            self._idle = trio.Event()
            with trio.CancelScope(shield=True):
                await self._idle.wait()
        try:
            await self._wind_up(_cause_of(fault))
        finally:
            self._end()
            self._state = "left"

    def __aiter__(self) -> AsyncIterator[LoopEvent]:
        return self

    @trio.lowlevel.enable_ki_protection
    async def __anext__(self) -> LoopEvent:
        waits, send, performer = self._parts
        if waits.reader is not None or self._state != "open" or self._leaving:
            self._turn_away()
        waits.reader = current_task()
        try:
            # Send answers and perform effects until an event is on record and can be handed over.
            answer = OK if self._usual and waits.quiet else self._answer_to_handed()
            while True:
                effect: Any = send(answer)  # type: ignore[arg-type]
                kind = type(effect)
                if kind in PASSING:
                    return effect  # type: ignore[no-any-return]
                self._current = effect
                if kind is Turn and performer.may_begin(effect):
                    await checkpoint_if_cancelled()
                    answer = YES
                elif kind is Emit:
                    event: LoopEvent = effect.event
                    answer = await self._recorder.record(effect)
                    if answer is None or (isinstance(event, Blocked) and event.reason == "trail-failed"):
                        if type(event) in NOTABLE:
                            self._hand_over(event)
                        return event
                elif kind in NOTABLE:
                    self._hand_over(effect)
                    return effect  # type: ignore[no-any-return]
                else:
                    answer = await HANDLERS[kind](performer, effect)
        except GeneratorExit:
            # Somebody closed this coroutine: nothing can be awaited any more, not even the record of the end.
            self._finish(Aborted(step=self._engine.step))
            raise
        except BaseException as fault:
            # Cancelled from outside, or a fault of ours: the end of the run goes on record before anybody hears of it.
            await self._wind_up(_cause_of(fault))
            raise
        finally:
            waits.reader = None
            if self._idle is not None:
                self._idle.set()

    def _turn_away(self) -> NoReturn:
        """There is no event for whoever asks now."""
        if self._state == "new":
            raise BusyError("open the run first: async with loop.run(goal) as run")
        if self._state != "open" or self._leaving:
            raise StopAsyncIteration
        raise BusyError("another task is waiting for the next event of this run; one reader at a time")

    def _hand_over(self, event: LoopEvent) -> None:
        """The consumer gets an event with which more begins or ends than one step."""
        if isinstance(event, ApprovalNeeded):
            self._handed_at, self._usual = self._waits.clock(), False
        elif isinstance(event, Done | Blocked | Aborted):
            self._finish(event)

    def _finish(self, event: StopEvent) -> None:
        self._outcome = outcome_of(event)
        self._end()

    def _end(self) -> None:
        """The run is over: the loop is free, and the generator, which has nothing left to say, goes."""
        if self._state == "open":
            self._state = "ended"
            self._ended_at = trio.current_time()
            self._release()
            if self._guards is not None and self._engine.guards is not None:
                self._guards.close(self._engine.guards.state)

    def _answer_to_handed(self) -> Answer | None:
        """The answer to the event that the consumer held, when the time it took or something meanwhile makes a difference; None
        before the first effect, as every generator wants it."""
        waits, self._usual = self._waits, True
        if not self._begun:
            self._begun = True
            return None
        if self._handed_at is not None:
            waits.human_seconds += waits.clock() - self._handed_at
            self._handed_at = None
        if waits.aborted:
            return Stop("abort")
        return Limit("seconds") if waits.out_of_time() else OK

    def _held_human(self, now: float) -> float:
        return now - self._handed_at if self._handed_at is not None and self._state == "open" else 0.0

    # The end from outside

    async def _wind_up(self, cause: StopCause) -> None:
        """End the run from outside: shielded, and bounded as a whole; the record under way first, then the one stop record."""
        if self._state != "open":
            return
        unwritten, self._recorder.unwritten = self._recorder.unwritten, None
        self._waits.human_seconds += self._held_human(trio.current_time())
        self._handed_at = None
        event: StopEvent = Aborted(step=self._engine.step)
        self._wound_up_by = trio.current_time() + self._trail_timeout
        self._recorder.until = self._wound_up_by - min(STOP_RESERVE, self._trail_timeout / 2)
        try:
            with trio.CancelScope(shield=True):
                failed = await self._recorder.record(unwritten) if unwritten is not None else None
                if isinstance(unwritten, Emit) and failed is None and isinstance(unwritten.event, Done | Blocked | Aborted):
                    event = unwritten.event  # the run had ended; the cancel only held up its record
                else:
                    event = await self._drive_to_stop(cause)
        finally:
            self._finish(event)

    async def _drive_to_stop(self, cause: StopCause) -> StopEvent:
        answer: Answer = Stop(cause, self._performer.end_of(self._current))
        event: StopEvent = Aborted(step=self._engine.step)
        recorded = False
        try:
            if not self._begun:
                next(self._generator)
            while True:
                self._current = asked = as_effect(self._generator.send(answer))
                if isinstance(asked, Emit):
                    self._recorder.until = self._wound_up_by
                    failed = await self._recorder.record(asked)
                    if isinstance(asked.event, Done | Blocked | Aborted):
                        event, recorded = asked.event, True
                    answer = failed or Stop(cause)
                else:
                    answer = await self._performer.perform(asked)
        except StopIteration:
            # The usual end. A generator that was spent before it said its stop event is a fault of ours; what is open is closed and
            # the end is recorded still.
            if not recorded:
                for left in self._engine.close_up():
                    await self._performer.perform(left)
                self._recorder.until = self._wound_up_by
                await self._recorder.record(Emit(event, {"cause": cause}))
            return event


def _cause_of(fault: BaseException | None) -> StopCause:
    """Why a run ends from outside. A group with a cancellation in it is a cancellation (GB-L18)."""
    if fault is None:
        return "left"
    leaves: list[BaseException] = [fault]
    while leaves:
        leaf = leaves.pop()
        if isinstance(leaf, trio.Cancelled):
            return "cancelled"
        if isinstance(leaf, BaseExceptionGroup):
            leaves.extend(leaf.exceptions)
    return "error"
