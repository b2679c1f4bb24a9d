"""upload and download in real Firefox: bytes that a page reads, and bytes that a page gives."""

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe, ProbeSite, serve_probes
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox

DATA = bytes(range(256)) * 4096 * 4  # 4 MiB: two pieces


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProbeSite]:
    files = tmp_path_factory.mktemp("files")
    (files / "data.bin").write_bytes(DATA)
    with serve_probes(files) as served:
        yield served


async def test_a_file_of_the_folder_is_put_into_a_field(firefox: BrowserSession, tab: Tab, page: PageProbe, tmp_path: Path) -> None:
    """The page reads the very bytes that were judged."""
    (tmp_path / "a.txt").write_text("grüße")
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), upload_from=tmp_path)
    await page.open(
        '<input type=file aria-label=File onchange="this.files[0].text().then(t => out.textContent = this.files[0].name + t)">'
        "<p id=out></p>"
    )
    output = await bench.call("upload", on="File", files=["a.txt"])
    assert output.ok, (output.summary, output.untrusted)
    await page.until("out.textContent === 'a.txtgrüße'")


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


CONTROLS = {
    "a link": "<a href='/data.bin'>Get</a>",
    "a link to be saved": "<a href='/data.bin' download='my data.bin'>Get</a>",
    "a link in a new tab": "<a href='/data.bin' target=_blank>Get</a>",
    "a script": "<button onclick=\"location = '/data.bin'\">Get</button>",
    "a window": "<button onclick=\"window.open('/data.bin')\">Get</button>",
    "a form": "<form action='/data.bin'><input type=hidden name=a value=b><button>Get</button></form>",
    "a form that is posted": "<form action='/data.bin' method=post><button>Get</button></form>",
    "a blob": (
        "<button onclick=\"fetch('/data.bin').then(r => r.blob()).then(b => { const a = document.createElement('a');"
        "a.href = window.URL.createObjectURL(b); a.download = 'blob.bin';"
        'a.click(); window.URL.revokeObjectURL(a.href) })">Get</button>'
    ),
    "a link with data": "<a href='data:text/plain,hello' download='hello.txt'>Get</a>",
}


@pytest.mark.parametrize("kind", CONTROLS)
async def test_the_file_behind_a_control_is_saved(
    firefox: BrowserSession, tab: Tab, page: PageProbe, site: ProbeSite, tmp_path: Path, kind: str
) -> None:
    """Asked for once, saved in the folder and nowhere else, and the page stays where it is."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), download_to=tmp_path)
    await page.open(CONTROLS[kind])
    url = await page.js("location.href")
    before, tabs = len(site.asked), len(await firefox.tabs())
    output = await bench.call("download", on="Get")
    assert (output.ok, bench.effect) == (True, "done"), (output.summary, output.untrusted)
    expected = b"hello" if "data" in kind and "saved" not in kind else DATA
    (saved,) = files_in(tmp_path)
    assert saved.read_bytes() == expected
    facts: Any = output.data
    assert (facts["size"], facts["sha256"]) == (len(expected), hashlib.sha256(expected).hexdigest())
    names = {"a link to be saved": "my data.bin", "a blob": "blob.bin", "a link with data": "hello.txt"}
    assert saved.name == names.get(kind, "data.bin")
    assert await page.js("location.href") == url
    assert len(await firefox.tabs()) == tabs
    assert len([path for path in site.asked[before:] if path.startswith("/data.bin")]) == (0 if expected == b"hello" else 1)


async def test_a_redirect_to_another_host_is_not_followed(
    firefox: BrowserSession, tab: Tab, page: PageProbe, site: ProbeSite, tmp_path: Path
) -> None:
    """Not even to see that it is one: that would ask the other host. On its own host it is."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), download_to=tmp_path)
    away = f"{site.url.replace('127.0.0.1', 'localhost')}/data.bin?away"
    await page.open(
        f"<a href='/to?{quote(away)}'>Far</a><a href='/to?{quote(f'/to?{quote(away)}')}'>Farther</a>"
        f"<form action='/to?{quote(away)}' method=post><button>Post</button></form><a href='/to?/data.bin'>Near</a>"
    )
    for label in ("Far", "Farther", "Post"):
        output = await bench.call("download", on=label)
        assert not output.ok
        assert "another host, which is not followed" in (output.untrusted or "")
    assert "/data.bin?away" not in site.asked
    assert files_in(tmp_path) == []
    assert (await bench.call("download", on="Near")).ok


async def test_a_file_gets_a_plain_name_whatever_the_server_calls_it(
    firefox: BrowserSession, tab: Tab, page: PageProbe, tmp_path: Path
) -> None:
    """No path, no device, nothing hidden, nothing invisible; names in UTF-8 are read as such; nothing is written over."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), download_to=tmp_path)
    names = ["../../etc/passwd", "CON", ".bashrc", "r\u202efdp.exe", "größe.txt", "passwd"]
    await page.open("".join(f"<a href='/called?{quote(name)}'>{at}</a> " for at, name in enumerate(names)))
    for at in range(len(names)):
        assert (await bench.call("download", on=str(at))).ok
    assert sorted(path.name for path in files_in(tmp_path)) == sorted(
        ["passwd", "passwd (2)", "_CON", "bashrc", "rfdp.exe", "größe.txt"]
    )


async def test_what_leads_to_a_page_or_to_another_host_is_not_saved(
    firefox: BrowserSession, tab: Tab, page: PageProbe, site: ProbeSite, tmp_path: Path
) -> None:
    """With the true reason; the other host is not even asked."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), download_to=tmp_path)
    elsewhere = site.url.replace("127.0.0.1", "localhost") + "/data.bin?there"
    await page.open(f"<a href='/other'>Page</a><a href='{elsewhere}'>Far</a><button>Nothing</button>")
    for label, words in (("Page", "leads to a page"), ("Far", "another host: localhost"), ("Nothing", "no file came of it")):
        output = await bench.call("download", on=label)
        assert not output.ok
        assert words in (output.untrusted or "")
    assert not [path for path in site.asked if "there" in path]
    assert files_in(tmp_path) == []
    assert (await bench.call("click", on="Page")).ok  # what was kept from happening then happens now


@asynccontextmanager
async def slow_server(answer: bytes) -> AsyncIterator[tuple[str, trio.Event, trio.Event]]:
    """The address of a page whose link leads to a file that never ends; when that is asked for, and when it is not wanted any more.

    `answer` is sent at once, and then a little of the file from time to time.
    """
    asked, left = trio.Event(), trio.Event()
    page = b"<!doctype html><a href=/endless download=a.bin>Get</a>"

    async def serve(stream: trio.SocketStream) -> None:
        request = await stream.receive_some()
        if not request.startswith(b"GET /endless"):
            await stream.send_all(b"HTTP/1.0 200 OK\r\ncontent-type: text/html\r\n\r\n" + page)
            await stream.aclose()
            return
        asked.set()

        async def send() -> None:
            await stream.send_all(answer)
            while answer:
                await stream.send_all(b"x" * 100)
                await trio.sleep(0.03)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(_until_broken, send)
            await _until_broken(stream.receive_some)
            nursery.cancel_scope.cancel()
        left.set()

    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        nursery.start_soon(trio.serve_listeners, serve, [listener])
        yield f"http://127.0.0.1:{listener.socket.getsockname()[1]}/", asked, left
        nursery.cancel_scope.cancel()


async def _until_broken(do: Any) -> None:
    with suppress(trio.BrokenResourceError):
        await do()


@pytest.mark.parametrize(
    "answer", [b"", b"HTTP/1.0 200 OK\r\ncontent-type: application/octet-stream\r\n\r\n"], ids=["silent", "slow"]
)
async def test_a_stopped_download_is_given_up_at_once_by_the_page_too(
    firefox: BrowserSession, tab: Tab, tmp_path: Path, answer: bytes
) -> None:
    """Whether the server has not answered yet or sends little by little: it was clicked, nothing is saved, no more is fetched."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), download_to=tmp_path)
    async with slow_server(answer) as (url, asked, left):
        await tab.goto(url)
        permit = await bench.allowed(await bench.prepared("download", on="Get"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.run, permit)
            await asked.wait()
            await trio.sleep(0.2)  # the file has begun to come, or nothing has
            with trio.fail_after(1.5):
                nursery.cancel_scope.cancel()
                await trio.lowlevel.checkpoint_if_cancelled()
        with trio.fail_after(1.5):
            await left.wait()
    assert bench.effect == "partial"
    assert files_in(tmp_path) == []


async def test_uploads_that_were_stopped_on_their_way_stand_in_no_later_ones_way(
    firefox: BrowserSession, tab: Tab, page: PageProbe, tmp_path: Path
) -> None:
    """What had come of them is not kept in the page."""
    (tmp_path / "a.bin").write_bytes(b"hello")
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",), upload_from=tmp_path)
    await page.open("<input type=file aria-label=File id=f>")
    staged = firefox.call
    for _ in range(3):
        permit = await bench.allowed(await bench.prepared("upload", on="File", files=["a.bin"]))
        scope = trio.CancelScope()

        async def one_piece(method: str, params: Any, *, timeout: float, scope: trio.CancelScope = scope) -> Any:
            answer = await staged(method, params, timeout=timeout)
            if method == "page.stage":
                scope.cancel()
            return answer

        with scope:
            firefox.call = one_piece  # type: ignore[method-assign]
            try:
                await bench.run(permit)
            finally:
                firefox.call = staged  # type: ignore[method-assign]
        assert (scope.cancelled_caught, bench.effect) == (True, "not-started")
    assert await page.js("f.files.length") == 0
    assert (await bench.call("upload", on="File", files=["a.bin"])).ok
    assert await page.js("f.files[0].size") == 5
