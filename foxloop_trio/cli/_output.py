"""What several commands print in the same way: JSON for programs, and the option that asks for it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from shlex import quote
from shutil import which
from typing import Any, Final

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


NAME: Final = "foxloop-trio"


def own_name() -> str:
    """What to type for this program, so that a line that we print can be pasted: as it was called, where its name alone is not
    found, or is another installation of it.
    """
    called = Path(sys.argv[0])
    if called.name == "__main__.py":
        return "python -m foxloop_trio"
    found = which(NAME)
    if called.name != NAME or (found is not None and Path(found).resolve() == called.resolve()):
        return NAME
    return quote(str(called))


def print_json(value: Any) -> None:
    """One JSON text on stdout, indented, with its characters as they are."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
