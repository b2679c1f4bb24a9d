"""The host process is killed with -9, the browser lives on in a process of its own: the resumed run ends, no act is done twice.

The browser is a `FakeBrowser` behind a real websocket; the trail is a real file. Real time, since real processes are killed.
"""

from __future__ import annotations

import json
import random
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio

from foxloop_trio.trail import Entry, Verified, read_trail, verify_trail

HERE = Path(__file__).parent / "killed_host"
TOKEN = "a-token-for-tests-with-32-letters"
ORIGIN = "moz-extension://11111111-2222-4333-8444-555555555555"
SECONDS = 30.0
"""How long one host process may take, start of Python included, on a machine that is busy."""
RUN_SECONDS = 1.0
"""A whole run takes less than this: four acts of which each settles for 0.12 s, and thirty entries that are synced."""
AGAIN = 0.3
"""The share of resumed runs that are killed as well."""
ACTS = [("type", "Name"), ("type", "Street"), ("type", "City"), ("click", "Send")]


@attrs.define
class Place:
    """What outlives the host: the browser's process and the trail."""

    port: int
    trail: Path
    browser: trio.Process

    async def host(self, kill_after: float | None) -> dict[str, Any] | None:
        """One host process: how its run ended; None when it was killed before it ended."""
        args = [sys.executable, str(HERE / "host.py"), str(self.port), TOKEN, ORIGIN, str(self.trail)]
        async with open_process(args) as process:
            with trio.fail_after(SECONDS):
                assert await line_of(process) == "ready"
                if kill_after is not None:
                    with trio.move_on_after(kill_after):
                        await process.process.wait()
                    process.process.kill()
                said = await line_of(process)
                await process.process.wait()
        ended: dict[str, Any] | None = json.loads(said) if said else None
        return ended

    async def acts(self) -> list[dict[str, Any]]:
        """End the browser's process and read what was done in it."""
        assert self.browser.stdin is not None
        assert self.browser.stdout is not None
        await self.browser.stdin.aclose()
        text = b"".join([bytes(data) async for data in self.browser.stdout]).decode()
        await self.browser.wait()
        return [json.loads(line) for line in text.splitlines()]


@attrs.define
class Started:
    process: trio.Process
    buffer: bytes = b""


async def line_of(started: Started) -> str:
    """The next line that a process prints; the empty text at its end."""
    assert started.process.stdout is not None
    while b"\n" not in started.buffer:
        data = await started.process.stdout.receive_some()
        if not data:
            break
        started.buffer += data
    line, _, started.buffer = started.buffer.partition(b"\n")
    return line.decode()


@asynccontextmanager
async def open_process(args: list[str]) -> AsyncIterator[Started]:
    process = await trio.lowlevel.open_process(args, stdin=-1, stdout=-1)
    try:
        yield Started(process)
    finally:
        with trio.CancelScope(shield=True):
            if process.returncode is None:
                process.kill()
            await process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    await stream.aclose()


def free_port() -> int:
    """A port that nobody listens on, below those that the system gives to clients: who connects to one of these may meet itself."""
    while True:
        port = random.randrange(15_000, 30_000)
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


@asynccontextmanager
async def open_place(folder: Path) -> AsyncIterator[Place]:
    port = free_port()
    async with open_process([sys.executable, str(HERE / "browser.py"), str(port), TOKEN, ORIGIN]) as started:
        with trio.fail_after(SECONDS):
            assert await line_of(started) == "ready"
        yield Place(port=port, trail=folder / "run.jsonl", browser=started.process)


@attrs.define
class Seen:
    """What one killed and resumed run came to."""

    kills: int = 0
    in_doubt: int = 0


async def kill_and_resume(folder: Path, dice: random.Random, moment: float, seen: Seen) -> None:
    async with open_place(folder) as place:
        kill_after: float | None = moment * RUN_SECONDS
        ended = None
        while ended is None:
            ended = await place.host(kill_after)
            seen.kills += ended is None
            kill_after = dice.random() * RUN_SECONDS if dice.random() < AGAIN else None
        assert ended["status"] == "done", ended
        acts = await place.acts()
    assert [(act["op"], act["label"]) for act in acts] == ACTS
    assert all(act["ok"] for act in acts)
    assert acts[-1]["sent"] == {"name": "Ada", "street": "Main Street 1", "city": "London"}
    assert isinstance(verify_trail(place.trail, key="ab" * 32), Verified)
    check_doubts(list(read_trail(place.trail)), seen)


def check_doubts(entries: list[Entry], seen: Seen) -> None:
    """Each call that was allowed and got no result in its run is the first thing that the next run says, as in doubt."""
    runs: dict[str, list[Entry]] = {}
    for entry in entries:
        runs.setdefault(entry.data["run"], []).append(entry)
    order = list(runs)
    owed: Entry | None = None
    for name in order:
        own = runs[name]
        if name != order[0]:
            assert own[0].data["resumes"] == order[order.index(name) - 1]
        results = {entry.data["id"]: entry for entry in own if entry.kind == "loop.tool-result"}
        if owed is not None and len(own) > 1:
            shown = own[1]
            assert (shown.kind, shown.data["id"], shown.data["reason"]) == ("loop.tool-result", owed.data["id"], "in-doubt")
            assert shown.data["record"]["effect"]["state"] == "unknown"
            assert "may have taken effect" in shown.data["record"]["shown"]
            seen.in_doubt += 1
            owed = None
        allowed = [entry for entry in own if entry.kind == "loop.decision" and entry.data["decision"] == "allow"]
        left = [entry for entry in allowed if entry.data["id"] not in results]
        assert len(left) <= 1
        owed = left[0] if left else owed
    assert owed is None


async def kill_many(folder: Path, count: int, part: int = 0) -> Seen:
    """`count` runs, each killed at a random moment of its own part of the time that a run takes; three at a time."""
    dice, seen = random.Random(f"killed hosts {count} {part}"), Seen()
    at_once = trio.CapacityLimiter(3)

    async def one(number: int, dice: random.Random) -> None:
        place = folder / str(number)
        place.mkdir()
        async with at_once:
            await kill_and_resume(place, dice, (number + dice.random()) / count, seen)

    async with trio.open_nursery() as nursery:
        for number in range(count):
            nursery.start_soon(one, number, random.Random(dice.random()))
    return seen


async def test_a_run_whose_host_is_killed_at_any_moment_is_resumed_to_its_end_with_no_act_done_twice(tmp_path: Path) -> None:
    """Six moments; what is in doubt is shown as such."""
    seen = await kill_many(tmp_path, 6)
    assert seen.kills >= 3
    assert seen.in_doubt >= 1


@pytest.mark.long
@pytest.mark.parametrize("part", range(5))
async def test_the_same_at_a_hundred_moments_in_five_parts(tmp_path: Path, part: int) -> None:
    """Twenty moments each."""
    seen = await kill_many(tmp_path, 20, part)
    assert seen.kills >= 14
    assert seen.in_doubt >= 4
