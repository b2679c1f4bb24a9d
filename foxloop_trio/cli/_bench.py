"""`foxloop-trio bench`: what our own parts cost on the machine at hand, against something plain that does the same work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from ._bench_gate import gate
from ._bench_miniwob import miniwob
from ._bench_pages import pages
from ._bench_show import targets_table, versions, with_progress
from ._bench_snapshot import snapshot
from ._bench_trail import bench_trail
from ._lazy import PlainGroup
from ._output import json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from ._bench_measure import Cell, Figure, Taken

LONG: Final = 15
"""A long run has this many times the steps of a short one: 300 for 20."""


@click.group(cls=PlainGroup)
def bench() -> None:
    """What our parts cost on this machine."""


bench.add_command(gate)
bench.add_command(bench_trail)
bench.add_command(snapshot)
bench.add_command(pages)
bench.add_command(miniwob)


@bench.command()
@click.option("--steps", type=click.IntRange(min=1), default=20, show_default=True, help="Tool calls of one run.")
@click.option("--repeat", type=click.IntRange(min=1), default=15, show_default=True, help="Samples of each contender.")
@json_option
def loop(steps: int, repeat: int, as_json: bool) -> int:
    """CPU time per step of the loop, against a bare Trio loop and other frameworks.

    The contenders take turns. pydantic-ai, LangGraph and openai-agents take part when they are installed. Exit 0 whether the
    targets are met or not: the table says.
    """
    from rich.console import Console

    from ._bench_measure import figures

    cells, absent = contenders(steps, steps * LONG)
    taken = with_progress(cells, repeat, Console(stderr=True))
    found = figures(taken, steps, steps * LONG)
    if as_json:
        print_json(_plain(taken, found, absent, steps, repeat))
    else:
        remark = "The gate allows at once unless the name says that it is the real one."
        _show(Console(highlight=False), taken, found, absent, steps, remark)
    return 0


@bench.command()
@click.option("--steps", type=click.IntRange(min=1), default=20, show_default=True, help="Tool calls of one run.")
@click.option("--repeat", type=click.IntRange(min=1), default=15, show_default=True, help="Samples of each contender.")
@json_option
def react(steps: int, repeat: int, as_json: bool) -> int:
    """CPU time per step of the ReAct facade, without hooks and guards, against a bare Trio loop.

    The contenders take turns. Exit 0 whether the targets are met or not: the table says.
    """
    from rich.console import Console

    from ._bench_react import contenders, figures

    taken = with_progress(contenders(steps, steps * LONG), repeat, Console(stderr=True))
    found = figures(taken, steps, steps * LONG)
    if as_json:
        print_json(_plain(taken, found, [], steps, repeat))
    else:
        _show(Console(highlight=False), taken, found, [], steps, "No hooks and no guards.")
    return 0


def contenders(steps: int, long_steps: int) -> tuple[list[Cell], list[str]]:
    """The cells of one round, and the names of the frameworks that are not installed."""
    from ._bench_by_hand import sample_by_hand
    from ._bench_frameworks import FRAMEWORKS, installed
    from ._bench_measure import ABORT, BARE, BY_HAND, OURS, PAGES, TRAIL, Cell
    from ._bench_ours import OurSample, sample_abort, sample_bare

    cells = [Cell(name=BARE, steps=steps, sample=sample_bare), Cell(name=BY_HAND, steps=steps, sample=sample_by_hand)]
    for name, sample in ((OURS, OurSample()), (PAGES, OurSample(page_text=True)), (TRAIL, OurSample(trail=True))):
        cells += [Cell(name=name, steps=length, sample=sample) for length in (steps, long_steps)]
    cells.append(Cell(name=f"{OURS}, real gate", steps=steps, sample=OurSample(real_gate=True)))
    cells.append(Cell(name=f"{OURS}, real gate, memory trail", steps=steps, sample=OurSample(real_gate=True, trail=True)))
    absent: list[str] = []
    for name, (package, sample_of) in FRAMEWORKS.items():
        found = installed(package)
        if found is None:
            absent.append(name)
        else:
            cells.append(Cell(name=f"{name} {found}", steps=steps, sample=sample_of, framework=True))
    cells.append(Cell(name=ABORT, steps=1, sample=sample_abort))
    return cells, absent


def _plain(taken: list[Taken], found: list[Figure], absent: list[str], steps: int, repeat: int) -> dict[str, Any]:
    return {
        "steps": steps,
        "repeat": repeat,
        **versions(),
        "contenders": [one.to_json() for one in taken],
        "figures": [figure.to_json() for figure in found],
        "not_installed": absent,
    }


def _show(console: Console, taken: list[Taken], found: list[Figure], absent: list[str], steps: int, remark: str) -> None:
    from rich.table import Table

    from ._bench_measure import ABORT

    costs = Table(title="CPU time per step, in microseconds", title_justify="left")
    costs.add_column("contender")
    for column in ("steps", "median", "least", "x bare", "x bare, by least"):
        costs.add_column(column, justify="right")
    bare = taken[0]
    for one in taken:
        if one.cell.name == ABORT:
            continue
        if one.left_out is not None:
            costs.add_row(one.cell.name, str(one.cell.steps), "left out")
            continue
        times = (f"{one.median * 1e6:.1f}", f"{one.least * 1e6:.1f}")
        costs.add_row(
            one.cell.name, str(one.cell.steps), *times, f"{one.median / bare.median:.2f}", f"{one.least / bare.least:.2f}"
        )
    console.print(costs)

    console.print(targets_table(found))

    for one in taken:
        if one.left_out is not None:
            console.print(f"{one.cell.name} was left out: {one.left_out}", soft_wrap=True, markup=False)
    if absent:
        console.print(f"Not installed, so not measured: {', '.join(absent)}.", soft_wrap=True)
    known = versions()
    console.print(
        f"Python {known['python']}, Trio {known['trio']}, runs of {steps} tool calls. {remark}",
        soft_wrap=True,
        style="dim",
    )
