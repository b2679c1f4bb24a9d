"""Pages that mean ill, or are just badly made: what an act reports is what came of it, and what was judged is what is done."""

from typing import Any

import pytest

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.testing._act_probe import PageProbe
from foxloop_trio.testing._tool_bench import ToolBench

pytestmark = pytest.mark.firefox


@pytest.fixture
async def bench(firefox: BrowserSession, tab: Tab) -> ToolBench:
    return await ToolBench.over(firefox, tab, domains=("127.0.0.1",))


TAKEN_BACK: dict[str, tuple[str, dict[str, Any]]] = {
    "a text": (
        "<input aria-label=F value=old oninput=\"setTimeout(() => this.value = 'old', 100)\">",
        {"op": "type", "value": "new"},
    ),
    "a text, by emptying": (
        "<input aria-label=F oninput=\"setTimeout(() => this.value = '', 100)\">",
        {"op": "type", "value": "new"},
    ),
    "a box": ('<input type=checkbox aria-label=F onclick="setTimeout(() => this.checked = false, 100)">', {"op": "check"}),
    "a choice": (
        "<select aria-label=F onchange=\"setTimeout(() => this.value = 'a', 100)\"><option>a<option>b</select>",
        {"op": "select", "value": "b"},
    ),
    "a date": (
        "<input type=date aria-label=F oninput=\"setTimeout(() => this.value = '', 100)\">",
        {"op": "date", "value": "2026-01-02"},
    ),
}


@pytest.mark.parametrize("what", TAKEN_BACK)
async def test_what_the_page_puts_back_a_moment_later_is_no_success(page: PageProbe, bench: ToolBench, what: str) -> None:
    """An act is not done when the field shows what it showed before."""
    html, args = TAKEN_BACK[what]
    await page.open(html)
    output = await bench.call("act", on="F", **args)
    assert not output.ok
    assert "mismatch" in output.summary
    assert output.data["taken_back"]  # type: ignore[index]
    assert bench.effect == "done"  # the page did get it


async def test_a_form_whose_fields_the_page_puts_back_is_not_filled(page: PageProbe, bench: ToolBench) -> None:
    """fill names them; those that stayed are not among them."""
    await page.open(
        "".join(html.replace("=F", f"=F{at}") for at, (html, _) in enumerate(TAKEN_BACK.values())) + "<input aria-label=F5>"
    )
    await bench.look()
    ids = [await bench.found(f"F{at}") for at in range(6)]
    values = [args.get("value", True) for _, args in TAKEN_BACK.values()]
    output = await bench.call("fill", fields=dict(zip(ids, [*values, "kept"], strict=True)))
    assert not output.ok
    assert f"put back what was there before in {', '.join(ids[:5])} (mismatch)" in output.summary


async def test_what_the_page_writes_in_its_own_way_is_kept(page: PageProbe, bench: ToolBench) -> None:
    """The accepted twins: a format of its own a moment later, what was there already, and a field that is drawn anew."""
    await page.open("<input aria-label=F oninput=\"setTimeout(() => this.value = this.value.replace('1', '1,'), 100)\">")
    assert (await bench.call("act", on="F", op="type", value="1234")).ok
    assert (await bench.call("act", on="F", op="type", value="1,,234")).ok
    await page.open("<input type=checkbox aria-label=F checked>")
    assert (await bench.call("act", on="F", op="check")).ok
    await page.open("<p id=p><input aria-label=F oninput=\"setTimeout(() => p.innerHTML = '<input aria-label=F>', 100)\"></p>")
    assert (await bench.call("act", on="F", op="type", value="new")).ok


async def test_letters_that_join_are_text_in_a_rich_editor_too(page: PageProbe) -> None:
    """Zero-width joiners make Persian words and composed pictures; they are typed once and told as they are."""
    await page.open("<div contenteditable aria-label=E id=e></div><script>var n = 0; e.oninput = () => n++</script>")
    for text in ("\U0001f469\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"):
        result = await page.again("E", "type", text)
        assert (result["ok"], result["value"], result["did"][-1]) == (True, text, "insert"), result
        assert await page.js("e.innerText") == text


async def test_the_windows_of_a_page_that_does_not_come_back_are_known(
    firefox: BrowserSession, tab: Tab, page: PageProbe, bench: ToolBench
) -> None:
    """The answer comes while the page still hangs; what was opened by then can be listed and closed, and no dialog is made up."""
    await page.open(
        "<script>const say = alert.bind(window)</script>"
        "<button onclick=\"window.open('/x'); say('Real'); this.title = 1\">go</button>"
    )
    output = await bench.call("click", on="go")
    assert not output.ok
    assert "the page has not come back" in output.summary
    context = await tab.bidi_context()
    await firefox.bidi("browsingContext.handleUserPrompt", context=context, accept=False)
    (opened,) = [one["tab"] for one in (await bench.call("list_tabs")).data["tabs"] if one["opened"]]  # type: ignore[index]
    assert (await bench.call("close_tab", tab_id=opened)).ok
