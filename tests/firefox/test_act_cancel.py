"""Stopping an act at each of its sub-steps, in real Firefox: nothing more is sent, and the result says what the page received.

The page itself says when: as soon as it has received so many events it asks the server for an address, and stands still until that
is answered. The test stops the call, and has it answered when the cancel had its time to arrive.
"""

from typing import Any

import pytest
import trio

from foxloop_trio.channel import Call, RemoteCallError
from foxloop_trio.testing._act_probe import PageProbe, soon

pytestmark = pytest.mark.firefox


COUNT = (
    "<script>window.got = []; for (const type of {types}) addEventListener(type, e => { got.push(type + ':' + (e.key ?? "
    "e.data ?? '')); "
    "if (got.length === stop) slow() }, true);"
    "const slow = () => { const held = new XMLHttpRequest(); held.open('GET', '/held', false); try { held.send() } catch {} };"
    "window.stop = 0</script>"
)


ARRIVES_SECONDS = 0.2
"""For a cancel on its way to the page, which stands still meanwhile: what is on its way before the next sub-step comes first."""


async def stopped_after(page: PageProbe, order: dict[str, Any], count: int) -> dict[str, Any]:
    """The result of an act that is cancelled when the page has received so many events; {} when nothing was begun."""
    await page.js(f"void (window.stop = {count})")
    page.site.asked.clear()
    page.site.release.clear()
    call = page.start(order)
    with trio.fail_after(10):
        while "/held" not in page.site.asked:  # noqa: ASYNC110 - another thread writes it
            await trio.sleep(0.005)
    async with trio.open_nursery() as nursery:

        async def go_on() -> None:
            await trio.sleep(ARRIVES_SECONDS)
            page.site.release.set()

        nursery.start_soon(go_on)
        try:
            result = await call.cancel(5) or {}
        except RemoteCallError as error:
            assert error.code == "cancelled"  # noqa: PT017 - the other way out is a result
            result = {}
    return result


async def quiet(page: PageProbe) -> list[str]:
    """What the page has received, when it has had every chance to receive more."""
    got: list[str] = await page.js("got")
    await trio.sleep(0.3)
    assert await page.js("got") == got
    return got


async def test_keys_stop_where_they_are_stopped(page: PageProbe) -> None:
    """Each stroke is a sub-step: those that the page received stand in the result, and no other."""
    for count in range(1, 5):
        await page.open(COUNT.replace("{types}", "['keyup']") + "<input id=f aria-label=f>")
        result = await stopped_after(page, page.order("f", "press", "a b c d e f"), count)
        got = await quiet(page)
        assert (result["ok"], result["reason"], result["started"]) == (False, "cancelled", True)
        assert [f"keyup:{step.removeprefix('key ')}" for step in result["did"]] == got
        assert await page.js("f.value") == "".join(step.removeprefix("key ") for step in result["did"])
        assert len(got) == count


async def test_a_drag_stops_on_its_way_and_drops_nothing(page: PageProbe) -> None:
    """By pointer: the button is not let go; by HTML's events: nothing is dropped. The result says how far it went."""
    handle = "<div id=a role=button tabindex=0 {} style='width:50px;height:20px'>a</div><div style='height:200px'></div>"
    for count in (1, 5, 15):
        await page.open(COUNT.replace("{types}", "['pointermove', 'pointerup']") + handle.format(""))
        await page.js("void got.splice(0)")
        result = await stopped_after(page, page.order("a", "drag", {"by": {"x": 150, "y": 0}}), count + 1)
        got = await quiet(page)
        assert (result["ok"], result["reason"]) == (False, "cancelled")
        assert "pointerup:" not in got
        assert result["did"] == ["down"]
        # Each step is two moves when the pointer comes over another element, or one; the first is the way to the control.
        assert f"moved {int(result['detail'].split()[1])} of" in result["detail"]
    for count in (1, 4):
        await page.open(
            COUNT.replace("{types}", "['dragover', 'drop', 'dragend']")
            + handle.format("draggable=true")
            + "<script>ondragover = e => e.preventDefault()</script>"
        )
        result = await stopped_after(page, page.order("a", "drag", {"by": {"x": 150, "y": 0}}), count)
        got = await quiet(page)
        assert (result["ok"], result["reason"], result["did"]) == (False, "cancelled", ["dragstart"])
        assert got == ["dragover:"] * count
        assert result["detail"].startswith(f"dragged {count} of ")


async def test_an_editor_stops_between_its_lines(page: PageProbe) -> None:
    """What it holds is what was inserted so far, and the result says so."""
    for count in (1, 2, 3):
        await page.open(
            COUNT.replace("{types}", "['beforeinput']") + "<div id=e role=textbox aria-label=e contenteditable>old</div>"
        )
        result = await stopped_after(page, page.order("e", "type", "a\nb\nc"), count)
        await quiet(page)
        assert (result["ok"], result["reason"], result["started"]) == (False, "cancelled", True)
        held = await page.js("e.innerText.trim()")
        assert result["value"] == held
        inserted = [step for step in result["did"] if step.startswith("insert")]
        assert held.replace("\n", "") == "abc"[: len(inserted)]
        assert len(held.replace("\n", "")) < 3


async def test_a_list_that_was_opened_is_not_chosen_from(page: PageProbe) -> None:
    """It stays open; nothing in it is pressed."""
    await page.open(
        COUNT.replace("{types}", "['click']")
        + "<button id=b aria-haspopup=listbox aria-label=Size>none</button><ul id=l role=listbox hidden><li role=option>Large</ul>"
        "<script>b.onclick = () => setTimeout(() => l.hidden = false, 50); l.onclick = () => b.textContent = 'Large'</script>"
    )
    result = await stopped_after(page, page.order("Size", "select", "Large"), 1)
    assert (result["ok"], result["reason"], result["did"]) == (False, "cancelled", ["open"])
    assert await quiet(page) == ["click:"]
    assert await page.js("b.textContent") == "none"


async def test_scrolling_for_a_text_stops(page: PageProbe) -> None:
    """Each step of the way is one."""
    await page.open(
        COUNT.replace("{types}", "['scroll']") + "<button>b</button><div style='height:30000px'></div><p>the end of it</p>"
    )
    await page.js("void document.querySelector('p').remove()")
    result = await stopped_after(page, page.order("b", "scroll", {"until": "the end of it"}), 2)
    place = await page.js("scrollY")
    await quiet(page)
    assert (result["ok"], result["reason"]) == (False, "cancelled")
    steps = [int(step.split()[1]) for step in result["did"]]  # "scrolled N px"
    assert 2 <= len(steps) < 20  # a step takes 50 ms, which the cancel may take too
    assert await page.js("Math.round(scrollY)") == round(place) == pytest.approx(sum(steps), abs=len(steps))


async def test_a_press_that_was_made_is_told_and_its_effect_is_not_waited_for(page: PageProbe) -> None:
    """A press cannot be half; the wait for what comes of it ends at once."""
    # A beacon is no sign that the press came to something, as a request that the page waits for is.
    busy = "const end = performance.now() + 400; while (performance.now() < end);"
    await page.open(
        f"<script>got = []; onclick = () => {{ got.push('click:'); navigator.sendBeacon('/held'); {busy} }}</script>"
        "<button>b</button>"
    )
    result = await stopped_after(page, page.order("b", "click"), 1)
    assert (result["ok"], result["reason"], result["did"]) == (False, "cancelled", ["press"])
    assert await quiet(page) == ["click:"]


async def test_files_that_are_staged_and_never_used_reach_no_page(page: PageProbe) -> None:
    """The act is what gives them; it was cancelled before it began."""
    await page.open("<div style='height:3000px'></div><input type=file id=f aria-label=f>")
    order = page.order("f", "files", {"files": [{"name": "a", "type": "text/plain", "size": 3}]})
    await page.call("page.stage", **page.place, call=order["call"], index=0, data="YWJj")
    call = page.start(order)
    await soon(lambda: sent(call))
    with pytest.raises(RemoteCallError) as caught:
        await call.cancel(5)  # it waits for the scroll into view
    assert (caught.value.code, call.started) == ("cancelled", False)
    await trio.sleep(0.2)
    assert await page.js("f.files.length") == 0


async def sent(call: Call) -> bool:
    await trio.lowlevel.checkpoint()
    return call.sent
