"""The frame that every operation of the gate runs in: one at a time, in call order, decided, announced and saved, or not at all.

The order is fixed: take the lock, open a transaction, read the clock, decide, call the hook, save. A caller that is cancelled
before the hook is called has changed nothing. From the hook to the end of the save the operation is shielded, so what the hook
heard and what is saved cannot drift apart; the cancellation is delivered at the caller's next checkpoint. Each wait is bounded.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final, Generic, Literal, TypeVar

import attrs
import trio

from ..errors import GateError
from ..ports import Ids, WallClock
from ._hook import DecisionEvent, DecisionHook
from ._memory_store import MemoryGateStore, MemoryTransaction
from ._reasons import Failure, failure
from ._registry import Registry
from ._store import GateStore, GateTransaction
from ._tokens import GateKey
from ._turns import Turns

LOCK_TIMEOUT: Final = 30.0
"""Seconds that an operation waits for those before it: what one of them takes at most, with load, hook and save at their limits."""

HOOK_TIMEOUT: Final = 10.0
"""Seconds that the decision hook may take; it writes an audit line, it does not ask a human."""

STORE_TIMEOUT: Final = 10.0
"""Seconds that the store may take to load, and again to save; twice what SQLite waits for a lock by default in Python."""

MAX_INSTANT: Final = 8.64e12
"""Latest time that is taken for one, in seconds either side of 1970: the range of an ECMAScript Date. Time never runs backwards
here, so a clock that is out of its mind once would otherwise expire every grant for good; and milliseconds stay exact integers."""

MAX_REQUESTS: Final = 1000
"""Most stored requests in all states together; each may hold 64 KiB of text."""

_Stage = Literal["load", "decide", "hook", "save"]

T = TypeVar("T")


@attrs.define(slots=True, eq=False)
class Books:
    """What one operation works with: its transaction and the gate's time. `stage` becomes ``decide`` once all is loaded."""

    tx: GateTransaction
    at: float
    stage: _Stage = "load"


@attrs.define(slots=True, eq=False)
class Decided(Generic[T]):
    """The answer of an operation, and what the hook is to hear of it."""

    answer: T
    event: DecisionEvent | None = None


Work = Callable[[Books], Awaitable[Decided[T]]]


@attrs.define(slots=True, eq=False, repr=False, kw_only=True)
class Core:
    """What both sides of one gate share. Neither side's object leads to it."""

    store: GateStore
    hook: DecisionHook | None
    now: WallClock
    ids: Ids
    key: GateKey
    tools: Registry
    request_ttl: float
    token_ttl: float
    max_pending: int
    _turns: Turns = attrs.field(factory=Turns, init=False)
    _hook_task: trio.lowlevel.Task | None = attrs.field(default=None, init=False)
    requests_changed: trio.Event = attrs.field(factory=trio.Event, init=False)

    def new_id(self, purpose: str) -> str:
        """16 random bytes as 32 lower-case hex digits."""
        raw = self.ids(16, purpose)
        if type(raw) is not bytes or len(raw) != 16:
            raise ValueError(f"ids(16, {purpose!r}) must return 16 bytes")
        return raw.hex()

    def tell_requests_changed(self) -> None:
        """Wake whoever waits for an answer to a request; the next ones wait for the next change."""
        changed, self.requests_changed = self.requests_changed, trio.Event()
        changed.set()

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C must not fall between taking the lock and giving it back, nor into a save
    async def run(self, work: Work[T], *, needs_clock: bool = True) -> T:
        """Do one operation. Raises `Failure`, with nothing changed; GateError, code ``reentrant``, inside the gate's own hook."""
        if self._hook_task is not None and self._hook_task is trio.lowlevel.current_task():
            raise GateError(
                "the decision hook called the gate, which waits for that hook; hand the work to another task", code="reentrant"
            )
        await self._take_turn()
        try:
            return await self._do(work, needs_clock)
        finally:
            self._turns.give()

    @trio.lowlevel.enable_ki_protection
    def run_now(self, work: Work[T]) -> T | None:
        """`run` where nothing has to be waited for: the answer, or None, with nothing changed, when something has to.

        That is so for a store in memory and no hook, while nobody else is at work in the gate. Raises as `run` does.
        """
        if self.hook is not None or type(self.store) is not MemoryGateStore or not self._turns.take_nowait():
            return None
        try:
            transaction = self._transaction_nowait()
            return None if transaction is None else _at_once(self._do_at_once(transaction, work, True))
        finally:
            self._turns.give()

    async def _take_turn(self) -> None:
        if not self._turns.take_nowait():  # before any checkpoint, so that turns are taken in call order
            with trio.move_on_after(LOCK_TIMEOUT) as scope:
                await self._turns.take()
            if scope.cancelled_caught:
                raise failure("storage-error") from None
            return
        try:
            await trio.lowlevel.checkpoint()
        except BaseException:
            self._turns.give()
            raise

    async def _do(self, work: Work[T], needs_clock: bool) -> T:
        if self.hook is None and type(self.store) is MemoryGateStore:
            transaction = self._transaction_nowait()
            if transaction is not None:
                return await self._do_at_once(transaction, work, needs_clock)
        books: Books | None = None
        try:
            with trio.CancelScope(deadline=trio.current_time() + STORE_TIMEOUT) as scope:
                async with self.store.transaction() as tx:
                    books = Books(tx, 0.0)
                    books.at = self._read_clock(await tx.time(), needs_clock)
                    decided = await work(books)
                    if needs_clock:
                        await tx.set_time(books.at)
                    scope.shield = True
                    if self.hook is not None and decided.event is not None:
                        books.stage = "hook"
                        scope.deadline = trio.current_time() + HOOK_TIMEOUT
                        await self._call_hook(self.hook, decided.event)
                        if scope.cancel_called:  # a hook that swallows Cancelled is late all the same
                            raise failure("hook-failed")
                        scope.deadline = trio.current_time() + STORE_TIMEOUT
                    books.stage = "save"
                return decided.answer
            problem = failure("hook-failed" if books is not None and books.stage == "hook" else "storage-error")
        except Failure as error:
            problem = error
        except Exception as error:
            problem = failure("storage-error")
            problem.__cause__ = error
        try:
            if problem.reason == "storage-error" and books is not None and books.stage != "load":
                await self._tell_failed(books.at, problem)
            raise problem
        finally:
            del problem  # it holds this frame in its traceback

    def _transaction_nowait(self) -> MemoryTransaction | None:
        assert type(self.store) is MemoryGateStore
        try:
            return self.store.transaction_nowait()
        except RuntimeError as error:  # this task is in a transaction of its own on the store; it would wait for itself
            raise failure("storage-error") from error

    async def _do_at_once(self, tx: MemoryTransaction, work: Work[T], needs_clock: bool) -> T:
        """As `_do`, where nothing waits: no limit can pass and no cancel arrive, so there is nothing to bound and to shield."""
        saved = False
        try:
            books = Books(tx, self._read_clock(tx.latest, needs_clock))
            decided = await work(books)
            if needs_clock:
                await tx.set_time(books.at)
            saved = True
        except Failure:
            raise
        except Exception as error:
            raise failure("storage-error") from error
        finally:
            tx.end(save=saved)
        return decided.answer

    def _read_clock(self, stored: object, needed: bool) -> float:
        """The larger of the clock's answer and the latest time saved, so that time never runs backwards."""
        latest = None if stored is None else _instant(stored)
        if stored is not None and latest is None:
            raise failure("storage-error")
        try:
            answer = _instant(self.now())
        except Exception as error:
            if needed:
                raise failure("clock-error") from error
            answer = None
        if answer is None:
            if needed:
                raise failure("clock-error")
            return latest or 0.0
        return answer if latest is None or answer > latest else latest

    async def _call_hook(self, hook: DecisionHook, event: DecisionEvent) -> None:
        self._hook_task = trio.lowlevel.current_task()
        try:
            await _tell(hook, event)
        except Exception as error:
            raise failure("hook-failed") from error
        finally:
            self._hook_task = None

    async def _tell_failed(self, at: float, problem: Failure) -> None:
        """Take back what the hook may have heard. The answer is the denial, whatever comes of this."""
        if self.hook is None:
            return
        event = DecisionEvent(
            kind="failed", at=at, decision="deny", reason=problem.reason, message=problem.message, error=problem.__cause__
        )
        with trio.CancelScope(deadline=trio.current_time() + HOOK_TIMEOUT, shield=True):
            try:
                await self._call_hook(self.hook, event)
            except Failure:
                return


def _at_once(steps: Coroutine[object, object, T]) -> T:
    """What a coroutine that never waits comes to."""
    try:
        steps.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("a transaction in memory waited")


@trio.lowlevel.disable_ki_protection  # the hook is the host's code: a Ctrl-C gets into it, and then nothing is saved
async def _tell(hook: DecisionHook, event: DecisionEvent) -> None:
    result = hook(event)
    if inspect.isawaitable(result):
        await result


def _instant(value: object) -> float | None:
    """`value` in seconds since 1970, or None when it is no time."""
    if type(value) not in (float, int):
        return None
    assert isinstance(value, (float, int))
    return float(value) if abs(value) <= MAX_INSTANT else None  # NaN is not, either


def host_error(problem: Failure) -> GateError:
    """`problem` as the host side raises it: a state that cannot be used, for whatever reason, is ``bad-state``.

    The host may read what is behind it, which the planner may not.
    """
    code = "bad-state" if problem.reason in ("storage-error", "clock-error") else problem.reason
    cause = problem.__cause__
    behind = "" if cause is None else f": {cause}" if isinstance(cause, GateError) else f": {type(cause).__name__}: {cause}"
    error = GateError(problem.message + behind, code=code)
    error.__cause__ = cause
    return error
