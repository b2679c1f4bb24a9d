"""Ctrl-C in the middle of an append: it comes before or after, so an append that raises has added nothing."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.trail import MemoryTrail, TrailKey, open_trail, read_trail, verify_trail
from foxloop_trio.trail import _file_trail as file_trail
from foxloop_trio.trail import _memory as memory


def interrupted(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, with a Ctrl-C at its first call."""
    calls: list[int] = []

    def call(*args: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
        return function(*args)

    return call


def uninterrupted(main: Callable[[], Awaitable[Any]]) -> Any:
    """Run `main`; a Ctrl-C that gets out of it fails the test and not the whole test run."""
    try:
        return trio.run(main)
    except KeyboardInterrupt:
        pytest.fail("the Ctrl-C got out of the wrong place")


async def returns_then_is_interrupted(append: Callable[[], Awaitable[Any]]) -> None:
    """The append with the Ctrl-C in it comes to its end; the Ctrl-C is there at the next checkpoint."""
    assert (await append()).seq == 0
    with pytest.raises(KeyboardInterrupt):
        await trio.sleep(10)
    assert (await append()).seq == 1


@pytest.mark.parametrize("where", ["clock", "after the entry was added"])
def test_an_append_in_memory_is_not_torn_by_control_c(monkeypatch: Any, key: TrailKey, where: str) -> None:
    """T22: had it raised after the entry was there, whoever appends it again would have it twice."""
    now: Callable[[], float] = lambda: 1.0  # noqa: E731
    if where == "clock":
        now = interrupted(now)
    else:
        monkeypatch.setattr(memory.Entry, "of", interrupted(memory.Entry.of))

    async def main() -> int:
        trail = MemoryTrail(key=key, now=now)
        with trio.fail_after(5):
            await returns_then_is_interrupted(lambda: trail.append(actor="a", kind="k"))
        return len(trail)

    assert uninterrupted(main) == 2


def test_an_append_to_a_file_is_not_torn_by_control_c(monkeypatch: Any, path: Path, key: TrailKey) -> None:
    """T22, T40: the same, with the write in its thread."""
    monkeypatch.setattr(file_trail.Entry, "of", interrupted(file_trail.Entry.of))

    async def main() -> None:
        with trio.fail_after(5):
            async with open_trail(path, key=key) as trail:
                await returns_then_is_interrupted(lambda: trail.append(actor="a", kind="k"))

    uninterrupted(main)
    assert verify_trail(path, key=key).ok
    assert [entry.seq for entry in read_trail(path)] == [0, 1]


def test_control_c_before_the_write_leaves_nothing_and_frees_the_turn(path: Path, key: TrailKey) -> None:
    """T20, T22: the next append is neither held up nor numbered wrongly."""

    async def main() -> None:
        with trio.fail_after(5):
            async with open_trail(path, key=key, now=interrupted(lambda: 1.0)) as trail:
                with pytest.raises(KeyboardInterrupt):
                    await trail.append(actor="a", kind="k")
                assert (await trail.append(actor="a", kind="k")).seq == 0

    uninterrupted(main)
    assert verify_trail(path, key=key).ok
