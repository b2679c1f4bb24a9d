"""Garbage from a planner: ids that no page has, of every tool; what comes of it, and that a run recovers (buglog B94)."""

from pathlib import Path
from typing import Any

import pytest

from foxloop_trio.actions import Money
from foxloop_trio.browser import browser_tools
from foxloop_trio.errors import Refuse
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

PAGE: dict[str, Any] = {
    "title": "Form",
    "controls": [
        {"role": "textbox", "label": "Name", "form": "f"},
        {"role": "button", "label": "Send", "submit": True, "form": "f"},
        {"role": "button", "label": "File", "tag": "input", "type": "file"},
    ],
    "forms": {"f": {"action": "/sent", "method": "post"}},
}
START = "http://shop.test/"
NAMED: dict[str, dict[str, Any]] = {
    "act": {"op": "type", "value": "x"},
    "answer_dialog": {"accept": True},
    "click": {},
    "click_at": {"x": 1, "y": 1},
    "clipboard": {"op": "copy"},
    "download": {},
    "drag": {"by_x": 5},
    "hover": {},
    "pay": {},
    "press": {"keys": "Enter"},
    "select_text": {},
    "upload": {"files": ["a.txt"]},
}
"""What the tools that name one control are given beside it."""
IDS = [
    *("0:0", "0:-1", "-1:1", "0:999", "1:1", "99999999999999999999:1", "0:99999999999999999999", "e999", "", "0", ":"),
    *("0:1 ", "0:1\n", "\u0660:\u0661", "0:1e0", "0:0x1", "00:1", "+0:1", "\ud800", "0:1\x00", "null", "__proto__", "0:true"),
    *("#name", "0:1:1"),
]


@pytest.mark.parametrize("tool", [*NAMED, "fill", "fill_and_send", "send_id", "onto"])
async def test_an_id_that_no_look_has_shown_never_reaches_the_page(virtual_time: Any, tmp_path: Path, tool: str) -> None:
    """Every tool that names a control refuses it before anything is judged, says what to do, and asks the page nothing."""
    (tmp_path / "a.txt").write_text("a")
    prices = lambda page, control: Money(value=1, currency="EUR")  # noqa: E731
    browser = FakeBrowser({START: PAGE})
    async with browser as session:
        bench = await ToolBench.open(browser, session, START, prices=prices, upload_from=tmp_path, download_to=tmp_path)
        names = {name for name, one in bench.tools.items() if "control_id" in one.parameters["properties"]}
        assert set(NAMED) == names - {"scroll", "screenshot", "snapshot", "wait_for", "read_table"}
        await bench.look()
        before = len(browser.asked)
        for wrong in IDS:
            with pytest.raises(Refuse, match="Call snapshot"):
                if tool in NAMED:
                    await bench.prepared(tool, control_id=wrong, **NAMED[tool])
                elif tool == "onto":
                    await bench.prepared("drag", control_id=bench.id_of("Name"), onto=wrong)
                elif tool == "send_id":
                    await bench.prepared("fill_and_send", fields={bench.id_of("Name"): "x"}, send_id=wrong)
                else:
                    more = {"send_id": bench.id_of("Send")} if tool == "fill_and_send" else {}
                    await bench.prepared(tool, fields={wrong: "x"}, **more)
        assert browser.acts == []
        assert browser.asked[before:] == []


async def test_a_run_recovers_from_a_stale_id_by_one_look_and_from_made_up_ones_by_another(virtual_time: Any) -> None:
    """B94. A stale result says to look, which is one call: what the tools know of the page is dropped, and no pin outlives it.

    Each call does what the one before it says; ids that were made up touch nothing.
    """
    browser = FakeBrowser({START: PAGE})
    async with browser as session:
        tab = await session.open_tab(START)
        document = browser.document(tab)
        name = f"0:{document.number_of(document.find('Name'))}"
        tools = browser_tools(tab)
        gate, host = create_gate(tools=tools)
        for scope in ("read", "fill"):
            await host.add_grant(scope=scope, domains=["shop.test"], approval="never")  # type: ignore[arg-type]
        said: list[str] = []

        def note(event: Any) -> None:
            if event.type == "tool-result":
                said.append(event.summary)
                if len(said) == 1:
                    document.change("Name", label="Full name")  # behind the planner's back

        def act(control: str) -> dict[str, Any]:
            return {"calls": [{"name": "act", "args": {"control_id": control, "op": "type", "value": "Ada"}}]}

        look = {"calls": [{"name": "snapshot", "args": {}}]}
        fill = {"calls": [{"name": "fill", "args": {"fields": {name: "Ada"}}}]}
        end = {"calls": [{"name": "finish", "args": {"summary": "done"}}]}
        planner = scripted_planner([look, act(name), look, act("e999"), act("0:999"), look, fill, end])
        outcome = await Loop(planner=planner, gate=gate, tools=tools).complete("Ada", on_event=note)
        assert outcome.status == "done", said
        assert "stale" in said[1]
        assert all("Call snapshot" in said[at] for at in (1, 3, 4))
        assert [(one.op, one.label, one.value) for one in browser.acts] == [("type", "Full name", "Ada")]
