"""`foxloop-trio bench miniwob`: which tasks of MiniWoB++ scripted planners solve, and what a step costs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..errors import UsageError
from ._bench_show import versions
from ._output import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from ._bench_miniwob_work import Attempt, PlannerSet

EXAMPLES: Final = Path(__file__).parents[2] / "examples" / "miniwob"
"""Our planners, in a checkout of the project; an installed package has none."""
NO_PLANNER: Final = "no planner"


@click.command()
@click.argument("tasks", nargs=-1, metavar="[TASK]...")
@click.option(
    "--seeds", type=click.IntRange(min=1, max=1000), default=5, show_default=True, help='Episodes of a task: seeds "0", "1", ...'
)
@click.option(
    "--planners",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=None,
    help="Folder of a package with TASKS; default: the project's own examples/miniwob.",
)
@json_option
def miniwob(tasks: tuple[str, ...], seeds: int, planners: Path | None, as_json: bool) -> int:
    """Let scripted planners solve tasks of MiniWoB++, in a Firefox of our own.

    All tasks that there are planners for, or only those that are named. The pages are fetched once from PyPI (2 MB). Each episode
    has a page that is opened afresh and upstream's own time limit; a task is solved when every episode ends with the full reward.
    Exit 0 whether tasks fail or not: the table says.
    """
    import trio
    from rich.console import Console

    from ..corpora import MINIWOB, miniwob_pages, registered_tasks, task_names
    from ._bench_miniwob_work import attempt_all, load_planners
    from ._bench_progress import progress

    folder = planners if planners is not None else EXAMPLES
    if planners is None and not folder.is_dir():
        raise UsageError("the planners are in a checkout of the project, in examples/miniwob: name that folder with --planners")
    found = load_planners(folder)
    pages = miniwob_pages()
    unknown = sorted(set(tasks) - set(task_names(pages)))
    if unknown:
        raise UsageError(f"MiniWoB++ {MINIWOB.version} has no task {', '.join(unknown)}")
    wanted = list(dict.fromkeys(tasks)) or registered_tasks(pages)
    attempted = [task for task in wanted if task in found.tasks]
    left = why_not(wanted, found)
    attempts: list[Attempt] = []
    if attempted:
        names = [str(number) for number in range(seeds)]
        with progress("solving", Console(stderr=True), total=len(attempted) * seeds) as advance:
            trio.run(lambda: attempt_all(pages, found, attempted, names, advance=advance, done=attempts.append))
    if as_json:
        print_json(plain(attempts, left, seeds, MINIWOB.version))
    else:
        _show(Console(highlight=False), attempts, left, seeds, MINIWOB.version)
    return 0


def why_not(tasks: Sequence[str], planners: PlannerSet) -> dict[str, str]:
    """The tasks that are not attempted, and why."""
    return {task: planners.not_attempted.get(task, NO_PLANNER) for task in tasks if task not in planners.tasks}


def plain(attempts: Sequence[Attempt], left: Mapping[str, str], seeds: int, version: str) -> dict[str, Any]:
    """The result for programs."""
    from ._bench_miniwob_work import by_task, median_ms

    tasks = by_task(attempts)
    return {
        **versions(),
        "miniwob": version,
        "seeds": seeds,
        "attempted": len(tasks),
        "solved": [task for task, episodes in tasks.items() if all(one.solved for one in episodes)],
        "ms_per_step": median_ms(attempts),
        "episodes": [one.to_json() for one in attempts],
        "not_attempted": dict(left),
    }


def _show(console: Console, attempts: Sequence[Attempt], left: Mapping[str, str], seeds: int, version: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from ._bench_miniwob_work import by_task, median_ms, median_steps

    table = Table(title="Tasks of MiniWoB++", title_justify="left")
    table.add_column("task", overflow="fold", min_width=15)
    for column in ("solved", "steps", "ms per step"):
        table.add_column(column, justify="right")
    table.add_column("what went wrong, or why it is not attempted", overflow="fold")
    tasks = by_task(attempts)
    for task, episodes in tasks.items():
        good = sum(one.solved for one in episodes)
        wrong = next((f"seed {one.seed}: {one.why}" for one in episodes if not one.solved), "")
        solved = f"{good}/{len(episodes)}"
        table.add_row(
            task,
            solved if good == len(episodes) else f"[red]{solved}[/]",
            f"{median_steps(episodes):g}",
            f"{median_ms(episodes):.0f}",
            Text(" ".join(wrong.split())[:300]),
        )
    for task, why in left.items():
        table.add_row(task, "", "", "", Text(why))
    console.print(table)
    whole = sum(all(one.solved for one in episodes) for episodes in tasks.values())
    console.print(
        f"{len(tasks)} of {len(tasks) + len(left)} tasks attempted, {whole} solved on every one of {seeds} seeds, "
        f"{median_ms(attempts):.0f} ms per step. MiniWoB++ {version}.",
        soft_wrap=True,
    )
