"""Taking samples in turn and making figures of them, each beside its target. No terminal here and no clock of its own.

In turn means: one sample of each contender, then the next of each. Whatever else the machine does hits all of them alike, so the
ratios hold on a busy machine, when the times do not. The least of all samples stands beside the median, since it is what was
disturbed least.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any, Final

import attrs

Sample = Callable[[int], float]

BARE: Final = "bare Trio loop"
BY_HAND: Final = "our parts, by hand"
OURS: Final = "our loop"
PAGES: Final = "our loop, page text"
TRAIL: Final = "our loop, memory trail"
ABORT: Final = "abort"

WARM_UP: Final = 1
"""Rounds that are not counted: modules are imported and schemas compiled in them."""

MOST_TIMES_BARE: Final = 4.0
AIM_TIMES_BARE: Final = 3.0
MOST_GROWTH: Final = 1.15
LEAST_TIMES_CHEAPER: Final = 20.0
MOST_ABORT_MS: Final = 1.0
"""The targets that the project set itself for version 1; aims and not promises."""


@attrs.frozen(kw_only=True)
class Cell:
    """One contender at one length of run."""

    name: str
    steps: int
    sample: Sample
    framework: bool = False


@attrs.frozen(kw_only=True)
class Taken:
    """The samples of a cell in seconds: CPU a step, or for `ABORT` on the wall a time. `left_out` says why there are none."""

    cell: Cell
    seconds: Sequence[float]
    left_out: str | None = None

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def least(self) -> float:
        return min(self.seconds)

    def to_json(self) -> dict[str, Any]:
        plain: dict[str, Any] = {"name": self.cell.name, "steps": self.cell.steps}
        if self.left_out is not None:
            return {**plain, "left_out": self.left_out}
        return {**plain, "median_us": self.median * 1e6, "least_us": self.least * 1e6}


@attrs.frozen(kw_only=True)
class Figure:
    """A figure with a target: by the medians, which count, and by the least samples."""

    name: str
    value: float
    by_least: float
    unit: str
    target: str
    met: bool

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


def take(cells: Sequence[Cell], repeat: int, advance: Callable[[str], None]) -> list[Taken]:
    """`repeat` rounds of one sample of each cell, after one that does not count; `advance` is told the name before each sample.

    A framework whose sample raises is left out from then on. What our own code raises comes out.
    """
    seconds: dict[int, list[float]] = {index: [] for index in range(len(cells))}
    left_out: dict[int, str] = {}
    try:
        for turn in range(WARM_UP + repeat):
            for index, cell in enumerate(cells):
                advance(cell.name)
                if index in left_out:
                    continue
                gc.collect()  # so that nobody pays for the garbage of the one before
                try:
                    spent = cell.sample(cell.steps)
                except Exception as fault:
                    if not cell.framework:
                        raise
                    left_out[index] = f"{type(fault).__name__}: {fault}"
                    continue
                if turn >= WARM_UP:
                    seconds[index].append(spent)
            gc.freeze()  # nor for the modules of the others, which are all loaded by now
    finally:
        gc.unfreeze()
    return [Taken(cell=cell, seconds=seconds[index], left_out=left_out.get(index)) for index, cell in enumerate(cells)]


def figures(taken: Sequence[Taken], steps: int, long_steps: int) -> list[Figure]:
    """The figures that have a target, from whatever cells there are."""
    at: Mapping[tuple[str, int], Taken] = {(one.cell.name, one.cell.steps): one for one in taken if one.left_out is None}
    ours = at[OURS, steps]
    found = [
        at_most(f"{OURS} / {BARE}", ours, at[BARE, steps], MOST_TIMES_BARE, f"at most {MOST_TIMES_BARE:g}, aim {AIM_TIMES_BARE:g}")
    ]
    for name in (OURS, PAGES, TRAIL):
        words = f"{name}: a step of {long_steps} / a step of {steps}"
        found.append(at_most(words, at[name, long_steps], at[name, steps], MOST_GROWTH, f"at most {MOST_GROWTH:g}"))
    others = [one for one in taken if one.cell.framework and one.left_out is None]
    if others:
        fastest = min(others, key=lambda one: one.median)
        value = fastest.median / ours.median
        found.append(
            Figure(
                name=f"{fastest.cell.name}, the fastest framework / {OURS}",
                value=value,
                by_least=fastest.least / ours.least,
                unit="x",
                target=f"at least {LEAST_TIMES_CHEAPER:g}",
                met=value >= LEAST_TIMES_CHEAPER,
            )
        )
    abort = next(one for one in taken if one.cell.name == ABORT)
    found.append(
        Figure(
            name="abort() to the event aborted",
            value=abort.median * 1e3,
            by_least=abort.least * 1e3,
            unit="ms",
            target=f"under {MOST_ABORT_MS:g}",
            met=abort.median * 1e3 < MOST_ABORT_MS,
        )
    )
    return found


def at_most(name: str, top: Taken, bottom: Taken, limit: float, target: str) -> Figure:
    """The ratio of two medians, held against its limit."""
    value = top.median / bottom.median
    return Figure(name=name, value=value, by_least=top.least / bottom.least, unit="x", target=target, met=value <= limit)
