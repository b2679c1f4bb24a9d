"""What `trail show` and `trail report` share: reading a file, judging it when there is a key, and choosing a run.

The key is asked for the verdict only; nothing else of a story depends on it. What is told is told whether the trail holds or not,
since a trail that does not hold is when people want to look.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:
    from ..reports import RunInfo, Story
    from ..trail import Entry, Fault, FaultReason, Verified

KEY_VARIABLE: Final = "FOXTRAIL_KEY"
MOST_LISTED: Final = 10

Command = Callable[..., Any]


class CannotTellError(click.ClickException):
    """There is nothing to show: exit 2, never 0 or 1."""

    exit_code = 2


def trail_options(command: Command) -> Command:
    """FILE, ``--run``, ``--key`` and ``--checkpoint``, the same for both commands."""
    path = click.Path(path_type=Path)
    for decorate in (
        click.option(
            "--checkpoint", "checkpoint_file", type=path, help="A checkpoint (JSON) that was kept elsewhere; needs a key."
        ),
        click.option("--key", "key_file", type=path, help=f"The key file, to verify the trail; without it {KEY_VARIABLE} is used."),
        click.option("--run", "run_id", metavar="ID", help="Which run: its id, or the beginning of it. The last one by default."),
        click.argument("file", type=path),
    ):
        command = decorate(command)
    return command


class TrailFile:
    """One look at a trail: the first `size` bytes of its files, so that a writer beside us changes nothing between two readings."""

    def __init__(self, file: Path, *, key_file: Path | None, checkpoint_file: Path | None) -> None:
        self.file = file
        self.verification: Verified | Fault | None = None
        self._read_fault: Fault | None = None
        self._size = _size_of(file)
        self.verification = self._verified(key_file, checkpoint_file)

    def _verified(self, key_file: Path | None, checkpoint_file: Path | None) -> Verified | Fault | None:
        from ..trail import TrailError, load_key, verify_trail

        if key_file is None and not os.environ.get(KEY_VARIABLE):
            if checkpoint_file is not None:
                raise CannotTellError(f"a checkpoint is judged with the trail's key; give --key FILE or set {KEY_VARIABLE}")
            return None
        try:
            key = load_key(key_file)
            return verify_trail(self.file, key=key, checkpoint=_checkpoint(checkpoint_file), size=self._size)
        except TrailError as fault:
            raise CannotTellError(str(fault)) from fault

    def entries(self) -> Iterator[Entry]:
        """The entries, up to the first line that cannot be read; that is a fault of the trail, and not ours."""
        from ..trail import Fault, InvalidEntryError, TrailError, read_trail

        try:
            yield from read_trail(self.file, size=self._size)
        except InvalidEntryError as fault:
            reason: FaultReason = "bad-line" if fault.line is not None else "missing-file"
            message = f"{fault.problem}; nothing after it is shown"
            self._read_fault = Fault(index=(fault.line or 1) - 1, reason=reason, message=message, file=fault.file)
        except TrailError as fault:
            raise CannotTellError(str(fault)) from fault

    def verdict(self) -> Verified | Fault | None:
        """What is known of the trail's truth, once the entries were read."""
        return self.verification if self.verification is not None else self._read_fault

    @property
    def bad(self) -> bool:
        """Whether the trail is known not to hold."""
        verdict = self.verdict()
        return verdict is not None and not verdict.ok

    def run_named(self, wanted: str | None) -> RunInfo:
        """The run whose id begins with `wanted`, or the last one."""
        from ..reports import list_runs

        runs = list_runs(self.entries())
        if not runs:
            why = f" ({self._read_fault.place}: {self._read_fault.message})" if self._read_fault is not None else ""
            raise CannotTellError(f"{self.file}: no run of the loop is in it{why}")
        if wanted is None:
            return runs[-1]
        found = [run for run in runs if run.id == wanted] or [run for run in runs if wanted and run.id.startswith(wanted)]
        if len(found) == 1:
            return found[0]
        listed = "".join(f"\n  {line_of(run)}" for run in (found or runs)[-MOST_LISTED:])
        if found:
            raise CannotTellError(f"{self.file}: more than one run begins with {wanted[:80]!r}:{listed}")
        raise CannotTellError(f"{self.file}: no run has the id {wanted[:80]!r}; its last ones are:{listed}")

    def story(self, wanted: str | None) -> Story:
        """The story of a run. Reads the file twice, and holds one run of it."""
        from ..reports import tell_story
        from ..trail import read_blob

        run = self.run_named(wanted)
        return tell_story(self.entries(), run=run.id, verification=self.verdict(), blobs=partial(read_blob, self.file))


def _size_of(file: Path) -> int:
    """Bytes of all files of the trail."""
    from ..trail import TrailError, trail_files

    try:
        # Where there is none, looking at the one that was named says so.
        return sum(part.stat().st_size for part in trail_files(file) or [file])
    except TrailError as fault:
        raise CannotTellError(str(fault)) from fault
    except (OSError, ValueError) as fault:
        raise CannotTellError(f"{file}: cannot be read ({getattr(fault, 'strerror', None) or fault})") from fault


def line_of(run: RunInfo) -> str:
    """One run in a line for messages."""
    from ._words import plain

    return f"{plain(run.id, 40)}  {run.status}  {plain(run.goal or 'no goal on record', 80)}"


def _checkpoint(path: Path | None) -> Any:
    if path is None:
        return None
    try:
        value = json.loads(path.read_bytes())
    except OSError as fault:
        raise CannotTellError(f"{path}: the checkpoint cannot be read ({fault.strerror})") from fault
    except (ValueError, RecursionError) as fault:
        raise CannotTellError(f"{path}: the checkpoint is not JSON") from fault
    if not isinstance(value, dict):
        raise CannotTellError(f"{path}: the checkpoint is not a JSON object")
    return value
