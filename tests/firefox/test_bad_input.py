"""Pages that vanish, pages that pry, and a Firefox that is killed: each ends promptly in what the specs name, with nothing left."""

import importlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.actions import ApprovalRequest, CheckResult
from foxloop_trio.browser import BrowserSession, Tab, browser_tools, launch_firefox
from foxloop_trio.channel import open_listener
from foxloop_trio.events import LoopEvent, ToolResult
from foxloop_trio.gate import create_gate
from foxloop_trio.loop import CheckInput, Loop
from foxloop_trio.planners import scripted_planner
from foxloop_trio.testing import Leftovers
from foxloop_trio.testing._miniwob import Site, serve_pages

pytestmark = pytest.mark.firefox

ROOT = Path(__file__).parents[2]
PAGES = Path(__file__).parent / "pages"

The = Callable[..., Any]


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_pages(PAGES) as served:
        yield served


@pytest.fixture
def the(monkeypatch: pytest.MonkeyPatch) -> The:
    """`the(messages, role, label)`: the control of the newest page that was shown to the planner."""
    monkeypatch.syspath_prepend(ROOT)
    found: The = importlib.import_module("examples.miniwob._reading").the
    return found


async def loop_on(tab: Tab, replies: list[Any]) -> Loop:
    """A loop with everything granted on 127.0.0.1; the human always says yes, and every claim passes."""
    tools = browser_tools(tab)
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="read", domains=["127.0.0.1"])
    await host.add_grant(scope="fill", domains=["127.0.0.1"], approval="never")
    await host.add_grant(scope="submit", domains=["127.0.0.1"])

    async def approve(request: ApprovalRequest) -> str:
        return await host.approve(request.request_id)

    def check(_: CheckInput) -> CheckResult:
        return CheckResult(ok=True)

    return Loop(planner=scripted_planner(replies), gate=gate, tools=tools, on_approval=approve, check=check)


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"calls": [{"name": tool, "args": args}]}


def results(events: list[LoopEvent], tool: str) -> list[ToolResult]:
    return [event for event in events if isinstance(event, ToolResult) and event.name == tool]


# A page that vanishes


async def test_a_tab_that_was_closed_after_the_look_is_a_failed_result(firefox: BrowserSession, site: Site, the: The) -> None:
    """The planner learns that the tab is gone, nothing was sent, and the run ends by itself."""
    tab = await firefox.open_tab(f"{site.address}/signup.html")
    events: list[LoopEvent] = []

    async def close_then_press(messages: Any) -> dict[str, Any]:
        await tab.close()
        return call("click", control_id=the(messages, "button", "Send").id)

    loop = await loop_on(tab, [call("snapshot"), close_then_press, call("finish", summary="Gone.")])
    with trio.fail_after(20):
        outcome = await loop.complete("Sign Ada up", on_event=events.append)
    (result,) = results(events, "click")
    assert not result.ok
    assert outcome.status == "done"
    assert site.requests == ["GET /signup.html"]


async def test_a_page_that_was_left_after_the_look_is_not_acted_on(tab: Tab, site: Site, the: The) -> None:
    """page.md 4: the pin names the document, and the new one is another, though it has the same button at the same place."""
    await tab.goto(f"{site.address}/signup.html")
    events: list[LoopEvent] = []

    async def leave_then_press(messages: Any) -> dict[str, Any]:
        await tab.goto(f"{site.address}/signup.html?again")
        return call("click", control_id=the(messages, "button", "Send").id)

    loop = await loop_on(tab, [call("snapshot"), leave_then_press, call("finish", summary="Left.")])
    with trio.fail_after(20):
        outcome = await loop.complete("Sign Ada up", on_event=events.append)
    (result,) = results(events, "click")
    assert not result.ok
    assert outcome.status == "done"
    assert site.requests == ["GET /signup.html", "GET /signup.html?again"]


# A page that pries


async def test_a_web_page_cannot_talk_to_our_socket(firefox: BrowserSession, tab: Tab, site: Site) -> None:
    """design.md, Trust: a page that guesses the port gets nothing, since its Origin is not our add-on's."""
    knock = """(url) => new Promise((told) => {
      const socket = new WebSocket(url);
      socket.onopen = () => told("open");
      socket.onmessage = () => told("message");
      socket.onclose = (event) => told(`closed ${event.code} ${event.reason}`);
    })"""
    await tab.goto(f"{site.address}/thanks.html")
    tree = await firefox.bidi("browsingContext.getTree", maxDepth=0)
    (context,) = [found["context"] for found in tree["contexts"] if found["url"].startswith(site.address)]
    with trio.fail_after(20):
        async with open_listener(token="t" * 32, origin="moz-extension://b00e5b1f-6c6e-4000-8000-f0c5100b0001") as listener:
            answer = await firefox.bidi(
                "script.callFunction",
                functionDeclaration=knock,
                arguments=[{"type": "string", "value": listener.url}],
                target={"context": context},
                awaitPromise=True,
            )
            assert answer["result"]["value"] == "closed 1006 "  # the browser's word for "no connection was made"
            with trio.move_on_after(0.1) as nobody:
                await listener.accept()
    assert nobody.cancelled_caught


# A killed Firefox


async def test_a_killed_firefox_ends_the_run_at_once_and_leaves_nothing(left: Leftovers, the: The) -> None:
    """Rulings 9 and 40: `blocked browser-lost` soon after the kill; no process or profile of it 5 s later."""
    trio_token = trio.lowlevel.current_trio_token()
    killed_at = float("inf")

    def kill() -> None:
        nonlocal killed_at
        (firefox_pid,) = [pid for pid, command in left.processes().items() if " --profile " in command and "python" not in command]
        os.kill(firefox_pid, signal.SIGKILL)
        killed_at = trio.current_time()

    def requested(line: str) -> None:
        if line == "GET /under-way":
            trio_token.run_sync_soon(kill)

    planned: list[str] = []

    def one_too_many(_: Any) -> dict[str, Any]:
        planned.append("asked")
        return call("finish", summary="Worked.")

    with serve_pages(PAGES, on_request=requested) as site, trio.fail_after(90):
        async with launch_firefox() as session:
            tab = await session.open_tab(f"{site.address}/busy.html")
            replies = [
                call("snapshot"),
                lambda messages: call("click", control_id=the(messages, "button", "Work").id),
                one_too_many,
            ]
            outcome = await (await loop_on(tab, replies)).complete("Work")
            assert trio.current_time() - killed_at < 5.0
        await left.wait_gone(5.0)
    assert (outcome.status, outcome.reason) == ("blocked", "browser-lost")
    assert planned == []
