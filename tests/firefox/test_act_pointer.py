"""Pointer operations in real Firefox: points, double and right clicks, hovering, dragging."""

from typing import Any

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


# Points


async def test_a_click_lands_at_the_point_that_was_asked_for(page: PageProbe) -> None:
    """Page reference 21.4: in percent of the box, on a canvas, a drawing, a map; scrolled into view first."""
    await page.open(
        "<div style='height:2000px'></div><canvas id=c width=200 height=100 aria-label=c role=button "
        "onclick=\"window.at = [event.offsetX, event.offsetY]; getContext('2d').fillRect(0, 0, 9, 9)\"></canvas>"
    )
    result = await page.act("c", "click", {"x": 25, "y": 80})
    assert (result["ok"], result["changed"]) == (True, ["picture"])
    assert await page.js("at") == [50, 80]
    await page.again("c", "click", {"x": 0, "y": 0})
    assert await page.js("at") == [0, 0]
    await page.again("c", "click", {"x": 100, "y": 100})
    assert await page.js("[Math.round(at[0]), Math.round(at[1])]") in ([199, 99], [200, 100])


async def test_a_point_that_something_covers_is_refused(page: PageProbe) -> None:
    """The very point and no other."""
    await page.open(
        "<canvas width=200 height=100 aria-label=c role=button style='position:absolute;left:0;top:0'></canvas>"
        "<div style='position:absolute;left:100px;top:0;width:100px;height:100px'>Veil</div>"
    )
    assert await page.refused("c", "click", {"x": 75, "y": 50}) == ("covered", 'covered by div "Veil"')
    assert (await page.act("c", "click", {"x": 25, "y": 50}))["started"]


async def test_a_double_click_and_a_right_click_send_their_events(page: PageProbe) -> None:
    """As Firefox does: two clicks and a dblclick; contextmenu instead of click."""
    await page.open("<button id=b ondblclick=\"this.title = 'x'\" oncontextmenu=\"this.title = 'y'\">b</button>")
    await page.record("mousedown", "click", "dblclick", "contextmenu", "auxclick")
    assert (await page.act("b", "click", {"count": 2}))["ok"]
    assert await page.js("seen") == ["mousedown:b", "click:b", "mousedown:b", "click:b", "dblclick:b"]
    await page.js("void (seen.length = 0)")
    assert (await page.again("b", "click", {"button": "right"}))["ok"]
    assert await page.js("seen") == ["mousedown:b", "contextmenu:b", "auxclick:b"]
    await page.read()
    for value in ({"count": 2, "button": "middle"}, {"x": "5"}):
        with pytest.raises(Exception, match="params"):
            await page.act("b", "click", value)


# Hovering


async def test_a_menu_that_opens_by_script_is_opened(page: PageProbe) -> None:
    """Page reference 21.5: the whole series of events, and a menu that waits for a moment of rest."""
    await page.open(
        '<button id=b onmouseenter="setTimeout(() => menu.hidden = false, 300)">b</button><div id=menu '
        "hidden><button>item</button></div>"
    )
    await page.record("pointerover", "mouseover", "pointermove", "mousemove", "mousedown", "click")
    result = await page.act("b", "hover")
    assert (result["ok"], result["changed"]) == (True, ["page"])
    moves = ["pointermove:b", "mousemove:b"]
    assert await page.js("seen") == ["pointerover:b", "mouseover:b", *moves, *moves]
    await page.read()
    assert page.control("item")


async def test_a_menu_that_only_a_style_sheet_opens_is_opened_and_can_be_used(page: PageProbe) -> None:
    """Page reference 21.5: `:hover` never matches events of a script; a twin of the rule does, until the pointer goes elsewhere."""
    await page.open(
        "<style>.menu { display: none } li:hover > .menu { display: block } @media all { .sub { opacity: 0 } "
        ".menu:hover .sub { opacity: 1 } }</style>"
        "<ul><li><a id=top href='#'>top</a><div class=menu><a id=item href=#item>item</a><span "
        "class=sub><button>deep</button></span></div>"
        "</li></ul><button id=away>away</button>"
    )

    def hovered() -> set[str]:
        """The controls that are there only while the pointer is over something else."""
        return {one["label"] for one in page.frame["controls"] if "hover_only" in one}

    assert hovered() == {"item", "deep"}
    result = await page.act("top", "hover")
    assert (result["ok"], result["changed"]) == (True, ["page"])
    await page.read()
    assert hovered() == {"deep"}
    assert (await page.act("item", "click"))["ok"]
    assert await page.js("location.hash") == "#item"
    await page.read()
    assert hovered() == set()
    await page.act("away", "hover")
    await page.read()
    assert hovered() == {"item", "deep"}
    assert await page.js("[document.querySelectorAll('[foxloop-hovered]').length < 5, document.adoptedStyleSheets.length]") == [
        True,
        1,
    ]


async def test_hovering_over_what_does_nothing_says_so(page: PageProbe) -> None:
    """Nothing changed."""
    await page.open("<button>b</button>")
    result = await page.act("b", "hover")
    assert (result["ok"], result["reason"]) == (False, "nothing-changed")


# Dragging

LIST = (
    "<div id=a draggable=true role=button style='width:80px;height:30px'>a</div><div id=b role=button tabindex=0 "
    "style='width:80px;height:60px'>"
    "drop</div><script>"
    "a.ondragstart = e => { e.dataTransfer.setData('text/plain', 'moved'); e.dataTransfer.effectAllowed = 'move' };"
    "b.ondragover = e => { e.preventDefault(); e.dataTransfer.dropEffect = 'move' };"
    "b.ondrop = e => { e.preventDefault(); b.textContent = e.dataTransfer.getData('text/plain') };"
    "</script>"
)


async def test_html_drag_and_drop_hands_the_data_over(page: PageProbe) -> None:
    """Page reference 21.8: its events, all with one DataTransfer."""
    await page.open(LIST)
    await page.record("pointerdown", "mousedown", "dragstart", "dragenter", "drop", "dragend", "pointerup")
    result = await page.act("a", "drag", {"onto": page.other("drop")})
    assert result["ok"], result
    assert result["did"] == ["dragstart", "dragged", "drop", "dragend"]
    assert await page.js("b.textContent") == "moved"
    assert await page.js("seen.filter(one => one !== 'dragenter:a')") == [
        *("pointerdown:a", "mousedown:a", "dragstart:a", "dragenter:b", "drop:b", "dragend:a")
    ]


async def test_a_drop_that_the_page_does_not_take_is_told(page: PageProbe) -> None:
    """No drop event; the drag ends as when a person lets go over the wrong place."""
    await page.open(LIST.replace("e.preventDefault(); e.dataTransfer.dropEffect = 'move'", ""))
    await page.record("drop", "dragend")
    result = await page.act("a", "drag", {"onto": page.other("drop")})
    assert (result["ok"], result["started"], result["reason"]) == (False, True, "unsupported")
    assert result["detail"] == "the page takes no drop there"
    assert await page.js("seen") == ["dragend:a"]


async def test_the_other_control_must_still_be_the_judged_one(page: PageProbe) -> None:
    """What it is dragged onto was judged as well."""
    await page.open(LIST)
    other = page.other("drop")
    await page.js("void (b.textContent = 'trash')")
    await page.record("dragstart", "pointerdown")
    assert await page.refused("a", "drag", {"onto": other}) == ("stale", "the control to drag it onto differs")
    assert await page.refused("a", "drag", {"onto": {**other, "node": 999}}) == (
        "gone",
        "the control to drag it onto is not there any more",
    )
    for value in ({}, {"by": {"x": 1, "y": 1}, "path": [[1, 1]]}, None, "onto"):
        assert (await page.refused("a", "drag", value))[0] == "unsupported"
    assert await page.js("seen") == []


SLIDER = (
    "<div id=t style='position:relative;width:300px;height:20px;background:#ddd'>"
    "<div id=s role=slider aria-valuenow=0 aria-label=s tabindex=0 style='position:absolute;width:20px;height:20px;"
    "background:#333'></div></div>"
    "<script>const set = e => { const x = Math.max(0, Math.min(280, e.clientX - t.getBoundingClientRect().left - 10));"
    "s.style.left = x + 'px'; s.setAttribute('aria-valuenow', Math.round(x / 2.8)) };"
    "s.onpointerdown = e => { s.setPointerCapture(e.pointerId); window.captured = s.hasPointerCapture(e.pointerId); "
    "s.onpointermove = set };"
    "s.onpointerup = e => { s.onpointermove = null; s.releasePointerCapture(e.pointerId) }</script>"
)


async def test_a_slider_with_pointer_capture_follows_the_pointer(page: PageProbe) -> None:
    """Page reference 21.8: Firefox throws for a pointer that it does not know, so capture is stood in for."""
    await page.open(SLIDER)
    result = await page.act("s", "drag", {"by": {"x": 140, "y": 0}})
    assert (result["ok"], result["did"]) == (True, ["down", "moved", "up"])
    assert await page.js("[captured, s.getAttribute('aria-valuenow')]") == [True, "50"]
    assert await page.js("(() => { try { s.setPointerCapture(1) } catch (e) { return e.name } })()") == "NotFoundError"


async def test_a_list_is_sorted_by_small_steps(page: PageProbe) -> None:
    """Corpora 7: mouse events, one axis at a time, a few pixels first."""
    await page.open(
        "<style>li { height: 30px; width: 100px }</style><ul id=l><li role=button tabindex=0>one<li role=button tabindex=0>two"
        "<li role=button tabindex=0>three</ul><script>let held = null; window.first = null;"
        "l.onmousedown = e => { held = e.target; window.from = e.clientY };"
        "document.onmousemove = e => { if (!held) return; window.first ??= Math.abs(e.clientY - from);"
        "const over = document.elementsFromPoint(e.clientX, e.clientY).find(x => x.matches('li') && x !== held);"
        "if (over && Math.abs(e.clientY - from) > 5) { const r = over.getBoundingClientRect();"
        "over[e.clientY > r.top + r.height / 2 ? 'after' : 'before'](held) } };"
        "document.onmouseup = () => held = null</script>"
    )
    result = await page.act("one", "drag", {"onto": page.other("three", x=50, y=80)})
    assert result["ok"], result
    assert await page.js("[...l.children].map(x => x.textContent)") == ["two", "three", "one"]
    assert await page.js("first") <= 3


async def test_drawing_follows_the_path(page: PageProbe) -> None:
    """In percent of the control's own box."""
    await page.open(
        "<canvas id=c width=200 height=200 aria-label=c role=button></canvas><script>window.points = []; const g = "
        "c.getContext('2d');"
        "c.onmousemove = e => { if (e.buttons) { points.push([e.offsetX, e.offsetY]); g.lineTo(e.offsetX, e.offsetY); "
        "g.stroke() } }</script>"
    )
    value = {"from": {"x": 10, "y": 10}, "path": [[90, 10], [90, 90]]}
    result = await page.act("c", "drag", value)
    assert (result["ok"], "picture" in result["changed"]) == (True, True)
    points: list[list[float]] = await page.js("points")
    assert len(points) > 20
    assert points[-1] == [180, 180]
    assert any(abs(x - 180) < 1 and abs(y - 20) < 1 for x, y in points)
    assert all(abs(y - 20) < 1 or abs(x - 180) < 1 for x, y in points)


NATIVE: list[tuple[str, dict[str, Any], str]] = [
    ("<input type=range aria-label=r id=r min=0 max=10 style='width:200px'>", {"by": {"x": 60, "y": 0}}, "8"),
    ("<input type=range aria-label=r id=r min=0 max=10 style='width:200px'>", {"path": [[0, 50]]}, "0"),
]


async def test_a_native_slider_is_set_to_where_it_was_dragged(page: PageProbe) -> None:
    """Page reference 21.8: through the native setter, with input and change; typing a number does it too."""
    for html, value, then in NATIVE:
        await page.open(html)
        await page.record("input", "change")
        result = await page.act("r", "drag", value)
        assert (result["ok"], result["value"]) == (True, then)
        assert await page.js("seen") == ["input:r", "change:r"]
    assert (await page.again("r", "type", "7"))["value"] == "7"
    result = await page.again("r", "type", "99")
    assert (result["ok"], result["reason"], result["value"]) == (False, "mismatch", "10")
