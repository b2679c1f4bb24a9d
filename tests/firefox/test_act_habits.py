"""What acting owes to the habits of pages: fields that are left, menus that wait, things to drag, frames that are covered."""

import pytest
import trio

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


CALENDARS = [
    "<input id=f aria-label=f class=hasDatepicker>",
    "<input id=f aria-label=f class='form-control flatpickr-input'>",
    "<input id=f aria-label=f aria-haspopup=dialog>",
    "<input id=f aria-label=f onfocus='c.hidden = 0' onblur='c.hidden = 1'><p id=c class=calendar hidden style='height:60px'>6</p>",
]


async def test_a_field_with_a_calendar_is_left_when_it_was_typed_into(page: PageProbe) -> None:
    """Pickers read what was typed on blur: change, then blur and focusout, and never a key that could send the form."""
    for html in CALENDARS:
        await page.open(f"<form onsubmit='event.preventDefault()'>{html}</form>")
        await page.record("change", "blur", "focusout", "keydown")
        await page.js("void f.addEventListener('keydown', e => { if (e.key === 'Enter') window.entered = true })")
        result = await page.act("f", "type", "2026-06-09")
        assert (result["ok"], result["value"], result["submitted"]) == (True, "2026-06-09", False), html
        seen = await page.js("seen")
        assert seen.index("change:f") < seen.index("blur:f") < seen.index("focusout:f"), (html, seen)
        assert await page.js("window.entered ?? false") is False
        assert await page.js("document.activeElement === document.body")


async def test_a_plain_field_keeps_the_focus_and_is_left_by_the_next_act(page: PageProbe) -> None:
    """Page reference 4.4: change, blur and focusout come before the press on another control."""
    await page.open("<input id=f aria-label=f><button id=b onclick='this.title = 1'>b</button>")
    await page.record("change", "blur", "focusout", "click")
    await page.act("f", "type", "x")
    assert await page.js("document.activeElement.id") == "f"
    assert (await page.again("b", "click"))["ok"]
    seen = await page.js("seen")
    assert seen.index("change:f") < seen.index("blur:f") < seen.index("focusout:f") < seen.index("click:b")


async def test_a_menu_that_waits_for_a_moment_of_rest_is_open_when_hover_ends(page: PageProbe) -> None:
    """Page reference 21.5: jQuery UI's opens after 300 ms, and marks the item at once."""
    await page.open(
        "<button id=b onmouseenter=\"this.className = 'active'; setTimeout(() => menu.hidden = false, 300)\">b</button>"
        "<div id=menu hidden><button>item</button></div>"
    )
    assert (await page.act("b", "hover"))["ok"]
    await page.read()
    assert page.control("item")


MENU = (
    "<style>.menu {{ display: none }} li:hover > .menu {{ display: block }}</style>"
    "<ul><li id=top>{head}<div class=menu><a id=item href=#item>item</a></div></li></ul>"
)


async def test_what_only_a_style_sheet_drops_is_acted_on_at_once(page: PageProbe) -> None:
    """Page reference 21.5: an act on a control with `hover_only` shows it for its time, and what was judged is what is pressed."""
    await page.open(MENU.format(head="<a href=#>Top</a>"))
    assert "hover_only" in page.control("item")
    result = await page.act("item", "click")
    assert result["ok"], result
    assert await page.js("location.hash") == "#item"
    await page.open(MENU.format(head="<a href=#>Top</a>"))
    await page.js("void (item.textContent = 'other')")
    result = await page.act("item", "click")
    assert (result["ok"], result["reason"]) == (False, "stale")
    assert await page.js("location.hash") == ""


async def test_the_head_of_a_menu_is_listed_when_nothing_else_can_be_pointed_at(page: PageProbe) -> None:
    """Page reference 21.5: words that drop a menu under the mouse are a control; beside a link or a button they are none."""
    await page.open(MENU.format(head="Products"))
    assert page.control("Products")["role"] == "clickable"
    assert (await page.act("Products", "hover"))["ok"]
    await page.read()
    assert "hover_only" not in page.control("item")
    await page.open(MENU.format(head="<a href=#>Products</a>"))
    assert [one["role"] for one in page.frame["controls"]] == ["link", "link"]


async def test_what_can_be_dragged_is_listed(page: PageProbe) -> None:
    """Page reference 21.8: by its markup, or as the usual libraries mark it; a whole page and a picture are none."""
    await page.open(
        "<div draggable=true>card</div><ul><li class=ui-sortable-handle>row</li></ul><p class=cdk-drag>tile</p>"
        "<div aria-roledescription='sortable item'>leaf</div><button draggable=true>button</button>"
        "<style>.g {{ cursor: grab }}</style>".replace("{{", "{").replace("}}", "}")
        + "<div class=g>held</div><div draggable=false>no</div><main draggable=true style='height:4000px'>all</main>"
    )
    roles = {one["label"]: one["role"] for one in page.frame["controls"]}
    assert roles == {"card": "draggable", "row": "draggable", "tile": "draggable", "leaf": "draggable"} | {
        "button": "button",
        "held": "clickable",
    }


async def test_a_link_without_an_address_is_listed(page: PageProbe) -> None:
    """Page reference 21.18: jQuery UI's "Next" is one; an anchor that marks a place is none."""
    await page.open(
        "<a id=n title=Next onclick='this.lang = 1'><span>Next</span></a><a name=here id=here>here</a><a>words</a><a id=e></a>"
    )
    assert [(one["label"], one["role"]) for one in page.frame["controls"]] == [("Next", "clickable")]
    assert (await page.act("Next", "click"))["ok"]


async def test_a_list_that_makes_things_draggable_when_they_are_pressed(page: PageProbe) -> None:
    """Page reference 21.8: SortableJS does; and a page that only cancels dragover takes the drop, as Firefox proposes an effect."""
    await page.open(
        "<div id=a role=button tabindex=0 onpointerdown='this.draggable = true' style='width:80px;height:30px'>a</div>"
        "<div id=b role=button tabindex=0 style='width:80px;height:60px' ondragover='event.preventDefault()' "
        "ondrop=\"this.textContent = 'dropped'\">b</div>"
    )
    result = await page.act("a", "drag", {"onto": page.other("b")})
    assert (result["ok"], result["did"]) == (True, ["dragstart", "dragged", "drop", "dragend"]), result
    assert await page.js("b.textContent") == "dropped"


async def test_a_press_that_opens_a_file_chooser_says_so(page: PageProbe) -> None:
    """B89: only a person's hand opens one; the files are given instead."""
    for html in (
        "<input type=file aria-label=f>",
        "<input type=file id=i hidden><label for=i>f</label>",
        "<input type=file id=i style='display:none'><button onclick='i.click()'>f</button>",
    ):
        await page.open(html)
        result = await page.act("f", "click")
        assert (result["ok"], result["reason"]) == (False, "unsupported"), html
        assert result["detail"].startswith("it opens a file chooser"), html


async def test_suggestions_without_a_named_list_are_waited_for(page: PageProbe) -> None:
    """Page reference 5: jQuery UI names no list; other changes are not taken for it."""
    await page.open("<input aria-label=f class=ui-autocomplete-input><ul id=list></ul>")
    assert page.control("f")["autocomplete"] is True
    await page.js(
        "void (setTimeout(() => document.title = 'busy', 50),"
        "setTimeout(() => list.innerHTML = '<li class=ui-menu-item>one</li>', 350))"
    )
    settled = await page.call("page.settle", **page.place, list_for=page.control("f")["node"])
    assert 340 <= settled["waited_ms"] <= 620
    assert await page.js("list.children.length") == 1


@pytest.mark.parametrize("named", [True, False], ids=["a named list", "no named list"])
async def test_a_word_that_the_server_is_asked_is_no_suggestion(page: PageProbe, named: bool) -> None:
    """Select2 says "Searching…" in a disabled option; what can be chosen is waited for."""
    await page.open(
        f"<input aria-label=f aria-autocomplete=list {'aria-controls=list' if named else ''}><ul id=list role=listbox></ul>"
    )
    for after, html in ((20, "<li role=option aria-disabled=true>Searching…</li>"), (350, "<li role=option>one</li>")):
        await page.js(f"void setTimeout(() => list.innerHTML = '{html}', {after})")
    settled = await page.call("page.settle", **page.place, list_for=page.control("f")["node"])
    assert settled["waited_ms"] >= 340
    assert await page.js("list.innerText.trim()") == "one"


SETTLING = [
    ("an open shadow root", "for (let n = 1; n < 20; n += 1) setTimeout(() => host.shadowRoot.append('x'), n * 80)"),
    ("a closed shadow root", "for (let n = 1; n < 20; n += 1) setTimeout(() => inner.append('x'), n * 80)"),
    ("a frame of the same site", "for (let n = 1; n < 20; n += 1) setTimeout(() => frames[0].document.body.append('x'), n * 80)"),
    ("a transition", "t.style.opacity = 0"),
]


@pytest.mark.parametrize(("what", "script"), SETTLING, ids=[what for what, _ in SETTLING])
async def test_settling_watches(page: PageProbe, what: str, script: str) -> None:
    """Page reference 5 [+]: shadow trees, frames, transitions; all of these go on for more than a second."""
    await page.open(
        "<div id=host></div><div id=shut></div><iframe srcdoc='<p>x'></iframe>"
        "<p id=t style='transition:opacity 1200ms linear'>t</p>"
        "<script>host.attachShadow({mode: 'open'}); window.inner = shut.attachShadow({mode: 'closed'})</script>"
    )
    await page.until("frames[0].document.body?.textContent === 'x'")
    await page.js(f"void (() => {{ t.getBoundingClientRect(); {script} }})()")
    settled = await page.call("page.settle", **page.place, list_for=None)
    assert settled["waited_ms"] >= 500


async def test_a_frame_that_the_page_covers_is_not_pressed_through(page: PageProbe) -> None:
    """Page reference 21.9: the hit test is repeated at the frame in each page around it; out of view, it is scrolled to."""
    inner = "<button onclick='parent.hit = 1; this.title = 1'>b</button>"
    await page.open(f'<iframe srcdoc="{inner}"></iframe><div id=veil hidden style="position:fixed;inset:0">Veil</div>')

    async def act() -> dict[str, object]:
        answer = await page.call("page.read")
        (frame,) = [one for one in answer["frames"] if one["frame"] != 0]
        (control,) = frame["controls"]
        place = {"frame": frame["frame"], "document": frame["document"], "host": "127.0.0.1"}
        order = {"node": control["node"], "guard": control["guard"], "key": frame["key"]}
        page.frame = frame
        return await page.act("b", "click", **place, **order)

    await page.until("frames[0].document.querySelector('button') !== null")
    await page.js("void (veil.hidden = false)")
    result = await act()
    assert (result["ok"], result["reason"], result.get("detail")) == (False, "covered", 'covered by div "Veil"'), result
    assert await page.js("window.hit ?? null") is None
    await page.js("void (veil.hidden = true, document.querySelector('iframe').style.marginTop = '3000px')")
    assert (await act())["ok"]
    assert await page.js("window.hit ?? null") == 1


async def test_settling_waits_for_a_request_of_the_page(page: PageProbe) -> None:
    """Page reference 5 [+]: what an act asked a server for is waited for, up to the cap; here it takes 0.4 s."""
    await page.open("<button onclick=\"fetch('/slow').then(() => out.textContent = 'there')\">b</button><p id=out></p>")
    assert (await page.act("b", "click"))["ok"]
    await page.call("page.settle", **page.place, list_for=None)
    assert await page.js("out.textContent") == "there"


async def test_a_control_in_a_closed_shadow_root_is_acted_on(page: PageProbe) -> None:
    """B79 and page reference 21.1: hit tests and focus go through closed roots."""
    await page.open(
        "<div id=h></div><script>const root = h.attachShadow({mode: 'closed'}); root.innerHTML = '<input aria-label=f>"
        "<button>b</button>'; root.querySelector('button').onclick = () => { h.title = root.querySelector('input').value }</script>"
    )
    assert (await page.act("f", "type", "Ada"))["ok"]
    assert (await page.again("b", "click"))["ok"]
    assert await page.js("h.title") == "Ada"


ODD = ["[1,2]", '{"a":1}', "null", "  ", "e\u0301 \U0001f98a \u202etxt", "<b>&amp;</b>"]


async def test_text_arrives_as_it_is(page: PageProbe) -> None:
    """B97 and B95: what looks like JSON or markup, combining marks, pairs of surrogates; to the last letter."""
    await page.open("<input id=f aria-label=f><textarea id=a aria-label=a></textarea>")
    for text in ODD:
        for field in ("f", "a"):
            result = await page.again(field, "type", text)
            assert (result["ok"], await page.js(f"{field}.value")) == (True, text)


async def test_what_aria_calls_disabled_is_not_pressed(page: PageProbe) -> None:
    """B83: as when it is disabled by the element itself, also by one around it."""
    await page.open(
        "<button aria-disabled=true onclick='window.hit = 1'>a</button><div aria-disabled=true><button>b</button></div>"
        "<div inert><button>c</button></div>"
    )
    assert await page.refused("a", "click") == ("disabled", "")
    assert await page.refused("b", "click") == ("disabled", "")
    assert [one["label"] for one in page.frame["controls"]] == ["a", "b"]


async def test_a_dialog_that_is_open_when_the_page_is_read_hangs_nothing(page: PageProbe) -> None:
    """B85: one that a page opens as it loads; the look comes, and so does the end of an act beside it."""
    await page.open("<button onclick='this.title = 1'>b</button><script>setTimeout(() => alert('hello'), 300)</script>")
    await page.read()
    with trio.fail_after(8):
        result = await page.act("b", "click")
    assert result["ok"] or result["reason"] in ("dialog", "timeout")
