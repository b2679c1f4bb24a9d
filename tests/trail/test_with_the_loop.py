"""A run and its trail in a file: recorded before it goes on, stopped when the record cannot be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio import CheckResult, Loop, Replayed, Tool, ToolOutput, create_gate, scripted_planner
from foxloop_trio.trail import MemoryTrail, TrailKey, open_trail, read_trail, verify_trail
from foxloop_trio.trail._file import FileSystem

REPLIES = [
    {"calls": [{"name": "save", "args": {"text": "one"}}]},
    {"calls": [{"name": "save", "args": {"text": "two"}}]},
    {"calls": [{"name": "finish", "args": {"summary": "Saved."}}]},
]


async def loop_with(trail: Any, saved: list[str]) -> Loop:
    async def save(args: dict[str, Any], ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        saved.append(args["text"])
        return ToolOutput(ok=True, summary="Saved.")

    parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    tool = Tool(name="save", description="Saves.", parameters=parameters, scope="fill", domain="notes.local", run=save)
    gate, host = create_gate(tools=[tool])
    await host.add_grant(scope="fill", domains=["notes.local"])
    return Loop(planner=scripted_planner(REPLIES), gate=gate, tools=[tool], trail=trail)


async def test_an_event_is_on_disk_before_its_reader_sees_it(path: Path, key: TrailKey) -> None:
    """T24: whatever the consumer has seen is in the file already, in order."""
    saved: list[str] = []
    seen: list[str] = []
    async with open_trail(path, key=key) as trail:
        loop = await loop_with(trail, saved)
        async with loop.run("Save") as run:
            async for event in run:
                seen.append(f"loop.{event.type}")
                kinds = [entry.kind for entry in read_trail(path)]
                assert [kind for kind in kinds if kind in set(seen)] == seen
                assert verify_trail(path, key=key).ok
    assert saved == ["one", "two"]
    assert seen[-1] in ("loop.done", "loop.blocked")


async def test_a_run_whose_record_cannot_be_written_stops_and_undoes_nothing(path: Path, key: TrailKey, open_over: Any) -> None:
    """T24: `trail-failed`, before the next effect; what was done stays done, and the file verifies."""
    saved: list[str] = []

    class Full(FileSystem):
        def write(self, fd: int, data: bytes) -> int:
            if saved:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return os.write(fd, data)

    async with open_over(path, key, Full()) as trail:
        outcome = await (await loop_with(trail, saved)).complete("Save")
    assert (outcome.status, outcome.reason) == ("blocked", "trail-failed")
    assert saved == ["one"]
    assert verify_trail(path, key=key).ok


@pytest.mark.parametrize("given", [{"$redacted": "x"}, {"$literal": {"$blob": 1}}, {"$blob": "0" * 64, "bytes": 1, "type": "a/b"}])
async def test_a_run_whose_planner_says_what_looks_like_a_marker_of_ours_replays_and_goes_on(
    given: Any, path: Path, key: TrailKey
) -> None:
    """H12: from the entries of a file and of a trail in memory, whose data comes back as it was given."""
    saved: list[Any] = []

    async def save(args: dict[str, Any], ctx: Any) -> ToolOutput:
        await trio.lowlevel.checkpoint()
        saved.append(args["what"])
        return ToolOutput(ok=True, summary="Saved.", data=args["what"])

    parameters = {"type": "object", "properties": {"what": {"type": "object", "additionalProperties": True}}, "required": ["what"]}
    tool = Tool(name="save", description="Saves.", parameters=parameters, scope="fill", domain="notes.local", run=save)

    async def loop_over(trail: Any, *replies: Any) -> Loop:
        gate, host = create_gate(tools=[tool])
        await host.add_grant(scope="fill", domains=["notes.local"], tools=["save"], approval="never")
        done = CheckResult(ok=True)
        return Loop(planner=scripted_planner(list(replies)), gate=gate, tools=[tool], trail=trail, check=lambda claim: done)

    script = [{"calls": [{"name": "save", "args": {"what": given}}]}, REPLIES[-1]]
    memory = MemoryTrail(key=key)
    assert (await (await loop_over(memory, *script)).complete("Save")).status == "done"
    async with open_trail(path, key=key, rotate_bytes=2000) as trail:
        await (await loop_over(trail, *script)).complete("Save")
        from_file = await trail.entries(whole=True)
    assert saved == [given, given]
    for entries in (memory.entries(whole=True), from_file, list(read_trail(path, whole=True))):
        found = await (await loop_over(None)).replay(entries)
        assert isinstance(found, Replayed), found
        assert found.finished
        planned = next(place for place, entry in enumerate(entries) if entry.kind == "loop.plan")
        saved.clear()
        async with (await loop_over(None, REPLIES[-1])).resume(entries[: planned + 1]) as run:
            async for _ in run:
                pass
        assert saved == [given]
