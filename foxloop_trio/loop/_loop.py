"""`Loop`: what a host configures once and runs many times, one run at a time."""

from __future__ import annotations

import inspect
import math
import platform
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import trio

from .. import prompt
from .._version import __version__
from ..actions import MAX_SAFE_INTEGER
from ..actions._valid import require_method, seconds_from_0, whole_from
from ..errors import BadOptionsError, BusyError, UsageError
from ..events import LoopEvent, Outcome
from ..guarding import GuardChain
from ..ports import Approver, Environment, Gate, Ids, Planner, TrailSink, WallClock
from ..tools import Tool, define_tools
from ._budget import Budget, recordable
from ._calls import Setup
from ._denials import Denials
from ._engine import Engine, describe_tools
from ._frozen import freeze
from ._outside import CompletionCheck, Ports, SettleHook
from ._recall import Difference, Replayed
from ._recorded import find_run
from ._redaction import withheld
from ._resuming import checked_goal, replay, resumed, usable_nonce
from ._runner import LoopRun

RUN_ID_BYTES = 16
BOOT_ID_BYTES = 16


def system_ids(nbytes: int, purpose: str) -> bytes:
    """The default of `ids`: random bytes from the operating system, whatever the purpose."""
    return secrets.token_bytes(nbytes)


class Loop:
    """A gated agent loop: asks a planner for tool calls, has each judged, runs what is allowed, checks the end.

    * `planner`: has ``async chat(messages, *, tools) -> ChatReply``.
    * `gate`: the planner side of `create_gate`; the loop never holds the host side.
    * `tools`: a list of `Tool`.
    * `max_steps`: most planner requests of one run; `max_calls_per_turn`: most calls run from one reply.
    * `on_approval`: ``async (ApprovalRequest) -> str | None``: shows the exact action to a human and returns the token that
      `host.approve` gave, or None for no. Without it, a gate that asks ends the run.
    * `trail`: has ``async append(*, actor, kind, data)``; each event is on record before it is seen.
    * `first_read`: name of a read tool without required arguments that is run before the first request.
    * `settle`: ``async (SettleInput) -> str | None``, raced against the planner after a reply whose calls all ran: a summary whose
      verdict passes ends the run without waiting for the planner.
    * `denials`: which refusals of the gate come back to the planner; see `Denials`. Without it each ends the run.
    * `budget`: see `Budget`.
    * `check`: sync or async ``(CheckInput) -> CheckResult``: is the goal reached? Without it
      the verdict of the newest tool result counts.
    * `guards`: objects that may refuse, rewrite or stop what the planner wants, asked in this order before the gate; see the
      reference of guards. One instance serves one run at a time: opening a run on one that is in use raises a BusyError that is a
      RuntimeError too.
    * `cancel_grace`: seconds that a cancelled tool may take to find out its true effect.
    * `trail_timeout`: seconds that the trail's queue and lock may take before the run stops with ``trail-failed``.
    * `ids`, `wall_clock`: randomness ``(nbytes, purpose) -> bytes`` and wall time in seconds; give your own to fix them in a test.

    Raises BadOptionsError, BadToolError or BadSchemaError, naming what is wrong.
    """

    def __init__(
        self,
        *,
        planner: Planner,
        gate: Gate,
        tools: list[Tool] | tuple[Tool, ...],
        on_approval: Approver | None = None,
        trail: TrailSink | None = None,
        max_steps: int = 20,
        max_calls_per_turn: int = 4,
        first_read: str | None = None,
        settle: SettleHook | None = None,
        budget: Budget | None = None,
        denials: Denials | None = None,
        check: CompletionCheck | None = None,
        guards: Sequence[Any] = (),
        cancel_grace: float = 5.0,
        trail_timeout: float = 5.0,
        ids: Ids | None = None,
        wall_clock: WallClock | None = None,
    ) -> None:
        require_method("planner", planner, "chat")
        require_method("gate", gate, "check", "redeem")
        if trail is not None:
            require_method("trail", trail, "append")
        _require_callable("on_approval", on_approval, "an ApprovalRequest")
        _require_callable("check", check, "a CheckInput")
        _require_callable("settle", settle, "a SettleInput")
        if denials is not None and not isinstance(denials, Denials):
            raise BadOptionsError(f"denials must be a Denials, not {type(denials).__name__}")
        self._tools = define_tools(tools)
        self._first_read = _first_read(first_read, self._tools)
        self._denials = denials
        chain = GuardChain(guards)  # refuses what is no guard
        self._guards, self._guard_names = chain.guards, chain.names
        self._max_steps = whole_from(1).of("max_steps", max_steps)
        self._max_calls_per_turn = whole_from(1).of("max_calls_per_turn", max_calls_per_turn)
        budget = budget if budget is not None else Budget()
        if not isinstance(budget, Budget):
            raise BadOptionsError(f"budget must be a Budget, not {type(budget).__name__}")
        self._budget = budget
        self._ids: Ids = ids if ids is not None else system_ids
        self._boot = self._id(BOOT_ID_BYTES, "boot")
        self._busy = False
        self._ports = Ports(
            planner=planner,
            gate=gate,
            definitions=freeze(prompt.tool_definitions(list(self._tools.values()))),
            on_approval=on_approval,
            trail=trail,
            check=check,
            settle=settle,
            retry=denials.retry if denials is not None else None,
            environments=_environments(self._tools),
            wall_clock=wall_clock if wall_clock is not None else time.time,
            budget=budget,
            cancel_grace=_seconds("cancel_grace", cancel_grace),
            trail_timeout=_seconds("trail_timeout", trail_timeout),
        )

    def run(self, goal: str) -> LoopRun:
        """A run towards `goal`: ``async with loop.run(goal) as run``, then ``async for event in run``.

        Nothing happens between two events. Opening a second run while one is open raises BusyError; making one and never opening
        it does nothing.
        """
        if not isinstance(goal, str):
            raise UsageError(f"goal must be text, not {type(goal).__name__}")
        return self._run(self._engine(goal, self._id(RUN_ID_BYTES, "run"), prompt.new_nonce(self._ids)))

    def _run(self, engine: Engine, **more: Any) -> LoopRun:
        return LoopRun(
            run_id=engine.run_id,
            engine=engine,
            ports=self._ports,
            acquire=self._acquire,
            release=self._release,
            guards=GuardChain(self._guards) if self._guards else None,
            **more,
        )

    def _engine(self, goal: str, run_id: str, nonce: str, *, recorded: bool = False) -> Engine:
        recorded = recorded or self._ports.trail is not None
        setup = Setup(
            goal=goal,
            run_id=run_id,
            nonce=nonce,
            tools=self._tools,
            max_steps=self._max_steps,
            max_calls_per_turn=self._max_calls_per_turn,
            budget=self._budget,
            can_ask=self._ports.on_approval is not None,
            has_check=self._ports.check is not None,
            recorded=recorded,
            cancel_grace=self._ports.cancel_grace,
            start_record=self._start_record(goal, nonce) if recorded else {},
            denials=self._denials,
            first_read=self._first_read,
            has_settle=self._ports.settle is not None,
            guarded=bool(self._guards),
        )
        return Engine(setup)

    async def complete(self, goal: str, on_event: Callable[[LoopEvent], Awaitable[object] | object] | None = None) -> Outcome:
        """Run to the end and return how it ended; `on_event`, sync or async, gets each event in turn."""
        async with self.run(goal) as run:
            async for event in run:
                if on_event is not None:
                    seen = on_event(event)
                    if inspect.isawaitable(seen):
                        await seen
            assert run.outcome is not None
            return run.outcome

    def resume(self, entries: Iterable[Any], *, run: str | None = None, goal: str | None = None) -> LoopRun:
        """A new run that goes on from a recorded one, after a crash, a stop or a spent budget: ``async with loop.resume(…)``.

        `entries` are those of the trail (``read_trail(path, whole=True)``; verify it first), `run` the id of the run, or None
        for the last one. History, counters, spending and both clocks are carried over. A call that had no result yet is never run
        again by itself: planner and host get a failed result ``in-doubt`` with what is known of its effect, and the same call is
        held back until a fresh look. A human's pending approval is void. `goal` is needed when the trail does not hold it, since
        a tool hides values.

        Raises UsageError when the run is done or not there, when its end would come again with these options (give a larger
        budget), or when this loop does not go the way that was recorded.
        """
        recorded = find_run(entries, run)
        if recorded.stop is not None and recorded.stop.kind == "loop.done":
            raise UsageError(f"run {recorded.run} is done; there is nothing to go on with")
        goal = checked_goal(recorded, goal)
        nonce = usable_nonce(recorded)
        engine = self._engine(goal, self._id(RUN_ID_BYTES, "run"), nonce, recorded=True)
        start = {**self._start_record(goal, nonce), "resumes": recorded.run}
        return self._run(engine, steps=resumed(engine, recorded, start), carried=recorded.seconds())

    async def replay(self, entries: Iterable[Any], *, run: str | None = None) -> Replayed | Difference:
        """Drive a fresh engine with what a trail recorded, and say whether it goes the same way; nothing is asked, run or written.

        `entries` and `run` as for `resume`. Needs a loop with the same tools and options. A `Difference` names the first entry and
        field that differ, and the versions when the trail was recorded with others.

        Raises UsageError when there is no such run.
        """
        await trio.lowlevel.checkpoint()
        recorded = find_run(entries, run)
        engine = self._engine(recorded.goal, recorded.run, recorded.nonce, recorded=True)
        return replay(engine, recorded, versions())

    def _id(self, nbytes: int, purpose: str) -> str:
        raw: object = self._ids(nbytes, purpose)
        if not isinstance(raw, bytes) or len(raw) != nbytes:
            raise BadOptionsError(f"ids({nbytes}, {purpose!r}) must return {nbytes} bytes, not {raw!r}")
        return raw.hex()

    def _acquire(self) -> None:
        if self._busy:
            raise BusyError("this loop has a run open; end it first, or make another Loop")
        self._busy = True

    def _release(self) -> None:
        self._busy = False

    def _start_record(self, goal: str, nonce: str) -> dict[str, Any]:
        """What the trail's `loop.start` says: enough to know later what this run was allowed to be."""
        options = {
            "max_steps": recordable(self._max_steps),
            "max_calls_per_turn": recordable(self._max_calls_per_turn),
            "budget": self._budget.to_json(),
            "cancel_grace": recordable(self._ports.cancel_grace),
            "trail_timeout": recordable(self._ports.trail_timeout),
            "on_approval": self._ports.on_approval is not None,
            "check": self._ports.check is not None,
            "settle": self._ports.settle is not None,
            "first_read": self._first_read.name if self._first_read is not None else None,
            "denials": self._denials.limit if self._denials is not None else None,
        }
        if self._guards:
            options["guards"] = list(self._guard_names)
        # What a tool hides may stand in the goal as well, and is not known before the first call: such a goal is not written down.
        hides = any(tool.redact is not None for tool in self._tools.values())
        return {
            "goal": withheld(len(goal)) if hides else goal,
            "options": options,
            "tools": describe_tools(self._tools),
            "versions": versions(),
            "boot": self._boot,
            # A secret of the run only while it lasts: it keeps pages from forging markers, and replay and resume need it.
            "nonce": nonce,
        }


def versions() -> dict[str, str]:
    """What a run ran on."""
    return {"foxloop_trio": __version__, "trio": trio.__version__, "python": platform.python_version()}


def _environments(tools: dict[str, Tool]) -> tuple[Environment, ...]:
    found: dict[int, Environment] = {
        id(tool.environment): tool.environment for tool in tools.values() if tool.environment is not None
    }
    return tuple(found.values())


def _require_callable(option: str, value: object, argument: str) -> None:
    if value is None:
        return
    if not callable(value):
        raise BadOptionsError(f"{option} must be callable with {argument}, not {type(value).__name__}")
    try:
        inspect.signature(value).bind(None)
    except TypeError:
        raise BadOptionsError(f"{option} must take one argument, {argument}; {value!r} does not") from None
    except ValueError:
        return  # a builtin without a signature: it will be heard when it is called


def _first_read(name: object, tools: dict[str, Tool]) -> Tool | None:
    if name is None:
        return None
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None:
        raise BadOptionsError(f"first_read must name one of the tools ({', '.join(tools)}), not {name!r}")
    if tool.scope != "read" or tool.parameters.get("required"):
        raise BadOptionsError(f"first_read must be a read tool without required arguments; {tool.name} is not")
    return tool


def _seconds(name: str, value: Any) -> float:
    value = seconds_from_0.of(name, value)
    return float(value) if value <= MAX_SAFE_INTEGER else math.inf
