"""Operation `select` in real Firefox: native selects of several, and all that looks like a select and is none."""

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


async def test_a_select_of_several_takes_a_list(page: PageProbe) -> None:
    """Page reference 4.4 [+]: exactly those, by value or label; one event each."""
    await page.open(
        "<select multiple id=s aria-label=s><option value=1 selected>One<option value=2>Two<option value=3>Three</select>"
    )
    await page.record("input", "change")
    result = await page.act("s", "select", ["2", "Three"])
    assert (result["ok"], result["value"]) == (True, "2, 3")
    assert await page.js("[...s.selectedOptions].map(o => o.value)") == ["2", "3"]
    assert await page.js("seen") == ["input:s", "change:s"]
    await page.read()
    assert await page.refused("s", "select", ["2", "9"]) == ("unsupported", "no enabled option has that value")
    assert (await page.act("s", "select", []))["value"] == ""
    await page.open("<select id=s aria-label=s><option>One<option>Two</select>")
    assert await page.refused("s", "select", ["One", "Two"]) == ("unsupported", "it takes one option only")


BUTTON = (
    "<button id=b aria-haspopup=listbox aria-expanded=false aria-label=Size><span id=shown>none</span></button>"
    "<ul id=list role=listbox hidden><li role=option data-value=s>Small<li role=option data-value=m>Medium<li role=option>Large"
    "<li role=option aria-disabled=true>Huge<li role=option>Same<li role=option>Same</ul><script>"
    "b.onEVENT = () => setTimeout(() => { list.hidden = false; b.setAttribute('aria-expanded', 'true') }, 80);"
    "list.onmousedown = e => { if (e.target.getAttribute('aria-disabled')) return; shown.textContent = e.target.textContent;"
    "list.hidden = true; b.setAttribute('aria-expanded', 'false') }</script>"
)


@pytest.mark.parametrize("event", ["click", "mousedown", "pointerdown"])
async def test_a_button_with_a_list_is_opened_and_an_option_pressed(page: PageProbe, event: str) -> None:
    """B88 and page reference 21.11: by value or by label; the control must show it in the end."""
    for value, shown in [("m", "Medium"), ("Large", "Large"), ("small", "Small")]:
        await page.open(BUTTON.replace("EVENT", event))
        result = await page.act("Size", "select", value)
        assert (result["ok"], await page.js("shown.textContent")) == (True, shown), result
        assert result["did"] == ["open", "choose"]


async def test_an_option_that_is_not_there_or_not_the_only_one_is_told(page: PageProbe) -> None:
    """B88: the same text twice is told apart by id; the labels that there are stand in the refusal."""
    await page.open(BUTTON.replace("EVENT", "click"))
    result = await page.act("Size", "select", "Gigantic")
    assert (result["ok"], result["started"], result["reason"]) == (False, True, "unsupported")
    assert '"Small", "Medium", "Large"' in result["detail"]
    assert "Huge" not in result["detail"]
    result = await page.again("Size", "select", "Same")
    assert (result["ok"], result["detail"].startswith("2 options have that label")) == (False, True)
    result = await page.again("Size", "select", "Huge")
    assert (result["ok"], result["reason"]) == (False, "unsupported")
    assert await page.js("shown.textContent") == "none"


async def test_a_control_that_does_not_show_the_option_is_a_mismatch(page: PageProbe) -> None:
    """False success: the press alone is no proof."""
    await page.open(BUTTON.replace("EVENT", "click").replace("shown.textContent = e.target.textContent;", ""))
    result = await page.act("Size", "select", "Large")
    assert (result["ok"], result["reason"], result["value"]) == (False, "mismatch", "none")


SUGGESTIONS = (
    "<input id=f role=combobox aria-label=City aria-controls=l aria-expanded=false><ul id=l role=listbox></ul><script>"
    "const all = ['Berlin', 'Bern', 'Bergen', 'Oslo']; let timer;"
    "f.oninput = () => { clearTimeout(timer); timer = setTimeout(() => fetch('/slow?' + f.value).then(() => { "
    "l.replaceChildren(...all."
    "filter(x => x.startsWith(f.value)).map(x => { const o = document.createElement('li'); o.setAttribute('role', 'option');"
    "o.textContent = x; o.onmousedown = e => { e.preventDefault(); f.value = x; window.chosen = x; l.replaceChildren() }; "
    "return o })) }), 100) }"
    "</script>"
)


async def test_suggestions_that_come_from_a_server_are_waited_for(page: PageProbe) -> None:
    """Page reference 21.11: type, wait for the list, press the option; typing alone chooses nothing."""
    await page.open(SUGGESTIONS)
    result = await page.act("City", "select", "Bern")
    assert (result["ok"], result["value"], result["did"]) == (True, "Bern", ["type", "choose"])
    assert await page.js("chosen") == "Bern"


PORTAL = (
    "<div id=c tabindex=0 aria-haspopup=true role=button style='width:100px'>pick</div><div id=portal></div><script>"
    "c.onclick = () => { portal.replaceChildren(...['One', 'Two'].map(x => { const o = document.createElement('div');"
    "o.className = 'my-option'; o.textContent = x; o.onclick = () => { c.textContent = x; portal.replaceChildren() }; return "
    "o })) }</script>"
)
VIRTUAL = (
    "<button id=b aria-haspopup=listbox aria-label=Row>none</button><div id=l role=listbox style='height:120px;"
    "overflow:auto' hidden>"
    "<div id=space style='position:relative;height:60000px'></div></div><script>"
    "const draw = () => { const first = Math.floor(l.scrollTop / 30); space.replaceChildren(...Array.from({length: 6}, (_, n) => {"
    "const o = document.createElement('div'); o.setAttribute('role', 'option'); o.textContent = 'Row ' + (first + n);"
    "o.style = `position:absolute;height:30px;width:100%;top:${(first + n) * 30}px`;"
    "o.onclick = () => { b.textContent = o.textContent; l.hidden = true }; return o })) };"
    "l.onscroll = draw; b.onclick = () => { l.hidden = false; draw() }</script>"
)


async def test_lists_in_a_portal_and_lists_that_draw_what_is_in_view_work(page: PageProbe) -> None:
    """B88: options without a role that appeared when it was opened; a list that is scrolled on, twenty times at most."""
    await page.open(PORTAL)
    assert (await page.act("pick", "select", "Two"))["ok"]
    assert await page.js("c.textContent") == "Two"
    await page.open(VIRTUAL)
    assert (await page.act("Row", "select", "Row 40"))["ok"]
    assert await page.js("b.textContent") == "Row 40"
    result = await page.again("Row", "select", "Row 1900")
    assert (result["ok"], result["reason"]) == (False, "unsupported")


MANY = (
    "<div id=box class=select-control><span id=chips></span><input id=f role=combobox aria-label=Tags aria-controls=l "
    "aria-expanded=false></div>"
    "<ul id=l role=listbox></ul><script>const all = ['red', 'green', 'blue'];"
    "f.oninput = f.onfocus = () => l.replaceChildren(...all.filter(x => x.includes(f.value)).map(x => { const o = "
    "document.createElement('li');"
    "o.setAttribute('role', 'option'); o.textContent = x; o.onmousedown = e => { e.preventDefault(); chips.textContent += x "
    "+ ' '; f.value = '';"
    "l.replaceChildren() }; return o }))</script>"
)


async def test_several_values_are_chosen_one_after_the_other(page: PageProbe) -> None:
    """Page reference 21.11: the list closes after each, and is opened again."""
    await page.open(MANY)
    result = await page.act("Tags", "select", ["red", "blue"])
    assert result["ok"], result
    assert await page.js("chips.textContent") == "red blue "
    assert result["did"] == ["type", "choose", "type", "choose"]
