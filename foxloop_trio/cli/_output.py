"""What several commands print in the same way: JSON for programs, and the option that asks for it."""

from __future__ import annotations

import json
from typing import Any

import click

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def print_json(value: Any) -> None:
    """One JSON text on stdout, indented, with its characters as they are."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))
