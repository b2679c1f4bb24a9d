"""The group `foxloop-trio trail`, and `trail verify`: is the record as it was written? Exit 0 yes, 1 no, 2 not to be judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ._output import json_option, print_json
from ._trail_replay import replay

if TYPE_CHECKING:
    from ..trail import Fault, TrailKey, Verified


@click.group()
def trail() -> None:
    """Look at the record of a run."""


trail.add_command(replay)


@trail.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--key", "key_file", type=click.Path(path_type=Path), help="The key file; without it FOXTRAIL_KEY must hold the key as hex."
)
@click.option(
    "--checkpoint", "checkpoint_file", type=click.Path(path_type=Path), help="A checkpoint (JSON) that was kept elsewhere."
)
@json_option
def verify(file: Path, key_file: Path | None, checkpoint_file: Path | None, as_json: bool) -> int:
    """Check every entry of the trail in FILE.

    Exit 0 when all hold, 1 at the first that does not, 2 when it cannot be judged: no key, or a file that cannot be read.
    """
    from ..trail import TrailError, Verified, verify_trail

    try:
        key = _key(key_file)
        checkpoint = None if checkpoint_file is None else _read_checkpoint(checkpoint_file)
        result = verify_trail(file, key=key, checkpoint=checkpoint)
    except TrailError as fault:
        raise Unjudged(str(fault)) from fault
    if as_json:
        print_json({"file": str(file), **_plain(result)})
    elif isinstance(result, Verified):
        click.echo(f"ok: {result.count} entries, head {result.head}")
    else:
        where = "checkpoint" if result.line is None else f"line {result.line}"
        click.echo(f"{where}: {result.reason}: {result.message}", err=True)
    return 0 if result.ok else 1


class Unjudged(click.ClickException):
    """Whether the trail is good cannot be said, so it is not said: exit 2, never 0 or 1."""

    exit_code = 2


def _key(path: Path | None) -> TrailKey:
    """The key that was named. The default key is only pointed at: a verdict must not rest on a key that nobody chose."""
    from ..trail import TrailKeyError, default_key_path, load_key

    try:
        return load_key(path)
    except TrailKeyError as fault:
        default = Path(default_key_path())
        if path is None and default.exists():
            raise TrailKeyError(f"{fault}. Trails that were opened without a key have this one: --key {default}") from fault
        raise


def _read_checkpoint(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_bytes())
    except OSError as fault:
        raise Unjudged(f"{path}: the checkpoint cannot be read ({fault.strerror})") from fault
    except (ValueError, RecursionError) as fault:
        raise Unjudged(f"{path}: the checkpoint is not JSON") from fault
    if not isinstance(value, dict):
        raise Unjudged(f"{path}: the checkpoint is not a JSON object")
    return value


def _plain(result: Verified | Fault) -> dict[str, Any]:
    from ..trail import Verified

    if isinstance(result, Verified):
        return {"ok": True, "count": result.count, "head": result.head}
    return {"ok": False, "line": result.line, "reason": result.reason, "message": result.message}
