"""Killing the writing process: what it had acknowledged is in the file, the chain holds, and a cut last line can be mended."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import Repaired, TrailKey, read_trail, repair_trail, verify_trail

WRITER = """
import os, sys, trio
from foxloop_trio.trail import open_trail

async def main(path, who, report):
    fd = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    async with open_trail(path, key="ab" * 32) as trail:
        told = []
        async def some(name):
            while True:
                entry = await trail.append(actor=name, kind="k", data={"text": "x" * 2000})
                os.write(fd, f"{entry.seq} {entry.hash}\\n".encode())
                if name.endswith("0") and not told:
                    told.append(1)
                    print("go", flush=True)
        async with trio.open_nursery() as nursery:
            for n in range(3):
                nursery.start_soon(some, f"{who}{n}")

trio.run(main, *sys.argv[1:])
"""


def kill_once(path: Path, key: TrailKey, run_child: Any, draw: random.Random, writers: int) -> tuple[int, int]:
    """So many writers, killed one after the other at a random time after each has acknowledged an entry; what they left."""
    reports = [path.with_name(f"{path.name}.report-{n}") for n in range(writers)]
    children = [run_child(WRITER, str(path), f"writer {n}/", str(report)) for n, report in enumerate(reports)]
    try:
        for child in children:
            assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(draw.uniform(0, 0.03))
        children[0].kill()
        time.sleep(draw.choice([0, draw.uniform(0, 0.01)]))
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.communicate(timeout=30)
    # The last line of a report may be cut by the kill; the others were acknowledged.
    written = [line for report in reports for line in report.read_text(encoding="ascii").splitlines(keepends=True)]
    acknowledged = [line.split() for line in written if line.endswith("\n")]
    before = verify_trail(path, key=key)
    assert before.ok or before.reason == "partial-line", before
    mended = repair_trail(path, key=key)
    assert isinstance(mended, Repaired), mended
    assert bool(mended.torn) is not before.ok
    assert verify_trail(path, key=key).ok
    there = {str(entry.seq): entry.hash for entry in read_trail(path)}
    assert {seq: digest for seq, digest in acknowledged if there.get(seq) != digest} == {}
    assert len(acknowledged) == len({seq for seq, _ in acknowledged}) >= writers
    return len(there), mended.torn


def kill_some(runs: int, writers: int, tmp_path: Path, key: TrailKey, run_child: Any, seed: int = 9) -> None:
    draw = random.Random(seed)
    for run in range(runs):
        entries, _ = kill_once(tmp_path / f"{run}.trail", key, run_child, draw, writers)
        assert entries >= writers


def test_what_a_killed_writer_acknowledged_is_in_the_file(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """A seeded sample of kill -9 (T31, T36): each acknowledged entry is there with its hash, before and after the repair."""
    kill_some(10, 1, tmp_path, key, run_child)


def test_what_two_killed_writers_of_one_file_acknowledged_is_in_it(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """Two processes at once (T21, T32, T34): one chain, whichever of them is killed first."""
    kill_some(3, 2, tmp_path, key, run_child)


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
def test_what_many_killed_writers_acknowledged_is_in_the_file(part: int, tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """Two hundred times, in five parts."""
    kill_some(40, 1, tmp_path, key, run_child, seed=part)


@pytest.mark.long
@pytest.mark.parametrize("part", range(2))
def test_what_many_pairs_of_killed_writers_acknowledged_is_in_it(part: int, tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """Fifty times, in two parts."""
    kill_some(25, 2, tmp_path, key, run_child, seed=part)


AS_FAST_AS_IT_CAN = """
import sys, trio
from foxloop_trio.trail import open_trail

async def main(path):
    async with open_trail(path, key="ab" * 32) as trail:
        print("go", flush=True)
        async def some():
            while True:
                await trail.append(actor="a", kind="k", data="x" * 200_000)
        async with trio.open_nursery() as nursery:
            for n in range(4):
                nursery.start_soon(some)

trio.run(main, sys.argv[1])
"""


def test_an_append_after_a_killed_writer_waits_for_nothing(path: Path, key: TrailKey, run_child: Any) -> None:
    """H1, T34: the kernel gives the dead writer's lock back; the next append takes the time of an append, not of a lease."""
    child = run_child(AS_FAST_AS_IT_CAN, str(path))
    assert child.stdout.readline() == "go\n"
    time.sleep(0.1)
    child.kill()
    child.communicate(timeout=30)
    repair_trail(path, key=key)
    assert path.with_name(path.name + ".lock").exists()
    begun = time.monotonic()
    repaired = run_child(
        "import sys, time, trio\n"
        "from foxloop_trio.trail import open_trail\n"
        "async def main(path):\n"
        "    async with open_trail(path, key='ab' * 32, lock_timeout=0.5) as trail:\n"
        "        await trail.append(actor='b', kind='next')\n"
        "trio.run(main, sys.argv[1])\n",
        str(path),
    )
    _, err = repaired.communicate(timeout=30)
    assert repaired.returncode == 0, err
    assert time.monotonic() - begun < 10.0
    assert list(read_trail(path))[-1].kind == "next"
