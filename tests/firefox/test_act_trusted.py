"""The second route: input of Firefox's own over BiDi, under the same permit and the same guards, with the same record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab
from foxloop_trio.errors import BadOptionsError, BrowserError, UsageError
from foxloop_trio.testing._act_probe import ProbeSite
from foxloop_trio.testing._hand_probe import HandProbe

pytestmark = pytest.mark.firefox


@pytest.fixture
def page(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> Iterator[HandProbe]:
    with HandProbe.over(firefox, tab, site) as probe:
        yield probe


ONLY_TRUSTED = "<script>const only = f => e => { if (e.isTrusted) f(e) };</script>"


async def test_a_page_that_takes_only_a_real_hand_is_used(page: HandProbe) -> None:
    """Press, double press, right button, check, keys, text: each trusted; each result says what came of it and by which way."""
    await page.open(
        ONLY_TRUSTED + "<button id=b>press</button><p id=out></p><label><input type=checkbox id=c>box</label>"
        "<label>text <input id=t value=old></label><label>area <textarea id=a></textarea></label>"
        "<div contenteditable aria-label=rich id=r>old</div>"
        "<script>b.onclick = only(() => out.textContent += 'click '); b.ondblclick = only(() => out.textContent += 'double ');"
        "b.oncontextmenu = e => { e.preventDefault(); if (e.isTrusted) out.textContent += 'menu ' };"
        "t.onkeydown = only(e => { if (e.key === 'Escape') out.textContent += 'escape ' })</script>"
    )
    pressed = await page.hand("press", "click")
    assert (pressed.ok, pressed.started, pressed.did) == (True, True, ("trusted press",))
    assert "page" in pressed.changed
    assert page.reports[-1] == ("done", {"op": "click", "control": page.reports[-1][1]["control"]})
    assert (await page.hand("press", "click", {"count": 2})).ok
    assert (await page.hand("press", "click", {"button": "right"})).ok
    checked = await page.hand("box", "check")
    assert (checked.ok, checked.checked) == (True, True)
    again = await page.hand("box", "check")
    assert (again.ok, again.started) == (True, False)
    assert page.reports[-1][0] == "done"  # it was as it should be
    assert (await page.hand("box", "uncheck")).checked is False
    typed = await page.hand("text", "type", "Grüße, Ω!")
    assert (typed.ok, typed.value, typed.did) == (True, "Grüße, Ω!", ("trusted type",))
    assert (await page.hand("text", "press", "Escape")).ok
    assert (await page.hand("area", "type", "one\ntwo")).value == "one\ntwo"
    assert (await page.hand("rich", "type", "new")).ok
    emptied = await page.hand("text", "type", "")
    assert (emptied.ok, emptied.value) == (True, "")
    assert await page.js("[out.textContent, t.value, a.value, r.innerText.trim(), c.checked]") == [
        "click click click double menu escape ",
        "",
        "one\ntwo",
        "new",
        False,
    ]


async def test_what_only_a_script_can_do_goes_the_first_way(page: HandProbe) -> None:
    """Select, date; and what a frame holds."""
    await page.open("<select aria-label=s><option>a<option>b</select><label>d <input type=date></label>")
    chosen = await page.hand("s", "select", "b")
    assert chosen.ok
    assert "trusted" not in " ".join(chosen.did)
    assert (await page.hand("d", "date", "2026-10-09")).ok


async def test_what_lies_in_a_frame_is_pressed_by_script_or_refused_with_that_reason(page: HandProbe) -> None:
    """Input of Firefox's own goes to the top document; a page in a frame that takes nothing else is no success."""
    await page.open(
        "<iframe srcdoc=\"<button onclick='this.textContent = `pressed`'>plain</button>"
        "<button onclick='if (event.isTrusted) this.textContent = `pressed`'>only a hand</button>\"></iframe>"
    )
    pressed = await page.hand("plain", "click")
    assert (pressed.ok, "trusted press" in pressed.did) == (True, False), pressed
    refused = await page.hand("only a hand", "click")
    assert (refused.ok, refused.reason, "needs a real gesture" in (refused.detail or "")) == (False, "unsupported", True)
    assert [one.label for one in (await page.tab.snapshot()).controls] == ["pressed", "only a hand"]


async def test_a_menu_under_the_mouse_opens(page: HandProbe) -> None:
    """Hover: `:hover` of a style sheet matches, since the pointer is really there."""
    await page.open(
        "<style>.menu { visibility: hidden } li:hover .menu { visibility: visible }</style><ul style='width:200px'>"
        "<li><button>top</button><button class=menu id=item>item</button></li></ul>"
    )
    await page.hand("top", "hover")
    assert await page.js("getComputedStyle(item).visibility") == "visible"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("b.textContent = 'other'", "stale"),
        ("b.remove()", "gone"),
        ("document.body.insertAdjacentHTML('beforeend', '<div style=\"position:fixed;inset:0\">over</div>')", "stale"),
        ("document.querySelector('input').value = 'changed'", "stale"),
        ("b.disabled = true", "stale"),
    ],
)
async def test_what_changes_between_aim_and_press_is_not_pressed(page: HandProbe, change: str, reason: str) -> None:
    """The last check and the act are of one turn: input that comes to something else is stopped before the page hears of it."""
    await page.open(
        "<script>window.heard = 0; for (const type of ['pointerdown', 'mousedown', 'click']) addEventListener(type, () => heard++)"
        "</script><form><label>field <input></label><button type=button id=b>press</button></form>"
    )
    pin, permit = await page.judged("press", "click")
    asked = page.session.bidi

    async def changed_first(method: str, **params: Any) -> Any:
        if method == "input.performActions":
            await page.js(f"void ({change})")
        return await asked(method, **params)

    page.session.bidi = changed_first  # type: ignore[method-assign]
    try:
        result = await page.do(pin, "click", None, permit)
    finally:
        page.session.bidi = asked  # type: ignore[method-assign]
    assert (result.ok, result.started, result.reason) == (False, False, reason), result
    assert page.reports[-1][0] == "not-started"
    assert await page.js("heard") == 0


async def test_a_link_that_is_pressed_by_hand_is_followed(page: HandProbe) -> None:
    """The document goes away: done, and navigated."""
    await page.open("<a href='/there'>go</a>")
    result = await page.hand("go", "click")
    assert result.ok
    assert result.started
    with trio.fail_after(10):
        while not page.tab.url.endswith("/there"):  # noqa: ASYNC110  # Firefox tells a test nothing of this
            await trio.sleep(0.02)


async def test_a_stop_on_the_way_sends_nothing_more_and_says_what_arrived(page: HandProbe) -> None:
    """Cancelled while long text is typed: the record is of what the page received; nothing comes later."""
    await page.open("<label>text <textarea id=t></textarea></label>")
    text = "abcdefghij" * 60
    pin, permit = await page.judged("text", "type", text)
    asked = page.session.bidi
    pieces = 0

    with trio.CancelScope() as scope:

        async def stopped_after_two(method: str, **params: Any) -> Any:
            nonlocal pieces
            answer = await asked(method, **params)
            if method == "input.performActions":
                pieces += 1
                if pieces == 3:
                    scope.cancel()
                    await trio.lowlevel.checkpoint()
            return answer

        page.session.bidi = stopped_after_two  # type: ignore[method-assign]
        try:
            await page.do(pin, "type", text, permit)
        finally:
            page.session.bidi = asked  # type: ignore[method-assign]
    assert scope.cancelled_caught
    held = await page.js("t.value")
    assert held == text[:100]
    assert page.reports[-1][0] == "partial"
    await trio.sleep(0.7)
    assert await page.js("t.value") == held
    # The hand is free again.
    await page.js("void (t.value = '')")
    assert (await page.hand("text", "type", "new")).value == "new"


HEARS = (
    "<label>text <textarea id=t></textarea></label><script>window.got = []; window.stop = 0;"
    "for (const type of ['keydown', 'keyup', 'pointerdown', 'pointerup', 'click', 'dblclick']) addEventListener(type, e => {"
    "  if (!e.isTrusted) return; got.push(type + ' ' + (e.key ?? ''));"
    "  if (got.length === stop) navigator.sendBeacon('/cancel-now');"
    "  for (const end = performance.now() + (stop && 20); performance.now() < end;);"
    "}, true)</script>"
)


@pytest.mark.parametrize(
    ("op", "value", "at"),
    [
        ("type", "abcdefghij" * 5, 1),
        ("type", "abcdefghij" * 5, 4),
        ("type", "abcdefghij" * 5, 30),
        ("press", "Shift+a Space b c d", 2),
    ],
)
async def test_a_stop_in_the_middle_of_a_piece_lets_go_of_what_is_held_and_leaves_the_hand_free(
    page: HandProbe, op: str, value: str, at: int
) -> None:
    """Not even the page's first listener hears of more than the release of keys and buttons; the next act may come at once."""
    await page.open(HEARS)
    pin, permit = await page.judged("text", op, value)
    await page.js(f"void (window.stop = {at})")
    before = len(page.site.asked)
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            while "/cancel-now" not in page.site.asked[before:]:  # noqa: ASYNC110  # another thread writes it
                await trio.sleep(0.005)
            nursery.cancel_scope.cancel()

        nursery.start_soon(stop)
        await page.do(pin, op, value, permit)
    assert nursery.cancel_scope.cancelled_caught
    assert page.reports[-1][0] == "partial"
    got, held = await page.js("[got, t.value]")
    downs, ups = ([one for one in got if one.split()[0].endswith(way)] for way in ("down", "up"))
    assert sorted(one.replace("down", "up") for one in downs) == sorted(ups)
    assert len(held) <= len(downs) < len(value)
    await page.js("void (window.stop = 0)")
    assert (await page.hand("text", "press", "z")).ok
    await trio.sleep(0.3)
    assert await page.js("[got, t.value.length]") == [[*got, "keydown z", "keyup z"], len(held) + 1]


async def test_what_comes_behind_a_key_that_leads_away_reaches_no_other_page(page: HandProbe) -> None:
    """The next document is not the judged one: it is not loaded while input is on its way."""
    page.site.pages["/next"] = (
        "<!doctype html><textarea autofocus id=t></textarea><script>window.got = []; "
        "addEventListener('keydown', e => got.push(e.key), true)</script>"
    )
    await page.open("<form action=/next><label>text <input name=q></label></form>")
    result = await page.hand("text", "press", "a Enter " + "x " * 48)
    assert result.started
    await page.until("location.pathname === '/next' && document.readyState === 'complete'")
    await trio.sleep(0.2)
    assert await page.js("[got, t.value]") == [[], ""]


async def test_an_act_by_hand_whose_line_is_cut_sends_no_further_piece(page: HandProbe) -> None:
    """BiDi is another connection, which is there still; but what it sends would not be judged any more."""
    await page.open("<label>text <textarea id=t></textarea></label>")
    pin, permit = await page.judged("text", "type", "abcdefghij" * 20)
    asked, sent = page.session.bidi, 0

    async def cut_after_two(method: str, **params: Any) -> Any:
        nonlocal sent
        answer = await asked(method, **params)
        sent += method == "input.performActions"
        if sent == 2:
            await page.session.channel.aclose()
        return answer

    page.session.bidi = cut_after_two  # type: ignore[method-assign]
    with pytest.raises(BrowserError, match="lost"):
        await page.do(pin, "type", "abcdefghij" * 20, permit)
    assert (sent, page.reports[-1][0]) == (2, "unknown")


async def test_a_line_break_would_send_so_it_is_refused(page: HandProbe) -> None:
    """In a field of one line, Enter is not text."""
    await page.open("<form><label>text <input></label></form>")
    result = await page.hand("text", "type", "a\nb")
    assert (result.ok, result.started, result.reason) == (False, False, "unsupported")


async def test_a_permit_that_is_over_lets_nothing_through(page: HandProbe) -> None:
    """Nothing is sent, and the page script lets go."""
    await page.open("<button id=b onclick=\"this.textContent = 'pressed'\">press</button>")
    pin, permit = await page.judged("press", "click")
    await permit.settle()
    with pytest.raises(UsageError) as caught:
        await page.do(pin, "click", None, permit)
    assert caught.value.code == "permit-closed"
    assert await page.js("b.textContent") == "press"


async def test_only_a_launched_firefox_has_such_input(firefox: BrowserSession) -> None:
    """BadOptionsError names the way."""
    with pytest.raises(BadOptionsError, match="launch_firefox"):
        BrowserSession(firefox.channel, trusted_input=True)
