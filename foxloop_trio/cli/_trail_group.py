"""The group `foxloop-trio trail`: the commands that `_trail` holds, and those that are loaded when they run."""

from __future__ import annotations

import click

from . import _trail
from ._lazy import LazyGroup, list_whole


class TrailGroup(LazyGroup):
    """A lazy group beside a plain one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_trail.trail.list_commands(ctx), *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return super().get_command(ctx, cmd_name) or _trail.trail.get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        list_whole(self, ctx, formatter)


trail = TrailGroup(
    name="trail",
    help=_trail.trail.help,
    commands_at={
        "show": ("._trail_show", "show", "Tell the story of a run in the terminal."),
        "report": ("._trail_report", "report", "Write the story of a run as a page."),
    },
)
