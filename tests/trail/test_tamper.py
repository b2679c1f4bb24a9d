"""Tampering with a file of 200 entries: any byte, any line. Verify names the place, or nothing was changed but the spelling."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import Entry, Fault, MemoryTrail, TrailKey, read_trail, verify_trail

COUNT = 200


@pytest.fixture
async def lines(key: TrailKey) -> list[bytes]:
    """With escapes, floats and texts that can be spelled in more than one way."""
    times = iter(range(1000, 2000))
    trail = MemoryTrail(key=key, now=lambda: next(times) / 100)
    for n in range(COUNT):
        data: Any = {"n": n, "text": "caf\u00e9", "x": [0.5, None, True]}
        if n % 40 == 0:
            data.update({"control": "\x1f\ud800\x0b", "big": 1e22, "quoted": 'a"\\/b'})
        await trail.append(actor="agent", kind="test.step", data=data)
    return trail.text().encode().splitlines(keepends=True)


def line_at(lines: list[bytes], place: int) -> int:
    """The index of the line that has the byte."""
    for index, line in enumerate(lines):
        if place < len(line):
            return index
        place -= len(line)
    raise AssertionError


def only_spelled_otherwise(path: Path, good: list[Entry]) -> bool:
    """The harmless changes (section 8): whitespace, the case of an escape or an exponent. The values are the same."""
    return list(read_trail(path)) == good


def flip_all(path: Path, key: TrailKey, lines: list[bytes], places: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Flip these bits, one change at a time; how many were found, and how many harmless. Anything else fails."""
    path.write_bytes(b"".join(lines))
    good = list(read_trail(path))
    found = harmless = 0
    fd = os.open(path, os.O_RDWR)
    try:
        for place, bits in places:
            before = os.pread(fd, 1, place)
            os.pwrite(fd, bytes([before[0] ^ bits]), place)
            result = verify_trail(path, key=key)
            if isinstance(result, Fault):
                index = line_at(lines, place)
                # Without its line feed a line is joined to the next, with one more it is cut in two: both begin where they did.
                assert result.index == index, (place, bits, result)
                found += 1
            else:
                assert only_spelled_otherwise(path, good), (place, bits)
                harmless += 1
            os.pwrite(fd, before, place)
    finally:
        os.close(fd)
    assert verify_trail(path, key=key).ok
    return found, harmless


async def test_a_changed_byte_is_found_where_it_is(path: Path, key: TrailKey, lines: list[bytes]) -> None:
    """Section 14, 7: a seeded sample of places and changes."""
    draw = random.Random(20)
    size = sum(map(len, lines))
    found, harmless = flip_all(path, key, lines, [(draw.randrange(size), draw.randrange(1, 256)) for _ in range(600)])
    assert found + harmless == 600
    assert found > 590


PARTS = 6
"""The whole file takes minutes; a test each for so many parts of it."""


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
async def test_every_changed_byte_is_found_where_it_is(part: int, path: Path, key: TrailKey, lines: list[bytes]) -> None:
    """Every byte: a letter becomes one of the other case, which is the likeliest to mean the same; anything else anything else."""
    draw = random.Random(part)
    whole = b"".join(lines)
    places = range(len(whole) * part // PARTS, len(whole) * (part + 1) // PARTS)
    flips = [(place, 0x20 if whole[place : place + 1].isalpha() else draw.randrange(1, 256)) for place in places]
    found, harmless = flip_all(path, key, lines, flips)
    assert found + harmless == len(flips) > 10_000
    assert harmless < 20


def first_moved(changed: list[bytes], lines: list[bytes]) -> int:
    return next(index for index, line in enumerate(changed) if index >= len(lines) or line != lines[index])


async def test_dropped_repeated_and_swapped_lines_are_found_at_the_first_moved_one(
    path: Path, key: TrailKey, lines: list[bytes]
) -> None:
    """Section 14, 9: each line dropped, each repeated somewhere, many pairs swapped, the whole turned round."""
    draw = random.Random(22)
    changed = [[*lines[:n], *lines[n + 1 :]] for n in range(COUNT - 1)]
    changed += [[*lines[:at], lines[n], *lines[at:]] for n in range(0, COUNT, 2) for at in (n + 1, draw.randrange(COUNT + 1))]
    for _ in range(100):
        one, two = draw.sample(range(COUNT), 2)
        some = list(lines)
        some[one], some[two] = some[two], some[one]
        changed.append(some)
    changed += [lines[::-1], draw.sample(lines, COUNT), [*lines, *lines]]
    for some in changed:
        path.write_bytes(b"".join(some))
        result = verify_trail(path, key=key)
        assert isinstance(result, Fault)
        assert (result.reason, result.index) == ("bad-sequence", first_moved(some, lines))


async def test_lines_cut_off_the_end_are_found_with_a_checkpoint_only(path: Path, key: TrailKey, lines: list[bytes]) -> None:
    """T60, T61: for every number of lines that is left; a checkpoint of an earlier time finds it from there on."""
    trail = MemoryTrail(key=key)
    await trail.import_jsonl(b"".join(lines).decode())
    checkpoint = await trail.checkpoint()
    for left in range(0, COUNT + 1, 7):
        path.write_bytes(b"".join(lines[:left]))
        assert verify_trail(path, key=key).ok
        result = verify_trail(path, key=key, checkpoint=checkpoint)
        assert result.ok is (left == COUNT)
        if isinstance(result, Fault):
            assert (result.reason, result.index) == ("truncated", left)


async def test_a_checkpoint_of_another_history_does_not_fit(path: Path, key: TrailKey, lines: list[bytes]) -> None:
    """Section 14, 20: right key, same number of entries."""
    other = MemoryTrail(key=key, now=lambda: 1.0)
    for n in range(COUNT):
        await other.append(actor="agent", kind="test.step", data=n)
    path.write_bytes(b"".join(lines))
    result = verify_trail(path, key=key, checkpoint=await other.checkpoint())
    assert isinstance(result, Fault)
    assert (result.reason, result.index) == ("checkpoint-mismatch", COUNT - 1)
