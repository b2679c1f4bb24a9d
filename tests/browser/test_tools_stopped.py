"""Every tool of the pack, stopped at every point, cut off at every message, and run beside another one.

What is reported must be what the browser did, and nothing may be left: no tab that nobody counts, no lock, no act that comes later.
"""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

import attrs
import pytest
import trio

from foxloop_trio.actions import Permit
from foxloop_trio.browser import BrowserSession
from foxloop_trio.errors import BrowserError
from foxloop_trio.testing import FakeBrowser, cancel_at_every_checkpoint
from foxloop_trio.testing._tool_bench import ToolBench
from foxloop_trio.testing.fake_browser._faults import Phase
from foxloop_trio.wire import METHODS

HOME = "http://shop.test/"
FORM = {"form": "f"}
PAGES: dict[str, Any] = {
    HOME: {
        "title": "Shop",
        "forms": {"f": {"action": "/sent", "method": "post"}},
        "tables": [{"header": ["Name"], "rows": [["Ada"]]}],
        "controls": [
            {"role": "textbox", "label": "Name", "value": "old", **FORM},
            {"role": "button", "label": "Send", "submit": True, **FORM},
            {"role": "button", "label": "Popup", "on_click": {"open": "/help"}, "on_hover": {"text": "Open."}},
            {"role": "button", "label": "Ask", "on_click": {"dialog": {"kind": "confirm", "message": "Sure?"}, "text": "Asked."}},
            {"role": "listitem", "label": "Card"},
            {"role": "list", "label": "Done", "on_drop": {"text": "Dropped."}},
            {"role": "textbox", "label": "Mail", **FORM},
            {"role": "link", "label": "Report", "file": {"name": "report.txt", "data": b"hello", "type": "text/plain"}},
        ],
    },
    f"{HOME}help": {"title": "Help"},
    f"{HOME}sent": {"title": "Sent"},
}
ACTS: dict[str, dict[str, Any]] = {
    "act": {"on": "Name", "op": "type", "value": "Ada"},
    "click": {"on": "Popup"},
    "click_at": {"on": "Popup", "x": 10, "y": 10},
    "hover": {"on": "Popup"},
    "press": {"on": "Name", "keys": "a"},
    "drag": {"on": "Card", "onto": "0:7"},
    "select_text": {"on": "Name", "text": "old"},
    "clipboard": {"on": "Name", "op": "copy"},
    "answer_dialog": {"on": "Ask", "accept": True},
    "scroll": {"down": 100},
}
OTHERS: dict[str, dict[str, Any]] = {
    "snapshot": {},
    "history": {"go": "reload"},
    "list_tabs": {},
    "use_tab": {},
    "close_tab": {},
    "download": {"on": "Report"},
    "open_tab": {"url": f"{HOME}help"},
    "open_url": {"url": f"{HOME}help"},
    "wait_for": {"text": "Open.", "seconds": 0.3},
    "read_table": {},
}


CALLS = {**ACTS, **OTHERS}
SAME: Final = [pytest.param(name, marks=pytest.mark.long) for name in ACTS if name not in ("act", "click")]
"""Hands that go the very same way."""
MOVES: Final = ("history", "open_tab", "open_url", "close_tab", "use_tab")
"""What a server was asked for, when these were stopped on the way, nobody knows."""


@attrs.define
class Bench(ToolBench):
    """`first`: the tabs that were there before. `folder`: for downloads."""

    first: frozenset[int] = frozenset()
    folder: Path = Path()


@pytest.fixture
async def bench(virtual_time: Any, tmp_path: Path) -> AsyncIterator[Bench]:
    browser = FakeBrowser(PAGES)
    async with browser as session:
        yield await _open(browser, session, tmp_path)


async def _open(browser: FakeBrowser, session: BrowserSession, folder: Path) -> Bench:
    bench = await Bench.open(browser, session, HOME, download_to=folder)
    assert isinstance(bench, Bench)
    bench.folder, bench.first = folder, frozenset(browser._tabs.open)
    return bench


async def _begun(bench: Bench, name: str) -> Permit:
    """On a page that is as new, in the only tab: what an earlier run opened is the pack's own, so that it can close it."""
    for number in [number for number in bench.browser._tabs.open if number not in bench.first]:
        assert (await bench.call("close_tab", tab_id=number)).ok
    args = CALLS[name]
    if name in ("use_tab", "close_tab"):
        await bench.tab.goto(HOME)
        await bench.call("click", on="Popup")
        args = {"tab_id": next(reversed(bench.browser._tabs.open))}
    await bench.tab.goto(HOME)
    await bench.look()
    for path in bench.folder.iterdir():
        path.unlink()
    permit = await bench.allowed(await bench.prepared(name, **args))
    bench.browser.acts.clear()
    return permit


def _saved(bench: Bench) -> list[str]:
    return sorted(path.name for path in bench.folder.iterdir())


def _effect_of_acts(bench: ToolBench) -> str:
    acts = bench.browser.acts
    return "not-started" if not acts else "done" if all(act.ok for act in acts) else "partial"


@pytest.mark.parametrize("name", ["act", "click", *(name for name in OTHERS if name != "download"), *SAME])
async def test_wherever_a_tool_is_stopped_its_effect_is_true_and_nothing_comes_after(
    virtual_time: Any, bench: Bench, name: str
) -> None:
    """At every checkpoint of its run. Each tab that was opened is the pack's own, and the lock of none is held."""

    async def whole() -> Any:
        with trio.CancelScope(shield=True):  # what is swept is the run
            permit = await _begun(bench, name)
        try:
            return await bench.run(permit)
        finally:
            acts = len(bench.browser.acts)
            with trio.CancelScope(shield=True):
                await trio.sleep(30)
            assert len(bench.browser.acts) == acts, "something was done after the call had ended"

    def check(visit: Any) -> None:
        if visit.number > 1:  # at 1 nothing began
            assert bench.effect != "unknown" or name in MOVES
            assert bench.effect == _effect_of_acts(bench) or name not in ACTS
        assert not any(tab.lock.locked() for tab in bench.session._tabs.values())
        assert bench.session.statistics().channel.unanswered == 0

    report = await cancel_at_every_checkpoint(whole, check=check)
    assert report.cancelled > 3
    await _begun(bench, name)


async def _cut_at(folder: Path, name: str, phase: Phase, method: str | None = None, call: int = 1) -> list[str]:
    """Run it once, with the line cut in that phase of that call of `method`; what it asked for, in order."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        bench = await _open(browser, session, folder)
        permit = await _begun(bench, name)
        before = len(browser.asked)
        if method is not None:
            browser.cut(method, phase=phase, call=call)
        output = await bench.run(permit)
        await trio.sleep(30)
        told, true = bench.effect, _effect_of_acts(bench)
        asked = [one for one in browser.asked[before:] if METHODS[one].kind == "request"]
        assert not session.lost or not output.ok or told == "done"
        assert asked.count("page.act") <= 1
        assert told in (true, "unknown") or name not in ACTS
        assert ("may have been done" in output.summary) == (told == "unknown")
        assert _saved(bench) == (["report.txt"] if name == "download" and told == "done" else [])
        return asked


@pytest.mark.parametrize("phase", ["before", "after"])
@pytest.mark.parametrize("name", ["act", "click", *OTHERS])
async def test_wherever_the_line_is_cut_a_tool_ends_with_a_plain_result_and_its_effect_is_true(
    virtual_time: Any, tmp_path: Path, name: str, phase: Phase
) -> None:
    """At each message of its run: no exception, nothing asked for twice; what is not known is told as not known."""
    asked = await _cut_at(tmp_path, name, phase)
    for place, method in enumerate(asked):
        await _cut_at(tmp_path, name, phase, method, call=asked[: place + 1].count(method))
    if name in ACTS:
        await _cut_at(tmp_path, name, "started", "page.act")


@pytest.mark.parametrize("name", ["act", "click", "download"])
async def test_an_act_that_was_refused_as_never_begun_is_told_so(virtual_time: Any, bench: Bench, name: str) -> None:
    """The add-on says so itself: the tab is gone, or its background page was restarted since."""
    for code in ("no-tab", "other-incarnation"):
        bench.browser.fail("page.act", code)
        permit = await _begun(bench, name)
        output = await bench.run(permit)
        assert (output.ok, bench.effect, bench.acted) == (False, "not-started", [])
        assert "may have been done" not in output.summary


@pytest.mark.parametrize("phase", ["before", "started", "after"])
async def test_a_download_that_is_stopped_at_its_click_is_never_told_as_done(virtual_time: Any, bench: Bench, phase: Phase) -> None:
    """The click may be done; the file is not here."""
    permit = await _begun(bench, "download")
    bench.browser.delay("page.act", 100, phase=phase)
    with trio.move_on_after(2) as scope:
        await bench.run(permit)
    assert scope.cancelled_caught
    effect = bench.contexts[-1]._cell.effect
    assert effect is not None
    assert effect.state == ("not-started" if phase == "before" else "partial")
    assert effect.done == {"before": None, "started": PART, "after": CLICKED}[phase]
    assert _saved(bench) == []


CLICKED = {"op": "download", "control": "0:9", "saved": False}
PART = {"op": "download", "control": "0:9"}


async def test_a_tab_that_a_stopped_act_opened_is_the_packs(virtual_time: Any, bench: Bench) -> None:
    """The call has no result, and the tab is there all the same: it can be listed, used and closed."""
    permit = await _begun(bench, "click")
    bench.browser.delay("page.act", 100, phase="after")
    with trio.move_on_after(2) as scope:
        await bench.run(permit)
    assert (scope.cancelled_caught, bench.effect) == (True, "done")
    (number,) = set(bench.browser._tabs.open) - bench.first
    assert f"tab {number} on shop.test" in (await bench.call("list_tabs")).summary
    assert (await bench.call("close_tab", tab_id=number)).ok


@pytest.mark.parametrize("seconds", [0.0, 1.0, 14.9, 20.0])
async def test_a_tab_whose_opening_is_stopped_is_closed_again(virtual_time: Any, bench: Bench, seconds: float) -> None:
    """Also when it was there already and only the answer was on its way; and when its answer comes too late."""
    bench.browser.delay("tab.open", 100, phase="after")
    with trio.move_on_after(seconds) as scope:
        with pytest.raises(BrowserError, match="no answer") if seconds > 15 else contextlib.nullcontext():
            await bench.session.open_tab(f"{HOME}help")
    assert scope.cancelled_caught == (seconds < 15)
    assert set(bench.browser._tabs.open) == bench.first
    assert {tab.id for tab in await bench.session.tabs()} == bench.first


@pytest.mark.parametrize("turn", ["use_tab", "open_tab"])
@pytest.mark.parametrize("name", ["click", "fill", "wait_for"])
async def test_a_call_ends_in_the_tab_that_it_began_in_while_another_one_turns_elsewhere(
    virtual_time: Any, bench: Bench, name: str, turn: str
) -> None:
    """The other one waits: what is acted on, waited for and read is the tab that was judged."""
    turning = await _begun(bench, "use_tab")
    if turn == "open_tab":
        turning = await bench.allowed(await bench.prepared("open_tab", url=f"{HOME}help"))
    await bench.look()
    args = {"fields": {bench.id_of("Name"): "Ada", bench.id_of("Mail"): "a@x.org"}} if name == "fill" else CALLS[name]
    permit = await bench.allowed(await bench.prepared(name, **args))
    bench.browser.delay("page.read" if name == "wait_for" else "page.act", 3)
    outputs = {}

    async def run(what: str, allowed: Permit) -> None:
        outputs[what] = await bench.run(allowed)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, name, permit)
        await trio.sleep(1)
        nursery.start_soon(run, turn, turning)
    assert outputs[turn].ok
    assert "in use now" in outputs[turn].summary
    assert outputs[name].ok == (name != "wait_for")
    if name != "wait_for":  # which looks again and again, and follows to the other tab in between
        assert outputs[name].data["navigated"] is False
        assert {act.tab for act in bench.browser.acts} == {bench.tab.id}
