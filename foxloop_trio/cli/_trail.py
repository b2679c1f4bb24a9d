"""`foxloop-trio trail verify`, `checkpoint`, `keygen` and `repair`: is the record as it was written, how far does it go, sign that,
mend its cut end.

Exit 0 good, 1 the record is not as it was written, 2 when that could not be judged.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ._output import json_option, print_json
from ._trail_replay import replay

if TYPE_CHECKING:
    from ..trail import Fault, TrailKey, Verified


PUBLIC_HEX: Final = re.compile(r"[0-9a-fA-F]{64}\Z")


@click.group()
def trail() -> None:
    """Look at the record of a run, check it, mend it."""


trail.add_command(replay)

file_argument = click.argument("file", type=click.Path(path_type=Path))
key_option = click.option(
    "--key", "key_file", type=click.Path(path_type=Path), help="The key file; without it FOXTRAIL_KEY must hold the key as hex."
)


@trail.command()
@file_argument
@key_option
@click.option(
    "--checkpoint", "checkpoint_file", type=click.Path(path_type=Path), help="A checkpoint (JSON) that was kept elsewhere."
)
@click.option(
    "--public-key", metavar="KEY", help="64 hex digits, or a file with them or with PEM: who must have signed the checkpoint."
)
@json_option
def verify(file: Path, key_file: Path | None, checkpoint_file: Path | None, public_key: str | None, as_json: bool) -> int:
    """Check every entry of the trail in FILE, and in FILE.1, FILE.2, … if it has several files.

    With --public-key the checkpoint must be signed with it; then no --key is needed, and FOXTRAIL_KEY is not used. Exit 0 when all
    hold, 1 at the first that does not, 2 when it cannot be judged: no key, or a file that cannot be read.
    """
    from ..trail import TrailError, Verified, verify_trail

    try:
        key = None if public_key is not None and key_file is None else _key(key_file)
        public = None if public_key is None else _public_key(public_key)
        checkpoint = None if checkpoint_file is None else _read_checkpoint(checkpoint_file)
        result = verify_trail(file, key=key, public_key=public, checkpoint=checkpoint)
    except TrailError as fault:
        raise Unjudged(str(fault)) from fault
    if as_json:
        print_json({"file": str(file), **_plain(result)})
    elif isinstance(result, Verified):
        click.echo(f"ok: {result.count} entries, head {result.head}")
        if result.unsigned is not None:
            click.echo(f"signed: {result.count - result.unsigned} entries; {result.unsigned} after the signed head")
        for digest in result.missing:
            click.echo(f"missing: the blob {digest} is not beside the trail", err=True)
    else:
        _say_fault(result)
    return 0 if result.ok else 1


@trail.command()
@file_argument
@key_option
@click.option(
    "--sign", "signing_file", type=click.Path(path_type=Path), help="Sign it with the key in this file; see trail keygen."
)
@json_option
def checkpoint(file: Path, key_file: Path | None, signing_file: Path | None, as_json: bool) -> int:
    """Print a checkpoint of the trail in FILE, after verifying it. Keep it elsewhere: it finds a cut end.

    A signed one can be checked by others, with the public key alone. It is a JSON object with or without --json, which spreads it
    over lines. Exit 1 when an entry does not hold; then none is made.
    """
    from ..trail import Fault, TrailError, canonical_json, checkpoint_trail, load_signing_key

    try:
        signer = None if signing_file is None else load_signing_key(signing_file)
        result = checkpoint_trail(file, key=_key(key_file), signer=signer)
    except TrailError as fault:
        raise Unjudged(str(fault)) from fault
    if isinstance(result, Fault):
        if as_json:
            print_json({"file": str(file), **_plain(result)})
        else:
            _say_fault(result)
        return 1
    if as_json:
        print_json(result)
    else:
        click.echo(canonical_json(result))
    return 0


@trail.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def keygen(file: Path, as_json: bool) -> int:
    """Make a key that signs checkpoints in FILE, and print its public half. A key that is there already is kept.

    FILE is yours alone (mode 0600); best kept where the trail is not. Others need the public half only. Exit 2 when there is no key
    of this kind in FILE and none can be made.
    """
    from ..trail import TrailError, load_or_create_signing_key

    made = not file.exists()
    try:
        public = load_or_create_signing_key(file).public_key.hex()
    except TrailError as fault:
        raise Unjudged(str(fault)) from fault
    if as_json:
        print_json({"file": str(file), "made": made, "public_key": public})
    else:
        click.echo(public)
    return 0


@trail.command()
@file_argument
@key_option
@json_option
def repair(file: Path, key_file: Path | None, as_json: bool) -> int:
    """Mend the last line of FILE when its write was cut. Nothing that was reported as written is lost.

    The torn bytes are moved to FILE.torn-1 (or the next free number), and an entry `trail.repaired` says so. Exit 0 when it is
    mended or was whole, 1 when something else is wrong; then nothing is changed.
    """
    from ..trail import Fault, TrailError, repair_trail

    try:
        result = repair_trail(file, key=_key(key_file))
    except TrailError as fault:
        raise Unjudged(str(fault)) from fault
    if isinstance(result, Fault):
        if as_json:
            print_json({"file": str(file), **_plain(result)})
        else:
            _say_fault(result)
        return 1
    if as_json:
        print_json(
            {"file": str(file), "ok": True, "torn": result.torn, "saved": result.saved, "count": result.count, "head": result.head}
        )
    elif not result.torn:
        click.echo(f"ok: nothing to mend; {result.count} entries, head {result.head}")
    else:
        done = "completed the last line" if result.saved is None else f"moved {result.torn} torn bytes to {result.saved}"
        click.echo(f"mended: {done}; {result.count} entries, head {result.head}")
    return 0


def _say_fault(fault: Fault) -> None:
    click.echo(f"{fault.place}: {fault.reason}: {fault.message}", err=True)


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


def _public_key(text: str) -> bytes | str:
    from ..trail import load_public_key

    return text if PUBLIC_HEX.match(text) else load_public_key(text)


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
        plain = {"ok": True, "count": result.count, "head": result.head, "missing": list(result.missing)}
        return plain if result.unsigned is None else {**plain, "unsigned": result.unsigned}
    plain = {"ok": False, "line": result.line, "reason": result.reason, "message": result.message}
    return plain if result.file is None else {**plain, "part": result.file}
