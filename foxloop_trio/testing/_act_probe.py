"""For tests of what the add-on does to a page: a tab, what was last read of it, and acts on that, asked for over the wire.

Each test writes a page of its own. `PageProbe.js` evaluates in the page's own world over WebDriver BiDi: that is the test's eye,
not the product's.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import attrs
import trio

from ..browser import BrowserSession, Tab
from ..channel import Call

__all__ = ["PageProbe", "ProbeSite", "serve_probes", "soon"]

Json = dict[str, Any]

_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".bin": "application/octet-stream"}


@attrs.define
class ProbeSite:
    """Pages on a port of this machine, by path. `folder`: files that are served too."""

    url: str
    folder: Path | None = None
    pages: dict[str, str] = attrs.field(factory=dict)
    asked: list[str] = attrs.field(factory=list)
    release: threading.Event = attrs.field(factory=threading.Event)  # until then, /held is not answered

    def put(self, html: str) -> str:
        path = f"/page{len(self.pages)}"
        self.pages[path] = f"<!doctype html><html><head><title>A page</title></head><body>{html}</body></html>"
        return self.url + path

    def body(self, path: str) -> bytes:
        plain = path.split("?")[0]
        if plain not in self.pages and self.folder is not None:
            file = self.folder / plain.lstrip("/")
            if file.is_file():
                return file.read_bytes()
        return self.pages.get(plain, "<!doctype html><p>somewhere else</p>").encode()


@contextmanager
def serve_probes(folder: Path | None = None) -> Iterator[ProbeSite]:
    """A server on a free port, until the block ends.

    ``/held`` waits for `release`, ``/slow`` takes 0.4 s, ``/nothing`` has no content, ``/to?…`` sends on to that address,
    ``/called?…`` gives a file of that name.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            if self.path == "/held":
                site.release.wait(10)
                return
            if self.path.startswith("/slow"):
                site.release.wait(0.4)
            path, _, query = self.path.partition("?")
            if path == "/to":
                self.send_response(302)
                self.send_header("location", unquote(query))
                self.send_header("content-length", "0")
                self.end_headers()
                return
            body = site.body(self.path)
            self.send_response(204 if path == "/nothing" else 200)
            if path == "/called":
                self.send_header("content-disposition", f'attachment; filename="{unquote(query, "latin-1")}"')
            self.send_header("content-type", _TYPES.get(Path(self.path.split("?")[0]).suffix, "text/html; charset=utf-8"))
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(OSError):  # a page that was left meanwhile
                self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the name that the server looks for

        def log_message(self, *args: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    site = ProbeSite(f"http://127.0.0.1:{server.server_port}", folder)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield site
    finally:
        site.release.set()
        server.shutdown()
        thread.join()
        server.server_close()


async def soon(is_so: Callable[[], Awaitable[Any]]) -> None:
    """Firefox does not tell the test of what happens in its pages; so ask, again and again."""
    with trio.fail_after(10):
        while not await is_so():  # noqa: ASYNC110  # nobody could set an event
            await trio.sleep(0.01)


@attrs.define
class PageProbe:
    """One tab, what was last read of it, and acts on that."""

    session: BrowserSession
    tab: Tab
    site: ProbeSite
    frame: Json = attrs.field(factory=dict)

    async def call(self, method: str, **params: Any) -> Json:
        return await self.session.channel.call(method, {"tab": self.tab.id, **params}, timeout=15)

    async def js(self, expression: str) -> Any:
        result = await self.session.bidi(
            "script.evaluate",
            expression=f"JSON.stringify({expression})",
            target={"context": await self.tab.bidi_context()},
            awaitPromise=True,
        )
        assert result["type"] == "success", result["exceptionDetails"]["text"]
        return json.loads(result["result"].get("value", "null"))

    async def until(self, expression: str) -> None:
        await soon(lambda: self.js(expression))

    async def open(self, html: str) -> Json:
        """Show a page with this body, and read it."""
        return await self.go(self.site.put(html))

    async def go(self, url: str) -> Json:
        await self.call("tab.goto", url=url)
        await self.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")
        return await self.read()

    async def read(self, **narrowed: Any) -> Json:
        self.frame = (await self.call("page.read", **narrowed))["frames"][0]
        return self.frame

    async def showing(self, document: str) -> bool:
        return bool((await self.call("tab.get"))["tab"]["document"] == document)

    async def showing_another_than(self, document: str) -> bool:
        return (await self.call("tab.get"))["tab"]["document"] not in (None, document)

    @property
    def place(self) -> Json:
        return {"frame": 0, "document": self.frame["document"]}

    def control(self, label: str) -> Json:
        found = [control for control in self.frame["controls"] if control["label"] == label]
        assert len(found) == 1, (label, [control["label"] for control in self.frame["controls"]])
        assert isinstance(found[0], dict)
        return found[0]

    def other(self, label: str, **point: float) -> Json:
        """A control as the target of a drag."""
        control = self.control(label)
        return {"node": control["node"], "guard": control["guard"], **point}

    def order(self, label: str, op: str, value: Any = None, **changes: Any) -> Json:
        control = self.control(label)
        return {
            "incarnation": self.session.channel.peer.incarnation,
            "call": secrets.token_hex(16),
            **self.place,
            "host": "127.0.0.1",
            "node": control["node"],
            "guard": control["guard"],
            "key": self.frame["key"],
            "op": op,
            "value": value,
            "mark": False,
            "focus": True,
            **changes,
        }

    async def act(self, label: str, op: str, value: Any = None, **changes: Any) -> Json:
        return await self.call("page.act", **self.order(label, op, value, **changes))

    async def again(self, label: str, op: str, value: Any = None, **changes: Any) -> Json:
        """The same, after a fresh look."""
        await self.read()
        return await self.act(label, op, value, **changes)

    async def refused(self, label: str, op: str, value: Any = None, **changes: Any) -> tuple[str, str]:
        """Reason and detail of an act that must not have begun."""
        result = await self.act(label, op, value, **changes)
        assert (result["ok"], result["started"], result["submitted"], result["dialogs"]) == (False, False, False, []), result
        return result["reason"], result.get("detail", "")

    def start(self, order: Json, *, timeout: float = 10) -> Call:
        return self.session.channel.start("page.act", {"tab": self.tab.id, **order}, timeout=timeout)

    async def record(self, *types: str) -> None:
        """From now on, note each event of these types as "type:id" in `seen`."""
        await self.js(
            "void (window.seen = [], window.note = e => e.target.id && seen.push(e.type + ':' + e.target.id),"
            f"{json.dumps(types)}.forEach(t => addEventListener(t, note, true)))"
        )
