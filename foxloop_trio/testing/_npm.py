"""Pinned packages of the npm registry as folders on this machine, for pages that tests are tried on.

This module owns the pins (name, version, integrity), the download and the cache. Nothing that is fetched is ever run here: the
files are served to a browser. It needs no pytest.

It is npm that fetches where there is one, since it knows the user's registry, proxy, certificates and passwords; without one, the
registry of ``NPM_CONFIG_REGISTRY`` (or npm's public one) is asked directly. What comes is compared with the pin before it is
unpacked, so it does not matter who brought it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

import attrs

from ..corpora._pinned import CorpusError, user_cache

__all__ = ["Pin", "npm_packages", "read_pins"]

DOWNLOAD_SECONDS: Final = 300.0
"""How long npm may take for all that is missing (65 packages, 15 MB: 23 s measured) before we say that it cannot be had."""
ANSWER_SECONDS: Final = 30.0
"""How long a registry that is asked directly may be silent."""
MAX_TARBALL: Final = 32 * 1024 * 1024
"""Bytes that are taken of one answer; the biggest package that is pinned has 2.9 MB."""
PUBLIC_REGISTRY: Final = "https://registry.npmjs.org"
"""npm's own default."""


@attrs.frozen(kw_only=True)
class Pin:
    """One package: exactly this version, exactly these bytes. `integrity` is as in npm's lock files, ``sha512-`` and base64."""

    name: str
    version: str
    integrity: str

    @property
    def tarball(self) -> str:
        """What npm calls the file: ``lexical-html-0.52.0.tgz`` for ``@lexical/html``."""
        return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"

    @property
    def folder(self) -> str:
        """What the cache calls the unpacked package: its bytes are in the name, so that other bytes are another folder."""
        return f"{self.tarball.removesuffix('.tgz')}-{hashlib.sha256(self.integrity.encode()).hexdigest()[:12]}"


Download = Callable[[Sequence[Pin], Path], None]
"""Puts the tarballs of these pins, by their own names, into the folder."""


def read_pins(path: Path) -> list[Pin]:
    """The pins in a JSON file ``{name: {"version": …, "integrity": …}}``, in its order."""
    pins = [Pin(name=name, **rest) for name, rest in json.loads(path.read_text(encoding="utf-8")).items()]
    for pin in pins:
        if not pin.integrity.startswith("sha512-"):
            raise CorpusError(f"{path}: the integrity of {pin.name} must begin with sha512-, not {pin.integrity[:20]!r}")
    return pins


def npm_packages(pins: Iterable[Pin], cache: Path | None = None, *, download: Download | None = None) -> dict[str, Path]:
    """The folder of each package, by its name; fetched once, then kept in `cache`.

    `cache` is a folder of the user's (default: ``foxloop-trio`` in the XDG cache folder). Blocks; two processes may call it at
    once, since a finished folder appears in one rename. Raises CorpusError, with the way out, when a package cannot be had or is
    not the pinned one.
    """
    home = (cache if cache is not None else user_cache()) / "npm"
    found = {pin: home / pin.folder for pin in pins}
    missing = [pin for pin, folder in found.items() if not folder.is_dir()]
    if missing:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="new-", dir=home) as name:
            _fetch(missing, home, Path(name), download)
    return {pin.name: folder for pin, folder in found.items()}


def _fetch(missing: Sequence[Pin], home: Path, scratch: Path, download: Download | None) -> None:
    absent = [pin for pin in missing if not (home / pin.tarball).is_file()]
    if absent:
        (download or (_with_npm if shutil.which("npm") else _directly))(absent, scratch)
    for pin in missing:
        tarball = (scratch if pin in absent else home) / pin.tarball
        _must_be_pinned(pin, tarball, home)
        unpacked = scratch / pin.folder
        _unpack(tarball, unpacked)
        try:
            unpacked.rename(home / pin.folder)
        except OSError:
            if not (home / pin.folder).is_dir():  # else another process was faster, with the same files
                raise


def _must_be_pinned(pin: Pin, tarball: Path, home: Path) -> None:
    if not tarball.is_file():
        raise CorpusError(f"{pin.name} {pin.version} did not come. {_way_out([pin], home)}")
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    if found != pin.integrity:
        raise CorpusError(
            f"{tarball} is not the pinned {pin.name} {pin.version}: its integrity is {found}, expected {pin.integrity}. "
            "Remove it and try again"
        )


def _unpack(tarball: Path, folder: Path) -> None:
    """Plain files only, without the one folder that all are in (``package``, mostly)."""
    with tarfile.open(tarball) as archive:
        for member in archive:
            path = PurePosixPath(member.name)
            inside = path.parts[1:]
            if not member.isfile() or not inside:
                continue
            if path.is_absolute() or ".." in inside:
                raise CorpusError(f"{tarball} holds {member.name!r}, which is outside of its folder")
            target = folder.joinpath(*inside)
            target.parent.mkdir(parents=True, exist_ok=True)
            content = archive.extractfile(member)
            assert content is not None  # it is a file
            target.write_bytes(content.read())


def _way_out(pins: Sequence[Pin], home: Path) -> str:
    names = " ".join(f"{pin.name}@{pin.version}" for pin in pins)
    return (
        "Configure a registry that npm can reach (npm config set registry, or NPM_CONFIG_REGISTRY), or run "
        f"`npm pack {names}` on another machine and put the files into {home}"
    )


def _with_npm(pins: Sequence[Pin], folder: Path) -> None:
    npm = shutil.which("npm")
    assert npm is not None
    options = ["--ignore-scripts", "--loglevel=error", "--json", f"--pack-destination={folder}"]
    command = [npm, "pack", *options, *(f"{pin.name}@{pin.version}" for pin in pins)]
    way_out = _way_out(pins, folder.parent)
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise CorpusError(f"npm did not fetch {len(pins)} packages within {DOWNLOAD_SECONDS:g} s. {way_out}") from late
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise CorpusError(f"npm could not fetch {len(pins)} packages (exit code {done.returncode}). {way_out}. It said: {said}")


def _directly(pins: Sequence[Pin], folder: Path) -> None:
    settings = {name.lower(): value for name, value in os.environ.items()}  # npm takes them in either case
    registry = (settings.get("npm_config_registry") or PUBLIC_REGISTRY).rstrip("/")
    for pin in pins:
        address = f"{registry}/{pin.name}/-/{pin.name.rpartition('/')[2]}-{pin.version}.tgz"
        try:
            with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as answer:
                (folder / pin.tarball).write_bytes(answer.read(MAX_TARBALL))
        except (OSError, urllib.error.URLError) as error:
            raise CorpusError(f"{address} could not be fetched: {error}. {_way_out(pins, folder.parent)}") from error
