"""`foxloop-trio bench snapshot`: what a look at a page costs, by the page's size; and its text beside the accessibility tree's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ._bench_show import targets_table, versions
from ._output import json_option, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from ._bench_measure import Figure
    from ._bench_snapshot_work import Looked


@click.command()
@click.option("--repeat", type=click.IntRange(min=1), default=7, show_default=True, help="Looks at each page.")
@click.option("--no-miniwob", is_flag=True, help="Leave the pages of MiniWoB++ out, which are fetched once from PyPI.")
@json_option
def snapshot(repeat: int, no_miniwob: bool, as_json: bool) -> int:
    """Time, bytes and tokens of looks at pages, in a Firefox of our own.

    Pages of 100 to 50,000 elements, ordinary forms, and MiniWoB++. Tokens are estimated, the same way for our text and for a dump
    of the page's accessibility tree in YAML. Exit 0 whether the targets are met or not: the table says.
    """
    import trio
    from rich.console import Console

    from ._bench_progress import progress
    from ._bench_snapshot_work import figures, looks

    with progress("looking", Console(stderr=True)) as advance:
        found = trio.run(lambda: looks(repeat, miniwob=not no_miniwob, advance=advance))
    measured = figures(found)
    if as_json:
        pages = [one.to_json() for one in found]
        print_json({"repeat": repeat, **versions(), "pages": pages, "figures": [figure.to_json() for figure in measured]})
    else:
        _show(Console(highlight=False), found, measured)
    return 0


def _show(console: Console, found: Sequence[Looked], measured: Sequence[Figure]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="Looks: median times in ms, sizes, estimated tokens", title_justify="left")
    table.add_column("page", overflow="fold", min_width=15)
    for column in ("elements", "controls", "in page", "wire", "bytes", "tokens", "tree", "ratio"):
        table.add_column(column, justify="right", overflow="fold")
    tasks = [one for one in found if one.kind == "miniwob"]
    for one in (*(one for one in found if one.kind != "miniwob"), *sorted(tasks, key=lambda one: -(one.ratio or 0))[:10]):
        if one.error is not None:
            table.add_row(Text(f"{one.name}: {one.error}"))
            continue
        ratio = "" if one.ratio is None else f"{one.ratio:.2f}"
        numbers = (one.elements, one.controls, f"{one.in_page_ms:.1f}", f"{one.wire_ms:.1f}", one.answer_bytes, one.text_tokens)
        table.add_row(one.name, *map(str, numbers), "" if one.tree_tokens is None else str(one.tree_tokens), ratio)
    console.print(table)
    if tasks:
        console.print(
            f"Of the {len(tasks)} pages of MiniWoB++ the ten with the highest ratios are shown; --json has all.", soft_wrap=True
        )
    console.print(targets_table(measured))
    known = versions()
    words = "in page: the script of the add-on; wire: the way there and back, and checking the answer; tree: the dump in YAML"
    console.print(f"Python {known['python']}, Trio {known['trio']}. {words}.", soft_wrap=True, style="dim")
