"""`Tab.snapshot` with its options, and `Tab.screenshot`: what is sent, what comes back, and what is refused before that."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from foxloop_trio.browser import BrowserSession, Changes, Tab
from foxloop_trio.errors import BadOptionsError, BrowserError
from foxloop_trio.testing._firefox_stand_in import Refused, StandIn, stand_in, tab_state
from foxloop_trio.wire import Request

BASE = {
    "role": "button", "tag": "button", "type": "", "label": "OK", "name": "", "placeholder": "", "section": "", "value": "",
    "disabled": False, "read_only": False, "required": False, "offscreen": False, "submit": False, "dialog": False,
    "autocomplete": False, "picker": False, "secret": False, "guard": "0123456789abcdef",
}  # fmt: skip


def frame(number: int = 0, nodes: tuple[int, ...] = (3,), **more: Any) -> dict[str, Any]:
    return {
        "frame": number, "document": f"d{number}" * 16, "url": f"http://shop.test/{number}", "title": "Shop", "text": "words",
        "headings": [], "controls": [{**BASE, "node": node} for node in nodes], "captcha": False, "more": False, "truncated": 0,
        "key": "fedcba9876543210", **more,
    }  # fmt: skip


class Page:
    """A page of two frames that answers as the add-on does, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.frames = [frame(0), frame(1, (3, 5), parent=0, origin=[8, 120])]

    def read(self, request: Request) -> dict[str, Any]:
        self.asked.append({name: value for name, value in request.params.items() if name not in ("tab", "deadline_ms")})
        only = request.params.get("frame", request.params.get("region", {}).get("frame"))
        return {"frames": [one for one in self.frames if only in (None, one["frame"])], "unreadable": []}


async def page_in(session: BrowserSession, addon: StandIn, url: str = "http://shop.test/") -> tuple[Tab, Page]:
    page = Page()
    addon.on["tab.list"] = lambda request: {"tabs": [tab_state(7, url=url)]}
    addon.on["tab.get"] = lambda request: {"tab": tab_state(7, url=url)}
    addon.on["page.read"] = page.read
    (tab,) = await session.tabs()
    return tab, page


async def test_a_look_asks_for_nothing_that_was_not_asked_for(autojump_clock: MockClock) -> None:
    """The defaults are the add-on's."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        snapshot = await tab.snapshot()
        assert page.asked == [{}]
        assert not snapshot.part


async def test_a_look_can_be_narrowed_down_and_paged(autojump_clock: MockClock) -> None:
    """By words, frame, position and amount; the snapshot knows what it shows."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        options = {
            "find": "tea",
            "frame": 0,
            "offset": 300,
            "text_offset": 6000,
            "max_controls": 1000,
            "max_text": 0,
            "focus": "milk",
        }
        snapshot = await tab.snapshot(**options)  # type: ignore[arg-type]
        assert page.asked == [options]
        assert (snapshot.part.find, snapshot.part.frame, snapshot.part.offset, snapshot.part.text_offset) == ("tea", 0, 300, 6000)


async def test_a_region_lies_in_the_document_that_the_newest_look_saw(autojump_clock: MockClock) -> None:
    """By the id of a control or of a form, or by the control itself."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        inner = (await tab.snapshot()).control("1:5")
        assert inner is not None
        for region in ("1:5", inner):
            snapshot = await tab.snapshot(region=region)
            assert snapshot.part.region == "1:5"
        region_asked = {"region": {"frame": 1, "document": "d1" * 16, "node": 5}}
        only_the_top = {"frame": 0, "max_controls": 1, "max_text": 0}
        assert page.asked == [{}, region_asked, only_the_top, region_asked, only_the_top]


async def test_a_look_at_a_child_frame_says_what_page_it_is_of(autojump_clock: MockClock) -> None:
    """The top frame stands in front, with nothing of its content, so that address and host are those of the page."""
    async with stand_in() as (session, addon):
        tab, _ = await page_in(session, addon)
        snapshot = await tab.snapshot(frame=1)
        assert snapshot.url == "http://shop.test/0"
        assert [control.id for control in snapshot.controls] == ["1:3", "1:5"]
        assert (snapshot.top.text, snapshot.truncated, snapshot.text_more) == ("", 0, 0)


async def test_a_look_since_another_says_what_changed(autojump_clock: MockClock) -> None:
    """None without `since`; nothing, when nothing did."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        first = await tab.snapshot()
        assert first.changes is None
        assert (await tab.snapshot(since=first)).changes == Changes()
        page.frames = [frame(0, (3, 9)), page.frames[1]]
        changed = (await tab.snapshot(since=first)).changes
        assert changed is not None
        assert [control.id for control in changed.appeared] == ["0:9"]
        page.frames = [frame(0, document="e0" * 16)]
        another = (await tab.snapshot(since=first)).changes
        assert another is not None
        assert another.another_page


@pytest.mark.parametrize(
    "options",
    [
        {"find": ""}, {"find": " "}, {"find": "x" * 201}, {"offset": -1}, {"offset": True}, {"text_offset": -1}, {"frame": -1},
        {"max_controls": 0}, {"max_controls": 1001}, {"max_text": 60_001}, {"region": "3"}, {"region": "0:0"}, {"region": "00:1"},
        {"region": "0:3", "frame": 1}, {"region": 3},
    ],
    ids=str,
)  # fmt: skip
async def test_what_cannot_be_asked_is_refused_before_anything_is_sent(autojump_clock: MockClock, options: Any) -> None:
    """BadOptionsError names the option and its bounds."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        await tab.snapshot()
        with pytest.raises(BadOptionsError, match="snapshot: "):
            await tab.snapshot(**options)
        assert page.asked == [{}]


async def test_a_region_of_a_frame_that_no_look_has_shown_is_refused(autojump_clock: MockClock) -> None:
    """There is no document to look for it in."""
    async with stand_in() as (session, addon):
        tab, page = await page_in(session, addon)
        with pytest.raises(BrowserError) as refused:
            await tab.snapshot(region="0:3")
        assert (refused.value.code, page.asked) == ("document-gone", [])


async def test_a_region_that_is_gone_is_not_waited_for(autojump_clock: MockClock) -> None:
    """Another document will not bring it back; a look at a whole page tries again instead."""
    async with stand_in() as (session, addon):
        tab, _ = await page_in(session, addon)
        await tab.snapshot()

        def gone(request: Request) -> Any:
            raise Refused("document-gone", "that document is not in the tab")

        addon.on["page.read"] = gone
        for options in ({"region": "1:3"}, {"frame": 1}):
            with pytest.raises(BrowserError) as refused:
                await tab.snapshot(**options)  # type: ignore[arg-type]
            assert (refused.value.code, trio.current_time()) == ("document-gone", 0)


# Closed pages


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("about:config", "one of Firefox's own pages"),
        ("about:blank", "empty tab"),
        ("about:neterror?e=dnsNotFound", "could not be loaded"),
        ("about:reader?url=https%3A%2F%2Fshop.test%2F", "reader view"),
        ("view-source:https://shop.test/", "source of a page"),
        ("moz-extension://0-1/page.html", "page of an extension"),
        ("resource://pdf.js/web/viewer.html", "Firefox's own pages"),
        ("file:///etc/passwd", "local or generated"),
        ("https://shop.test/bill.PDF?x=1", "PDF"),
        ("https://addons.mozilla.org/", "protects its site"),
        ("https://nowhere.test/", "an error page because"),
        ("http://[", "Firefox's own pages"),
    ],
)
async def test_a_closed_page_says_why_and_what_to_do_at_once(autojump_clock: MockClock, url: str, words: str) -> None:
    """One clear refusal, without waiting, for looks and pictures alike."""
    async with stand_in() as (session, addon):
        tab, _ = await page_in(session, addon, url)

        def closed(request: Request) -> Any:
            raise Refused("restricted-page", "extensions are kept out")

        addon.on["page.read"] = addon.on["tab.capture"] = closed
        for look in (tab.snapshot, tab.screenshot):
            with pytest.raises(BrowserError, match=words) as refused:
                await look()
            assert refused.value.code == "restricted-page"
            assert "; " in str(refused.value)
            assert "kept out" in str(refused.value)
        assert trio.current_time() == 0


# Pictures


async def test_a_picture_is_bytes_that_know_what_they_show(autojump_clock: MockClock) -> None:
    """What the add-on told of it."""
    asked = []

    def capture(request: Request) -> dict[str, Any]:
        asked.append({name: value for name, value in request.params.items() if name not in ("tab", "deadline_ms")})
        facts = {"width": 640, "height": 24, "scale": 0.5, "painted_over": 2, "marked": ["1:5"], "cut": True}
        return {"data": base64.b64encode(b"\xff\xd8").decode(), **facts}

    async with stand_in() as (session, addon):
        tab, _ = await page_in(session, addon)
        addon.on["tab.capture"] = capture
        await tab.snapshot()
        picture = await tab.screenshot(format="jpeg", quality=70, scale=0.5, element="1:5", marks=["1:5", "0:3"])
        assert picture == b"\xff\xd8"
        assert (picture.media_type, picture.width, picture.height, picture.scale) == ("image/jpeg", 640, 24, 0.5)
        assert (picture.painted_over, picture.marked, picture.cut) == (2, ("1:5",), True)
        assert repr(picture) == "<Screenshot image/jpeg, 640 x 24, 2 bytes>"
        await tab.screenshot(full_page=True, marks=True)
        await tab.screenshot()
        assert asked == [
            {
                "format": "jpeg", "quality": 70, "scale": 0.5, "area": {"frame": 1, "document": "d1" * 16, "node": 5},
                "marks": [{"frame": 1, "node": 5}, {"frame": 0, "node": 3}],
            },
            {"format": "png", "area": "page", "marks": "controls"},
            {"format": "png"},
        ]  # fmt: skip


@pytest.mark.parametrize(
    "options",
    [
        {"format": "gif"}, {"quality": 70}, {"format": "jpeg", "quality": 0}, {"format": "jpeg", "quality": True}, {"scale": 0.01},
        {"scale": 5}, {"element": "0:3", "full_page": True}, {"element": "x"}, {"marks": ["x"]},
    ],
    ids=str,
)  # fmt: skip
async def test_what_no_picture_can_be_is_refused(autojump_clock: MockClock, options: Any) -> None:
    """Before anything is sent."""
    async with stand_in() as (session, addon):
        tab, _ = await page_in(session, addon)
        await tab.snapshot()
        with pytest.raises(BadOptionsError, match="screenshot: "):
            await tab.screenshot(**options)
        assert "tab.capture" not in addon.asked
