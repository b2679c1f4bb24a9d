"""`foxloop-trio trail show`: the story of a run in the terminal, or single entries as readable lines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ._output import json_option, print_json
from ._trail_story import TrailFile, trail_options

if TYPE_CHECKING:
    from ..trail import Entry

DATA: Final = 300
"""Characters of an entry's data in a line."""

MOST_KINDS: Final = 30
"""Kinds that are listed when none of the wanted ones is there."""


@click.command()
@trail_options
@click.option("--kind", "kinds", multiple=True, help="Print entries of this kind, such as loop.decision, line by line; repeatable.")
@click.option(
    "--since", help="Print entries from this instant on, line by line: 2025-10-09 or 2025-10-09T08:53:20, UTC if not said."
)
@json_option
def show(
    file: Path,
    run_id: str | None,
    key_file: Path | None,
    checkpoint_file: Path | None,
    kinds: tuple[str, ...],
    since: str | None,
    as_json: bool,
) -> int:
    """Tell the story of a run from the trail in FILE.

    Shows what the trail holds: what was masked there stays masked. With a key the trail is verified first. Exit 0 good, 1 when the
    trail does not hold (it is told all the same), 2 when there is nothing to tell.
    """
    after = None if since is None else _instant(since)
    trail = TrailFile(file, key_file=key_file, checkpoint_file=checkpoint_file)
    if kinds or after is not None:
        run = None if run_id is None else trail.run_named(run_id).id
        _print_entries(trail, _chosen(trail.entries(), run, kinds, after), as_json)
    else:
        story = trail.story(run_id)
        if as_json:
            from ..reports import story_to_json

            print_json(story_to_json(story))
        else:
            from rich.console import Console

            from ..reports import render_story

            render_story(story, Console(highlight=False))
    return 1 if trail.bad else 0


def _instant(text: str) -> int:
    """Milliseconds since 1970."""
    try:
        instant = datetime.fromisoformat(text)
        instant = instant if instant.tzinfo is not None else instant.replace(tzinfo=UTC)
        return round(instant.timestamp() * 1000)
    except (ValueError, OverflowError) as fault:
        raise click.BadParameter(
            f"{text!r} is no instant; write 2025-10-09 or 2025-10-09T08:53:20", param_hint="--since"
        ) from fault


def _chosen(entries: Iterator[Entry], run: str | None, kinds: tuple[str, ...], after: int | None) -> Iterator[Entry]:
    for entry in entries:
        if kinds and entry.kind not in kinds:
            continue
        if after is not None and entry.ts < after:
            continue
        if run is not None and not (isinstance(entry.data, dict) and entry.data.get("run") == run):
            continue
        yield entry


def _print_entries(trail: TrailFile, entries: Iterator[Entry], as_json: bool) -> None:
    from ._words import plain

    if as_json:
        listed = [entry.to_json() for entry in entries]
        print_json({"proof": _verdict(trail), "entries": listed})
        return
    if trail.verification is None:
        click.echo("Not verified: that takes the trail's key.", err=True)
    shown = 0
    for entry in entries:
        click.echo(_line(entry))
        shown += 1
    if not shown:
        kinds = ", ".join(sorted({plain(entry.kind, 60) for entry in trail.entries()})[:MOST_KINDS])
        click.echo(f"No entry of the trail is one of those; it has entries of the kinds {kinds or '(none)'}.", err=True)
    verdict = trail.verdict()
    if verdict is not None and not verdict.ok:
        click.echo(f"{verdict.place}: {verdict.reason}: {verdict.message}", err=True)


def _verdict(trail: TrailFile) -> dict[str, Any] | None:
    verdict = trail.verdict()
    if verdict is None:
        return None
    if verdict.ok:
        return {"ok": True, "count": verdict.count, "head": verdict.head}
    plain = {"ok": False, "line": verdict.line, "reason": verdict.reason, "message": verdict.message}
    return plain if verdict.file is None else {**plain, "part": verdict.file}


def _line(entry: Entry) -> str:
    from ..trail import canonical_json
    from ._words import plain

    try:
        when = datetime.fromtimestamp(entry.ts / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    except (OverflowError, ValueError, OSError):
        when = f"{entry.ts} ms"
    return f"#{entry.seq}  {when}  {plain(entry.actor, 40)}  {plain(entry.kind, 60)}  {plain(canonical_json(entry.data), DATA)}"
