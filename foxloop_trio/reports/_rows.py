"""Entries as rows: which run each belongs to, what is the loop's own, and when it was, on the run's own clock."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import attrs

from ..trail import Entry
from ._values import MAX_NUMBER, mapping, text, whole

LOOP: Final = "foxloop"
"""The actor of the loop's own entries; whatever else says `loop.…` is somebody else's word."""


@attrs.frozen(kw_only=True)
class Row:
    """One entry, with its place in the trail from 0. `run` is None when it names no run."""

    position: int
    seq: int | None
    ts: int | None
    actor: str
    kind: str
    data: Any
    run: str | None

    @property
    def event(self) -> str | None:
        """What the loop itself says here: `plan`, `done`, `start`, …; None for everybody else."""
        return self.kind.removeprefix("loop.") if self.actor == LOOP and self.kind.startswith("loop.") else None

    @property
    def clocks(self) -> tuple[int, int] | None:
        """Work and human milliseconds of the run so far; only events have them."""
        record = mapping(mapping(self.data).get("record"))
        work, human = whole(record.get("work_ms")), whole(record.get("human_ms"))
        return (work, human) if self.event is not None and work is not None and human is not None else None


def rows_of(entries: Iterable[Entry | Mapping[str, Any]]) -> Iterator[Row]:
    """Each entry as a row. What is no entry becomes a row that says so."""
    for position, entry in enumerate(entries):
        plain = entry.to_json() if isinstance(entry, Entry) else mapping(entry)
        data = plain.get("data")
        run = mapping(data).get("run")
        yield Row(
            position=position,
            seq=whole(plain.get("seq")),
            ts=whole(plain.get("ts")),
            actor=text(plain.get("actor")) or "",
            kind=text(plain.get("kind")) or "",
            data=data,
            run=run if type(run) is str and run else None,
        )


def offsets(rows: list[Row]) -> list[int]:
    """When each row was, in milliseconds since the run began; never lower than the one before.

    Events say so themselves, by two clocks that nobody can set. Notes are placed between them by the wall clock.
    """
    found: list[int] = []
    before: Row | None = None
    at = said = 0
    if rows and rows[0].event != "start":
        at = said = min((sum(clocks) for row in rows if (clocks := row.clocks) is not None), default=0)
    for row in rows:
        clocks = row.clocks
        if clocks is not None:
            at = said = max(said, sum(clocks))
        elif before is not None and before.ts is not None and row.ts is not None:
            at = min(at + max(0, row.ts - before.ts), MAX_NUMBER)
        found.append(at)
        before = row
    # A note that the wall clock puts after the next event was before it all the same.
    for index in range(len(rows) - 2, -1, -1):
        found[index] = min(found[index], found[index + 1])
    return found
