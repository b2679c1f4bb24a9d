"""A click group that knows its commands by name and one line of help, and imports a command's module when it is used.

So ``foxloop-trio --help`` reads no Trio, no Rich and none of our own packages. Beside it a plain group that shows the line of each
command whole.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Final

import click

LINE: Final = 100
"""Characters of a command's line in the list of its group; it goes over several lines where it must."""


class PlainGroup(click.Group):
    """A group whose list of commands has their first sentences whole; click cuts them after 45 characters."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        list_whole(self, ctx, formatter)


def list_whole(group: click.Group, ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """The commands of a group whose help is loaded."""
    commands = [(name, group.get_command(ctx, name)) for name in group.list_commands(ctx)]
    with formatter.section("Commands"):
        formatter.write_dl([(name, command.get_short_help_str(LINE)) for name, command in commands if command is not None])


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
