"""Archives of public pages from PyPI, pinned by version and SHA-256: fetched once by pip, checked, unpacked, and kept in a cache.

Nothing of a package is installed. A fetched file that differs is never unpacked.
"""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from ..errors import FoxloopError

__all__ = ["CorpusError", "Download", "Pinned", "unpacked", "user_cache"]

DOWNLOAD_SECONDS: Final = 300.0
"""How long pip may take for 13 MB, and for looking into a source package, before we say that the index cannot be reached."""

Download = Callable[[Path], None]
"""Puts the archive into the folder it is given."""


class CorpusError(FoxloopError):
    """The pages could not be had, or one of them did not do what it is known to do."""

    default_code = "corpus"


@attrs.frozen(kw_only=True)
class Pinned:
    """One file on PyPI. `source`: it is a source package, else a wheel."""

    package: str
    version: str
    file: str
    sha256: str
    source: bool = False


def unpacked(pinned: Pinned, unpack: Callable[[Path, Path], Path], *, cache: Path | None, download: Download | None) -> Path:
    """The folder ``html`` with what is in the archive; fetched once, then kept in `cache`.

    `unpack` gets the archive and a scratch folder, and answers the folder in it that is to be kept. `cache` is a folder of the
    user's (default: ``foxloop-trio`` in the XDG cache folder). Blocks; two processes may call it at once, since the finished folder
    appears in one rename. Raises CorpusError, with the way out, when the archive cannot be had or is not the pinned one.
    """
    home = (cache if cache is not None else user_cache()) / f"{pinned.package}-{pinned.version}-{pinned.sha256[:12]}"
    pages = home / "html"
    if pages.is_dir():
        return pages
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="new-", dir=home) as name:
        scratch = Path(name)
        archive = home / pinned.file
        if not archive.is_file():
            (download or functools.partial(_download_with_pip, pinned, by_hand=home))(scratch)
            archive = scratch / pinned.file
        _must_be_pinned(pinned, archive)
        try:
            unpack(archive, scratch).rename(pages)
        except OSError:
            if not pages.is_dir():  # else another process was faster, with the same files
                raise
    return pages


def user_cache() -> Path:
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    home = configured if configured.is_absolute() else Path.home() / ".cache"  # relative ones count for nothing (XDG)
    return home / "foxloop-trio"


def _download_with_pip(pinned: Pinned, folder: Path, *, by_hand: Path) -> None:
    name = f"{pinned.package} {pinned.version}"
    wanted = folder / "wanted.txt"
    # With a hash pip refuses another file before it looks into it, which for a source package means running its build.
    wanted.write_text(f"{pinned.package}=={pinned.version} --hash=sha256:{pinned.sha256}\n", encoding="utf-8")
    kind = "--no-binary=:all:" if pinned.source else "--only-binary=:all:"
    options = ["--no-deps", kind, "--disable-pip-version-check", "--no-input", "--quiet", "--require-hashes"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), "--requirement", str(wanted)]
    way_out = f"Configure an index that pip can reach, or get {pinned.file} from PyPI on another machine and put it into {by_hand}"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=DOWNLOAD_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as late:
        raise CorpusError(f"pip did not fetch {name} within {DOWNLOAD_SECONDS:g} s. {way_out}") from late
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-500:]
        raise CorpusError(f"pip could not fetch {name} (exit code {done.returncode}). {way_out}. It said: {said}")


def _must_be_pinned(pinned: Pinned, archive: Path) -> None:
    if not archive.is_file():
        words = f"{pinned.package} {pinned.version} seems to have another file name on this index"
        raise CorpusError(f"{archive.name} was not downloaded; {words}")
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != pinned.sha256:
        kind = "source package" if pinned.source else "wheel"
        raise CorpusError(
            f"{archive} is not the pinned {kind}: its SHA-256 is {found}, expected {pinned.sha256}. Remove it and try again"
        )
