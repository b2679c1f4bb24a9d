"""A trail as text: exported, imported whole or not at all, and looked at while it is open."""

# ruff: noqa: ASYNC240 - these tests look at small files between appends, while nothing else runs

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.trail import ConflictError, Fault, InvalidEntryError, MemoryTrail, TrailKey, Verified, open_trail, verify_trail
from foxloop_trio.trail._file import FileSystem


async def text_of(count: int, key: TrailKey) -> str:
    trail = MemoryTrail(key=key, now=lambda: 1.0)
    for n in range(count):
        await trail.append(actor="agent", kind="k", data={"n": n, "text": "caf\u00e9\u2028\x85"})
    return trail.text()


async def test_a_trail_can_be_looked_at_while_it_is_open(path: Path, key: TrailKey, fill: Any) -> None:
    """T23: entries, verify, checkpoint and export of a file; those of a trail in memory say the same."""
    memory = MemoryTrail(key=key, now=lambda: 1.0)
    async with open_trail(path, key=key, now=lambda: 1.0) as trail:
        assert (await trail.entries(), await trail.export_jsonl()) == ([], "")
        assert not path.exists()
        for one in (trail, memory):
            await fill(one, 3)
        assert await trail.entries() == memory.entries()
        assert await trail.export_jsonl() == await memory.export_jsonl() == path.read_text(encoding="utf-8")
        checkpoint = await trail.checkpoint()
        assert checkpoint == await memory.checkpoint()
        assert await trail.verify(checkpoint) == await memory.verify(checkpoint)
        for bad in ({}, 0, "", False, []):
            assert not await trail.verify(bad)


async def test_an_import_is_one_durable_write(path: Path, key: TrailKey, open_over: Any, fill: Any) -> None:
    """T74, H15: on disk whole before it has the trail's name; and the trail goes on after it."""
    calls: list[Any] = []

    class Recorded(FileSystem):
        def fsync(self, fd: int) -> None:
            calls.append((os.fstat(fd).st_size, path.stat().st_size))
            os.fsync(fd)

        def fsync_directory(self, name: str) -> None:
            calls.append(path.stat().st_size)
            super().fsync_directory(name)

    text = await text_of(200, key)
    async with open_over(path, key, Recorded()) as trail:
        assert await trail.import_jsonl(text) == 200
        assert calls == [(len(text.encode()), 0), len(text.encode())]
        assert [file.name for file in path.parent.iterdir()] == ["run.trail", "run.trail.lock"]
        assert (await fill(trail, 1))[0].seq == 200
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_other_spellings_are_imported_as_we_write_them(kind: str, path: Path, key: TrailKey) -> None:
    """T70: a byte order mark, CRLF, other field orders, white space and a missing last line feed are fine; empty text is empty."""
    text = await text_of(3, key)
    spelled = "\ufeff" + "\r\n".join(json.dumps(dict(sorted(json.loads(line).items()))) for line in text.split("\n")[:-1])
    async with open_trail(path, key=key) as file:
        trail: Any = file if kind == "file" else MemoryTrail(key=key)
        assert await trail.import_jsonl("") == 0
        assert await trail.import_jsonl("\ufeff") == 0
        assert await trail.import_jsonl(spelled) == 3
        assert await trail.export_jsonl() == text


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_a_bad_text_is_refused_with_its_line_and_leaves_nothing(kind: str, path: Path, key: TrailKey) -> None:
    """T71, T72, T73, T74: a parse fault, no entry, a chain that does not hold, another key."""
    text = await text_of(3, key)
    lines = text.split("\n")[:-1]
    bad = {
        "blank": [lines[0], "", lines[1]],
        "NaN": [lines[0], lines[1].replace('"n":1', '"n":NaN')],
        "repeated": [lines[0], lines[1].replace('"n":1', '"n":1,"n":1')],
        "malformed": [lines[0], "{}"],
        "bad-hash": [lines[0], lines[1].replace('"n":1', '"n":7')],
        "bad-sequence": [lines[0], lines[2]],
        "UTF-8|surrogate": [lines[0], "\ud800"],
    }
    async with open_trail(path, key=key) as file:
        trail: Any = file if kind == "file" else MemoryTrail(key=key)
        for words, some in bad.items():
            with pytest.raises(InvalidEntryError, match=words) as caught:
                await trail.import_jsonl("\n".join(some))
            assert caught.value.line in (2, None)
            assert await trail.export_jsonl() == ""
        with pytest.raises(InvalidEntryError, match="bad-mac"):
            await trail.import_jsonl(await text_of(3, TrailKey("cd" * 32)))
        assert await trail.import_jsonl(text) == 3


@pytest.mark.parametrize("kind", ["memory", "file"])
async def test_an_import_into_a_trail_with_entries_is_a_conflict(kind: str, path: Path, key: TrailKey, fill: Any) -> None:
    """T74: nothing changes."""
    text = await text_of(3, key)
    async with open_trail(path, key=key) as file:
        trail: Any = file if kind == "file" else MemoryTrail(key=key)
        await fill(trail, 1)
        before = await trail.export_jsonl()
        with pytest.raises(ConflictError):
            await trail.import_jsonl(text)
        assert await trail.export_jsonl() == before


async def test_a_trail_that_is_verified_while_it_grows_is_whole(path: Path, key: TrailKey, fill: Any) -> None:
    """T23: up to what was durable when it was asked; a line in mid-write is not taken for a cut one."""
    async with open_trail(path, key=key) as trail:
        await fill(trail, 5)
        size = path.stat().st_size
        await fill(trail, 1)
        assert verify_trail(path, key=key, size=size) == Verified(count=5, head=(await trail.entries())[4].hash)
        with path.open("ab") as stranger:
            stranger.write(b"half a li")
        fault = await trail.verify()
        assert isinstance(fault, Fault)
        assert fault.reason == "partial-line"
