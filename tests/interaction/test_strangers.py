"""Strangers at the socket: wrong tokens and foreign Origins get nothing, and do not keep our add-on out. Real sockets and clock."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, wrap_client_stream

from foxloop_trio.channel import open_listener
from foxloop_trio.wire import REFUSED_CODE, addon_proof

TOKEN = "the token of this launch"
ORIGIN = "moz-extension://b00e5b1f-6c6e-4000-8000-f0c5100b0001"


@asynccontextmanager
async def connected(url: str, *, origin: str = ORIGIN) -> AsyncIterator[WebSocketConnection]:
    """A client's socket. The stream is closed here, since trio-websocket leaves that out where the other end has closed first."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with await trio.open_tcp_stream(parts.hostname, parts.port) as stream, trio.open_nursery() as nursery:
        headers = [(b"Origin", origin.encode())]
        async with await wrap_client_stream(nursery, stream, parts.netloc, parts.path, extra_headers=headers) as socket:
            yield socket
        nursery.cancel_scope.cancel()


async def say_hello(socket: WebSocketConnection, token: str) -> str:
    """What an add-on says that believes `token` to be the right one; the runtime's answer."""
    challenge = json.loads(await socket.get_message())
    proof = addon_proof(token, runtime_nonce=challenge["params"]["nonce"], addon_nonce="ad" * 16, incarnation="1c" * 16)
    params = {
        "protocol": 1,
        "incarnation": "1c" * 16,
        "nonce": "ad" * 16,
        "proof": proof,
        "addon": {"version": "0"},
        "browser": {"name": "Stranger", "version": "0"},
    }
    await socket.send_message(json.dumps({"jsonrpc": "2.0", "id": "x1", "method": "hello.open", "params": params}))
    return str(await socket.get_message())


async def test_a_wrong_token_is_refused_without_a_word_and_the_right_one_still_gets_in() -> None:
    """Ruling 25 and the wire: close code 4403, no reason; the accepted twin comes right after it."""
    with trio.fail_after(10):
        async with open_listener(token=TOKEN, origin=ORIGIN) as listener:
            async with connected(listener.url) as stranger:
                with pytest.raises(ConnectionClosed) as refused:
                    await say_hello(stranger, "a guess")
                assert refused.value.reason is not None
                assert (refused.value.reason.code, refused.value.reason.reason) == (REFUSED_CODE, None)
            async with connected(listener.url) as addon:
                welcome = json.loads(await say_hello(addon, TOKEN))
                assert set(welcome["result"]) == {"session", "proof", "max_message_bytes"}
                _, peer = await listener.accept()
                assert peer.incarnation == "1c" * 16


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1", "null", ORIGIN.upper(), ORIGIN + "/", ORIGIN[:-1] + "2", "moz-extension://", "https://evil.test"]
)
async def test_a_foreign_origin_does_not_even_get_a_socket(origin: str) -> None:
    """The contract of the listener: HTTP 403 with no words, whatever the token; the accepted twin comes right after it."""
    with trio.fail_after(10):
        async with open_listener(token=TOKEN, origin=ORIGIN) as listener:
            status, body = await knock(listener.url, origin)
            assert (status, body) == (b"HTTP/1.1 403", b"")
            async with connected(listener.url) as addon:
                await say_hello(addon, TOKEN)
                await listener.accept()


async def knock(url: str, origin: str) -> tuple[bytes, bytes]:
    """Ask for a websocket as a browser does; the first two words of the answer, and what came after its head."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    head = (
        f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    async with await trio.open_tcp_stream(parts.hostname, parts.port) as stream:
        await stream.send_all(head.encode())
        answer = b"".join([chunk async for chunk in stream])
    first, _, body = answer.partition(b"\r\n\r\n")
    return b" ".join(first.split()[:2]), body


async def test_a_stranger_that_says_nothing_does_not_keep_our_add_on_out() -> None:
    """A silent connection holds one place for the hello's time; others are served meanwhile."""
    with trio.fail_after(10):
        async with open_listener(token=TOKEN, origin=ORIGIN) as listener, connected(listener.url) as silent:
            await silent.get_message()  # the challenge; it never answers
            async with connected(listener.url) as addon:
                await say_hello(addon, TOKEN)
                await listener.accept()
