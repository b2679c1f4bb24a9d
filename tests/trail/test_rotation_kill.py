"""Killing processes while they go from one file of a trail to the next: what was acknowledged is there, and nothing forks."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import Repaired, TrailKey, read_trail, repair_trail, trail_files, verify_trail

WRITER = """
import os, sys, trio
from foxloop_trio.trail import open_trail

async def main(path, who, report, rotate):
    fd = os.open(report, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    async with open_trail(path, key="ab" * 32, rotate_bytes=int(rotate)) as trail:
        told = []
        async def some(name):
            while True:
                entry = await trail.append(actor=name, kind="k", data={"text": "x" * 200})
                os.write(fd, f"{entry.seq} {entry.hash}\\n".encode())
                if not told:
                    told.append(1)
                    print("go", flush=True)
        async with trio.open_nursery() as nursery:
            for n in range(3):
                nursery.start_soon(some, f"{who}{n}")

trio.run(main, *sys.argv[1:])
"""


def kill_once(path: Path, key: TrailKey, run_child: Any, draw: random.Random, writers: int) -> int:
    """Writers that begin a file every entry or two, killed at a random time; how many files there were."""
    reports = [path.with_name(f"{path.name}.report-of-{n}") for n in range(writers)]
    limits = [draw.choice([1, 900, 1500]) for _ in range(writers)]
    children = [run_child(WRITER, str(path), f"w{n}/", str(reports[n]), str(limits[n])) for n in range(writers)]
    try:
        for child in children:
            assert child.stdout.readline() == "go\n", child.stderr.read()
        time.sleep(draw.uniform(0, 0.02))
        for child in children:
            child.kill()
            time.sleep(draw.choice([0, draw.uniform(0, 0.01)]))
    finally:
        for child in children:
            child.kill()
        for child in children:
            child.communicate(timeout=30)
    written = [line for report in reports for line in report.read_text(encoding="ascii").splitlines(keepends=True)]
    acknowledged = [line.split() for line in written if line.endswith("\n")]
    files = trail_files(path)
    assert [file.name for file in files] == [path.name, *(f"{path.name}.{n}" for n in range(1, len(files)))]
    assert all(file.stat().st_size for file in files[:-1])  # the newest may have been begun, and nothing more
    before = verify_trail(path, key=key)
    assert before.ok or (before.reason == "partial-line" and str(files[-1]) in (before.file or str(path))), before
    mended = repair_trail(path, key=key)
    assert isinstance(mended, Repaired), mended
    assert verify_trail(path, key=key).ok
    there = {str(entry.seq): entry.hash for entry in read_trail(path)}
    assert {seq: digest for seq, digest in acknowledged if there.get(seq) != digest} == {}
    assert len(acknowledged) == len({seq for seq, _ in acknowledged}) >= writers
    # Whoever comes next goes on.
    child = run_child(WRITER, str(path), "next/", str(reports[0]), "900")
    assert child.stdout.readline() == "go\n", child.stderr.read()
    child.kill()
    child.communicate(timeout=30)
    repair_trail(path, key=key)
    found = verify_trail(path, key=key)
    assert found.ok
    assert found.count > len(there)
    return len(files)


def kill_some(runs: int, tmp_path: Path, key: TrailKey, run_child: Any, seed: int) -> None:
    draw = random.Random(seed)
    for run in range(runs):
        kill_once(tmp_path / f"{run}.trail", key, run_child, draw, writers=1 + run % 2)


def test_a_writer_that_is_killed_between_two_files_loses_nothing(tmp_path: Path, key: TrailKey, run_child: Any) -> None:
    """H1, H13: a seeded sample of kill -9, one writer and two in turn; the trail verifies and goes on."""
    kill_some(6, tmp_path, key, run_child, seed=13)


@pytest.mark.long
@pytest.mark.parametrize("part", range(8))
def test_many_writers_that_are_killed_between_two_files_lose_nothing(
    part: int, tmp_path: Path, key: TrailKey, run_child: Any
) -> None:
    """H1, H13: two hundred times, in eight parts."""
    kill_some(25, tmp_path, key, run_child, seed=130 + part)
