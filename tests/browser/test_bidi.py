"""The BiDi client, against a small server of our own on a real loopback socket; so the real clock, inside fail_after."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket

from foxloop_trio.browser import _bidi
from foxloop_trio.browser._bidi import open_bidi
from foxloop_trio.browser._service import open_service
from foxloop_trio.errors import BrowserError


@pytest.fixture(autouse=True)
def short_close(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client reads no more while it closes, so each close would cost the whole limit."""
    monkeypatch.setattr(_bidi, "CLOSE_SECONDS", 0.05)


Answer = Callable[[WebSocketConnection, dict[str, Any]], Awaitable[None]]


@asynccontextmanager
async def served(answer: Answer) -> AsyncIterator[str]:
    """The address of a server that hands each command to `answer`."""

    async def handle(request: WebSocketRequest) -> None:
        assert not [name for name, _ in request.headers if name.lower() == b"origin"], "Firefox refuses a connection with an Origin"
        connection = await request.accept()
        try:
            while True:
                await answer(connection, json.loads(await connection.get_message()))
        except ConnectionClosed:
            pass

    async with trio.open_nursery() as nursery:
        server = await nursery.start(serve_websocket, handle, "127.0.0.1", 0, None)
        yield f"ws://127.0.0.1:{server.port}/session"
        nursery.cancel_scope.cancel()


async def tell(connection: WebSocketConnection, **message: Any) -> None:
    await connection.send_message(json.dumps(message))


async def echo(connection: WebSocketConnection, command: dict[str, Any]) -> None:
    await tell(connection, type="success", id=command["id"], result={"method": command["method"], **command["params"]})


async def test_a_result_comes_back_to_its_own_call() -> None:
    """Buglog B23: answers are matched by a number that is never used again, in whatever order they come."""
    held: list[dict[str, Any]] = []

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        held.append(command)
        if len(held) == 3:
            for one in (held[2], held[0], held[1]):
                await echo(connection, one)

    got: dict[int, Any] = {}
    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi, trio.open_nursery() as nursery:

            async def ask(number: int) -> None:
                got[number] = await bidi.call("test.echo", {"number": number})

            for number in range(3):
                nursery.start_soon(ask, number)
    assert got == {number: {"method": "test.echo", "number": number} for number in range(3)}


async def test_an_error_answer_becomes_a_browser_error_with_its_code() -> None:
    """Our choice: the code is BiDi's, with hyphens, and the words are kept short."""

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        await tell(connection, type="error", id=command["id"], error="no such frame", message="x" * 5000)

    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi:
            with pytest.raises(BrowserError, match=r"script\.evaluate: no such frame") as caught:
                await bidi.call("script.evaluate", {})
    assert caught.value.code == "no-such-frame"
    assert len(str(caught.value)) <= 1000


async def test_events_strangers_and_nonsense_disturb_nobody() -> None:
    """Our choice: events nobody subscribed to, answers nobody waits for and text that is no JSON are counted and dropped."""

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        await tell(connection, type="event", method="log.entryAdded", params={})
        await tell(connection, type="success", id=999, result={})
        await tell(connection, type="success", id=[], result={})
        await connection.send_message("no JSON")
        await connection.send_message("[1]")
        await echo(connection, command)

    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi:
            assert await bidi.call("a.b", {}) == {"method": "a.b"}
            statistics = bidi.statistics()
    assert (statistics.events, statistics.strangers, statistics.pending) == (1, 4, 0)


async def test_a_lost_connection_fails_pending_and_later_calls() -> None:
    """Issue: a killed Firefox ends pending calls with BrowserError browser-lost, promptly; the block itself goes on."""

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        await connection.aclose()

    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi:
            for _ in range(2):
                with pytest.raises(BrowserError) as caught:
                    await bidi.call("a.b", {})
                assert caught.value.code == "browser-lost"
            assert not bidi.statistics().open


async def test_a_call_without_an_answer_ends_at_its_limit() -> None:
    """Buglog B26: the caller's own limit is the one that counts; the connection stays usable."""

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        if command["method"] != "silent":
            await echo(connection, command)

    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi:
            with pytest.raises(BrowserError) as caught:
                await bidi.call("silent", {}, timeout=0.05)
            assert caught.value.code == "bidi-timeout"
            assert await bidi.call("a.b", {}) == {"method": "a.b"}
            assert bidi.statistics().pending == 0


async def test_a_cancelled_call_leaves_the_connection_usable() -> None:
    """Buglog B02: the answer to a call that was cancelled is dropped."""
    hold = trio.Event()

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        if command["method"] == "slow":
            await hold.wait()
        await echo(connection, command)

    with trio.fail_after(10):
        async with served(answer) as url, open_bidi(url) as bidi:
            with trio.move_on_after(0.05) as scope:
                await bidi.call("slow", {})
            assert scope.cancelled_caught
            hold.set()
            assert await bidi.call("a.b", {}) == {"method": "a.b"}
            assert bidi.statistics().strangers == 1


async def test_nothing_to_connect_to_is_told_as_such(unused_port: int) -> None:
    """Our choice: BrowserError bidi-connect, not an OSError in two groups."""
    with trio.fail_after(10):
        with pytest.raises(BrowserError) as caught:
            async with open_service(open_bidi(f"ws://127.0.0.1:{unused_port}/session")):
                raise AssertionError("connected to nothing")
    assert caught.value.code == "bidi-connect"


async def test_a_large_message_passes() -> None:
    """Buglog B44: a picture of 8 MB does not close the socket."""

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        await tell(connection, type="success", id=command["id"], result={"data": "x" * (8 * 2**20)})

    with trio.fail_after(20):
        async with served(answer) as url, open_bidi(url) as bidi:
            assert len((await bidi.call("browsingContext.captureScreenshot", {}))["data"]) == 8 * 2**20


async def test_the_service_outlives_a_cancel_of_its_body() -> None:
    """Design: clean-up in a cancelled block may still talk over the connection."""
    said: list[str] = []

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        said.append(command["method"])
        await echo(connection, command)

    with trio.fail_after(10):
        async with served(answer) as url:
            with trio.CancelScope() as scope:
                async with open_service(open_bidi(url)) as bidi:
                    try:
                        scope.cancel()
                        await trio.sleep_forever()
                    finally:
                        with trio.CancelScope(shield=True):
                            await bidi.call("goodbye", {})
            assert scope.cancelled_caught
    assert said == ["goodbye"]


async def test_an_exception_of_the_body_comes_out_as_it_is() -> None:
    """Our choice: no group around what the body itself raised."""
    with trio.fail_after(10):
        async with served(echo) as url:
            with pytest.raises(KeyError, match="mine"):
                async with open_service(open_bidi(url)):
                    raise KeyError("mine")


async def test_a_peer_that_does_not_read_is_a_lost_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trio notes 4.3: a send that does not get out in time ends the connection, since half a frame ruins the next."""
    monkeypatch.setattr(_bidi, "SEND_SECONDS", 0.1)
    forever = trio.Event()

    async def answer(connection: WebSocketConnection, command: dict[str, Any]) -> None:
        await forever.wait()

    with trio.fail_after(20):
        async with served(answer) as url, open_bidi(url) as bidi, trio.open_nursery() as nursery:
            failed: list[str] = []

            async def flood() -> None:
                with pytest.raises(BrowserError) as caught:
                    for _ in range(200):
                        with trio.move_on_after(0.2):
                            await bidi.call("big", {"data": "x" * 2**20})
                failed.append(caught.value.code)

            nursery.start_soon(flood)
        assert failed == ["browser-lost"]
