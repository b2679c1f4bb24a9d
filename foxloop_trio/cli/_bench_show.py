"""What the benchmarks have in common on the screen: how far it is, the versions, and figures beside their targets."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from ._bench_measure import Cell, Figure, Taken


def with_progress(cells: list[Cell], repeat: int, console: Console) -> list[Taken]:
    """Take the samples and show how far it is. Rich's own refreshing thread is off: its CPU time would be counted as ours."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from ._bench_measure import WARM_UP, take

    columns = (TextColumn("measuring"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, auto_refresh=False, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=len(cells) * (WARM_UP + repeat))

        def advance(name: str) -> None:
            progress.update(task, description=name)
            progress.refresh()
            progress.advance(task)

        return take(cells, repeat, advance)


def versions() -> dict[str, str]:
    import trio

    return {"python": platform.python_version(), "trio": trio.__version__}


def targets_table(found: Sequence[Figure]) -> Table:
    from rich.table import Table

    targets = Table(title="Against the targets, by medians", title_justify="left")
    targets.add_column("figure", overflow="fold")
    for column in ("measured", "by least", "target", "met"):
        targets.add_column(column, justify="right")
    for figure in found:
        met = "[green]yes[/]" if figure.met else "[red]NO[/]"
        targets.add_row(
            figure.name, f"{figure.value:.2f} {figure.unit}", f"{figure.by_least:.2f} {figure.unit}", figure.target, met
        )
    return targets
