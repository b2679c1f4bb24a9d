"""Peers that know the token and then misbehave, frame by frame: one connection ends, the listener and all others live."""

from __future__ import annotations

import json
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
import trio

from foxloop_trio import wire
from foxloop_trio.channel import ChannelSession, Listener, RemoteCallError, open_listener, open_session
from foxloop_trio.errors import ChannelBroken, ChannelClosed, ChannelError, RemoteProtocolError

TOKEN = "a-token-for-tests-with-32-letters"
ORIGIN = "moz-extension://11111111-2222-4333-8444-555555555555"

TEXT, BINARY, CLOSE, PING, PONG = 0x1, 0x2, 0x8, 0x9, 0xA


@pytest.fixture(autouse=True)
def short_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raw peers answer no close frames: each would cost the whole limit."""
    monkeypatch.setattr("foxloop_trio.channel._transport.CLOSE_SECONDS", 0.05)


def frame(opcode: int, payload: bytes, *, final: bool = True, masked: bool = True, length: int | None = None) -> bytes:
    """A websocket frame of a client (RFC 6455, 5.2). The mask is zero, so the payload can be read in a dump."""
    size = len(payload) if length is None else length
    mask = 0x80 if masked else 0
    if size < 126:
        head = struct.pack("!BB", opcode | (0x80 if final else 0), mask | size)
    elif size < 2**16:
        head = struct.pack("!BBH", opcode | (0x80 if final else 0), mask | 126, size)
    else:
        head = struct.pack("!BBQ", opcode | (0x80 if final else 0), mask | 127, size)
    return head + (bytes(4) if masked else b"") + payload


class RawPeer:
    """An add-on that writes its frames by hand."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.buffer = b""

    async def send(self, *frames: bytes) -> None:
        await self.stream.send_all(b"".join(frames))

    async def say(self, message: Any) -> None:
        await self.send(frame(TEXT, json.dumps(message).encode()))

    async def _exactly(self, count: int) -> bytes:
        while len(self.buffer) < count:
            data = await self.stream.receive_some()
            if not data:
                raise EOFError
            self.buffer += data
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    async def receive(self) -> tuple[int, bytes]:
        """Opcode and payload of the next frame; EOFError at the end."""
        try:
            opcode, size = await self._exactly(2)
            if size == 126:
                [size] = struct.unpack("!H", await self._exactly(2))
            elif size == 127:
                [size] = struct.unpack("!Q", await self._exactly(8))
            return opcode & 0xF, await self._exactly(size)
        except trio.BrokenResourceError:
            raise EOFError from None

    async def request(self) -> dict[str, Any]:
        opcode, payload = await self.receive()
        assert TEXT == opcode
        found: dict[str, Any] = json.loads(payload)
        return found

    async def close_code(self) -> int | None:
        """The code of the close frame that comes, or None if the connection just ends."""
        try:
            while True:
                opcode, payload = await self.receive()
                if opcode == CLOSE:
                    return int.from_bytes(payload[:2], "big")
        except EOFError:
            return None


@asynccontextmanager
async def raw_peer(listener: Listener) -> AsyncIterator[RawPeer]:
    """A raw peer that has said a true hello."""
    async with await trio.open_tcp_stream("127.0.0.1", listener.port) as stream:
        peer = RawPeer(stream)
        await stream.send_all(
            f"GET {wire.PATH} HTTP/1.1\r\nHost: 127.0.0.1:{listener.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: {ORIGIN}\r\n\r\n".encode()
        )
        while not peer.buffer.endswith(b"\r\n\r\n") and b"\r\n\r\n" not in peer.buffer:
            peer.buffer += await stream.receive_some()
        head, _, peer.buffer = peer.buffer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 101 ")
        addon = wire.Connection(role=wire.ADDON, id_prefix="raw")
        challenge = addon.receive_text((await peer.receive())[1].decode())
        assert isinstance(challenge, wire.Notification)
        nonce, incarnation = "ff" * 16, "01" * 16
        claim = addon.prepare(
            "hello.open",
            {
                "protocol": 1,
                "incarnation": incarnation,
                "nonce": nonce,
                "proof": wire.addon_proof(
                    TOKEN, runtime_nonce=challenge.params["nonce"], addon_nonce=nonce, incarnation=incarnation
                ),
                "addon": {"version": "0"},
                "browser": {"name": "Firefox", "version": "0"},
            },
        )
        await peer.send(frame(TEXT, addon.send_request(claim).encode()))
        assert isinstance(addon.receive_text((await peer.receive())[1].decode()), wire.Answer)
        yield peer


@asynccontextmanager
async def hostile_and_honest(**options: Any) -> AsyncIterator[tuple[ChannelSession, RawPeer]]:
    """A session with a raw peer; at the end a second, honest one on the same listener must still be served."""
    async with open_listener(token=TOKEN, origin=ORIGIN, **options) as listener, raw_peer(listener) as honest:
        honest_transport, honest_peer = await listener.accept()
        async with open_session(honest_transport, honest_peer) as honest_session:
            async with raw_peer(listener) as peer:
                transport, found = await listener.accept()
                async with open_session(transport, found) as session:
                    yield session, peer
            call = honest_session.start("session.ping", {}, timeout=5)
            request = await honest.request()
            await honest.say({"jsonrpc": "2.0", "id": request["id"], "result": {}})
            assert {} == await call.result()


async def ended(session: ChannelSession) -> ChannelError:
    """Why a session ended, once it has."""
    await session.wait_closed()
    with pytest.raises(ChannelError) as caught:
        session.check_open()
    return caught.value


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (frame(TEXT, b"{}", masked=False), 1002),
        (frame(0x3, b"x"), 1002),
        (frame(0xB, b"x"), 1002),
        (frame(0x0, b"x"), 1002),
        (frame(TEXT, b"\xff\xfe"), 1007),
        (frame(PING, b"x" * 126), 1002),
        (frame(PING, b"x", final=False), 1002),
        (frame(CLOSE, b"\x03"), 1002),
        (frame(TEXT, b"", length=2**62), 1009),
        (frame(TEXT, b"x", final=False) + frame(TEXT, b"x"), 1002),
    ],
    ids=[
        "unmasked",
        "reserved opcode",
        "reserved control",
        "orphan continuation",
        "bad utf-8",
        "long ping",
        "fragmented ping",
        "bad close",
        "2**62 bytes",
        "text in text",
    ],
)
async def test_a_broken_frame_ends_its_connection_only(broken: bytes, code: int) -> None:
    """The peer is told by a close code or just cut; its calls raise; the other connection goes on (buglog B95: invalid frame)."""
    async with hostile_and_honest() as (session, peer):
        call = session.start("session.ping", {}, timeout=5)
        await peer.request()
        await peer.send(broken)
        if code == 1009:
            # Nobody waits for 2**62 bytes, and nobody allocates them: the frame simply never ends. The peer gives up.
            await peer.stream.send_eof()
        else:
            assert await peer.close_code() in (code, None)
        assert isinstance(await ended(session), ChannelBroken | RemoteProtocolError)
        with pytest.raises(ChannelError):
            await call.result()


async def test_a_binary_message_ends_the_session_as_a_protocol_error() -> None:
    """Text messages only."""
    async with hostile_and_honest() as (session, peer):
        await peer.send(frame(BINARY, b"{}"))
        assert isinstance(await ended(session), RemoteProtocolError)


async def test_garbage_text_ends_the_session_with_1002() -> None:
    """Over the real socket the peer sees the code."""
    async with hostile_and_honest() as (session, peer):
        await peer.send(frame(TEXT, b"garbage"))
        assert 1002 == await peer.close_code()
        assert isinstance(await ended(session), RemoteProtocolError)


@pytest.mark.parametrize("size", [2**20 - 1, 2**20, 8 * 2**20])
async def test_large_results_arrive_whole(size: int) -> None:
    """Screenshots are large; the limit is far above trio-websocket's default of 1 MiB (buglog B44)."""
    async with hostile_and_honest() as (session, peer):
        call = session.start("tab.capture", {"tab": 1, "format": "png"}, timeout=9)
        request = await peer.request()
        result = {"jsonrpc": "2.0", "id": request["id"], "result": {"data": ""}}
        result["result"]["data"] = "A" * (size - len(json.dumps(result)))  # type: ignore[index]
        payload = json.dumps(result).encode()
        assert size == len(payload)
        await peer.send(frame(TEXT, payload))
        assert size - 100 < len((await call.result())["data"])


async def test_a_message_in_ten_thousand_fragments_arrives_whole() -> None:
    """Slow, but no fault; pings between the fragments are answered (buglog B44)."""
    async with hostile_and_honest() as (session, peer):
        call = session.start("tab.capture", {"tab": 1, "format": "png"}, timeout=9)
        request = await peer.request()
        payload = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {"data": "A" * 20_000}}).encode()
        parts = [payload[at : at + 2] for at in range(0, len(payload), 2)]
        assert len(parts) > 10_000
        await peer.send(frame(TEXT, parts[0], final=False))
        await peer.send(*[frame(0x0, part, final=False) for part in parts[1:5000]], frame(PING, b"middle"))
        assert (PONG, b"middle") == await peer.receive()
        await peer.send(*[frame(0x0, part, final=False) for part in parts[5000:-1]], frame(0x0, parts[-1]))
        assert "A" * 20_000 == (await call.result())["data"]


async def test_a_result_the_addon_calls_too_large_fails_that_call_only() -> None:
    """An honest add-on knows the limit from the hello and says so instead of sending (buglog B44)."""
    async with hostile_and_honest(max_message_bytes=10_000) as (session, peer):
        call = session.start("tab.capture", {"tab": 1, "format": "png"}, timeout=5)
        request = await peer.request()
        words = "the picture has 70000 bytes, the limit is 10000"
        error = {"code": -32000, "message": words, "data": {"code": "too-large"}}
        await peer.say({"jsonrpc": "2.0", "id": request["id"], "error": error})
        with pytest.raises(RemoteCallError, match="70000 bytes, the limit is 10000") as caught:
            await call.result()
        assert ("too-large", False) == (caught.value.code, session.closed)


@pytest.mark.parametrize("fragmented", [False, True])
async def test_an_oversize_message_ends_its_connection_without_being_kept(fragmented: bool) -> None:
    """A peer that ignores the limit is closed with 1009 as soon as it is over, not when it has finished."""
    async with hostile_and_honest(max_message_bytes=100_000) as (session, peer):
        if fragmented:
            await peer.send(frame(TEXT, b"x" * 60_000, final=False), frame(0x0, b"x" * 60_000, final=False))
        else:
            await peer.send(frame(TEXT, b"x" * 150_000, length=10_000_000))
        error = await ended(session)
        assert (RemoteProtocolError, "too-large") == (type(error), error.code)
        assert await peer.close_code() in (1009, None)


async def test_the_limit_counts_bytes_not_characters() -> None:
    """trio-websocket counts characters; 990 of three bytes are 2970 bytes."""
    async with hostile_and_honest(max_message_bytes=5000) as (session, peer):
        await peer.send(frame(TEXT, ("€" * 4000).encode()))
        error = await ended(session)
        assert (RemoteProtocolError, "too-large") == (type(error), error.code)


async def test_a_ping_flood_is_answered_and_disturbs_nobody() -> None:
    """Every ping has its pong, and a call in the middle of it its answer."""
    async with hostile_and_honest() as (session, peer), trio.open_nursery() as nursery:
        pongs = 0
        nursery.start_soon(peer.send, *[frame(PING, str(number).encode()) for number in range(2000)])
        call = session.start("session.ping", {}, timeout=5)
        while pongs < 2000:
            opcode, payload = await peer.receive()
            if opcode == PONG:
                assert str(pongs).encode() == payload
                pongs += 1
            else:
                await peer.say({"jsonrpc": "2.0", "id": json.loads(payload)["id"], "result": {}})
        assert {} == await call.result()


async def test_a_ping_flood_of_a_peer_that_reads_nothing_ends_with_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our pongs pile up in its socket until nothing can be sent; then a call finds that out, and the connection is dropped."""
    monkeypatch.setattr("foxloop_trio.channel._session.SEND_SECONDS", 0.5)
    async with hostile_and_honest() as (session, peer), trio.open_nursery() as nursery:

        async def flood() -> None:
            ping = frame(PING, b"x" * 125) * 1000
            with pytest.raises(trio.BrokenResourceError):
                while True:
                    await peer.stream.send_all(ping)

        nursery.start_soon(flood)
        while not session.closed:
            with suppress(ChannelError):
                await session.call("session.ping", {}, timeout=0.2)
        assert isinstance(await ended(session), ChannelBroken)


async def test_a_ping_that_crosses_our_close_frame_ends_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """trio-websocket lets an exception out of its reader task here (its issue 184); it stays in this connection (buglog B19)."""
    monkeypatch.setattr("foxloop_trio.channel._transport.CLOSE_SECONDS", 0.2)
    async with open_listener(token=TOKEN, origin=ORIGIN) as listener:
        async with raw_peer(listener) as honest, raw_peer(listener) as peer:
            honest_transport, honest_peer = await listener.accept()
            transport, _found = await listener.accept()
            async with open_session(honest_transport, honest_peer) as session, trio.open_nursery() as nursery:
                nursery.start_soon(transport.aclose)
                opcode, _ = await peer.receive()
                assert CLOSE == opcode
                await peer.send(frame(PING, b"crossing"), frame(CLOSE, b"\x03\xe8"))
                assert None is await peer.close_code()
                call = session.start("session.ping", {}, timeout=5)
                request = await honest.request()
                await honest.say({"jsonrpc": "2.0", "id": request["id"], "result": {}})
                assert {} == await call.result()
        assert 1 == listener.statistics().crashed


async def test_a_peer_that_never_answers_our_close_frame_is_left_after_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """trio-websocket would wait for 60 s. The peer has heard the close frame, and then the end."""
    monkeypatch.setattr("foxloop_trio.channel._transport.CLOSE_SECONDS", 0.2)
    async with hostile_and_honest() as (session, peer):
        began = trio.current_time()
        await session.aclose()
        assert 0.2 <= trio.current_time() - began < 2
        assert 1000 == await peer.close_code()
        with pytest.raises(EOFError):
            await peer.receive()


async def test_a_peer_that_stops_reading_is_dropped_and_its_calls_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large request does not fit into a socket that nobody reads; the limit drops the connection (buglog B25)."""
    monkeypatch.setattr("foxloop_trio.channel._session.SEND_SECONDS", 0.3)
    async with hostile_and_honest() as (session, _peer):
        act = {
            "incarnation": session.peer.incarnation,
            "call": "ca11" * 8,
            "tab": 7,
            "frame": 0,
            "document": "d0c0" * 8,
            "host": "shop.example",
            "node": 1,
            "guard": "9c3f0a7be21d5544",
            "key": "aa00bb11cc22dd33",
            "op": "type",
            "value": "x" * 15_000_000,
            "mark": True,
            "focus": False,
        }
        call = session.start("page.act", act, timeout=9)
        error = await ended(session)
        assert (ChannelBroken, "peer-stuck") == (type(error), error.code)
        assert call.sent


async def test_a_peer_that_vanishes_breaks_its_calls_at_once() -> None:
    """The socket is reset under a call: ChannelBroken, now and not at the deadline."""
    async with hostile_and_honest() as (session, peer):
        call = session.start("session.ping", {}, timeout=60)
        await peer.request()
        peer.stream.socket.setsockopt(trio.socket.SOL_SOCKET, trio.socket.SO_LINGER, struct.pack("ii", 1, 0))
        await peer.stream.aclose()
        with pytest.raises(ChannelBroken):
            await call.result()


async def test_the_answer_before_the_end_is_not_lost() -> None:
    """Answer and close frame in one packet: the caller gets the answer."""
    async with hostile_and_honest() as (session, peer):
        call = session.start("session.ping", {}, timeout=5)
        request = await peer.request()
        answer = json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}).encode()
        await peer.send(frame(TEXT, answer), frame(CLOSE, b"\x03\xe9"))
        assert {} == await call.result()
        assert "code 1001" in str(await ended(session))


async def test_a_hostile_peer_on_a_closed_session_is_no_ones_problem() -> None:
    """We close while it floods: bounded, and closed for us."""
    async with hostile_and_honest() as (session, peer), trio.open_nursery() as nursery:

        async def flood() -> None:
            news = frame(TEXT, b'{"jsonrpc":"2.0","method":"tab.removed","params":{"tab":1}}') * 100
            try:
                while True:
                    await peer.stream.send_all(news)
            except trio.BrokenResourceError:
                pass

        nursery.start_soon(flood)
        await trio.sleep(0.05)
        await session.aclose()
        assert isinstance(await ended(session), ChannelClosed)
        await peer.stream.aclose()
        nursery.cancel_scope.cancel()
