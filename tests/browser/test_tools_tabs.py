"""list_tabs, open_tab, use_tab and close_tab against the real gate and a browser in memory."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import trio

from foxloop_trio.browser import Tab
from foxloop_trio.errors import Refuse
from foxloop_trio.testing import FakeBrowser
from foxloop_trio.testing._tool_bench import ToolBench

PAGES: dict[str, Any] = {
    "http://shop.test/": {
        "title": "Shop",
        "controls": [
            {"role": "button", "label": "Popup", "on_click": {"open": "/help"}},
            {"role": "button", "label": "Partner", "on_click": {"open": "http://other.test/"}},
            {"role": "button", "label": "Blank", "on_click": {"open": "about:blank"}},
            {"role": "textbox", "label": "Name"},
        ],
    },
    "http://shop.test/help": {"title": "Help", "text": "How to.", "controls": [{"role": "button", "label": "Name"}]},
    "http://shop.test/form": {
        "title": "Form",
        "forms": {"f": {"action": None}},
        "controls": [
            {"role": "textbox", "label": "Name", "form": "f"},
            {"role": "button", "label": "Send", "submit": True, "form": "f", "on_click": {"open": "/help"}},
        ],
    },
    "http://other.test/": {"title": "OTHER TITLE", "text": "Elsewhere."},
    "http://secret.test/": {"title": "My mail"},
}


@pytest.fixture
async def mail(bench: ToolBench) -> Tab:
    """A tab of the user's own."""
    return await bench.session.open_tab("http://secret.test/")


@pytest.fixture
async def bench(virtual_time: Any) -> AsyncIterator[ToolBench]:
    browser = FakeBrowser(PAGES)
    async with browser as session:
        yield await ToolBench.open(browser, session, "http://shop.test/")


async def test_only_the_packs_own_tab_and_what_it_opened_is_listed(virtual_time: Any, bench: ToolBench, mail: Tab) -> None:
    """Our words have numbers and hosts; titles and addresses are quoted, and only those on the judged host."""
    await bench.call("click", on="Popup")
    await bench.call("click", on="Partner")
    output = await bench.call("list_tabs")
    home = bench.tab.id
    assert output.summary == (
        f"3 tabs: tab {home} on shop.test (in use); tab {mail.id + 1} on shop.test; tab {mail.id + 2} on other.test."
    )
    assert [entry["tab"] for entry in (output.data or {})["tabs"]] == [home, mail.id + 1, mail.id + 2]
    assert '"Help"' in (output.untrusted or "")
    for hidden in ("OTHER TITLE", "secret.test", "My mail"):
        assert hidden not in str(output)


async def test_the_users_other_tabs_are_neither_used_nor_closed(virtual_time: Any, bench: ToolBench, mail: Tab) -> None:
    """Whatever number is named, and in the words for a number that does not exist."""
    words = set()
    for tool in ("use_tab", "close_tab"):
        for number in (mail.id, 99, 1):
            with pytest.raises(Refuse) as caught:
                await bench.call(tool, tab_id=number)
            words.add(str(caught.value))
    assert len(words) == 1
    assert not mail.closed
    with pytest.raises(Refuse, match="not opened by these tools"):
        await bench.call("close_tab", tab_id=bench.tab.id)


async def test_another_tab_is_turned_to_and_all_tools_use_it(virtual_time: Any, bench: ToolBench) -> None:
    """It is read; ids of the tab before are good for nothing there."""
    await bench.call("click", on="Popup")
    number = next(reversed(bench.browser._tabs.open))
    stale = await bench.prepared("act", on="Name", op="type", value="Ada")
    output = await bench.call("use_tab", tab_id=number)
    assert (output.ok, output.stop_batch) == (True, True)
    assert "How to." in (output.untrusted or "")
    output = await bench.run(await bench.allowed(stale))
    assert not output.ok
    assert output.summary.startswith("stale")
    assert "How to." in ((await bench.call("snapshot")).untrusted or "")
    assert (await bench.call("wait_for", text="how to", seconds=1)).ok
    with pytest.raises(Refuse, match="snapshot"):
        await bench.prepared("click", control_id="0:9")
    assert bench.effect == "done"


async def test_each_tool_judges_the_host_of_the_tab_in_use(virtual_time: Any, bench: ToolBench) -> None:
    """use_tab is judged for the host of the tab that it turns to; and what comes later for that one too."""
    await bench.call("click", on="Partner")
    number = next(reversed(bench.browser._tabs.open))
    assert (await bench.prepared("use_tab", tab_id=number)).domain == "other.test"
    await bench.call("use_tab", tab_id=number)
    assert (await bench.prepared("snapshot")).domain == "other.test"
    assert (await bench.prepared("list_tabs")).domain == "other.test"


async def test_a_tab_that_went_elsewhere_since_it_was_judged_is_not_turned_to(virtual_time: Any, bench: ToolBench) -> None:
    """Nor closed: the results name both hosts."""
    await bench.call("click", on="Popup")
    number = next(reversed(bench.browser._tabs.open))
    for tool in ("use_tab", "close_tab"):
        bench.browser.navigate(number, "http://shop.test/help")
        await bench.session.tab(number)
        prepared = await bench.prepared(tool, tab_id=number)

        async def leave() -> None:
            bench.browser.navigate(number, "http://other.test/")

        output = await bench.run(await bench.allowed(prepared, leave))
        assert (output.ok, bench.effect, output.untrusted) == (False, "not-started", None)
        assert "other.test" in output.summary
        assert (await bench.prepared("snapshot")).domain == "shop.test"


async def test_a_new_tab_is_opened_and_used(virtual_time: Any, bench: ToolBench) -> None:
    """Judged by the host of the address; where it leads to another one, nothing is read."""
    output = await bench.call("open_tab", url="http://shop.test/help")
    assert "How to." in (output.untrusted or "")
    assert (await bench.call("snapshot")).untrusted == output.untrusted
    bench.browser.pages["http://shop.test/away"] = {"redirect": "http://other.test/"}
    output = await bench.call("open_tab", url="http://shop.test/away")
    assert output.ok
    assert output.untrusted is None
    assert "other.test" in output.summary
    with pytest.raises(Refuse, match="http"):
        await bench.call("open_tab", url="file:///etc/passwd")


async def test_a_tab_that_was_opened_is_closed_and_the_first_one_used_again(virtual_time: Any, bench: ToolBench) -> None:
    """Also one that never showed a page."""
    await bench.call("open_tab", url="http://shop.test/help")
    number = next(reversed(bench.browser._tabs.open))
    output = await bench.call("close_tab", tab_id=number)
    assert output.ok
    assert number not in bench.browser._tabs.open
    assert f"Tab {bench.tab.id}, the first one, is in use now" in output.summary
    await bench.call("click", on="Blank")
    blank = next(reversed(bench.browser._tabs.open))
    with pytest.raises(Refuse, match="no web page"):
        await bench.call("use_tab", tab_id=blank)
    assert (await bench.call("close_tab", tab_id=blank)).summary == f"Tab {blank} was closed."
    with pytest.raises(Refuse, match="list_tabs"):
        await bench.call("close_tab", tab_id=blank)


async def test_a_tab_that_somebody_else_closed_is_refused_with_the_way_out(virtual_time: Any, bench: ToolBench) -> None:
    """And listed no more; the tool still works when the tab in use is gone."""
    await bench.call("open_tab", url="http://shop.test/help")
    number = next(reversed(bench.browser._tabs.open))
    bench.browser.close_tab(number)
    output = await bench.call("list_tabs")
    assert output.summary == f"1 tab: tab {bench.tab.id} on shop.test."
    with pytest.raises(Refuse, match="list_tabs"):
        await bench.call("use_tab", tab_id=number)
    assert (await bench.call("use_tab", tab_id=bench.tab.id)).ok


async def test_who_waits_for_a_tab_that_is_no_longer_in_use_works_on_the_one_that_is(virtual_time: Any, bench: ToolBench) -> None:
    """Each look holds the lock of the tab that it is about."""
    await bench.call("click", on="Popup")
    number = next(reversed(bench.browser._tabs.open))
    permit = await bench.allowed(await bench.prepared("snapshot"))
    using = await bench.allowed(await bench.prepared("use_tab", tab_id=number))
    seen = []
    async with trio.open_nursery() as nursery, bench.tab.lock:

        async def look() -> None:
            seen.append(await bench.run(permit))

        nursery.start_soon(look)
        await trio.testing.wait_all_tasks_blocked()
        await bench.run(using)
    assert "How to." in (seen[0].untrusted or "")


@pytest.mark.parametrize("tool", ["browser_task", "fill_and_send"])
async def test_tabs_that_a_whole_form_opened_are_the_packs_too(virtual_time: Any, bench: ToolBench, tool: str) -> None:
    """Whichever tool did the act that opened them."""
    await bench.call("open_url", url="http://shop.test/form")
    fields = {bench.id_of("Name"): "Ada"}
    args = {"goal": "name: Ada"} if tool == "browser_task" else {"fields": fields, "send_id": bench.id_of("Send")}
    await bench.call(tool, **args)
    assert [act.label for act in bench.browser.acts] == ["Name", "Send"]
    assert (await bench.call("list_tabs")).summary.startswith("2 tabs:")
