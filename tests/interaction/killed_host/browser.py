"""A process with a `FakeBrowser`: ``browser.py PORT TOKEN ORIGIN``. It connects to PORT again and again, as the add-on does.

It ends when its standard input ends, and then prints what was done in it, one JSON object a line.
"""

import json
import sys

import trio
from trio_websocket import ConnectionRejected, HandshakeError, wrap_client_stream

from foxloop_trio.channel import WebsocketTransport
from foxloop_trio.errors import ChannelError
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.wire import PATH

FIELDS = ["Name", "Street", "City"]
HANDSHAKE_SECONDS = 2.0
"""trio-websocket waits for ever when the host is killed in the middle of it."""
SHOP = "http://shop.test/order"


def pages() -> dict[str, object]:
    fields = [{"role": "textbox", "label": label, "name": label.lower(), "form": "order"} for label in FIELDS]
    send = {"role": "button", "label": "Send", "submit": True, "form": "order"}
    return {
        SHOP: {"title": "Order", "controls": [*fields, send], "forms": {"order": {"action": "/thanks"}}},
        "http://shop.test/thanks": {"title": "Thank you", "text": "We have your order."},
    }


async def connect(browser: FakeBrowser, port: int, token: str, origin: str) -> None:
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream, trio.open_nursery() as nursery:
        headers = [(b"Origin", origin.encode())]
        with trio.fail_after(HANDSHAKE_SECONDS):
            socket = await wrap_client_stream(nursery, stream, f"127.0.0.1:{port}", PATH, extra_headers=headers)
        await browser.serve(WebsocketTransport(socket, stream), token=token)
        nursery.cancel_scope.cancel()


async def main(port: int, token: str, origin: str) -> None:
    browser = FakeBrowser(pages())  # type: ignore[arg-type]
    async with browser as session:
        await session.open_tab(SHOP)
        print("ready", flush=True)
        async with trio.open_nursery() as nursery:

            async def keep_connected() -> None:
                while True:
                    try:
                        await connect(browser, port, token, origin)
                    except* (OSError, ChannelError, HandshakeError, ConnectionRejected, trio.TooSlowError):
                        pass  # no host is there now
                    await trio.sleep(0.01)

            nursery.start_soon(keep_connected)
            await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)
            nursery.cancel_scope.cancel()
    for act in browser.acts:
        print(json.dumps({"op": act.op, "label": act.label, "value": act.value, "ok": act.ok, "sent": act.sent}), flush=True)


trio.run(main, int(sys.argv[1]), sys.argv[2], sys.argv[3])
