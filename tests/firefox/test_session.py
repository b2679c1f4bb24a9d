"""`BrowserSession` and `Tab` on the shared real Firefox, with pages of our own over http."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from foxloop_trio.actions import Action, Permit
from foxloop_trio.browser import BrowserSession, Control, Snapshot, Tab
from foxloop_trio.browser.tools._pin import make_pin
from foxloop_trio.errors import BrowserError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing._miniwob import serve_pages

pytestmark = pytest.mark.firefox

FORM = """<!doctype html><html lang=en><meta charset=utf-8><title>Form</title>
<form action=next.html><label>Name <input name=name></label><button>Send</button></form>
<script>window.heard = []; for (const type of ["focus", "input", "change"])
  addEventListener(type, (event) => heard.push(event.type), true);</script></html>"""
NEXT = "<!doctype html><html lang=en><meta charset=utf-8><title>Next</title><p>Thank you.</p></html>"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "form.html").write_text(FORM)
    (tmp_path / "next.html").write_text(NEXT)
    with serve_pages(tmp_path) as served:
        yield served.address


async def in_page(tab: Tab, expression: str) -> Any:
    """Evaluate in the page's own realm, over BiDi; what it returns is plain."""
    target = {"context": await tab.bidi_context()}
    answer = await tab.session.bidi("script.evaluate", expression=expression, target=target, awaitPromise=True)
    assert answer["type"] == "success", answer
    return answer["result"].get("value")


def find(page: Snapshot, label: str) -> Control:
    (found,) = [control for control in page.controls if control.label == label]
    return found


async def judged(tab: Tab, page: Snapshot, label: str, op: str, value: str | None = None) -> tuple[dict[str, Any], Permit]:
    """The pin of a control, and a real gate's permit for this operation on it."""
    pin = make_pin(tab.id, page, find(page, label))
    gate, host = create_gate(tools={op: "fill"})
    await host.add_grant(scope="fill", domains=["127.0.0.1"])
    args = {"target": pin} if op == "click" else {"target": pin, "op": op, "value": value}
    allowed = await gate.check(Action(tool=op, args=args, domain="127.0.0.1", scope="fill"))
    return pin, allowed.permit  # type: ignore[union-attr]


async def test_typing_and_sending_a_form(tab: Tab, site: str) -> None:
    """Issue, item 7: read, type, click; the page hears it, and the tab's address is the new one."""
    reports: list[str] = []
    with trio.fail_after(30):
        await tab.goto(f"{site}/form.html")
        assert tab.url == f"{site}/form.html"
        page = await tab.snapshot()
        assert tab.title == page.title == "Form"
        pin, permit = await judged(tab, page, "Name", "type", "Ada")
        result = await tab.act(pin, "type", "Ada", permit=permit, report=lambda state, done: reports.append(state))
        assert (result.ok, result.value, result.submitted) == (True, "Ada", False)
        assert await in_page(tab, "document.querySelector('input').value") == "Ada"
        assert {"focus", "input", "change"} <= set((await in_page(tab, "heard.join()")).split(","))
        assert (await tab.settle(pin)).gone is False
        assert reports == ["not-started", "done"]

        page = await tab.snapshot()
        pin, permit = await judged(tab, page, "Send", "click")
        result = await tab.act(pin, "click", permit=permit)
        assert (result.ok, result.submitted) == (True, True)
        await tab.settle(pin, sent=True)
        page = await tab.snapshot()
        assert page.title == "Next"
        assert page.url == tab.url == f"{site}/next.html?name=Ada"


async def test_a_pin_of_a_page_that_changed_is_refused_by_the_page(tab: Tab, site: str) -> None:
    """Design, Trust: the page script compares again in the turn in which it acts; a permit alone does not help."""
    with trio.fail_after(30):
        await tab.goto(f"{site}/form.html")
        pin, permit = await judged(tab, await tab.snapshot(), "Name", "type", "Ada")
        await in_page(tab, "document.querySelector('input').value = 'Eve'")
        result = await tab.act(pin, "type", "Ada", permit=permit)
        assert (result.ok, result.started, result.reason) == (False, False, "stale")
        assert await in_page(tab, "document.querySelector('input').value") == "Eve"


async def test_a_pin_of_a_document_that_left_is_refused(tab: Tab, site: str) -> None:
    """Buglog B76: an id of the page before never clicks on the page after; also on a reload of the same address."""
    with trio.fail_after(30):
        await tab.goto(f"{site}/form.html")
        pin, permit = await judged(tab, await tab.snapshot(), "Send", "click")
        await tab.goto(f"{site}/form.html")
        result = await tab.act(pin, "click", permit=permit)
        assert (result.ok, result.started, result.reason) == (False, False, "navigated")
        assert tab.url == f"{site}/form.html"


@pytest.mark.long
async def test_goto_tells_what_did_not_load(tab: Tab, unused_port: int) -> None:
    """Our choice: navigation-failed when no new document came; not a tab that looks loaded."""
    with trio.fail_after(30):
        with pytest.raises(BrowserError) as caught:
            await tab.goto(f"http://127.0.0.1:{unused_port}/")
        assert caught.value.code == "navigation-failed"


async def test_tabs_have_contexts_of_their_own_that_survive_navigation(firefox: BrowserSession, tab: Tab, site: str) -> None:
    """Firefox facts 5: the mapping is found once, by an address that only one tab has."""
    with trio.fail_after(30):
        other = await firefox.open_tab(f"{site}/form.html")
        try:
            contexts = (await tab.bidi_context(), await other.bidi_context())
            assert contexts[0] != contexts[1]
            await tab.goto(f"{site}/form.html")
            await other.goto(f"{site}/next.html")
            assert (await in_page(tab, "document.title"), await in_page(other, "document.title")) == ("Form", "Next")
            assert (await tab.bidi_context(), await other.bidi_context()) == contexts
            assert (await firefox.active_tab()) is other
            await tab.activate()
            assert (await firefox.active_tab()) is tab
        finally:
            await other.close()


@pytest.mark.long
async def test_a_tab_on_its_way_to_another_process_is_never_told_as_blank(
    tab: Tab, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our choice: Firefox shows about:blank for a moment then, and a tool that looked just then would find no web page."""
    told: list[str] = []
    monkeypatch.setattr(tab, "update", lambda state, update=tab.update: (told.append(state["url"]), update(state)))
    with trio.fail_after(30):
        for number in range(6):
            host = "localhost" if number % 2 else "127.0.0.1"
            await tab.goto(site.replace("127.0.0.1", host) + f"/form.html?{number}")
            await tab.snapshot()
    assert len(told) >= 12
    assert [url for url in told if not url.startswith("http")] == []


async def test_two_tabs_with_one_address_cannot_be_told_apart(firefox: BrowserSession, site: str) -> None:
    """Our choice: an error, not a guess."""
    with trio.fail_after(30):
        tabs = [await firefox.open_tab(f"{site}/form.html") for _ in range(2)]
        try:
            with pytest.raises(BrowserError) as caught:
                await tabs[0].bidi_context()
            assert caught.value.code == "ambiguous-tab"
        finally:
            for tab in tabs:
                await tab.close()


async def test_a_closed_tab_is_told(firefox: BrowserSession, tab: Tab) -> None:
    """Buglog B38: what is done to a tab that is gone is refused, and closing it again is fine."""
    with trio.fail_after(30):
        await tab.close()
        for attempt in (tab.snapshot, tab.refresh, tab.activate):
            with pytest.raises(BrowserError) as caught:
                await attempt()
            assert caught.value.code == "no-tab"
        await tab.close()
        assert tab not in await firefox.tabs()


async def test_firefoxs_own_pages_cannot_be_read(firefox: BrowserSession) -> None:
    """Firefox facts 6: an empty tab that was opened is closed to extensions; one clear answer, at once."""
    with trio.fail_after(30):
        blank = await firefox.open_tab("about:blank")
        began = trio.current_time()
        with pytest.raises(BrowserError) as caught:
            await blank.snapshot()
        assert caught.value.code == "restricted-page"
        assert trio.current_time() - began < 5
        await blank.close()


async def test_a_lease_on_the_real_thing(firefox: BrowserSession, tab: Tab) -> None:
    """API: async with session.lease(tab) as tab."""
    with trio.fail_after(30):
        async with firefox.lease(tab.id) as leased:
            assert leased is tab
