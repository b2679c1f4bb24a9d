"""`cancel_at_every_checkpoint`: an async function, run again and again, and stopped at each point at which it can be stopped.

Synopsis::

    async def test_nothing_is_sent_after_a_cancel(autojump_clock):
        outbox = []

        async def send_two():
            outbox.clear()
            await send(outbox, "a")
            await send(outbox, "b")

        def check(visit):
            assert not visit.cancelled or outbox != ["a", "b"]

        await cancel_at_every_checkpoint(send_two, check=check)

**Which points.** Trio delivers a cancel to a task only while it waits, or at the first checkpoint after it went on. So two moments
a step are enough: right after a task began to wait (the wait is cut), and right before it goes on (what it waited for has come,
and the next checkpoint raises). They are numbered over all the tasks that the function starts, in its own nurseries or in others'.
Number 1 is before the function begins. A `trio.lowlevel.checkpoint()` is one point, a wait two.

**Swallowed.** Once the scope around the function is cancelled, no scope within it catches a `Cancelled` any more, unless it is
shielded: one that is raised outside a shield can only end the function with `Cancelled`. So a run is at fault when, after the
cancel, a `Cancelled` was raised outside a shield in any task of the function, and the function returned all the same. A function
that returns without having had a checkpoint after the cancel is right, and so is one whose remaining checkpoints were all
shielded: nothing was raised there. One that swallows a `Cancelled` and meets the next is not seen here, since it ends with
Cancelled; what it did in between is for `check` to find.

Trio's scheduler shuffles tasks. While the sweep runs it does so from a fixed seed, so that run n is the same as run n - 1
up to the point at which it is stopped, and no point is skipped.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, final

import attrs
import outcome
import trio
from trio.lowlevel import Task

from ..errors import BadOptionsError

__all__ = ["SweepError", "SweepReport", "SweepViolation", "SweepVisit", "cancel_at_every_checkpoint", "fixed_task_order"]

ViolationKind = Literal["check", "swallowed", "leaked-task", "error", "hang", "stop-failed", "endless"]

STUCK_STEPS: Final = 10_000
"""Steps of the function's tasks after the stop that count as a loop which eats each Cancelled. Clean-up takes tens."""
SHOWN: Final = 12
"""Violations that the report's text spells out."""

_TRIO_FOLDER: Final = str(Path(trio.__file__).parent)


@attrs.frozen(kw_only=True)
class SweepVisit:
    """One run of the function: where it was stopped and how it ended. What `check` gets."""

    number: int
    """The checkpoint, from 1."""
    stopped: bool
    """False for the last run, which ended before it came to this checkpoint."""
    where: str
    """What the task at this checkpoint was doing."""
    cancelled: bool
    """Cancelled left the function."""
    raised: bool
    """Cancelled was raised outside a shield after the cancel, whether or not it came out."""
    result: Any = None
    """What the function returned."""
    error: BaseException | None = None
    """What it raised besides Cancelled; a group when there were several."""
    tasks_left: tuple[str, ...] = ()
    """Names of tasks that it started, anywhere, and that were alive when it ended."""


@attrs.frozen(kw_only=True)
class SweepViolation:
    """Something that must not be, and after a stop at which checkpoint."""

    number: int
    kind: ViolationKind
    message: str
    where: str

    def __str__(self) -> str:
        """In one line; `message` may have more."""
        return f"checkpoint {self.number}, {self.where}: {self.kind}: {self.message.splitlines()[0]}"


@attrs.frozen(kw_only=True, repr=False)
class SweepReport:
    """What a sweep saw. `checkpoints` were visited; in `cancelled` of those runs Cancelled came out of the function."""

    checkpoints: int
    cancelled: int
    violations: tuple[SweepViolation, ...]

    @property
    def ok(self) -> bool:
        """No violations."""
        return not self.violations

    def __repr__(self) -> str:
        count = len(self.violations)
        head = (
            f"{self.checkpoints} checkpoints, Cancelled came out at {self.cancelled}, {count} violation{'' if count == 1 else 's'}"
        )
        lines = [f"\n  {violation}" for violation in self.violations[:SHOWN]]
        more = f"\n  and {count - SHOWN} more" if count > SHOWN else ""
        return f"<SweepReport {head}{''.join(lines)}{more}>"


class SweepError(AssertionError):
    """The sweep found violations; `report` has them all."""

    def __init__(self, report: SweepReport) -> None:
        super().__init__(repr(report))
        self.report = report


async def cancel_at_every_checkpoint(
    fn: Callable[[], Awaitable[Any]],
    *,
    check: Callable[[SweepVisit], object] | None = None,
    stop: Callable[[], object] | None = None,
    again_after: int | None = None,
    on_stop: Callable[[], object] | None = None,
    expected: type[BaseException] | tuple[type[BaseException], ...] = (),
    strict: bool = True,
    grace: float = 60.0,
    longest: float = 3600.0,
    most: int = 10_000,
    seed: int = 0,
) -> SweepReport:
    """Run `fn` again and again, stopped at its 1st, 2nd, … checkpoint, until it ends without having been stopped.

    `fn` is an async function without arguments that makes what it works on anew each time and ends by itself. Which points count
    and what counts as swallowed is said at the head of this module.

    * `check`: sync or async, called with a `SweepVisit` after each run, the last and undisturbed one included; what it raises
      is a violation.
    * `stop`: called in place of the cancel, such as ``lambda: current.abort()``; also at point 1, before `fn` began. It may not
      wait.
    * `again_after`: so many points later (1 is the next) the run is cancelled from outside: a second cancel, or one
      after `stop`.
    * `on_stop`: called right before the stop, to mark the place in a log of your own.
    * `expected`: exception classes that `fn` may raise. Any other exception is a violation, in the undisturbed run too.
    * `strict`: raise SweepError when there are violations; with False they are only in the report.
    * `grace`: seconds of Trio's clock that `fn` may take to end once stopped; then it is cancelled, shields notwithstanding, and
      that is a violation which ends the sweep. `longest`: the same for a run that is not stopped. A thread cannot be cut and is
      waited for.
    * `most`: checkpoints after which the sweep gives up, as a run of n points costs n runs.
    * `seed`: of the order in which Trio runs tasks; other seeds, other interleavings.

    What is always looked for: a swallowed Cancelled, tasks left alive, errors that are not expected, a run that does not end.
    Returns a `SweepReport`. Raises SweepError, an AssertionError; BadOptionsError for options that make no sense.
    """
    _validate(fn, again_after=again_after, grace=grace, longest=longest, most=most)
    found: list[SweepViolation] = []
    cancelled = 0
    for number in itertools.count(1):
        run = _Run(number, stop=stop, again_after=again_after, on_stop=on_stop, grace=grace, longest=longest)
        with fixed_task_order(seed):
            await run.drive(fn)
        visit = run.visit()
        cancelled += visit.cancelled
        faults = [*run.faults, *_judge(visit, expected, cut=bool(run.faults))]
        if check is not None:
            faults += await _checked(check, visit)
        if number > most:
            faults.append(("endless", f"there are more than {most} checkpoints; give the function less to do, or raise `most`"))
        found += [SweepViolation(number=number, kind=kind, message=words, where=visit.where) for kind, words in faults]
        if not visit.stopped or any(kind in ("hang", "endless") for kind, _ in faults):
            break
    report = SweepReport(checkpoints=number if visit.stopped else number - 1, cancelled=cancelled, violations=tuple(found))
    if strict and found:
        raise SweepError(report)
    return report


def _validate(fn: object, *, again_after: int | None, grace: float, longest: float, most: int) -> None:
    if not callable(fn):
        raise BadOptionsError(f"fn must be an async function without arguments, not {type(fn).__name__}; pass it, do not call it")
    for name, whole in (("again_after", again_after), ("most", most)):
        if whole is not None and (isinstance(whole, bool) or not isinstance(whole, int) or whole < 1):
            raise BadOptionsError(f"{name} must be a whole number of 1 or more, not {whole!r}")
    for name, seconds in (("grace", grace), ("longest", longest)):
        if isinstance(seconds, bool) or not isinstance(seconds, int | float) or math.isnan(seconds) or seconds <= 0:
            raise BadOptionsError(f"{name} must be a number of seconds over 0, not {seconds!r}")


Fault = tuple[ViolationKind, str]


def _judge(visit: SweepVisit, expected: type[BaseException] | tuple[type[BaseException], ...], *, cut: bool) -> list[Fault]:
    """What is wrong with how this run ended, whatever the function is for; nothing is inferred from a run that had to be cut."""
    faults: list[Fault] = []
    if visit.raised and not visit.cancelled and visit.error is None and not cut:
        faults.append(("swallowed", f"Cancelled was raised in the function, which then returned {visit.result!r}"))
    if visit.tasks_left:
        faults.append(("leaked-task", f"still alive when the function had ended: {', '.join(visit.tasks_left)}"))
    for leaf in _leaves(visit.error):
        if not isinstance(leaf, expected):
            instead = " in place of Cancelled" if visit.raised and not visit.cancelled else ""
            faults.append(("error", f"raised {type(leaf).__name__}{instead}: {leaf}"))
    return faults


async def _checked(check: Callable[[SweepVisit], object], visit: SweepVisit) -> list[Fault]:
    try:
        answer = check(visit)
        if inspect.isawaitable(answer):
            await answer
    except Exception as fault:
        return [("check", f"{type(fault).__name__}: {fault}" if str(fault) else type(fault).__name__)]
    return []


class _Stuck(BaseException):
    """Thrown into a task that does not end; BaseException, so that a mere `except Exception` lets it pass."""


def _raise_stuck() -> NoReturn:
    raise _Stuck


@final
class _Run:
    """One run of the function, under watch."""

    def __init__(
        self,
        number: int,
        *,
        stop: Callable[[], object] | None,
        again_after: int | None,
        on_stop: Callable[[], object] | None,
        grace: float,
        longest: float,
    ) -> None:
        self.number = number
        self.again_at = None if again_after is None else number + again_after
        self.faults: list[Fault] = []
        self.ended = False
        self._stop = stop
        self._on_stop = on_stop
        self._grace = grace
        self._longest = longest
        # Two scopes, since a scope in Trio is cancelled once: the outer one is for the second cancel.
        self._outer = trio.CancelScope()
        self._inner = trio.CancelScope()
        self._reason = f"cancel_at_every_checkpoint, checkpoint {number}"
        self._where = "not reached"
        self._stopped: trio.Event = trio.Event()
        self._watch = _Watch(self)
        self._cancelled = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._left: tuple[str, ...] = ()
        self._interrupt: BaseException | None = None

    async def drive(self, fn: Callable[[], Awaitable[Any]]) -> None:
        """Run it to its end, in a task of its own."""
        trio.lowlevel.add_instrument(self._watch)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._end_in_time)
                nursery.start_soon(self._body, fn, nursery.cancel_scope, name=_name(fn))
        finally:
            trio.lowlevel.remove_instrument(self._watch)
        for fault in (self._interrupt, self._watch.broken):
            if fault is not None:
                raise fault

    def visit(self) -> SweepVisit:
        """How it ended."""
        return SweepVisit(
            number=self.number,
            stopped=self._stopped.is_set(),
            where=self._where,
            cancelled=self._cancelled,
            raised=self._watch.raised,
            result=self._result,
            error=self._error,
            tasks_left=self._left,
        )

    async def _body(self, fn: Callable[[], Awaitable[Any]], around: trio.CancelScope) -> None:
        try:
            with self._outer, self._inner:
                self._watch.begin(trio.lowlevel.current_task())
                try:
                    self._result = await fn()
                except BaseException as fault:
                    self._cancelled = any(isinstance(leaf, trio.Cancelled) for leaf in _leaves(fault))
                    raise
                finally:
                    self.ended = True
                    self._left = self._watch.left()
        except BaseException as fault:
            # The scopes have taken the sweep's own Cancelled out; what came of the function besides is part of the visit.
            errors, others = _parted(fault)
            self._error = errors
            if any(isinstance(leaf, trio.Cancelled) for leaf in _leaves(others)):
                raise  # the surroundings of the sweep itself were cancelled
            self._interrupt = others
        around.cancel()

    def stop(self, where: str) -> None:
        """The checkpoint is reached: stop the function. Called between two steps, so it may not raise."""
        self._where = where
        self._stopped.set()
        called = [self._called("on_stop", self._on_stop), self._called("stop", self._stop)]
        if self._stop is None or not all(called):
            self._inner.cancel(self._reason)

    def _called(self, name: str, hook: Callable[[], object] | None) -> bool:
        try:
            if hook is not None:
                hook()
        except Exception as fault:
            self.faults.append(("stop-failed", f"{name} raised {type(fault).__name__}: {fault}"))
            return False
        return True

    def cancel_again(self) -> None:
        self._outer.cancel(self._reason)

    def reaches(self, task: Task) -> bool:
        """Has the sweep cancelled, and does no shield stand between it and what this task does now? Then nothing within the
        function may catch a Cancelled, not even one that an inner deadline brought about."""
        status: Any = task._cancel_status  # Trio's
        while status is not None:
            scope = status._scope
            if scope is self._inner or scope is self._outer:
                return self._inner.cancel_called or self._outer.cancel_called
            if scope.shield:
                return False
            status = status._parent
        return False

    def stuck(self, kind: ViolationKind, words: str) -> None:
        if not any(found == kind for found, _ in self.faults):
            self.faults.append((kind, words))

    async def _end_in_time(self) -> None:
        """Cut a run that does not end: first as anybody would, then through its shields."""
        with trio.move_on_after(self._longest):
            await self._stopped.wait()
        if self._stopped.is_set():
            await trio.sleep(self._grace)
            self.stuck("hang", f"not ended {self._grace:g} s after the stop: {self._watch.waiting()}")
        else:
            words = f"did not end by itself within {self._longest:g} s: {self._watch.waiting()}"
            self.stuck("endless", words)
        self._outer.cancel("cancel_at_every_checkpoint, out of time")
        while True:
            await trio.sleep(self._grace)
            self._watch.cut_all()


@final
class _Watch(trio.abc.Instrument):
    """Counts the points of one run and says when the wanted one is reached.

    The lines that reach into Trio are marked; each has a test that fails when it no longer means what it does here.
    """

    def __init__(self, run: _Run) -> None:
        self.raised = False
        self.broken: Exception | None = None
        self._run = run
        self._main: Task | None = None
        self._alive: set[Task] = set()
        self._ready: set[Task] = set()
        self._points = 0
        self._steps_after = 0

    def begin(self, task: Task) -> None:
        """The function is about to be called, in this task."""
        self._main = task
        self._alive.add(task)
        self._point(task, "before it began")

    def left(self) -> tuple[str, ...]:
        """Names of the tasks that the function started and that are alive."""
        return tuple(sorted(task.name for task in self._alive if task is not self._main))

    def waiting(self) -> str:
        """Where each task of the function stands."""
        return "; ".join(sorted(_where(task) for task in self._alive))

    def cut_all(self) -> None:
        """End each wait that can be cut, through any shield."""
        for task in list(self._alive):
            if task._abort_func is not None and task not in self._ready:  # Trio's
                task._attempt_abort(_raise_stuck)

    def task_spawned(self, task: Task) -> None:
        nursery = task.parent_nursery
        parent = nursery.parent_task if nursery is not None else None
        if parent in self._alive or _current_task() in self._alive:
            self._alive.add(task)

    def task_scheduled(self, task: Task) -> None:
        self._ready.add(task)

    def task_exited(self, task: Task) -> None:
        self._alive.discard(task)
        self._ready.discard(task)

    def before_task_step(self, task: Task) -> None:
        self._ready.discard(task)
        if task not in self._alive:
            return
        self._point(task, "about to go on")
        if isinstance(getattr(task._next_send, "error", None), trio.Cancelled) and self._run.reaches(task):  # Trio's
            self.raised = True
        if self._points > self._run.number:
            self._steps_after += 1
            if self._steps_after > STUCK_STEPS:
                self._run.stuck("hang", f"{STUCK_STEPS} steps after the stop, and no end: is Cancelled eaten in a loop?")
                task._next_send = outcome.Error(_Stuck())  # Trio's

    def after_task_step(self, task: Task) -> None:
        # A task that is ready again was not waiting for anything: the point before its next step is the same one.
        if task in self._alive and task not in self._ready:
            self._point(task, "waiting")

    def _point(self, task: Task, state: str) -> None:
        if self._run.ended:
            return  # the function's last step is over; what is alive now is a leak
        self._points += 1
        try:
            if self._points == self._run.number:
                self._run.stop(_where(task, state))
            elif self._points == self._run.again_at:
                self._run.cancel_again()
        except Exception as fault:  # Trio would print it and drop the instrument, and the sweep would end early and green
            self.broken = self.broken or fault


@contextlib.contextmanager
def fixed_task_order(seed: int) -> Iterator[None]:
    """In this block Trio still shuffles the tasks that are ready at the same time, but from `seed`.

    It uses the switch that Trio has for Hypothesis. Where a version of Trio has it no more, the order stays random.
    """
    import trio._core._run as scheduler

    rng, switch = getattr(scheduler, "_r", None), "_ALLOW_DETERMINISTIC_SCHEDULING"
    if rng is None or not hasattr(scheduler, switch):
        yield
        return
    state, before = rng.getstate(), getattr(scheduler, switch)
    rng.seed(seed)
    setattr(scheduler, switch, True)
    try:
        yield
    finally:
        setattr(scheduler, switch, before)
        rng.setstate(state)


def _current_task() -> Task | None:
    try:
        return trio.lowlevel.current_task()
    except RuntimeError:
        return None  # spawned between two steps


def _name(fn: Callable[..., object]) -> str:
    return getattr(fn, "__qualname__", None) or type(fn).__name__


def _where(task: Task, state: str = "waiting") -> str:
    """The innermost place in the task that is neither Trio's nor ours."""
    if state == "before it began":
        return state
    place = ""
    for frame, line in task.iter_await_frames():
        file = frame.f_code.co_filename
        if not file.startswith(_TRIO_FOLDER) and file != __file__:
            place = f" in {frame.f_code.co_qualname} ({Path(file).name}:{line})"
    return f"{task.name.rpartition('.')[2]} {state}{place}"


def _leaves(fault: BaseException | None) -> list[BaseException]:
    if isinstance(fault, BaseExceptionGroup):
        return [leaf for part in fault.exceptions for leaf in _leaves(part)]
    return [] if fault is None else [fault]


def _parted(fault: BaseException) -> tuple[BaseException | None, BaseException | None]:
    """The exceptions among the leaves, and what is none of them and no doing of the sweep's: Ctrl-C, a foreign Cancelled."""
    if not isinstance(fault, BaseExceptionGroup):
        if isinstance(fault, _Stuck):
            return None, None
        return (fault, None) if isinstance(fault, Exception) else (None, fault)
    errors, others = fault.split(Exception)
    if others is not None:
        others = others.split(_Stuck)[1]
    return errors, others
