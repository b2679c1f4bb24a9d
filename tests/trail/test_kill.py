"""Killing the writing process: what it had acknowledged is in the file, and the chain holds up to a line that may be cut."""

from __future__ import annotations

import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import InvalidEntryError, TrailKey, read_trail, verify_trail

WRITER = """
import sys, trio
from foxloop_trio.trail import open_trail

async def main(path):
    async with open_trail(path, key="ab" * 32) as trail:
        async def some(name):
            while True:
                entry = await trail.append(actor=name, kind="k", data={"text": "x" * 2000})
                sys.stdout.write(f"{entry.seq} {entry.hash}\\n")
                sys.stdout.flush()
        async with trio.open_nursery() as nursery:
            for name in ("one", "two"):
                nursery.start_soon(some, name)

trio.run(main, sys.argv[1])
"""


def kill_once(path: Path, key: TrailKey, run_child: Any, draw: random.Random) -> int:
    """One writer, killed after it acknowledged some entries and a random time; returns how many entries it leaves."""
    child = run_child(WRITER, str(path))
    try:
        lines = [child.stdout.readline()]
        assert lines[0], child.stderr.read()
        time.sleep(draw.uniform(0, 0.03))
    finally:
        child.kill()
        rest, _ = child.communicate(timeout=30)
    # The last line of its report may be cut by the kill; the others were acknowledged.
    acknowledged = [line.split() for line in (lines[0] + rest).splitlines(keepends=True) if line.endswith("\n")]
    there: dict[str, str] = {}
    with suppress(InvalidEntryError):  # a cut last line; verify says below whether it was that
        for entry in read_trail(path):
            there[str(entry.seq)] = entry.hash
    assert {seq: digest for seq, digest in acknowledged if there.get(seq) != digest} == {}
    result = verify_trail(path, key=key)
    assert result.ok or (result.reason, result.index) == ("partial-line", len(there))
    return len(there)


def kill_some(runs: int, tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    draw = random.Random(9)
    for run in range(runs):
        assert kill_once(tmp_path / f"{run}.trail", key, run_child, draw) >= 1


def test_what_a_killed_writer_acknowledged_is_in_the_file(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """A seeded sample of kill -9; each acknowledged entry is there with its hash."""
    kill_some(4, tmp_path, key, run_child)


@pytest.mark.long
def test_what_many_killed_writers_acknowledged_is_in_the_file(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """The same, a hundred times."""
    kill_some(100, tmp_path, key, run_child)
