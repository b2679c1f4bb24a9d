"""Script dialogs and leaving a page in real Firefox: answered by policy, or by the one answer that was armed for the one act."""

from typing import Any

import pytest
import trio

from foxloop_trio.testing._act_probe import PageProbe

pytestmark = pytest.mark.firefox


ASKING = '<button id=b onclick="this.title = JSON.stringify([{}])">b</button>'
ARMED: list[tuple[str, Any, list[Any]]] = [
    ("confirm('1')", None, [False]),
    ("confirm('1')", {"accept": True}, [True]),
    ("confirm('1')", {"accept": False}, [False]),
    ("confirm('1'), confirm('2')", {"accept": True}, [True, False]),
    ("prompt('1')", {"accept": True, "reply": "Ada"}, ["Ada"]),
    ("prompt('1', 'given')", {"accept": True}, ["given"]),
    ("prompt('1'), confirm('2')", {"accept": True, "reply": "Ada"}, ["Ada", False]),
    ("alert('1'), confirm('2')", {"accept": True}, [None, True]),
    ("print(), confirm('2')", {"accept": True}, [None, True]),
]


async def test_the_armed_answer_is_given_once_and_no_to_all_else(page: PageProbe) -> None:
    """Page reference 21.15: never yes by itself; the first question gets what was armed, and the act after it nothing."""
    for calls, armed, answers in ARMED:
        await page.open(ASKING.replace("{}", calls))
        changes = {} if armed is None else {"dialog": armed}
        result = await page.act("b", "click", **changes)
        assert result["ok"], result
        assert await page.js("JSON.parse(b.title)") == answers, (calls, armed)
        assert [one["answer"] for one in result["dialogs"]] == answers
        result = await page.again("b", "click")
        assert not any(one["answer"] for one in result["dialogs"])


async def test_an_answer_that_was_not_used_dies_with_the_act(page: PageProbe) -> None:
    """It was judged for this act and no other."""
    await page.open("<button id=a onclick='this.title = 1'>a</button><button id=b onclick=\"this.title = confirm('?')\">b</button>")
    await page.act("a", "click", dialog={"accept": True})
    await page.again("b", "click")
    assert await page.js("b.title") == "false"


async def test_a_dialog_of_a_frame_is_answered_too(page: PageProbe) -> None:
    """B85: a frame of the same site, and the page around it."""
    await page.open(
        "<iframe srcdoc=\"<script>onmessage = () => parent.document.title = confirm('in?')</script>\"></iframe>"
        "<button onclick=\"frames[0].eval(`parent.document.title = confirm('in frame?')`)\">b</button>"
    )
    await page.until("frames[0].document.readyState === 'complete'")
    result = await page.again("b", "click")
    assert result["dialogs"] == [{"kind": "confirm", "message": "in frame?", "answer": False}]
    assert await page.js("document.title") == "false"


KEEP = "<script>addEventListener('beforeunload', e => { window.asked = (window.asked ?? 0) + 1; e.preventDefault() })</script>"
KEEP_OLD = "<script>window.onbeforeunload = () => 'Unsaved'</script>"


@pytest.mark.parametrize("keep", [KEEP, KEEP_OLD], ids=["listener", "attribute"])
async def test_a_page_that_asks_not_to_be_left_is_not_left(page: PageProbe, keep: str) -> None:
    """B85: recorded, never accepted blindly, and nobody is asked; also after a real press, when Firefox would ask."""
    await page.open(f"{keep}<a href=/elsewhere>go</a>")
    press = [{"type": "pointerMove", "x": 20, "y": 200}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
    await page.session.bidi(
        "input.performActions",
        context=await page.tab.bidi_context(),
        actions=[{"type": "pointer", "id": "mouse", "actions": press}],
    )
    with trio.fail_after(3):
        result = await page.act("go", "click")
    assert (result["navigated"], result["dialogs"]) == (False, [{"kind": "beforeunload", "message": "", "answer": False}])
    await page.call("page.settle", **page.place, list_for=None)
    assert await page.js("location.pathname") != "/elsewhere"
    for script in ("location = '/elsewhere'", "document.forms[0].requestSubmit()"):
        await page.open(f'{keep}<form action=/elsewhere></form><button onclick="{script}">go</button>')
        result = await page.act("go", "click")
        assert (result["navigated"], [one["answer"] for one in result["dialogs"]]) == (False, [False]), result
        await page.call("page.settle", **page.place, list_for=None)
        assert await page.js("location.pathname") != "/elsewhere"
    assert page.site.asked[-1] != "/elsewhere"


async def test_a_page_is_left_when_that_was_armed(page: PageProbe) -> None:
    """The act is judged for it; and a page that does not ask is left as always."""
    await page.open(f"{KEEP}<a href=/elsewhere>go</a>")
    await page.act("go", "click", dialog={"accept": True})
    await page.until("location.pathname === '/elsewhere'")
    await page.open("<script>addEventListener('beforeunload', () => { window.asked = 1 })</script><a href=/elsewhere>go</a>")
    result = await page.act("go", "click")
    assert [one for one in result["dialogs"] if one["kind"] == "beforeunload"] == []
    await page.until("location.pathname === '/elsewhere'")
