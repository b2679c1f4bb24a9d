"""Where Firefox is on this machine. Owns the list of usual places and the knowledge of what kind of installation stands there.

Nothing is started here: a wrapper script of Snap or Flatpak is told by its path and its first bytes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

import attrs

from ..errors import BrowserError

__all__ = ["ENVIRONMENT_VARIABLE", "FoundFirefox", "InstallKind", "find_firefox", "locate_firefox"]

ENVIRONMENT_VARIABLE = "FOXLOOP_FIREFOX"
"""Names the program to start, as a path or as a command on the PATH; wins over every usual place."""

COMMANDS = ("firefox-esr", "firefox", "firefox-developer-edition", "firefox-nightly")
"""Tried on the PATH in this order. ESR first: it takes unsigned add-ons permanently too, and changes least between test runs."""

MAC_APPS = ("Firefox.app", "Firefox Developer Edition.app", "Firefox Nightly.app")
WINDOWS_FOLDERS = ("ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA")
FLATPAK_EXPORT = "org.mozilla.firefox"
SNIFF_BYTES = 4096
"""A wrapper script says what it wraps in its first lines; Ubuntu's is 1.5 kB."""

InstallKind = Literal["plain", "snap", "flatpak"]


@attrs.frozen(kw_only=True)
class FoundFirefox:
    """A Firefox to start. `kind` tells the confined ones, which see only some folders."""

    path: Path
    kind: InstallKind = "plain"

    def profile_parent(self, home: Path) -> Path | None:
        """The folder under which a profile must lie for this Firefox to see it; None where any folder will do."""
        match self.kind:
            case "plain":
                return None
            case "snap":
                return home / "snap" / "firefox" / "common"
            case "flatpak":
                return home / ".var" / "app" / FLATPAK_EXPORT


def find_firefox(binary: str | os.PathLike[str] | None = None) -> Path | None:
    """The Firefox to start: `binary`, else the one named by ``FOXLOOP_FIREFOX``, else the first in the usual places, else None.

    Raises BrowserError (code ``firefox-not-found``) when `binary` or the variable names something that is not there.
    """
    found = locate_firefox(binary)
    return None if found is None else found.path


def locate_firefox(
    binary: str | os.PathLike[str] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    platform: str = sys.platform,
    which: Callable[[str], str | None] = shutil.which,
) -> FoundFirefox | None:
    """As `find_firefox`, with the kind of installation; `environ`, `platform` and `which` are given by tests."""
    environ = os.environ if environ is None else environ
    for named, source in ((binary, "binary"), (environ.get(ENVIRONMENT_VARIABLE), ENVIRONMENT_VARIABLE)):
        if named:
            return _named(os.fspath(named), source, which)
    for command in COMMANDS:
        path = which(command)
        if path is not None and not _is_empty_snap_stub(Path(path)):
            return FoundFirefox(path=Path(path), kind=_kind(Path(path)))
    for path_ in _usual_places(environ, platform):
        if _can_run(path_):
            return FoundFirefox(path=path_, kind=_kind(path_))
    return None


def _named(named: str, source: str, which: Callable[[str], str | None]) -> FoundFirefox:
    expanded = os.path.expanduser(named)
    found = Path(expanded) if os.path.dirname(expanded) else Path(which(expanded) or expanded)
    if not _can_run(found):
        raise BrowserError(
            f"{source} names {named!r}, which is no program that can be run; give the path of the Firefox executable, "
            "or leave it out to use the one that `foxloop-trio firefox where` finds",
            code="firefox-not-found",
        )
    return FoundFirefox(path=found, kind=_kind(found))


def _usual_places(environ: Mapping[str, str], platform: str) -> list[Path]:
    home = Path(environ.get("HOME") or environ.get("USERPROFILE") or "/nonexistent")
    if platform == "darwin":
        return [
            root / app / "Contents" / "MacOS" / "firefox"
            for root in (Path("/Applications"), home / "Applications")
            for app in MAC_APPS
        ]
    if platform == "win32":
        return [Path(environ[name]) / "Mozilla Firefox" / "firefox.exe" for name in WINDOWS_FOLDERS if environ.get(name)]
    return [
        Path("/usr/lib/firefox/firefox"),
        Path("/opt/firefox/firefox"),
        Path("/snap/bin/firefox"),
        home / ".local" / "share" / "flatpak" / "exports" / "bin" / FLATPAK_EXPORT,
        Path("/var/lib/flatpak/exports/bin") / FLATPAK_EXPORT,
    ]


def _can_run(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _kind(path: Path) -> InstallKind:
    if path.name == FLATPAK_EXPORT or "flatpak" in path.parts:
        return "flatpak"
    if path.is_relative_to("/snap") or _first_bytes(path, b"/snap/bin/firefox"):
        return "snap"
    return "flatpak" if _first_bytes(path, b"flatpak run") else "plain"


def _is_empty_snap_stub(path: Path) -> bool:
    """Ubuntu's package puts a script at /usr/bin/firefox that only says "install the snap" when the snap is missing."""
    return _first_bytes(path, b"/snap/bin/firefox") and not Path("/snap/bin/firefox").exists()


def _first_bytes(path: Path, needle: bytes) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(SNIFF_BYTES)
    except OSError:
        return False
    return head.startswith(b"#!") and needle in head
