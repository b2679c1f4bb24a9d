"""`foxloop-trio trail report`: the story of a run as one page that can be kept, printed and sent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from ._output import json_option, print_json
from ._trail_story import CannotTellError, TrailFile, trail_options

OWNER_ONLY: Final = 0o600
"""Mode of a page that is made anew, as of the trail itself: both hold what pages said."""


@click.command()
@trail_options
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="Where the page goes; written over if it exists."
)
@json_option
def report(file: Path, run_id: str | None, key_file: Path | None, checkpoint_file: Path | None, output: Path, as_json: bool) -> int:
    """Write the story of a run from the trail in FILE as an HTML page.

    The page needs no network and no script, and shows what the trail holds: what was masked there stays masked. With a key the
    trail is verified, and the page says so in its head. Exit 0 good, 1 when the trail does not hold (the page is written all the
    same, and says so), 2 when there is nothing to tell.
    """
    from ..reports import render_page
    from ..trail import trail_files

    trail = TrailFile(file, key_file=key_file, checkpoint_file=checkpoint_file)
    story = trail.story(run_id)
    try:
        if output.exists() and any(output.samefile(part) for part in trail_files(file)):
            raise CannotTellError(f"{output}: that is the trail itself; the page would destroy it")
        # A lone half of a character was written out by the page already, so UTF-8 takes all of it.
        with open(output, "w", encoding="utf-8", newline="\n", opener=_open_for_owner) as page:
            page.write(render_page(story))
    except (OSError, ValueError) as fault:
        raise CannotTellError(f"{output}: cannot be written ({getattr(fault, 'strerror', None) or fault})") from fault
    proof = story.proof
    if as_json:
        print_json({"page": str(output), "run": story.run, "status": story.outcome.status, "proof": proof.state})
        return 1 if trail.bad else 0
    click.echo(f"Wrote {output}: run {story.run}, {story.outcome.status}, {_proven(proof.state)}.")
    if proof.fault is not None:
        click.echo(f"{proof.fault.place}: {proof.fault.reason}: {proof.fault.message}", err=True)
    return 1 if trail.bad else 0


def _proven(state: str) -> str:
    return {"verified": "verified", "faulty": "VERIFICATION FAILED"}.get(state, "not verified (that takes the trail's key)")


def _open_for_owner(name: str, flags: int) -> int:
    return os.open(name, flags, OWNER_ONLY)
