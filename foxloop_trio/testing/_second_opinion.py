"""Another implementation of the accessible name computation, for comparison only: npm's `dom-accessibility-api`, pinned.

Fetched once by npm and kept in the cache of corpora; nothing of it is installed or shipped.
"""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path
from typing import Final

from ..corpora._pinned import CorpusError, Pinned, unpacked

__all__ = ["DOM_ACCESSIBILITY_API", "second_opinion"]

DOM_ACCESSIBILITY_API: Final = Pinned(
    package="dom-accessibility-api",
    version="0.7.1",
    file="dom-accessibility-api-0.7.1.tgz",
    sha256="fd2555decfa04412a33cf4af0edc341a10ac84419827cfa4cef0f5c84fa48c60",
)
NPM_SECONDS: Final = 180.0


def second_opinion(cache: Path | None = None) -> Path:
    """The folder with its ES modules. Raises CorpusError, with the way out, when npm cannot fetch it."""
    return unpacked(DOM_ACCESSIBILITY_API, _unpack, cache=cache, download=_download_with_npm)


def _download_with_npm(folder: Path) -> None:
    wanted = f"{DOM_ACCESSIBILITY_API.package}@{DOM_ACCESSIBILITY_API.version}"
    command = ["npm", "pack", wanted, "--silent", "--pack-destination", str(folder)]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=NPM_SECONDS, check=False, cwd=folder
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CorpusError(
            f"npm could not fetch {wanted}: {error}. Install npm and configure a registry that it can reach"
        ) from error
    if done.returncode != 0:
        raise CorpusError(f"npm could not fetch {wanted} (exit code {done.returncode}): {done.stderr.strip()[-500:]}")


def _unpack(archive: Path, scratch: Path) -> Path:
    found = scratch / "modules"
    found.mkdir()
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            if member.name.startswith("package/dist/") and member.name.endswith(".mjs"):
                source = packed.extractfile(member)
                assert source is not None
                target = found / member.name.removeprefix("package/dist/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(source.read())
    return found
