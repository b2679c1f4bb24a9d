"""The tool `browser_task` on a form in real Firefox: what the goal says is what the server got, and nothing else.

The server writes down each request, so what was sent is seen at the far end.
"""

import datetime
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trio

from foxloop_trio.browser import Tab
from foxloop_trio.browser.tasks import browser_task_tool
from foxloop_trio.events import LoopEvent, ToolResult
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing._miniwob import Site, serve_pages

pytestmark = pytest.mark.firefox

PAGES = Path(__file__).parent / "pages"
TODAY = datetime.date(2026, 9, 1)
RUN_SECONDS = 60.0

GOAL = (
    "name: Ada Lovelace, e-mail ada@example.org, to: Paris France, departing 9 October, returning 12 November, guests: 2, "
    "class: Business, meal: vegetarian, accept the terms of travel, untick the newsletter, remarks: window seat please"
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_pages(PAGES) as served:
        yield served


async def do(tab: Tab, goal: str) -> tuple[ToolResult, list[Any]]:
    """One run with one call of the tool: its result, and what a human was asked."""
    tools = [browser_task_tool(tab, today=lambda: TODAY)]
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="submit", domains=["127.0.0.1"])
    asked: list[Any] = []

    async def approve(request: Any) -> str:
        asked.append(request)
        return await host.approve(request.request_id)

    calls = [{"name": "browser_task", "args": {"goal": goal}}], [{"name": "finish", "args": {"summary": "Booked."}}]
    planner = scripted_planner([{"calls": call} for call in calls] + [{"calls": calls[1]}] * 5)
    events: list[LoopEvent] = []
    with trio.fail_after(RUN_SECONDS):
        await Loop(planner=planner, gate=gate, tools=tools, on_approval=approve).complete("Book", on_event=events.append)
    (result,) = [event for event in events if isinstance(event, ToolResult) and event.name == "browser_task"]
    return result, asked


def sent(site: Site) -> dict[str, list[str]] | None:
    """The fields of the one form that arrived."""
    arrived = [line.removeprefix("GET ") for line in site.requests if line.startswith("GET /thanks.html")]
    assert len(arrived) <= 1
    return parse_qs(urlsplit(arrived[0]).query) if arrived else None


async def test_a_whole_form_arrives_as_the_goal_says_with_one_approval(tab: Tab, site: Site) -> None:
    """Text, e-mail, suggestions, two kinds of dates, number, radio, list, boxes on and off; not by "Save draft"."""
    await tab.goto(f"{site.address}/booking.html")
    result, asked = await do(tab, GOAL)
    assert result.ok, result
    assert sent(site) == {
        "name": ["Ada Lovelace"], "email": ["ada@example.org"], "to": ["Paris, France"], "depart": ["09/10/2026"],
        "return": ["November 12, 2026"], "guests": ["2"], "class": ["b"], "meal": ["v"], "terms": ["yes"],
        "remarks": ["window seat please"],
    }  # fmt: skip
    assert [line["part"] for line in result.data["checks"] if not line["ok"]] == []
    assert result.data["verified"]
    assert len(asked) == 1
    assert 'sends its form with button "Book"' in asked[0].detail


async def test_nothing_arrives_when_the_goal_says_so(tab: Tab, site: Site) -> None:
    """The fields are set, and checked."""
    await tab.goto(f"{site.address}/booking.html")
    result, _ = await do(tab, "name: Ada Lovelace, meal: vegetarian, do not submit")
    assert result.ok
    assert result.data["verified"]
    assert sent(site) is None


async def test_a_button_that_spends_money_is_not_pressed(tab: Tab, site: Site) -> None:
    """Unless the goal has such a verb."""
    for goal, arrives in (("name: Ada", False), ("name: Ada, then buy it", True)):
        await tab.goto(f"{site.address}/signup.html")
        await tab.session.bidi(
            "script.evaluate", expression="document.getElementById('send').textContent = 'Buy now'", awaitPromise=False,
            target={"context": await tab.bidi_context()},
        )  # fmt: skip
        result, _ = await do(tab, goal)
        assert result.ok is arrives
        assert (sent(site) is not None) is arrives
