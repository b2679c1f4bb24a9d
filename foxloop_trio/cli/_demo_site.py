"""The demo's web site: one form on loopback, served by a few lines of HTTP on Trio, that remembers what it was sent.

It is a stand-in for somebody's server, so that the demo can ask *it*, and not the page, whether the form arrived. It speaks as much
HTTP/1.1 as a browser needs for that, one request per connection, and knows nothing of foxloop_trio.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import attrs
import trio

MAX_REQUEST: Final = 64 * 1024
"""Bytes of one request, head and body. The form sends under 200; a browser's headers are 1 to 2 KiB."""

REQUEST_SECONDS: Final = 10.0
"""How long one request may take to arrive, so that a connection that says nothing cannot stay."""

Order = dict[str, str]


@attrs.define(kw_only=True)
class Site:
    """A running site: its address, and the orders it got, oldest first."""

    url: str
    orders: list[Order] = attrs.field(factory=list)

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""


@asynccontextmanager
async def open_site() -> AsyncIterator[Site]:
    """Serve the form on a free port of 127.0.0.1 while the context is open."""
    async with trio.open_nursery() as nursery:
        site = Site(url="")
        listeners: list[trio.SocketListener] = await nursery.start(
            partial(trio.serve_tcp, partial(_serve, site), 0, host="127.0.0.1")
        )
        site.url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/"
        try:
            yield site
        finally:
            nursery.cancel_scope.cancel()


async def _serve(site: Site, stream: trio.SocketStream) -> None:
    """Answer one request. Whatever a client does wrong ends its own connection only."""
    with trio.move_on_after(REQUEST_SECONDS):
        try:
            request = await _read_request(stream)
            if request is not None:
                await stream.send_all(_answer(site, *request))
                await stream.send_eof()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return


async def _read_request(stream: trio.SocketStream) -> tuple[str, str, bytes] | None:
    """Method, path and body; None when the client left early or sent what is no request."""
    seen = b""
    while b"\r\n\r\n" not in seen:
        chunk = await stream.receive_some()
        seen += chunk
        if not chunk or len(seen) > MAX_REQUEST:
            return None
    head, _, body = seen.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    length = _content_length(fields)
    if len(words) != 3 or length is None or length > MAX_REQUEST:
        return None
    while len(body) < length:
        chunk = await stream.receive_some()
        if not chunk:
            return None
        body += chunk
    return words[0], words[1], body[:length]


def _content_length(fields: list[str]) -> int | None:
    for field in fields:
        name, _, value = field.partition(":")
        if name.strip().lower() == "content-length":
            digits = value.strip()
            return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None
    return 0


def _answer(site: Site, method: str, target: str, body: bytes) -> bytes:
    match method, urlsplit(target).path:
        case "GET", "/":
            return _page(200, "OK", "form.html")
        case "POST", "/order":
            site.orders.append(_fields(body))
            return _page(200, "OK", "thanks.html")
        case _:
            return _page(404, "Not Found", "nothing.html")


def _fields(body: bytes) -> Order:
    """The fields of a form's body. The size of the request bounds their number; of two with one name the later counts."""
    return dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))


def _page(status: int, words: str, name: str) -> bytes:
    body = files(__package__).joinpath("demo_pages", name).read_bytes()
    fields = ("Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}", "Connection: close")
    head = "\r\n".join((f"HTTP/1.1 {status} {words}", *fields, "", ""))
    return head.encode("ascii") + body
