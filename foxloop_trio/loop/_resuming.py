"""Replaying a run and going on with one: an engine, the entries of a trail, and the two ways of using them. Pure."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import Any

from ..errors import UsageError
from ..events import STOP_EVENTS
from ._effects import Answer, Emit, EngineEffect, Note, Ok
from ._engine import Engine
from ._recall import Difference, Differs, Exhausted, Recall, RecordedRun, Replayed


def replay(engine: Engine, recorded: RecordedRun, versions: Mapping[str, Any]) -> Replayed | Difference:
    """Drive a fresh engine with all that was recorded, and say where it first goes another way."""
    recall = _recall(engine, recorded)
    try:
        _drive(engine.run(), recall)
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
    steps = engine.run()
    try:
        _drive(steps, _recall(engine, recorded.open_end(), options=False))
    except Exhausted as end:
        waiting = end.effect
        if recorded.stop is not None and isinstance(waiting, Emit) and type(waiting.event) in STOP_EVENTS:
            raise UsageError(_same_end(recorded)) from None
    except Differs as found:
        words = _difference(recorded, found, start["versions"]).message
        raise UsageError(f"run {recorded.run} cannot be resumed: {words}") from None
    else:
        raise UsageError(_same_end(recorded))
    engine.verdict_of = None
    return _go_on(steps, waiting, Note("loop.start", start), recorded)


def _go_on(
    steps: Generator[EngineEffect[Any], Answer, None], waiting: EngineEffect[Any], start: Note, recorded: RecordedRun
) -> Generator[EngineEffect[Any], Answer, None]:
    answer = yield start
    if isinstance(answer, Ok):
        gap = recorded.in_doubt()
        answer = gap if recorded.has_open_call else (yield waiting)
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
    was = recorded.start["goal"]
    if not recorded.masked:
        if goal is not None and goal != was:
            raise UsageError(f"the goal of run {recorded.run} was {was!r}; leave it out, or start a new run for another goal")
        return str(was)
    if goal is None:
        raise UsageError(f"the trail does not hold the goal of run {recorded.run}, since its tools hide values; give goal=…")
    return goal


def _same_end(recorded: RecordedRun) -> str:
    return f"run {recorded.run} cannot be resumed: with these options it would only come to the same end again; give it more room"


def _recall(engine: Engine, recorded: RecordedRun, *, options: bool = True) -> Recall:
    recall = Recall(recorded.entries, masked=recorded.masked, options=options)
    engine.verdict_of = recall.verdict
    return recall


def _drive(steps: Generator[EngineEffect[Any], Answer, None], recall: Recall) -> None:
    effect = next(steps)
    while True:
        answer = recall.answer(effect)
        try:
            effect = steps.send(answer)
        except StopIteration:
            return


def _difference(recorded: RecordedRun, found: Differs, versions: Mapping[str, Any]) -> Difference:
    entry = found.recorded
    kind = entry.kind if entry is not None else ""
    where = f"entry {entry.seq} ({kind})" if entry is not None else "after the last entry"
    words = f"{where}: {found.path or 'data'} was {_short(found.was)}, and is now {_short(found.got)}"
    was = recorded.start.get("versions", {})
    changed = [f"{name} {was.get(name)} then, {now} now" for name, now in versions.items() if was.get(name) != now]
    if changed:
        words += f" (recorded with another version: {'; '.join(changed)})"
    return Difference(
        run=recorded.run,
        seq=entry.seq if entry is not None else None,
        kind=kind,
        path=found.path,
        recorded=found.was,
        got=found.got,
        message=words,
    )


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
