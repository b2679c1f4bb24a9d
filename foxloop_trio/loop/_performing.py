"""From an effect to its answer: the only place that calls planner, gate, tools, hooks and the human.

Who may cut what:

* planner, tool, gate, human, prepare, domain, describe, check, settle: an abort, their own limit, the run's seconds, the caller;
* writing the trail: see `_recording`;
* closing a permit: nobody; it is bounded by the gate.

Whatever a port raises becomes an answer; Cancelled passes.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

import attrs
import trio
from trio.lowlevel import checkpoint_if_cancelled

from ..actions import Allow, CheckResult, Effect, Permit, ToolOutput, copied, unchecked
from ..actions._run import acting_for_run
from ..guarding import GuardChain, Said
from ..ports import ChatReply
from ._effects import (
    OK,
    YES,
    Answer,
    AskGuards,
    AskHuman,
    AskPlanner,
    ClosePermit,
    Describe,
    Domain,
    EngineEffect,
    GateCheck,
    GateRedeem,
    Limit,
    Note,
    Ok,
    Prepare,
    Redact,
    Retry,
    RunCheck,
    RunTool,
    Stop,
    ToolEnd,
    Turn,
)
from ._engine import Engine
from ._interruptible import called
from ._outside import Ports
from ._promised import decided, host_name, prepared
from ._race import Race
from ._recording import Recorder
from ._shortcuts import shortcut
from ._waits import STEP_SECONDS, Waited, WaitLimit, Waits
from ._words import raised

FRESH_SECONDS: Final = 1.0
"""A permit held for longer than this is asked whether it is still valid before its tool starts. Short against any change that a
person makes by hand, long against the loop's own work, so that the question costs nothing in a run that is not held up."""

_ok = unchecked(Ok)


class Performer:
    """Performs the effects of one run."""

    def __init__(self, ports: Ports, engine: Engine, waits: Waits, recorder: Recorder, guards: GuardChain | None = None) -> None:
        self._ports = ports
        self._guards = guards
        self._engine = engine
        self._asks_environments = bool(ports.environments)
        self._acting = acting_for_run(engine.run_id)
        """Around what the gate is asked, so that what a grant allows per run is counted per run."""
        self._waits = waits
        self._recorder = recorder
        self._chat = partial(ports.planner.chat, tools=ports.definitions)
        self._check_now = shortcut(ports.gate, "check_now", "check")
        self._planner_seconds = _seconds(ports.budget.planner_seconds)
        self._tool_seconds = _seconds(ports.budget.tool_seconds)
        self._approval_seconds = _seconds(ports.budget.approval_seconds)
        self._judged_at = 0.0
        self._turned = False
        self._tool_began = False
        self._end: ToolEnd | None = None

    async def perform(self, effect: EngineEffect[Any]) -> Answer:
        """One effect to its answer."""
        return await HANDLERS[type(effect)](self, effect)

    # May it begin?

    def may_begin(self, turn: Turn) -> bool:
        """Whether this may begin, as far as nothing need be awaited but a look at whether a cancel is pending; see `_turn`.

        What comes right after it need not look again.
        """
        waits = self._waits
        if not waits.quiet:
            plain = False
        elif turn.kind == "tool":
            waits.now = now = waits.clock()
            plain = waits.rested_since_tool and now - self._judged_at <= FRESH_SECONDS
        else:
            plain = waits.rested and turn.kind == "planner" and not self._asks_environments
            if plain:
                waits.rested = False
        self._turned = plain
        return plain

    async def _turn(self, turn: Turn) -> Answer:
        """A checkpoint, so that an abort or a cancel that is pending is seen before and not after.

        It is a full one when nothing has given other tasks their turn: since the planner's last turn before a planner, and since
        the last tool began before a tool.
        """
        waits = self._waits
        kind, permit = turn.kind, turn.permit
        if waits.rested_since_tool if kind == "tool" else waits.rested:
            await checkpoint_if_cancelled()
        else:
            await trio.lowlevel.checkpoint()
            waits.others_had_their_turn()
        if kind == "planner":
            waits.rested = False
        if waits.paused:
            cut = await self._while_paused(turn.expires_at)
            if cut is not None:
                return cut
        if kind == "planner":
            for environment in self._ports.environments:
                waited = await self._wait_step("browser", environment.ready)
                if isinstance(waited, Waited) and waited.cut is None:
                    return _answer(waited)
        if waits.aborted:
            return Stop("abort")
        if waits.out_of_time():
            return Limit("seconds")
        if permit is not None and waits.clock() - self._judged_at > FRESH_SECONDS:
            waited = await self._wait_step("gate", permit.valid)
            if isinstance(waited, Waited) and waited.cut is not None:
                return waited.cut
            if waited.value is not True:
                return Ok(False)  # a gate that cannot tell is asked anew, and then says what is wrong
        # Paused while something here was awaited: the whole question again, the permit included.
        return await self._turn(turn) if waits.paused else YES

    async def _while_paused(self, expires_at: float | None = None) -> Answer | None:
        """Wait until the run goes on; an abort, the request's expiry, or the loss of an environment ends the wait too."""
        left = math.inf if expires_at is None else max(0.0, expires_at - self._ports.wall_clock())
        waited = await self._waits.wait("pause", "expires_at", left, self._unpaused_or_lost, human=True)
        if isinstance(waited, Waited):
            return waited.cut if waited.cut is not None else _answer(waited)
        return None

    async def _unpaused_or_lost(self) -> None:
        async with trio.open_nursery() as nursery:

            async def watch(wait_lost: Callable[[], Awaitable[object]]) -> None:
                await wait_lost()
                nursery.cancel_scope.cancel()

            for environment in self._ports.environments:
                wait_lost = getattr(environment, "wait_lost", None)
                if wait_lost is not None:
                    nursery.start_soon(watch, wait_lost)
            await self._waits.until_unpaused()
            nursery.cancel_scope.cancel()
        for environment in self._ports.environments:
            await environment.ready()  # raises what the loss is

    # The planner

    async def _ask_planner(self, effect: AskPlanner) -> Answer:
        turned, self._turned = self._turned, False
        waits = self._waits
        if not waits.quiet and waits.paused:  # since its turn, while the observation was put on record
            cut = await self._while_paused()
            if cut is not None:
                return cut
        limit: WaitLimit = "planner_seconds"
        seconds = self._planner_seconds
        if self._guards is not None:
            limit, seconds = self._guarded(self._guards, limit, seconds)
        if effect.settle is None:
            waited = await waits.wait("planner", limit, seconds, self._chat, effect.messages, watched=True, turned=turned)
            if type(waited.value) is not ChatReply:
                waited.value = _exact(waited.value, ChatReply)
            return waited if type(waited) is Ok else _answer(waited)
        race = Race(self._ports, waits, effect)
        waited = await waits.wait("planner", limit, seconds, race.run)
        if race.settle_fault is not None:
            error = self._engine.masks.text(raised(race.settle_fault).message)
            await self._recorder.record(Note("loop.settle-error", {"step": self._engine.step, "error": error}, essential=False))
        return _answer(waited)

    # The guards

    async def _ask_guards(self, effect: AskGuards) -> Answer:
        """All of them in turn, in one wait of at most 30 s; one that fails is on record, and closed as the chain says."""
        assert self._guards is not None
        self._turned = False
        moment = effect.moment
        if not self._guards.listens(moment):
            return Ok(Said())
        ask = self._guards.start if moment == "on_run_start" else getattr(self._guards, moment)
        waited = await self._wait_step(f"guards {moment}", ask, *effect.args)
        if isinstance(waited, Waited) and waited.cut is None and waited.fault is not None:
            await self._note_guard(moment, "guards", waited.fault)
        elif waited.value is not None:
            for name, fault in waited.value.faults:
                await self._note_guard(moment, name, fault)
        return _answer(waited)

    async def _note_guard(self, moment: str, name: str, fault: Exception) -> None:
        error = self._engine.masks.text(raised(fault).message)
        data = {"step": self._engine.step, "moment": moment, "guard": name, "error": error}
        await self._recorder.record(Note("loop.guard-error", data, essential=False))

    def _guarded(self, guards: GuardChain, limit: WaitLimit, seconds: float) -> tuple[WaitLimit, float]:
        """The limit of a planner's or a tool's wait; or a guard's deadline, when that is nearer."""
        assert self._engine.guards is not None
        left = guards.deadline(self._engine.guards.state) - self._waits.clock()
        return ("seconds", max(0.0, left)) if left < seconds else (limit, seconds)

    # The tool's own functions

    async def _redact(self, effect: Redact) -> Answer:
        """Called before the first record of a call, so nothing is awaited here: what is async cannot have its word in time."""
        assert effect.tool.redact is not None
        try:
            shown = called(effect.tool.redact, effect.args)
            if not isinstance(shown, dict):
                raise TypeError(f"redact answered {type(shown).__name__}, not a dict")
            return Ok(copied(shown))
        except Exception as fault:
            return raised(fault)

    async def _prepare(self, effect: Prepare) -> Answer:
        answer = await self._hook(f"prepare of {effect.tool.name}", Mapping, effect.tool.prepare, effect.args, effect.ctx)
        if not isinstance(answer, Ok):
            return answer
        try:
            return Ok(prepared(answer.value))
        except Exception as fault:
            return raised(fault)

    async def _domain(self, effect: Domain) -> Answer:
        answer = await self._hook(f"domain of {effect.tool.name}", str, effect.tool.domain, effect.args, effect.ctx)
        return Ok(host_name(answer.value)) if isinstance(answer, Ok) else answer

    async def _describe(self, effect: Describe) -> Answer:
        answer = await self._hook(f"describe of {effect.tool.name}", object, effect.tool.describe, effect.args, effect.ctx)
        if not isinstance(answer, Ok):
            return answer
        try:
            return Ok(str(answer.value))
        except Exception as fault:
            return raised(fault)

    async def _run_check(self, effect: RunCheck) -> Answer:
        return await self._hook("check", CheckResult, self._ports.check, effect.input)

    async def _retry(self, effect: Retry) -> Answer:
        answer = await self._hook("denials.retry", object, self._ports.retry, effect.reason)
        try:
            return Ok(bool(answer.value)) if isinstance(answer, Ok) else answer
        except Exception as fault:
            return raised(fault)

    async def _hook(self, name: str, promised: Any, hook: Any, *args: Any) -> Answer:
        """Call something that may be sync or async; a scope is only worth its price when there is something to await."""
        try:
            value = called(hook, *args)
        except Exception as fault:
            return raised(fault)
        if inspect.isawaitable(value):
            try:
                waited = await self._wait_step(name, _itself, value)
            finally:
                if inspect.iscoroutine(value):
                    value.close()  # one that a cancel reached before it began
            if isinstance(waited, Waited):
                return _answer(waited)
            value = waited.value
        if promised is CheckResult:
            value = _exact(value, CheckResult)
        if not isinstance(value, promised):
            return raised(TypeError(f"{name.split(' ')[0]} answered {type(value).__name__}, not {promised.__name__}"))
        return Ok(value)

    def _wait_step(self, name: str, fn: Callable[..., Awaitable[Any]], *args: Any) -> Awaitable[Ok | Waited]:
        return self._waits.wait(name, "step_seconds", STEP_SECONDS, fn, *args)

    # The gate and the human

    async def _gate_check(self, effect: GateCheck) -> Answer:
        waits, check_now = self._waits, self._check_now
        if check_now is None or not waits.quiet:
            return await self._judged(self._check(effect), effect.action)
        if not effect.store_request:
            check_now = partial(check_now, store_request=False)
        # Nothing is awaited when the gate can say it at once. What may cut a wait is looked at all the same, before and after; a
        # function that blocks cannot be cut.
        await checkpoint_if_cancelled()
        decision: Any = None
        fault: Exception | None = None
        try:
            with self._acting:
                decision = called(check_now, effect.action)
        except Exception as error:
            fault = error
        self._judged_at = waits.clock()
        if waits.aborted:
            return await self._given_back(Waited(decision, fault is None, fault, Stop("abort")))
        if fault is not None:
            return raised(fault)
        return self._decided(decision) if decision is not None else await self._judged(self._check(effect), effect.action)

    def _check(self, effect: GateCheck) -> Callable[..., Awaitable[Any]]:
        check: Callable[..., Awaitable[Any]] = self._ports.gate.check
        return check if effect.store_request else partial(check, store_request=False)

    async def _gate_redeem(self, effect: GateRedeem) -> Answer:
        return await self._judged(self._ports.gate.redeem, effect.token, effect.action)

    async def _judged(self, ask: Callable[..., Awaitable[Any]], *args: Any) -> Answer:
        """A decision, or why there is none. Leave that came too late is given back; the use stays counted."""
        with self._acting:
            waited = await self._waits.wait("gate", "step_seconds", STEP_SECONDS, ask, *args)
        self._judged_at = self._waits.clock()
        return self._decided(waited.value) if isinstance(waited, Ok) else await self._given_back(waited)

    async def _given_back(self, waited: Waited) -> Answer:
        """Why there is no decision."""
        if isinstance(waited.value, Allow):
            await self._close(waited.value.permit, "release")
        return _answer(waited)

    @staticmethod
    def _decided(decision: object) -> Answer:
        if type(decision) is Allow and decision.permit.alive:
            return _ok(decision)  # the usual answer
        try:
            return Ok(decided(decision))
        except (TypeError, ValueError) as fault:
            return raised(fault)

    async def _ask_human(self, effect: AskHuman) -> Answer:
        approve = self._ports.on_approval
        assert approve is not None
        if self._waits.paused:  # since its turn, while the consumer held the event
            cut = await self._while_paused(effect.request.expires_at)
            if cut is not None:
                return cut
        left = effect.request.expires_at - self._ports.wall_clock()
        if left <= 0:
            return Limit("expires_at")  # it expired while the consumer held the event: nobody is asked
        limit: WaitLimit = "expires_at"
        if self._approval_seconds < left:
            limit, left = "approval_seconds", self._approval_seconds
        return _answer(await self._waits.wait("human", limit, left, approve, effect.request, human=True))

    async def _close_permit(self, effect: ClosePermit) -> Answer:
        await self._close(effect.permit, effect.how)
        return OK

    async def _close(self, permit: Permit, how: str) -> None:
        """Close a permit. Books that raise change nothing about what was done, so it is noted and the run goes on to its record."""
        try:
            if permit.close_now():
                return
            await (permit.settle() if how == "settle" else permit.release())
        except Exception as fault:
            error = self._engine.masks.text(raised(fault).message)
            data = {"step": self._engine.step, "permit": permit.id, "how": how, "error": error}
            await self._recorder.record(Note("loop.permit-error", data, essential=False))

    # The tool

    async def _run_tool(self, effect: RunTool) -> Answer:
        """Run what was allowed; the answer says what is known of the effect."""
        tool = effect.tool
        limit: WaitLimit = "tool_seconds"
        seconds = self._tool_seconds
        if tool.human:
            limit, seconds = "approval_seconds", self._approval_seconds
        if self._guards is not None:
            limit, seconds = self._guarded(self._guards, limit, seconds)
        self._tool_began, self._end = False, None
        turned, self._turned = self._turned, False
        waited = await self._waits.wait(f"tool {tool.name}", limit, seconds, self._begin, effect, human=tool.human, turned=turned)
        if isinstance(waited, Waited):
            return await self._tool_was_cut(effect, waited)
        output = waited.value
        if type(output) is not ToolOutput:
            output = _exact(output, ToolOutput)
            if type(output) is not ToolOutput:
                wrong = TypeError(f"the tool returned {type(output).__name__}, not a ToolOutput")
                return raised(wrong, tool=ToolEnd(effect=reported_effect(effect)))
        if effect.ctx._cell.effect is not None:
            return Ok(ToolEnd(output=output, effect=effect.ctx._cell.effect))
        waited.value = output
        return waited

    async def _tool_was_cut(self, effect: RunTool, waited: Waited) -> Answer:
        """A tool that raised, or that an abort or a limit cut: what is known of its effect, and what it returned all the same."""
        output, fault = waited.value, waited.fault
        whole = waited.returned and fault is None
        if whole and type(output) is not ToolOutput:
            output = _exact(output, ToolOutput)
        if whole and not isinstance(output, ToolOutput):
            whole, fault = False, TypeError(f"the tool returned {type(output).__name__}, not a ToolOutput")
        if waited.cut is None:
            reported = reported_effect(effect)
            if fault is not None:
                return raised(fault, tool=ToolEnd(effect=reported))
            return Ok(ToolEnd(output=output, effect=reported))
        if whole:
            effect_known = reported_effect(effect) or Effect(state="done" if output.ok else "unknown")
            self._end = ToolEnd(output=output, effect=effect_known)
        else:
            error = raised(fault).message if fault is not None else None
            self._end = ToolEnd(effect=self._known_effect(effect), error=error)
        await self._note_late(effect, waited.cut_at)
        waited.cut.tool = self._end
        return waited.cut

    def end_of(self, effect: EngineEffect[Any] | None) -> ToolEnd:
        """How what was under way ended, when it was cancelled from outside: what it raised besides, and a tool's effect."""
        if not isinstance(effect, RunTool):
            return ToolEnd(error=self._hidden())
        return self._end or ToolEnd(effect=self._known_effect(effect), error=self._hidden())

    def _hidden(self) -> str | None:
        hidden = self._waits.hidden
        return raised(hidden).message if hidden is not None else None

    def _begin(self, effect: RunTool) -> Awaitable[ToolOutput]:
        self._tool_began = True
        self._waits.rested_since_tool = False
        return effect.tool.run(effect.args, effect.ctx)

    def _known_effect(self, effect: RunTool) -> Effect:
        """What is known of a tool that was cut: its own word, or that it never began; else it is unknown."""
        return reported_effect(effect) or Effect(state="unknown" if self._tool_began else "not-started")

    async def _note_late(self, effect: RunTool, cut_at: float) -> None:
        """A tool that went on for longer than the grace after it was cut is named in the trail, now that it has ended."""
        late = self._waits.clock() - cut_at
        if late > self._ports.cancel_grace:
            data = {"step": self._engine.step, "id": effect.call_id, "name": effect.tool.name, "late_ms": round(late * 1000)}
            await self._recorder.record(Note("loop.late-tool", data, essential=False))

    # Notes

    async def _note(self, effect: Note) -> Answer:
        self._turned = False
        if self._recorder.on:
            failed = await self._recorder.record(effect)
            if failed is not None and effect.essential:
                return failed
        return Stop("abort") if self._waits.aborted else OK


HANDLERS: Final[Mapping[type, Callable[[Performer, Any], Awaitable[Answer]]]] = {
    Turn: Performer._turn,
    AskPlanner: Performer._ask_planner,
    AskGuards: Performer._ask_guards,
    Redact: Performer._redact,
    Prepare: Performer._prepare,
    Domain: Performer._domain,
    GateCheck: Performer._gate_check,
    GateRedeem: Performer._gate_redeem,
    Retry: Performer._retry,
    Describe: Performer._describe,
    AskHuman: Performer._ask_human,
    RunTool: Performer._run_tool,
    RunCheck: Performer._run_check,
    ClosePermit: Performer._close_permit,
    Note: Performer._note,
}
"""What performs each effect but `Emit`, which hands something over as well."""


def reported_effect(effect: RunTool) -> Effect | None:
    """What the tool itself said of its effect, if it said anything."""
    return effect.ctx._cell.effect


def _exact(value: Any, kind: type[Any]) -> Any:
    """A subclass rebuilt as its plain base, so that nothing in it can change or raise later; None when it cannot be read."""
    if type(value) is kind or not isinstance(value, kind):
        return value
    try:
        return kind(**{field.alias: getattr(value, field.name) for field in attrs.fields(kind)})
    except Exception:
        return None


def _answer(waited: Ok | Waited) -> Answer:
    if isinstance(waited, Ok):
        return waited
    if waited.cut is not None:
        if waited.fault is not None:
            waited.cut.tool = ToolEnd(error=raised(waited.fault).message)
        return waited.cut
    if waited.fault is not None:
        return raised(waited.fault)
    return Ok(waited.value)


async def _itself(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


def _seconds(limit: float | None) -> float:
    return math.inf if limit is None else limit
