"""`foxloop-trio bench pages`: which fields of real saved pages a look lists, and what is missed and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._bench_show import targets_table, versions
from ._output import json_option, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from ._bench_pages_work import Read


@click.command()
@click.option("--limit", type=click.IntRange(min=1), default=None, help="Only so many pages, from the beginning.")
@click.option("--page", "only", type=int, multiple=True, help="Only the page at this position of the index; repeatable.")
@json_option
def pages(limit: int | None, only: tuple[int, ...], as_json: bool) -> int:
    """Read the saved pages of formasaurus, and compare with the fields that people have labelled on them.

    Only the pages at odd positions of its index are used. They are fetched once from PyPI (13 MB), and served on this machine, with
    every other host blocked. Exit 0 whether the targets are met or not: the table says.
    """
    import trio
    from rich.console import Console

    from ..corpora import formasaurus_pages, saved_pages
    from ._bench_pages_work import figures, read_pages
    from ._bench_progress import progress

    folder = formasaurus_pages()
    wanted = [page for page in saved_pages(folder) if not only or page.position in only][:limit]
    with progress("reading", Console(stderr=True), total=len(wanted)) as advance:
        found = trio.run(lambda: read_pages(folder, wanted, advance=advance))
    measured = figures(found)
    if as_json:
        plain = [one.to_json() for one in found]
        print_json({**versions(), "pages": plain, "figures": [figure.to_json() for figure in measured]})
        return 0
    console = Console(highlight=False)
    _show(console, found)
    console.print(targets_table(measured))
    return 0


MOST_ROWS = 60
"""Rows of the table of what is missed; --json has all."""


def _show(console: Console, found: list[Read]) -> None:
    from rich.table import Table
    from rich.text import Text

    from ._bench_pages_work import kinds_of

    kinds = Table(title="Visible typed fields, by kind", title_justify="left")
    kinds.add_column("kind")
    for column in ("there", "listed well", "share"):
        kinds.add_column(column, justify="right")
    for kind, (there, good) in kinds_of(found).items():
        kinds.add_row(kind, str(there), str(good), f"{good / there:.1%}")
    console.print(kinds)

    failed = [one for one in found if one.error is not None]
    misses = [(one, miss) for one in found for miss in one.misses]
    if failed or misses:
        table = Table(title="What is missed, and why", title_justify="left")
        for column in ("page", "field", "kind", "why"):
            table.add_column(column, overflow="fold")
        for one in failed:
            table.add_row(str(one.position), "(the page)", "", Text(one.error or ""))
        for one, miss in misses[: MOST_ROWS - len(failed)]:
            table.add_row(str(one.position), Text(miss.name), miss.kind, Text(miss.why))
        console.print(table)
        if len(misses) > MOST_ROWS:
            console.print(f"+{len(misses) - MOST_ROWS} more; --json has all.")
    slowest = sorted(found, key=lambda one: -one.in_page_ms)[:5]
    console.print(
        "Slowest in the page: "
        + ", ".join(f"{one.position} ({one.elements} elements, {one.in_page_ms:.0f} ms)" for one in slowest),
        soft_wrap=True,
        style="dim",
    )
