"""Replaying a run and going on with one: an engine, the entries of a trail, and the two ways of using them. Pure."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any, cast

from ..errors import UsageError
from ..events import STOP_EVENTS
from ._effects import Answer, AskGuards, Emit, EngineEffect, Interrupted, Note, Ok, Turn
from ._engine import Engine
from ._guarded import Guards
from ._recall import Difference, Differs, Exhausted, Recall, Replayed
from ._recorded import RecordedRun, unfit
from ._redaction import WITHHELD


def replay(engine: Engine, recorded: RecordedRun, versions: Mapping[str, Any]) -> Replayed | Difference:
    """Drive a fresh engine with all that was recorded, and say where it first goes another way."""
    recall = Recall(recorded, going_on=False, guards=engine.guards)
    try:
        _drive(engine, _effects_of(engine), recall, masked=recorded.masked)
    except Exhausted:
        return Replayed(run=recorded.run, entries=recall.compared, finished=False)
    except Differs as found:
        return _difference(recorded, found, versions)
    if recall.compared < len(recall.entries):
        left = recall.entries[recall.compared]
        return _difference(recorded, Differs(left, "kind", left.kind, None), versions)
    return Replayed(run=recorded.run, entries=recall.compared, finished=True)


def resumed(engine: Engine, recorded: RecordedRun, start: Mapping[str, Any]) -> Generator[EngineEffect[Any], Answer, None]:
    """The effects of a run that goes on from a recorded one: first its own `loop.start`, then whatever comes next, live.

    Raises UsageError when the engine does not go the recorded way, since nobody knows then what it would go on from.
    """
    steps = _effects_of(engine)
    before = recorded.open_end()
    try:
        _drive(engine, steps, Recall(before, going_on=True, guards=engine.guards), masked=recorded.masked)
    except Exhausted as end:
        waiting = end.effect
        at_stop = isinstance(waiting, Emit) and type(waiting.event) in STOP_EVENTS
        if recorded.stop is not None and (at_stop or (isinstance(waiting, Turn) and not engine.has_room)):
            raise UsageError(_same_end(recorded)) from None
    except Differs as found:
        words = _difference(recorded, found, start["versions"]).message
        raise UsageError(f"run {recorded.run} cannot be resumed: {words}") from None
    else:
        raise UsageError(_same_end(recorded))
    gap = before.in_doubt() if before.has_open_call else None
    return _go_on(steps, waiting, Note("loop.start", start), engine.guards, gap)


def _go_on(
    steps: Generator[EngineEffect[Any], Answer, None],
    waiting: EngineEffect[Any],
    start: Note,
    guards: Guards | None,
    gap: Interrupted | None,
) -> Generator[EngineEffect[Any], Answer, None]:
    answer = yield start
    asked = isinstance(waiting, AskGuards) and waiting.moment == "on_run_start"
    if isinstance(answer, Ok) and guards is not None and not asked:
        answer = yield from guards.begin_anew()
    if isinstance(answer, Ok):
        answer = gap if gap is not None else (yield waiting)
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration:
            return
        answer = yield effect


def checked_goal(recorded: RecordedRun, goal: str | None) -> str:
    """The goal to go on with: the recorded one, or the one that is given when the record does not hold it.

    Raises UsageError when it is missing, or another than the one on record.
    """
    was = recorded.goal
    if goal is not None and not isinstance(goal, str):
        raise UsageError(f"goal must be text, not {type(goal).__name__}")
    if not was.startswith(WITHHELD):
        if goal is not None and goal != was:
            raise UsageError(f"the goal of run {recorded.run} was {was!r}; leave it out, or start a new run for another goal")
        return was
    if goal is None:
        raise UsageError(f"the trail does not hold the goal of run {recorded.run}, since values are hidden; give goal=…")
    return goal


def usable_nonce(recorded: RecordedRun) -> str:
    """What marks text from outside in the history that goes on. Raises UsageError when the trail's redaction hid it."""
    if recorded.nonce.startswith(WITHHELD):
        raise UsageError(f"run {recorded.run} cannot be resumed: its trail hides 'nonce', which marks what came from outside")
    return recorded.nonce


def _same_end(recorded: RecordedRun) -> str:
    return f"run {recorded.run} cannot be resumed: with these options it would only come to the same end again; give it more room"


def _effects_of(engine: Engine) -> Generator[EngineEffect[Any], Answer, None]:
    """What an engine of a recorded run asks for; it yields no bare events."""
    return cast("Generator[EngineEffect[Any], Answer, None]", engine.run())


def _drive(engine: Engine, steps: Generator[EngineEffect[Any], Answer, None], recall: Recall, *, masked: bool) -> None:
    engine.past, engine.past_is_masked = recall, masked
    effect = next(steps)
    try:
        while True:
            answer = recall.answer(effect)
            try:
                effect = steps.send(answer)
            except StopIteration:
                return
            except Exception as fault:
                # Values that no run writes can be anything to the engine.
                raise unfit(recall.last, f"{type(fault).__name__}: {fault}") from fault
    finally:
        engine.past = None


def _difference(recorded: RecordedRun, found: Differs, versions: Mapping[str, Any]) -> Difference:
    entry = found.recorded
    words = f"{entry}: {found.path or 'data'} was {_short(found.was)}, and is now {_short(found.got)}"
    was = recorded.start.data.get("versions")
    was = was if isinstance(was, Mapping) else {}
    changed = [f"{name} {was.get(name)} then, {now} now" for name, now in versions.items() if was.get(name) != now]
    if changed:
        words += f" (recorded with another version: {'; '.join(changed)})"
    return Difference(
        run=recorded.run,
        seq=entry.seq,
        kind=entry.kind,
        path=found.path,
        recorded=found.was,
        got=found.got,
        message=words,
    )


def _short(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
