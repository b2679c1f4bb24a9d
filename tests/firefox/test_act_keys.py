"""Operation `press` in real Firefox: keys and shortcuts, with what Firefox would do by itself for a real key."""

from typing import Any

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


DEFAULTS: list[tuple[str, str, str, str, Any]] = [
    # what is there, which control, the keys, what to look at, what it is then
    ("<input id=f aria-label=f value=ab>", "f", "c", "f.value", "abc"),
    ("<input id=f aria-label=f value=ab>", "f", "ctrl+a x", "f.value", "x"),
    ("<input id=f aria-label=f value=abc>", "f", "End Backspace", "f.value", "ab"),
    ("<input id=f aria-label=f value=abc>", "f", "Home Delete", "f.value", "bc"),
    ("<input id=f aria-label=f value=abc>", "f", "ArrowLeft ArrowLeft X", "f.value", "aXbc"),
    ("<input id=f aria-label=f value='one two'>", "f", "ctrl+ArrowLeft shift+End Delete", "f.value", "one "),
    ("<input id=f aria-label=f value=ab>", "f", "shift+c Space d", "f.value", "abC d"),
    ("<textarea id=f aria-label=f>ab</textarea>", "f", "End Enter c", "f.value", "ab\nc"),
    ("<div id=f aria-label=f role=textbox contenteditable>ab</div>", "f", "End Enter c", "f.innerText.trim()", "ab\nc"),
    ("<div id=f aria-label=f role=textbox contenteditable>ab</div>", "f", "ctrl+a ctrl+b", "f.innerHTML", "<b>ab</b>"),
    ("<input id=f aria-label=f value=ab><input id=g aria-label=g>", "f", "Tab", "document.activeElement.id", "g"),
    ("<input id=f aria-label=f><input id=g aria-label=g>", "g", "shift+Tab", "document.activeElement.id", "f"),
    ("<input id=f aria-label=f><input tabindex=-1 id=h><input id=g disabled><a id=a href=#x>a</a>",
     "f", "Tab", "document.activeElement.id", "a"),
    ("<input id=f aria-label=f><input id=g tabindex=2><input id=h tabindex=1>", "f", "Tab", "document.activeElement.id", "h"),
    ("<input id=f aria-label=f><input id=g aria-label=g>", "f", "a Tab b", "[f.value, g.value]", ["a", "b"]),
    ("<input type=radio name=r aria-label=f checked><input type=radio name=r id=g>", "f", "ArrowDown", "g.checked", True),
    ("<select id=f aria-label=f><option>a<option disabled>b<option>c</select>", "f", "ArrowDown", "f.value", "c"),
    ("<select id=f aria-label=f><option>ax<option>bx<option>cx</select>", "f", "c", "f.value", "cx"),
    ("<input type=range id=f aria-label=f value=50 step=5>", "f", "ArrowRight ArrowRight", "f.value", "60"),
    ("<input type=range id=f aria-label=f value=50>", "f", "End", "f.value", "100"),
    ("<input type=number id=f aria-label=f value=5>", "f", "ArrowUp ArrowUp ArrowDown", "f.value", "6"),
    ("<input type=checkbox id=f aria-label=f>", "f", "Space", "f.checked", True),
    ("<button id=f onclick=\"this.textContent = 'on'\">f</button>", "f", "Enter", "f.textContent", "on"),
    ("<details id=d><summary>f</summary>x</details>", "f", "Space", "d.open", True),
    ("<dialog id=d><button>f</button></dialog><script>d.showModal()</script>", "f", "Escape", "d.open", False),
    ("<button id=o popovertarget=d>o</button><div id=d popover><button>f</button></div><script>d.showPopover()</script>",
     "f", "Escape", "d.matches(':popover-open')", False),
    ("<form onsubmit='event.preventDefault(); window.sent = 1'><input aria-label=f><button>b</button></form>",
     "f", "Enter", "sent", 1),
    ("<button>f</button><div style='height:3000px'></div>", "f", "PageDown", "scrollY > 300", True),
    ("<button>f</button><div style='height:3000px'></div>", "f", "End Home ArrowDown", "scrollY", 45),
]  # fmt: skip


async def test_keys_do_what_they_do_by_themselves(page: PageProbe) -> None:
    """Page reference 21.6: the default action, which Firefox keeps from keys that a script sent."""
    for html, label, keys, look, then in DEFAULTS:
        await page.open(html)
        result = await page.act(label, "press", keys)
        assert result["ok"], (html, keys, result)
        assert await page.js(look) == then, (html, keys, result)
        assert result["did"] == [f"key {key[-1].lower() if '+' not in key and len(key) == 1 else key}" for key in _told(keys)]


def _told(keys: str) -> list[str]:
    return keys.split()


async def test_a_stroke_is_down_press_and_up_with_what_pages_look_at(page: PageProbe) -> None:
    """Page reference 21.6; a page that cancels the key keeps its default action from happening."""
    await page.open("<input id=f aria-label=f>")
    await page.js(
        "void (window.seen = [], ['keydown', 'keypress', 'keyup'].forEach(type => addEventListener(type, e => "
        "seen.push([e.type, e.key,"
        " e.code, e.keyCode, e.ctrlKey, e.shiftKey]))))"
    )
    await page.act("f", "press", "a")
    assert await page.js("seen") == [
        ["keydown", "a", "KeyA", 65, False, False],
        ["keypress", "a", "KeyA", 97, False, False],
        ["keyup", "a", "KeyA", 65, False, False],
    ]
    await page.js("void (seen.length = 0, addEventListener('keydown', e => e.preventDefault()))")
    result = await page.again("f", "press", "ctrl+shift+ArrowLeft b")
    assert await page.js("seen.map(one => [one[0], one[1], one[4], one[5]])") == [
        ["keydown", "ArrowLeft", True, True],
        ["keyup", "ArrowLeft", True, True],
        ["keydown", "b", False, False],
        ["keyup", "b", False, False],
    ]
    assert (result["ok"], result["reason"]) == (False, "nothing-changed")
    assert await page.js("f.value") == "a"


async def test_shortcuts_of_the_page_work_and_firefox_s_own_do_not(page: PageProbe) -> None:
    """Page reference 21.6: what cannot be triggered is said."""
    await page.open(
        "<button>b</button><p id=out>-</p><script>addEventListener('keydown', e => {"
        "if (e.ctrlKey && e.key === 'k') { e.preventDefault(); out.textContent = 'palette' } })</script>"
    )
    result = await page.act("b", "press", "ctrl+k")
    assert (result["ok"], result["changed"]) == (True, ["page"])
    result = await page.again("b", "press", "ctrl+t")
    assert (result["ok"], result["reason"]) == (False, "nothing-changed")
    assert "Firefox's own shortcuts" in result["detail"]


@pytest.mark.parametrize("keys", ["", "ctrl+", "Entr", "super+a", "a " * 51, 5, None])
async def test_what_is_no_list_of_keys_is_refused_untouched(page: PageProbe, keys: Any) -> None:
    """Its words say what keys are."""
    await page.open("<input id=f aria-label=f>")
    reason, detail = await page.refused("f", "press", keys)
    assert (reason, detail.startswith("not a list of keys")) == ("unsupported", True)


async def test_keys_in_a_secret_field_are_not_told_nor_copied(page: PageProbe) -> None:
    """Masked in the result; ctrl+c copies nothing out of it."""
    await page.open("<input type=password id=p aria-label=p value=hunter2><input id=f aria-label=f>")
    result = await page.act("p", "press", "End 3 ctrl+a ctrl+c")
    assert result["value"] == "•••"
    assert await page.js("p.value") == "hunter23"
    result = await page.again("f", "paste")
    assert (result["ok"], result["started"], result["detail"]) == (False, False, "nothing was copied on this page yet")


STRANGERS = [
    # body, keys, what must still be so, why
    ("<input id=f aria-label=f><button onclick='out.textContent = 1'>Delete all</button>", "Tab Enter", "stale"),
    ("<input id=f aria-label=f><button onclick='out.textContent = 1'>Delete all</button>", "a Tab Space", "stale"),
    ("<input id=f aria-label=f><a href='#gone' onclick='out.textContent = 1'>Away</a>", "Tab Enter", "stale"),
    ("<input id=f aria-label=f><input type=checkbox aria-label=c onclick='out.textContent = 1'>", "Tab Space", "stale"),
    (
        "<input id=f aria-label=f><select aria-label=s onchange='out.textContent = 1'><option>a<option>b</select>",
        "Tab Down",
        "stale",
    ),
    ("<input id=f aria-label=f><input type=password aria-label=p oninput='out.textContent = 1'>", "Tab h u n t", "secret"),
    (
        "<input id=f aria-label=f><form onsubmit='out.textContent = 1; return false'><input aria-label=g></form>",
        "Tab Enter",
        "stale",
    ),
    (
        "<input id=f aria-label=f onkeydown='b.focus()'><button id=b onclick='out.textContent = 1'>Delete all</button>",
        "a Enter",
        "stale",
    ),
]


@pytest.mark.parametrize(("html", "keys", "reason"), STRANGERS)
async def test_keys_that_come_to_another_control_do_nothing_there(page: PageProbe, html: str, keys: str, reason: str) -> None:
    """Only the named one was judged: where Tab, or the page, takes the focus, nothing is pressed, sent, chosen or given away."""
    await page.open(f"{html}<p id=out>0</p>")
    result = await page.act("f", "press", keys)
    assert (result["ok"], result["started"], result["reason"]) == (False, True, reason)
    assert await page.js("[out.textContent, location.hash]") == ["0", ""]


async def test_keys_go_on_in_what_the_control_opens(page: PageProbe) -> None:
    """A list that a button names as its own is a part of it; so is another field of its form, for writing and Enter."""
    await page.open(
        "<button aria-label=Menu aria-controls=m onkeydown=\"if (event.key === 'ArrowDown') m.children[0].focus()\">x</button>"
        "<div id=m role=menu><button role=menuitem onclick='out.textContent = 1'>One</button></div><p id=out>0</p>"
        "<form onsubmit='out.textContent += 2; return false'><input aria-label=a><input aria-label=b></form>"
    )
    assert (await page.act("Menu", "press", "ArrowDown Enter"))["ok"]
    assert (await page.again("a", "press", "x Tab y Enter"))["ok"]
    assert await page.js("out.textContent") == "12"


async def test_keys_for_what_cannot_have_the_focus_never_reach_a_field_that_has_it(page: PageProbe) -> None:
    """A page that focuses a field of its own while keys are sent to something else: nobody judged that field."""
    await page.open(
        "<input id=hidden style='position:absolute;left:-999px'><span id=s class=x style='cursor:pointer' "
        "onclick='0'>words</span><p id=out></p><script>hidden.focus(); "
        "addEventListener('keydown', e => { out.textContent += e.target.id + e.key + ' '; hidden.focus() })</script>"
    )
    await page.act("words", "press", "a b")
    assert await page.js("[out.textContent, hidden.value]") == ["sa sb ", ""]


async def test_keys_that_a_page_which_is_left_did_not_get_are_not_told_as_done(page: PageProbe) -> None:
    """What it got is in the result; a last key that leads away is done, as a link is."""
    slow = "<script>t.onkeyup = e => { for (const end = performance.now() + 20; performance.now() < end;); }</script>"
    form = f"<form action=/there><label>text <input name=q id=t></label><button>Go</button></form>{slow}"
    await page.open(form)
    result = await page.act("text", "press", "a Enter " + "b " * 40)
    assert (result["ok"], result["started"], result["reason"], result["navigated"]) == (False, True, "gone", True), result
    assert result["did"][:2] == ["key a", "key Enter"]
    assert len(result["did"]) < 42
    await page.open(form)
    result = await page.act("text", "press", "a Enter")
    assert result["ok"], result
