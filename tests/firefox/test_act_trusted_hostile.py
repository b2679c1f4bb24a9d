"""Pages that work against input of Firefox's own: it comes to what was judged, as that was judged, or to nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
import trio

from foxloop_trio.browser import BrowserSession, Tab, _tab, launch_firefox
from foxloop_trio.errors import BrowserError
from foxloop_trio.testing._act_probe import ProbeSite, serve_probes
from foxloop_trio.testing._hand_probe import HandProbe

pytestmark = pytest.mark.firefox

HOST, FRAMED = "a.localhost", "b.a.localhost"
"""Two hosts of one site, which Firefox keeps in one process: there its input goes where pointer and focus are."""

HEARS = (
    "<script>for (const type of ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'keydown', 'keypress', 'keyup']) "
    "addEventListener(type, e => fetch('/heard?' + type + (e.key ?? '')), true)</script>"
)


@pytest.fixture(scope="module")
def served() -> Iterator[ProbeSite]:
    with serve_probes() as site:
        yield site


@pytest.fixture
def site(served: ProbeSite) -> ProbeSite:
    served.asked.clear()
    served.pages["/inner"] = (
        f"<!doctype html><button id=b style='position:fixed;inset:0'>inner</button>{HEARS}<script>b.focus()</script>"
    )
    served.pages["/next"] = f"<!doctype html><textarea autofocus></textarea>{HEARS}"
    return served


@pytest.fixture
def page(firefox: BrowserSession, tab: Tab, site: ProbeSite) -> Iterator[HandProbe]:
    with HandProbe.over(firefox, tab, site) as probe:
        yield probe


async def show(page: HandProbe, html: str) -> None:
    """A page with this body, on the host `HOST`; its frames have come."""
    await page.tab.goto(at(page.site, HOST, page.site.put(html).removeprefix(page.site.url)))
    await page.until("document.readyState === 'complete'")


def at(site: ProbeSite, host: str, path: str) -> str:
    return site.url.replace("127.0.0.1", host) + path


def frame(page: HandProbe, host: str, style: str = "") -> str:
    return f"<iframe id=f src='{at(page.site, host, '/inner')}' style='{style}'></iframe>"


async def heard(page: HandProbe) -> list[str]:
    """What pages have told their server of what they heard; a request takes a moment."""
    await trio.sleep(0.3)
    return [path.partition("?")[2] for path in page.site.asked if path.startswith("/heard")]


OVER = "position:fixed;left:0;top:0;width:100%;height:100%;opacity:0.01"


@pytest.mark.parametrize("host", [HOST, FRAMED, "127.0.0.1"])
@pytest.mark.parametrize("when", ["pointermove", "mousedown"])
async def test_no_press_comes_to_a_frame_that_the_page_puts_under_the_pointer(page: HandProbe, when: str, host: str) -> None:
    """The page in the frame hears nothing, and the result says what the judged one received."""
    await show(
        page,
        frame(page, host, f"{OVER};pointer-events:none")
        + f"<button style='margin:50px'>press</button><script>addEventListener('{when}', () => "
        "{ f.style.pointerEvents = 'auto' }, true)</script>",
    )
    result = await page.hand("press", "click", {"count": 2} if when == "mousedown" else None)
    assert await heard(page) == []
    assert (result.ok, result.reason) == (False, "stale"), result
    assert page.effect == ("partial" if when == "mousedown" else "not-started")


async def test_no_press_comes_to_a_frame_that_the_page_makes_under_the_pointer(page: HandProbe) -> None:
    """It comes up while the input is on its way, and without any request."""
    await show(
        page,
        "<button style='margin:50px'>press</button><script>addEventListener('pointermove', () => { const f = "
        f"document.createElement('iframe'); f.style = '{OVER}'; f.srcdoc = `<button style='position:fixed;inset:0'>b</button>"
        f"{HEARS.replace('</script>', '</` + `script>')}`; document.body.append(f);"
        "for (const end = performance.now() + 30; performance.now() < end;); }, { once: true, capture: true })</script>",
    )
    result = await page.hand("press", "click")
    assert await heard(page) == []
    assert not result.ok, result


@pytest.mark.parametrize("host", [HOST, FRAMED, "127.0.0.1"])
async def test_no_key_comes_to_a_frame_that_the_page_gives_the_focus(page: HandProbe, host: str) -> None:
    """Whichever of them gets it: the page in the frame hears of no key."""
    await show(page, f"<label>text <input id=t></label>{frame(page, host)}<script>t.onkeydown = () => f.focus()</script>")
    await page.hand("text", "press", "a b Enter")
    assert await heard(page) == []
    if host == HOST:
        assert page.effect == "partial"


async def test_a_page_that_writes_itself_anew_under_the_pointer_is_not_pressed(page: HandProbe) -> None:
    """document.open() takes our listeners away too, and they are back before the button goes down."""
    await show(
        page,
        "<button style='margin:50px'>press</button><script>addEventListener('pointermove', () => { document.open(); document.write("
        "`<button style='position:fixed;inset:0' onclick=\"fetch('/heard?pressed')\">other</button>`); document.close() }, true)"
        "</script>",
    )
    result = await page.hand("press", "click")
    assert await heard(page) == []
    assert (result.ok, result.started, result.reason) == (False, False, "gone")


BUTTON = "<form action=/good><button id=b>Next</button></form><script>b.{when} = () => {{ {change} }}</script>"


@pytest.mark.parametrize("when", ["onpointerdown", "onmousedown", "onmouseup"])
@pytest.mark.parametrize(
    "change", ["b.form.action = '/bad'", "b.textContent = 'Delete all'", "b.setAttribute('formaction', '/bad')"]
)
async def test_what_becomes_another_thing_while_the_button_is_down_is_not_clicked(page: HandProbe, when: str, change: str) -> None:
    """As a script's press is not: what was judged is what is done."""
    await show(page, BUTTON.format(when=when, change=change))
    result = await page.hand("Next", "click")
    await trio.sleep(0.2)
    assert (result.ok, result.started, result.reason, result.submitted) == (False, True, "stale", False), result
    assert page.effect == "partial"
    assert not [path for path in page.site.asked if path.startswith(("/bad", "/good"))]


async def test_what_a_hand_would_not_mind_stops_no_press_of_it(page: HandProbe) -> None:
    """Looks under the pointer, a count of presses, a control that goes when it is pressed."""
    await show(
        page,
        "<style>button:hover { color: red }</style><p id=n>0</p><button id=b>Next</button><ul><li id=o role=option>Choose</ul>"
        "<script>b.onmousedown = () => { b.className = 'down'; n.textContent = 1 }; b.onclick = () => n.textContent += ' clicked';"
        "o.onmousedown = () => { o.remove(); n.textContent += ' chosen' }</script>",
    )
    assert (await page.hand("Next", "click")).ok
    assert (await page.hand("Choose", "click")).ok
    assert await page.js("n.textContent") == "1 clicked chosen"


async def test_no_key_comes_to_what_has_the_focus_when_the_control_is_gone(page: HandProbe) -> None:
    """The first key was the judged one's; the second would press another button."""
    await show(
        page,
        "<button id=b>Next</button><button id=d onclick=\"fetch('/heard?deleted')\">Delete</button>"
        "<script>b.onclick = () => { b.remove(); d.focus() }</script>",
    )
    result = await page.hand("Next", "press", "Enter Enter")
    assert await heard(page) == []
    assert (result.ok, result.started, result.reason) == (False, True, "gone")


FORM = (
    "<form action=/good id=g><label>text <input name=q id=t></label><button>Go</button></form>"
    "<script>t.onkeydown = e => {{ if (e.key === '{key}') g.action = '/bad' }}</script>"
)


@pytest.mark.parametrize("trusted", [True, False], ids=["by hand", "by script"])
@pytest.mark.parametrize("key", ["a", "Enter"])
async def test_enter_does_not_send_a_form_that_a_key_has_led_elsewhere(page: HandProbe, key: str, trusted: bool) -> None:
    """By either way."""
    page.session.trusted_input = trusted
    await show(page, FORM.format(key=key))
    result = await page.hand("text", "press", "a Enter")
    await trio.sleep(0.2)
    assert (result.ok, result.started, result.reason, result.submitted) == (False, True, "stale", False), result
    assert not [path for path in page.site.asked if path.startswith(("/bad", "/good"))]


async def test_an_act_that_takes_too_long_says_what_arrived_and_sends_no_more(
    page: HandProbe, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that takes its time with each key: what it got until then is on record, and nothing comes later."""
    monkeypatch.setattr(_tab, "ACT_SECONDS", 0.5)
    monkeypatch.setattr(_tab, "KEY_SECONDS", 0.0)
    await show(
        page,
        "<label>text <textarea id=t></textarea></label><script>t.onkeydown = () => "
        "{ for (const end = performance.now() + 30; performance.now() < end;); }</script>",
    )
    result = await page.hand("text", "type", "abcdefghij" * 40)
    held = await page.js("t.value.length")
    assert (result.ok, result.started, result.reason, page.effect) == (False, True, "cancelled", "partial"), result
    assert 0 < held < 200
    await trio.sleep(0.7)
    assert await page.js("t.value.length") == held


@pytest.mark.parametrize(
    "way",
    ["history.back()", "location = window.URL.createObjectURL(new Blob([window.name], {type: 'text/html'}))"],
    ids=["back", "blob"],
)
async def test_keys_behind_one_that_leads_away_without_a_request_reach_nobody_and_are_not_told_as_done(
    page: HandProbe, way: str
) -> None:
    """A page that was kept, on another host, and one that the page has made: no load could be held up."""
    await page.tab.goto(at(page.site, FRAMED, "/next"))
    other = f"<textarea autofocus></textarea>{HEARS.replace('</s', '</` + `s')}"
    await show(
        page,
        f"<label>text <input id=t></label><script>window.name = `{other}`; t.onkeydown = () => {{ {way} }};"
        f"addEventListener('pagehide', () => navigator.sendBeacon('/got?' + t.value.length)); {BUSY}</script>",
    )
    result = await page.hand("text", "press", "a " + "x " * 49)
    assert await heard(page) == []
    (got,) = [int(path.partition("?")[2]) for path in page.site.asked if path.startswith("/got")]
    assert (result.ok, page.effect) == ((True, "done") if got == 50 else (False, "unknown")), (got, result)


BUSY = "setInterval(() => { for (const end = performance.now() + 40; performance.now() < end;); }, 45);"
LEADS_AWAY = (
    f"<form action=/next><label>text <input name=q id=t></label></form><script>{BUSY}"
    "t.onkeydown = e => { if (e.key === 'Enter') navigator.sendBeacon('/cancel-now') }</script>"
)
KEYS = "a Enter " + "x " * 30


async def until_asked(site: ProbeSite, path: str) -> None:
    with trio.fail_after(10):
        while path not in site.asked:  # noqa: ASYNC110  # another thread writes it
            await trio.sleep(0.005)


async def test_what_is_on_its_way_when_an_act_is_stopped_reaches_no_other_page(page: HandProbe) -> None:
    """Enter leads away and the act is stopped: the next page does not come before the last of the keys."""
    await show(page, LEADS_AWAY)
    pin, permit = await page.judged("text", "press", KEYS)
    async with trio.open_nursery() as nursery:

        async def stop() -> None:
            await until_asked(page.site, "/cancel-now")
            nursery.cancel_scope.cancel()

        nursery.start_soon(stop)
        await page.do(pin, "press", KEYS, permit)
    assert (nursery.cancel_scope.cancelled_caught, page.effect) == (True, "partial")
    with trio.fail_after(3):  # it comes as soon as they are over, not at the end of the act's time
        await page.until("location.pathname === '/next' && document.readyState === 'complete'")
    assert await heard(page) == []


@pytest.mark.long
async def test_what_is_on_its_way_when_the_line_is_cut_reaches_no_other_page(site: ProbeSite) -> None:
    """BiDi is another line, which goes on sending; the load waits for its time."""
    async with launch_firefox(trusted_input=True) as session:
        tab = await session.open_tab(site.url)
        page = HandProbe(session, tab, site)
        await show(page, LEADS_AWAY)
        pin, permit = await page.judged("text", "press", KEYS)

        async def cut() -> None:
            await until_asked(site, "/cancel-now")
            await session.channel.aclose()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(cut)
            with suppress(BrowserError):
                await page.do(pin, "press", KEYS, permit)
        assert page.effect == "unknown"
        with trio.fail_after(10):
            await until_asked(site, "/next?q=a")
        assert await heard(page) == []


@pytest.mark.parametrize("keys", ["Control+V", "Shift+Insert", "Control+Shift+V", "Control+C", "Control+X", "Shift+Delete"])
async def test_the_persons_clipboard_is_neither_read_nor_written_by_keys(page: HandProbe, keys: str) -> None:
    """A real key would paste what the person copied elsewhere; there is a tool for the page's own clipboard."""
    await show(
        page,
        "<button onclick=\"navigator.clipboard.writeText('the person\\'s').then(() => document.title = 'copied')\">copy</button>"
        "<label>text <input id=t value=old></label>",
    )
    await page.hand("copy", "click")
    await page.until("document.title === 'copied'")
    result = await page.hand("text", "press", keys)
    assert (result.ok, result.started, result.reason) == (False, False, "unsupported")
    assert "clipboard" in (result.detail or "")
    assert await page.js("t.value") == "old"
    assert (await page.hand("text", "press", "Control+A Delete")).ok
