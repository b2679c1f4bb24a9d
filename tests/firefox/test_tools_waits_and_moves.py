"""scroll, wait_for, history and answer_dialog in real Firefox, each through the pack."""

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


@pytest.fixture
async def bench(firefox: BrowserSession, tab: Tab) -> ToolBench:
    return await ToolBench.over(firefox, tab, domains=("127.0.0.1",))


async def test_the_page_is_scrolled_without_a_control(bench: ToolBench, page: PageProbe) -> None:
    """The window; and, where that cannot move, what fills its middle; until a text comes."""
    await page.open("<p>Top</p><div style='height:5000px'></div><p>Bottom</p>")
    await bench.look()
    assert (await bench.call("scroll", down=300)).ok
    assert await page.js("scrollY") == 300
    output = await bench.call("scroll", edge="bottom")
    assert "moved by" in (output.untrusted or "")
    await page.open(
        "<style>body { margin: 0 } main { height: 100vh; overflow: auto }</style><main>"
        "<div style='height:3000px'></div><p>The end</p></main>"
    )
    await bench.look()
    output = await bench.call("scroll", until="the end")
    assert output.ok, output.summary
    assert await page.js("document.querySelector('main').scrollTop") > 1000


async def test_a_page_without_controls_can_be_scrolled_but_not_clicked(page: PageProbe) -> None:
    """Number 0 is the page, for scrolling only."""
    await page.open("<button>b</button>")
    order = {"node": 0, "guard": ""}
    assert await page.refused("b", "click", **order) == ("unsupported", "the page itself can only be scrolled")
    assert (await page.act("b", "scroll", **order))["ok"]


async def test_a_text_and_a_control_are_waited_for(bench: ToolBench, page: PageProbe) -> None:
    """They come and go after a while; what is not seen does not count."""
    await page.open(
        "<p id=p>Loading</p><button>Old</button><p style='display:none'>Ready to go</p>"
        "<script>setTimeout(() => { p.textContent = 'Now ready to go' }, 600);"
        "setTimeout(() => document.querySelector('button').remove(), 1200)</script>"
    )
    output = await bench.call("wait_for", text="ready to go", seconds=10)
    assert output.ok, output.summary
    assert "Now ready to go" in (output.untrusted or "")
    assert (await bench.call("wait_for", control="Old", gone=True, seconds=10)).ok
    assert not (await bench.call("wait_for", text="never", seconds=0.5)).ok
    assert (await bench.call("wait_for", seconds=10)).ok


async def test_back_forward_and_reload(bench: ToolBench, page: PageProbe) -> None:
    """A page kept for the back button, another place of the same document, a new load; and nowhere to go."""
    await page.open("<p>First</p><script>document.body.append('loaded ' + performance.now())</script>")
    await page.open("<p>Second</p>")
    await page.js("void history.pushState(null, '', '?step=2')")
    output = await bench.call("history", go="back")
    assert output.ok, output.summary
    assert "Second" in (output.untrusted or "")
    assert await page.js("location.search") == ""
    output = await bench.call("history", go="back")
    assert "First" in (output.untrusted or "")
    output = await bench.call("history", go="forward")
    assert "Second" in (output.untrusted or "")
    await page.js("void (window.mark = 1)")
    output = await bench.call("history", go="reload")
    assert output.ok, output.summary
    assert await page.js("window.mark ?? null") is None
    assert (await bench.call("history", go="forward")).ok
    output = await bench.call("history", go="forward")
    assert (output.ok, bench.effect) == (False, "not-started")


async def test_one_question_gets_the_judged_answer(bench: ToolBench, page: PageProbe) -> None:
    """Yes only with the tool, for the first question only; a prompt gets its text."""
    await page.open(
        "<button onclick=\"out.textContent = [confirm('Sure?'), confirm('Really?')]\">Delete</button>"
        "<button onclick=\"out.textContent = prompt('Who?')\">Name</button><p id=out></p>"
    )
    await bench.call("click", on="Delete")
    assert await page.js("out.textContent") == "false,false"
    output = await bench.call("answer_dialog", on="Delete", accept=True)
    assert output.ok, output.summary
    assert await page.js("out.textContent") == "true,false"
    assert (await bench.call("answer_dialog", on="Name", accept=True, reply="Ada")).ok
    assert await page.js("out.textContent") == "Ada"
