"""Made-up pages, served on the loopback, opened in one tab of a real Firefox and read raw, as the add-on tells them over the wire.

For tests of the add-on's reading. `PageReader.js` evaluates in the page's own world over WebDriver BiDi: the test's eye, not
the product's. It needs no pytest.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import attrs
import trio

if TYPE_CHECKING:
    from ..browser import BrowserSession, Tab

__all__ = ["PageReader", "PageSite", "serve_made_pages", "soon"]

Json = dict[str, Any]

PATIENCE = 10.0
"""Seconds to wait for what a page does by itself."""
CALL_SECONDS = 15.0


@attrs.define
class PageSite:
    """Pages on a port of this machine, by path. `other` is the same site under another host name, so of another origin."""

    url: str
    pages: dict[str, bytes] = attrs.field(factory=dict)
    types: dict[str, str] = attrs.field(factory=dict)

    @property
    def other(self) -> str:
        return self.url.replace("127.0.0.1", "localhost")

    def put(self, html: str, *, whole: bool = False, kind: str = "text/html; charset=utf-8") -> str:
        """Serve it, as the inside of a body unless it is the whole text. Returns its address."""
        path = f"/page{len(self.pages)}"
        text = html if whole else f"<!doctype html><html><head><title>A page</title></head><body>{html}</body></html>"
        self.pages[path] = text.encode()
        self.types[path] = kind
        return self.url + path


@contextmanager
def serve_made_pages() -> Iterator[PageSite]:
    """A site that serves what is put into it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.split("?")[0]
            body = site.pages.get(path)
            self.send_response(404 if body is None else 200)
            self.send_header("content-type", site.types.get(path, "text/plain"))
            self.send_header("content-length", str(len(body or b"")))
            self.send_header("access-control-allow-origin", "*")  # scripts that a test brings to pages of other sites
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *args: object) -> None: ...

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: object) -> None:
            """A browser that leaves while a page is sent is nothing to report."""

    server = Server(("127.0.0.1", 0), Handler)
    site = PageSite(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def soon(is_so: Callable[[], Awaitable[bool]], patience: float = PATIENCE) -> None:
    """Firefox does not tell the test of what happens in its pages; so ask, again and again."""
    with trio.fail_after(patience):
        while not await is_so():  # noqa: ASYNC110  # nobody could set an event
            await trio.sleep(0.01)


@attrs.frozen
class PageReader:
    """Opens pages in one tab and reads them."""

    session: BrowserSession
    tab: Tab
    site: PageSite

    async def call(self, method: str, **params: Any) -> Json:
        return await self.session.channel.call(method, {"tab": self.tab.id, **params}, timeout=CALL_SECONDS)

    async def shows(self, url: str) -> bool:
        return bool(await self.js("[location.href, document.readyState]") == [url, "complete"])

    async def showing(self, document: str) -> bool:
        return bool((await self.call("tab.get"))["tab"]["document"] == document)

    async def loaded(self) -> bool:
        """Only a document that has loaded wholly is kept for the way back."""
        return bool(await self.js("document.readyState === 'complete'"))

    async def open(self, html: str, *, whole: bool = False, patience: float = PATIENCE) -> None:
        """Show a page with this body (or this whole text) and wait until it has loaded."""
        url = self.site.put(html, whole=whole)
        await self.call("tab.goto", url=url)
        await soon(lambda: self.shows(url), patience)

    async def answer(self, **params: Any) -> Json:
        """What ``page.read`` answers about the page that is open."""
        return await self.call("page.read", **params)

    async def frame(self, **params: Any) -> Json:
        """The top frame (or the one that `params` name), where nothing is unreadable."""
        answer = await self.answer(**params)
        assert answer["unreadable"] == [], answer["unreadable"]
        found: Json = answer["frames"][0]
        return found

    async def read(self, html: str, **params: Any) -> Json:
        """The only or top frame of a page with this body."""
        await self.open(html)
        return await self.frame(**params)

    async def controls(self, html: str, **params: Any) -> list[Json]:
        controls: list[Json] = (await self.read(html, **params))["controls"]
        return controls

    async def one(self, html: str) -> Json:
        """The one control of a page with this body."""
        (control,) = await self.controls(html)
        return control

    async def fragments(self, fragments: list[str]) -> list[list[Json]]:
        """The controls of each fragment, all of them on one page."""
        cells = "".join(f"<section aria-label=case{at}><div>{html}</div></section>" for at, html in enumerate(fragments))
        found: list[list[Json]] = [[] for _ in fragments]
        for control in await self.controls(cells, max_controls=1000):
            found[int(control["section"].removeprefix("case").split()[0])].append(control)
        return found

    async def texts(self, fragments: list[str]) -> list[list[str]]:
        """The lines of text of each fragment, all of them on one page."""
        cells = "".join(f"<div>{html}</div><p>#{at}#</p>" for at, html in enumerate(fragments))
        text = (await self.read(cells, max_text=60_000))["text"]
        found = []
        for at in range(len(fragments)):
            own, _, text = text.partition(f"#{at}#")
            found.append([line for line in own.split("\n") if line])
        return found

    async def js(self, expression: str) -> Any:
        """What an expression is in the page's own world, as JSON."""
        result = await self.session.bidi(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": await self.tab.bidi_context()},
            awaitPromise=True,
        )
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        return json.loads(result["result"].get("value", "null"))
