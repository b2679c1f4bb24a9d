"""`foxloop-trio bench gate`: what one question to the gate costs, by store and by number of grants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ._bench_show import targets_table, versions, with_progress
from ._output import json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from ._bench_measure import Figure, Taken


@click.command()
@click.option("--calls", type=click.IntRange(1, 400), default=200, show_default=True, help="Questions in one sample.")
@click.option("--repeat", type=click.IntRange(min=1), default=15, show_default=True, help="Samples of each kind.")
@json_option
def gate(calls: int, repeat: int, as_json: bool) -> int:
    """Time on the wall that the gate takes to answer.

    The kinds of question take turns. A sample is the median of its calls. Exit 0 whether targets are met or not: the table says.
    """
    from rich.console import Console

    from ._bench_gate_work import cells, figures

    kinds, absent = cells(calls)
    taken = with_progress(kinds, repeat, Console(stderr=True))
    found = figures(taken)
    if as_json:
        print_json(
            {
                "calls": calls,
                "repeat": repeat,
                **versions(),
                "questions": [_plain(one) for one in taken],
                "figures": [figure.to_json() for figure in found],
                "not_there": absent,
            }
        )
    else:
        _show(Console(highlight=False), taken, found, absent, calls)
    return 0


def _plain(one: Taken) -> dict[str, Any]:
    return {"name": one.cell.name, "grants": one.cell.steps, "median_us": one.median * 1e6, "least_us": one.least * 1e6}


def _show(console: Console, taken: list[Taken], found: list[Figure], absent: list[str], calls: int) -> None:
    from rich.table import Table

    costs = Table(title="Time of one answer, in microseconds", title_justify="left")
    costs.add_column("question")
    for column in ("grants", "median", "least"):
        costs.add_column(column, justify="right")
    for one in taken:
        costs.add_row(one.cell.name, str(one.cell.steps), f"{one.median * 1e6:.1f}", f"{one.least * 1e6:.1f}")
    console.print(costs)
    console.print(targets_table(found))
    if absent:
        console.print(f"Not there, so not measured: {', '.join(absent)}.", soft_wrap=True)
    known = versions()
    console.print(
        f"Python {known['python']}, Trio {known['trio']}, {calls} calls a sample. Every answer is an allow.",
        soft_wrap=True,
        style="dim",
    )
