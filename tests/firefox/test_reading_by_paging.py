"""Nothing is out of reach: every control of a page is shown, or counted and found by following the ways that the text tells."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from foxloop_trio.actions import ToolContext
from foxloop_trio.browser import BrowserSession, Tab, browser_tools, page_text
from foxloop_trio.cli._bench_made_pages import FORMS, page_of
from foxloop_trio.corpora import serve_pages
from foxloop_trio.tools import Tool, define_tools

pytestmark = pytest.mark.firefox

NAMED = (
    "[...document.querySelectorAll('a[href], button, input, select, textarea')].map((one) => one.id || one.name || one.textContent)"
)


@attrs.define
class Reader:
    """One tab, and the tools of a planner for it."""

    session: BrowserSession
    tab: Tab
    folder: Path
    address: str
    context: str
    tools: dict[str, Tool]
    opened: int = 0

    async def open(self, html: str, **frames: str) -> None:
        self.opened += 1  # at an address of its own: Firefox would not ask for one again that is a second old
        for name, text in {f"page{self.opened}": html, **frames}.items():
            (self.folder / f"{name}.html").write_text(text, encoding="utf-8")
        await self.tab.goto(f"{self.address}/page{self.opened}.html")
        await self.tab.snapshot(max_controls=1)  # which waits until it has loaded

    async def names(self) -> list[str]:
        answer = await self.session.bidi(
            "script.evaluate", expression=f"JSON.stringify({NAMED})", target={"context": self.context}, awaitPromise=False
        )
        found: list[str] = json.loads(answer["result"]["value"])
        return found

    async def ask(self, **args: Any) -> str:
        """What a planner reads."""
        ctx = ToolContext(run_id="r", step=1, goal="g", domain="127.0.0.1")
        output = await self.tools["snapshot"].run(args, ctx)  # type: ignore[misc]
        assert output.ok, output
        return output.untrusted or ""

    async def all_ids(self, **where: Any) -> set[str]:
        """The ids of all pages, one after the other."""
        seen: set[str] = set()
        offset = 0
        while True:
            text = await self.ask(offset=offset, **where)
            seen |= ids_in(text)
            way = re.search(r"snapshot with (?:frame=\d+ and )?offset=(\d+)", text)
            if way is None:
                return seen
            assert int(way[1]) > offset
            offset = int(way[1])


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"^\[(\d+:\d+)\]", text, re.MULTILINE)) | set(re.findall(r"=(\d+:\d+)[,)]", text))


def left_out(text: str) -> int:
    found = re.search(r"^\(\+(\d+) controls not shown\)$", text, re.MULTILINE)
    return int(found[1]) if found is not None else 0


@pytest.fixture
async def reader(firefox: BrowserSession, tab: Tab, tmp_path: Path) -> AsyncIterator[Reader]:
    with serve_pages(tmp_path) as site:
        yield Reader(firefox, tab, tmp_path, site.address, await tab.bidi_context(), define_tools(browser_tools(tab)))


@pytest.mark.parametrize("name", FORMS)
async def test_every_control_of_a_form_is_shown_or_counted_and_reached(reader: Reader, name: str) -> None:
    """The text is short, and nothing usable is lost for it."""
    await reader.open(FORMS[name])
    count = len(await reader.names())
    text = await reader.ask()
    assert len(ids_in(text)) + left_out(text) == count
    assert len(await reader.all_ids()) == count


async def test_every_control_of_a_large_page_is_reached(reader: Reader) -> None:
    """More than one look brings (300 of a frame), and far more than one text shows."""
    await reader.open(page_of(4000))
    names = await reader.names()
    assert len(names) == 400
    text = await reader.ask()
    assert len(ids_in(text)) < 60
    assert left_out(text) >= 300
    assert len(await reader.all_ids()) == 400


async def test_every_control_of_every_frame_is_reached(reader: Reader) -> None:
    """By the frame's number; the ways name each frame that has more."""
    await reader.open(
        "<!doctype html><title>Frames</title><iframe src='one.html' height=400></iframe><iframe src='two.html' height=400></iframe>"
        + "".join(f"<button>Top {n}</button>" for n in range(50)),
        one=page_of(500),
        two=page_of(600),
    )
    text = await reader.ask()
    assert len(ids_in(text)) + left_out(text) == 50 + 50 + 60
    found = [await reader.all_ids(frame=frame) for frame in (0, 1, 2)]
    assert sorted(map(len, found)) == [50, 50, 60]
    assert {one.partition(":")[0] for ids in found for one in ids} == {"0", "1", "2"}


async def test_a_control_is_found_by_its_words_and_a_region_by_its_id(reader: Reader) -> None:
    """Without paging to it."""
    await reader.open(page_of(4000))
    text = await reader.ask(find="item 396")
    assert '"Open item 396"' in text
    assert left_out(text) == 0

    await reader.open(FORMS["checkout"])
    page = await reader.tab.snapshot()
    street = next(control for control in page.controls if control.name == "ship_street")
    form = f"{street.frame}:{street.form}"
    inside = await reader.tab.snapshot(region=form)
    assert {control.form for control in inside.controls} == {street.form}
    usable = [control for control in inside.controls if control.role != "text"]  # words can be pointed at there too
    assert len(usable) == len([control for control in page.controls if control.form == street.form])
    assert "Imprint" not in page_text(inside)


async def test_all_words_of_a_long_page_are_reached(reader: Reader) -> None:
    """By the place where each text says to go on."""
    lines = [f"Line {n} of a story that goes on, and on \U0001f98a" for n in range(400)]
    await reader.open(f"<!doctype html><meta charset=utf-8><title>Story</title>{''.join(f'<p>{line}</p>' for line in lines)}")
    seen: list[str] = []
    args: dict[str, int] = {}
    while True:
        text = await reader.ask(**args)
        seen += [line[2:] for line in text.split("\n") if line.startswith("| ")]
        way = re.search(r"snapshot with text_offset=(\d+)\)", text)
        if way is None:
            break
        assert int(way[1]) > args.get("text_offset", 0)
        args = {"text_offset": int(way[1])}
    assert seen == lines
