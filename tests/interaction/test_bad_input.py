"""Bad input from the planner, the page and the connection: each ends in the event that the specs name, and nothing is done."""

from typing import Any

import pytest
import trio

from foxloop_trio.events import Blocked, GateDecision, ToolCall, ToolResult

# The planner


async def test_an_unknown_tool_is_a_failed_result_that_names_the_known_ones(autojump_clock: Any, world: Any) -> None:
    """loop.md 7.1 step 6: `unknown-tool`, before the gate and the page."""
    say = world.say
    outcome = await world.complete([say.call("delete_everything", {}), say.finish()])
    (result,) = [event for event in world.events if isinstance(event, ToolResult)]
    assert (result.ok, result.reason) == (False, "unknown-tool")
    assert all(name in result.summary for name in ("snapshot", "act", "click", "open_url", "finish"))
    assert not any(isinstance(event, GateDecision) for event in world.events)
    assert not any(method.startswith("page.") for method in world.addon.asked)
    assert outcome.status == "done"
    world.assert_on_record()


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("act", {"control_id": "0:1"}),
        ("act", {"control_id": "0:1", "op": "explode"}),
        ("act", {"control_id": 1, "op": "check"}),
        ("act", {"control_id": "0:1", "op": "type", "value": "x" * 2001}),
        ("act", {"control_id": "0:1", "op": "type", "value": "x", "target": {"label": "forged"}}),
        ("click", {"control_id": "0:5", "domain": "bank.test"}),
        ("snapshot", {"scope": "pay"}),
        ("open_url", {"url": "http://shop.test/" + "a" * 2000}),
        ("click", '{"control_id": "0:5"'),
        ("click", '["0:5"]'),
        ("act", '{"control_id": "0:1", "op": "scroll", "value": NaN}'),
    ],
)
async def test_arguments_that_do_not_fit_never_reach_the_gate(autojump_clock: Any, world: Any, name: str, args: Any) -> None:
    """browser_tools.md 1: no key but the tool's own, each of its type; loop.md 7.1 steps 3 and 7."""
    say = world.say
    await world.complete([say.snapshot(), say.call(name, args), say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "invalid-args")
    assert world.short().count("check allow") == 1  # the snapshot's
    assert world.addon.done == []
    assert world.asked == []
    world.assert_on_record()


async def test_arguments_that_fit_do_reach_the_gate(autojump_clock: Any, world: Any) -> None:
    """The accepted twin of the refused ones."""
    say = world.say
    await world.complete([say.snapshot(), say.act("type", 1, "x" * 500), say.finish()])
    assert world.short().count("check allow") == 2
    assert world.addon.done == [("type", "Name", "x" * 500)]


@pytest.mark.parametrize("args", [{"control_id": "0:99", "op": "check"}, {"control_id": "nonsense", "op": "check"}])
async def test_a_control_that_was_not_shown_is_refused_with_the_way_out(autojump_clock: Any, world: Any, args: Any) -> None:
    """browser_tools.md 4 and 9: prepare refuses and asks for a snapshot."""
    say = world.say
    await world.complete([say.snapshot(), say.call("act", args), say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "invalid-args")
    assert "snapshot" in result.summary
    assert world.short().count("check allow") == 1


async def test_acting_before_looking_is_refused_with_the_way_out(autojump_clock: Any, world: Any) -> None:
    """browser_tools.md 4: a tool that names a control needs a remembered snapshot."""
    await world.complete([world.say.click(5), world.say.finish()])
    (result,) = [event for event in world.events if isinstance(event, ToolResult)]
    assert (result.ok, result.reason) == (False, "invalid-args")
    assert "snapshot" in result.summary
    assert world.addon.done == []


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "about:config", "not an address", "http://"]
)
async def test_an_address_that_is_no_web_page_is_refused_before_the_gate(autojump_clock: Any, world: Any, url: str) -> None:
    """browser_tools.md 3: anything but http and https is refused in `domain`, so the gate never sees it."""
    await world.complete([world.say.call("open_url", {"url": url}), world.say.finish()])
    (result,) = [event for event in world.events if isinstance(event, ToolResult)]
    assert (result.ok, result.reason) == (False, "invalid-args")
    assert not any(isinstance(event, GateDecision) for event in world.events)
    assert "tab.goto" not in world.addon.asked


async def test_three_bad_calls_in_a_row_end_the_run(autojump_clock: Any, world: Any) -> None:
    """loop.md 11.3: mixed causes add up to `repeated-failure`."""
    say = world.say
    outcome = await world.complete([say.call("nothing", {}), say.call("act", {}), say.click(5), say.finish()])
    assert (outcome.status, outcome.reason) == ("blocked", "repeated-failure")
    assert world.short()[-1] == "blocked repeated-failure"
    world.assert_on_record()


# The page


async def test_a_tab_that_was_closed_after_the_look_is_a_failed_result(autojump_clock: Any, world: Any) -> None:
    """The page vanishes: nothing is done, the planner learns it, and the run can end by itself."""
    say = world.say

    def close_then_click(_: Any) -> Any:
        world.addon.closed = True
        return say.click(5)

    outcome = await world.complete([say.snapshot(), close_then_click, say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "failed")
    assert "no-tab" in result.summary
    assert world.addon.done == []
    assert outcome.status == "done"
    world.assert_on_record()


async def test_a_page_that_was_left_after_the_look_is_not_acted_on(autojump_clock: Any, world: Any) -> None:
    """page.md 4: another document, same host. The pin names the document, so nothing is done in the new one."""
    say = world.say

    async def leave_then_click(_: Any) -> Any:
        await world.tab.goto("http://shop.test/elsewhere")
        return say.click(5)

    await world.complete([say.snapshot(), leave_then_click, say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "failed")
    assert "navigated" in result.summary
    assert world.addon.done == []


async def test_a_page_that_moved_to_another_host_after_the_look_is_refused_without_a_question(
    autojump_clock: Any, world: Any
) -> None:
    """browser_tools.md 4: the remembered snapshot is of another page than the tab's, so prepare refuses; nobody is asked."""
    say = world.say

    async def leave_then_click(_: Any) -> Any:
        await world.tab.goto("http://other.test/signup")
        return say.click(5)

    await world.complete([say.snapshot(), leave_then_click, say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "invalid-args")
    assert "snapshot" in result.summary
    assert world.asked == []
    assert world.addon.done == []


async def test_looking_at_a_host_that_is_not_granted_is_denied(autojump_clock: Any, world: Any) -> None:
    """browser_tools.md 3: the domain is that of the tab's address at the time of the check."""
    await world.tab.goto("http://other.test/signup")
    loop = await world.loop([world.say.snapshot(), world.say.finish()])  # granted on other.test
    await world.tab.goto("http://third.test/signup")
    outcome = await loop.complete("Sign Ada up")
    assert (outcome.status, outcome.reason) == ("blocked", "gate-deny")
    assert "page.read" not in world.addon.asked


async def test_a_document_that_goes_while_the_act_is_on_its_way_is_a_failed_result(autojump_clock: Any, world: Any) -> None:
    """Wire: error `document-gone` before `page.started`, so it is certain that nothing was done."""

    async def gone(act: Any) -> Any:
        act.fail("document-gone")

    world.addon.on_act = gone
    say = world.say
    await world.complete([say.snapshot(), say.act("check", 4), say.finish()])
    result = [event for event in world.events if isinstance(event, ToolResult)][1]
    assert (result.ok, result.reason) == (False, "failed")
    assert "Nothing was done" in result.summary
    assert world.addon.done == []
    world.assert_on_record()


# The connection


async def test_a_browser_that_dies_in_the_middle_of_an_act_ends_the_run_at_once(autojump_clock: Any, world: Any) -> None:
    """Ruling 9 and 40: the call fails, no planner is asked any more, `blocked browser-lost`."""
    planned: list[str] = []

    async def die(act: Any) -> Any:
        await act.start()
        await world.addon.hang_up()
        await trio.sleep_forever()

    def one_too_many(_: Any) -> Any:
        planned.append("asked")
        return say.finish()

    world.addon.on_act = die
    say = world.say
    started = trio.current_time()
    outcome = await world.complete([say.snapshot(), say.act("check", 4), one_too_many])
    assert (outcome.status, outcome.reason) == ("blocked", "browser-lost")
    assert trio.current_time() - started < 1.0
    assert planned == []
    world.assert_on_record()


async def test_a_browser_that_dies_between_two_calls_ends_the_run_without_asking_the_planner(
    autojump_clock: Any, world: Any
) -> None:
    """Ruling 40: `Turn(planner)` asks the environment first."""
    loop = await world.loop([world.say.snapshot(), world.say.finish()])
    with trio.fail_after(60):
        async with loop.run("Sign Ada up") as run:
            async for event in run:
                world.events.append(event)
                if isinstance(event, ToolResult):
                    await world.addon.hang_up()
                    await trio.testing.wait_all_tasks_blocked()
    assert isinstance(world.events[-1], Blocked)
    assert world.events[-1].reason == "browser-lost"
    assert [event for event in world.events if isinstance(event, ToolCall)] != []
    assert world.short().count("plan") == 1
    world.assert_on_record()
