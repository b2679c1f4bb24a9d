"""While an act's events run the page's handlers, the control must stay what was judged; what a hand does not mind stops nothing."""

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


SWAPPED = [
    ("pointerover", "click", None, []),
    ("mousemove", "click", None, []),
    ("pointerdown", "click", None, ["pointerdown"]),
    ("mousedown", "click", None, ["pointerdown", "mousedown"]),
    ("focusin", "click", None, ["pointerdown", "mousedown"]),
    ("mouseup", "click", None, ["pointerdown", "mousedown"]),
    ("focusin", "press", "Enter", []),
    ("pointerover", "drag", {"by": {"x": 30, "y": 0}}, []),
]


async def test_a_control_that_the_page_renames_meanwhile_is_not_acted_on(page: PageProbe) -> None:
    """B76: two rows swap what they are, in a handler of the act's own events; nothing more that counts is sent."""
    for moment, op, value, came in SWAPPED:
        await page.open(
            "<button id=a onclick='window.hit = 1'>Keep</button><button id=b>Delete</button>"
            f"<script>addEventListener('{moment}', () => {{ a.textContent = 'Delete'; b.textContent = 'Keep' }}, true)</script>"
        )
        await page.record("pointerdown", "mousedown", "click", "keydown")
        result = await page.act("Keep", op, value)
        assert (result["ok"], result["reason"]) == (False, "stale"), (moment, op, result)
        assert await page.js("seen") == [f"{kind}:a" for kind in came], (moment, op)
        assert await page.js("window.hit ?? null") is None


async def test_a_row_that_becomes_another_one_is_not_acted_on(page: PageProbe) -> None:
    """The same button in a list whose rows are used again for others."""
    await page.open(
        "<ul><li><span id=a>Milk</span> <button id=x onmousedown=\"a.textContent = 'Bread'\">Drop</button></li>"
        "<li>Eggs <button>Keep</button></li></ul>"
    )
    await page.record("click")
    result = await page.act("Drop", "click")
    assert (result["ok"], result["reason"]) == (False, "stale")
    assert await page.js("seen") == []


@pytest.mark.parametrize("moment", ["mousedown", "focus", "keydown"])
async def test_text_is_not_typed_into_a_field_that_became_another(page: PageProbe, moment: str) -> None:
    """Also by the words beside it alone."""
    for html in ("<label><b id=n>Name</b> <input id=f></label>", "<div><b id=n>Name</b> <input id=f></div>"):
        await page.open(f"{html}<script>f.addEventListener('{moment}', () => n.textContent = 'Search')</script>")
        result = await page.act("Name", "type", "Ada")
        assert (result["ok"], result["reason"]) == (False, "stale"), html
        assert await page.js("f.value") == ""


async def test_a_form_that_is_made_to_go_elsewhere_is_not_sent(page: PageProbe) -> None:
    """What was judged is where the button sends."""
    await page.open(
        "<form id=f action=/here onsubmit='event.preventDefault(); window.sent = 1'>"
        "<button onmousedown=\"f.action = 'http://localhost:1/there'\">Send</button></form>"
    )
    result = await page.act("Send", "click")
    assert (result["ok"], result["reason"], result["submitted"]) == (False, "stale", False)
    assert await page.js("window.sent ?? null") is None


MORE = "Object.assign(document.createElement('button'), {textContent: 'More'})"
HARMLESS = {
    "a title that becomes a tooltip": (
        "<button title=Help onmouseenter=\"this.dataset.tip = this.title; this.removeAttribute('title')\" DONE>?</button>"
    ),
    "a list that opens in the control": f'<div role=button tabindex=0 onmousedown="this.append({MORE})" DONE>Help</div>',
    "words of a style sheet": (
        "<style>.on::after { content: ' press me' }</style>"
        "<div role=button tabindex=0 onmouseenter=\"this.className = 'on'\" DONE>Help</div>"
    ),
    "buttons that come into the row": f'<ul><li onmouseenter="this.append({MORE})">Milk <button DONE>Help</button></li></ul>',
    "a counter, a class, a state": (
        "<p id=n>1</p><button "
        "onmousedown=\"n.textContent = 2; this.className = 'down'; this.ariaExpanded = 'true'\" DONE>Help</button>"
    ),
    "a link that counts its presses": "<a href=#x onmousedown=\"this.href = '#y'\" DONE>Help</a>",
}


async def test_what_a_hand_would_not_mind_stops_no_act(page: PageProbe) -> None:
    """The accepted twins."""
    for what, html in HARMLESS.items():
        await page.open(html.replace("DONE", 'onclick="window.hit = 1"'))
        (label,) = {one["label"] for one in page.frame["controls"]} & {"Help", "?"}
        result = await page.act(label, "click")
        assert await page.js("window.hit ?? null") == 1, (what, result)
        assert result.get("reason") in (None, "nothing-changed"), (what, result)


FIELDS = [
    "<input id=f placeholder=Name onfocus=\"this.placeholder = ''\">",
    "<ul><li><label>Name <input id=f onfocus='e.remove()'></label><em id=e class=error>is required</em></li></ul>",
    "<label>Name <input id=f oninput='m.textContent = this.value.length'></label><p id=m>0</p>",
]


async def test_what_fields_do_when_they_are_entered_stops_no_typing(page: PageProbe) -> None:
    """A placeholder that makes room, a hint that goes, a counter."""
    for html in FIELDS:
        await page.open(html)
        result = await page.act("Name", "type", "Ada")
        assert (result["ok"], await page.js("f.value")) == (True, "Ada"), (html, result)


async def test_a_control_that_moves_once_under_the_pointer_is_followed(page: PageProbe) -> None:
    """As a hand would; one that moves away each time does not want to be pressed."""
    await page.open(
        "<button id=b style='position:absolute;left:0;top:50px;width:60px' onclick='this.title = 1' "
        "onmouseenter=\"this.style.left = '200px'\">b</button>"
    )
    assert (await page.act("b", "click"))["ok"]
    await page.open(
        "<button id=b style='position:absolute;left:0;top:50px;width:60px' onclick='this.title = 1' "
        "onmousemove=\"this.style.left = parseInt(this.style.left) + 100 + 'px'\">b</button>"
    )
    result = await page.act("b", "click")
    assert (result["ok"], result["reason"]) == (False, "covered")
    assert await page.js("b.title") == ""


MASKED = (
    "<label><b id=n>Name</b> <input id=f></label><script>let times = 0; f.oninput = () => {{ times += 1; f.value = '';"
    "if (times === {at}) setTimeout(() => n.textContent = 'Search') }}</script>"
)


async def test_the_second_way_to_type_asks_again(page: PageProbe) -> None:
    """A field that did not take the text at once, and is another one by the time that keys are tried, or after some of them."""
    for at in (1, 3):
        await page.open(MASKED.format(at=at))
        await page.record("keydown")
        result = await page.act("Name", "type", "Ada")
        assert (result["ok"], result["reason"]) == (False, "stale"), (at, result)
        assert await page.js("seen.length") <= at


async def test_what_is_dragged_is_not_let_go_over_another_thing(page: PageProbe) -> None:
    """The place where it is dropped is asked for its name again, right before the drop."""
    await page.open(
        "<div id=a draggable=true role=button aria-label=a style='width:80px;height:30px'>a</div><div id=b role=button tabindex=0 "
        "aria-label=Keep style='width:80px;height:60px' ondragover=\"event.preventDefault(); this.ariaLabel = 'Trash'\">b</div>"
    )
    await page.record("drop", "dragend")
    result = await page.act("a", "drag", {"onto": page.other("Keep")})
    assert (result["ok"], result["reason"]) == (False, "stale")
    assert await page.js("seen") == ["dragend:a"]


async def test_enter_sends_no_other_form_than_the_judged_one(page: PageProbe) -> None:
    """In a handler of the key, the button that sends becomes another one."""
    await page.open(
        "<form onsubmit='event.preventDefault(); window.sent = 1'>"
        "<input id=f aria-label=f onkeydown=\"s.textContent = 'Delete all'\">"
        "<button id=s>Save</button></form>"
    )
    result = await page.act("f", "enter")
    assert (result["ok"], result["reason"], result["submitted"]) == (False, "stale", False)
    assert await page.js("window.sent ?? null") is None


async def test_a_link_that_a_key_renames_is_not_followed(page: PageProbe) -> None:
    """Firefox follows a link at a script's keypress, so the question is asked before that too; one press is one click."""
    await page.open(
        "<a id=a href='#there'>this</a><script>window.clicks = 0; addEventListener('click', () => clicks++); "
        "a.onkeydown = () => { if (window.rename) a.textContent = 'that' }</script>"
    )
    assert (await page.act("this", "press", "Enter"))["ok"]
    assert await page.js("[clicks, location.hash]") == [1, "#there"]
    await page.js("void (location.hash = '', window.rename = true)")
    result = await page.again("this", "press", "Enter")
    assert (result["ok"], result["reason"]) == (False, "stale")
    assert await page.js("[clicks, location.hash]") == [1, ""]
