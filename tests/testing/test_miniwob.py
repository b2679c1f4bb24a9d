"""The test side of MiniWoB++: the pinned wheel, the loopback server, the page protocol. The real pages run in tests/firefox."""

import hashlib
import http.client
import socket
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import trio

from foxloop_trio.testing import _miniwob
from foxloop_trio.testing._miniwob import CorpusError, Verdict, miniwob_pages, serve_pages, start_episode, task_names

Download = Callable[[Path], None]


@pytest.fixture
def download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Download:
    """Something that fetches a small wheel, which counts as the pinned one for this test."""
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("miniwob/__init__.py", "")
        archive.writestr("miniwob/html/core/core.js", "var core = {};")
        archive.writestr("miniwob/html/miniwob/click-test.html", "<title>Grüße</title>")
        archive.writestr("miniwob/html/flight/AA/wrapper.html", "")
    monkeypatch.setattr(_miniwob, "WHEEL_SHA256", hashlib.sha256(wheel.read_bytes()).hexdigest())

    def fetch(folder: Path) -> None:
        (folder / _miniwob.WHEEL).write_bytes(wheel.read_bytes())

    return fetch


def no_download(_: Path) -> None:
    raise AssertionError("nothing may be downloaded here")


# Getting the pages


def test_the_pages_are_fetched_once_and_then_kept(tmp_path: Path, download: Download) -> None:
    """Our choice: the second call finds the folder, and the scratch folder is gone."""
    pages = miniwob_pages(tmp_path / "cache", download=download)
    assert task_names(pages) == ["click-test", "flight.AA"]
    assert miniwob_pages(tmp_path / "cache", download=no_download) == pages
    assert [path.name for path in pages.parent.iterdir()] == ["html"]


def test_a_wheel_that_was_put_there_by_hand_is_used(tmp_path: Path, download: Download) -> None:
    """The way out that the error for an unreachable index names does work."""
    pages = miniwob_pages(tmp_path / "first", download=download)
    by_hand = tmp_path / "second" / pages.parent.name
    by_hand.mkdir(parents=True)
    download(by_hand)
    assert miniwob_pages(tmp_path / "second", download=no_download) == by_hand / "html"


def test_another_wheel_is_refused_and_leaves_nothing(tmp_path: Path, download: Download) -> None:
    """corpora.md 1: the SHA-256 is pinned; a fetched file that differs is never unpacked."""

    def other(folder: Path) -> None:
        (folder / _miniwob.WHEEL).write_bytes(b"something else")

    with pytest.raises(CorpusError, match=hashlib.sha256(b"something else").hexdigest()):
        miniwob_pages(tmp_path / "cache", download=other)
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


def test_two_at_once_end_with_one_folder(tmp_path: Path, download: Download) -> None:
    """The slower of two test runs takes what the faster one put there."""

    def overtaken(folder: Path) -> None:
        download(folder)
        miniwob_pages(tmp_path / "cache", download=download)

    pages = miniwob_pages(tmp_path / "cache", download=overtaken)
    assert task_names(pages) == ["click-test", "flight.AA"]
    assert [path.name for path in pages.parent.iterdir()] == ["html"]


def test_an_index_that_cannot_be_reached_names_the_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where pip gets nothing, the error says which file belongs where."""
    for name, value in (
        ("INDEX_URL", "http://127.0.0.1:9/simple"),
        ("RETRIES", "0"),
        ("CONFIG_FILE", "/dev/null"),
        ("FIND_LINKS", ""),
    ):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(CorpusError, match=r"pip could not fetch miniwob 1\.1\.0") as refused:
        miniwob_pages(tmp_path / "cache")
    assert f"put it into {tmp_path / 'cache'}" in str(refused.value)


def test_the_cache_follows_xdg(tmp_path: Path, download: Download, monkeypatch: pytest.MonkeyPatch) -> None:
    """XDG: an absolute XDG_CACHE_HOME counts, a relative one does not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert miniwob_pages(download=download).is_relative_to(tmp_path / "xdg" / "foxloop-trio")
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert miniwob_pages(download=download).is_relative_to(tmp_path / "home" / ".cache" / "foxloop-trio")


# Serving them


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


# Starting and judging an episode


class FakePage:
    """A tab and the BiDi session beside it: answers what a task page would, and keeps what was asked."""

    def __init__(self, *, reward: str = "{}", answers: dict[str, Any] | None = None) -> None:
        self.url = ""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers = answers
        self.reward = reward

    async def goto(self, url: str) -> None:
        self.url = url

    async def bidi(self, method: str, **params: Any) -> Any:
        self.asked.append((method, params))
        if method == "browsingContext.getTree":
            return {"contexts": [{"context": "other", "url": "about:blank"}, {"context": "mine", "url": self.url}]}
        if self.answers is not None:
            return self.answers
        value = '"Click the button."' if params["arguments"] else self.reward
        return {"type": "success", "result": {"type": "string", "value": value}}


async def test_an_episode_is_a_fresh_page_seeded_in_its_own_realm(autojump_clock: trio.abc.Clock) -> None:
    """corpora.md 3.2: navigate afresh, seed, start, read the utterance, wait 60 ms."""
    page = FakePage()
    started = trio.current_time()
    episode = await start_episode(page, page, "http://127.0.0.1:1", "click-test", "3", ids=lambda nbytes, _: bytes(nbytes))
    assert trio.current_time() - started == pytest.approx(0.06)
    assert episode.utterance == "Click the button."
    assert page.url == "http://127.0.0.1:1/miniwob/click-test.html?episode=0000000000000000"
    (_, (method, params)) = page.asked
    assert (method, params["target"], params["arguments"]) == (
        "script.callFunction",
        {"context": "mine"},
        [{"type": "string", "value": "3"}],
    )


async def test_two_episodes_never_share_an_address() -> None:
    """The address is how the tab's browsing context is found, so it must be the only one."""
    page, addresses = FakePage(), set()
    for _ in range(3):
        await start_episode(page, page, "http://127.0.0.1:1", "flight.AA", "0")
        addresses.add(page.url)
    assert len(addresses) == 3
    assert all(address.startswith("http://127.0.0.1:1/flight/AA/wrapper.html?") for address in addresses)


async def test_a_page_that_does_not_start_is_an_error_in_time(autojump_clock: trio.abc.Clock) -> None:
    """The test side waits 10 s for a page, then says which one."""

    class Stuck(FakePage):
        async def goto(self, url: str) -> None:
            await trio.sleep_forever()

    started = trio.current_time()
    with pytest.raises(CorpusError, match="click-test"):
        await start_episode(Stuck(), Stuck(), "http://127.0.0.1:1", "click-test", "0")
    assert trio.current_time() - started == 10


async def test_a_page_that_throws_is_an_error_with_its_words() -> None:
    """A task whose script fails is not a task that was not solved."""
    page = FakePage(answers={"type": "exception", "exceptionDetails": {"text": "ReferenceError: core is not defined"}})
    with pytest.raises(CorpusError, match="core is not defined"):
        await start_episode(page, page, "http://127.0.0.1:1", "click-test", "0")


async def test_the_judge_reads_the_reward() -> None:
    """`judge` asks the page for upstream's three globals."""
    page = FakePage(reward='{"done": true, "raw_reward": 0.5, "why": null}')
    episode = await start_episode(page, page, "http://127.0.0.1:1", "click-checkboxes", "0")
    assert await episode.judge() == Verdict(task="click-checkboxes", done=True, raw_reward=0.5)


@pytest.mark.parametrize(
    ("task", "done", "raw_reward", "solved"),
    [
        ("click-test", True, 1.0, True),
        ("click-test", True, 0.99, False),
        ("click-test", False, 1.0, False),
        ("circle-center", True, 0.9, True),
        ("circle-center", True, 0.89, False),
        ("use-colorwheel", True, 0.95, True),
    ],
)
def test_solved_means_done_with_the_full_reward(task: str, done: bool, raw_reward: float, solved: bool) -> None:
    """corpora.md 3.3: 1.0, but 0.9 or 0.95 where a task pays by distance."""
    assert Verdict(task=task, done=done, raw_reward=raw_reward).solved is solved
