"""The tools for tabs in real Firefox: a link that opens one, and the way back."""

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.errors import Refuse
from foxloop_trio.testing._act_probe import PageProbe, ProbeSite
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


async def test_tabs_that_acts_open_can_be_used_and_closed(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> None:
    """A link with a target, a tab of our own making; the user's are not there."""
    bench = await ToolBench.over(firefox, tab, domains=("127.0.0.1",))
    page = PageProbe(firefox, tab, site)
    users = await firefox.open_tab(site.put("<p>Private</p>"))
    try:
        second = site.put("<p>Second page</p><button onclick=\"this.textContent = 'Pressed'\">Press</button>")
        await page.open(f"<a href='{second}' target=_blank>Open</a>")
        await bench.call("click", on="Open")
        output = await bench.call("list_tabs")
        _, opened = [entry["tab"] for entry in (output.data or {})["tabs"]]
        assert str(users.id) not in output.summary.replace("127.0.0.1", "")
        output = await bench.call("use_tab", tab_id=opened)
        assert "Second page" in (output.untrusted or "")
        other = await firefox.tab(opened)
        (button,) = [control for control in (await other.snapshot()).controls if control.label == "Press"]
        output = await bench.call("click", control_id=button.id)
        assert output.ok, output.summary
        assert "Pressed" in (output.untrusted or "")
        output = await bench.call("open_tab", url=second)
        assert output.ok, output.summary
        (third,) = [entry["tab"] for entry in ((await bench.call("list_tabs")).data or {})["tabs"] if entry["in_use"]]
        for number in (opened, third):
            assert (await bench.call("close_tab", tab_id=number)).ok
        with pytest.raises(Refuse):
            await bench.call("close_tab", tab_id=users.id)
        assert (await bench.call("snapshot")).ok
    finally:
        await users.close()
