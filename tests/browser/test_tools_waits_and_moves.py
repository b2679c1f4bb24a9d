"""scroll, wait_for, history and answer_dialog against the real gate and a browser in memory."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio

from foxloop_trio.errors import Refuse
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

PAGE = {
    "title": "Orders",
    "text": "Loading…",
    "controls": [
        {"role": "button", "label": "Load", "on_click": {"after": 3.0, "text": "Ready.\nOrder 7"}},
        {"role": "button", "label": "Hide", "on_click": {"after": 2.0, "remove": ["Load"]}},
        {"role": "button", "label": "Delete", "on_click": lambda document: ask(document)},
        {"role": "link", "label": "Next", "href": "http://shop.test/next"},
        {"role": "link", "label": "Out", "href": "http://other.test/"},
    ],
}


def ask(document: Any) -> None:
    document.update(
        text=f"confirm said {document.show_dialog('confirm', 'Sure?')}, prompt {document.show_dialog('prompt', 'Who?')}"
    )


@pytest.fixture
async def bench(virtual_time: Any) -> AsyncIterator[ToolBench]:
    pages = {
        "http://shop.test/": PAGE,
        "http://shop.test/next": {"title": "Next", "text": "The next page."},
        "http://other.test/": {"title": "Other", "text": "Elsewhere."},
    }
    browser = FakeBrowser(pages)
    async with browser as session:
        yield await ToolBench.open(browser, session, "http://shop.test/")


# scroll


@pytest.mark.parametrize(
    ("args", "value"),
    [
        ({}, None),
        ({"down": 300, "right": -5}, {"down": 300, "right": -5}),
        ({"edge": "bottom"}, {"edge": "bottom"}),
        ({"until": "next"}, {"until": "next"}),
    ],
)
async def test_the_page_is_scrolled_without_a_control(
    virtual_time: Any, bench: ToolBench, args: dict[str, Any], value: Any
) -> None:
    """Its pin is the newest look at this document; the words of what came are quoted."""
    await bench.look()
    output = await bench.call("scroll", **args)
    assert (output.ok, bench.acted) == (True, [("scroll", "", value)]), output.summary
    assert bench.judged.args["target"]["control"] == "0:0"
    assert output.summary.startswith("scroll on 0:0: done.")


async def test_what_a_control_stands_in_is_scrolled(virtual_time: Any, bench: ToolBench) -> None:
    """Pinned like any control."""
    output = await bench.call("scroll", on="Next", edge="here")
    assert (output.ok, bench.acted) == (True, [("scroll", "Next", {"edge": "here"})])


@pytest.mark.parametrize(
    ("args", "word"), [({"down": 1, "edge": "top"}, "one way"), ({"edge": "here"}, "control_id"), ({"until": " "}, "one word")]
)
async def test_scrolling_that_says_two_ways_is_refused(
    virtual_time: Any, bench: ToolBench, args: dict[str, Any], word: str
) -> None:
    """With the way out, before the gate."""
    await bench.look()
    with pytest.raises(Refuse, match=word):
        await bench.call("scroll", **args)


async def test_the_page_must_have_been_looked_at_and_still_be_the_same(virtual_time: Any, bench: ToolBench) -> None:
    """Without a look there is no pin; a look in between makes it stale."""
    with pytest.raises(Refuse, match="snapshot"):
        await bench.call("scroll", down=1)
    await bench.look()
    prepared = await bench.prepared("scroll", down=1)
    output = await bench.run(await bench.allowed(prepared, bench.look))
    assert (output.ok, bench.acted) == (False, [])
    assert output.summary.startswith("stale")


# wait_for


async def test_a_text_is_waited_for_until_it_comes(virtual_time: Any, bench: ToolBench) -> None:
    """By Trio's clock; then the page is read, and its controls can be used."""
    await bench.call("click", on="Load")
    began = trio.current_time()
    output = await bench.call("wait_for", text="order  7", seconds=10)
    assert output.ok, output.summary
    assert 2 < trio.current_time() - began < 3.3
    assert "Order 7" in (output.untrusted or "")
    assert (await bench.run(await bench.allowed(await bench.prepared_id("click", "Next")))).ok


async def test_a_control_is_waited_for_until_it_is_gone(virtual_time: Any, bench: ToolBench) -> None:
    """gone turns it round."""
    await bench.call("click", on="Hide")
    output = await bench.call("wait_for", control="load", gone=True, seconds=10)
    assert output.ok
    assert "Load" not in (output.untrusted or "").replace("Loading", "")


async def test_what_does_not_come_in_time_is_a_failed_result_with_the_page(virtual_time: Any, bench: ToolBench) -> None:
    """Exactly at the deadline, and the planner sees what there is instead."""
    began = trio.current_time()
    output = await bench.call("wait_for", text="never", seconds=4.5)
    assert (output.ok, trio.current_time() - began) == (False, 4.5)
    assert output.summary.startswith("It did not come within 4.5 seconds.")
    assert "Loading" in (output.untrusted or "")
    assert "never" not in output.summary


async def test_the_page_is_waited_for_until_it_rests(virtual_time: Any, bench: ToolBench) -> None:
    """Quiet for as long as settling asks."""
    output = await bench.call("wait_for", seconds=5)
    assert output.ok, output.summary


async def test_a_page_that_leaves_for_another_host_ends_the_wait(virtual_time: Any, bench: ToolBench) -> None:
    """Nothing is read there."""
    prepared = await bench.prepared("wait_for", text="Elsewhere", seconds=20)
    permit = await bench.allowed(prepared)

    async with trio.open_nursery() as nursery:

        async def leave() -> None:
            await trio.sleep(1)
            bench.browser.navigate(bench.tab, "http://other.test/")

        nursery.start_soon(leave)
        output = await bench.run(permit)
    assert not output.ok
    assert "other.test" in output.summary
    assert "Elsewhere" not in (output.untrusted or "")


async def test_a_cancel_ends_the_wait_at_once(virtual_time: Any, bench: ToolBench) -> None:
    """And the tab is free for others while somebody waits."""
    permit = await bench.allowed(await bench.prepared("wait_for", text="never", seconds=30))
    began = trio.current_time()
    with trio.move_on_after(2.05):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bench.run, permit)
            await trio.sleep(1.05)
            with trio.fail_after(0.5):
                async with bench.tab.lock:
                    pass
    assert trio.current_time() - began == pytest.approx(2.05)


@pytest.mark.parametrize("args", [{"text": "a", "control": "b"}, {"gone": True}, {"text": " "}])
async def test_a_wait_for_nothing_or_for_two_things_is_refused(virtual_time: Any, bench: ToolBench, args: dict[str, Any]) -> None:
    """With the way out."""
    with pytest.raises(Refuse):
        await bench.call("wait_for", seconds=1, **args)
    assert bench.tools["wait_for"].args_problem({"text": "a", "seconds": 31}) is not None


# history


async def test_back_and_forward_and_the_same_again(virtual_time: Any, bench: ToolBench) -> None:
    """Each reads what comes, and ends the batch."""
    await bench.call("open_url", url="http://shop.test/next")
    for go, words in (("back", "Loading"), ("forward", "The next page."), ("reload", "The next page.")):
        output = await bench.call("history", go=go)
        assert (output.ok, output.stop_batch, bench.effect) == (True, True, "done")
        assert words in (output.untrusted or "")


async def test_back_where_nothing_is_is_a_failed_result(virtual_time: Any, bench: ToolBench) -> None:
    """And nothing was done."""
    output = await bench.call("history", go="back")
    assert (output.ok, bench.effect) == (False, "not-started")
    assert "navigation-failed" in output.summary


async def test_what_history_leads_to_on_another_host_is_not_read(virtual_time: Any, bench: ToolBench) -> None:
    """The planner must ask for a snapshot, which is judged on its own."""
    await bench.call("open_url", url="http://other.test/")
    await bench.call("open_url", url="http://shop.test/next")
    output = await bench.call("history", go="back")
    assert output.ok
    assert "other.test" in output.summary
    assert output.untrusted is None


# answer_dialog


async def test_one_question_gets_the_judged_answer_and_the_next_one_a_no(virtual_time: Any, bench: ToolBench) -> None:
    """The approver reads the answer before the control; a click without it declines."""
    await bench.call("click", on="Delete")
    assert bench.browser.document().text == "confirm said False, prompt None"
    output = await bench.call("answer_dialog", on="Delete", accept=True)
    assert output.ok, output.summary
    assert bench.browser.document().text == "confirm said True, prompt None"
    assert bench.asked[-1].startswith(
        'answer with yes the first question that the page asks when you do this: click button "Delete"'
    )
    assert "2 script dialogs opened and 1 of them got the approved answer." in output.summary
    assert bench.judged.args["dialog"] == {"accept": True}


async def test_a_page_that_asks_nothing_is_said_to_have_asked_nothing(virtual_time: Any, bench: ToolBench) -> None:
    """The control is used all the same."""
    with pytest.raises(Refuse, match="reply"):
        await bench.call("answer_dialog", on="Next", accept=False, reply="x")
    output = await bench.call("answer_dialog", on="Next", accept=False)
    assert output.ok
    assert "The page asked nothing" in (output.untrusted or "")
