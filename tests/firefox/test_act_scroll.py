"""Operation `scroll` in real Firefox: what moves, how far, and until what."""

from typing import Any

import pytest

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


BOX = (
    "<div id=box style='height:100px;width:200px;overflow:auto'><div style='height:900px;"
    "width:900px'><button>in</button></div></div>"
    "<div style='height:3000px'></div><button>below</button>"
)
MOVES: list[tuple[str, Any, str, Any, str]] = [
    ("in", 50, "box.scrollTop", 50, "moved by 50 px"),
    ("in", {"down": 20}, "box.scrollTop", 20, "moved by 20 px"),
    ("in", {"right": 30}, "box.scrollLeft", 30, "moved by 0 px down and 30 px to the right"),
    ("in", {"edge": "bottom"}, "box.scrollTop > 790", True, "moved by"),
    ("in", -50, "box.scrollTop", 0, "it did not move: it is at its end"),
    ("below", None, "scrollY", 560, "moved by 560 px"),
    ("below", {"edge": "here"}, "below.getBoundingClientRect().top < innerHeight", True, "moved by"),
    ("below", {"edge": "top"}, "scrollY", 0, "it did not move"),
]


async def test_what_the_control_stands_in_moves_and_the_result_says_how_far(page: PageProbe) -> None:
    """Page reference 4.4 [+] and 21.19."""
    for label, value, look, then, detail in MOVES:
        await page.open(BOX.replace("<button>below", "<button id=below>below"))
        result = await page.act(label, "scroll", value)
        assert (result["ok"], await page.js(look)) == (True, then), (value, result)
        assert result["detail"].startswith(detail), (value, result)


ROWS = (
    "<div id=l style='height:120px;overflow:auto'><div id=space style='position:relative;"
    "height:9000px'></div></div><button>b</button><script>"
    "const draw = () => { const first = Math.floor(l.scrollTop / 30); space.replaceChildren(...Array.from({length: 6}, (_, n) => {"
    "const o = document.createElement('button'); o.textContent = 'Row ' + (first + n);"
    "o.style = `position:absolute;height:30px;top:${(first + n) * 30}px`; return o })) }; l.onscroll = draw; draw()</script>"
)


async def test_a_list_is_scrolled_until_the_text_is_there(page: PageProbe) -> None:
    """Page reference 21.19: a list that draws only what is in view; twenty times at most, and never beyond its end."""
    await page.open(ROWS)
    result = await page.act("Row 0", "scroll", {"until": "row  40"})
    assert (result["ok"], result["value"]) == (True, "Row 40"), result
    await page.read()
    assert page.control("Row 40")["offscreen"] is False
    await page.js("void (l.scrollTop = 0)")
    result = await page.again("b", "scroll", {"until": "no such text"})
    assert (result["ok"], result["reason"]) == (False, "not-found")
    await page.read()
    first = page.frame["controls"][0]["label"]
    result = await page.act(first, "scroll", {"until": "Row 299"})
    assert (result["ok"], result["reason"], "20 steps" in result["detail"]) == (False, "not-found", True)


async def test_a_list_that_loads_more_at_its_end_is_waited_for(page: PageProbe) -> None:
    """Endless lists."""
    await page.open(
        "<div id=l style='height:100px;overflow:auto'><p style='height:200px'><button>first</button></p></div><script>let n = 0;"
        "l.onscroll = () => { if (l.scrollTop + l.clientHeight > l.scrollHeight - 5 && n < 5) setTimeout(() => { n += 1;"
        "const p = document.createElement('p'); p.textContent = 'Part ' + n; p.style.height = '200px'; l.append(p) }, 60) "
        "}</script>"
    )
    result = await page.act("first", "scroll", {"until": "Part 4"})
    assert (result["ok"], result["value"]) == (True, "Part 4"), result


@pytest.mark.parametrize("value", [{}, {"down": 1, "edge": "top"}, {"until": " "}, [], {"until": "x", "right": 2}])
async def test_what_is_no_way_to_scroll_is_refused_untouched(page: PageProbe, value: Any) -> None:
    """One wish at a time."""
    await page.open(BOX)
    assert (await page.refused("in", "scroll", value))[0] == "unsupported"


async def test_a_disabled_field_that_scrolls_sends_the_event_that_pages_wait_for(page: PageProbe) -> None:
    """Corpora, Firefox fact 2: Firefox sends none, not even for a real wheel; and just one."""
    await page.open(
        "<textarea disabled id=t aria-label=t style='height:40px'>"
        + "line\n" * 50
        + "</textarea><button id=b disabled>agree</button>"
        "<script>window.scrolls = 0; t.onscroll = () => { scrolls += 1; b.disabled = t.scrollTop + t.clientHeight < "
        "t.scrollHeight - 1 }"
        "</script>"
    )
    result = await page.act("t", "scroll", {"edge": "bottom"})
    assert result["ok"], result
    assert await page.js("[scrolls, b.disabled]") == [1, False]
