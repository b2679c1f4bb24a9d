"""upload and download in real Firefox: bytes that a page reads, and bytes that a page gives."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

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


@pytest.fixture
def page(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> PageProbe:
    return PageProbe(firefox, tab, site)


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
