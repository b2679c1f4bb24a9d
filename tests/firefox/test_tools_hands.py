"""The tools of a hand in real Firefox, each through the pack: judged, approved, done, and seen at the page's own side."""

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


@pytest.fixture
async def bench(firefox: BrowserSession, tab: Tab) -> ToolBench:
    return await ToolBench.over(firefox, tab, domains=("127.0.0.1",))


async def test_keys_pointer_and_points(bench: ToolBench, page: PageProbe) -> None:
    """press, hover and click_at, one after the other on one page."""
    await page.open(
        "<input id=i aria-label=Name onkeydown=\"if (event.key === 'Enter') out.textContent = 'entered ' + this.value\">"
        "<button onmouseenter='menu.hidden = false'>Menu</button><p id=menu hidden>Deep</p><p id=out></p>"
        "<canvas width=200 height=100 aria-label=Board role=button "
        "onclick=\"window.at = [event.offsetX, event.offsetY]; getContext('2d').fillRect(0, 0, 9, 9)\"></canvas>"
    )
    output = await bench.call("press", on="Name", keys="A d a Enter")
    assert output.ok, output.summary
    assert "entered Ada" in (output.untrusted or "")
    output = await bench.call("hover", on="Menu")
    assert output.ok, output.summary
    assert "Deep" in (output.untrusted or "")
    output = await bench.call("click_at", on="Board", x=25, y=80)
    assert output.ok, output.summary
    assert await page.js("at") == [50, 80]


async def test_dragging_marking_and_the_pages_clipboard(bench: ToolBench, page: PageProbe) -> None:
    """drag onto another pinned control, select_text, clipboard from one field into another."""
    await page.open(
        "<div id=a draggable=true role=button aria-label=Card style='width:90px;height:40px'>Card</div>"
        "<div role=button aria-label=Bin style='width:90px;height:40px' ondragover='event.preventDefault()' "
        "ondrop=\"this.append(' took it')\">Bin</div>"
        "<input aria-label=From value='one two two'><input id=to aria-label=To>"
    )
    await bench.look()
    output = await bench.call("drag", on="Card", onto=await bench.found("Bin"))
    assert output.ok, output.summary
    assert "took it" in (output.untrusted or "")
    output = await bench.call("select_text", on="From", text="two", nth=2)
    assert (output.untrusted or "").startswith('Marked: "two"')
    output = await bench.call("clipboard", on="From", op="copy")
    assert (output.untrusted or "").startswith('The text: "two"')
    output = await bench.call("clipboard", on="To", op="paste")
    assert output.ok, output.summary
    assert await page.js("document.getElementById('to').value") == "two"
