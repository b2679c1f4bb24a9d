"""The listener over real loopback sockets: who gets in, who does not, and that nobody disturbs anybody."""

from __future__ import annotations

import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
import trio_websocket

from foxloop_trio import wire
from foxloop_trio.channel import Listener, WebsocketTransport, open_listener, open_session
from foxloop_trio.channel._listener import MAX_STRANGERS, MAX_WAITING
from foxloop_trio.errors import BadOptionsError, ChannelBroken, ChannelClosed, UsageError
from foxloop_trio.testing._memory_channel import say_hello

TOKEN = "a-token-for-tests-with-32-letters"
ORIGIN = "moz-extension://11111111-2222-4333-8444-555555555555"
REFUSAL = b"HTTP/1.1 403 \r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.fixture
async def listener() -> AsyncIterator[Listener]:
    async with open_listener(token=TOKEN, origin=ORIGIN) as found:
        yield found


@asynccontextmanager
async def websocket(
    listener: Listener, *, origin: str | None = ORIGIN, path: str = wire.PATH, host: str | None = None
) -> AsyncIterator[WebsocketTransport]:
    """A client's end, without a hello."""
    headers = [] if origin is None else [(b"Origin", origin.encode())]
    stream = await trio.open_tcp_stream("127.0.0.1", listener.port)
    async with trio.open_nursery() as nursery:
        connection = await trio_websocket.wrap_client_stream(
            nursery, stream, host or f"127.0.0.1:{listener.port}", path, extra_headers=headers
        )
        try:
            yield WebsocketTransport(connection, stream)
        finally:
            with trio.CancelScope(shield=True):
                await trio.aclose_forcefully(stream)
            nursery.cancel_scope.cancel()


@asynccontextmanager
async def addon(listener: Listener, *, token: str = TOKEN) -> AsyncIterator[WebsocketTransport]:
    """A client that has said hello."""
    async with websocket(listener) as transport:
        await say_hello(transport, token=token)
        yield transport


async def raw_answer(listener: Listener, request: bytes) -> bytes:
    """All that comes back for some bytes on a plain socket, until the other side closes."""
    async with await trio.open_tcp_stream("127.0.0.1", listener.port) as stream:
        await stream.send_all(request)
        answer = b""
        try:
            async for data in stream:
                answer += bytes(data)
        except trio.BrokenResourceError:
            pass
        return answer


def upgrade(listener: Listener, *, path: str = wire.PATH, more: tuple[str, ...] = (), host: str | None = None) -> bytes:
    lines = [
        f"GET {path} HTTP/1.1",
        f"Host: {host or f'127.0.0.1:{listener.port}'}",
        "Connection: keep-alive, Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *more,
    ]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def refused(listener: Listener) -> dict[str, int]:
    """The counts of refusals, once no stranger is being refused any more."""
    while listener.statistics().strangers:
        await trio.testing.wait_all_tasks_blocked(0.01)
    return dict(listener.statistics().refused)


async def is_alive(listener: Listener) -> bool:
    """Whether an honest add-on still gets in and is answered."""
    async with addon(listener) as theirs:
        transport, peer = await listener.accept()
        async with open_session(transport, peer) as session, trio.open_nursery() as nursery:
            nursery.start_soon(answer_one, theirs)
            return {} == await session.call("session.ping", {}, timeout=5)


async def answer_one(theirs: WebsocketTransport) -> None:
    connection = wire.Connection(role=wire.ADDON, id_prefix="1", state=wire.State.OPEN)
    request = connection.receive_text(await theirs.receive_text())
    assert isinstance(request, wire.Request)
    await theirs.send_text(connection.send_result(request.id, {}))


async def test_an_honest_addon_is_accepted_and_answers_a_call(listener: Listener) -> None:
    """The whole way over a real socket; the address is v4 loopback and holds no secret."""
    assert listener.url == f"ws://127.0.0.1:{listener.port}/foxloop"
    assert await is_alive(listener)
    counts = listener.statistics()
    assert (1, {}, 0) == (counts.admitted, dict(counts.refused), counts.crashed)


@pytest.mark.parametrize(
    ("origin", "why"),
    [
        (None, "origin"),
        ("null", "origin"),
        ("https://evil.example", "origin"),
        ("moz-extension://99999999-2222-4333-8444-555555555555", "origin"),
        (ORIGIN + "/", "origin"),
        (ORIGIN.upper(), "origin"),
        ("", "origin"),
    ],
)
async def test_a_foreign_origin_is_refused_before_a_websocket_exists(listener: Listener, origin: str | None, why: str) -> None:
    """Only exactly our extension's origin gets in (buglog B40, B41); the twin with it does."""
    more = () if origin is None else (f"Origin: {origin}",)
    assert REFUSAL == await raw_answer(listener, upgrade(listener, more=more))
    assert {why: 1} == await refused(listener)
    assert await is_alive(listener)


async def test_two_origins_are_refused(listener: Listener) -> None:
    """Ours and another: which one counts would depend on who reads."""
    more = (f"Origin: {ORIGIN}", "Origin: https://evil.example")
    assert REFUSAL == await raw_answer(listener, upgrade(listener, more=more))


@pytest.mark.parametrize("path", ["/", "/foxloop/", "/foxloop?token=x", "/Foxloop", "/x/foxloop"])
async def test_another_path_is_refused(listener: Listener, path: str) -> None:
    """One path, exactly."""
    assert REFUSAL == await raw_answer(listener, upgrade(listener, path=path, more=(f"Origin: {ORIGIN}",)))
    assert {"path": 1} == await refused(listener)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost:1", "127.0.0.1:1"])
async def test_another_host_is_refused(listener: Listener, host: str) -> None:
    """A name that was re-bound to loopback arrives here with that name (buglog B40)."""
    assert REFUSAL == await raw_answer(listener, upgrade(listener, host=host, more=(f"Origin: {ORIGIN}",)))
    assert {"host": 1} == await refused(listener)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /foxloop HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
        b"POST /foxloop HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        b"OPTIONS /foxloop HTTP/1.1\r\nHost: x\r\nAccess-Control-Request-Private-Network: true\r\n\r\n",
        b"GET /foxloop HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 99\r\n\r\n",
        b"garbage\r\n\r\n",
        b"\x00" * 100 + b"\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n",
    ],
    ids=["get", "http 1.0", "post", "options", "version", "garbage", "zeros", "tls", "endless line"],
)
async def test_whatever_is_no_websocket_gets_the_same_answer_at_once(listener: Listener, request_bytes: bytes) -> None:
    """The same bytes as for a wrong origin: nobody learns what listens here. The slot is free at once, not after a timeout."""
    began = trio.current_time()
    assert await raw_answer(listener, request_bytes) in (REFUSAL, b"")  # b"": a reset that overtook the answer
    assert trio.current_time() - began < 2
    assert await is_alive(listener)
    assert {"no-request": 1} == await refused(listener)
    assert 0 == listener.statistics().crashed


async def test_a_plain_get_is_answered_so_that_an_addon_can_look_whether_we_are_there(listener: Listener) -> None:
    """The add-on polls by plain HTTP before it opens a socket, since Firefox delays failed websockets."""
    assert REFUSAL == await raw_answer(listener, f"GET /foxloop HTTP/1.1\r\nHost: 127.0.0.1:{listener.port}\r\n\r\n".encode())


async def test_a_browser_that_tries_tls_is_noted_once_and_shown(listener: Listener, caplog: pytest.LogCaptureFixture) -> None:
    """The manifest's policy is the cause: one warning says so, the count shows it (buglog B29)."""
    with caplog.at_level(logging.WARNING, logger="foxloop_trio.channel"):
        for _ in range(2):
            await raw_answer(listener, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40))
    assert {"no-request": 2} == await refused(listener)
    assert 2 == listener.statistics().tls_hellos
    assert 1 == len(caplog.records)
    assert "upgrade-insecure-requests" in caplog.text


async def test_a_connection_that_says_nothing_is_closed_in_time_and_frees_its_slot(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half-open TCP, and a websocket without a hello: both end by themselves (buglog B19)."""
    monkeypatch.setattr("foxloop_trio.channel._listener.HELLO_SECONDS", 0.3)
    assert b"" == await raw_answer(listener, b"")
    assert b"" == await raw_answer(listener, b"GET /foxloop HTTP/1.1\r\nHost: ")
    async with websocket(listener) as silent:
        await silent.receive_text()  # the challenge
        with pytest.raises(ChannelBroken, match="code 4403"):
            await silent.receive_text()
    assert {"no-request": 2, "no-hello": 1} == await refused(listener)
    assert 0 == listener.statistics().strangers


async def test_a_connection_that_closes_before_its_request_frees_its_slot_at_once(listener: Listener) -> None:
    """trio-websocket would hold it for a timeout."""
    for _ in range(3):
        stream = await trio.open_tcp_stream("127.0.0.1", listener.port)
        await stream.aclose()
    assert await is_alive(listener)
    assert {"no-request": 3} == {"no-request": sum((await refused(listener)).values())}


async def test_a_wrong_token_is_refused_with_4403_and_no_reason(listener: Listener) -> None:
    """The same close as for every other fault of the hello."""
    async with websocket(listener) as transport:
        with pytest.raises(ChannelBroken, match="code 4403"):
            await say_hello(transport, token="another-token-of-thirty-two-letters")
        reason = transport._connection.closed
        assert (4403, None) == (reason.code, reason.reason)  # type: ignore[union-attr]
    assert {"wrong-token": 1} == await refused(listener)


async def test_a_hundred_wrong_tokens_do_not_touch_a_live_peer(listener: Listener) -> None:
    """All are refused and counted; the live peer is answered before, during and after (buglog B40)."""

    async def guess() -> None:
        for _ in range(10):
            async with websocket(listener) as transport:
                with pytest.raises(ChannelBroken, match="code 4403"):
                    await say_hello(transport, token="a-guess-that-is-wrong-every-time")

    async with addon(listener) as theirs:
        transport, peer = await listener.accept()
        async with open_session(transport, peer) as session, trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(guess)
            for _ in range(20):
                async with trio.open_nursery() as call:
                    call.start_soon(answer_one, theirs)
                    assert {} == await session.call("session.ping", {}, timeout=5)
    assert {"wrong-token": 100} == await refused(listener)
    counts = listener.statistics()
    assert (1, 0) == (counts.admitted, counts.crashed)


async def test_silent_strangers_cannot_keep_an_addon_out(listener: Listener) -> None:
    """More of them than there are slots: the oldest is dropped for the newest, and an honest add-on gets in at once."""
    streams = [await trio.open_tcp_stream("127.0.0.1", listener.port) for _ in range(3 * MAX_STRANGERS)]
    began = trio.current_time()
    assert await is_alive(listener)
    assert trio.current_time() - began < 3
    counts = listener.statistics()
    assert counts.strangers <= MAX_STRANGERS
    assert counts.refused["too-many"] >= 2 * MAX_STRANGERS
    for stream in streams:
        await stream.aclose()


async def test_a_stranger_that_sends_too_much_is_cut(listener: Listener) -> None:
    """A hello of megabytes is not read: memory for strangers is bounded."""
    async with websocket(listener) as transport:
        await transport.receive_text()
        with pytest.raises(ChannelBroken):
            for _ in range(100):
                await transport.send_text("x" * 1_000_000)
    assert await is_alive(listener)
    assert {"too-large": 1} == await refused(listener)


async def test_a_hello_over_its_limit_is_refused_like_a_wrong_one(listener: Listener) -> None:
    """Small enough to be read, too large for a hello: 4403."""
    async with websocket(listener) as transport:
        await transport.receive_text()
        await transport.send_text("x" * (wire.MAX_HELLO_BYTES + 1))
        with pytest.raises(ChannelBroken, match="code 4403"):
            await transport.receive_text()


async def test_a_binary_hello_is_refused_like_a_wrong_one(listener: Listener) -> None:
    """Frames of the wrong type are no other case."""
    async with websocket(listener) as transport:
        await transport.receive_text()
        await transport._connection.send_message(b"binary")
        with pytest.raises(ChannelBroken, match="code 4403"):
            await transport.receive_text()
    assert {"protocol": 1} == await refused(listener)


async def test_a_returning_addon_is_accepted_each_time(listener: Listener) -> None:
    """Ten times in a row, the last one while the old connection still stands (buglog B32)."""
    for _ in range(10):
        assert await is_alive(listener)
    async with addon(listener):
        await listener.accept()
        assert await is_alive(listener)


async def test_a_peer_that_left_before_it_was_accepted_is_skipped(listener: Listener) -> None:
    """`accept` gives connections that can be used."""
    async with addon(listener) as transport:
        await transport.aclose()
    assert await is_alive(listener)


async def test_peers_that_left_do_not_push_out_one_that_waits(listener: Listener) -> None:
    """One waits to be accepted while many come and go: it is the one that is accepted, and nobody else is there."""
    async with addon(listener) as theirs:
        for _ in range(2 * MAX_WAITING):
            async with addon(listener):
                pass
            while listener.statistics().connected > 1:
                await trio.testing.wait_all_tasks_blocked(0.01)
        transport, _peer = await listener.accept()
        assert 0 == listener.statistics().waiting
        await theirs.send_text("still here")
        assert "still here" == await transport.receive_text()


async def test_of_peers_that_nobody_accepts_the_oldest_is_closed(listener: Listener) -> None:
    """Bounded; the newest is the add-on that lives."""
    async with addon(listener) as oldest, trio.open_nursery() as nursery:

        async def come() -> None:
            async with addon(listener):
                await trio.sleep_forever()

        for _ in range(MAX_WAITING):
            nursery.start_soon(come)
        with pytest.raises(ChannelBroken, match="code 1013"):
            await oldest.receive_text()
        assert MAX_WAITING == listener.statistics().waiting
        nursery.cancel_scope.cancel()


async def test_leaving_the_listener_closes_every_connection_in_order() -> None:
    """Peers hear 1001; a session gets ChannelClosed; nothing listens any more, and the port can be bound again at once."""
    async with open_listener(token=TOKEN, origin=ORIGIN) as listener:
        port = listener.port
        async with addon(listener) as accepted, addon(listener) as waiting, websocket(listener) as stranger:
            transport, peer = await listener.accept()
            await trio.testing.wait_all_tasks_blocked(0.01)
            assert (1, 2) == (listener.statistics().waiting, listener.statistics().connected)
            async with open_session(transport, peer) as session:
                await listener.close()
                await session.wait_closed()
                with pytest.raises(ChannelClosed):
                    session.check_open()
            assert b"" == await raw_answer(listener, upgrade(listener, more=(f"Origin: {ORIGIN}",)))
            for theirs in (accepted, waiting):
                with pytest.raises(ChannelBroken, match="code 1001"):
                    await theirs.receive_text()
            await stranger.receive_text()
    with pytest.raises(ChannelClosed):
        await listener.accept()
    with pytest.raises(OSError):
        await trio.open_tcp_stream("127.0.0.1", port)
    async with open_listener(token=TOKEN, origin=ORIGIN, port=port):
        pass


async def test_a_session_can_still_talk_when_everything_around_is_cancelled() -> None:
    """Listener and session around a body that is cancelled: its shielded clean-up gets its answer over the real socket."""
    learned: list[Any] = []
    with trio.CancelScope() as scope:
        async with open_listener(token=TOKEN, origin=ORIGIN) as listener, trio.open_nursery() as nursery:

            async def fake() -> None:
                with trio.CancelScope(shield=True):
                    async with addon(listener) as theirs:
                        await answer_one(theirs)

            nursery.start_soon(fake)
            transport, peer = await listener.accept()
            async with open_session(transport, peer) as session:
                scope.cancel()
                try:
                    await trio.sleep_forever()
                finally:
                    with trio.CancelScope(shield=True):
                        learned.append(await session.call("session.ping", {}, timeout=5))
    assert scope.cancelled_caught
    assert [{}] == learned


async def test_a_waiting_accept_is_woken_by_the_end() -> None:
    """Nobody waits for peers that cannot come."""
    async with trio.open_nursery() as nursery, open_listener(token=TOKEN, origin=ORIGIN) as listener:

        async def wait() -> None:
            with pytest.raises(ChannelClosed):
                await listener.accept()

        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()


async def test_a_listener_cancelled_at_every_checkpoint_of_its_start_leaves_no_port_open() -> None:
    """Cancelled at its 1st, 2nd, … turn; the same port can be bound again each time (buglog B01)."""
    async with open_listener(token=TOKEN, origin=ORIGIN) as first:
        port = first.port
    opened = 0
    for turns in range(12):
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def count(turns: int = turns, scope: trio.CancelScope = scope) -> None:
                    with trio.CancelScope(shield=True):
                        for _ in range(turns):
                            await trio.lowlevel.checkpoint()
                    scope.cancel()

                nursery.start_soon(count)
                async with open_listener(token=TOKEN, origin=ORIGIN, port=port):
                    opened += 1
                    await trio.sleep_forever()
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
    assert 0 < opened


async def test_a_port_that_is_taken_is_an_error_and_nobody_is_disturbed(listener: Listener) -> None:
    """The one who has it keeps it (buglog B35)."""
    with pytest.raises(OSError):
        async with open_listener(token=TOKEN, origin=ORIGIN, port=listener.port):
            raise AssertionError
    assert await is_alive(listener)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "localhost", "example.org", ""])
async def test_only_loopback_addresses_are_listened_on(host: str) -> None:
    """The error names the value and the way out."""
    with pytest.raises(UsageError, match=r"127\.0\.0\.1"):
        async with open_listener(token=TOKEN, origin=ORIGIN, host=host):
            raise AssertionError


@pytest.mark.parametrize(
    "options",
    [
        {"token": "short"},
        {"token": "\ud800" * 40},
        {"port": -1},
        {"port": 65536},
        {"origin": "moz-extension"},
        {"origin": "moz-extension://a b"},
        {"origin": "moz-extension://ä"},
        {"origin": ORIGIN + "/x"},
        {"max_message_bytes": 10},
        {"max_message_bytes": 2**40},
    ],
)
async def test_unusable_options_are_refused(options: dict[str, Any]) -> None:
    """Before anything is opened."""
    with pytest.raises(BadOptionsError):
        async with open_listener(**{"token": TOKEN, "origin": ORIGIN, **options}):
            raise AssertionError


async def test_the_token_is_in_no_repr(listener: Listener) -> None:
    """Nor in the statistics or the address."""
    shown = f"{listener!r} {listener.statistics()!r} {listener.url}"
    assert TOKEN not in shown
