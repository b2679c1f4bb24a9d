"""The tools `snapshot` and `screenshot` over the fake browser: finding, paging, comparing, and pictures."""

from __future__ import annotations

import base64
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from trio.testing import MockClock

from foxloop_trio.actions import ToolContext, ToolOutput
from foxloop_trio.browser import Tab, browser_tools
from foxloop_trio.errors import Refuse
from foxloop_trio.prompt import LIMITS, result_text
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.tools import Tool, define_tools

SHOP = "http://shop.test/"
WORDS = "\n".join(f"Line {n:03} of the story, which goes on and on" for n in range(120))


def controls(count: int) -> list[Any]:
    kinds: list[dict[str, Any]] = [{"role": "textbox"}, {"role": "button"}, {"role": "link", "href": "/x"}, {"role": "checkbox"}]
    return [{**kinds[n % 4], "label": f"Thing {n} <{'long ' * (n % 9)}>"} for n in range(count)]


class Hands:
    """Calls read tools as the loop does, without a gate: nothing here acts."""

    def __init__(self, browser: FakeBrowser, tab: Tab, **options: Any) -> None:
        self.browser = browser
        self.tab = tab
        self.tools: dict[str, Tool] = define_tools(browser_tools(tab, **options))

    async def call(self, tool: str, **args: Any) -> ToolOutput:
        found = self.tools[tool]
        assert found.args_problem(args) is None, found.args_problem(args)
        ctx = ToolContext(run_id="r", step=1, goal="g", domain="shop.test")
        assert found.prepare is not None
        prepared: Any = await found.prepare(args, ctx)  # type: ignore[misc]
        output: Any = await found.run(prepared, ctx)  # type: ignore[misc]
        assert isinstance(output, ToolOutput)
        told = result_text(tool, output, "ab" * 8)
        assert "[cut]" not in told, "nothing may be cut behind the planner's back"
        return output

    async def pin(self, control_id: str) -> Any:
        prepare: Any = self.tools["click"].prepare
        return (await prepare({"control_id": control_id}, ToolContext(run_id="r", step=1, goal="g")))["target"]


@asynccontextmanager
async def hands_on(page: dict[str, Any], **options: Any) -> AsyncGenerator[Hands, None]:
    browser = FakeBrowser({SHOP: page})  # type: ignore[dict-item]
    async with browser as session:
        yield Hands(browser, await session.open_tab(SHOP), **options)


def ids_in(text: str) -> set[str]:
    return set(re.findall(r"^\[(\d+:\d+)\]", text, re.MULTILINE)) | set(re.findall(r"=(\d+:\d+)[,)]", text))


@pytest.mark.parametrize("count", [41, 130, 700])
async def test_every_control_is_reached_by_following_the_ways_that_are_told(autojump_clock: MockClock, count: int) -> None:
    """Listed, or counted and reachable by paging. Also on a page of more controls than one look brings."""
    async with hands_on({"controls": controls(count)}) as hands:
        output = await hands.call("snapshot")
        text = output.untrusted or ""
        (left_out,) = re.findall(r"^\(\+(\d+) controls not shown\)$", text, re.MULTILINE)
        assert len(ids_in(text)) + int(left_out) == count
        seen: set[str] = set()
        offset = 0
        while True:
            text = (await hands.call("snapshot", offset=offset)).untrusted or ""
            here = ids_in(text)
            assert here
            seen |= here
            way = re.search(r"snapshot with offset=(\d+)", text)
            if way is None:
                break
            assert int(way[1]) > offset
            offset = int(way[1])
        assert len(seen) == count
        assert await hands.pin(sorted(here)[0])  # what the last page showed can be acted on


async def test_all_of_a_long_text_is_reached_by_following_the_ways_that_are_told(autojump_clock: MockClock) -> None:
    """Each line once, in order."""
    async with hands_on({"text": WORDS, "controls": controls(3)}) as hands:
        lines: list[str] = []
        args: dict[str, int] = {}
        while True:
            text = (await hands.call("snapshot", **args)).untrusted or ""
            lines += [line[2:] for line in text.split("\n") if line.startswith("| ")]
            way = re.search(r"snapshot with text_offset=(\d+)\)", text)
            if way is None:
                break
            args = {"text_offset": int(way[1])}
        assert "\n".join(lines) == WORDS


async def test_find_shows_what_holds_the_words_and_nothing_else(autojump_clock: MockClock) -> None:
    """Controls and lines of text."""
    async with hands_on({"text": WORDS, "controls": controls(130)}) as hands:
        output = await hands.call("snapshot", find="thing 127")
        assert output.summary.startswith("What was looked at has 1 control.")
        assert ids_in(output.untrusted or "") == {"0:128"}
        assert "Line" not in (output.untrusted or "")


async def test_a_look_at_a_part_leaves_the_rest_known_while_nothing_changes(autojump_clock: MockClock) -> None:
    """So that finding a box does not make the fields unknown that were just read; a field that changed does."""
    async with hands_on({"controls": controls(60)}) as hands:
        await hands.call("snapshot")
        await hands.call("snapshot", find="thing 59")
        pin = await hands.pin("0:1")
        assert pin["generation"] == 2
        hands.browser.document(hands.tab).change(pin["label"], value="typed by the page")
        await hands.call("snapshot", find="thing 59")
        with pytest.raises(Refuse, match="Call snapshot"):
            await hands.pin("0:1")
        assert await hands.pin("0:60")


async def test_since_shows_what_changed_and_without_a_look_before_the_whole_page(autojump_clock: MockClock) -> None:
    """The newest look at the whole page counts."""
    async with hands_on({"text": WORDS[:400], "controls": controls(6)}) as hands:
        assert (await hands.call("snapshot", since="last")).untrusted.startswith("Title:")  # type: ignore[union-attr]
        await hands.call("snapshot", find="thing 3")
        hands.browser.document(hands.tab).change("Thing 3 <long long long >", checked=True)
        text = (await hands.call("snapshot", since="last")).untrusted or ""
        assert text.split("\n")[:2] == ['Same document: "http://shop.test/"', "Changed:"]
        assert text.endswith('"Thing 3 <long long long >" (checked)')


async def test_the_hosts_focus_and_the_planners_choose_what_is_shown(autojump_clock: MockClock) -> None:
    """The planner's goes first; both are told to the add-on, which chooses what comes when there is too much."""
    buttons = [{"role": "button", "label": f"{word} {n}"} for n in range(30) for word in ("Tea", "Milk")]
    asked: list[str] = []

    async def goal() -> str:
        asked.append("goal")
        return "buy tea"

    async with hands_on({"controls": buttons}, focus=goal) as hands:
        text = (await hands.call("snapshot")).untrusted or ""
        assert len(re.findall(r'button "Tea', text)) == 20
        assert "Milk" not in text
        text = (await hands.call("snapshot", focus="milk")).untrusted or ""
        assert "Tea" not in text
        assert [params.get("focus") for params in hands.browser.params if "focus" in params] == ["buy tea", "milk"]
        assert asked == ["goal", "goal"]
        assert '"Tea 0"' in ((await hands.call("snapshot", offset=0)).untrusted or "")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"region": "3"}, "not an id"),
        ({"region": "1:3", "frame": 0}, "another frame"),
        ({"find": "  "}, "at least one word"),
        ({"since": "last", "find": "x"}, "alone"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_the_way_out(autojump_clock: MockClock, args: Any, words: str) -> None:
    """In prepare, so that nothing is judged and nothing read."""
    async with hands_on({}) as hands:
        with pytest.raises(Refuse, match=words):
            await hands.call("snapshot", **args)
        assert "page.read" not in hands.browser.asked


async def test_a_region_that_is_not_there_is_a_failed_result(autojump_clock: MockClock) -> None:
    """With the code, and what to do."""
    async with hands_on({"controls": controls(3)}) as hands:
        await hands.call("snapshot")
        output = await hands.call("snapshot", region="0:99")
        assert not output.ok
        assert "document-gone" in output.summary
        assert "call snapshot" in output.summary


async def test_a_picture_is_for_the_host_and_never_in_the_words_for_the_planner(autojump_clock: MockClock) -> None:
    """B92: a planner gets numbers; the bytes lie in `data`, with what they show."""
    async with hands_on({"controls": controls(4)}) as hands:
        await hands.call("snapshot")
        output = await hands.call("screenshot", control_id="0:2", marks=True)
        assert output.ok
        assert output.untrusted is None
        assert output.summary.startswith("A picture was taken: 1 x 1 pixels")
        assert base64.b64decode(output.data["image"]).startswith(b"\x89PNG")
        assert output.data["image"] not in result_text("screenshot", output, "ab" * 8)
        assert (output.data["media_type"], output.data["width"], output.data["marked"]) == (
            "image/png",
            1,
            ["0:1", "0:2", "0:3", "0:4"],
        )


@pytest.mark.parametrize(
    ("args", "words"), [({"control_id": "x"}, "not an id"), ({"control_id": "0:1", "area": "page"}, "either one control")]
)
async def test_a_picture_that_makes_no_sense_is_refused(autojump_clock: MockClock, args: Any, words: str) -> None:
    """In prepare."""
    async with hands_on({}) as hands:
        with pytest.raises(Refuse, match=words):
            await hands.call("screenshot", **args)


async def test_a_picture_of_another_site_than_was_judged_is_not_given(autojump_clock: MockClock) -> None:
    """The tab may leave while it is taken."""
    async with hands_on({"controls": controls(1)}) as hands:
        hands.browser.pages["http://other.test/"] = {}
        await hands.call("snapshot")

        async def leaving(request: Any) -> Any:
            hands.browser.document(hands.tab).navigate("http://other.test/")
            return {"data": ""}

        hands.browser.on["tab.capture"] = leaving
        output = await hands.call("screenshot")
        assert not output.ok
        assert output.data is None
        assert "other.test" in output.summary


def test_a_page_fits_into_what_a_planner_gets_of_a_result() -> None:
    """The bound is the prompt's own."""
    assert LIMITS["untrusted"] == 4000
