"""A click group that knows its commands by name and one line of help, and imports a command's module when it is used.

So ``foxloop-trio --help`` reads no Trio, no Rich and none of our own packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import click


class LazyGroup(click.Group):
    """`commands_at` maps a command's name to ``(module, attribute, one line of help)``; the module is relative to this package."""

    def __init__(self, *args: Any, commands_at: Mapping[str, tuple[str, str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._commands_at = dict(commands_at)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        where = self._commands_at.get(cmd_name)
        if where is None:
            return None
        module, attribute, _ = where
        command = getattr(importlib.import_module(module, __package__), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, words) for name, (_, _, words) in self._commands_at.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
