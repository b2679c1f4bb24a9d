"""download against the real gate and a browser in memory: where files go, what they are called, and what a stopped one leaves."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.browser import browser_tools
from foxloop_trio.browser.tools import _downloading
from foxloop_trio.browser.tools._save_folder import safe_name
from foxloop_trio.errors import BadOptionsError
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

LARGE = bytes(range(256)) * 4 * 2**10 * 7  # 7 MiB: three pieces
PAGE: dict[str, Any] = {
    "title": "Files",
    "controls": [
        {"role": "link", "label": "Report", "file": {"name": "../../report.txt", "data": b"hello", "type": "text/plain"}},
        {"role": "link", "label": "Large", "file": {"name": "large.bin", "data": LARGE}},
        {"role": "link", "label": "Huge", "file": {"name": "huge", "data": b"", "size": 2**40}},
        {"role": "button", "label": "None"},
    ],
}


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "in"
    folder.mkdir()
    return folder


@pytest.fixture
async def bench(virtual_time: Any, folder: Path) -> AsyncIterator[ToolBench]:
    browser = FakeBrowser({"http://shop.test/": PAGE, "http://shop.test/next": {}})
    async with browser as session:
        yield await ToolBench.open(browser, session, "http://shop.test/", download_to=folder)


async def test_the_file_is_saved_in_the_folder_with_its_digest(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """Under a safe name; our words hold numbers alone, the page's name is quoted."""
    output = await bench.call("download", on="Report")
    assert (output.ok, bench.effect) == (True, "done"), output.summary
    assert (names_in(folder), (folder / "report.txt").read_bytes()) == (["report.txt"], b"hello")
    assert (folder / "report.txt").stat().st_mode & 0o777 == 0o600
    digest = hashlib.sha256(b"hello").hexdigest()
    assert f"5 bytes, SHA-256 {digest}" in output.summary
    assert "report" not in output.summary
    assert output.data == {
        "name": "report.txt", "path": str(folder / "report.txt"), "size": 5, "sha256": digest, "type": "text/plain",
    }  # fmt: skip
    assert bench.asked[-1].endswith('click link "Report", on the page "http://shop.test/", and save the file that it leads to')


async def test_no_file_is_written_over(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """Each gets a number; what a link of that name leads to is not touched."""
    (folder / "report.txt").symlink_to(folder.parent / "elsewhere")
    for _ in range(2):
        assert (await bench.call("download", on="Report")).ok
    assert names_in(folder) == ["report (2).txt", "report (3).txt", "report.txt"]
    assert not (folder.parent / "elsewhere").exists()


async def test_a_large_file_comes_in_pieces(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """All of them, in their order."""
    output = await bench.call("download", on="Large")
    assert output.ok, output.summary
    assert (folder / "large.bin").read_bytes() == LARGE
    assert bench.browser.asked.count("page.fetch") == 3


async def test_a_file_that_is_too_large_is_not_saved(
    virtual_time: Any, bench: ToolBench, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what the server says before a byte is fetched; else by what came."""
    output = await bench.call("download", on="Huge")
    assert (output.ok, bench.effect) == (False, "partial")
    assert "page.fetch" not in bench.browser.asked
    monkeypatch.setattr(_downloading, "MAX_DOWNLOAD_BYTES", 4 * 2**20)
    output = await bench.call("download", on="Large")
    assert not output.ok
    assert names_in(folder) == []


@pytest.mark.parametrize("piece", [1, 2, 3])
async def test_a_cancelled_download_leaves_no_part(virtual_time: Any, bench: ToolBench, folder: Path, piece: int) -> None:
    """Whichever piece was under way; what is reported is true: it was clicked, and nothing was saved."""
    permit = await bench.allowed(await bench.prepared("download", on="Large"))
    with trio.CancelScope() as scope:
        bench.browser.delay("page.fetch", 1000, call=piece)

        async def stop() -> None:
            while bench.browser.asked.count("page.fetch") < piece:  # noqa: ASYNC110  # nobody could set an event
                await trio.sleep(0.01)
            scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(stop)
            await bench.run(permit)
    assert scope.cancelled_caught
    assert bench.effect == "partial"
    assert names_in(folder) == []


async def test_a_page_that_leaves_or_a_lost_browser_leaves_no_part(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """The file goes with its document."""
    bench.browser.fail("page.fetch", "document-gone", call=2)
    output = await bench.call("download", on="Large")
    assert (output.ok, bench.effect) == (False, "partial")
    assert "document-gone" in output.summary
    assert names_in(folder) == []


async def test_a_control_without_a_file_is_a_failed_result(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """It was clicked; and without a look nothing else is."""
    output = await bench.call("download", on="None")
    assert not output.ok
    assert "no file came of it" in (output.untrusted or "")
    assert names_in(folder) == []


async def test_without_a_folder_there_is_no_such_tool(virtual_time: Any, bench: ToolBench, tmp_path: Path) -> None:
    """And a folder that is none is refused at once."""
    assert "download" not in {tool.name for tool in browser_tools(bench.tab)}
    with pytest.raises(BadOptionsError, match="download_to"):
        browser_tools(bench.tab, download_to=tmp_path / "none")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("report.pdf", "report.pdf"),
        ("/etc/passwd", "passwd"),
        ("..\\..\\x.exe", "x.exe"),
        (".bashrc", "bashrc"),
        ("..", "download"),
        ("", "download"),
        ("a\0b\nc.txt", "a_b_c.txt"),
        ("CON.txt", "_CON.txt"),
        ("invoice\u202efdp.exe", "invoicefdp.exe"),
        ("e\u0301.txt", "\u00e9.txt"),
        ("x" * 500 + ".pdf", "x" * 116 + ".pdf"),
        ("a: b?.txt. ", "a_ b_.txt"),
        ("\ud800.txt", "?.txt".replace("?", "_")),
    ],
)
def test_names_are_plain_and_safe(given: str, name: str) -> None:
    """No path, no hidden file, no device, nothing that cannot be seen, an ending that stays."""
    assert safe_name(given) == name


def test_a_name_of_any_script_fits_into_a_file_system() -> None:
    """255 bytes, with a number behind it."""
    assert len(safe_name("\U0001f98a" * 300 + ".txt").encode()) <= 200
    assert safe_name("\U0001f98a" * 300 + ".txt").endswith(".txt")
