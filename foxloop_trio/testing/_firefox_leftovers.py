"""Finding what a Firefox of ours left behind: processes by a mark in their environment, profiles in a folder of their own. Linux
only.

::

    left = Leftovers(tmp_path)
    subprocess.run([...], env=left.environ())     # everything it starts inherits mark and folder
    await left.wait_gone(5.0)

The mark is random, so two test runs on one machine never see each other's processes.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

import trio

__all__ = ["Leftovers"]

VARIABLE: Final = "FOXLOOP_TRIO_LEFTOVERS_MARK"
PREFIX: Final = "foxloop-trio-"
LOOK_SECONDS: Final = 0.02


class Leftovers:
    """Processes and temporary profiles of what was started with `environ()`. `folder` becomes their folder for temporary files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = secrets.token_hex(16)

    def environ(self) -> dict[str, str]:
        """This process's environment with the mark in it."""
        return {**os.environ, **self.variables()}

    def variables(self) -> dict[str, str]:
        """What `environ` adds."""
        return {VARIABLE: self.mark, "TMPDIR": str(self.folder)}

    def processes(self) -> dict[int, str]:
        """Pid and command line of each living process with the mark, this one excepted."""
        found = {}
        needle = f"{VARIABLE}={self.mark}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if needle in (entry / "environ").read_bytes():
                    found[int(entry.name)] = (
                        (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip()
                    )
            except OSError:  # it ended while we looked
                continue
        return found

    def profiles(self) -> list[Path]:
        """Temporary profiles that are still there."""
        return sorted(self.folder.glob(f"{PREFIX}*"))

    def all(self) -> list[str]:
        """Both, in words; empty when nothing is left."""
        return [f"process {pid}: {command}" for pid, command in self.processes().items()] + [
            f"profile {path}" for path in self.profiles()
        ]

    async def wait_gone(self, seconds: float, *, but: str | None = None) -> float:
        """Wait until nothing is left but processes with `but` in their command line; the seconds it took.

        Raises AssertionError with what is left after `seconds`.
        """
        began = trio.current_time()
        while left := [what for what in self.all() if but is None or but not in what]:
            if trio.current_time() - began > seconds:
                raise AssertionError(f"left after {seconds} s: " + "; ".join(left))
            await trio.sleep(LOOK_SECONDS)
        return trio.current_time() - began
