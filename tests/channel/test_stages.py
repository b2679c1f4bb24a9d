"""The connection is cut, or filled with garbage, at each stage of its life: request, hello, calls. It ends, and nothing else does.

The client's bytes are written by hand and known in advance (fixed nonces and ids), so that they can be cut anywhere.
"""

from __future__ import annotations

import json
import random
import socket
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio
import trio.testing

from foxloop_trio import wire
from foxloop_trio.channel import ChannelSession, Listener, open_listener, open_session
from foxloop_trio.errors import ChannelBroken, ChannelError, RemoteProtocolError

TOKEN = "a-token-for-tests-with-32-letters"
ORIGIN = "moz-extension://11111111-2222-4333-8444-555555555555"
NONCE, INCARNATION = "ff" * 16, "01" * 16


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such clients answer no close frames, and are refused often: each would cost the whole limit."""
    monkeypatch.setattr("foxloop_trio.channel._transport.CLOSE_SECONDS", 0.02)
    monkeypatch.setattr("foxloop_trio.channel._hello.REFUSAL_SECONDS", 0.0)


def fixed_ids(nbytes: int, purpose: str) -> bytes:
    return b"\x22" * nbytes


def frame(message: Mapping[str, Any]) -> bytes:
    """A masked text frame (RFC 6455, 5.2); the mask is zero."""
    payload = json.dumps(message).encode()
    assert 126 <= len(payload) < 2**16 or len(payload) < 126
    size = struct.pack("!B", 0x80 | len(payload)) if len(payload) < 126 else struct.pack("!BH", 0x80 | 126, len(payload))
    return b"\x81" + size + bytes(4) + payload


def stages(port: int) -> list[bytes]:
    """What an honest client says: the request, the hello, the answers to two pings. It waits for us between any two of them."""
    head = (
        f"GET {wire.PATH} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: {ORIGIN}\r\n\r\n"
    )
    proof = wire.addon_proof(TOKEN, runtime_nonce="22" * 16, addon_nonce=NONCE, incarnation=INCARNATION)
    params = {
        "protocol": 1,
        "incarnation": INCARNATION,
        "nonce": NONCE,
        "proof": proof,
        "addon": {"version": "0"},
        "browser": {"name": "Firefox", "version": "0"},
    }
    hello = {"jsonrpc": "2.0", "id": "x1", "method": "hello.open", "params": params}
    pongs = [{"jsonrpc": "2.0", "id": f"r{'22' * 6}-{count}", "result": {}} for count in (1, 2)]
    return [head.encode(), frame(hello), *(frame(pong) for pong in pongs)]


class House:
    """A listener that gives a session to whoever comes, and pings it twice; `ends` has what came of each."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.ends: list[ChannelError | None] = []
        self.sessions: list[ChannelSession] = []
        self.visits = 0

    async def serve(self) -> None:
        async with trio.open_nursery() as nursery:
            while True:
                nursery.start_soon(self._one, *await self.listener.accept())

    async def _one(self, *found: Any) -> None:
        async with open_session(*found, ids=fixed_ids) as session:
            self.sessions.append(session)
            end = None
            try:
                for _ in range(2):
                    await session.call("session.ping", {}, timeout=5)
                await session.wait_closed()
            except ChannelError as error:
                end = error
            self.ends.append(end)

    async def empty(self) -> None:
        """Wait until every visit has come in, as stranger or peer, and has ended."""
        while True:
            counts = self.listener.statistics()
            came = counts.admitted + sum(counts.refused.values())
            if (came, len(self.ends), counts.strangers, counts.connected) == (self.visits, counts.admitted, 0, 0):
                return
            await trio.testing.wait_all_tasks_blocked(0.001)


@asynccontextmanager
async def house() -> AsyncIterator[House]:
    """At its end an honest client must still be served to the last ping, and nothing may have crashed."""
    async with open_listener(token=TOKEN, origin=ORIGIN, ids=fixed_ids) as listener, trio.open_nursery() as nursery:
        found = House(listener)
        nursery.start_soon(found.serve)
        yield found
        await found.empty()
        served = len(found.ends)
        await visit(found, stage=4)
        await found.empty()
        assert [None] == found.ends[served:]
        assert 0 == listener.statistics().crashed
        nursery.cancel_scope.cancel()


HEARD = [b"hello.challenge", b"session.ping", b"session.ping"]
"""What we say in answer to each stage but the last; when it comes, it is the client's turn."""


async def hear(stream: trio.SocketStream, stage: int) -> None:
    heard = b""
    while HEARD[stage] not in heard:
        data = await stream.receive_some()
        assert data, heard
        heard += data


async def connect(house: House) -> trio.SocketStream:
    house.visits += 1
    return await trio.open_tcp_stream("127.0.0.1", house.listener.port)


async def visit(house: House, *, stage: int, said: int = 0, then: bytes = b"", how: str = "close") -> None:
    """Say all of the stages before `stage`, `said` bytes of that one, something else, and leave."""
    script = stages(house.listener.port)
    with suppress(trio.BrokenResourceError):  # we may be thrown out while we speak
        async with await connect(house) as stream:
            if how == "reset":
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            for number, text in enumerate(script[:stage]):
                await stream.send_all(text)
                if text is not script[-1]:
                    await hear(stream, number)
            await stream.send_all((script[stage][:said] if stage < len(script) else b"") + then)
            if how == "end of stream":
                await stream.send_eof()
                async for _ in stream:
                    pass
            elif then:
                async for _ in stream:
                    pass


@pytest.mark.parametrize("how", ["close", "end of stream", "reset"])
@pytest.mark.parametrize("stage", range(4), ids=["request", "hello", "first answer", "second answer"])
async def test_a_connection_cut_at_any_byte_ends_alone(stage: int, how: str) -> None:
    """At the first and last bytes of each stage and at many between: no slot is held, whoever called hears that it broke, and the
    next honest client is served."""
    async with house() as found:
        size = len(stages(found.listener.port)[stage])
        cuts = sorted({0, 1, 2, 5, size - 1, *random.Random(f"{stage} {how}").sample(range(size), 8)})
        for said in cuts:
            await visit(found, stage=stage, said=said, how=how)
            await found.empty()
        counts = found.listener.statistics()
        if stage < 2:
            assert [] == found.ends
            assert len(cuts) == sum(counts.refused.values())
            assert {"no-request", "vanished"} >= set(counts.refused)
        else:
            assert len(cuts) == len(found.ends)
            assert all(isinstance(end, ChannelBroken) for end in found.ends), found.ends


GARBAGE = {
    "zeros": bytes(64),
    "http": b"GET / HTTP/1.1\r\n\r\n" * 2,
    "text that is no message": b"\x81\x85" + bytes(4) + b"hello",
    "a batch": b"\x81\x82" + bytes(4) + b"[]",
    "binary": b"\x82\x85" + bytes(4) + b"hello",
    "bad utf-8": b"\x81\x82" + bytes(4) + b"\xff\xfe",
    "unmasked": b"\x81\x02{}",
    "random": random.Random(11).randbytes(500),
}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("stage", range(4), ids=["request", "hello", "first answer", "second answer"])
async def test_garbage_at_each_stage_ends_its_connection_alone(stage: int, garbage: bytes) -> None:
    """Instead of what should come, and after half of it. A stranger is refused; a known peer has broken the protocol."""
    async with house() as found:
        half = len(stages(found.listener.port)[stage]) // 2
        for said in (0, half):
            # Half a frame swallows what follows as the rest of it, so something must end it.
            await visit(found, stage=stage, said=said, then=garbage + (bytes(2_000) if said else b""), how="end of stream")
            await found.empty()
        if stage < 2:
            assert [] == found.ends
            assert 2 == sum(found.listener.statistics().refused.values())
        else:
            assert 2 == len(found.ends)
            assert all(isinstance(end, (ChannelBroken, RemoteProtocolError)) for end in found.ends), found.ends


async def test_two_sessions_at_once_share_nothing_but_the_listener() -> None:
    """Two honest clients that use the same ids, one ahead of the other; one is reset in the middle, the other goes on."""
    async with house() as found, await connect(found) as first, await connect(found) as second:
        script = stages(found.listener.port)
        for part in (0, 1):
            for stream in (first, second):
                await stream.send_all(script[part])
                await hear(stream, part)
        await second.send_all(script[2])
        await hear(second, 2)
        assert [0, 1] == sorted(session.statistics().received for session in found.sessions)
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await first.aclose()
        while not found.ends:
            await trio.testing.wait_all_tasks_blocked(0.001)
        assert isinstance(found.ends[0], ChannelBroken)
        [healthy] = [session for session in found.sessions if not session.closed]
        await second.send_all(script[3])
        while healthy.statistics().received < 2:
            await trio.testing.wait_all_tasks_blocked(0.001)
        assert (0, False) == (healthy.statistics().unanswered, healthy.closed)
