"""A folder of pages on loopback: what is served, what is not, and what is left when the block ends."""

import http.client
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from foxloop_trio.corpora import serve_pages


def get(address: str, path: str) -> tuple[int, str | None, bytes]:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=5)
    try:
        connection.request("GET", path)  # as written: no client tidies the path up
        answer = connection.getresponse()
        return answer.status, answer.getheader("Content-Type"), answer.read()
    finally:
        connection.close()


def test_html_is_served_as_utf8(tmp_path: Path) -> None:
    """corpora.md 1: unicode-test has no charset of its own and turns to mojibake otherwise."""
    (tmp_path / "page.html").write_bytes("<title>Grüße</title>".encode())
    with serve_pages(tmp_path) as site:
        assert get(site.address, "/page.html?episode=1") == (200, "text/html; charset=utf-8", "<title>Grüße</title>".encode())


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//etc/passwd", "/sub/../../secret.txt", "/sub/"]
)
def test_nothing_above_the_folder_and_no_listing_is_served(tmp_path: Path, path: str) -> None:
    """Our choice: what is in the folder by name, or 404. The accepted twin shows that the server does serve."""
    (tmp_path / "secret.txt").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "sub").mkdir(parents=True)
    (inside / "sub" / "open.txt").write_text("open")
    with serve_pages(inside) as site:
        assert get(site.address, path)[0] == 404
        assert get(site.address, "/sub/open.txt")[::2] == (200, b"open")


def test_each_request_is_noted_before_it_is_answered(tmp_path: Path) -> None:
    """Tests read it to see what a page sent, or that nothing was sent."""
    heard: list[str] = []
    with serve_pages(tmp_path, on_request=heard.append) as site:
        get(site.address, "/thanks.html?name=Ada")
        assert site.requests == heard == ["GET /thanks.html?name=Ada"]


def test_the_end_cuts_idle_connections_and_leaves_no_thread(tmp_path: Path) -> None:
    """Browsers open connections ahead of need and say nothing on them: these may not hold up the end of a test run."""
    before = set(threading.enumerate())
    (tmp_path / "page.html").write_text("x")
    with serve_pages(tmp_path) as site:
        host, _, port = urlsplit(site.address).netloc.partition(":")
        idle = socket.create_connection((host, int(port)), timeout=5)
        assert get(site.address, "/page.html")[0] == 200  # accepted after the idle one, so that one has its thread by now
    with idle:
        assert idle.recv(1) == b""
    assert set(threading.enumerate()) == before
