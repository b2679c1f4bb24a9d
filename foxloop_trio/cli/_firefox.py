"""`foxloop-trio firefox`: a thin face over `foxloop_trio.browser`, which knows where Firefox is and how it is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from ..errors import BrowserError
from ._lazy import PlainGroup
from ._output import json_option, print_json

NOT_FOUND = "Firefox was not found. Install it with `foxloop-trio firefox install`, or name its program in FOXLOOP_FIREFOX."


@click.group(cls=PlainGroup)
def firefox() -> None:
    """Find Firefox, or install it."""


@firefox.command()
@json_option
def where(as_json: bool) -> int:
    """Print the path of the Firefox that would be started; exit 1 when there is none."""
    from ..browser import find_firefox

    path = find_firefox()
    if as_json:
        print_json({"found": path is not None, "path": None if path is None else str(path)})
    elif path is not None:
        click.echo(path)
    if path is None:
        if not as_json:
            click.echo(NOT_FOUND, err=True)
        return 1
    return 0


@firefox.command()
@click.option("--yes", is_flag=True, help="Install without asking.")
@json_option
def install(yes: bool, as_json: bool) -> int:
    """Install Firefox with apt, dnf, brew or winget; do nothing where it is found.

    Shows the commands and asks before it runs them, unless --yes is given. Where it cannot install, it says what to do by hand.
    """
    from ..browser import find_firefox, install_firefox

    before = find_firefox()
    path: Path = install_firefox(yes=yes, run=_run)
    if as_json:
        print_json({"path": str(path), "installed": before is None})
    else:
        click.echo(f"Firefox is {'at' if before else 'now at'} {path}")
    return 0


def _run(command: Sequence[str]) -> int:
    """Run one command of the package manager. Its words go to stderr, since stdout is for the result."""
    try:
        return subprocess.run(
            command, check=False, stdin=subprocess.DEVNULL if not sys.stdin else None, stdout=sys.stderr
        ).returncode
    except OSError as fault:
        raise BrowserError(f"{command[0]!r} could not be started: {fault}", code="install-failed") from fault
