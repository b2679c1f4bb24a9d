"""The tool `read_table`: a table or grid as JSON rows, some at a time."""

from __future__ import annotations

from typing import Final

from ...actions import ToolContext, ToolOutput
from ...errors import BrowserError, Refuse
from ...prompt import LIMITS
from ...tools import Tool
from ...wire import LIMITS as WIRE
from .._quoting import quote
from .._table import Table
from ._desk import Args, Desk

__all__ = ["table_tools"]

ROWS: Final = 100
"""Rows that are asked for at once; seldom more fit into what a planner gets of one result."""
RESERVE: Final = 100
"""Characters of that which are left free."""


def table_tools(desk: Desk) -> list[Tool]:
    """`read_table`, with scope read."""
    return [
        Tool(
            name="read_table",
            description=(
                "Read a table or grid of the page as one JSON object for each row: the first, or the nth; with find only rows that "
                "hold these words; from row number offset on."
            ),
            parameters={
                "type": "object",
                "properties": {
                    "nth": {"type": "integer", "minimum": 1, "description": "Which table of the page, from 1."},
                    "find": {"type": "string", "minLength": 1, "maxLength": WIRE["find"]},
                    "offset": {"type": "integer", "minimum": 0, "description": "Pass over so many rows."},
                    "frame": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "The number before the colon of an id; 0 is the top.",
                    },
                },
            },
            scope="read",
            domain=desk.domain,
            prepare=lambda args, ctx: _prepare(args),
            describe=lambda args, ctx: _words(args, ctx.domain),
            run=lambda args, ctx: _run(desk, args, ctx),
            environment=desk.tab.session,
        )
    ]


def _prepare(args: Args) -> Args:
    if "find" in args and not args["find"].strip():
        raise Refuse("find needs at least one word.")
    return args


def _words(args: Args, host: str | None) -> str:
    find = f", rows that hold {quote(args['find'])}" if "find" in args else ""
    return f"read table {args.get('nth', 1)} of the page in the tab, on {host}{find}"


async def _run(desk: Desk, args: Args, ctx: ToolContext) -> ToolOutput:
    ctx.report_effect("not-started")
    async with desk.hold():
        if (moved := desk.moved(ctx)) is not None:
            return moved
        try:
            table = await desk.tab.table(
                args.get("nth", 1), find=args.get("find"), offset=args.get("offset", 0), rows=ROWS, frame=args.get("frame", 0)
            )
        except BrowserError as error:
            return desk.failed("read_table", error, ctx)
        if (moved := desk.moved(ctx)) is not None:  # what was read may be of another site, which nobody judged
            return moved
        ctx.report_effect("done")
    if table.nth > table.tables:
        have = "no table" if table.tables == 0 else f"{table.tables} table{'' if table.tables == 1 else 's'}"
        return ToolOutput(ok=False, summary=f"The page has {have}. Read it with snapshot, or give another nth.")
    lines = _lines(table)
    shown = len(lines) - (1 if table.caption else 0)
    records = table.records[:shown]
    data = {"header": list(table.header), "rows": records, "offset": table.offset, "total": table.total}
    return ToolOutput(ok=True, summary=_summary(table, shown), untrusted="\n".join(lines) or None, data=data)


def _lines(table: Table) -> list[str]:
    """The caption, and as many rows as fit into a result."""
    lines = [f"Table: {quote(table.caption)}"] if table.caption else []
    room = LIMITS["untrusted"] - RESERVE - sum(map(len, lines))
    for record in table.records:
        line = "{" + ", ".join(f"{quote(name)}: {quote(text)}" for name, text in record.items()) + "}"
        room -= len(line) + 1 + 3 * (line.count("<") + line.count(">"))
        if room < 0 and lines[-1:] and lines[-1].startswith("{"):  # one row is shown in any case
            break
        lines.append(line)
    return lines


def _summary(table: Table, shown: int) -> str:
    rows = f"{table.total} row{'' if table.total == 1 else 's'}"
    columns = len(table.header) or max(map(len, table.rows), default=0)
    parts = [f"Table {table.nth} of {table.tables} has {rows} and {columns} column{'' if columns == 1 else 's'}."]
    end = table.offset + shown
    if end < table.total:
        parts.append(f"Rows {table.offset + 1} to {end} are shown: go on with offset={end}.")
    if table.declared is not None and table.declared > table.total:
        parts.append(f"The page says that there are {table.declared} rows, of which it shows only these: scroll it for more.")
    return " ".join(parts)
