"""`foxloop-trio doctor`: looks at what a run in Firefox needs, one question after the other, and changes nothing."""

from __future__ import annotations

import platform
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import attrs
import click

from ..errors import FoxloopError
from ._output import json_option, print_json

VERSION_SECONDS: Final = 20.0
"""How long ``firefox --version`` may take; 0.3 s on a quiet machine, and a first start reads a few hundred megabytes from disk."""

OLDEST_FIREFOX: Final = 142
"""`strict_min_version` of the add-on's manifest."""


@attrs.frozen(kw_only=True)
class Finding:
    """One answer: what was looked at, whether it is good, what was found, and what to do when it is not good."""

    name: str
    ok: bool
    found: str
    advice: str | None = None

    def to_json(self) -> dict[str, Any]:
        return attrs.asdict(self)


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """What is there, what is missing, and what to do about it.

    Exit 1 when something is not good.
    """
    findings = [examine(name, look) for name, look in QUESTIONS.items()]
    good = all(finding.ok for finding in findings)
    if as_json:
        print_json({"ok": good, "checks": [finding.to_json() for finding in findings]})
        return 0 if good else 1
    for finding in findings:
        click.echo(f"{'good' if finding.ok else 'BAD ':4}  {finding.name}: {finding.found}")
        if finding.advice is not None:
            click.echo(f"      {finding.advice}")
    return 0 if good else 1


def examine(name: str, look: Callable[[], Finding]) -> Finding:
    """One answer also when the looking itself fails, so that one broken part does not hide the others."""
    try:
        return look()
    except FoxloopError as fault:
        return Finding(name=name, ok=False, found=str(fault))
    except (OSError, ValueError, ImportError) as fault:
        return Finding(name=name, ok=False, found=f"{type(fault).__name__}: {fault}", advice="Install foxloop-trio anew.")


def python() -> Finding:
    import trio

    return Finding(name="python", ok=True, found=f"{platform.python_version()} on {sys.platform}, Trio {trio.__version__}")


def firefox() -> Finding:
    from ..browser import find_firefox
    from ._firefox import NOT_FOUND

    path = find_firefox()
    if path is None:
        return Finding(name="firefox", ok=False, found="not found", advice=NOT_FOUND)
    try:
        done = subprocess.run(
            [path, "--version"],
            check=False,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=VERSION_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return Finding(
            name="firefox", ok=False, found=f"{path} does not say its version", advice="Start it by hand and see what it waits for."
        )
    words = done.stdout.strip().splitlines()
    version = words[-1] if words and done.returncode == 0 else None
    if version is None:
        return Finding(name="firefox", ok=False, found=f"{path} does not start: {done.stderr.strip()}", advice="Install it anew.")
    return _judge_version(path, version)


def _judge_version(path: Path, version: str) -> Finding:
    digits = version.rpartition(" ")[2].partition(".")[0].removesuffix("esr")
    if digits.isdecimal() and int(digits) < OLDEST_FIREFOX:
        return Finding(
            name="firefox",
            ok=False,
            found=f"{version} at {path}",
            advice=f"Firefox {OLDEST_FIREFOX} or newer is needed; install a newer one.",
        )
    return Finding(name="firefox", ok=True, found=f"{version} at {path}")


def addon() -> Finding:
    from ..webextension import addon_path, pack_addon

    size = len(pack_addon())
    return Finding(name="add-on", ok=True, found=f"{addon_path()}, {size} bytes as a package")


def port() -> Finding:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", 0))
            probe.listen()
        except OSError as fault:
            return Finding(
                name="port",
                ok=False,
                found=f"127.0.0.1 cannot be listened on: {fault.strerror}",
                advice="Allow this program to listen on loopback.",
            )
    return Finding(name="port", ok=True, found="a free port on 127.0.0.1 can be listened on")


def key_file() -> Finding:
    from ..trail import TrailKeyError, default_key_path, load_or_create_key

    path = Path(default_key_path())
    if not path.exists():
        return Finding(name="key file", ok=True, found=f"none yet; the first trail without a key of its own makes {path}")
    try:
        load_or_create_key(path)
    except TrailKeyError as fault:
        return Finding(
            name="key file",
            ok=False,
            found=str(fault),
            advice="Mend it, or move it away: trails written with it can then not be verified.",
        )
    return Finding(name="key file", ok=True, found=str(path))


QUESTIONS: Final[dict[str, Callable[[], Finding]]] = {
    "python": python,
    "firefox": firefox,
    "add-on": addon,
    "port": port,
    "key file": key_file,
}
