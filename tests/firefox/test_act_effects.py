"""Proof of effect in real Firefox: what an act says came of it is what came of it."""

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


CHANGES = [
    ("onclick=\"this.textContent = 'b pressed'\"", ["page"]),
    ("onclick=\"setTimeout(() => out.textContent = 'later', 200)\"", ["page"]),
    ("onclick=\"field.value = 'set'\"", ["value"]),
    ("onclick='box.checked = true'", ["state"]),
    ("onclick='field.focus()'", ["focus"]),
    ("onclick='window.scrollTo(0, 50)'", ["scroll"]),
    ("onclick=\"location.hash = 'there'\"", ["address"]),
    ("onclick=\"history.pushState(0, '', '/pushed')\"", ["address"]),
    ("onclick=\"alert('hm')\"", ["dialog"]),
    ("onclick=\"this.setAttribute('aria-pressed', 'true')\" aria-pressed=false", ["page", "state"]),
    ("onclick=\"canvas.getContext('2d').fillRect(0, 0, 50, 50)\"", ["picture"]),
    ("onclick=\"fetch('/slow')\"", ["request"]),
    ("onclick=\"fetch('/slow').then(() => out.textContent = 'fetched')\"", ["page", "request"]),
]


async def test_an_act_tells_what_came_of_it(page: PageProbe) -> None:
    """Issue 8, point 3: each kind of change by its word; what comes within half a second, or of a request, is waited for."""
    for handler, words in CHANGES:
        await page.open(
            f"<button id=b {handler}>b</button><p id=out>-</p><input id=field aria-label=field>"
            "<input type=checkbox id=box aria-label=box><canvas id=canvas width=60 height=60></canvas><div "
            "style='height:3000px'></div>"
        )
        result = await page.act("b", "click")
        assert (result["ok"], result.get("changed")) == (True, words), (handler, result)
        assert result["did"] == ["press"]


NOTHING = [
    "",
    "onclick='window.hit = 1'",
    "onmouseover=\"this.classList.add('hover')\" onfocus=\"this.classList.add('focused')\"",
    "onmousedown=\"this.className = 'down'\" onmouseup=\"this.className = ''\" class=''",
    "onmousemove=\"out.textContent += 'moved'\"",
]


async def test_a_press_of_which_nothing_came_is_not_ok(page: PageProbe) -> None:
    """Issue 8, point 3: `nothing-changed` is an outcome of its own; what the pointer and the focus do on the way does not count."""
    for handler in NOTHING:
        await page.open(f"<button id=b {handler}>b</button><p id=out>-</p>")
        result = await page.act("b", "click")
        assert (result["ok"], result["started"], result.get("reason")) == (False, True, "nothing-changed"), (handler, result)
        assert "changed" not in result


async def test_what_changes_by_itself_is_not_taken_for_the_act_s(page: PageProbe) -> None:
    """False success: a clock that ticks all the time changes whatever is done."""
    await page.open(
        "<button id=b>b</button><p id=clock>0</p><script>setInterval(() => clock.textContent = Date.now(), 20)</script>"
    )
    now = await page.js("clock.textContent")
    await page.until(f"clock.textContent !== '{now}'")
    result = await page.act("b", "click")
    assert (result["ok"], result.get("reason"), result.get("changed")) == (False, "nothing-changed", None)


async def test_a_page_that_wants_a_real_hand_is_told_so(page: PageProbe) -> None:
    """Page reference 21.25."""
    for handler in ("if (event.isTrusted) this.textContent = 'done'", "document.documentElement.requestFullscreen()"):
        await page.open(f'<button id=b onclick="{handler}">b</button>')
        result = await page.act("b", "click")
        assert (result["ok"], result["reason"]) == (False, "unsupported"), result
        assert "needs a real gesture" in result["detail"]


async def test_a_form_that_lacks_something_says_so(page: PageProbe) -> None:
    """Page reference 4.5: no submit event fires; why, the result tells."""
    await page.open("<form action=/elsewhere><input required aria-label=r><button>send</button></form>")
    result = await page.act("send", "click")
    assert (result["ok"], result["submitted"], result["changed"]) == (True, False, ["focus", "invalid"])
    assert result["detail"] == "the form was not sent: 1 of its fields lack something"


async def test_where_an_act_leads_is_told(page: PageProbe) -> None:
    """Issue 8, point 5: a link, a form, a script: the address of the navigation, also to another host."""
    for html, address in [
        ("<a href=/slow?1>go</a>", "/slow?1"),
        ("<form action=/slow?2 method=post><button>go</button></form>", "/slow?2"),
        ("<button onclick=\"location = '/slow?3'\">go</button>", "/slow?3"),
        ("<button onclick=\"location = 'http://localhost:1/x'\">go</button>", "http://localhost:1/x"),
    ]:
        await page.open(html)
        result = await page.act("go", "click")
        assert result["ok"], result
        assert "navigation" in result["changed"] or result["navigated"]
        if not result["navigated"]:
            assert result["leads_to"].removeprefix(page.site.url) == address


async def test_a_tab_that_an_act_opens_is_told(page: PageProbe) -> None:
    """B86: a link to a new window, window.open, a form: the launched browser opens them, and the result says which tab it is."""
    for html in [
        "<a href=/elsewhere target=_blank>go</a>",
        "<button onclick=\"window.open('/elsewhere')\">go</button>",
        "<button onclick=\"window.open('/elsewhere', '_blank', 'noopener')\">go</button>",
        "<form action=/elsewhere target=_blank><button>go</button></form>",
    ]:
        await page.open(html)
        result = await page.act("go", "click")
        assert result["ok"], (html, result)
        assert "tab" in result["changed"]
        (opened,) = result["opened_tabs"]
        assert [popup["url"].split("?")[0] for popup in result["popups"]] == [page.site.url + "/elsewhere"]
        await page.session.channel.call("tab.close", {"tab": opened}, timeout=10)


async def test_a_window_that_firefox_refuses_is_told(page: PageProbe) -> None:
    """Page reference 21.17: the popup blocker says nothing to anybody; we do. Here the page's own function stands for it."""
    await page.open("<script>window.open = () => null</script><button onclick=\"window.open('/elsewhere')\">go</button>")
    result = await page.act("go", "click")
    assert (result["ok"], result["reason"]) == (False, "popup-blocked"), result
    assert result["popups"] == [{"url": page.site.url + "/elsewhere"}]
    await page.open(
        "<script>window.open = () => null</script>"
        "<button onclick=\"window.open('/elsewhere') || (this.nextSibling.textContent = 'allow popups')\">go</button><p></p>"
    )
    result = await page.act("go", "click")
    assert (result["ok"], result["changed"]) == (True, ["page"])
    assert result["popups"] == [{"url": page.site.url + "/elsewhere"}]


async def test_changes_in_another_form_are_told_and_do_not_refuse(page: PageProbe) -> None:
    """Page reference 21.20: with the key of its own form an act does not mind a field that saves itself elsewhere."""
    await page.open(
        "<form onsubmit='event.preventDefault()'><input id=mine aria-label=mine><button>send</button></form>"
        "<form><input id=theirs aria-label=theirs></form><input id=loose aria-label=loose>"
    )
    form_key = page.control("mine")["form_key"]
    assert page.control("send")["form_key"] == form_key != page.control("theirs")["form_key"]
    await page.js("void (theirs.value = 'ticked', loose.value = 'too')")
    assert await page.refused("send", "click") == ("stale", "page differs")
    result = await page.act("send", "click", form_key=form_key)
    assert (result["ok"], result["changed_elsewhere"]) == (True, True)
    await page.js("void (mine.value = 'changed')")
    assert await page.refused("send", "click", form_key=form_key) == ("stale", "page differs")
    await page.read()
    result = await page.act("send", "click", form_key=page.control("send")["form_key"])
    assert "changed_elsewhere" not in result
