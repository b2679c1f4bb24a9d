"""The one driver of the engine on Trio: scopes, deadlines, the trail, and the hand-over of events.

The run lives in its caller's task. Each `__anext__` drives the engine to its next event and nothing goes on between two of
them, so no event is ever ahead of its reader and a `break` is safe. A scope is opened only where something is awaited: a step
has three such waits but four or more events, and a scope in Trio fires only once, so one a wait is both cheaper and simpler than
one an `__anext__`.

Who may cut what:

* planner, tool, gate, human, prepare, domain, describe, check: an abort, their own limit, the run's seconds, the caller;
* writing the trail: only `trail_timeout`, and the caller while the write has not begun; then the record goes out, shielded,
  with the stop record;
* closing a permit: nobody; it is bounded by the gate.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Final, Literal

import attrs
import trio

from ..actions import Allow, ApprovalRequest, Ask, CheckResult, Deny, Effect, Permit, ToolOutput
from ..errors import BusyError
from ..events import Aborted, ApprovalNeeded, Blocked, Done, LoopEvent, Outcome, StopEvent, event_to_json, outcome_of
from ..ports import Approver, Environment, Gate, Planner, TrailSink, WallClock
from ._budget import Budget
from ._effects import (
    Answer,
    AskHuman,
    AskPlanner,
    CheckInput,
    ClosePermit,
    Describe,
    Domain,
    Emit,
    EngineEffect,
    GateCheck,
    GateRedeem,
    Limit,
    LimitName,
    Note,
    Ok,
    Prepare,
    RunCheck,
    RunTool,
    Stop,
    StopCause,
    ToolEnd,
    TrailFailed,
    Turn,
)
from ._engine import Engine
from ._words import raised

STEP_SECONDS: Final = 30.0
"""Longest wait for one gate answer, `prepare`, `domain`, `describe` or completion check (ruling 7)."""
FRESH_SECONDS: Final = 1.0
"""A permit held for longer than this is asked whether it is still valid before its tool starts. Short against any change that a
person makes by hand, long against the loop's own work, so that the question costs nothing in a run that is not held up."""

CompletionCheck = Callable[[CheckInput], CheckResult | Awaitable[CheckResult]]


@attrs.frozen
class Within:
    """A limit on one wait, in seconds, and its name."""

    limit: LimitName
    seconds: float


STEP: Final = Within("step-seconds", STEP_SECONDS)
NO_LIMIT: Final = Within("planner-seconds", float("inf"))
TOOL: Final = Within("tool-seconds", float("inf"))


@attrs.define(kw_only=True)
class Waited:
    """How one wait ended: what it returned or raised, and whether an abort or a limit cut it (at which Trio time).

    The limit of a single step counts as a fault of that step (ruling 43), so it is in `fault` and not in `cut`.
    """

    value: Any = None
    returned: bool = False
    fault: Exception | None = None
    cut: Stop | Limit | None = None
    cut_at: float = 0.0


@attrs.frozen(kw_only=True)
class Statistics:
    """A snapshot of a run. Seconds are on Trio's clock; `human_seconds` are those in which a person was waited for."""

    step: int
    tokens: int
    tool_runs: int
    cost: None
    work_seconds: float
    human_seconds: float
    waiting_for: str | None
    """What is awaited now, such as ``planner`` or ``tool save_note``; None between two events."""
    waiting_since: float | None


@attrs.frozen(kw_only=True)
class Ports:
    """What the runner talks to."""

    planner: Planner
    gate: Gate
    definitions: list[dict[str, Any]]
    on_approval: Approver | None
    trail: TrailSink | None
    check: CompletionCheck | None
    environments: tuple[Environment, ...]
    wall_clock: WallClock
    budget: Budget
    cancel_grace: float
    trail_timeout: float


class LoopRun:
    """One run: an async context manager that is read with `async for`.

    Leaving the context ends the run and puts its end on record. After the stop event, iteration is over and the loop is free.
    """

    def __init__(
        self, *, run_id: str, engine: Engine, ports: Ports, acquire: Callable[[], None], release: Callable[[], None]
    ) -> None:
        self.id = run_id
        self._engine = engine
        self._ports = ports
        self._acquire = acquire
        self._release = release
        self._generator = engine.run()
        self._state: Literal["new", "open", "ended", "left"] = "new"
        self._driving = False
        self._idle = trio.Event()
        self._abort = False
        self._outcome: Outcome | None = None
        self._handed: Emit | None = None
        self._current: EngineEffect[Any] | None = None
        self._unwritten: Emit | Note | None = None
        self._scope: trio.CancelScope | None = None
        self._started_at = 0.0
        self._human_seconds = 0.0
        self._handed_at = 0.0
        self._waiting: tuple[str, float] | None = None
        self._judged_at = 0.0
        self._aborted_at: float | None = None
        self._ended_at: float | None = None
        self._reader: trio.lowlevel.Task | None = None
        self._wind_up_until: float | None = None
        self._hidden: BaseException | None = None
        self._tool_began = False

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
        if self._state not in ("new", "open") or self._abort:
            return
        self._abort = True
        if self._state == "open":
            self._aborted_at = trio.current_time()
        if self._scope is not None:
            self._scope.cancel()

    def pause(self) -> None:
        raise NotImplementedError("run.pause() is not available yet")

    def unpause(self) -> None:
        raise NotImplementedError("run.unpause() is not available yet")

    def statistics(self) -> Statistics:
        """Where the run is now."""
        now = 0.0
        if self._state != "new":
            now = self._ended_at if self._ended_at is not None else trio.current_time()
        human = self._human_seconds + self._held_human(now)
        return Statistics(
            step=self._engine.step,
            tokens=self._engine.tokens,
            tool_runs=self._engine.tool_runs,
            cost=None,
            work_seconds=max(0.0, now - self._started_at - human) if self._state != "new" else 0.0,
            human_seconds=human,
            waiting_for=self._waiting[0] if self._waiting is not None else None,
            waiting_since=self._waiting[1] if self._waiting is not None else None,
        )

    # Life

    # Ctrl-C is held back in our own code, so that it cannot fall between an act and its record; what we call is open to it.

    @trio.lowlevel.enable_ki_protection
    async def __aenter__(self) -> LoopRun:
        if self._state != "new":
            raise BusyError("this run was opened already; call loop.run(goal) again for another run")
        self._acquire()
        self._state = "open"
        self._started_at = trio.current_time()
        return self

    @trio.lowlevel.enable_ki_protection
    async def __aexit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._driving and self._reader is trio.lowlevel.current_task():
            raise BusyError("this run was left from inside one of its own tools or hooks; leave it where it was opened")
        if self._driving:
            # Another task still waits for an event. It gets `aborted`, and we leave when it has it.
            self.abort()
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
        if self._state == "new":
            raise BusyError("open the run first: async with loop.run(goal) as run")
        if self._state != "open":
            raise StopAsyncIteration
        if self._driving:
            raise BusyError("another task is waiting for the next event of this run; one reader at a time")
        self._driving, self._idle = True, trio.Event()
        self._reader = trio.lowlevel.current_task()
        try:
            return await self._drive(self._answer_to_handed())
        except GeneratorExit:
            # Somebody closed this coroutine: nothing can be awaited any more, not even the record of the end.
            self._finish(Aborted(step=self._engine.step))
            raise
        except BaseException as fault:
            # Cancelled from outside, or a fault of ours: the end of the run goes on record before anybody hears of it.
            await self._wind_up(_cause_of(fault))
            raise
        finally:
            self._driving, self._reader = False, None
            self._idle.set()

    async def _drive(self, answer: Answer | None) -> LoopEvent:
        """Send answers and perform effects until an event is on record and can be handed over."""
        while True:
            effect = self._send(answer)
            self._current = effect
            if isinstance(effect, Emit):
                failed = await self._record(effect)
                event = effect.event
                if failed is not None and not (isinstance(event, Blocked) and event.reason == "trail-failed"):
                    answer = failed
                    continue
                self._current = None
                self._hand_over(effect)
                return event
            answer = await self._perform(effect)

    def _send(self, answer: Answer | None) -> EngineEffect[Any]:
        return next(self._generator) if answer is None else self._generator.send(answer)

    def _hand_over(self, emit: Emit) -> None:
        self._handed = emit
        self._handed_at = trio.current_time()
        if isinstance(emit.event, Done | Blocked | Aborted):
            self._finish(emit.event)

    def _finish(self, event: StopEvent) -> None:
        self._outcome = outcome_of(event)
        self._end()

    def _end(self) -> None:
        """The run is over: the loop is free, and the generator, which has nothing left to say, goes."""
        if self._state == "open":
            self._state = "ended"
            self._ended_at = trio.current_time()
            self._release()

    def _answer_to_handed(self) -> Answer | None:
        """The consumer came back: the answer to the event it held; None before the first."""
        handed, self._handed = self._handed, None
        if handed is None:
            return None
        now = trio.current_time()
        if isinstance(handed.event, ApprovalNeeded):
            self._human_seconds += now - self._handed_at
        if self._abort:
            return Stop("abort")
        if now >= self._run_deadline():
            return Limit("seconds")
        return Ok()

    def _held_human(self, now: float) -> float:
        if self._handed is not None and isinstance(self._handed.event, ApprovalNeeded) and self._state == "open":
            return now - self._handed_at
        return 0.0

    # Deadlines

    def _run_deadline(self) -> float:
        return self._ports.budget.deadline(self._started_at + self._human_seconds)

    async def _wait(self, name: str, fn: Callable[[], Awaitable[Any]], within: Within, *, human: bool = False) -> Waited:
        """Await `fn()` until it ends, the nearest deadline passes, or the run is aborted; tells which, and what came all the same.

        Cancelled from outside passes through untouched.
        """
        now = trio.current_time()
        deadline, limit = now + within.seconds, within.limit
        if not human and self._run_deadline() <= deadline:
            deadline, limit = self._run_deadline(), "seconds"
        waited = Waited(cut_at=deadline)
        scope = trio.CancelScope(deadline=deadline)
        self._scope, self._waiting = scope, (name, now)
        if self._abort:
            scope.cancel()
        try:
            with scope:
                try:
                    # A cancel that came while a record was being written is seen before anything begins, not after.
                    await trio.lowlevel.checkpoint_if_cancelled()
                    waited.value = await _interruptible(fn)
                    waited.returned = True
                except BaseExceptionGroup as group:
                    # With a cancellation in it, it is a cancellation (GB-L18); the rest is kept for the record.
                    cancelled, rest = group.split(trio.Cancelled)
                    if cancelled is None or (rest is not None and not isinstance(rest, Exception)):
                        raise
                    self._hidden = waited.fault = rest
                    raise cancelled from None
        except Exception as fault:
            waited.fault = fault
        finally:
            self._scope, self._waiting = None, None
            if human:
                self._human_seconds += trio.current_time() - now
        # An abort or a limit wins over what came back late, which the caller may still want to have on record.
        if self._abort:
            waited.cut = Stop("abort")
            waited.cut_at = self._aborted_at if self._aborted_at is not None else now
        elif scope.cancelled_caught or trio.current_time() >= deadline:
            if limit == "step-seconds":
                waited.fault = TimeoutError(f"{name} took longer than {within.seconds:g} s")
            else:
                waited.cut = Limit(limit)
        return waited

    # Effects

    async def _perform(self, effect: EngineEffect[Any]) -> Answer:
        """One effect to its answer. Exceptions of what was called become answers; Cancelled passes."""
        match effect:
            case Note():
                failed = await self._record(effect)
                if failed is not None and effect.essential:
                    return failed
                return Stop("abort") if self._abort else Ok()
            case ClosePermit(permit=permit, how=how):
                return await self._close(permit, how)
            case Turn():
                return await self._turn(effect)
            case RunTool():
                return await self._run_tool(effect)
        try:
            waited = await self._call(effect)
            if (waited.cut or waited.fault) and isinstance(waited.value, Allow):
                await waited.value.permit.release()  # leave that came too late is given back; the use stays counted
            if waited.cut is not None:
                return waited.cut
            if waited.fault is not None:
                return raised(waited.fault)
            return Ok(_checked(effect, waited.value))
        except Exception as fault:
            return raised(fault)

    async def _close(self, permit: Permit, how: str) -> Answer:
        """Close a permit. Books that raise change nothing about what was done, so it is noted and the run goes on to its record."""
        try:
            await (permit.settle() if how == "settle" else permit.release())
        except Exception as fault:
            note = {"step": self._engine.step, "permit": permit.id, "how": how, "error": raised(fault).message}
            await self._record(Note("loop.permit-error", note, essential=False))
        return Ok()

    async def _call(self, effect: EngineEffect[Any]) -> Waited:
        """Call what the effect names. Sync hooks are called in place; their exceptions come out of here."""
        ports = self._ports
        match effect:
            case AskPlanner(messages=messages):
                return await self._wait("planner", lambda: ports.planner.chat(messages, tools=ports.definitions), NO_LIMIT)
            case Prepare(tool=tool, args=args, ctx=ctx):
                return await self._hook(f"prepare of {tool.name}", tool.prepare, copy.deepcopy(args), ctx)
            case Domain(tool=tool, args=args, ctx=ctx):
                if isinstance(tool.domain, str):
                    return Waited(value=tool.domain, returned=True)
                return await self._hook(f"domain of {tool.name}", tool.domain, args, ctx)
            case Describe(tool=tool, args=args, ctx=ctx):
                return await self._hook(f"describe of {tool.name}", tool.describe, args, ctx)
            case GateCheck(action=action, store_request=store):
                waited = await self._wait("gate", lambda: ports.gate.check(action, store_request=store), STEP)
            case GateRedeem(token=token, action=action):
                waited = await self._wait("gate", lambda: ports.gate.redeem(token, action), STEP)
            case AskHuman(request=request):
                return await self._ask_human(request)
            case RunCheck(input=given):
                return await self._hook("check", ports.check, given)
            case _:
                raise AssertionError(f"the engine asked for {effect!r}, which the runner does not know")
        self._judged_at = trio.current_time()
        return waited

    async def _ask_human(self, request: ApprovalRequest) -> Waited:
        approve = self._ports.on_approval
        assert approve is not None
        left = request.expires_at - self._ports.wall_clock()
        if left <= 0:
            return Waited(cut=Limit("approval-expired"))  # it expired while the consumer held the event: nobody is asked
        return await self._wait("human", lambda: approve(request), Within("approval-expired", left), human=True)

    async def _hook(self, name: str, hook: Any, *args: Any) -> Waited:
        """Call something that may be sync or async; a scope is only worth its price when there is something to await."""
        value = _called(hook, *args)
        if not inspect.isawaitable(value):
            return Waited(value=value, returned=True)
        return await self._wait(name, lambda: value, STEP)

    async def _turn(self, turn: Turn) -> Answer:
        """May this begin? A real checkpoint, so that an abort or a cancel that is pending is seen before and not after."""
        await trio.lowlevel.checkpoint()
        if self._abort:
            return Stop("abort")
        if turn.kind == "planner":
            for environment in self._ports.environments:
                waited = await self._wait("browser", environment.ready, STEP)
                if waited.fault is not None and waited.cut is None:
                    return raised(waited.fault)
        if self._abort:
            return Stop("abort")
        if trio.current_time() >= self._run_deadline():
            return Limit("seconds")
        if turn.permit is not None and trio.current_time() - self._judged_at > FRESH_SECONDS:
            waited = await self._wait("gate", turn.permit.valid, STEP)
            if waited.cut is not None:
                return waited.cut
            return Ok(waited.value is True)  # a gate that cannot tell is asked anew, and then says what is wrong
        return Ok(True)

    async def _run_tool(self, effect: RunTool) -> Answer:
        """Run what was allowed, with the permit's own copy of the arguments; the answer says what is known of the effect."""
        tool, allowed = effect.tool, effect.permit.action
        self._tool_began = False

        def begin() -> Awaitable[ToolOutput]:
            self._tool_began = True
            return tool.run(dict(allowed.args), effect.ctx)

        waited = await self._wait(f"tool {tool.name}", begin, TOOL, human=tool.human)
        reported = reported_effect(effect)
        fault = waited.fault
        if waited.returned and fault is None:
            fault = _fault_of(waited.value)
        if waited.cut is None:
            if fault is not None:
                return raised(fault, tool=ToolEnd(effect=reported))
            return Ok(ToolEnd(output=waited.value, effect=reported))
        await self._note_late(effect, waited.cut_at)
        if waited.returned and fault is None:
            end = ToolEnd(output=waited.value, effect=reported or Effect(state="done" if waited.value.ok else "unknown"))
        else:
            end = ToolEnd(effect=self._known_effect(effect), error=raised(fault).message if fault is not None else None)
        return attrs.evolve(waited.cut, tool=end)

    def _known_effect(self, effect: RunTool) -> Effect:
        """What is known of a tool that was cut: its own word, or that it never began; else it is unknown."""
        return reported_effect(effect) or Effect(state="unknown" if self._tool_began else "not-started")

    async def _note_late(self, effect: RunTool, cut_at: float) -> None:
        """A tool that went on for longer than the grace after it was cut is named in the trail, now that it has ended."""
        late = trio.current_time() - cut_at
        if late > self._ports.cancel_grace:
            data = {"step": self._engine.step, "id": effect.call_id, "name": effect.tool.name, "late_ms": round(late * 1000)}
            await self._record(Note("loop.late-tool", data, essential=False))

    # The trail

    async def _record(self, effect: Emit | Note) -> TrailFailed | None:
        """Write one entry; None when it is durable, else why not. Only its own limit cuts it, or the caller before it began."""
        trail = self._ports.trail
        if trail is None:
            return None
        if isinstance(effect, Emit):
            plain = event_to_json(effect.event)
            kind = f"loop.{plain.pop('type')}"
            data: dict[str, Any] = {**plain, "run": self.id, "record": {**effect.record, **self._times()}}
        else:
            kind, data = effect.kind, {**effect.data, "run": self.id}
        self._unwritten = effect
        error: Exception | None = None
        until = trio.current_time() + self._ports.trail_timeout
        if self._wind_up_until is not None:
            until = min(until, self._wind_up_until)
        with trio.move_on_at(until) as scope:
            try:
                await trail.append(actor="foxloop", kind=kind, data=data)
            except Exception as fault:
                error = fault
            self._unwritten = None
        if error is not None:
            return TrailFailed(raised(error).message)
        if self._unwritten is not None:
            assert scope.cancelled_caught
            self._unwritten = None
            return TrailFailed(f"the trail did not take the record within {self._ports.trail_timeout} s")
        return None

    def _times(self) -> dict[str, int]:
        now = trio.current_time()
        human = self._human_seconds
        return {"work_ms": round((now - self._started_at - human) * 1000), "human_ms": round(human * 1000)}

    async def _wind_up(self, cause: StopCause) -> None:
        """End the run from outside: shielded, and bounded as a whole; the record under way first, then the one stop record."""
        if self._state != "open":
            return
        unwritten, self._unwritten = self._unwritten, None
        handed, self._handed = self._handed, None
        started = handed is not None or self._current is not None
        event: StopEvent = Aborted(step=self._engine.step)
        self._wind_up_until = trio.current_time() + self._ports.trail_timeout
        try:
            with trio.CancelScope(shield=True):
                failed = await self._record(unwritten) if unwritten is not None else None
                if isinstance(unwritten, Emit) and failed is None and isinstance(unwritten.event, Done | Blocked | Aborted):
                    event = unwritten.event  # the run had ended; the cancel only held up its record
                else:
                    event = await self._drive_to_stop(cause, started=started)
        finally:
            self._finish(event)

    async def _drive_to_stop(self, cause: StopCause, *, started: bool) -> StopEvent:
        effect = self._current
        end = None
        if isinstance(effect, RunTool):
            error = raised(self._hidden).message if self._hidden is not None else None
            end = ToolEnd(effect=self._known_effect(effect), error=error)
        answer: Answer = Stop(cause, end)
        event: StopEvent = Aborted(step=self._engine.step)
        recorded = False
        try:
            if not started:
                self._send(None)
            while True:
                self._current = asked = self._generator.send(answer)
                if isinstance(asked, Emit):
                    failed = await self._record(asked)
                    if isinstance(asked.event, Done | Blocked | Aborted):
                        event, recorded = asked.event, True
                    answer = failed or Stop(cause)
                else:
                    answer = await self._perform(asked)
        except StopIteration:
            # The usual end. A generator that was spent before it said its stop event is a fault of ours; the end is recorded still.
            if not recorded:
                await self._record(Emit(event, {"cause": cause}))
            return event


@trio.lowlevel.disable_ki_protection
async def _interruptible(fn: Callable[[], Awaitable[Any]]) -> Any:
    """Call what is not ours: Ctrl-C may interrupt it."""
    return await fn()


@trio.lowlevel.disable_ki_protection
def _called(hook: Any, *args: Any) -> Any:
    return hook(*args)


def reported_effect(effect: RunTool) -> Effect | None:
    """What the tool itself said of its effect, if it said anything."""
    return effect.ctx._cell.effect


_PROMISED: dict[type[EngineEffect[Any]], tuple[str, Any]] = {
    Prepare: ("prepare", Mapping),
    Domain: ("domain", str),
    GateCheck: ("the gate", Allow | Ask | Deny),
    GateRedeem: ("the gate", Allow | Ask | Deny),
    RunCheck: ("check", CheckResult),
}
"""What a step must give back. Anything else is a fault of that step, and a fault never allows."""


def _checked(effect: EngineEffect[Any], value: Any) -> Any:
    """The value, in the type that the effect promises to the engine; raises TypeError for anything else."""
    if isinstance(effect, Describe):
        return str(value)
    if type(effect) in _PROMISED:
        who, kind = _PROMISED[type(effect)]
        if not isinstance(value, kind):
            raise TypeError(f"{who} answered {type(value).__name__}, not {getattr(kind, '__name__', kind)}")
    # A copy: what a tool's own code still holds and changes must not change what was judged (buglog B46).
    if isinstance(value, Allow) and not value.permit.alive:
        raise ValueError("the gate gave a permit that is closed already")
    if isinstance(effect, Domain):
        return str.__str__(value)  # a plain host name, also for a member of an enum
    return copy.deepcopy(dict(value)) if isinstance(effect, Prepare) else value


def _fault_of(output: object) -> Exception | None:
    """Why this is no tool output; None when it is one."""
    if not isinstance(output, ToolOutput):
        return TypeError(f"the tool returned {type(output).__name__}, not a ToolOutput")
    return None


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
