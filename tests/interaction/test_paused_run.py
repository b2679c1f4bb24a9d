"""A paused run on a browser: nothing begins, and losing the browser wakes it."""

from __future__ import annotations

from typing import Any

import trio

from foxloop_trio import Loop, create_gate, scripted_planner
from foxloop_trio.browser import browser_tools
from foxloop_trio.testing import FakeBrowser

PAGE = "http://shop.test/"


async def paused_loop(browser: FakeBrowser) -> tuple[Loop, list[Any]]:
    browser.pages[PAGE] = {"title": "Shop", "controls": [{"role": "textbox", "label": "Name"}]}
    tools = browser_tools(await browser.session.open_tab(PAGE))
    gate, host = create_gate(tools=tools)
    await host.add_grant(scope="read", domains=["shop.test"], approval="never")
    planner = scripted_planner([{"calls": [{"name": "snapshot", "args": {}}]}, {"text": "Done."}])
    return Loop(planner=planner, gate=gate, tools=tools, max_steps=1), planner.seen


async def test_losing_the_browser_wakes_a_paused_run_which_ends_browser_lost_without_a_planner_call(
    fake_browser: FakeBrowser, autojump_clock: Any
) -> None:
    """Nobody must remember to unpause a run whose browser is gone."""
    loop, seen = await paused_loop(fake_browser)
    async with trio.open_nursery() as nursery, loop.run("Look") as run:
        run.pause()

        async def lose() -> None:
            await trio.sleep(60)
            await fake_browser.session.channel.aclose()

        nursery.start_soon(lose)
        began = trio.current_time()
        events = [event async for event in run]
    assert (events[-1].type, events[-1].reason, seen) == ("blocked", "browser-lost", [])
    assert trio.current_time() - began == 60


async def test_an_unpaused_run_goes_on_where_it_was(fake_browser: FakeBrowser, autojump_clock: Any) -> None:
    """Paused time is a human's time."""
    loop, seen = await paused_loop(fake_browser)
    async with trio.open_nursery() as nursery, loop.run("Look") as run:
        run.pause()

        async def go_on() -> None:
            await trio.sleep(60)
            assert seen == []
            run.unpause()

        nursery.start_soon(go_on)
        events = [event async for event in run]
    assert [event.type for event in events] == ["plan", "tool-call", "decision", "tool-result", "blocked"]
    assert run.statistics().human_seconds == 60
