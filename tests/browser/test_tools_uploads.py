"""upload against the real gate and a browser in memory: which files may leave, and that those that were judged are those sent."""

import hashlib
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.browser import browser_tools
from foxloop_trio.errors import BadOptionsError, Refuse
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

PAGE: dict[str, Any] = {"title": "Files", "controls": [{"role": "button", "label": "File", "tag": "input", "type": "file"}]}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("hello")
    (folder / "b.csv").write_bytes(b"1,2\n")
    (folder / "sub" / "c.txt").write_text("deep")
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "hop").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    return folder


@pytest.fixture
async def bench(virtual_time: Any, folder: Path) -> AsyncIterator[ToolBench]:
    browser = FakeBrowser({"http://shop.test/": PAGE})
    async with browser as session:
        yield await ToolBench.open(browser, session, "http://shop.test/", upload_from=folder)


async def test_the_judged_files_are_sent(virtual_time: Any, bench: ToolBench) -> None:
    """Name, type, size and digest are judged and shown to the approver; the bytes are no part of it."""
    output = await bench.call("upload", on="File", files=["a.txt"])
    assert output.ok, output.summary
    sha256 = hashlib.sha256(b"hello").hexdigest()
    assert bench.judged.args["value"] == {"files": [{"name": "a.txt", "type": "text/plain", "size": 5, "sha256": sha256}]}
    assert f'"a.txt", 5 bytes, SHA-256 {sha256[:16]}…' in bench.asked[-1]
    assert "page.stage" in bench.browser.asked


async def test_a_file_that_changes_after_it_was_judged_is_sent_as_it_was(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """It was read once."""
    prepared = await bench.prepared("upload", on="File", files=["a.txt"])

    async def swap() -> None:
        (folder / "a.txt").unlink()
        (folder / "a.txt").symlink_to(folder.parent / "secret.txt")

    assert (await bench.run(await bench.allowed(prepared, swap))).ok
    staged = [
        params["data"] for method, params in zip(bench.browser.asked, bench.browser.params, strict=True) if method == "page.stage"
    ]
    assert staged == ["aGVsbG8="]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.txt",
        "/etc/passwd",
        "sub/c.txt",
        "link.txt",
        "hop/secret.txt",
        "hop",
        "sub",
        "pipe",
        "none.txt",
        ".",
        "..",
        "a\\b",
        "a\0b",
        "C:x",
        "a.txt\ud800",
    ],
)
async def test_nothing_outside_of_the_folder_is_read(virtual_time: Any, bench: ToolBench, name: str) -> None:
    """No path, no link, no folder, no pipe; the accepted twin is above. No name is repeated in our words."""
    with pytest.raises(Refuse) as caught:
        await bench.prepared("upload", on="File", files=["a.txt", name])
    assert "secret" not in str(caught.value)


async def test_too_many_bytes_are_refused(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """25 MiB in all; not a byte more is read into memory than shows that."""
    with (folder / "large").open("wb") as file:
        file.truncate(25 * 2**20 - 5)
    assert (await bench.prepared("upload", on="File", files=["large", "a.txt"])).args["value"]["files"][0]["size"] == 25 * 2**20 - 5
    with pytest.raises(Refuse, match="bytes in all"):
        await bench.prepared("upload", on="File", files=["large", "a.txt", "b.csv"])


async def test_files_that_are_not_kept_any_more_are_stale(virtual_time: Any, bench: ToolBench, folder: Path) -> None:
    """What waits for an approver is bounded; the oldest goes first."""
    prepared = await bench.prepared("upload", on="File", files=["a.txt"])
    for number in range(5):
        (folder / "large").write_bytes(bytes([number]) * (24 * 2**20))
        await bench.prepared("upload", control_id="0:1", files=["large"])
    output = await bench.run(await bench.allowed(prepared))
    assert (output.ok, bench.effect) == (False, "not-started")
    assert output.summary.startswith("stale")
    assert bench.acted == []


async def test_without_a_folder_there_is_no_such_tool(virtual_time: Any, bench: ToolBench, tmp_path: Path) -> None:
    """And a folder that is none is refused at once."""
    assert "upload" not in {tool.name for tool in browser_tools(bench.tab)}
    with pytest.raises(BadOptionsError, match="upload_from"):
        browser_tools(bench.tab, upload_from=tmp_path / "none")
