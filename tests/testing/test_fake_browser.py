"""`FakeBrowser`: its log, its pages, its faults. That it behaves like Firefox: tests/contracts/test_browser_contract.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from foxloop_trio.actions import Action, Permit
from foxloop_trio.browser import ActResult, BrowserSession, Tab
from foxloop_trio.browser.tools._pin import make_pin
from foxloop_trio.channel import RemoteCallError, accept_hello, open_session
from foxloop_trio.errors import BrowserError, BusyError, RemoteProtocolError, UsageError
from foxloop_trio.gate import create_gate
from foxloop_trio.testing import FakeAct, FakeBrowser, PageData, memory_channel_pair, seeded_ids
from foxloop_trio.testing.fake_browser import FakeDocument, Refused, Visit

SHOP = "http://shop.test/"
THANKS = "http://shop.test/thanks"
FORM: PageData = {
    "title": "Shop",
    "forms": {"order": {"action": "/thanks", "method": "post"}},
    "controls": [
        {"role": "textbox", "label": "Name", "name": "name", "form": "order"},
        {"role": "checkbox", "label": "Gift", "form": "order"},
        {"role": "button", "label": "Send", "submit": True, "form": "order"},
        {"role": "link", "label": "Away", "href": "/thanks"},
        {"role": "button", "label": "Plain", "on_click": lambda document: document.touch()},
    ],
}
PAGES: dict[str, Any] = {SHOP: FORM, THANKS: {"title": "Thanks", "text": "Thank you."}}


async def judged(tab: Tab, label: str, op: str, value: str | None = None) -> tuple[dict[str, Any], Permit]:
    """A fresh pin of the control, and a real gate's permit."""
    page = await tab.snapshot()
    (control,) = [control for control in page.controls if control.label == label]
    pin = make_pin(tab.id, page, control)
    gate, host = create_gate(tools={op: "fill"})
    await host.add_grant(scope="fill", domains=["shop.test"])
    allowed = await gate.check(Action(tool=op, args={"target": pin, "op": op, "value": value}, domain="shop.test", scope="fill"))
    return pin, allowed.permit  # type: ignore[union-attr]


async def act(tab: Tab, label: str, op: str, value: str | None = None, *, reports: list[str] | None = None) -> ActResult:
    pin, permit = await judged(tab, label, op, value)
    report: Callable[[str, Any], None] = lambda state, done: reports.append(state) if reports is not None else None  # noqa: E731
    return await tab.act(pin, op, value, permit=permit, report=report)


def done(browser: FakeBrowser) -> list[tuple[str, str, Any]]:
    return [(act.op, act.label, act.value) for act in browser.acts]


# What it did


async def test_the_log_says_what_was_done_when_and_where(virtual_time: MockClock) -> None:
    """api.md, Testing: `acts` is the list of acts it performed, in order, with their times on Trio's clock."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        await act(tab, "Name", "type", "Ada")
        await trio.sleep(2.5)
        await act(tab, "Send", "click")
    first, second = browser.acts
    assert first == FakeAct(
        at=0.0, op="type", label="Name", value="Ada", role="textbox", tab=tab.id, url=SHOP, control="0:1", call=first.call
    )
    assert (second.at, second.op, second.label, second.control) == (2.5, "click", "Send", "0:4")
    assert second.sent == {"name": "Ada"}
    assert first.call != second.call


async def test_a_refused_act_is_not_in_the_log(virtual_time: MockClock) -> None:
    """Only what was dispatched counts; an act on a box that is ticked already was not, either."""
    browser = FakeBrowser({SHOP: {"controls": [{"role": "checkbox", "label": "Gift", "checked": True}]}})
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.refuse("covered", detail="div")
        result = await act(tab, "Gift", "uncheck")
        assert (result.ok, result.reason, result.detail, result.effect) == (False, "covered", "div", "not-started")
        assert (await act(tab, "Gift", "check")).effect == "done"
        assert browser.acts == []
        assert (await act(tab, "Gift", "uncheck")).ok
    assert done(browser) == [("uncheck", "Gift", None)]


async def test_equal_runs_are_equal(virtual_time: MockClock) -> None:
    """Documents, guards, call ids and times come from no source of randomness."""

    async def once() -> tuple[Any, ...]:
        browser = FakeBrowser(PAGES)
        async with browser as session:
            began = trio.current_time()
            tab = await session.open_tab(SHOP)
            browser.delay("page.act", 0.25)
            await act(tab, "Name", "type", "Ada")
            page = await tab.snapshot()
            return session.id, page, browser.params, [act.call for act in browser.acts], trio.current_time() - began

    assert await once() == await once()


async def test_other_ids_make_another_browser(virtual_time: MockClock) -> None:
    """`ids` is the one source of all of them."""
    async with FakeBrowser(PAGES, ids=lambda nbytes, purpose: b"\x07" * nbytes) as session:
        tab = await session.open_tab(SHOP)
        assert session.id == "07" * 16
        assert (await tab.snapshot()).top.document == "07" * 16


# Pages


async def test_it_starts_with_one_empty_tab(virtual_time: MockClock) -> None:
    """As Firefox does."""
    async with FakeBrowser() as session:
        (tab,) = await session.tabs()
        assert (tab.url, tab.active, tab.host) == ("about:blank", True, None)


async def test_a_page_takes_its_time_to_come(virtual_time: MockClock) -> None:
    """`load_seconds`: goto returns with the new document; a link's page is waited for by the next look."""
    async with FakeBrowser({SHOP: FORM, THANKS: {"title": "Thanks", "load_seconds": 3.0}}) as session:
        tab = await session.open_tab(SHOP)
        await tab.goto(THANKS)
        assert (trio.current_time(), tab.title) == (3.0, "Thanks")
        await tab.goto(SHOP)
        assert (await act(tab, "Away", "click")).ok
        assert (await tab.snapshot()).title == "Thanks"
        assert trio.current_time() == 6.0


async def test_the_newest_of_two_loads_wins(virtual_time: MockClock) -> None:
    """A page that is still coming is forgotten when another is asked for; whoever waited gets the tab as it is then."""
    pages: dict[str, Any] = {**PAGES, "http://slow.test/": {"title": "Slow", "load_seconds": 5.0}}
    browser = FakeBrowser(pages)
    async with browser as session, trio.open_nursery() as nursery:
        tab = await session.open_tab(SHOP)
        nursery.start_soon(tab.goto, "http://slow.test/")
        await trio.sleep(1)
        browser.navigate(tab, THANKS)
        await trio.sleep(10)
        assert tab.url == THANKS


async def test_redirects_are_followed_and_bounded(virtual_time: MockClock) -> None:
    """The tab shows the address that came in the end; a circle is no page."""
    pages: dict[str, Any] = {
        **PAGES,
        "http://old.test/": {"redirect": SHOP},
        "http://round.test/": {"redirect": "http://round.test/"},
    }
    async with FakeBrowser(pages) as session:
        assert (await session.open_tab("http://old.test/")).url == SHOP
        with pytest.raises(BrowserError) as caught:
            await session.open_tab("http://round.test/")
        assert caught.value.code == "navigation-failed"
        assert len(await session.tabs()) == 2


async def test_a_page_can_be_made_at_each_visit(virtual_time: MockClock) -> None:
    """A function is a server: it sees the whole address and what the form sent."""
    visits: list[Visit] = []

    def thanks(visit: Visit) -> PageData:
        visits.append(visit)
        return {"title": f"Thanks {len(visits)}", "text": f"Hello, {(visit.sent or {}).get('name')}."}

    async with FakeBrowser({SHOP: FORM, THANKS: thanks}) as session:
        tab = await session.open_tab(SHOP)
        await act(tab, "Name", "type", "Ada")
        await act(tab, "Send", "click")
        page = await tab.snapshot()
        assert (page.title, page.text) == ("Thanks 1", "Hello, Ada.")
        await tab.goto(f"{THANKS}?again=1#top")
    assert visits == [Visit(url=THANKS, sent={"name": "Ada"}), Visit(url=f"{THANKS}?again=1#top")]


async def test_pages_can_be_given_later(virtual_time: MockClock, fake_browser: FakeBrowser) -> None:
    """The fixture is attached and has no pages."""
    with pytest.raises(BrowserError) as caught:
        await fake_browser.session.open_tab(SHOP)
    assert caught.value.code == "navigation-failed"
    fake_browser.pages[SHOP] = FORM
    tab = await fake_browser.session.open_tab(SHOP)
    assert tab.title == "Shop"


async def test_effects_happen_in_order_and_later_ones_in_time(virtual_time: MockClock) -> None:
    """One click: the page says something at once, adds and removes controls, and goes away after two seconds."""
    effects: Any = [
        {"text": "Wait.", "change": {"Plain": {"disabled": True}}, "remove": ["Away"]},
        {"after": 1.0, "add": [{"role": "button", "label": "More"}]},
        {"after": 2.0, "navigate": "/thanks"},
    ]
    controls: Any = [{"role": "button", "label": "Go", "on_click": effects}, *FORM["controls"]]
    async with FakeBrowser({SHOP: {"controls": controls}, THANKS: {"title": "Thanks"}}) as session:
        tab = await session.open_tab(SHOP)
        await act(tab, "Go", "click")
        page = await tab.snapshot()
        assert page.text == "Wait."
        assert [c.label for c in page.controls if c.disabled] == ["Plain"]
        assert "Away" not in [c.label for c in page.controls]
        await trio.sleep(1.5)
        assert "More" in [c.label for c in (await tab.snapshot()).controls]
        await trio.sleep(0.5)
        assert (await tab.snapshot()).title == "Thanks"


async def test_an_effect_can_be_a_function(virtual_time: MockClock) -> None:
    """Whatever data cannot say."""

    def count(document: FakeDocument) -> None:
        document.update(title=f"{int(document.title or 0) + 1}")

    async with FakeBrowser({SHOP: {"controls": [{"role": "button", "label": "Count", "on_click": count}]}}) as session:
        tab = await session.open_tab(SHOP)
        for _ in range(3):
            await act(tab, "Count", "click")
        assert tab.title == "3"


async def test_settling_counts_from_the_last_change(virtual_time: MockClock) -> None:
    """Page reference 5: idle 0.12 s; one change at 0.1 s makes it 0.22; a page that never rests is left after 1.5 s."""

    async def settle(effects: Any) -> float:
        page: Any = {"controls": [{"role": "button", "label": "Go", "on_click": effects}]}
        async with FakeBrowser({SHOP: page}) as session:
            tab = await session.open_tab(SHOP)
            pin, permit = await judged(tab, "Go", "click")
            await tab.act(pin, "click", permit=permit)
            return (await tab.settle(pin)).waited

    assert await settle([]) == pytest.approx(0.12)
    assert await settle({"after": 0.1, "text": "x"}) == pytest.approx(0.22)
    assert await settle([{"after": 0.1 * n, "text": str(n)} for n in range(1, 20)]) == pytest.approx(1.5)
    assert await settle({"after": 0.05, "navigate": SHOP}) == pytest.approx(0.05)


@pytest.mark.parametrize(("opens_after", "seconds"), [(0.3, 0.42), (5.0, 0.6)])
async def test_a_list_of_suggestions_is_waited_for(virtual_time: MockClock, opens_after: float, seconds: float) -> None:
    """Page reference 5: with `list_for`, until an option can be seen, at most 0.6 s."""
    opening: Any = {"after": opens_after, "add": [{"role": "option", "label": "Paris"}]}
    page: Any = {"controls": [{"role": "textbox", "label": "City", "autocomplete": True, "on_change": opening}]}
    async with FakeBrowser({SHOP: page}) as session:
        tab = await session.open_tab(SHOP)
        pin, permit = await judged(tab, "City", "type", "Par")
        await tab.act(pin, "type", "Par", permit=permit)
        settled = await tab.settle(pin, list_for=pin["node"])
    assert settled.waited == pytest.approx(seconds, abs=0.031)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ({"titel": "Shop"}, "unknown key 'titel'; it may have captcha, controls"),
        ({"controls": [{"role": "button"}]}, "control 1 needs a label"),
        ({"controls": [{"role": "button", "label": "Go", "lable": 1}]}, r"control 1 \('Go'\) has the unknown key 'lable'"),
        ({"controls": [{"role": "button", "label": "Go", "on_click": {"goto": "/"}}]}, "on_click has the unknown key 'goto'"),
        ({"controls": ["Go"]}, "control 1 must be a mapping, not str"),
        ({"forms": {"f": {"to": "/"}}}, "form 'f' has the unknown key 'to'"),
        (["Go"], "a page must be a mapping, not list"),
    ],
)
def test_a_mistake_in_a_page_is_named(page: Any, words: str) -> None:
    """The error says where, what, and what there is instead."""
    with pytest.raises(UsageError, match=words) as caught:
        FakeBrowser({SHOP: page})
    assert SHOP in str(caught.value)


async def test_a_mistake_that_shows_later_ends_the_test(virtual_time: MockClock) -> None:
    """It is raised out of the browser's block, not swallowed by a task."""
    with pytest.raises(UsageError, match="0 controls have the label 'Nobody'; there are: 'Go'"):
        async with FakeBrowser(
            {SHOP: {"controls": [{"role": "button", "label": "Go", "on_click": {"remove": ["Nobody"]}}]}}
        ) as session:
            await act(await session.open_tab(SHOP), "Go", "click")


# Staleness from outside


async def test_a_test_can_change_the_page_under_the_agent(virtual_time: MockClock) -> None:
    """Between look and act: the same element, with another label."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        pin, permit = await judged(tab, "Plain", "click")
        browser.document(tab).change("Plain", label="Delete account")
        result = await tab.act(pin, "click", permit=permit)
        assert (result.reason, result.detail) == ("stale", "control differs")
        browser.document(tab).change("Delete account", label="Plain", hidden=True)
        assert (await tab.act(pin, "click", permit=permit)).reason == "hidden"
        browser.document(tab).remove("Plain")
        assert (await tab.act(pin, "click", permit=permit)).reason == "gone"
    assert browser.acts == []


async def test_a_person_closes_the_tab(virtual_time: MockClock) -> None:
    """It is told at once, and the one that is left comes to the front."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.close_tab(tab)
        await trio.testing.wait_all_tasks_blocked()
        assert session.statistics().leased == ()
        with pytest.raises(BrowserError) as caught:
            await tab.snapshot()
        assert caught.value.code == "no-tab"
        assert (await session.active_tab()).id != tab.id


# Delays and cancels


async def test_a_delay_is_exact_and_counts_calls(virtual_time: MockClock) -> None:
    """`call=2`: the second from now; None: each."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.delay("page.read", 0.7, call=2)
        times = []
        for _ in range(3):
            began = trio.current_time()
            await tab.snapshot()
            times.append(trio.current_time() - began)
        assert times == pytest.approx([0.0, 0.7, 0.0])
        browser.delay("tab.get", 0.25, phase="after", call=None)
        began = trio.current_time()
        await tab.refresh()
        await tab.refresh()
        assert trio.current_time() - began == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("phase", "reports", "performed"),
    [
        ("before", ["not-started", "unknown", "not-started"], []),
        ("started", ["not-started", "unknown", "partial"], [False]),
        ("after", ["not-started", "unknown", "done"], [True]),
    ],
)
async def test_a_cancel_is_answered_truly_in_each_phase(
    virtual_time: MockClock, phase: Any, reports: list[str], performed: list[bool]
) -> None:
    """Ruling 6, at once: nothing was begun, a part was done, or all of it."""
    browser = FakeBrowser(PAGES)
    told: list[str] = []
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.delay("page.act", 4.0, phase=phase)
        with trio.move_on_after(1) as scope:
            await act(tab, "Name", "type", "Ada", reports=told)
        assert scope.cancelled_caught
        assert trio.current_time() == 1
        assert told == reports
        await trio.sleep(10)
    assert [act.ok for act in browser.acts] == performed
    assert "call.cancel" in browser.asked


async def test_a_peer_that_does_not_hear_a_cancel_leaves_it_unknown(virtual_time: MockClock) -> None:
    """Buglog B22: the act is done all the same; its answer comes late and meets nobody."""
    browser = FakeBrowser(PAGES)
    browser.ignore_cancels = True
    told: list[str] = []
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.delay("page.act", 20, phase="after")
        with trio.move_on_after(1):
            await act(tab, "Name", "type", "Ada", reports=told)
        assert (trio.current_time(), told[-1]) == (6, "unknown")  # the grace of 5 s
        await trio.sleep(20)
        assert session.channel.statistics().late_replies == 1
    assert done(browser) == [("type", "Name", "Ada")]


async def test_nothing_begins_after_its_deadline(virtual_time: MockClock) -> None:
    """Buglog B04, B26: also by a peer that hears no cancel; the caller's limit is the one that counts."""
    browser = FakeBrowser(PAGES)
    browser.ignore_cancels = True
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.delay("page.act", 10)
        result = await act(tab, "Name", "type", "Ada")
        assert (result.ok, result.started, result.reason) == (False, False, "timeout")
        await trio.sleep(20)
    assert browser.acts == []


async def test_a_peer_that_is_attached_but_silent_hangs_only_its_acts(virtual_time: MockClock) -> None:
    """Buglog B25: listing works, another tab works, and the silent call ends at its limit."""
    browser = FakeBrowser(PAGES)
    browser.ignore_cancels = True
    async with browser as session:
        tab, other = await session.open_tab(SHOP), await session.open_tab(SHOP)
        browser.delay("page.act", math.inf, phase="after")
        async with trio.open_nursery() as nursery:
            results: list[ActResult] = []

            async def hang() -> None:
                results.append(await act(tab, "Name", "type", "Ada"))

            nursery.start_soon(hang)
            await trio.sleep(1)
            assert len(await session.tabs()) == 3
            assert (await act(other, "Name", "type", "Eve")).ok
            assert trio.current_time() == 1
        assert (results[0].reason, results[0].effect) == ("timeout", "unknown")


async def test_clean_up_of_a_cancelled_block_still_has_its_browser(virtual_time: MockClock) -> None:
    """The whole block is cancelled, the act in it included: its true end is learned before the browser goes."""
    browser = FakeBrowser(PAGES)
    told: list[str] = []
    living = trio.lowlevel.current_statistics().tasks_living
    with trio.move_on_after(1) as scope:
        async with browser as session:
            tab = await session.open_tab(SHOP)
            browser.delay("page.act", 4.0, phase="after")
            await act(tab, "Name", "type", "Ada", reports=told)
    assert scope.cancelled_caught
    assert (trio.current_time(), told[-1]) == (1, "done")
    assert trio.lowlevel.current_statistics().tasks_living == living


async def test_entering_can_be_cancelled_while_the_hello_is_awaited(virtual_time: MockClock) -> None:
    """Buglog B01: at t = 0.01, with a hello that comes after 4 s."""
    browser = FakeBrowser(PAGES)
    browser.delay("hello.open", 4.0)
    with trio.move_on_after(0.01) as scope:
        async with browser:
            raise AssertionError("it was entered")
    assert scope.cancelled_caught
    assert trio.current_time() == pytest.approx(0.01)


async def test_a_hello_that_comes_too_late_is_refused(virtual_time: MockClock) -> None:
    """Buglog B19: after 5 s, with an error of its own."""
    browser = FakeBrowser(PAGES)
    browser.delay("hello.open", 6.0)
    with pytest.raises(RemoteProtocolError) as caught:
        async with browser:
            raise AssertionError("it was entered")
    assert caught.value.code == "no-hello"


# Lost connections


@pytest.mark.parametrize(
    ("phase", "effect", "outcome", "performed"),
    [("before", "unknown", None, 0), ("started", "unknown", True, 1), ("after", "unknown", True, 1)],
)
async def test_a_connection_lost_in_an_act_leaves_an_outcome_to_ask_for(
    virtual_time: MockClock, phase: Any, effect: str, outcome: bool | None, performed: int
) -> None:
    """Ruling 24: what was begun is done and kept by its document; what was not begun never is. Guards survive."""
    browser = FakeBrowser(PAGES)
    told: list[str] = []
    async with browser as session:
        tab = await session.open_tab(SHOP)
        pin, permit = await judged(tab, "Plain", "click")
        browser.cut("page.act", phase=phase)
        with pytest.raises(BrowserError) as caught:
            await tab.act(pin, "click", permit=permit, report=lambda state, done: told.append(state))
        assert (caught.value.code, told[-1], session.lost) == ("browser-lost", effect, True)
        call = browser.params[browser.asked.index("page.act")]["call"]
        async with browser.attach() as again:
            (_, same) = await again.tabs()
            place = {"tab": same.id, "frame": 0, "document": pin["document"]}
            answer = await again.call("page.outcome", {**place, "call": call}, timeout=1)
            assert answer["known"] is (outcome is not None)
            assert outcome is None or answer["result"]["ok"] is outcome
            again.acknowledge(place, call)
            assert (await again.call("page.outcome", {**place, "call": call}, timeout=1))["known"] is False
            assert (await same.act(pin, "click", permit=permit)).ok  # same document, same guard
    assert len(browser.acts) == performed + 1


async def test_a_browser_that_is_lost_for_good_does_not_come_back(virtual_time: MockClock) -> None:
    """Buglog B10: `browser-lost` for all that follows."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        await session.ready()
        browser.cut("tab.list", back=False)
        with pytest.raises(BrowserError) as caught:
            await session.tabs()
        assert caught.value.code == "browser-lost"
        with pytest.raises(BrowserError) as caught:
            await session.ready()
        with pytest.raises(BrowserError, match="for good"):
            async with browser.attach():
                raise AssertionError("it came back")


async def test_it_comes_back_ten_times(virtual_time: MockClock) -> None:
    """Buglog B32: its tabs are still there each time."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        await session.open_tab(SHOP)
        for _ in range(10):
            await browser.hang_up()
            async with browser.attach() as again:
                assert [tab.url for tab in await again.tabs()] == ["about:blank", SHOP]


async def test_only_one_is_attached_at_a_time(virtual_time: MockClock) -> None:
    """A live connection is never taken over."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        with pytest.raises(BusyError):
            async with browser.attach():
                raise AssertionError("two are attached")
        assert not session.lost
        with pytest.raises(UsageError, match=r"browser\.attach"):
            async with browser:
                raise AssertionError("entered twice")


async def test_a_restarted_background_page_refuses_what_was_meant_for_the_one_before(virtual_time: MockClock) -> None:
    """Ruling 24: `other-incarnation`, with nothing done."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        before = session.channel.peer.incarnation
        await browser.restart_background()
        async with browser.attach() as again:
            assert again.channel.peer.incarnation == browser.incarnation != before
            same = (await again.tabs())[1]
            assert (await act(same, "Plain", "click")).ok
            params = {**browser.params[browser.asked.index("page.act")], "incarnation": before, "call": "0f" * 16}
            del params["deadline_ms"]
            with pytest.raises(RemoteCallError) as caught:
                await again.channel.call("page.act", params, timeout=1)
            assert caught.value.code == "other-incarnation"
        assert tab.id == same.id
    assert len(browser.acts) == 1


async def test_the_same_call_runs_once(virtual_time: MockClock) -> None:
    """Ruling 24: a repeated request gets the outcome of the first."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        await act(tab, "Plain", "click")
        params = dict(browser.params[browser.asked.index("page.act")])
        del params["deadline_ms"]
        params["call"] = "0f" * 16
        for _ in range(2):
            assert (await session.channel.call("page.act", params, timeout=1))["ok"] is True
    assert len(browser.acts) == 2


# Answers


async def test_errors_duplicates_and_strangers_go_where_they_belong(virtual_time: MockClock) -> None:
    """Buglog B23: a call gets its own answer, and only that; the rest is dropped and counted."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.fail("tab.get", "internal")
        with pytest.raises(BrowserError) as caught:
            await tab.refresh()
        assert caught.value.code == "internal"
        browser.duplicate("tab.get")
        await browser.post('{"jsonrpc":"2.0","id":"rnobody-1","result":{}}')
        await tab.refresh()
        await trio.testing.wait_all_tasks_blocked()
        counted = session.channel.statistics()
        assert (counted.duplicate_replies, counted.strange_replies, counted.closed) == (1, 1, False)


async def test_an_act_can_be_refused_half_way(virtual_time: MockClock) -> None:
    """`started`: the field holds something else now; a part was done."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.refuse("mismatch", value="A", started=True)
        result = await act(tab, "Name", "type", "Ada")
        assert (result.ok, result.reason, result.value, result.effect) == (False, "mismatch", "A", "partial")
    assert [act.ok for act in browser.acts] == [False]


async def test_a_late_answer_of_an_act_that_led_away_says_so(virtual_time: MockClock) -> None:
    """Page reference 4: the document went after the act had begun: done, navigated."""
    browser = FakeBrowser(PAGES)
    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.delay("page.act", 0.5, phase="after")
        result = await act(tab, "Send", "click")
        assert (result.ok, result.submitted, result.navigated) == (True, True, True)


async def test_answers_can_be_written_by_hand(virtual_time: MockClock) -> None:
    """`on`: at once or later, an error, or none at all."""
    browser = FakeBrowser(PAGES)

    def refused(request: Any) -> None:
        raise Refused("no-tab")

    async with browser as session:
        tab = await session.open_tab(SHOP)
        browser.on["tab.get"] = refused
        with pytest.raises(BrowserError) as caught:
            await tab.refresh()
        assert caught.value.code == "no-tab"
        browser.on["tab.get"] = lambda request: None
        began = trio.current_time()
        with pytest.raises(BrowserError) as caught:
            await tab.refresh()
        assert (caught.value.code, trio.current_time() - began) == ("timeout", 10.0)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (lambda browser: browser.delay("page.acts", 1), "no call 'page.acts'; there are"),
        (lambda browser: browser.delay("call.cancel", 1), "no call 'call.cancel'"),
        (lambda browser: browser.delay("page.read", 1, phase="started"), "only page.act has 'started'"),
        (lambda browser: browser.delay("page.read", -1), "0 seconds or more"),
        (lambda browser: browser.delay("page.read", math.nan), "0 seconds or more"),
        (lambda browser: browser.cut("page.read", call=0), "counts from 1"),
    ],
)
def test_a_fault_that_could_never_happen_is_refused(plan: Callable[[FakeBrowser], None], words: str) -> None:
    """A typing error in a test must not make it pass."""
    with pytest.raises(UsageError, match=words):
        plan(FakeBrowser())


async def test_a_picture_is_a_picture(virtual_time: MockClock) -> None:
    """`screenshot` gives PNG."""
    async with FakeBrowser(PAGES) as session:
        picture = await (await session.open_tab(SHOP)).screenshot()
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")


async def test_a_session_is_there_only_inside(virtual_time: MockClock) -> None:
    """Asking too early says what to do."""
    browser = FakeBrowser()
    with pytest.raises(UsageError, match="async with browser as session"):
        _ = browser.session
    async with browser as session:
        assert isinstance(session, BrowserSession)
        assert browser.session is session


async def test_a_transport_of_ones_own_takes_the_place_of_the_first_session(autojump_clock: Any) -> None:
    """`serve`: tabs live on, one connection at a time, and the next one when it is lost."""
    browser = FakeBrowser({"http://shop.test/": {"title": "Shop"}})
    async with browser as session:
        await session.open_tab("http://shop.test/")
        for _ in range(2):
            ours, theirs = memory_channel_pair()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(partial(browser.serve, theirs, token="a token"))
                peer = await accept_hello(ours, token="a token", ids=seeded_ids("served"))
                with pytest.raises(BusyError):
                    await browser.serve(theirs, token="a token")
                async with open_session(ours, peer) as channel:
                    assert [tab.host for tab in await BrowserSession(channel).tabs()] == [None, "shop.test"]
                await ours.aclose()
        with pytest.raises(BrowserError):
            await session.tabs()
    with pytest.raises(UsageError, match="not running"):
        await browser.serve(theirs, token="a token")


async def test_a_held_tab_stays_on_its_own_host(virtual_time: MockClock) -> None:
    """`navigation="block"`: what the page leads to is told and not asked for; redirects too; afterwards the tab is free."""
    visits: list[str] = []

    def away(visit: Any) -> PageData:
        visits.append(visit.url)
        return {"title": "Away"}

    shop: PageData = {"title": "Shop", "controls": [{"role": "link", "label": "Go", "href": "http://away.test/"}]}
    pages = {SHOP: shop, "http://away.test/": away, "http://shop.test/to": {"redirect": "http://away.test/"}}
    browser = FakeBrowser(pages)  # type: ignore[arg-type]
    async with browser as session:
        tab = await session.open_tab(SHOP)
        async with session.lease(tab, navigation="block") as held:
            for url in ("http://away.test/", "http://shop.test/to"):
                browser.document(tab).navigate(url)
                await trio.testing.wait_all_tasks_blocked()
            assert (held.stopped, held.stops, held.host) == (("http://away.test/",) * 2, 2, "shop.test")
            assert held.stopped_since(1) == ("http://away.test/",)
            with pytest.raises(BrowserError) as caught:
                await held.goto("http://shop.test/to")
            assert caught.value.code == "navigation-failed"
            assert visits == []
            await held.goto("http://away.test/")
        browser.document(tab).navigate(SHOP)
        await trio.testing.wait_all_tasks_blocked()
        assert tab.host == "shop.test"
