"""The folder into which files of pages may be saved. Owns safe names, and that nothing is written outside of it or over anything.

A file is written under a name of ours and gets its own only when it is complete; whatever stops it takes the part away.
"""

from __future__ import annotations

import os
import re
import secrets
import unicodedata
from pathlib import Path
from typing import BinaryIO, Final

from ...errors import BadOptionsError
from .._quoting import visible

__all__ = ["SaveFolder", "safe_name"]

MAX_NAME: Final = 120
"""Characters; with what may be added, below the 255 bytes that file systems take, for any script."""
MAX_TRIES: Final = 1000

_BAD = re.compile(r'[\x00-\x1f\x7f-\x9f<>:"/\\|?*]')
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|\Z)", re.IGNORECASE)


def safe_name(given: str) -> str:
    """A plain name of a file, made of what a page calls it: no path, no hidden file, no device, nothing that cannot be seen."""
    name = unicodedata.normalize("NFC", visible(given.encode("utf-8", "replace").decode("utf-8")))
    name = _BAD.sub("_", re.split(r"[/\\]", name)[-1]).strip(" .")
    stem, dot, ending = name.rpartition(".")
    if dot and len(ending) <= 10:
        name = f"{stem[: MAX_NAME - len(ending) - 1].rstrip(' .')}.{ending}"
    name = name[:MAX_NAME].strip(" .")
    while len(name.encode("utf-8")) > 200:
        name = name[1:]
    return "download" if not name else f"_{name}" if _RESERVED.match(name) else name


class SaveFolder:
    """All of it blocks: call it in threads."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Raises BadOptionsError when there is no such folder, or it cannot be written."""
        self.path = Path(folder).resolve()
        if not self.path.is_dir() or not os.access(self.path, os.W_OK):
            raise BadOptionsError(f"download_to: {str(folder)!r} is no folder that can be written; name one that exists")

    def begin(self) -> tuple[BinaryIO, Path]:
        """A new file for the parts, which only this user can read."""
        part = self.path / f".foxloop-{secrets.token_hex(8)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        return os.fdopen(os.open(part, flags, 0o600), "wb"), part

    def finish(self, file: BinaryIO, part: Path, name: str) -> Path:
        """Give the complete file its name, or that with a number; never one that something has already."""
        file.flush()
        os.fsync(file.fileno())
        file.close()
        stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
        for number in range(1, MAX_TRIES):
            wanted = self.path / (name if number == 1 else f"{stem} ({number}){dot}{ending}")
            try:
                os.link(part, wanted)
            except FileExistsError:
                continue
            part.unlink()
            return wanted
        raise FileExistsError(f"{MAX_TRIES} files of that name are there already")

    def abandon(self, file: BinaryIO, part: Path) -> None:
        """Take away what was written. Does nothing after `finish`."""
        file.close()
        part.unlink(missing_ok=True)
