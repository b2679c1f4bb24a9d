"""A folder of pages, served on loopback for as long as a block lasts. Owns the server's thread and what was asked of it."""

from __future__ import annotations

import functools
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs

__all__ = ["Site", "serve_pages"]


@attrs.frozen(kw_only=True)
class Site:
    """A folder that is being served. `requests` grows by one line, such as ``GET /page.html?name=Ada``, before each is answered."""

    address: str
    requests: list[str] = attrs.field(factory=list)


@contextmanager
def serve_pages(folder: Path, *, on_request: Callable[[str], object] | None = None) -> Iterator[Site]:
    """Serve the files below `folder` on a free port of 127.0.0.1, in a thread of its own; `address` is without a slash at its end.

    HTML goes out as UTF-8 (one task has no charset of its own), folders are not listed, and nothing above `folder` is reachable.
    `on_request` gets each line of `requests` too, in a thread of the server. When the context ends, open connections are cut and no
    thread is left.
    """
    requests: list[str] = []

    def seen(line: str) -> None:
        requests.append(line)
        if on_request is not None:
            on_request(line)

    server = _Server(("127.0.0.1", 0), functools.partial(_Handler, directory=str(folder), seen=seen))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, name="served pages")
    thread.start()
    try:
        yield Site(address=f"http://127.0.0.1:{server.server_address[1]}", requests=requests)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(SimpleHTTPRequestHandler):
    timeout = 5.0  # seconds of silence, after which a connection is dropped

    def __init__(self, *args: Any, seen: Callable[[str], None], **options: Any) -> None:
        self._seen = seen
        super().__init__(*args, **options)  # which handles the request

    def parse_request(self) -> bool:
        good = super().parse_request()
        if good:
            self._seen(f"{self.command} {self.path}")
        return good

    def guess_type(self, path: Any) -> str:
        found = super().guess_type(path)
        return f"{found}; charset=utf-8" if found == "text/html" else found

    def list_directory(self, path: Any) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing: a test's output is about the test."""


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # server_close waits for them, after it has cut their connections
    request_queue_size = 64

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        self._guard = threading.Lock()
        super().__init__(*args)

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)  # HTTPServer would look the host's name up, which can take seconds
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._guard:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._guard:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a browser that went away in the middle is no news
            super().handle_error(request, client_address)

    def server_close(self) -> None:
        with self._guard:
            for connection in self._open:
                with suppress(OSError):  # it went away by itself
                    connection.shutdown(socket.SHUT_RDWR)
        super().server_close()
