"""Several guards as one: asked in their order, with the rules of who ends the chain, and closed when one of them fails.

No Trio here: what a guard awaits is its own business, and a cancellation passes through untouched.
"""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import attrs

from ..errors import BadOptionsError
from ._nouns import ModelReply, State, ToolCall, ToolResult
from ._verdicts import Ask, Block, GuardBusyError, Note, OnAsk, Rewrite, Stop

LOG: Final = logging.getLogger("foxloop_trio.guards")

METHODS: Final = ("on_run_start", "before_model", "after_model", "before_tool", "after_tool")

Moment = Literal["on_run_start", "before_model", "after_model", "before_tool", "after_tool"]

_IN_USE: Final[dict[int, object]] = {}
"""The guards of open runs, by identity: a guard has one run's state, so a second run would spoil both."""


@attrs.define
class Said:
    """What the guards said, taken together."""

    call: ToolCall | None = None
    """The call as rewritten; of `before_tool` only."""
    block: str | None = None
    """Why the call, or the rest of the turn's calls, is not run."""
    stop: Stop | None = None
    guard: str | None = None
    """The class of the guard that blocked or stopped."""
    notes: list[str] = attrs.field(factory=list)
    """For the model, before its next request."""
    remarks: list[str] = attrs.field(factory=list)
    """Notes of rewrites, to be put in front of the observation."""
    faults: list[tuple[str, Exception]] = attrs.field(factory=list)
    """The guards that failed, by class, and with what."""

    def stop_detail(self) -> dict[str, Any] | None:
        """Which guard, and why; a mapping's keys stand beside ``guard``. None when no guard stopped the run."""
        if self.stop is None:
            return None
        detail = self.stop.detail
        told: dict[str, Any] = {"guard": self.guard}
        if isinstance(detail, dict):
            return {**detail, **told}
        return told if detail is None else {**told, "detail": detail}


class GuardChain:
    """The `guards` of one run. `open` first, and `close` in any case at the end.

    Raises BadOptionsError for what is no list, and for something that has none of a guard's methods.
    """

    def __init__(self, guards: Iterable[Any], *, on_ask: OnAsk | None = None) -> None:
        if not isinstance(guards, Iterable) or isinstance(guards, str | Mapping):
            raise BadOptionsError(f"guards must be a list of guards, not {type(guards).__name__}")
        self.guards = tuple(guards)
        self._on_ask = on_ask
        for guard in self.guards:
            if isinstance(guard, type):
                raise BadOptionsError(f"guards: {guard.__name__} is a class; give an object: {guard.__name__}(...)")
            if not any(callable(getattr(guard, method, None)) for method in METHODS):
                raise BadOptionsError(f"guards: {guard!r} has none of {', '.join(METHODS)}")
        self._asked = _by_method(self.guards) if self.guards else NOBODY
        self._held: list[object] = []

    @property
    def names(self) -> tuple[str, ...]:
        """The classes of the guards, in order."""
        return tuple(type(guard).__name__ for guard in self.guards)

    def listens(self, moment: Moment) -> bool:
        """Whether any guard has the method of this moment."""
        return bool(self._asked[moment])

    def __bool__(self) -> bool:
        return bool(self.guards)

    async def open(self, state: State) -> Said:
        """Take the guards for this run and tell each that it starts. Raises GuardBusyError, a RuntimeError, for one in use (R33).

        What `on_run_start` raises comes out: nothing has begun that could be refused.
        """
        self.take()
        return await self.start(state)

    def take(self) -> None:
        """Take the guards for this run, all or none. Raises GuardBusyError, a RuntimeError, for one in use (R33)."""
        for guard in self.guards:
            # setdefault is one step, so that two threads, each with a Trio run of its own, cannot both have the guard.
            if _IN_USE.setdefault(id(guard), self) is not self or any(guard is held for held in self._held):
                self._release()
                words = f"{type(guard).__name__} serves another run, or stands in `guards` twice"
                raise GuardBusyError(f"{words}; give each run an instance of its own")
            self._held.append(guard)

    async def start(self, state: State) -> Said:
        """Tell each guard that its run starts. What `on_run_start` raises comes out, and the guards are let go."""
        said = Said()
        try:
            for name, method in self._asked["on_run_start"]:
                for verdict in _listed(await _value(method(state))):
                    if said.stop is None:
                        self._take(said, "on_run_start", name, verdict)
        except BaseException:
            self.close(state)
            raise
        return said

    def close(self, state: State) -> None:
        """Tell each guard that the run is over, and let it go. Plain, so that it cannot be cancelled; what it raises is logged."""
        if not self._held:
            return
        try:
            for name, method in self._asked["on_run_end"]:
                try:
                    method(state)
                except Exception:
                    LOG.exception("guard %s failed in on_run_end", name)
        finally:
            self._release()

    def deadline(self, state: State) -> float:
        """The Trio time at which the next model call or handler is to be cut; infinite when no guard has one.

        Fails closed: a guard that raises, or gives no number, cuts at once.
        """
        least = math.inf
        for name, method in self._asked["deadline"]:
            try:
                at = float(method(state))
                least = min(least, at if at == at else -math.inf)
            except Exception:
                LOG.exception("guard %s failed in deadline", name)
                return -math.inf
        return least

    async def before_model(self, state: State) -> Said:
        """May the model be asked? `stop` says no, unless it is a `last_call`."""
        return await self._ask("before_model", Said(), state)

    async def after_model(self, state: State, reply: ModelReply) -> Said:
        """The model answered; `block` refuses all calls of the reply."""
        return await self._ask("after_model", Said(), state, reply)

    async def before_tool(self, call: ToolCall, state: State) -> Said:
        """May this call be run, and as what? The first `Block` or `Stop` ends the chain; a `Rewrite` feeds the next guard (R30)."""
        said = Said(call=call)
        for name, method in self._asked["before_tool"]:
            assert said.call is not None
            await self._hear(said, "before_tool", name, method, said.call, state)
            if said.block is not None or said.stop is not None:
                break
        return said

    async def after_tool(self, call: ToolCall, result: ToolResult, state: State) -> Said:
        """The call has its result, blocked ones included (R32); `block` refuses the calls that are left in the turn."""
        return await self._ask("after_tool", Said(), call, result, state)

    async def _ask(self, moment: Moment, said: Said, *args: Any) -> Said:
        """All guards hear of what happened, also after one has stopped the run; the first stop and the first block count.

        Before a model call the first one ends the chain: a later guard must not reserve for what will not happen.
        """
        for name, method in self._asked[moment]:
            await self._hear(said, moment, name, method, *args)
            if moment == "before_model" and said.stop is not None:
                break
        return said

    async def _hear(self, said: Said, moment: Moment, name: str, method: Any, *args: Any) -> None:
        asked: list[Ask] = []
        try:
            for verdict in _listed(await _value(method(*args))):
                if isinstance(verdict, Ask) and moment == "before_tool":
                    asked.append(verdict)
                else:
                    self._take(said, moment, name, verdict)
        except Exception as fault:
            LOG.exception("guard %s failed in %s", name, moment)
            said.faults.append((name, fault))
            words = f"the guard {name} failed ({type(fault).__name__}), so this is refused"
            if moment == "before_model":
                self._take(said, moment, name, Stop("policy", {"why": words}))
            else:
                self._take(said, moment, name, Block(words))
            return
        for question in asked:
            if said.block is None and said.stop is None:
                assert said.call is not None
                if not await self._agreed(said.call, question.reason, args[-1]):
                    self._take(said, moment, name, Block(question.reason))

    async def _agreed(self, call: ToolCall, reason: str, state: State) -> bool:
        """Only True is a yes. What the host's function raises comes out: it is no guard."""
        if self._on_ask is None:
            return False
        return await _value(self._on_ask(call, reason, state)) is True

    def _take(self, said: Said, moment: Moment, name: str, verdict: object) -> None:
        match verdict:
            case Note(text=words):
                said.notes.append(words)
            case Block(reason=reason) if moment not in ("before_model", "on_run_start"):
                if said.block is None:
                    said.block, said.guard = reason, said.guard or name
            case Stop():
                if said.stop is None:
                    said.stop, said.guard = verdict, name
            case Rewrite(arguments=arguments, note=note) if moment == "before_tool":
                assert said.call is not None
                said.call = attrs.evolve(said.call, arguments=arguments)
                if note is not None:
                    said.remarks.append(note)
            case _:
                raise TypeError(f"{type(verdict).__name__} is no verdict that {moment} may give")

    def _release(self) -> None:
        for guard in self._held:
            _IN_USE.pop(id(guard), None)
        self._held.clear()


def _by_method(guards: Sequence[Any]) -> Mapping[str, Sequence[tuple[str, Any]]]:
    """Who is asked at each moment: class and method."""
    return {
        method: [(type(guard).__name__, found) for guard in guards if callable(found := getattr(guard, method, None))]
        for method in (*METHODS, "deadline", "on_run_end")
    }


NOBODY: Final = _by_method(())


async def _value(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _listed(value: Any) -> Sequence[Any]:
    if value is None:
        return ()
    return value if isinstance(value, list | tuple) else (value,)
