"""`foxloop-trio extension`: where the add-on lies, the add-on as a package, and Mozilla's own linter over it."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import click

from ._lazy import PlainGroup
from ._output import json_option, print_json

WEB_EXT: Final = "web-ext@10.7.0"
"""The linter's version, pinned so that a new rule cannot fail an old commit. Runs on node 20 and newer."""

LINT_SECONDS: Final = 600
"""The first run fetches web-ext from npm (15 s on a quick line); a lint itself takes 2 to 5 s."""

NO_NPX: Final = "web-ext needs node (20 or newer) with npm; on Debian: apt-get update && apt-get install nodejs npm"


@click.group(cls=PlainGroup)
def extension() -> None:
    """Our add-on: where it lies, as a package, and what web-ext says."""


@extension.command()
@json_option
def path(as_json: bool) -> int:
    """Print the add-on's folder, for "Load Temporary Add-on" in about:debugging."""
    from ..webextension import ADDON_ID, addon_path

    where = addon_path()
    if as_json:
        print_json({"id": ADDON_ID, "path": str(where)})
    else:
        click.echo(where)
    return 0


@extension.command()
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("foxloop-trio.xpi"),
    show_default=True,
    help="The file to write.",
)
@json_option
def pack(output: Path, as_json: bool) -> int:
    """Write the add-on as an .xpi file: unsigned, and without any address or token in it."""
    from ..webextension import ADDON_ID, pack_addon

    data = pack_addon()
    try:
        output.write_bytes(data)
    except OSError as fault:
        raise click.BadParameter(f"{output} cannot be written: {fault.strerror}", param_hint="--output") from fault
    if as_json:
        print_json({"id": ADDON_ID, "path": str(output), "bytes": len(data)})
    else:
        click.echo(f"{output}: {len(data)} bytes")
    return 0


@extension.command()
@click.option("--fetch", is_flag=True, help="Only fetch the linter from npm, so that a later run works offline.")
@json_option
def lint(fetch: bool, as_json: bool) -> int:
    """Run Mozilla's web-ext lint over the add-on; exit 1 on any error or warning."""
    if fetch:
        done = _web_ext("--version")
        click.echo(done.stderr or done.stdout, nl=False, err=bool(done.returncode))
        return 1 if done.returncode else 0

    from ..webextension import addon_path

    where = addon_path()
    done = _web_ext("lint", "--no-input", "--no-config-discovery", "--boring", "--output", "json", "--source-dir", str(where))
    report = _report(done)
    bad = bool(report["errors"] or report["warnings"])
    if as_json:
        print_json({"ok": not bad, "path": str(where), **report})
        return int(bad)
    for kind in ("errors", "warnings", "notices"):
        for item in report[kind]:
            click.echo(
                f"{kind[:-1]}: {item.get('file') or where}: {item.get('line') or ''} {item['code']}: {item['message']}", err=True
            )
    counts = ", ".join(f"{len(report[kind])} {kind}" for kind in ("errors", "warnings", "notices"))
    click.echo(f"{where}: {counts}")
    return int(bad)


def _web_ext(*args: str) -> subprocess.CompletedProcess[str]:
    npx = shutil.which("npx")
    if npx is None:
        raise click.ClickException(f"npx was not found. {NO_NPX}")
    try:
        return subprocess.run(
            [npx, "--yes", WEB_EXT, *args],
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=LINT_SECONDS,
        )
    except subprocess.TimeoutExpired as fault:
        raise click.ClickException(f"web-ext did not answer within {LINT_SECONDS} s; is the npm registry reachable?") from fault


def _report(done: subprocess.CompletedProcess[str]) -> dict[str, list[dict[str, Any]]]:
    """The findings by kind. No report at all (npm offline, node too old) is an error of its own, never "no findings"."""
    try:
        report = json.loads(done.stdout)
        return {kind: list(report[kind]) for kind in ("errors", "warnings", "notices")}
    except (ValueError, KeyError, TypeError) as fault:
        words = (done.stderr or done.stdout).strip() or f"exit status {done.returncode}"
        raise click.ClickException(f"web-ext gave no report. {NO_NPX}. It said: {words}") from fault
