"""`foxloop-trio trail replay`: does a run go the recorded way? Exit 0 yes, 1 at a difference, 2 when it cannot be judged."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from ..errors import UsageError
from ._output import json_option, print_json

MAX_MESSAGE: Final = 2000
"""Characters of a difference that are printed; `--json` has all of it."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--loop",
    "where",
    required=True,
    metavar="MODULE:FUNCTION",
    help="What makes the loop: a plain or an async function, or one that gives an async context manager.",
)
@click.option("--run", "run_id", metavar="ID", help="The run; without it the last one of the trail.")
@json_option
def replay(file: Path, where: str, run_id: str | None, as_json: bool) -> int:
    """Drive a loop with a run that FILE recorded, and say where it first goes another way.

    The loop is made by MODULE:FUNCTION (found from the current folder too) with the tools and options that the run had. Nothing is
    asked, run or written. The trail is not verified: see `trail verify`.

    Exit 0 when it goes the recorded way, 1 at the first difference, 2 when it cannot be judged.
    """
    import trio

    from .. import trail
    from ._trail import Unjudged

    try:
        entries = list(trail.read_trail(file, whole=True))
    except trail.TrailError as fault:
        raise Unjudged(str(fault)) from fault
    found = trio.run(lambda: trail.replay(entries, _maker(where), run=run_id))
    return _tell(file, found, as_json=as_json)


def _maker(where: str) -> Callable[[], Any]:
    """The function that was named. Raises UsageError, saying what of the name is wrong."""
    module_name, colon, name = where.partition(":")
    if not colon or not module_name or not name:
        raise UsageError(f"--loop must be MODULE:FUNCTION, such as my_agent:make_loop, not {where!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as fault:
        if fault.name is None or not f"{module_name}.".startswith(f"{fault.name}."):
            raise  # a module that theirs imports; its traceback says where
        raise UsageError(f"--loop {where}: there is no module {fault.name!r} here or among what is installed") from fault
    except RuntimeError as fault:
        if "inside a run()" not in str(fault):
            raise
        raise UsageError(
            f"--loop {where}: {module_name} runs a Trio program when it is imported; put its trio.run(...) under: "
            'if __name__ == "__main__":'
        ) from fault
    except UsageError:
        raise  # of what that module makes when it is imported
    except (ValueError, TypeError) as fault:
        raise UsageError(f"--loop {where}: {module_name!r} is no name of a module") from fault
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError as fault:
            raise UsageError(f"--loop {where}: {module_name} has no {name!r}") from fault
    if not callable(found):
        raise UsageError(f"--loop {where}: {name} is {type(found).__name__}, not a function that makes a Loop")
    maker: Callable[[], Any] = found
    return maker


def _tell(file: Path, found: Any, *, as_json: bool) -> int:
    from ..loop import Replayed
    from ._words import plain

    if isinstance(found, Replayed):
        if as_json:
            print_json({"file": str(file), "ok": True, "run": found.run, "entries": found.entries, "finished": found.finished})
        else:
            end = "" if found.finished else "; the trail ends before the run does"
            click.echo(f"ok: run {found.run}, {found.entries} entries{end}")
        return 0
    if as_json:
        names = ("run", "seq", "kind", "path", "recorded", "got", "message")
        print_json({"file": str(file), "ok": False, **{name: getattr(found, name) for name in names}})
    else:
        click.echo(plain(f"run {found.run}: {found.message}", MAX_MESSAGE), err=True)
    return 1
