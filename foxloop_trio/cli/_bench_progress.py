"""How far a long measurement is, on a terminal: what it is at, and how many it did."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["progress"]


@contextmanager
def progress(words: str, console: Console, total: int | None = None) -> Iterator[Callable[[str], None]]:
    """Gives a function that is told the name of each thing before it is begun."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn(words), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=console, auto_refresh=False, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("", total=total)

        def advance(name: str) -> None:
            shown.update(task, description=name)
            shown.advance(task)
            shown.refresh()

        yield advance
