"""Getting Firefox onto this machine through the package manager that is there. Owns the commands, and asks before it runs them.

Plain blocking code: it is called by the command line before anything runs under Trio.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import attrs

from ..errors import BrowserError
from ._locate import find_firefox

__all__ = ["BY_HAND", "InstallPlan", "Manager", "install_firefox", "install_plan"]

Manager = Literal["apt", "dnf", "brew", "winget"]
Run = Callable[[Sequence[str]], int]
"""Runs one command in the foreground and returns its exit status."""
Ask = Callable[[str], bool]
"""Asks a yes-or-no question; True is yes."""

BY_HAND = (
    "Install Firefox from https://www.mozilla.org/firefox/ and name its program in FOXLOOP_FIREFOX if it is not found on its own."
)


@attrs.frozen(kw_only=True)
class InstallPlan:
    """What would be run, in order. Each command is complete: `sudo` and the environment it needs are part of it."""

    manager: Manager
    package: str
    commands: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return "\n".join(" ".join(command) for command in self.commands)


def install_plan(
    *,
    which: Callable[[str], str | None] = shutil.which,
    os_release: Mapping[str, str] | None = None,
    root: bool | None = None,
) -> InstallPlan:
    """The commands that install Firefox here: by apt-get, dnf, brew or winget, the first that is there.

    Raises BrowserError, code ``install-impossible``, when there is none of them, or when root is needed and `sudo` is missing; the
    message says what to do by hand. The arguments are given by tests.
    """
    root = _is_root() if root is None else root
    if which("apt-get"):
        package = _debian_package(_read_os_release() if os_release is None else os_release)
        quiet = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get")
        steps = ((*quiet, "update"), (*quiet, "install", "--yes", "--no-install-recommends", package))
        return InstallPlan(manager="apt", package=package, commands=_as_root(steps, root, which))
    if which("dnf"):
        return InstallPlan(
            manager="dnf", package="firefox", commands=_as_root((("dnf", "install", "--assumeyes", "firefox"),), root, which)
        )
    if which("brew"):
        return InstallPlan(manager="brew", package="firefox", commands=(("brew", "install", "--cask", "firefox"),))
    if which("winget"):
        agree = ("--accept-package-agreements", "--accept-source-agreements")
        command = ("winget", "install", "--exact", "--id", "Mozilla.Firefox", *agree)
        return InstallPlan(manager="winget", package="Mozilla.Firefox", commands=(command,))
    raise BrowserError(
        f"none of apt-get, dnf, brew and winget is here, so Firefox cannot be installed for you. {BY_HAND}",
        code="install-impossible",
    )


def install_firefox(
    *,
    yes: bool = False,
    ask: Ask | None = None,
    run: Run | None = None,
    find: Callable[[], Path | None] = find_firefox,
    plan: Callable[[], InstallPlan] = install_plan,
) -> Path:
    """Firefox's program, installed first if it was not found. Where Firefox is found nothing is asked and nothing is run.

    `yes` runs the commands without asking; otherwise `ask` gets a question that shows them (default: the terminal). `run` runs one
    command and returns its exit status. Raises BrowserError with code ``install-declined``, ``install-failed`` (names the command
    and its status) or ``install-impossible``; each says what to do instead.
    """
    found = find()
    if found is not None:
        return found
    planned = plan()
    if not yes and not (ask or _ask_terminal)(f"Firefox was not found. Install it with {planned.manager}?\n{planned}"):
        raise BrowserError(f"Firefox is not installed, and you said no. By hand:\n{planned}", code="install-declined")
    for command in planned.commands:
        status = (run or _run)(command)
        if status != 0:
            raise BrowserError(
                f"{' '.join(command)!r} ended with status {status}, so Firefox was not installed. {BY_HAND}", code="install-failed"
            )
    found = find()
    if found is None:
        raise BrowserError(
            f"{planned.package} was installed with {planned.manager}, but no Firefox is found. {BY_HAND}", code="install-failed"
        )
    return found


def _as_root(steps: tuple[tuple[str, ...], ...], root: bool, which: Callable[[str], str | None]) -> tuple[tuple[str, ...], ...]:
    if root:
        return steps
    if which("sudo"):
        return tuple(("sudo", *step) for step in steps)
    lines = "\n".join(" ".join(step) for step in steps)
    raise BrowserError(f"installing Firefox needs root, and sudo is not here. As root, run:\n{lines}", code="install-impossible")


def _debian_package(release: Mapping[str, str]) -> str:
    """Debian and what follows it closely have `firefox-esr`; Ubuntu and its family have `firefox` (which brings the snap)."""
    family = {release.get("ID", ""), *release.get("ID_LIKE", "").split()}
    return "firefox-esr" if "debian" in family and "ubuntu" not in family else "firefox"


def _read_os_release() -> dict[str, str]:
    for name in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            text = Path(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        pairs = (line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))
        return {key.strip(): value.strip().strip("\"'") for key, value in pairs}
    return {}


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _run(command: Sequence[str]) -> int:
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise BrowserError(
            f"{command[0]!r} could not be started ({error}), so Firefox was not installed. {BY_HAND}", code="install-failed"
        ) from error


def _ask_terminal(question: str) -> bool:
    if not sys.stdin or not sys.stdin.isatty():
        raise BrowserError(f"{question}\nThere is no terminal to answer from; pass --yes to agree.", code="install-declined")
    return input(f"{question}\n[y/N] ").strip().lower() in ("y", "yes")
