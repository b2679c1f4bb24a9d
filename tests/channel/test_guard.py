"""`GuardedStream`: what a stranger may send, and what it is told."""

from __future__ import annotations

from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio.channel._guard import REFUSAL, STRANGER_BYTES, GuardedStream


@pytest.mark.parametrize("at_once", [None, 1000, 64 * 1024])
async def test_a_stranger_s_bytes_are_counted_to_the_last(autojump_clock: Any, at_once: int | None) -> None:
    """Exactly the allowance is read, whatever is asked for at once; then it is said once, and nothing more is read until the
    end."""
    ours, theirs = trio.testing.memory_stream_pair()
    guard = GuardedStream(ours)
    overruns: list[int] = []
    guard.on_overrun = lambda: overruns.append(1)
    await theirs.send_all(b"x" * (3 * STRANGER_BYTES))
    read = 0
    while read < STRANGER_BYTES:
        read += len(await guard.receive_some(at_once))
    assert (STRANGER_BYTES, []) == (read, overruns)
    with trio.move_on_after(5) as scope:
        await guard.receive_some(at_once)
    assert (True, [1], True) == (scope.cancelled_caught, overruns, guard.overrun)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(guard.aclose)
        with pytest.raises(trio.ClosedResourceError):
            await guard.receive_some(at_once)
    assert [1] == overruns


async def test_a_trusted_peer_is_not_counted(autojump_clock: Any) -> None:
    """Once it has shown that it knows the token, the message size is what is bounded."""
    ours, theirs = trio.testing.memory_stream_pair()
    guard = GuardedStream(ours)
    guard.trust()
    await theirs.send_all(b"x" * (3 * STRANGER_BYTES))
    read = 0
    while read < 3 * STRANGER_BYTES:
        read += len(await guard.receive_some())
    assert not guard.overrun


async def test_until_it_is_accepted_a_stranger_hears_one_refusal_and_no_word_of_ours(autojump_clock: Any) -> None:
    """Whatever is sent, once; after an acceptance everything passes."""
    ours, theirs = trio.testing.memory_stream_pair()
    guard = GuardedStream(ours)
    await guard.send_all(b"HTTP/1.1 426 Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n")
    await guard.send_all(b"more words")
    assert REFUSAL == await theirs.receive_some(1000)
    ours, theirs = trio.testing.memory_stream_pair()
    guard = GuardedStream(ours)
    await guard.send_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
    await guard.send_all(b"frames")
    assert b"HTTP/1.1 101 Switching Protocols\r\n\r\nframes" == await theirs.receive_some(1000)
    assert guard.accepted


async def test_the_end_of_the_stream_is_noticed_whoever_makes_it(autojump_clock: Any) -> None:
    """Theirs, ours, and a cut."""
    ours, theirs = trio.testing.memory_stream_pair()
    guard = GuardedStream(ours)
    await theirs.aclose()
    assert not guard.ended
    assert b"" == await guard.receive_some()
    assert guard.ended
    for end in ("aclose", "cut"):
        ours, theirs = trio.testing.memory_stream_pair()
        guard = GuardedStream(ours)
        if end == "aclose":
            await guard.aclose()
        else:
            guard.cut()
        await guard.wait_ended()
        with pytest.raises(trio.ClosedResourceError):
            await guard.send_all(b"x")
        with pytest.raises(trio.ClosedResourceError):
            await guard.receive_some()
        with pytest.raises(trio.ClosedResourceError):
            await guard.wait_send_all_might_not_block()
        await guard.aclose()
